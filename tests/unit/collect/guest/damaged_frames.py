"""Writes garbage into frames of the interpreter and makes CUDA calls meanwhile, or, with an argument, computes. CPython 3.11.

The pointers are found by their values in the thread's structures, and restored after each call.
"""
import ctypes
import sys
import zlib

if len(sys.argv) > 1:
    call, argument = zlib.crc32, bytes(20 << 20)
else:
    cu = ctypes.CDLL("libcuda.so.1")
    cu.cuInit(0)
    context = ctypes.c_void_p()
    cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cu.cuCtxSetCurrent(context)
    call, argument = cu.cuStreamSynchronize, None
    call.argtypes = [ctypes.c_void_p]
GARBAGE = [1, 8, 0xDEADBEEF, 0x7FFFFFFFF000, 0xFFFFFFFFFFFFFFF8, 0x4141414141414141, id(sys)]


def words_that_lead_to(code):
    """Addresses in the frames of this thread that hold the code object's address."""
    state = ctypes.pythonapi.PyThreadState_Get
    state.restype = ctypes.c_void_p
    found, frame = [], sys._getframe(1)
    # a frame object points to its frame, which has the code's address among its first words
    words = ctypes.cast(id(frame), ctypes.POINTER(ctypes.c_uint64))
    for at in (words[i] for i in range(2, 6)):
        if at % 8 == 0 and 1 << 32 < at < 1 << 47:
            inner = ctypes.cast(at, ctypes.POINTER(ctypes.c_uint64))
            found += [at + 8 * i for i in range(8) if inner[i] == id(code)]
    return found


def victim():
    return words_that_lead_to(victim.__code__), damage(words_that_lead_to(victim.__code__))


def damage(places):
    for place in places:
        word = ctypes.cast(place, ctypes.POINTER(ctypes.c_uint64))
        good = word[0]
        for garbage in GARBAGE:
            word[0] = garbage
            call(argument)
            word[0] = good
    return len(places)


places, damaged = victim()
assert damaged, "no frame was found"
print("the calls returned")
