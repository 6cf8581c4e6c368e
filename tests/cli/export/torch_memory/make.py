#!/usr/bin/env python3
"""make.py FOLDER: writes the pickles of this folder, in the forms of PyTorch's versions, with figures that
tests/cli/export/torch_memory.sh knows. (Tests do not run it.)

python.pickle  _dump_snapshot() of 2.x: two devices, blocks from before the trace, shared frames, an out-of-memory error
cpp.pickle     _memory_snapshot_pickled() of C++: protocol 2, BINPUT, frames of C++, no addresses of blocks
old.pickle     an older form: no times, blocks with a history, no requested_size
later.pickle   the recording ended before the snapshot; host memory
"""
import io
import pickle
import struct
import sys

folder = sys.argv[1]
MIB = 1 << 20
SEGMENT = 0x7F0000000000


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


main = frame("<module>", "/app/train.py", 9)
forward = frame("forward", "/app/model/net.py", 31)
backward = frame("backward", "/app/model/net.py", 77)
load = frame("load", "/app/train.py", 4)
step = [forward, main]  # the innermost frame first; shared by events and blocks


def entry(action, addr, size, time, frames=None, **more):
    e = {"action": action, "device_free" if action == "oom" else "addr": addr, "size": size, "stream": 0, "time_us": 1764000000000000 + time,
         "compile_context": "N/A", "user_metadata": ""}
    e.update(more)
    if frames is not None:
        e["frames"] = frames
    return e


def block(addr, size, requested, state, frames):
    return {"address": addr, "size": size, "requested_size": requested, "state": state, "frames": frames}


def segment(device, addr, total, blocks):
    return {"device": device, "address": addr, "total_size": total, "allocated_size": sum(b["size"] for b in blocks), "active_size": 0,
            "requested_size": 0, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
            "blocks": blocks}


def python():
    a, b, c, d = (SEGMENT + i * 4 * MIB for i in range(4))
    gpu1 = SEGMENT + (1 << 36)
    trace = [
        # d was allocated before: the ring has lost that event
        entry("free_requested", d, MIB, 10, [main]), entry("free_completed", d, MIB, 10, [main]),
        entry("segment_alloc", SEGMENT + 64 * MIB, 20 * MIB, 20, step),
        entry("alloc", b, 1000, 30, step),
        entry("alloc", c, 2 * MIB, 30, [backward, main], user_metadata="gradients"),  # the peak: 4 MiB + 1000 + 2 MiB
        entry("oom", 5 * MIB, 80 * MIB, 40, step),
        entry("free_requested", c, 2 * MIB, 50, [main]), entry("free_completed", c, 2 * MIB, 55, [main]),
        entry("alloc", c, 512, 60, step),
        entry("annotate", c, 512, 61, step, user_metadata="activation"),
        entry("snapshot", 0, 0, 70),
    ]
    blocks = [
        block(a, 4 * MIB, 4 * MIB, "active_allocated", [load, main]),  # no event: from before the trace
        block(b, 1024, 1000, "active_allocated", step),
        block(c, 512, 512, "active_allocated", step),
        block(d, MIB, 0, "inactive", []),
    ]
    other = [entry("alloc", gpu1, 7777, 35, step)]
    return {
        "segments": [segment(0, SEGMENT, 16 * MIB, blocks), segment(0, SEGMENT + 64 * MIB, 20 * MIB, []),
                     segment(1, gpu1, 2 * MIB, [block(gpu1, 8192, 7777, "active_allocated", step)])],
        "device_traces": [trace, other, []],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                               "expandable_segments": False, "roundup_power2_divisions": {"1": 0}},
        "host_segments": [], "host_traces": [[]],
        "external_annotations": [{"stage": stage, "name": name, "device": 0, "time_us": 1764000000000000 + time} for stage, name, time in (
            ("START", "ProfilerStep#1", 25), ("START", "## forward ##", 28), ("END", "## forward ##", 45), ("END", "ProfilerStep#1", 65))],
    }


class Cpp:
    """Writes as torch/csrc/jit/serialization/pickler.cpp does: BINPUT behind each value that is shared."""

    def __init__(self):
        self.out, self.memo = io.BytesIO(), {}

    def put(self, key):
        self.memo[key] = n = len(self.memo)
        self.out.write(b"q" + bytes([n]) if n < 256 else b"r" + struct.pack("<I", n))

    def value(self, v):
        key = v if isinstance(v, str) else id(v)
        if isinstance(v, (str, list, dict)) and key in self.memo:
            n = self.memo[key]
            self.out.write(b"h" + bytes([n]) if n < 256 else b"j" + struct.pack("<I", n))
        elif isinstance(v, str):
            self.out.write(b"X" + struct.pack("<I", len(v)) + v.encode())
            self.put(key)
        elif isinstance(v, bool):
            self.out.write(b"\x88" if v else b"\x89")
        elif isinstance(v, int):
            if 0 <= v < 256:
                self.out.write(b"K" + bytes([v]))
            elif -(1 << 31) <= v < 1 << 31:
                self.out.write(b"J" + struct.pack("<i", v))
            else:
                self.out.write(b"\x8a\x08" + struct.pack("<q", v))
        elif isinstance(v, list):
            self.out.write(b"](")
            for x in v:
                self.value(x)
            self.out.write(b"e")
            self.put(key)
        else:
            self.out.write(b"}(")
            for k, x in v.items():
                self.value(k)
                self.value(x)
            self.out.write(b"u")
            self.put(key)

    def done(self, v):
        self.out.write(b"\x80\x02")
        self.value(v)
        self.out.write(b".")
        return self.out.getvalue()


def cpp():
    native = frame("at::native::empty_cuda(c10::ArrayRef<long>)", "/src/EmptyTensor.cpp", 40)
    gather = frame("torch::CapturedTraceback::gather(bool, bool, bool)", "??", 0)
    unwind = frame("torch::unwind::unwind()", "??", 0)
    start = frame("main", "/src/serve.cpp", 12)
    frames = [unwind, gather, native, start]

    def event(action, addr, size, time):
        return {"action": action, "addr": addr, "size": size, "stream": 0, "frames": frames, "time_us": 1764000000000000 + time}

    blocks = [{"size": 1024, "requested_size": 600, "state": "active_allocated", "frames": frames},
              {"size": 512, "requested_size": 300, "state": "inactive", "frames": []},
              {"size": 2048, "requested_size": 2000, "state": "active_allocated", "frames": frames}]
    return {
        "segments": [{"device": 0, "address": SEGMENT, "total_size": 2 * MIB, "allocated_size": 3072, "active_size": 3072, "requested_size": 2600,
                      "stream": 0, "segment_type": "small", "is_expandable": False, "frames": [], "blocks": blocks}],
        "device_traces": [[event("alloc", SEGMENT + 1024, 300, 5), event("free_completed", SEGMENT + 1024, 300, 9)]],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""},
    }


def old():
    return {
        "segments": [{"device": 0, "address": SEGMENT, "total_size": 2 * MIB, "stream": 0, "segment_type": "small", "blocks": [
            {"size": 4096, "state": "active_allocated", "history": [{"addr": SEGMENT, "real_size": 4000, "frames": step}]},
            {"size": 2 * MIB - 4096, "state": "inactive"}]}],
        "device_traces": [[
            {"action": "alloc", "addr": SEGMENT + 4096, "size": 100, "stream": 0, "frames": step},
            {"action": "free_requested", "addr": SEGMENT + 4096, "size": 100, "stream": 0, "frames": step},
            {"action": "free_completed", "addr": SEGMENT + 4096, "size": 100, "stream": 0, "frames": step}]],
    }


def later():
    a, b = SEGMENT, SEGMENT + MIB
    return {
        "segments": [segment(0, SEGMENT, 2 * MIB, [block(a, 512, 300, "active_allocated", step), block(b, 512, 0, "inactive", [])])],
        "device_traces": [[entry("alloc", a, 100, 1, step), entry("free_requested", a, 100, 2, step), entry("free_completed", a, 100, 2, step),
                           entry("alloc", b, 50, 3, step)]],
        "host_traces": [entry("alloc", 4096, 64, 2, step)],
    }


for name, data in (("later", pickle.dumps(later(), protocol=5)), ("python", pickle.dumps(python(), protocol=4)), ("cpp", Cpp().done(cpp())), ("old", pickle.dumps(old(), protocol=2))):
    with open(f"{folder}/{name}.pickle", "wb") as f:
        f.write(data)
