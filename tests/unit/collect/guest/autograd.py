# A training loop with the ranges of torch.autograd.profiler.emit_nvtx: a forward pass in this thread, and a backward pass in a thread
# without Python (autograd_engine.c). autograd.py LIBRARY ROUNDS
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../../packaging/python"))
from gtrace import _nvtx

cu, engine = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(sys.argv[1])
PTX = b""".version 7.0
.target sm_50
.address_size 64
.visible .entry fill(.param .u64 a) { ret; }
.visible .entry forward(.param .u64 a) { ret; }
.visible .entry backward(.param .u64 a) { ret; }
.visible .entry copy(.param .u64 a) { ret; }
"""


class Job(ctypes.Structure):
    _fields_ = [("range", ctypes.c_char_p)] + [
        (name, ctypes.c_void_p) for name in ("push", "pop", "launch", "function", "parameters", "context", "use_context")
    ]


def ok(code):
    assert code == 0, code


device, context, module, pointer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
ok(cu.cuInit(0))
ok(cu.cuDeviceGet(ctypes.byref(device), 0))
ok(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
ok(cu.cuCtxSetCurrent(context))
ok(cu.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(4096)))
ok(cu.cuModuleLoadData(ctypes.byref(module), PTX))
kernels = {}
for kernel in ("fill", "forward", "backward", "copy"):
    kernels[kernel] = ctypes.c_void_p()
    ok(cu.cuModuleGetFunction(ctypes.byref(kernels[kernel]), module, kernel.encode()))
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(pointer))


launch, once = cu.cuLaunchKernel, (1, 1, 1, 1, 1, 1, 0, None, parameters, None)


def in_engine(message):
    slots = _nvtx._tables.slots[_nvtx._CORE]
    job = Job(
        message, slots[_nvtx._PUSH], slots[_nvtx._POP], ctypes.cast(cu.cuLaunchKernel, ctypes.c_void_p).value,
        kernels["backward" if message else "copy"].value, ctypes.addressof(parameters), context.value,
        ctypes.cast(cu.cuCtxSetCurrent, ctypes.c_void_p).value,
    )
    engine.engine_run(ctypes.byref(job))


def fill(n):
    with _nvtx.range("aten::fill_, seq = %d, op_id = %d" % (n, n)):
        launch(kernels["fill"], *once)  # no layer


def first(n):
    with _nvtx.range("aten::linear, seq = %d, op_id = %d" % (n, n)):
        with _nvtx.range("aten::t, op_id = %d, seq = %d" % (n, n)):
            pass
        with _nvtx.range("aten::addmm, seq = %d, sizes = [[2], [3, 4]]" % (n + 1)):
            launch(kernels["forward"], *once)  # first layer


def second(n):
    with _nvtx.range("aten::relu, seq = %d" % n): launch(kernels["forward"], *once)  # second layer


def backward(n):
    in_engine(b"autograd::engine::evaluate_function: ReluBackward0, seq = %d, op_id = 3" % (n + 2))
    in_engine(b"AddmmBackward0, op_id = 4, seq = %d" % (n + 1))
    in_engine(b"autograd::engine::evaluate_function: TBackward0, seq = %d" % n)
    in_engine(b"autograd::engine::evaluate_function: UnknownBackward0, seq = %d" % (n + 77))
    in_engine(None)


for i in range(int(sys.argv[2])):
    fill(3 * i)  # takes the number of the next operator
    first(3 * i)
    second(3 * i + 2)
    backward(3 * i)
ok(cu.cuCtxSynchronize())
