#!/bin/bash
# events_truth.sh PORTABLE-TARBALL OUT: compares CUDA events (--gpu-timing events) with CUPTI on the
# same deterministic program, and checks that the program never waits for them. PARTS (default
# "driver medians waits torch", about a minute in total):
#	driver		cost and restrictions of the driver's events (events_truth.c: cost,
#			reference, capture)
#	medians		per kernel and kind of copy: counts, which must be equal, and medians; the
#			times by events are an upper bound, at most 5 % above CUPTI's for kernels of
#			50 us and more, and never more than 2 us below
#	waits		duration of launches after a kernel of 400 ms, without gt, by CUPTI and by
#			events; at most 50 ms
#	torch		the same medians of a PyTorch training loop, if PyTorch is installed
# The last line lists the errors. Leaves OUT/events.txt. SIMULATED=1: uses the simulated driver,
# only to test this script.
out=$2 W=/tmp/gt-events
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/gt "$W" "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
gcc -O2 -I"$here/../.." "$here/events_truth.c" -ldl -pthread -o "$W/truth" || exit 1
. "$here/clients.sh"
build_client "$W" >/dev/null 2>&1	# finds CUPTI for $cupti
exec > >(tee "$out/events.txt") 2>&1
teeing=$!
broken=

collect() {	# collect HOW TRACE PROGRAM...
	how=$1 trace=$2; shift 2
	gtcollect -q -f ${cupti:-} -e api,ioctl,gpu --gpu-timing "$how" -o "$W/$trace.zst" -- "$@" >"$W/output" 2>&1 || { tail -n 3 "$W/output"; broken="$broken $trace"; }
}

compare() {	# compare CUPTI EVENTS
	python3 - "$W/$1.zst" "$W/$2.zst" <<-'P' || broken="$broken $2"
	import collections, json, os, statistics, subprocess, sys


	def rows(path):
	    by_name = collections.defaultdict(list)
	    text = subprocess.run(["gtexport", "--chrome", "-f", "-o", path + ".json", path], capture_output=True, text=True)
	    for e in json.load(open(path + ".json"))["traceEvents"]:
	        if e.get("ph") == "X" and e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset", "graph") and "launch_join" in e.get("args", {}):
	            name = e["name"].split(" (")[0] if e["cat"].startswith("gpu_mem") else e["name"]
	            by_name[name].append((e["dur"], e["args"]["launch_join"]))
	    return by_name


	bad = 0
	cupti, events = rows(sys.argv[1]), rows(sys.argv[2])
	print(f"{'':50} {'count':>7} {'by events':>9} {'CUPTI us':>10} {'events us':>10} {'more us':>8} {'more %':>7}")
	for name in sorted(set(cupti) | set(events), key=lambda n: -sum(d for d, _ in cupti.get(n, []))):
	    a, b = [d for d, _ in cupti.get(name, [])], [d for d, _ in events.get(name, [])]
	    x, y = (statistics.median(v) if v else 0 for v in (a, b))
	    off = len(a) != len(b) or y < x - 2 or (x >= 50 and y > 1.05 * x + 2) or any(j != "exact" for _, j in events.get(name, []))
	    bad += off and not os.environ.get("SIMULATED")
	    print(f"{name[:50]:50} {len(a):7} {len(b):9} {x:10.2f} {y:10.2f} {y - x:8.2f} {100 * (y - x) / x if x else 0:7.1f}{'  !' if off else ''}")
	sys.exit(bad > 0)
	P
	for t in "$1" "$2"; do
		echo "$t: $(gtanalyze metadata "$W/$t.zst" | awk '$1 ~ /^gpu_(source|joined_exact|unjoined|joined_wrong|untimed|launches_without_record|event_clock_error_ns)$/ { $1 = $1; printf "%s%s", s, $0; s = "; " }')"
	done
}

driver() { for p in cost reference capture; do echo "-- $p"; "$W/truth" $p | grep -v '^device'; done; }

medians() {
	collect cupti work-cupti "$W/truth" work
	collect events work-events "$W/truth" work
	grep expect "$W/output"
	compare work-cupti work-events
}

waits() {
	for how in nothing cupti events; do
		if [ $how = nothing ]; then "$W/truth" waits >"$W/output"; else collect $how waits "$W/truth" waits; fi
		grep -v '^device' "$W/output" | sed "s/^/$how: /"
		[ "$(sed -n 's/.*150 launches took \([0-9]*\) ns.*/\1/p' "$W/output")" -lt 50000000 ] || broken="$broken waits-$how"
	done
}

torch() {
	python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || {
		echo "PyTorch is not installed"
		return
	}
	collect cupti torch-cupti python3 "$here/torch_train.py" 100
	collect events torch-events python3 "$here/torch_train.py" 100
	compare torch-cupti torch-events
}

for part in ${PARTS:-driver medians waits torch}; do echo "== $part"; $part; done
echo "events: ${broken:-no errors}"
exec >&- 2>&-
wait $teeing
[ -z "$broken" ]
