#!/bin/bash
# host.sh PORTABLE-TARBALL OUT [PAIRS]: why the host is late, on a real GPU. A program that spends known shares of its time in known
# functions (torch_host.py), with samples and switches by perf events (gtcollect has no capabilities here) and, where it may, by eBPF,
# from its start and while it runs (-p): the shares of its functions in the report `host` beside those of its own clock. Then what samples and switches cost two training
# loops, beside stacks at launches and torch.profiler with and without with_stack (overhead.py; PAIRS 0: not measured). Prints PASS and
# FAIL lines; exit status 1: something failed.
. "$(dirname "$0")/ebpf_helpers.sh"
pairs=${3:-10}
mkdir -p /tmp/gt/bin && printf '#!/bin/sh\nexec setpriv --inh-caps=-all --bounding-set=-all "$@"\n' >/tmp/gt/bin/user
printf '#!/bin/sh\nexec user gtcollect "$@"\n' >/tmp/gt/bin/gtcollect-user
chmod +x /tmp/gt/bin/* && export PATH=/tmp/gt/bin:$PATH

gtcollect --doctor 2>&1 | grep -E 'samples|switches|memory|python|perf' | cut -c 1-200
# shares NAME RECORDER...: within 1 point of the program's own shares
shares() {
	run=$1; shift
	"$@" -q -f -o "$out/host-$run.zst" -- python3 "$here/torch_host.py" 20 >"$out/host-$run.txt" 2>&1
	check "$run: the program ends well" test $? -eq 0
	compare "$run"
}
# attached NAME AS RECORDER...: the same of a program that already runs, as AS (user: without capabilities); the shares of what was
# recorded of it
attached() {
	run=$1 as=$2; shift 2
	$as python3 "$here/torch_host.py" 12 >"$out/host-$run.txt" 2>&1 &
	until grep -q begins "$out/host-$run.txt"; do kill -0 $! || return 1; done
	"$@" -f -p $! -o "$out/host-$run.zst" >"$out/attach-$run.txt" 2>&1
	check "$run: recorded until the program ends" test $? -eq 0
	wait $!
	check "$run: the program ends well" test $? -eq 0
	grep -v '^$' "$out/attach-$run.txt" | head -n 5 | cut -c 1-200
	compare "$run"
}
compare() {
	run=$1
	gtanalyze --no-pager host --by function --top 0 --format tsv "$out/host-$run.zst" >"$out/host-$run.tsv" 2>"$out/host-$run.err"
	gtanalyze --no-pager budget --format tsv "$out/host-$run.zst" >"$out/budget-$run.tsv" 2>/dev/null
	python3 - "$run" "$out/host-$run.txt" "$out/host-$run.tsv" <<'P'
import sys

name, said, report = sys.argv[1:]
want = {l.split()[0]: float(l.split()[1]) for l in open(said) if len(l.split()) == 2 and l.split()[1][0].isdigit()}
got = dict.fromkeys(want, 0.0)
head = None
for l in open(report):
    row = l.rstrip("\n").split("\t")
    if "inclusive_ns" in row:
        head = row
    elif head and len(row) == len(head):
        r = dict(zip(head, row))
        f = row[0].split(" ")[0]
        if f in got:
            got[f] = int(r["inclusive_ns"])
    else:
        head = None
total = sum(want.values())
recorded = sum(got.values()) / 1e9 if name.startswith("attached") else total
for f, s in want.items():
    a, b = 100 * s / total, 100 * got[f] / 1e9 / max(recorded, 1e-9)
    print(f"{'PASS' if abs(a - b) <= 1 else 'FAIL'} {name}: {f}: {a:.2f} % by the program, {b:.2f} % by gtanalyze host")
P
	cut -f 1-3,7 "$out/budget-$run.tsv" | sed -n 1,20p
}
shares perf gtcollect-user -e api,gpu,sched,samples
shares ebpf gtcollect -e api,gpu,sched,samples
attached attached-perf user gtcollect-user -e api,gpu,sched,samples
attached attached "" gtcollect -e api,gpu,sched,samples

if [ "$pairs" -gt 0 ]; then
	for loop in transformer mlp; do
		echo "== $loop"
		timeout 250 python3 "$here/overhead.py" "$pairs" 2 $loop "gtcollect --stacks none" gtcollect "gtcollect-user -e api,ioctl,gpu,sched,samples" profiler profiler,stacks |
			grep -E 'plain_ms|overhead|ended|bytes'
	done
fi
exit $failed
