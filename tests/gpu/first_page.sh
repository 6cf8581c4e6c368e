#!/bin/bash
# first_page.sh PORTABLE-TARBALL OUT: the steady steps that gtanalyze finds in real programs, beside what the programs
# themselves measured; the occupancy of kernels, beside the CUDA runtime's; and the first page of each recording.
here=$(cd "$(dirname "$0")" && pwd) out=$2
mkdir -p /tmp/gt "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-x86_64/bin:$PATH

record() { # NAME COMMAND...
	name=$1
	shift
	timeout 200 gtcollect -q -f -o "$out/$name.zst" -- "$@" >/tmp/log 2>&1 || tail -n 5 /tmp/log
	gtanalyze "$out/$name.zst" >"$out/$name.txt"
}

for mode in marked train compiled decode jax; do
	record "$mode" python3 "$here/steady_steps.py" "$mode" 120
	tail -n 1 /tmp/log
	gtanalyze --format csv steady "$out/$mode.zst" 2>/dev/null | tr -d '\r' |
		awk -F, 'NR > 1 { printf "  gtanalyze: %s, %d steps, %d steady, median %.4f ms; %s\n", $4, $5, $8, $9 / 1e6, $12 }'
	sed -n '/^Shown/,/^Where/p' "$out/$mode.txt" | grep -v -e '^$' -e '^Where'
done

nvcc -O2 -arch=native -o /tmp/occupancy "$here/occupancy.cu" || exit 1
record occupancy /tmp/occupancy
gtanalyze --format csv --names full kernels "$out/occupancy.zst" 2>/dev/null >/tmp/kernels.csv
grep '^(' /tmp/log | python3 -c '
import csv, subprocess, sys

rows = list(csv.DictReader(open("/tmp/kernels.csv")))
names = subprocess.run(["c++filt"], input="\n".join(r["name"] for r in rows), capture_output=True, text=True).stdout.split("\n")
found = {n.removeprefix("void ").split("(")[0]: r for n, r in zip(names, rows)}
wrong = 0
for line in sys.stdin:
    name, block, dynamic, occupancy = line.strip().split(";")
    row = found.get(name.strip("()"), {})
    same = abs(float(row.get("occupancy_percent") or -1) - float(occupancy)) < 0.01
    wrong += not same
    print("same" if same else "DIFFERS", name, block, dynamic, "CUDA:", occupancy, "gtanalyze:", row.get("occupancy_percent"), row.get("limited_by"))
print(wrong, "occupancies differ")'
