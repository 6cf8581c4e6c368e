#!/bin/bash
# cupti_cost.sh PORTABLE-TARBALL OUT: compares the cost of a launch under a bare CUPTI client, under
# gtcollect and under Nsight Systems. launch_cost.c runs under each of them in turn, forwards and
# backwards alternately (ROUNDS times, 5), on the same processors (COST_CPUS, a list as for taskset;
# "": not pinned). Prints the medians under "bare" and, for each other recorder, the median of the
# differences to bare in the same round. At the end, with the smallest and largest difference, gt's
# limit: a launch under gt-gpu costs at most 0.15 us more than under bare.
#	nothing		without a recorder
#	none bare api runtimeapi callbacks	with cupti_client.c, see there
#	again		bare a second time: the error of the method
#	gt-api gt-gpu	gtcollect -e api and -e api,ioctl,gpu
#	nsys		nsys profile -t cuda, if it is installed (or NSYS names it)
# RECORDERS is a list of those to run, BURSTS the number of bursts of each (64). Where processes
# differ, more and shorter ones are more exact (and launch_ways.sh most). SWEEP=1 also runs bare and
# api with buffers of other sizes, other attributes and a flushing thread: "bare,BUFFER=32768".
# Takes about two minutes with a real driver. Leaves OUT/cost.raw (ROUND RECORDER FIGURE NS),
# OUT/cost.txt and the output of clients and gtcollect, OUT/cost.log. SIMULATED=1: a small run that
# only tests this script.
out=$2 W=/tmp/gt-cost
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/gt "$W" "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
. "$here/clients.sh"
build_client "$W" || exit 1
gcc -O2 -I"$here/../.." "$here/launch_cost.c" -ldl -pthread -o "$W/launch_cost" || exit 1
bursts=${BURSTS:-${SIMULATED:+4}}
cpus=${COST_CPUS-$([ "$(nproc)" -ge 8 ] && echo 4-7)}
nsys=${NSYS:-$(command -v nsys || ls /opt/nvidia/nsight-*/*/host/target-linux-x64/nsys 2>/dev/null | tail -n 1)}
recorders=${RECORDERS:-nothing none bare again api runtimeapi callbacks gt-api gt-gpu ${nsys:+nsys}}
[ -z "$SWEEP" ] || for m in bare api; do
	for v in BUFFER=32768 BUFFER=65536 BUFFER=262144 BUFFER=4194304 ZEROED=0 PER_THREAD=0 PER_THREAD=1 CLOCK=0 THREADS=1 WAITS=1 FLUSH_MS=250 \
		BUFFER=65536,FLUSH_MS=250,THREADS=1,WAITS=1; do
		recorders="$recorders $m,$v"
	done
done
program="${cpus:+taskset -c $cpus} $W/launch_cost -n ${bursts:-64}"
export CUPTI_CLIENT_LOG=$out/cost.log
rm -f "$out"/cost.*

run() {	# run RECORDER
	case $1 in
	nothing) $program ;;
	gt-api) gtcollect -q -f -e api -o "$W/api.zst" -- $program ;;
	gt-gpu) gtcollect -q -f $cupti -e api,ioctl,gpu -o "$W/gpu.zst" -- $program ;;
	again) env CUPTI_CLIENT=bare "CUDA_INJECTION64_PATH=$client" $program ;;
	nsys) timeout 60 "$nsys" profile -t cuda -s none --cpuctxsw=none -f true -o "$W/nsys" $program ;;
	*,*) env CUPTI_CLIENT="${1%%,*}" $(echo "${1#*,}" | tr , '\n' | sed 's/^/CUPTI_CLIENT_/') "CUDA_INJECTION64_PATH=$client" $program ;;
	*) env CUPTI_CLIENT="$1" "CUDA_INJECTION64_PATH=$client" $program ;;
	esac
}

for round in $(seq "${ROUNDS:-5}"); do
	[ $((round % 2)) = 1 ] && order=$recorders || order=$(echo $recorders | tr ' ' '\n' | tac)
	for r in $order; do
		run "$r" 2>>"$out/cost.log" | awk -v round="$round" -v r="$r" '$3 == "ns" { print round, r, $1, $2 }' >>"$out/cost.raw"
	done
done
python3 - "$out/cost.raw" <<'P' | tee "$out/cost.txt"
import collections, statistics, sys

value, recorders, figures = collections.defaultdict(dict), [], []
for line in open(sys.argv[1]):
    n, recorder, figure, ns = line.split()
    value[recorder, figure][n] = float(ns)
    recorders += [recorder] * (recorder not in recorders)
    figures += [figure] * (figure not in figures)


def over(recorder, figure, base):
    here, there = value[recorder, figure], value[base, figure]
    return [here[n] - there[n] for n in here if n in there]


base = "bare" if "bare" in recorders else recorders[0]
columns = [f for f in figures if not (f.startswith(("memset", "htod", "graph")) and f.endswith(("p99", "all", "fast"))) and f != "clock_read"]
wide = max(map(len, recorders)) + 1
print(f"ns; under {base}, then the median of the differences to it")
print(f"{'':{wide}}" + "".join(f"{f.rsplit('_', 1)[0]:>10}" for f in columns))
print(f"{'':{wide}}" + "".join(f"{f.rsplit('_', 1)[1]:>10}" for f in columns))
print(f"{base:{wide}}" + "".join(f"{statistics.median(value[base, f].values()):>10.0f}" for f in columns))
for r in recorders:
    if r != base:
        print(f"{r:{wide}}" + "".join(f"{statistics.median(over(r, f, base) or [float('nan')]):>+10.0f}" for f in columns))
for figure in "launch_1t_median", "launch_1t_fast", "launch_1t_mean", "launch_4t_median", "launch_4t_fast", "launch_4t_mean":
    for r, against in ("gt-gpu", base), ("gt-gpu", "nsys"), ("again", base):
        d = sorted(over(r, figure, against))
        if d and r != against:
            print(f"{figure}: {r} over {against} {statistics.median(d) / 1000:+.3f} us ({d[0] / 1000:+.3f} to {d[-1] / 1000:+.3f})" +
                  ", aim at most +0.150" * (r == "gt-gpu" and against == base))
P
for t in api gpu; do
	[ -f "$W/$t.zst" ] && echo "gt-$t: $(stat -c %s "$W/$t.zst") bytes; $(gtanalyze header "$W/$t.zst" | sed -n 3p)"
done | tee -a "$out/cost.txt"
[ ! -f "$W/gpu.zst" ] || gtanalyze metadata "$W/gpu.zst" | grep -E '^ *gpu_' | tee -a "$out/cost.txt"
grep refused "$out/cost.log" | sort | uniq -c
