# gtanalyze diff and --fail-if on the command line: output and exit status.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze

# trace NS STATUS: 30 launches of about NS each; one of them returns STATUS.
trace() {
	awk -v ns="$1" -v status="${2:-0}" 'BEGIN {
		for (i = 0; i < 30; i++) {
			at = 0.001 * i
			printf "{\"ts\":%.9f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"cuLaunchKernel\",\"details\":{}}\n", at, i
			printf "{\"ts\":%.9f,\"op_id\":%d,\"phase\":\"E\",\"name\":\"cuLaunchKernel\",\"details\":{\"status\":%d}}\n", at + (ns + i % 3 * 100) / 1e9, i, i == 7 ? status : 0
		}
	}'
}
trace 10000 >a.jsonl
trace 12000 719 >b.jsonl
GPU=$SRC/samples/recorded/h200-streams.zst

# ---- diff ----
want diff-itself 0 $A diff a.jsonl a.jsonl
check diff-itself-is-the-same stdout_has "1 of 1 names is the same"
want diff-slower 0 $A diff a.jsonl b.jsonl
check diff-slower-row grep -Eq "^  cuLaunchKernel  slower +\+19\.80 +[0-9.]+ +\+60\.00 us +30 +30 +10\.10 us +12\.10 us" want.out
for table in Compared Names "By name, largest change" "Figures of reports"; do check "diff-has-$(echo $table | tr ' ' -)" stdout_has "$table"; done
check diff-is-no-gate stdout_has "A  a.jsonl"
N=$SRC/samples/recorded/h200-nvtx.zst
want diff-numbered 0 $A diff top --top 0 $N $N
check diff-numbered-names grep -Eq '^  AddmmBackward0, seq = N, op_id = N +same .* 20 +20 ' want.out
is diff-numbered-all "" "$(grep -E 'op_id = [0-9]' want.out)"
want diff-by-id 0 $A diff top --by-id --top 0 $N $N
check diff-by-id-names stdout_has "AddmmBackward0, seq = 151, op_id = 132 "
want diff-reports 0 $A diff errors summary a.jsonl b.jsonl
is diff-reports-only "" "$(grep -n '^By name' want.out)"
check diff-reports-errors stdout_has "errors.count  cuLaunchKernel / 719 / CUDA_ERROR_LAUNCH_FAILED"
want diff-json 0 $A diff --format json a.jsonl b.jsonl
check diff-json-name grep -Eq '"operation": "cuLaunchKernel", "verdict": "slower", "mean_change_percent": 19.80?, "noise_percent": [0-9.]+, "change_ns": 60000, "count_a": 30, "count_b": 30, "mean_a_ns": 10100' want.out
want diff-csv 0 $A diff --format csv a.jsonl b.jsonl
check diff-csv-tables grep -q "^# verdicts" want.out
check diff-csv-notes stderr_has "gtanalyze: diff: names: slower, faster"
want diff-restricted 0 $A diff -m 'cuNone*' a.jsonl b.jsonl
check diff-restricted-message stdout_has "A: restricted by --match cuNone*"
want diff-real 0 $A diff "$GPU" "$GPU"
is diff-real-same "" "$(grep -E ' (slower|faster|added|gone|worse|better) ' want.out)"
want diff-without-gpu 0 $A diff "$SRC/samples/recorded/h200-mlp-calls.zst" "$GPU"
check diff-without-gpu-message stdout_has "different layers recorded"
check diff-without-gpu-is-not-added grep -Eq "memset \(device\) +not recorded" want.out
cat "$GPU" "$GPU" >twice.zst
want diff-two-recordings 0 $A diff "$GPU" twice.zst
check diff-two-recordings-rows test "$(grep -c 'twice.zst' want.out)" = 2
$A diff -j 3 a.jsonl b.jsonl >three; $A diff a.jsonl b.jsonl >one
same diff-threads one three
want diff-to-a-file 0 $A diff -o out.txt a.jsonl b.jsonl
check diff-to-a-file-wrote grep -q slower out.txt
want diff-from-stdin 0 sh -c "$A diff - b.jsonl <a.jsonl"

# ---- diff names a kernel as the other reports do ----
# kernels NS: one kernel of NS, and one of 5 us whose short name is the same
kernels() {
	printf '{"schemaVersion":1,"traceEvents":['
	printf '{"ph":"X","cat":"kernel","name":"void g<int, double>(int)","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7}},'
	printf '{"ph":"X","cat":"kernel","name":"void g<int, float>(int)","pid":0,"tid":7,"ts":50,"dur":%s,"args":{"device":0,"stream":7}}]}' "$1"
}
kernels 5 >short.json
kernels 9 >long.json
$A --format csv kernels short.json | grep -F 'g<int, float>(int)' | cut -d'"' -f2 >name
want diff-kernel-name 0 $A diff --format csv short.json long.json
check diff-kernel-name-is-that-of-kernels grep -qF "\"$(cat name)\",noise unknown,80" want.out

want diff-no-file 2 $A diff
check diff-no-file-message stderr_has "gtanalyze: diff compares two files, not 0: gtanalyze diff [REPORT...] A B"
want diff-one-file 2 $A diff a.jsonl
want diff-three-files 2 $A diff a.jsonl b.jsonl a.jsonl
want diff-no-such-report 2 $A diff kernles a.jsonl b.jsonl
want diff-report-of-events 2 $A diff timeline a.jsonl b.jsonl
check diff-report-of-events-message stderr_has "the report 'timeline' cannot be compared"
want diff-behind-a-report 2 $A kernels diff a.jsonl b.jsonl
check diff-behind-a-report-message stderr_has "diff comes first"
want diff-mistyped 2 $A dif a.jsonl b.jsonl
check diff-mistyped-message stderr_has "did you mean 'diff'?"
want diff-stdin-twice 2 $A diff - -
want diff-missing 1 $A diff a.jsonl absent.zst
check diff-missing-message stderr_has "gtanalyze: absent.zst: "
want diff-own-output 1 $A diff -f -o a.jsonl a.jsonl b.jsonl

# A truncated file is noted; a damaged file is a failure.
head -c 40000 "$GPU" >cut.zst
want diff-cut 0 $A diff "$GPU" cut.zst
check diff-cut-message stdout_has "B: NOT CLOSED"
cp "$GPU" bad.zst
printf 'wrong' | dd of=bad.zst bs=1 seek=20000 conv=notrunc 2>/dev/null
want diff-damaged 1 $A diff "$GPU" bad.zst
check diff-damaged-message stdout_has "B: the file is damaged"
want diff-damaged-outweighs-gates 1 $A diff --fail-if 'kernels.count > 0' "$GPU" bad.zst

# ---- gates: exit status 0 passed, 3 failed, 4 cannot answer, 2 wrong use ----
want gate-passed 0 $A diff --fail-if 'top.mean > +20%' a.jsonl b.jsonl
check gate-passed-message grep -Eq "^  passed +top.mean > \+20% +cuLaunchKernel / launch +10\.10 us +12\.10 us +\+19\.80" want.out
want gate-failed 3 $A diff --fail-if 'top.mean > +19%' a.jsonl b.jsonl
check gate-failed-message grep -Eq "^  failed +top.mean > \+19% " want.out
want gate-cannot-answer 4 $A diff --fail-if 'kernels.p99 > +5%' a.jsonl b.jsonl
check gate-cannot-answer-message stdout_has "GPU work was not recorded in A and B"
want gate-failed-outweighs 3 $A diff --fail-if 'kernels.p99 > +5%' --fail-if 'top.mean > +19%' --fail-if 'verdicts.gone > 0' a.jsonl b.jsonl
is gate-each-has-a-line 3 "$(sed '1,/^Gates/d' want.out | grep -Ec '^  (passed|failed|cannot answer) ')"
want gate-errors 3 $A diff --fail-if 'errors.count > +0' a.jsonl b.jsonl
want gate-no-more-errors 0 $A diff --fail-if 'errors.count > +0' b.jsonl a.jsonl
want gate-json 3 $A diff --format json --fail-if 'top.mean > +19%' a.jsonl b.jsonl
check gate-json-row stdout_has '"gates": {'
check gate-json-state stdout_has '{"state": "failed", "gate": "top.mean > +19%", "row": "cuLaunchKernel / launch", "a": 10100, "b": 12100, "change_percent": 19.80'
want gate-one-file 3 $A top --fail-if 'top.max > 10us' a.jsonl
check gate-one-file-message grep -Eq "^  failed +top.max > 10us +cuLaunchKernel / launch +10\.20 us" want.out
check gate-one-file-report stdout_has "Operations by total time"
want gate-one-file-passed 0 $A header --top 1 --fail-if 'top.max > 1ms' --fail-if 'header.lost > 0' a.jsonl
want gate-one-file-unknown 4 $A header --fail-if 'gpu.busy_percent < 50%' a.jsonl
want gate-nothing-matched 4 $A header --pid 4242 --fail-if 'errors.count > 0' a.jsonl
check gate-nothing-matched-message stdout_has "nothing matched the options"
want gate-all-rows 3 $A top --top 1 --fail-if 'kernels.count[*] < 2000000' "$GPU"
want gate-real 3 $A --fail-if 'gpu.busy_percent < 50%' "$GPU"
want gate-several-files 3 $A --per-rank header --fail-if 'errors.count > 0' a.jsonl b.jsonl
is gate-several-files-each "passed failed" "$(sed -n 's/^  \(passed\|failed\) .*/\1/p' want.out | tr '\n' ' ' | sed 's/ $//')"
want gate-usage 2 $A --fail-if 'kernels.p98 > 5ms' a.jsonl
check gate-usage-points stderr_has "gtanalyze: --fail-if 'kernels.p98 > 5ms', column 9: there is no figure 'p98'; did you mean 'p90'?"
check gate-usage-prints-nothing test ! -s want.out
want gate-change-of-one 2 $A --fail-if 'kernels.p99 > +5%' a.jsonl
want gate-missing-file 1 $A header --fail-if 'header.lost > 0' absent.zst
