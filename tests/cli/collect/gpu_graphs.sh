# Work of a graph names the call that made its node: the call that added it, or the captured launch. Simulated GPU.
. "$SRC/tests/lib.sh"
C=$B/gtcollect X=$B/gtexport prog=$B/guest/fake/graphs
on_sim() { env LD_LIBRARY_PATH="$B/sim" "$@"; }
# made FILE: for each GPU row its grid (0: none), how it was launched, the call that made its node, and whether a call with that grid
# began at that time
made() {
	"$X" --jsonl -o made.jsonl -f "$1" && tr -d '"{}' <made.jsonl | awk -F, '
		function get(name, i) { for (i = 1; i <= NF; i++) if (index($i, name ":") == 1 || index($i, "details:" name ":") == 1) { sub(/.*:/, "", $i); return $i } return "" }
		{ line = $0; ts = get("ts"); $0 = line; name = get("name"); $0 = line; phase = get("phase"); $0 = line; made_by = get("made_name"); $0 = line
		  at = get("made_start"); $0 = line; by = get("launch_name"); $0 = line; x = get("grid_x"); $0 = line; gx = get("gridDimX"); $0 = line; device = get("device") }
		phase == "B" && by == "" { call[ts] = name; grid[ts] = gx }
		phase == "B" && by != "" && name !~ /wait/ { n++; rx[n] = x == "" ? 0 : x; rb[n] = by; rm[n] = made_by; rt[n] = at }
		END { for (i = 1; i <= n; i++) print rx[i], rb[i], rm[i] == "" ? "-" : rm[i],
			rm[i] == "" ? "-" : call[rt[i]] == rm[i] && (grid[rt[i]] == "" || grid[rt[i]] == rx[i]) ? "found" : "wrong" }' | sort | uniq -c | sed 's/^ *//'
}

want record 0 on_sim "$C" -q -f -o t.zst -- "$prog"
made t.zst >got
cat >expected <<'END'
2 0 cuGraphLaunch cuMemsetD8Async found
4 0 cuGraphLaunch cuGraphAddMemsetNode found
4 1 cuGraphLaunch cuGraphAddKernelNode_v2 found
4 2 cuGraphLaunch cuGraphAddKernelNode_v2 found
2 3 cuGraphLaunch cuGraphAddKernelNode_v2 found
2 4 cuGraphLaunch cuLaunchKernel found
2 5 cuGraphLaunch cuLaunchKernel found
2 6 cuGraphLaunch cuLaunchKernel found
1 7 cuLaunchKernel - -
1 8 cuLaunchKernel - -
END
LC_ALL=C sort -k 2,2n -k 4,4 got >got.sorted
LC_ALL=C sort -k 2,2n -k 4,4 expected >expected.sorted
same each-node-has-its-call expected.sorted got.sorted

# -e gpu alone also records the calls that make nodes
want alone 0 on_sim "$C" -q -f -e gpu -o a.zst -- "$prog"
made a.zst | LC_ALL=C sort -k 2,2n -k 4,4 >got.sorted
same the-gpu-alone expected.sorted got.sorted

# a CUPTI without these functions: the makers of nodes are unknown, and nothing else is missing
want without 0 on_sim env SIM_CUPTI_FAIL=cuptiGetGraphNodeId "$C" -q -f -o w.zst -- "$prog"
is without-numbers "24 0" "$(made w.zst | awk '{ n += $1; known += $5 != "-" } END { print n, known }')"

# in the Chrome JSON
want chrome 0 "$X" --chrome -o t.json t.zst
is chrome-has-the-makers-of-nodes 22 "$(grep -c '"created_by":"cu[A-Za-z0-9_]*","created_ts":[0-9.]*' t.json)"
