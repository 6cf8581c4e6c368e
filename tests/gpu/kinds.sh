#!/bin/bash
# kinds.sh PORTABLE-TARBALL OUT: side effects of enabling one of CUPTI's activity kinds. For each
# kind in KINDS (17 overhead, 25 unified memory, 38 synchronization, 5 runtime; "none" for
# comparison):
#	ids_of_work	does work of a program on the CUDA runtime (runtime.cu) still have a driver
#			call's id? All must be "driver_call_only"
#	records		records by kind; overheads by kind (1 compiler; 2 and more: CUPTI's number
#			>> 16, and 1) and counters by theirs
#	a launch	its cost (launch_cost.c) beyond that of the client without the kind, median
#			of ROUNDS (3) in turn
# managed.cu uses managed memory. Takes about 40 s. Leaves OUT/kinds.txt and OUT/kinds.log.
# SIMULATED=1: tests this script.
out=$2 W=/tmp/gt-kinds
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$W" "$out"
. "$here/clients.sh"
build_client "$W" || exit 1
gcc -O2 -I"$here/../.." "$here/launch_cost.c" -ldl -pthread -o "$W/launch_cost" || exit 1
programs="$W/launch_cost"
bursts=${SIMULATED:+1}
if [ -n "$SIMULATED" ]; then
	gcc -O2 -I"$here/../.." "$here/../../samples/through_runtime.c" -ldl -pthread -o "$W/through_runtime" && programs="$W/through_runtime"
else
	for p in runtime managed; do nvcc -o "$W/$p" "$here/$p.cu" -ldl && programs="$W/$p $programs"; done
fi
cpus=${COST_CPUS-$([ "$(nproc)" -ge 8 ] && echo 4-7)}
exec > >(tee "$out/kinds.txt") 2>&1
teeing=$!
: >"$out/kinds.log"

client() {	# client KIND PROGRAM...: runs it with the client, whose lines are in $W/log
	kind=$1
	shift
	rm -f "$W/log"
	env CUPTI_CLIENT=api CUPTI_CLIENT_JOIN="${join:-1}" $([ "$kind" = none ] || echo CUPTI_CLIENT_KINDS="$kind") CUPTI_CLIENT_THREADS=1 \
		CUPTI_CLIENT_FLUSH_MS=250 CUPTI_CLIENT_BUFFER=65536 CUPTI_CLIENT_LOG="$W/log" CUDA_INJECTION64_PATH="$client" \
		timeout 60 ${cpus:+taskset -c $cpus} "$@" >"$W/output" 2>&1 || { echo "  failed: $*"; tail -n 2 "$W/output"; }
	{ echo "== $kind $*"; cat "$W/log"; } >>"$out/kinds.log"
}

kinds=${KINDS:-none 17 25 38 5}
for p in $programs; do
	for k in $kinds; do
		client "$k" "$p" $([ "${p##*/}" != launch_cost ] || echo -n 2)
		echo "${p##*/}, kind $k:"
		sed -n 's/^client [^:]*: \(ids_of_work\|records of kind\|overhead\|counter\|cupti.*refused\)/  \1/p' "$W/log" | sort -u
	done
done
echo "a launch, ns: median under the client, and beyond it with the kind"
for round in $(seq "${ROUNDS:-3}"); do
	for k in $kinds; do
		join=0 client "$k" "$W/launch_cost" -n "${bursts:-8}" >/dev/null
		awk -v k="$k" -v round="$round" '$1 ~ /^(launch_1t|launch_4t|memset|graph)_median$/ { print k, $1, round, $2 }' "$W/output"
	done
done >"$out/kinds.raw"
python3 - "$out/kinds.raw" <<'P'
import collections, statistics, sys

value, names = collections.defaultdict(dict), []
for line in open(sys.argv[1]):
    kind, name, n, ns = line.split()
    value[kind, name][n] = float(ns)
    names += [name] * (name not in names)
for kind in dict.fromkeys(k for k, _ in value):
    row = []
    for name in names:
        base = value["none", name]
        d = [v - base[n] for n, v in value[kind, name].items() if n in base]
        shown = f"{statistics.median(base.values()):.0f}" if kind == "none" else f"{statistics.median(d):+.0f}" if d else "?"
        row.append(f"{name} {shown}")
    print(f"  {kind}: " + "  ".join(row))
P
exec >&- 2>&-
wait $teeing
