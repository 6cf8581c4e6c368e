"""Uses the installed module gtrace; prints its results as the shell tests do. Usage: wheel_use.py TRACE RECORDED, TRACE
is of wheel_program.py with 20 steps, RECORDED the folder of the recorded samples."""

import os
import subprocess
import sys
import types
import warnings

import gtrace

trace, recorded = sys.argv[1:]


def same(name, wanted, got):
    print(f"ok {name}" if got == wanted else f"FAIL {name}: is {got!r}, not {wanted!r}")


def error(name, text, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except gtrace.Error as e:
        print(f"ok {name}" if text in str(e) else f"FAIL {name}: says {e}")
    else:
        print(f"FAIL {name}: no error")


# Ranges: recorded in TRACE; without a tool they do nothing.
ranges = {row["range"]: row["instances"] for row in gtrace.open(trace).nvtx_sum()}
same("wheel-ranges", {"step": 20, "load": 20, "é": 20}, {n.lstrip(":"): i for n, i in ranges.items()})
projected = gtrace.open(trace).nvtx_gpu_proj_sum()
same("wheel-ranges-have-gpu-work", {20, 40}, {row["total_gpu_ops"] for row in projected})
same("wheel-range-costs-nothing", len, gtrace.range("x")(len))
with gtrace.range("x") as r:
    same("wheel-range-of-no-tool", True, r is not None)
env = {**os.environ, "NVTX_INJECTION64_PATH": "/absent.so"}
missing = subprocess.run([sys.executable, "-c", "import gtrace; print(gtrace.range('x')(len) is len)"], env=env, stdout=subprocess.PIPE)
same("wheel-range-of-an-absent-tool", b"True\n", missing.stdout)

# Reports, by name and as attributes.
h200 = gtrace.open(os.path.join(recorded, "h200-train.zst"))
kernels = h200.kernels()
same("wheel-kernels", 14992, sum(row["count"] for row in kernels))
same("wheel-same-by-name", kernels, h200.report("kernels"))
same("wheel-options", 1, len(h200.kernels(top=1)))
same("wheel-option-lists", 466 + 220, len(h200.report("cuda_gpu_trace", match=["memcpy*", "memset*"])))
later = gtrace.open(os.path.join(recorded, "h200-train.zst"), from_="7.5s")
same("wheel-options-of-all-reports", True, 0 < sum(row["count"] for row in later.kernels()) < 14992)
same("wheel-tables", True, {"steps", "step_list"} <= set(h200.tables("steps")))
same("wheel-several-files", True, len(gtrace.open(trace, os.path.join(recorded, "h200-streams.zst")).header()) == 2)
same("wheel-dir", True, set(gtrace.reports()) <= set(dir(h200)))
small = gtrace.open(trace)
for name in gtrace.reports():
    if name.endswith("_trace"):
        continue
    try:
        same(f"wheel-report-{name}", True, getattr(small, name)(top=3) is not None)
    except gtrace.Error as e:
        same(f"wheel-report-{name}", True, "cannot answer" in str(e) or "not recorded" in str(e))

# With pandas, a table is a frame. A module with this class stands in for it.
frames = types.SimpleNamespace(DataFrame=lambda rows, columns: ("frame", len(rows), columns[0]))
gtrace._recording.pandas = frames
same("wheel-frames", ("frame", len(kernels), "kernel"), h200.kernels())
same("wheel-empty-frames-have-columns", ("frame", 0, "kernel"), gtrace.open(trace).kernels())
gtrace._recording.pandas = None

# Errors are gtanalyze's.
error("wheel-no-file", "absent.zst: cannot open: No such file or directory", gtrace.open, "absent.zst")
error("wheel-no-trace", "not a gt trace", gtrace.open, __file__)
error("wheel-no-option", "unknown option '--bad'", h200.kernels, bad=1)
error("wheel-no-report", "there is no report 'kernel'", h200.report, "kernel")
error("wheel-cannot-answer", "gtcollect -e nvtx", h200.nvtx_sum)
same("wheel-no-attribute", False, hasattr(h200, "kernel"))
with open(h200.files[0], "rb") as whole, open("cut.zst", "wb") as cut:
    data = bytearray(whole.read())
    data[len(data) // 2] ^= 255
    cut.write(data)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    gtrace.open("cut.zst").top()
same("wheel-damage-is-a-warning", True, bool(caught) and "damaged" in str(caught[0].message))
