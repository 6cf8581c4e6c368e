# A loop of 110 steps on the GPU, in which every eleventh step spends 50 ms more in a line of load_batch. It
# sleeps there: a loop that computes would also wait for the processor on a busy machine, and that would be the larger part.
import ctypes
import time

cu = ctypes.CDLL("libcuda.so.1")
PTX = b""".version 7.0
.target sm_50
.address_size 64
.visible .entry forward(.param .u64 a) { ret; }
.visible .entry backward(.param .u64 a) { ret; }
"""


def ok(code):
    assert code == 0, code


def load_batch(i):
    time.sleep(0.003)  # usual
    if i % 11 == 10: time.sleep(0.05)  # slow


def launch(function, argument):
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    ok(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None))


def main():
    device, context, module, pointer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    forward, backward = ctypes.c_void_p(), ctypes.c_void_p()
    ok(cu.cuInit(0))
    ok(cu.cuDeviceGet(ctypes.byref(device), 0))
    ok(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    ok(cu.cuCtxSetCurrent(context))
    ok(cu.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(4096)))
    ok(cu.cuModuleLoadData(ctypes.byref(module), PTX))
    ok(cu.cuModuleGetFunction(ctypes.byref(forward), module, b"forward"))
    ok(cu.cuModuleGetFunction(ctypes.byref(backward), module, b"backward"))
    for i in range(110):
        load_batch(i)
        launch(forward, pointer)
        launch(backward, pointer)
        ok(cu.cuCtxSynchronize())


main()
