# --chrome in Kineto's dialect: gt reads the export back with the same reports, and the export has the keys that other readers of
# Kineto's files use.
. "$SRC/tests/lib.sh"
X=$B/gtexport A=$B/gtanalyze R=$SRC/samples/recorded

# The rows of reports without their order (processes are in another order), each after the name of its table, without the mangled names
# of kernels: the export contains demangled names, as Kineto's files do.
rows() {
	"$A" $reports --top 0 --names full --format tsv "$1" 2>rows.err | awk -F '\t' '
		/^# / { table = $1 $2; head = 1; next }
		head { head = 0; for (i in drop) delete drop[i]; for (i = 2; i <= NF; i++) if ($i == "name" || $i == "full_name") drop[i] = 1 }
		{ line = table; for (i = 1; i <= NF; i++) if (!(i in drop)) line = line "\t" ($i ~ /^_Z|^void .*\(|\(ncclDevKernelArgs/ && i > 1 ? "" : $i); print line }' | sort
}
reports="kernels copies sync steps launches budget top nvtx_sum gaps streams gpu overlap critical threads queues patterns cuda_api_sum nvtx_gpu_proj_sum"
for f in "$R"/h200*.zst "$R"/kineto*.gz; do
	case $f in *train* | *inference* | *mlp* | *decode* | *streams*) [ -z "$SAN" ] || continue ;; esac # sanitized, the smaller files
	n=${f##*/} n=${n%%.*}
	[ $n = h200-mlp-calls ] && continue	# this file has no processes and threads; the export adds some
	"$X" --chrome -f -o ours.json "$f"
	rows "$f" >before.txt
	rows ours.json >after.txt
	# recordings of an earlier version have this function in another category
	sed -i '/	cuThreadExchangeStreamCaptureMode	/s/	context	/	query	/' before.txt
	check "back-$n-has-rows" test "$(wc -l <before.txt)" -gt 100
	same "back-$n" before.txt after.txt
	# short names of kernels are the same, although the recording has mangled names
	for file in "$f" ours.json; do "$A" kernels --top 0 --format tsv "$file" 2>/dev/null | cut -f 1 | sort >short.${file##*.}; done
	same "back-$n-short-names" "short.${f##*.}" short.json
	for kind in calls gpu_operations; do is "back-$n-$kind" "$(figure $kind "$f")" "$(figure $kind ours.json)"; done
done

command -v jq >/dev/null || { skip keys "no jq"; exit 0; }
# Each line is a name and a filter of jq. The filter must give true for ours.json.
cat >filters <<'END'
# Holistic Trace Analysis (hta/common/trace_parser.py, trace.py, hta/configs/event_args_formats): a table of the events that have dur
# and cat, with columns ts, dur, name, cat, pid, tid and, from args, stream (calls have none: -1), correlation, bytes, memory bandwidth
# (GB/s), wait_on_stream ...; calls and GPU work meet by correlation; a name with Memcpy or Memset is no computation.
hta-head	.schemaVersion == 1 and (.deviceProperties | type == "array" and all(.id | type == "number")) and (.traceEvents | type == "array") and (.baseTimeNanoseconds | type == "number")
hta-head-comes-first	keys_unsorted | index("deviceProperties") < index("traceEvents")
hta-columns	[.traceEvents[] | select(.ph == "X") | [.ts, .dur, .pid, .tid | type] == ["number", "number", "number", "number"] and ([.name, .cat | type] == ["string", "string"])] | all
hta-kernels	[.traceEvents[] | select(.cat == "kernel" and .ph == "X") | .args | [.device, .context, .stream, .correlation, ."registers per thread", ."shared memory" | type == "number"] + [.grid, .block | type == "array" and length == 3 and all(type == "number")]] | flatten | length > 100 and all
hta-copies	[.traceEvents[] | select(.cat == "gpu_memcpy") | (.name | startswith("Memcpy ")) and ([.args | .device, .stream, .correlation, .bytes, ."memory bandwidth (GB/s)" | type] | all(. == "number"))] | all
hta-sets	[.traceEvents[] | select(.cat == "gpu_memset") | (.name | startswith("Memset ")) and ([.args | .device, .stream, .correlation, .bytes | type] | all(. == "number"))] | all
hta-calls-have-no-stream	[.traceEvents[] | select(.cat == "cuda_driver" or .cat == "cuda_runtime" or .cat == "user_annotation" or .cat == "cpu_op") | .args.stream] | all(. == null)
hta-one-call-a-correlation	[.traceEvents[] | select((.cat == "cuda_driver" or .cat == "cuda_runtime") and .args.correlation) | .args.correlation] | length > 100 and length == (unique | length)
hta-work-has-its-call	([.traceEvents[] | select(.cat == "cuda_driver" or .cat == "cuda_runtime") | .args.correlation | select(.) | {key: tostring, value: true}] | from_entries) as $calls | [.traceEvents[] | select(.ph == "X" and (.cat == "kernel" or .cat == "gpu_memcpy" or .cat == "gpu_memset")) | $calls[.args.correlation | tostring]] | all
# TraceLens (TraceLens/Trace2Tree/trace_to_tree.py, util.py): the first launch decides whether calls have a correlation. A call finds its
# work by the flow ac2g with that number as id, then by pid, tid and correlation of the flow's end. Metadata have one of five names.
tracelens-launches	[.traceEvents[] | select((.cat == "cuda_driver" or .cat == "cuda_runtime") and (.name | ascii_downcase | contains("launch")) and .args.correlation)] | length > 100
tracelens-flows	([.traceEvents[] | select(.ph == "X" and (.cat == "kernel" or .cat == "gpu_memcpy" or .cat == "gpu_memset")) | {key: "\(.pid) \(.tid) \(.args.correlation)", value: true}] | from_entries) as $work | [.traceEvents[] | select(.ph == "f" and .cat == "ac2g" and (.id | type == "number")) | $work["\(.pid) \(.tid) \(.id)"]] | length > 100 and all
tracelens-flows-begin	([.traceEvents[] | select(.cat == "cuda_driver" or .cat == "cuda_runtime") | {key: "\(.pid) \(.tid) \(.args.correlation)", value: true}] | from_entries) as $calls | [.traceEvents[] | select(.ph == "s" and .cat == "ac2g" and (.id | type == "number")) | $calls["\(.pid) \(.tid) \(.id)"]] | length > 100 and all
tracelens-metadata	[.traceEvents[] | select(.ph == "M") | {process_name: .args.name, process_labels: .args.labels, process_sort_index: .args.sort_index, thread_name: .args.name, thread_sort_index: .args.sort_index}[.name] != null] | all
# Viewers: each id has one arrow; the slices of a thread nest.
viewers-flows	[.traceEvents[] | select(.ph == "s" or .ph == "f")] | group_by(.id) | map([.[].ph] | sort == ["f", "s"]) | all
viewers-nest	[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid]) | map(sort_by(.ts, -.dur) | reduce .[] as $e ({open: [], good: true}; ($e.ts * 1000 | round) as $from | ($e.ts * 1000 + $e.dur * 1000 | round) as $to | until((.open | length) == 0 or .open[-1] > $from; .open |= .[:-1]) | .good = (.good and ((.open | length) == 0 or .open[-1] >= $to)) | .open += [$to]) | .good) | all
# Each GPU is a process with the GPU's number; its streams are threads. A kernel that begins before its predecessor on the stream has
# ended is on a lane beside the stream.
place	[.traceEvents[] | select(.ph == "X" and .cat == "kernel") | {pid, tid, s: .args.stream, d: .args.device, from: .ts, to: (.ts + .dur)}] as $all | [$all[] | .pid == .d and (.tid == .s or (. as $k | .tid >= 1000000000 and any($all[]; .tid == $k.s and .pid == $k.pid and .from < $k.to and .to > $k.from)))] | all
END
{ echo '['; grep -v '^#' filters | while IFS='	' read -r name filter; do printf '{name: "%s", holds: ((%s) == true)},\n' "$name" "$filter"; done
  echo 'empty] | .[] | "\(.name) \(.holds)"'; } >program
for f in $([ -n "$SAN" ] || echo kineto-h200-mlp.json.gz) h200-graphs.zst h200-nvtx.zst h200x2-nccl.zst; do
	n=${f%%.*}
	"$X" --chrome -f --exclude @query -o ours.json "$R/$f"
	want "keys-$n" 0 jq -r -f program ours.json
	while read -r name holds; do is "$n-$name" true "$holds"; done <want.out
	is "keys-$n-all" "$(grep -vc '^#' filters)" "$(wc -l <want.out)"
done
# Names have no arguments; arguments are in args only.
# holds NAME FILTER
holds() { is "$1" true "$(jq "$2" ours.json 2>&1 | head -c 200)"; }
"$X" --chrome -f -o ours.json "$R/h200-graphs.zst"
holds names-are-plain '[.traceEvents[] | select(.cat == "cuda_driver") | .name] | unique | all(test("^cu[A-Za-z0-9_]+$"))'
"$X" --chrome -f -o ours.json "$R/h200-nvtx.zst"
holds ranges-keep-their-names '[.traceEvents[] | select(.cat == "user_annotation" and .name == "forward")] | length == 20'
holds ranges-are-on-their-thread '([.traceEvents[] | select(.cat == "cuda_driver") | .tid] | unique) as $calls | [.traceEvents[] | select(.name == "forward") | .tid as $t | $calls | index($t) != null] | all'
