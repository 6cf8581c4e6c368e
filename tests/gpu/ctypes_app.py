# The driver through ctypes: only dlopen and dlsym.
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")


def ok(code):
    assert code == 0, code


device, context, pointer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
ok(cuda.cuInit(0))
ok(cuda.cuDeviceGet(ctypes.byref(device), 0))
ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
ok(cuda.cuCtxSetCurrent(context))
for i in range(100):
    ok(cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(4096 * (i + 1))))
    ok(cuda.cuMemsetD8_v2(pointer, ctypes.c_ubyte(1), ctypes.c_size_t(4096)))
    ok(cuda.cuMemFree_v2(pointer))
ok(cuda.cuCtxSynchronize())
print("done")
