"""A program with ranges for packages.sh: copies and sets memory STEPS times on the GPU, with libcuda by ctypes. Usage:
wheel_program.py STEPS. Its exit status is 5."""

import ctypes
import sys

import gtrace

cuda = ctypes.CDLL("libcuda.so.1")
device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
data = ctypes.create_string_buffer(4096)


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status:
        sys.exit(f"{name}: {status}")


@gtrace.range("load")
def load(step):
    call("cuMemcpyHtoD_v2", memory, data, ctypes.c_size_t(4096))
    return step


call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4096))
for i in range(int(sys.argv[1])):
    with gtrace.range("step"):
        assert load(step=i) == i
        try:
            with gtrace.range("é"):
                call("cuMemsetD8_v2", memory, ctypes.c_ubyte(0), ctypes.c_size_t(4096))
                raise KeyError
        except KeyError:
            pass
call("cuCtxSynchronize")
sys.exit(5)
