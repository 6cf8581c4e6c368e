"""For tests/cli/collect/stacks_gdb.sh: calls cuLaunchKernel from Python through functions of libraries that call back.

launch_depths.py LAUNCHES LIBRARY...: each library has unwind_call of unwind_calls.cc. The calls fail, as they name no function.
"""
import ctypes
import random
import sys

cu = ctypes.CDLL("libcuda.so.1")
callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
random = random.Random(1)


def descend(depth):
    depth = depth or 0
    if not depth:
        cu.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, None, None, None)
    elif random.randrange(2):
        descend(depth - 1)
    else:
        # not way 3, which ends by longjmp
        random.choice(libraries).unwind_call(random.choice((0, 1, 2, 4, 5, 6, 7, 8, 9)), entry, ctypes.c_void_p(depth - 1))


entry = callback(descend)
libraries = [ctypes.CDLL(path) for path in sys.argv[2:]]
cu.cuInit(0)
for i in range(int(sys.argv[1])):
    descend(random.randrange(5))
