#!/bin/sh
# An allocation fails: the command either prints its usual output, or fails with a message. One run for each
# allocation; of allocations with the same call stack only the first one fails.
. "$SRC/tests/lib.sh"
if [ -n "$SAN" ]; then skip no_memory "a sanitized program has an allocator of its own"; exit; fi
if ! ${CC:-cc} -O2 -shared -fPIC "$SRC/tests/cli/hostile/fail_alloc.c" -o fail_alloc.so 2>cc.err; then
	skip no_memory "the C library is not glibc: $(grep -m 1 error cc.err)"; exit
fi
T=$SRC/samples/recorded/h200-nvtx.zst

# injected VARIABLE=VALUE... COMMAND...: runs COMMAND with the library. The shell itself does not load it.
injected() { env LD_PRELOAD="$PWD/fail_alloc.so" FAIL_IN="$program" "$@"; }

# survives NAME OUTPUT COMMAND...: OUTPUT is a command that prints the result of COMMAND; - is its standard output. Every $every-th
# allocation is tested.
survives() {
	name=$1 output=$2; shift 2
	program=$(basename "$1")
	mkdir "$name"
	if ! injected FAIL_LIST="$PWD/$name/list" "$@" >"$name/out" 2>"$name/err"; then
		fail "$name" "it fails by itself: $(tail -n 1 "$name/err")"; return
	fi
	[ "$output" = - ] || $output >"$name/out"
	tested=0
	awk -v every=$every 'NR % every == 0' "$name/list" >"$name/some"
	while read -r at; do
		tested=$((tested + 1)) status=0
		injected FAIL_AT="$at" timeout 60 "$@" >"$name/got" 2>"$name/got.err" || status=$?
		if [ $status -eq 124 ] || [ $status -gt 125 ]; then echo "allocation $at: status $status"
		elif [ $status -ne 0 ]; then [ -s "$name/got.err" ] || echo "allocation $at: status $status without a message"
		else
			[ "$output" = - ] || $output >"$name/got"
			cmp -s "$name/out" "$name/got" || echo "allocation $at: status 0 and another output"
		fi
	done <"$name/some" >"$name/bad"
	if [ $tested -lt 20 ]; then fail "$name" "only $tested allocations were tested"
	elif [ -s "$name/bad" ]; then fail "$name" "of $tested: $(wc -l <"$name/bad") bad, first $(head -n 1 "$name/bad")"
	else ok "$name"; fi
}

copy() { "$B/gtanalyze" header top kernels copy.zst 2>/dev/null; }
recorded() {
	"$B/gtanalyze" query --by name,kind,stream --where 'kind!=counter' --agg count --top 0 --format csv recorded.zst 2>/dev/null
	"$B/gtanalyze" header --format csv recorded.zst 2>/dev/null | grep -c 'train -n 2'
}
cat >kineto.json <<'END'
{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "computeMajor": 9}], "cuda_driver_version": 13000,
"host_name": "here", "record_shapes": 1, "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 1, "args": {"name": "python"}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 10.5, "dur": 90, "args": {"External id": 5, "Input Dims": [[2, 3], [3, 4]]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 20, "dur": 5, "args": {"cbid": 211, "correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "void gemm<float>(float*)", "pid": 0, "tid": 7, "ts": 30, "dur": 40, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 9, "grid": [8, 1, 1], "block": [64, 1, 1]}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 80, "dur": 4, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 10, "bytes": 4096}},
{"ph": "X", "cat": "user_annotation", "name": "step", "pid": 7, "tid": 7, "ts": 5, "dur": 100, "args": {}}], "traceName": "here.json"}
END
"$B/gtexport" --jsonl "$T" 2>/dev/null | head -n 200 >lines.jsonl

every=2
survives analyze - "$B/gtanalyze" -j 1 "$T"
survives export-cut copy "$B/gtexport" --native -f -o copy.zst -m @launch --from 1ms "$T"
survives import-kineto copy "$B/gtexport" --native -f -o copy.zst kineto.json
survives view - "$B/gtview" --render 100x30 "$T"
every=5		# the runs above have tested most of these allocations
survives analyze-json - "$B/gtanalyze" -j 1 --format json kernels steps header "$T"
survives analyze-query - "$B/gtanalyze" -j 1 query --where 'dur>1us' --by name,stream --agg 'count,p99(dur)' "$T"
survives analyze-diff - "$B/gtanalyze" -j 1 diff header top "$T" "$SRC/samples/recorded/h200-graphs.zst"
survives export-chrome - "$B/gtexport" --chrome --to 20ms "$T"
for i in 0 1; do
	printf '{"distributedInfo":{"rank":%d},"traceEvents":[{"ph":"X","cat":"cuda_driver","name":"cuInit","pid":5,"tid":6,"ts":11,"dur":10}]}' $i >rank.json
	"$B/gtexport" --native -o rank$i.zst rank.json
done
members() { tar xOf ranks.tar perfetto_manifest.json; tar tf ranks.tar; }
survives export-ranks members "$B/gtexport" --perfetto --from 0s -f -o ranks.tar rank0.zst rank1.zst
survives export-baseline - "$B/gtexport" --flame --baseline rank0.zst rank1.zst
survives import-jsonl copy "$B/gtexport" --native -f -o copy.zst lines.jsonl
gzip -dc "$SRC/samples/recorded/strace-many-threads.txt.gz" | sed '80,$d; s/^\([0-9]*\) /\1<name> /' >strace.txt
survives import-strace copy "$B/gtexport" --native -f -o copy.zst strace.txt
"$B/gtexport" --parquet -o folder --match '*multi_tensor*' --table StringIds --table CUPTI_ACTIVITY_KIND_KERNEL "$T"
survives import-parquet copy "$B/gtexport" --native -f -o copy.zst folder
live() { "$B/gtanalyze" memory --by stack --format csv copy.zst 2>/dev/null; }
survives import-torch-memory live "$B/gtexport" --native -f -o copy.zst "$SRC/tests/cli/export/torch_memory/python.pickle"
survives view-top - "$B/gtview" --render 100x30 --svg --view top "$T"
export LD_LIBRARY_PATH="$B/sim" SIMGPU_SPEED=20
survives collect recorded "$B/gtcollect" -f -o recorded.zst "$B/samples/train" -n 2
