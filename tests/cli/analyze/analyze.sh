# gtanalyze on its command line: options, output in each format, and exit status.
. "$SRC/tests/lib.sh"

cat >t.jsonl <<'END'
{"ts":0.000001,"op_id":0,"phase":"B","name":"cuInit","details":{"flags":0}}
{"ts":0.000050,"op_id":0,"phase":"E","name":"cuInit","details":{"status":0}}
{"ts":0.000100,"op_id":1,"phase":"B","name":"cuLaunchKernel","details":{}}
{"ts":0.000110,"op_id":1,"phase":"E","name":"cuLaunchKernel","details":{"status":0}}
{"ts":0.000210,"op_id":2,"phase":"B","name":"cuLaunchKernel","details":{}}
{"ts":0.000215,"op_id":2,"phase":"E","name":"cuLaunchKernel","details":{"status":719}}
END
A=$B/gtanalyze

want analyze-default 0 $A t.jsonl
check analyze-default-summary stdout_has "  Total CUDA API calls: 3"
check analyze-default-launches stdout_has "  Kernel launches: 2"
check analyze-default-not-recorded stdout_has "  IOCTL calls: not recorded"
check analyze-default-gap stdout_has "100.0 us"
for table in "Operations by total time" "Time by category" "ioctls by total time" "Memory by kind" Threads "Pauses between launches" \
	"=== TRACE SUMMARY ==="; do
	check "analyze-default-has-$(echo $table | tr ' ' -)" stdout_has "$table"
done

says_no_gpu() { ! grep -q "^GPU" want.out; }
check analyze-default-no-gpu says_no_gpu
want analyze-gpu-asked-for 4 $A gpu t.jsonl
check analyze-gpu-not-recorded stdout_has "cannot answer: what GPUs did was not recorded"
want analyze-default-of-gpu-work 0 $A "$SRC/tests/golden/v1.zst"
check analyze-default-gpu-has-the-budget stdout_has "Where the time of the GPUs went"
check analyze-default-gpu-has-speedups stdout_has "Potential speedups"
check analyze-default-gpu-leaves-out-what-calls-alone-need stdout_lacks "Time by category"
check analyze-default-gpu-has-operations stdout_has "Operations by total time"
check analyze-default-gpu-lacks-the-summary stdout_lacks "=== TRACE SUMMARY ==="
want analyze-default-of-calls 0 $A t.jsonl
check analyze-default-of-calls-has-no-empty-list-of-open-ones stdout_lacks "Calls still open at the end"
check analyze-default-of-calls-has-no-advice stdout_lacks "Potential speedups"

want analyze-list 0 $A --list
cp want.out list
check analyze-list-nsight-apart stdout_has "By the names and with the columns of Nsight Systems' reports:"
is analyze-list-is-one-table-for-programs "$(grep -c '^  [a-z_]*  ' list)" "$($A --list --format csv | sed 1d | grep -c .)"
for r in header summary gpu top categories ioctls memory threads pauses gaps critical budget advice open errors layers \
	contexts slowest offcpu timeline histogram driver kernels copies sync streams counters steps overlap collectives launches transfers query \
	metadata; do
	check "analyze-list-$r" grep -q "^  $r " list
	case $r in	# these reports need GPU work, ioctls or counters, which this file does not have
	gaps | critical | budget | advice | steps | overlap | collectives | gpu | kernels | copies | streams | ioctls | driver | counters | offcpu) status=4 ;;
	*) status=0 ;;
	esac
	want "analyze-alone-$r" $status $A $r t.jsonl
	check "analyze-manual-$r" grep -q "^\*\*$r\*\*" "$SRC/docs/gtanalyze.1.md"
done

want analyze-explain 0 $A --explain
check analyze-explain-window stdout_has "GPU operation of a"
for word in "in the order computing, communicating" "It is divided along the timeline of the thread that issues the next" "Each part has its own cause" \
	"exact; a sum beyond 2^63 - 1 stays at that value. Shares add up to 100.00" "so within 1 %; exact if" "Absent (- or null), never 0" \
	"exits with 4" "0 clean, 1 failure or damaged file, 2 wrong use, 3 found or gate failed, 4 cannot" "whole makes it the whole recording"; do
	check "analyze-explain: $word" sh -c 'tr "\n" " " <want.out | sed "s/  */ /g" | grep -qF -- "$1"' - "$word"
done
want analyze-explain-report 0 $A --explain gaps
check analyze-explain-report-too stdout_has "report gaps"

# The exit status is that of the reports that were named: 0 clean, 3 found, 4 cannot answer. Reports of the default report do not set it.
want analyze-finds 3 $A advice "$SRC/samples/recorded/h200-train.zst"
check analyze-finds-host stdout_has "(host-bound): up to"
want analyze-finds-json 3 $A --format json advice "$SRC/samples/recorded/h200-train.zst"
check analyze-finds-json-state stdout_has '"state": "found"'
want analyze-cannot-json 4 $A --format json advice t.jsonl
check analyze-cannot-json-state stdout_has '"state": "cannot answer"'
want analyze-cannot-by-option 4 $A gaps --match 'cu*' "$SRC/samples/recorded/h200-train.zst"
want analyze-unasked 0 $A "$SRC/samples/recorded/h200-train.zst"

want analyze-errors 0 $A errors t.jsonl
check analyze-errors-name stdout_has CUDA_ERROR_LAUNCH_FAILED
want analyze-csv 0 $A errors --format csv t.jsonl
check analyze-csv-row stdout_has "cuLaunchKernel,719,CUDA_ERROR_LAUNCH_FAILED,1,"
want analyze-tsv 0 $A errors --format tsv t.jsonl
check analyze-tsv-row stdout_has "cuLaunchKernel	719	CUDA_ERROR_LAUNCH_FAILED	1"
want analyze-json 0 $A pauses --format json t.jsonl
check analyze-json-keys stdout_has '"pauses": 1, "total_ns": 100000, "mean_ns": 100000, "max_ns": 100000'

want analyze-timeline 0 $A timeline t.jsonl
check analyze-timeline-strip stdout_has " @@@@@@@@@@@@@#             :@@+                           =@   29.91"
check analyze-timeline-cells stdout_has "(60 cells of 3.567 us each)"
want analyze-timeline-first 0 $A timeline --top 1 t.jsonl
check analyze-timeline-first-note stdout_has "2 more rows: --top 0 or --top 3 shows them"
check analyze-timeline-first-call stdout_has "0.000000000  49.00 us    0    0      0  cuInit"
want analyze-timeline-range 0 $A timeline --from 99us --to 159us t.jsonl
check analyze-timeline-range-strip stdout_has " @@@@@@@@@@                                                     16.67"
check analyze-timeline-range-calls test "$(grep -c ' cuLaunchKernel ' want.out)" = 1
cat >nested.jsonl <<'END'
{"ts":0.000000,"op_id":1,"phase":"B","name":"cuLaunchKernel","details":{}}
{"ts":0.000100,"op_id":2,"phase":"B","name":"cuMemAlloc","details":{}}
{"ts":0.000200,"op_id":2,"phase":"E","name":"cuMemAlloc","details":{"status":0}}
{"ts":0.000300,"op_id":3,"phase":"B","name":"cuCtxSynchronize","details":{}}
{"ts":0.000400,"op_id":1,"phase":"E","name":"cuLaunchKernel","details":{"status":0}}
END
want analyze-timeline-nested 0 $A timeline nested.jsonl
check analyze-timeline-nested-once stdout_has "@  100.00"
check analyze-timeline-nested-indents stdout_has "      1    cuMemAlloc           0           0"
check analyze-timeline-open-is-marked stdout_has "cuCtxSynchronize       -           1"
want analyze-timeline-inner 0 $A timeline -m cuMemAlloc nested.jsonl
check analyze-timeline-inner-strip stdout_has "                 @@@@@@@@@@@@@@@                                 25.00"

want analyze-match 0 $A summary --match 'cuLaunch*' t.jsonl
check analyze-match-counts stdout_has "Total CUDA API calls: 2"
check analyze-match-message stdout_has "restricted by --match cuLaunch*"
want analyze-match-twice 0 $A summary --match 'cuLaunch*' -m cuInit t.jsonl
check analyze-match-twice-counts stdout_has "Total CUDA API calls: 3"
want analyze-match-category 0 $A summary --match @launch -m '@ini?' t.jsonl
check analyze-match-category-counts stdout_has "Total CUDA API calls: 3"
check analyze-match-category-message stdout_has "restricted by --match @launch"
want analyze-match-no-category 2 $A summary --match cuInit --match @lunch t.jsonl
check analyze-match-no-category-message stderr_has "gtanalyze: --match '@lunch': the categories are other init context memory copy launch sync stream module graph query interop ioctl file kernel scheduler user lock io sleep fault wait runnable"
want analyze-exclude 0 $A summary --exclude 'cuLaunch*' t.jsonl
check analyze-exclude-counts stdout_has "Total CUDA API calls: 1"
check analyze-exclude-message stdout_has "restricted by --exclude cuLaunch*"
want analyze-exclude-wins 0 $A summary --match cuInit -m @launch --exclude @init t.jsonl
check analyze-exclude-wins-counts stdout_has "Total CUDA API calls: 2"
check analyze-exclude-wins-message stdout_has "restricted by --match cuInit, --match @launch, --exclude @init"
want analyze-exclude-version 0 $A top --exclude cuCtxGetCurrent --exclude cuMemAlloc "$SRC/samples/recorded/h200-train.zst"
check analyze-exclude-version-all sh -c '! grep -v restricted want.out | grep -qE "cuCtxGetCurrent|cuMemAlloc_v2"'
want analyze-exclude-unused 0 $A summary --exclude cuNone t.jsonl
check analyze-exclude-unused-message stderr_has "gtanalyze: t.jsonl: no name matches --exclude cuNone"
want analyze-exclude-no-category 2 $A summary --exclude @lunch t.jsonl
check analyze-exclude-no-category-message stderr_has "gtanalyze: --exclude '@lunch': the categories are other init context memory copy launch sync stream module graph query interop ioctl file kernel scheduler user lock io sleep fault wait runnable"
want analyze-exclude-blocks 4 $A budget --exclude '*gemm*' "$SRC/samples/recorded/h200-train.zst"
check analyze-exclude-blocks-message stdout_has "cannot answer: --exclude leaves rows out"
want analyze-from 0 $A summary --from 150us t.jsonl
check analyze-from-counts stdout_has "Total CUDA API calls: 1"
want analyze-to 0 $A summary --to 150us t.jsonl
check analyze-to-counts stdout_has "Total CUDA API calls: 2"
want analyze-pid-none 4 $A summary --pid 4242 t.jsonl
check analyze-pid-none-counts stdout_has "Total CUDA API calls: nothing matched"
want analyze-top 0 $A top --top 1 t.jsonl
check analyze-top-note stdout_has "1 more row: --top 0 or --top 2 shows it"
$A t.jsonl >one; $A -j 3 t.jsonl >three
same analyze-threads one three

want analyze-output 0 $A summary -o out.txt t.jsonl
check analyze-output-file grep -q "Kernel launches: 2" out.txt
want analyze-output-exists 1 $A summary -o out.txt t.jsonl
want analyze-output-force 0 $A summary -f -o out.txt t.jsonl
cp t.jsonl top
want analyze-name-of-a-report 2 $A top
want analyze-path-of-such-a-file 0 $A summary ./top
want analyze-two-files 0 $A --per-rank summary t.jsonl ./top
check analyze-two-files-both test "$(grep -c 'TRACE SUMMARY' want.out)" = 2

# A report name at a wrong place or with a typing error gives one hint and nothing else, whatever the other arguments are.
hinted() { want "analyze-$1" 2 $A $2; is "analyze-$1-message" "gtanalyze: $3" "$(cat want.err)"; check "analyze-$1-and-nothing-else" test ! -s want.out; }
rm top
hinted report-after-file "t.jsonl summary" "reports come before the files: gtanalyze summary FILE (./summary if the file is meant)"
hinted report-after-report-and-file "top t.jsonl gaps" "reports come before the files: gtanalyze gaps FILE (./gaps if the file is meant)"
hinted swapped-letters "tpo t.jsonl" "'tpo' is neither a report nor a file; did you mean 'top'? --list lists the reports"
hinted first-letters "t.jsonl mem" "'mem' is neither a report nor a file; did you mean 'memory'? --list lists the reports"
hinted wrong-letters "summary histogrom t.jsonl" "'histogrom' is neither a report nor a file; did you mean 'histogram'? --list lists the reports"
hinted long-names "cuda_gpu_mem_time_smu t.jsonl" "'cuda_gpu_mem_time_smu' is neither a report nor a file; did you mean 'cuda_gpu_mem_time_sum'? --list lists the reports"
hinted no-such-report "frobnicate t.jsonl" "'frobnicate' is neither a report nor a file; --list lists the reports"
cp t.jsonl tpo
want analyze-file-named-like-a-mistake 0 $A tpo
want analyze-no-file 2 $A
want analyze-unknown-option 2 $A --frobnicate t.jsonl
want analyze-bad-time 2 $A --from soon t.jsonl
check analyze-bad-time-message stderr_has "invalid time 'soon'"
want analyze-bad-format 2 $A --format xml t.jsonl
want analyze-no-threads 2 $A -j 0 t.jsonl
want analyze-missing 1 $A absent.zst
check analyze-missing-message stderr_has "gtanalyze: absent.zst: "
want analyze-one-bad-of-two 1 $A summary absent.zst t.jsonl
check analyze-one-bad-of-two-reports stdout_has "Kernel launches: 2"
mkdir nothing-in-it
want analyze-directory 1 $A nothing-in-it
want analyze-critical 0 $A critical --without 'cu*' --without @kernel "$SRC/tests/golden/v1.zst"
check analyze-critical-without stdout_has "Gain at most"
want analyze-critical-cannot-answer 4 $A critical t.jsonl
check analyze-critical-cannot-answer-message stdout_has "cannot answer: what GPUs did was not recorded"
for reports in "" top; do
	want "analyze-without-is-for-critical-${reports% *}" 2 $A $reports --without 'cu*' t.jsonl
	check "analyze-without-is-for-critical-${reports% *}-message" stderr_has "--without is for the report critical"
done
want analyze-without-beside 2 $A critical top --without 'cu*' t.jsonl
check analyze-without-beside-message stderr_has "with --without no other report can be given beside critical"
for option in "--without cu*" "--where failed" "--by name" "--agg count" "--order-by count" "--of dur"; do
	want "analyze-diff-of-${option%% *}" 2 $A diff $option t.jsonl t.jsonl
	check "analyze-diff-of-${option%% *}-message" stderr_has "gtanalyze: ${option%% *} is for the report"
done
want analyze-without-a-wrong-category 2 $A critical --without @nonsense t.jsonl
: >empty
want analyze-empty 1 $A empty
want analyze-help 0 $A --help
want analyze-version 0 $A --version
want analyze-full-disk 1 sh -c "$A t.jsonl >/dev/full"

# One wrong byte, at any place: either the figures are right, or the report names the damage and the exit status is 1.
"$B/gtexport" --native -o n.zst t.jsonl && $A summary n.zst >good
size=$(wc -c <n.zst) at=0 wrong= damaged=0
while [ $at -lt "$size" ]; do
	cp n.zst d.zst
	printf '\125' | dd of=d.zst bs=1 seek=$at conv=notrunc 2>/dev/null
	if $A summary d.zst >out 2>err; then
		sed 1,/TRACE/d good >g1; sed 1,/TRACE/d out >o1
		cmp -s g1 o1 || grep -q 'not closed' out || wrong="$wrong $at"
	else
		damaged=$((damaged + 1))
		[ -s err ] || grep -q damaged out || wrong="$wrong $at"
	fi
	at=$((at + 13))
done
check analyze-damage-is-reported test -z "$wrong"
check analyze-damage-was-done test $damaged -gt 5
head -c $((size * 2 / 3)) n.zst >cut.zst
want analyze-cut 0 $A cut.zst
check analyze-cut-message stdout_has "not closed"

# gtanalyze treats two recordings in one file as one set. Each row names its recording.
cat n.zst n.zst >two.zst
want analyze-two-recordings 0 $A summary threads two.zst
check analyze-two-recordings-sum stdout_has "Total CUDA API calls: 6"
check analyze-two-recordings-column stdout_has "  Recording  PID"
cat n.zst cut.zst >two.zst
want analyze-second-not-closed 0 $A summary two.zst
check analyze-second-not-closed-message stdout_has "(recording 1: NOT CLOSED: "
cat n.zst "$SRC/tests/golden/v1.zst" >two.zst	# the second recording has GPU work

# The manual lists each table and key that gtanalyze prints, and no other.
all=$(sed -n 's/^  \([a-z_]*\)  .*/\1/p' list)
{
	for more in "$all two.zst" "top --by line two.zst" "kernels --by line two.zst" "memory --by line two.zst" "host --by step two.zst" "host $SRC/tests/fuzz/corpus/fuzz_import/perf-script/perf" "diff two.zst two.zst" "diff --fail-if 'top.count > 100' two.zst two.zst" "header --fail-if 'top.count > 100' two.zst"; do
		eval "$A --format json $(echo $more)" | sed -n 's/^  "\([a-z_]*\)": {$/\1/p; s/^    "columns": \[\(.*\)\],$/\1/p' | tr -d '" ' | tr ',' '\n'
	done
} | sort -u >printed
sed -n '/^## JSON/,/^## What/s/^|[^|]*|\([^|]*\)|\([^|]*\)|$/\1 \2/p' "$SRC/docs/gtanalyze.1.md" | grep -v -e '^ table' -e '(when there is any)' |
	sed 's/as slowest,//' | tr -c 'a-z0-9_\n' ' ' | tr ' ' '\n' | grep . | sort -u >documented
same analyze-keys-documented documented printed
