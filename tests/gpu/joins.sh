#!/bin/bash
# joins.sh PORTABLE-TARBALL OUT: checks that every GPU operation is joined to the call that caused
# it, and that CUPTI behaves as the join requires. PARTS (default "ids clock profiler lag joins",
# three to four minutes in total) selects the checks:
#	ids		whose correlation ids records of work have when only driver calls are
#			recorded, and the runtime makes them
#	clock		CUPTI's record of a driver call compared with the call as timed by the
#			program: is there one in each, and where in it
#	profiler	torch.profiler starts and ends in a process with a client that has no
#			subscriber: which of them gets the records; and the same with gt
#	lag		delay of records, by flush interval, with 64 KiB and 1 MiB buffers; a kernel
#			of 600 ms in between
#	joins		gtcollect -e api,ioctl,gpu on programs of all kinds: joined operations, and
#			bytes per kernel beyond those of -e api,ioctl (recless: launches without a
#			record; bad: records with impossible times; B/work: the bytes for each
#			kernel, copy and set)
# A program that cannot be built or run is named and skipped. Leaves the lines in OUT/joins.txt, the
# clients' in OUT/clients.log; with KEEP=1 also the traces of part joins in OUT. APPS names the
# Python programs of part joins ("torch_train,200 jax_app").
out=$2 W=/tmp/gt-joins
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/gt "$W" "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
. "$here/clients.sh"
build_client "$W" || exit 1
gcc -O2 -I"$here/../.." "$here/launch_cost.c" -ldl -pthread -o "$W/launch_cost" || exit 1
command -v nvcc >/dev/null && nvcc -o "$W/streams" "$here/streams.cu" || echo "streams: not built"
parts=${PARTS:-ids clock profiler lag joins}
export CUPTI_CLIENT_LOG=$W/log
: >"$out/clients.log"
exec > >(tee "$out/joins.txt") 2>&1
teeing=$!

# client MODE [VAR=VALUE...] -- PROGRAM...: runs it with the client; the client's lines are in
# $W/log
client() {
	settings=(CUPTI_CLIENT="$1")
	shift
	while [ "$1" != -- ]; do settings+=("CUPTI_CLIENT_$1"); shift; done
	shift
	: >"$W/log"
	env "${settings[@]}" "CUDA_INJECTION64_PATH=$client" timeout 100 "$@" </dev/null >"$W/output" 2>&1 || { echo "  failed: $*"; tail -n 2 "$W/output"; }
	{ echo "== ${settings[*]} $*"; cat "$W/log"; } >>"$out/clients.log"
}
client_line() { sed -n "s/^client [^ ]*: \($1.*\)/  \1/p" "$W/log"; }

ids() {
	while read -r name command; do
		for mode in api runtimeapi api,runtimeapi; do
			client $mode JOIN=1 FLUSH_MS=100 -- $command
			echo "$name, client $mode:"
			client_line ids_of_work
			client_line 'in all' | cut -d ' ' -f 1-14
			client_line '.*refused'
		done
	done <<-E
		runtime $W/streams
		pytorch python3 $here/torch_train.py 50
		driver $W/launch_cost -n 4
	E
}

clock() {
	client api THREADS=1 FLUSH_MS=100 CALLS="$W/records" -- "$W/launch_cost" -n 16 -t "$W/times"
	python3 - "$W/times" "$W/records" <<-'P'
	import bisect, collections, sys


	def spans(path):
	    by_thread = collections.defaultdict(list)
	    for line in open(path):
	        thread, start, end = map(int, line.split())
	        by_thread[thread].append((start, end))
	    return {t: sorted(s) for t, s in by_thread.items()}


	calls, records = map(spans, sys.argv[1:])
	none = one = more = 0
	middles, out = [0], [0]
	for thread, windows in calls.items():
	    mine = [((a + b) / 2, a, b) for a, b in records.get(thread, [])]
	    mine.sort()
	    at = [m[0] for m in mine]
	    for start, end in windows:
	        inside = mine[bisect.bisect_left(at, start):bisect.bisect_left(at, end)]
	        none, one, more = none + (not inside), one + (len(inside) == 1), more + (len(inside) > 1)
	        for middle, a, b in inside[:1] if len(inside) == 1 else []:
	            middles.append(abs(middle - (start + end) / 2))
	            out.append(max(start - a, b - end))
	middles.sort()
	print(f"calls {none + one + more}: {one} have the middle of one record in them, {none} of none, {more} of several")
	print(f"middle to middle: median {middles[len(middles) // 2]:.0f} ns, p99 {middles[len(middles) * 99 // 100]:.0f} ns, "
	      f"most {middles[-1]:.0f} ns; a record goes beyond its call by {max(out):.0f} ns at most")
	P
}

profiler() {
	for mode in bare api; do
		echo "torch.profiler in a process with client $mode:"
		client $mode FLUSH_MS=250 -- python3 "$here/torch_profiled.py"
		grep -h saw "$W/output" | sed 's/^/  /'
		client_line '' | grep -vE 'in all'
	done
	torch=$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' 2>/dev/null)
	for l in "$torch"/lib/libtorch_cpu.so "$torch"/lib/libkineto*; do
		[ ! -f "$l" ] || echo "${l##*/} uses:" $(nm -D --undefined-only "$l" | awk '$2 ~ /^cupti/ { sub(/@.*/, "", $2); print $2 }')
	done
	echo "torch.profiler under gtcollect -e api,gpu (four phases of 500 kernels and 100 copies, and one kernel):"
	timeout 100 gtcollect -q -f -e api,gpu -o "$W/profiled.zst" -- python3 "$here/torch_profiled.py" 2>&1 | grep -E 'saw|rror' | sed 's/^/  /'
	gtanalyze metadata "$W/profiled.zst" | grep -E 'gpu_[a-z_]*' | awk '{ key = $1; $1 = ""; printf "  %s%s", key, $0 "\n" }'
	gtanalyze kernels "$W/profiled.zst" | sed -n '/Kernel  /,$p' | cut -c 1-100
}

lag() {
	for bytes in 65536 1048576; do
		for ms in 0 50 250; do
			client bare LAG=1 FLUSH_MS=$ms BUFFER=$bytes -- "$W/streams" 1000 600 2000
			echo "buffers of $bytes, flushed every $ms ms:" \
				$(client_line record_lag | cut -c 13-) $(client_line came_at_exit)
		done
	done
}

record() {	# record NAME COMMAND...: a line of the table
	name=$1
	shift
	for e in api,ioctl api,ioctl,gpu; do
		timeout 100 gtcollect -q -f $cupti -e $e -o "$W/$name-${e##*,}.zst" -- "$@" </dev/null >"$W/output" 2>&1 || {
			echo "$name: failed: $(tail -n 1 "$W/output")"
			return
		}
	done
	[ -z "$KEEP" ] || cp "$W/$name-gpu.zst" "$out/"
	python3 - "$name" "$W/$name-ioctl.zst" "$W/$name-gpu.zst" "$W/output" <<-'P'
	import json, os, re, subprocess, sys

	name, plain, gpu, output = sys.argv[1:]


	def metadata(trace):
	    text = subprocess.run(["gtanalyze", "--format", "json", "metadata", trace], capture_output=True, text=True).stdout
	    return {r["key"]: r["value"] for r in json.loads(text)["metadata"]["rows"]}


	p, g = metadata(plain), metadata(gpu)
	n = {k: int(g.get("gpu_" + k, 0)) for k in ("kernels", "copies", "sets", "joined_exact", "joined_inferred", "unjoined", "joined_wrong",
	     "launches_without_record", "records_dropped", "records_impossible", "records_foreign", "records_lost")}
	work = n["kernels"] + n["copies"] + n["sets"]
	line = f"{name:12} " + " ".join(f"{n[k]:8}" for k in n)
	if n["kernels"]:
	    beyond = os.path.getsize(gpu) - os.path.getsize(plain) * int(g["calls"]) / int(p["calls"])
	    line += f" {beyond / n['kernels']:7.2f} {beyond / work:7.2f} {n['joined_exact'] / work:8.2%}"
	expected = re.search(r"expect (\d+) kernels (\d+) copies (\d+) sets", open(output).read())
	if expected:
	    wanted, got = [int(x) for x in expected.groups()], [n[k] for k in ("kernels", "copies", "sets")]
	    line += " as expected" if got == wanted else f" NOT AS EXPECTED: {wanted}"
	print(line)
	if not n["kernels"]:
	    print("   ", g.get("gpu_source"))
	if int(g["dropped_calls"]):
	    print("    calls lost:", g["dropped_calls"])
	P
}

joins() {
	printf '%12s' ""
	printf ' %8s' kernels copies sets exact inferred unjoined wrong recless dropped bad foreign lost
	echo " B/kernel B/work exact"
	record launch_cost "$W/launch_cost" -n 16
	[ ! -x "$W/streams" ] || record streams "$W/streams" 1000
	for s in train graph_replay overlap; do
		[ ! -x "${SAMPLES:-build/samples}/$s" ] || record $s "${SAMPLES:-build/samples}/$s"
	done
	for app in ${APPS:-torch_train,200 torch_infer,40 torch_graphs,200 cupy_app jax_app triton_app torch_profiled}; do
		set -- ${app/,/ }
		record $1 python3 "$here/$1.py" $2
	done
}

for part in $parts; do
	echo "== $part (after $SECONDS s)"
	$part
done
exec >&- 2>&-
wait $teeing
