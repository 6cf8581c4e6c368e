#!/bin/bash
# inject.sh PORTABLE-TARBALL OUT: a training loop of PyTorch that gtcollect --via inject attaches to 20 times. Compares the loop's
# results with those of a run without, and the kernels in each trace with those that torch.profiler
# counts for ten steps. Then the Python stacks at launches with --inject, beside those that the program itself read. Prints PASS
# and FAIL lines; exit status 1: something failed. Takes about a minute.
here=$(cd "$(dirname "$0")" && pwd) out=$2
mkdir -p /tmp/gt "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
steps=${STEPS:-4000}
failed=0
result() {	# result NAME CMD...
	name=$1
	shift
	if "$@"; then echo "PASS $name"; else echo "FAIL $name"; failed=1; fi
}
export CUBLAS_WORKSPACE_CONFIG=:4096:8
timeout 100 python3 "$here/inject_loop.py" "$steps" "$out/alone.steps" count >"$out/alone.txt" 2>"$out/alone.err" || tail -n 3 "$out/alone.err"
python3 "$here/inject_loop.py" "$steps" "$out/recorded.steps" >"$out/recorded.txt" 2>"$out/recorded.err" &
p=$!
for i in $(seq 300); do [ -s "$out/recorded.steps" ] && break; sleep 0.1; done
good=0
for i in $(seq 20); do
	if timeout 30 gtcollect -v -f --via inject -p $p --duration 300ms -o "$out/$i.zst" 2>"$out/$i.err"; then good=$((good + 1))
	else tail -n 2 "$out/$i.err"; fi
	kill -0 $p 2>/dev/null || { echo "the program ended during attach $i"; break; }
done
wait $p
status=$?
grep -h 'was stopped for' "$out"/*.err | sed 's/.*stopped for/stopped for/' | sort -k 3 -n | tail -n 3
result "20 attaches ($good)" test $good -eq 20
result "the program's exit status is 0 ($status)" test $status -eq 0
result "results are equal" test "$(grep ^loss "$out/alone.txt")" = "$(grep ^loss "$out/recorded.txt")" -a -s "$out/recorded.txt"
gtanalyze header "$out/1.zst" 2>/dev/null | sed 's/^/  /'
for i in 1 10 20; do gtexport --chrome -f -o "$out/$i.json" "$out/$i.zst" >/dev/null 2>&1; done
python3 - "$out" <<'P' || failed=1
import collections, csv, json, os, sys

out, failed, sizes = sys.argv[1], False, collections.Counter()


def verdict(ok, text):
    global failed
    failed |= not ok
    print("PASS" if ok else "FAIL", text)


for i in range(1, 21):
    table = os.popen(f"gtanalyze --format csv --top 0 top {out}/{i}.zst 2>/dev/null")
    launches = kernels = 0
    for row in csv.DictReader(table):
        launches += int(row["count"]) if row["operation"].startswith("cuLaunchKernel") else 0
        kernels += int(row["count"]) if row["category"] == "kernel" else 0
    verdict(launches > 100 and abs(kernels - launches) <= launches // 100, f"attach {i}: {launches} launches, {kernels} kernels")
# the program waits for the GPU after ten steps, and then 20 ms: between two pauses all kernels of ten steps ran
for i in (1, 10, 20):
    with open(f"{out}/{i}.json") as f:
        events = json.load(f)
    events = events["traceEvents"] if isinstance(events, dict) else events
    starts, n, groups = sorted(float(e["ts"]) for e in events if e.get("cat") == "kernel"), 1, []
    for a, b in zip(starts, starts[1:]):
        if b - a > 10000:
            groups.append(n)
            n = 0
        n += 1
    sizes.update(groups[1:])
counts = [line.split() for line in open(f"{out}/alone.txt")]
own = next((int(c[1]) for c in counts if c[0] == "kernels"), 0)
verdict(sizes and set(sizes) == {own}, f"kernels of ten steps: {own} by torch.profiler, in the traces {dict(sizes)}")
sys.exit(failed)
P

gtcollect -q -f --inject -e api,gpu -o "$out/stacks.zst" -- python3 "$here/torch_stacks.py" "$out/expected.txt" >"$out/stacks.txt" 2>&1
result "the program with --inject ends well" test $? -eq 0
gtanalyze --no-pager stacks --match 'cuLaunchKernel*' --top 0 --format tsv "$out/stacks.zst" >"$out/stacks.tsv" 2>"$out/stacks.err"
python3 "$here/compare_stacks.py" "$out/stacks.tsv" "$out/expected.txt" || failed=1
gtanalyze --no-pager stacks --match 'cuLaunchKernel*' --top 0 "$out/stacks.zst" 2>/dev/null >"$out/native.txt"
result "stacks have no frames of the driver or CUPTI" sh -c '! grep -Eq "libcuda[.]so|libcupti" "$0"' "$out/native.txt"
exit $failed
