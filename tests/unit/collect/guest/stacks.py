"""Makes CUDA calls from all kinds of Python code, and writes the Python stack of each call to a file.

stacks.py FILE ROUNDS: a line for each call: the thread, and the frames, innermost first, as gtcollect names them. Each call stands
on the line on which the program reads its own stack.
"""
import asyncio
import ctypes
import functools
import sys
import threading

cu = ctypes.CDLL("libcuda.so.1")
lines = []


def frame_text(frame):
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)
    return "%s (%s:%d)" % (name, "/".join(code.co_filename.split("/")[-2:]), frame.f_lineno)


def note():
    frame, text = sys._getframe(1), []
    while frame:
        text.append(frame_text(frame))
        frame = frame.f_back
    lines.append("%d | %s" % (threading.get_native_id(), " | ".join(text)))


def plain():
    note(), cu.cuStreamSynchronize(None)


def recursion(depth):
    return recursion(depth - 1) if depth else (note(), cu.cuStreamSynchronize(None))


def generator():
    for i in range(3):
        yield (note(), cu.cuStreamSynchronize(None)), i


def inner_generator():
    yield from generator()


async def coroutine(depth):
    if depth:
        await coroutine(depth - 1)
    else:
        await asyncio.sleep(0)
        note(), cu.cuStreamSynchronize(None)


class Class:
    def __init__(self):
        note(), cu.cuStreamSynchronize(None)

    @staticmethod
    def static():
        note(), cu.cuStreamSynchronize(None)

    @property
    def value(self):
        note(), cu.cuStreamSynchronize(None)
        return 1

    def __add__(self, other):
        note(), cu.cuStreamSynchronize(None)
        return self

    def __del__(self):
        note(), cu.cuStreamSynchronize(None)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@decorated
def with_decorator():
    note(), cu.cuStreamSynchronize(None)


def exceptions():
    try:
        raise ValueError
    except ValueError:
        note(), cu.cuStreamSynchronize(None)
    finally:
        note(), cu.cuStreamSynchronize(None)


def by_native_code():
    sorted([3, 1, 2], key=lambda x: (note(), cu.cuStreamSynchronize(None)) and x)
    list(map(lambda x: (note(), cu.cuStreamSynchronize(None)), range(2)))
    [(note(), cu.cuStreamSynchronize(None)) for _ in range(2)]
    functools.reduce(lambda a, b: (note(), cu.cuStreamSynchronize(None)) and b, range(3))


def by_exec(i):
    # a code object that is freed and made again, at the same address as a rule, with its call on another line
    exec("\n" * (i % 7) + "note(), cu.cuStreamSynchronize(None)", globals())
    exec(compile("def made():\n" + "    pass\n" * (i % 5) + "    note(), cu.cuStreamSynchronize(None)\nmade()", "<made>", "exec"),
         globals())


def long_table():
    cu.cuCtxSynchronize()


table = "co_linetable" if hasattr(long_table.__code__, "co_linetable") else "co_lnotab"
long_table.__code__ = long_table.__code__.replace(**{table: b"\xff" * ((1 << 20) + 2)})


def all_kinds(i):
    long_table()
    plain()
    recursion(i % 60)
    for _ in inner_generator():
        pass
    asyncio.run(coroutine(i % 5))
    c = Class()
    Class.static()
    c.value
    c + c
    del c
    with_decorator()
    exceptions()
    by_native_code()
    by_exec(i)


def main():
    rounds = int(sys.argv[2])
    cu.cuInit(0)
    context = ctypes.c_void_p()
    cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cu.cuCtxSetCurrent(context)
    for i in range(rounds):
        all_kinds(i)
    threads = [threading.Thread(target=all_kinds, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    recursion(900)
    with open(sys.argv[1], "w") as f:
        f.write("\n".join(lines) + "\n")


main()
