# Answers of reports about real recordings: exit status, text and JSON agree on whether a report can answer.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze R=$SRC/samples/recorded
# cannot NAME REPORT OPTIONS FILE: the report cannot answer when it is the only one; checked in text and in JSON
cannot() {
	name=$1; shift
	want "cannot-$name" 4 $A "$@"
	check "cannot-$name-message" stdout_has "  (cannot answer: "
	check "cannot-$name-is-not-none" sh -c '! grep -qx "  none" want.out'
	want "cannot-$name-json" 4 $A --format json "$@"
	check "cannot-$name-json-state" stdout_has '"state": "cannot answer"'
}
answers() { name=$1; shift; want "answers-$name" 0 $A "$@"; check "answers-$name-message" stdout_lacks "(cannot answer: "; }

# ---- recordings of calls without GPU work ----
for r in gpu kernels copies streams queues patterns unseen overlap collectives steps budget gaps critical advice ioctls driver counters \
	cuda_gpu_sum cuda_gpu_kern_sum cuda_gpu_kern_gb_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum cuda_gpu_trace \
	cuda_kern_exec_sum cuda_kern_exec_trace nvtx_sum nvtx_gpu_proj_sum nvtx_kern_sum; do
	case $r in
	advice) want cannot-calls-advice 4 $A advice "$R/h200-mlp-calls.zst" ;;	# the report answers "cannot answer" for each rule
	*) cannot "calls-$r" $r "$R/h200-mlp-calls.zst" ;;
	esac
done
for r in summary top categories threads pauses open errors layers contexts slowest timeline sync launches transfers cuda_api_sum \
	cuda_api_gpu_sum metadata; do
	answers "calls-$r" $r "$R/h200-mlp-calls.zst"
done
want memory-without-sizes 0 $A memory "$R/h200-mlp-calls.zst"
check memory-without-sizes-counts stdout_has "  all              16 "
is memory-without-sizes-gives-the-reason-once 1 "$(grep -c 'cannot answer: sizes and addresses' want.out)"
want memory-of-nothing 0 $A memory "$R/kineto-h200-mlp.json.gz"
is memory-of-nothing-is-reported-once 1 "$(grep -c '^  none$' want.out)"

# ---- filters that hide the rows that a report needs ----
for r in gpu kernels copies streams launches steps overlap collectives queues patterns budget gaps critical cuda_gpu_sum; do
	cannot "tid-$r" $r --tid 472 "$R/h200-train.zst"
done
for r in gpu launches steps budget gaps memory top errors summary; do
	cannot "pid-$r" $r --pid 9999 "$R/h200-train.zst"
	cannot "late-$r" $r --from 100s "$R/h200-train.zst"
done
for r in overlap collectives steps queues patterns budget gaps critical; do cannot "match-$r" $r --match 'nccl*' "$R/h200x2-nccl.zst"; done
want budget-of-no-process 4 $A budget --pid 9999 "$R/h200-train.zst"
check budget-of-no-process-blames-the-choice stdout_has "(cannot answer: no GPU operation matches the options)"
answers match-kernels kernels --match 'nope*' --match 'cuInit' "$R/h200-train.zst"
check match-kernels-none stdout_has "none that matches"

# ---- diff of two files ----
want diff-of-one-side 4 $A diff kernels "$R/h200-train.zst" "$R/h200-mlp-calls.zst"
check diff-of-one-side-message stdout_has "(cannot answer: in B what GPUs did was not recorded"
want diff-of-some 0 $A diff kernels memory "$R/h200-train.zst" "$R/h200-mlp-calls.zst"

# ---- reports agree on busy and idle time, the GPU's model and the process ----
share() { awk -v key="$1" 'NR == 1 { n = split($0, k, ","); for (i = 1; i <= n; i++) if (k[i] == key) at = i } NR == 2 { split($0, c, ","); print c[at] }'; }
for o in "" --whole "--from 1s" "--to 4s"; do
	busy=$($A gpu --format json $o "$R/h200-train.zst" | sed -n 's/.*"busy_percent": \([0-9.]*\)}.*/\1/p' | head -n 1)
	idle=$($A budget --format csv $o "$R/h200-train.zst" 2>err | sed -n 's/^idle,[0-9]*,\([0-9.]*\),.*/\1/p')
	check "busy-and-idle-make-100${o:+ $o}" awk "BEGIN { d = $busy + $idle - 100; exit !(d <= 0.015 && d >= -0.015) }"	# each of both is rounded
done
want model 0 $A gpu streams "$R/h200x2-nccl.zst"
is model-stands-with-each-gpu 4 "$(grep -c 'NVIDIA H200  ' want.out)"
is model-in-a-trace "NVIDIA H200 (1)" "$($A cuda_gpu_trace --top 1 --format csv "$R/h200x2-nccl.zst" 2>err | tr -d '\r' | share device)"
is errors-by-process "32,708 32,709" "$($A errors --format csv "$R/h200x2-nccl.zst" 2>err | awk -F, '$1 == "cuLibraryUnload" { print $4 "," $5 }' | tr '\n' ' ' | sed 's/ $//')"

# ---- a reader that closes the pipe early ----
for command in "$A --top 0 --format csv slowest" "$A header" "$B/gtexport --jsonl -o -" "$B/gtexport --folded -o -"; do
	(status=0; $command "$R/h200-train.zst" 2>pipe.err || status=$?; echo $status >pipe.status) | head -n 1 >pipe.out
	n=${command#"$B"/}
	check "head-ends-it: $n" grep -qx -e 0 -e 141 pipe.status	# 0: the command had written everything before the pipe was closed
	check "head-is-no-error: $n" sh -c '! grep -q -e Broken -e cannot pipe.err'
	check "head-has-a-line: $n" test "$(wc -l <pipe.out)" -eq 1
done
