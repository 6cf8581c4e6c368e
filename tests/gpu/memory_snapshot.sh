#!/bin/bash
# memory_snapshot.sh PORTABLE-TARBALL OUT: gtanalyze reads a GPU memory snapshot of PyTorch, and its figures are those of
# torch.cuda.memory_stats: bytes at the peak and at the end as the program requested them, blocks, reserved memory, out-of-memory
# errors. The program is memory_snapshot.py. Prints PASS and FAIL lines; exit status 1: something failed.
. "$(dirname "$0")/ebpf_helpers.sh"

python3 "$here/memory_snapshot.py" "$out/snapshot.pickle" "$out/stats.json" >"$out/memory_snapshot.txt" 2>&1
check "the program ends well" test $? -eq 0
python3 - "$out/snapshot.pickle" "$out/stats.json" <<'P'
import json, subprocess, sys

snapshot, stats = sys.argv[1], json.load(open(sys.argv[2]))
bad = 0


def tables(*what):
    run = subprocess.run(["gtanalyze", "--top", "0", "--format", "json", *what, snapshot], capture_output=True, text=True)
    return json.loads(run.stdout)


def rows(report, table):
    found = tables(report).get(table, {})
    return found["rows"] if isinstance(found, dict) and "rows" in found else []


def compare(name, want, got):
    global bad
    bad |= want != got
    print(f"{'PASS' if want == got else 'FAIL'} {name}: {got}" + ("" if want == got else f", not {want}"))


print("PyTorch", stats["torch"], {k: v for k, v in stats.items() if k.startswith("rounded")})
memory = rows("memory", "memory")[0]
compare("bytes at the peak", stats["peak"], memory["peak_bytes"])
compare("bytes at the end", stats["live"], memory["live_bytes"])
compare("blocks at the end", stats["blocks"], memory["live_count"])
compare("out-of-memory errors", stats["ooms"], memory["failed"])
compare("frees of unknown memory", 0, memory["unknown_frees"])
device = next(r for r in rows("memory", "memory_devices") if r["kind"] == "pool")
compare("peak of the device", stats["peak"], device["peak_bytes"])
reserved = next(r for r in rows("counters", "counters") if r["counter"] == "reserved_bytes")
compare("reserved bytes at the end", stats["reserved"], int(reserved["last"]))
run = subprocess.run(["gtanalyze", "--no-pager", "memory", "--by", "line", "--format", "tsv", snapshot], capture_output=True, text=True)
compare("the line of the largest block", True, f"memory_snapshot.py:{stats['line']})" in run.stdout.split("\n")[2 if run.stdout[:1] == "#" else 1])
sys.exit(bad)
P
[ $? -eq 0 ] || failed=1
gtanalyze --no-pager memory "$out/snapshot.pickle"
exit $failed
