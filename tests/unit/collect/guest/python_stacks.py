"""Compares the frames that the guest's code reads with those that Python itself has.

    python_stacks.py LIBRARY [ROUNDS]: prints "ok NAME", "skip NAME: WHY" or "FAIL NAME: WHY" for each kind of code.

At each call of the library (LIBRARY.gt_test_stack) function, file and line of each frame have to equal those of
sys._getframe. Runs on Python 3.9 and later."""
import asyncio
import atexit
import contextlib
import ctypes
import functools
import gc
import os
import random
import signal
import sys
import threading
import weakref

NONE, OK, TRUNCATED, DAMAGED, UNKNOWN = range(5)
SIZE = 1 << 20
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 20


class Library:
    """The library by one way of calling it: CDLL releases the interpreter's lock during a call, PyDLL does not."""

    def __init__(self, kind):
        self.dll = kind(sys.argv[1])
        for function in self.dll.gt_test_stack, self.dll.gt_test_stack_beside:
            function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_void_p]
        self.local = threading.local()

    def stack(self, limit):
        if not hasattr(self.local, "text"):
            self.local.text, self.local.n = ctypes.create_string_buffer(SIZE), ctypes.c_uint()
        return self.dll.gt_test_stack, self.local.text, SIZE, limit, ctypes.byref(self.local.n)


releasing, keeping = Library(ctypes.CDLL), Library(ctypes.PyDLL)
compared = frames_compared = 0
may_be_unknown = False
errors = []


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def expected(frame, line):
    """The caller's frames, innermost first. line: of the innermost one, which goes on meanwhile."""
    rows = []
    while frame:
        rows.append("%s\t%s\t%d\n" % (name_of(frame.f_code), frame.f_code.co_filename, -1 if line is None else line))
        frame = frame.f_back
        line = frame and frame.f_lineno
    return rows


def compare(state, text, count, rows, limit):
    global compared, frames_compared
    compared += 1
    frames_compared += count
    truncated = len(rows) > limit
    rows = "".join(rows[:limit]).encode("utf-8", "replace").replace(b"?", b"\xef\xbf\xbd")
    if state == UNKNOWN and not count and may_be_unknown:
        return
    if state != (TRUNCATED if truncated else OK):
        errors.append("state %d of %d frames" % (state, count))
    elif text.replace(b"?", b"\xef\xbf\xbd") != rows:
        pairs = zip(text.split(b"\n"), rows.split(b"\n"))
        errors.append(next((repr(p) for p in pairs if p[0] != p[1]), "%d frames" % count))


def here(library=None, limit=4096):
    """Called by all code below, at any place. Both ways if none is named."""
    for lib in [library] if library else [releasing, keeping]:
        call, text, size, most, n = lib.stack(limit)
        state, frame, line = call(text, size, most, n), sys._getframe(), sys._getframe().f_lineno
        compare(state, text.value, n._obj.value, expected(frame, line), limit)
    return 1


# ---- kinds of code ----

def recursion():
    def down(k):
        if not k:
            return here()
        return down(k - 1) + 0 if k % 3 else \
            down(
                k - 1)
    for _ in range(ROUNDS):
        down(random.randrange(60))
    down(1200)


def truncation():
    def down(k, limit):
        return down(k - 1, limit) if k else here(limit=limit)
    for limit in (1, 2, 7, 30):
        down(50, limit)


def generators():
    def inner(n):
        for i in range(n):
            here()
            yield i
        return 3

    def outer(n):
        got = yield from inner(n)
        here()
        yield got
    for _ in range(ROUNDS):
        assert sum(outer(3)) == 6
        assert sum(here() for _ in range(3)) == 3
        sent = inner(3)
        next(sent)
        with contextlib.suppress(StopIteration, KeyError):
            sent.throw(KeyError) if random.random() < 0.5 else sent.send(None)
    for g in (inner(2), outer(2)):
        next(g)
        g.close()


def comprehensions():
    for _ in range(ROUNDS):
        [here() for i in range(2)]
        {here() + i for i in range(2)}
        {i: here() for i in range(2)}
        [[here() for i in range(2)] for j in range(2)]
        (lambda: [here() for i in range(1)])()


def callbacks_from_c():
    @functools.total_ordering
    class Key:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return here() and self.k == other.k

        def __lt__(self, other):
            return here() and self.k < other.k

        def __hash__(self):
            return here()

        def __getattr__(self, name):
            here()
            return lambda: here()

        @property
        def size(self):
            return here()

        def __del__(self):
            here()
    for _ in range(ROUNDS):
        sorted([Key(3), Key(1), Key(2)])
        list(map(lambda k: here(), range(3)))
        functools.reduce(lambda a, b: here(), range(3))
        Key(1).missing()
        assert Key(1).size == 1
        {Key(1): 1}
        key = Key(5)
        weakref.finalize(key, here)
    call = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: here())
    for _ in range(ROUNDS):
        call()


def decorators_and_classes():
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            here()
            return function(*args)
        return wrapper

    class Meta(type):
        def __new__(mcs, name, bases, space):
            here()
            return super().__new__(mcs, name, bases, space)

        def __call__(cls, *args):
            here()
            return super().__call__(*args)
    for _ in range(ROUNDS):
        class Made(metaclass=Meta):
            here()
            attribute = [here()]

            def __init__(self, k):
                here()

            @decorate
            @functools.lru_cache()
            def method(self):
                return here()

            @staticmethod
            def static(n=here()):
                return here()
        Made(3).method()
        Made.static()


def exceptions():
    def fail():
        try:
            here()
            raise ValueError(here())
        except ValueError:
            here()
            raise
        finally:
            here()

    @contextlib.contextmanager
    def manager():
        here()
        try:
            yield here()
        finally:
            here()
    for _ in range(ROUNDS):
        with contextlib.suppress(ValueError), manager():
            fail()
        try:
            with manager():
                raise KeyError
        except (KeyError if here() else OSError) as e:
            here()
            assert e.__traceback__


def executed_code():
    names = {"here": here}
    for _ in range(ROUNDS):
        gap = "\n" * random.choice([0, 1, 100, 127, 128, 129, 300, 5000])
        source = "%shere()\ndef f(a):\n%s  here()\n  return (a +%s\n   here())\nf(1)\n%shere()" % (gap, gap, gap, gap)
        exec(compile(source, random.choice(["x", "ä.py", "日本/\U0001f40d.py", "s\udcff.py"]), "exec"), names)
        eval("here() + \\\n here()", names)
    exec("def größe(日本):\n  class 蛇:\n    here()\n  return here()\ngröße(1)", names)
    # a function of more than 65,536 bytes of code, and a line longer than any range
    exec("def long(a):\n" + "  a = a + 1\n" * 9000 + "  here()\n  " + "a = a + 1;" * 300 + "here()\nlong(1)", names)
    # lines that go backwards
    exec("x = [\n here(),\n\n\n here()\n] + (\n lambda: [\n  here()])()\nfor i in (1,\n  2): here()", names)


def code_made_again():
    """Code in the place of freed code, which differs from it in the contents of its table of lines only: they are overwritten."""
    name = "co_linetable" if sys.version_info >= (3, 10) else "co_lnotab"
    space, tables = {"here": here}, []
    for gap in range(1, 5):
        exec("def made(a):\n%s    a = a\n%s    return here()" % ("\n" * gap, "\n" * (gap % 3)), space)
        made = space["made"]
        tables.append(bytes(bytearray(getattr(made.__code__, name))))
    table = bytes(bytearray(tables[-1]))
    made.__code__ = made.__code__.replace(**{name: table})
    for i in range(20 * ROUNDS):
        new = tables[i % len(tables)]
        if len(new) == len(table):
            ctypes.memmove(id(table) + bytes.__basicsize__ - 1, new, len(new))
        made(i)


def one_stack_again_and_again():
    for i in range(50 * ROUNDS):
        here()


def coroutines():
    async def leaf(k):
        here()
        await asyncio.sleep(0)
        here()
        return k

    async def items(n):
        for i in range(n):
            here()
            yield await leaf(i)

    class Manager:
        async def __aenter__(self):
            here()
            return self

        async def __aexit__(self, *args):
            here()

    async def task(k):
        async with Manager():
            async for i in items(3):
                here()
            return [await leaf(j) async for j in items(2)] + [here()]

    async def everything():
        await asyncio.gather(*(task(k) for k in range(ROUNDS)))
    asyncio.run(everything())


def threads():
    begin = threading.Barrier(5)

    def run(k):
        begin.wait()
        for i in range(5 * ROUNDS):
            below(random.randrange(20), releasing if i % 4 else keeping)

    def below(k, library):
        return below(k - 1, library) if k else here(library)
    ts = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in ts:
        t.start()
    run(9)
    for t in ts:
        t.join()


def thread_without_python():
    for lib in (releasing, keeping):
        state = lib.dll.gt_test_other_thread()
        if state != NONE:
            errors.append("state %d" % state)
        here()


def signals_and_tracing():
    def handler(number, frame):
        here()

    def trace(frame, event, arg):
        if frame.f_code.co_name == "traced":
            here()
        return trace

    def traced(a):
        b = a + 1
        return [b for c in range(2)]
    old = signal.signal(signal.SIGUSR1, handler)
    for _ in range(ROUNDS):
        os.kill(os.getpid(), signal.SIGUSR1)
        sys.settrace(trace)
        traced(1)
        sys.settrace(None)
        sys.setprofile(trace)
        traced(1)
        sys.setprofile(None)
    signal.signal(signal.SIGUSR1, old)


def interrupted_anywhere():
    """Frames that are half made: nothing crashes."""
    dll = releasing.dll
    dll.gt_test_interrupt(500)
    while dll.gt_test_interrupt(500) < 100:
        for kind in recursion, generators, comprehensions, callbacks_from_c, exceptions, coroutines, threads:
            kind()
    dll.gt_test_interrupt(0)


def imports():
    import importlib.abc
    import importlib.util

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            here()
    sys.meta_path.insert(0, Finder())
    for name in ("does_not_exist_1", "does_not_exist_2"):
        with contextlib.suppress(ImportError):
            __import__(name)
    del sys.meta_path[0]


def reused_code_objects():
    """A code object at the address of a freed one differs in its check."""
    check, seen, again = ctypes.c_uint(), {}, 0
    dll = keeping.dll
    dll.gt_test_innermost.restype = ctypes.c_uint64
    for i in range(2000):
        space = {"ask": lambda: 0, "dll": dll, "check": check, "ctypes": ctypes}
        # one line and one name each, so that only addresses and the first line tell them apart
        source = "\n" * (i % 97) + "def f%d(): return dll.gt_test_innermost(ctypes.byref(check))\nr = f%d()" % (i, i)
        exec(compile(source, "file %d" % i, "exec"), space)
        key = space["r"], check.value
        again += space["r"] in {k[0] for k in seen}
        if seen.setdefault(key, i) != i:
            errors.append("code object %d looks like %d" % (i, seen[key]))
        del space
        if i % 20 == 0:
            gc.collect()
    if not again:
        errors.append("no address was reused")


def forked_child():
    child = os.fork()
    if not child:
        del errors[:]
        here()
        recursion()
        os._exit(1 if errors else 0)
    if os.waitpid(child, 0)[1]:
        errors.append("the child's frames differ")


SUBINTERPRETER = r"""
import sys
sys.argv = %r
text = open(%r).read().split("# ---- kinds of code ----")[0]
exec(compile(text, "python_stacks.py", "exec"))
# 3.9 does not tell which of a thread's interpreters runs.
may_be_unknown = sys.version_info < (3, 10)
"""
RECURSION = r"""
def inner(k):
    return inner(k - 1) if k else here()
inner(5)
assert compared and not errors, errors
"""
UNTIL_STOPPED = r"""
# 3.12 returns a state with the id of another thread
may_be_unknown |= sys.version_info[:2] == (3, 12)
def inner(k):
    while not keeping.dll.gt_test_run():
        here()
inner(5)
assert compared and not errors, errors
"""


def interpreters():
    """What makes an interpreter, runs code in it, and ends it."""
    try:
        import _interpreters as m
        return lambda: m.create("legacy"), m.run_string, m.destroy
    except ImportError:
        import _xxsubinterpreters as m
        create = m.create if sys.version_info < (3, 12) else lambda: m.create(isolated=False)
        return create, m.run_string, m.destroy


def run_in(interpreter, code):
    _, run, _ = interpreters()
    try:
        failed = run(interpreter, SUBINTERPRETER % (sys.argv[:2], __file__) + code)
    except Exception as e:
        failed = e
    if failed:
        errors.append(str(failed))


def subinterpreters():
    create, _, destroy = interpreters()
    for _ in range(2):
        i = create()
        run_in(i, RECURSION)
        here()
        destroy(i)
    here()


def run_beside_another_thread():
    """This thread makes the interpreter, another one runs code in it. The state has this thread's id before 3.12."""
    global may_be_unknown
    may_be_unknown = sys.version_info < (3, 10)
    i = interpreters()[0]()
    other = threading.Thread(target=run_in, args=(i, UNTIL_STOPPED))
    other.start()
    _, text, size, most, n = releasing.stack(100)
    for _ in range(ROUNDS):
        state, frame, line = releasing.dll.gt_test_stack_beside(text, size, most, n), sys._getframe(), sys._getframe().f_lineno
        compare(state, text.value, n._obj.value, expected(frame, line), 100)
        if state < 0:
            break
    releasing.dll.gt_test_stop()
    other.join()
    os.write(2, "".join(errors[:1]).encode())
    os._exit(1 if errors else 0)


def subinterpreter_in_another_thread():
    """In a child, as Python waits for ever at the end of such an interpreter."""
    child = os.fork()
    if not child:
        del errors[:]
        run_beside_another_thread()
    if os.waitpid(child, 0)[1]:
        errors.append("the child's frames differ")


def standard_library_lines():
    """The line of each instruction of many functions, as Python says it."""
    import dis
    import inspect
    import argparse, ast, collections, decimal, difflib, email.message, pickle, subprocess, tarfile, typing, zipfile
    version = sys.version_info[0] << 8 | sys.version_info[1]
    line_of = keeping.dll.gt_test_line
    line_of.argtypes = [ctypes.c_uint, ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint]
    todo, done, total = [], set(), 0
    for module in list(sys.modules.values()):
        todo += [f.__code__ for f in vars(module).values() if inspect.isfunction(f)]
        for c in [c for c in vars(module).values() if inspect.isclass(c)]:
            todo += [f.__code__ for f in vars(c).values() if inspect.isfunction(f)]
    while todo and len(done) < 3000:
        code = todo.pop()
        if code in done:
            continue
        done.add(code)
        todo += [c for c in code.co_consts if inspect.iscode(c)]
        table = code.co_lnotab if version < 0x30a else code.co_linetable
        if version >= 0x30a:
            ranges = code.co_lines()
        else:
            starts = list(dis.findlinestarts(code)) + [(len(code.co_code), None)]
            ranges = [(a, b, line) for (a, line), (b, _) in zip(starts, starts[1:])]
        for start, end, line in ranges:
            for at in range(max(start, 0), end, 2):
                total += 1
                got = line_of(version, code.co_firstlineno, table, len(table), at)
                if got != (-1 if line is None else line):
                    errors.append("%s of %s: line %d, not %s" % (at, code, got, line))
    if len(done) < 300 or total < 10000:
        errors.append("only %d functions, %d instructions" % (len(done), total))


def at_exit():
    del errors[:]
    here()
    recursion()
    report("interpreter_exits")


class AtTheEnd:
    """Deleted while the interpreter is finalized."""

    def __del__(self):
        here()
        report("interpreter_is_finalized")


def report(name):
    """Also after sys.stdout is gone."""
    os.write(1, ("%s %s%s\n" % ("FAIL" if errors else "ok", name, ": " + errors[0] if errors else "")).encode())


LOOP = """
def loop(call, text, size, most, n):
    while True:
        call(text, size, most, n)
"""


def start_daemon():
    """It keeps nothing of this module, which is deleted while the thread runs on."""
    space = {}
    exec(LOOP, space)
    text, n = ctypes.create_string_buffer(SIZE), ctypes.c_uint()
    call = releasing.dll.gt_test_stack
    threading.Thread(target=space["loop"], args=(call, text, SIZE, 50, ctypes.byref(n)), daemon=True).start()


def main():
    version = releasing.dll.gt_test_find()
    if version != sys.version_info[0] << 8 | sys.version_info[1]:
        errors.append("version %#x" % version)
    report("version")
    sys.setrecursionlimit(3000)
    gc.disable()  # a finalizer that calls here() inside here() would overwrite its result
    for kind in (recursion, truncation, generators, comprehensions, callbacks_from_c, decorators_and_classes, exceptions,
                 executed_code, code_made_again, one_stack_again_and_again, coroutines, threads, thread_without_python,
                 signals_and_tracing, interrupted_anywhere, imports,
                 reused_code_objects, forked_child, subinterpreters, subinterpreter_in_another_thread, standard_library_lines):
        del errors[:]
        before = compared
        try:
            kind()
        except ImportError as e:
            print("skip %s: %s" % (kind.__name__, e), flush=True)
            continue
        report(kind.__name__)
    print("%d stacks, %d frames, %d found among recent stacks" % (compared, frames_compared, releasing.dll.gt_test_found()),
          flush=True)
    atexit.register(at_exit)
    for _ in range(3):
        start_daemon()
    globals()["_deleted_first"] = AtTheEnd()  # names with an underscore are


if __name__ == "__main__":
    main()
