"""NVTX ranges without NVTX's own package.

NVTX is code in a program that does nothing without a tool. A tool sets NVTX_INJECTION64_PATH to a
library; NVTX loads it, calls InitializeInjectionNvtx2 there, and gives it the addresses of its
function pointers by module and number (nvtxTypes.h), into which the library writes its functions.
This is that code in ctypes, for the functions that are used here. gtcollect sets the variable, and
so do other tools. Without it a range does nothing.
"""

import ctypes
import functools
import os

_CORE, _CORE2, _SIZE = 1, 5, 16  # modules, and the number of functions of each
_PUSH, _POP = 9, 11  # nvtxRangePushA and nvtxRangePop in _CORE
_CALLBACKS, _VERSION = 1, 3  # export tables

_ModuleTable = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint)
)
_SetVersion = ctypes.CFUNCTYPE(None, ctypes.c_uint32)
_ExportTable = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)


class _Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("table", _ModuleTable)]


class _Version(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("version", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("set_version", _SetVersion),
    ]


class _Tables:
    """What the tool's library reads and writes. It may do so at any later time."""

    def __init__(self):
        self.slots, self.addresses = {}, {}
        for module in (_CORE, _CORE2):
            slots = (ctypes.c_void_p * _SIZE)()
            at = ctypes.addressof(slots)
            step = ctypes.sizeof(ctypes.c_void_p)
            addresses = [None, *builtin_range(at + step, at + _SIZE * step, step), None]
            self.slots[module] = slots
            self.addresses[module] = (ctypes.c_void_p * len(addresses))(*addresses)
        self.callbacks = _Callbacks(ctypes.sizeof(_Callbacks), _ModuleTable(self._module_table))
        self.version = _Version(ctypes.sizeof(_Version), 3, 0, _SetVersion(lambda version: None))
        self.export = _ExportTable(self._export_table)

    def _module_table(self, module, table, size):
        if module not in self.addresses:
            return 0
        if table:
            table[0] = ctypes.addressof(self.addresses[module])
        if size:
            size[0] = _SIZE
        return 1

    def _export_table(self, which):
        if which == _CALLBACKS:
            return ctypes.addressof(self.callbacks)
        return ctypes.addressof(self.version) if which == _VERSION else None


builtin_range = range
_push = _pop = _tables = None


def _load():
    """Gets the functions of the tool, if there is one."""
    global _push, _pop, _tables
    library = os.environ.get("NVTX_INJECTION64_PATH")
    if not library:
        return
    tables = _Tables()
    try:
        start = ctypes.CDLL(library).InitializeInjectionNvtx2
    except (OSError, AttributeError):
        return
    start.argtypes, start.restype = [_ExportTable], ctypes.c_int
    if not start(tables.export):
        return
    _tables = tables
    push, pop = (tables.slots[_CORE][number] for number in (_PUSH, _POP))
    if push and pop:
        # The functions take less time than it takes to release the interpreter's lock.
        _push = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(push)
        _pop = ctypes.PYFUNCTYPE(ctypes.c_int)(pop)


class _Range:
    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = str(name).encode("utf-8", "replace")

    def __enter__(self):
        _push(self._name)
        return self

    def __exit__(self, *exception):
        _pop()

    def __call__(self, function):
        @functools.wraps(function)
        def annotated(*args, **kwargs):
            _push(self._name)
            try:
                return function(*args, **kwargs)
            finally:
                _pop()

        return annotated


class _NoRange:
    __slots__ = ()

    def __init__(self, name):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def __call__(self, function):
        return function


_load()
range = _Range if _push else _NoRange
range.__doc__ = """An NVTX range of this thread: `with range("step"):`, or `@range("step")` above a
function. If no tool records, it does nothing, and the function stays as it is."""
