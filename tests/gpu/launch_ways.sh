#!/bin/bash
# launch_ways.sh PORTABLE-TARBALL OUT: cost of each part of recording per launch, measured within
# one process (see launch_ways.c), for one thread and for four that launch at the same time.
# Processes (RUNS, 7, with gtcollect and with a bare client of CUPTI in turn) differ by more than a
# part costs, so differences are taken within each. Prints the median of the processes' medians, the
# least and the greatest.
#	records of calls	CUPTI's, which the recorder needs for the join; with the system's
#				thread ids
#	overhead		records of CUPTI's own overhead
#	the wrapper		which records the call
#	all			the cost of gtcollect beyond a bare client: aim at most 150 ns
# "alone" is a launch in a process whose CUPTI has only a bare client; "within" is one in
# gtcollect's process with the fewest parts, "recorded" with all parts. "From nothing" is the cost
# of recording for a launch of which CUPTI otherwise records nothing: by a bare client, by
# gtcollect, and by Nsight Systems (nsys profile -t cuda) within a capture range, if it is installed
# or NSYS names it. Leaves OUT/ways.raw.
out=$2 W=/tmp/gt-ways
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/gt "$W" "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
. "$here/clients.sh"
build_client "$W" || exit 1
gcc -O2 -I"$here/../.." "$here/launch_ways.c" -ldl -lm -pthread -o "$W/launch_ways" || exit 1
library=${CUPTI_CLIENT_LIBRARY:-libcupti.so.13}
rounds=${ROUNDS:-100}
nsys=${NSYS:-$(command -v nsys || ls /opt/nvidia/nsight-*/*/host/target-linux-x64/nsys 2>/dev/null | tail -n 1)}
rm -f "$out/ways.raw"
for run in $(seq "${RUNS:-7}"); do
	for j in 1 4; do
		"$W/launch_ways" -c "$library" -n $((rounds / 2)) -j $j bare api | sed "s/^/client $run /"
		gtcollect -q -f $cupti -e api,ioctl,gpu -o "$W/ways.zst" -- "$W/launch_ways" -n "$rounds" -j $j \
			bare,tids api,tids tids,overhead tids,calls api,tids,overhead,calls bare,tids | sed "s/^/gt $run /"
		"$W/launch_ways" -c "$library" -n $((rounds / 2)) -j $j nothing bare | sed "s/^/client0 $run /"
		gtcollect -q -f $cupti -e api,ioctl,gpu -o "$W/ways.zst" -- "$W/launch_ways" -n $((rounds / 2)) -j $j nothing,tids api,tids,overhead,calls |
			sed "s/^/gt0 $run /"
		[ -z "$nsys" ] || timeout 100 "$nsys" profile -t cuda -s none --cpuctxsw=none -c cudaProfilerApi --capture-range-end=repeat:1000 -f true \
			-o "$W/nsys" "$W/launch_ways" -n "${NSYS_ROUNDS:-10}" -j $j calls range,calls | grep -E ' (ns|more) ' | sed "s/^/nsys0 $run /"
	done
done 2>>"$out/ways.log" | grep -v device: >>"$out/ways.raw"
python3 - "$out/ways.raw" <<'P'
import collections, statistics, sys

value = collections.defaultdict(list)
for line in open(sys.argv[1]):
    who, run, threads, way, name, v = line.split()
    value[who, threads, way, name].append(float(v))


def tell(title, key, aim=""):
    v = sorted(value[key])
    if v:
        print(f"  {title:18}{statistics.median(v):+8.0f} ns  ({v[0]:+.0f} to {v[-1]:+.0f} in {len(v)} processes){aim}")


for threads in "1", "4":
    print(f"{threads} thread{'s' * (threads != '1')}")
    for title, who, way in (("alone", "client", "bare"), ("within", "gt", "bare,tids"), ("recorded", "gt", "api,tids,overhead,calls")):
        v = value[who, threads, way, "ns"]
        if v:
            print(f"  {title:18}{statistics.median(v):8.0f} ns  ({min(v):.0f} to {max(v):.0f})")
    for title, way in ("no difference", "bare,tids"), ("records of calls", "api,tids"), ("overhead", "tids,overhead"), ("the wrapper", "tids,calls"):
        tell(title, ("gt", threads, way, "more"))
    tell("all", ("gt", threads, "api,tids,overhead,calls", "more"), ", aim at most +150")
    print("  from nothing")
    for title, who, way in ("a bare client", "client0", "bare"), ("gtcollect", "gt0", "api,tids,overhead,calls"), ("nsys", "nsys0", "range,calls"):
        tell("  " + title, (who, threads, way, "more"))
P
