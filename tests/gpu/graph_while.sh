#!/bin/bash
# graph_while.sh PORTABLE-TARBALL OUT: checks that the work in the bodies of conditional graph
# nodes is joined to the launch that ran it. Records each mode of graph_while.cu and compares the
# work of each launch, in order, with the program's counts on the GPU. Leaves OUT/graph_while.txt
# and the traces. Exit status 1 if anything differs.
out=$2 W=/tmp/gt-while
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/gt "$W" "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
nvcc -arch=native -o "$W/graph_while" "$here/graph_while.cu" || exit 1
bad=0

compare() {	# compare MODE: the trace with the program's counts
	python3 - "$1" "$W/$1.txt" "$out/while-$1.zst" <<-'P'
	import collections, json, re, subprocess, sys

	mode, output, trace = sys.argv[1:]
	text = open(output).read()
	counted = [int(x) for x in re.findall(r"^launch \d+ ops (\d+)$", text, re.M)]
	kernels = int(re.search(r"expect (\d+) kernels", text).group(1))


	def tables(*what):
	    run = subprocess.run(["gtanalyze", "--top", "0", "--format", "json", *what, trace], capture_output=True, text=True)
	    return json.loads(run.stdout)


	meta = {r["key"]: r["value"] for r in tables("metadata")["metadata"]["rows"]}
	rows = next(iter(t["rows"] for n, t in tables("cuda_kern_exec_trace").items() if n != "header" and isinstance(t, dict) and "rows" in t))
	launched = collections.Counter(r["api_start_ns"] for r in rows if r["api_function"].startswith("cuGraphLaunch"))
	got = [launched[start] for start in sorted(launched)]
	figures = {k: int(meta["gpu_" + k]) for k in ("kernels", "joined_exact", "joined_inferred", "unjoined", "joined_wrong",
	           "launches_without_record")}
	work = figures["joined_exact"] + figures["joined_inferred"] + figures["unjoined"]
	good = (figures["kernels"] == kernels and not figures["unjoined"] and not figures["launches_without_record"] and got == counted)
	print(f"{mode:8} {'ok' if good else 'DIFFERS'}: {figures}, {len(counted)} launches, {len(got)} with work, exact {figures['joined_exact'] / work:.1%}")
	if got != counted:
	    print("  counted ", counted, "\n  recorded", got)
	sys.exit(not good)
	P
}

exec > >(tee "$out/graph_while.txt") 2>&1
teeing=$!
for mode in only between first stream; do
	timeout 100 gtcollect -q -f -e api,gpu -o "$out/while-$mode.zst" -- "$W/graph_while" $mode 40 >"$W/$mode.txt" 2>&1 ||
		{ echo "$mode: failed: $(tail -n 1 "$W/$mode.txt")"; bad=1; continue; }
	compare $mode || bad=1
done
exec >&- 2>&-
wait $teeing
exit $bad
