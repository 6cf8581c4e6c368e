# Functions with which the tests in tests/cli print their results. Tests source this file. tests/run counts each line of a result:
#   ok NAME    FAIL NAME: WHY    skip NAME: REASON
# A test runs in an empty folder of its own with B (the build folder), SRC (the sources) and, when sanitized, SAN.
# "# serial" on a line of its own in a test: tests/run runs no other test at the same time.

# a pager on a terminal would wait for keys; tests/cli/analyze/pager.sh sets its own
export GT_PAGER=

ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; }
skip() { echo "skip $1: $2"; }

# check NAME CMD...: ok when CMD succeeds; otherwise the reason is CMD's exit status and its last line of output.
check() {
	check_name=$1; shift
	check_status=0
	"$@" >check.out 2>&1 || check_status=$?
	if [ $check_status -eq 0 ]; then ok "$check_name"
	else fail "$check_name" "status $check_status: $(tail -n 1 check.out | cut -c 1-300)"; fi
}

# want NAME STATUS CMD...: ok when CMD exits with exactly STATUS. Its output stays in want.out and want.err.
want() {
	want_name=$1; want_status=$2; shift 2
	got_status=0
	"$@" >want.out 2>want.err || got_status=$?
	if [ $got_status -eq "$want_status" ]; then ok "$want_name"
	else fail "$want_name" "status $got_status, not $want_status: $(tail -n 1 want.err | cut -c 1-300)"; fi
}

# says NAME PATTERN: ok when a line of the last want's standard error matches the basic regular expression.
says() { if grep -q -e "$2" want.err; then ok "$1"; else fail "$1" "stderr: $(tr '\n' ' ' <want.err | cut -c 1-300)"; fi; }

# Commands for check, about the output of the last want. TEXT is a fixed string, PATTERN a basic regular expression.
stdout_has() { grep -qF -e "$1" want.out; }		# stdout_has TEXT
stderr_has() { grep -qF -e "$1" want.err; }		# stderr_has TEXT
stdout_matches() { grep -q -e "$1" want.out; }		# stdout_matches PATTERN
stdout_lacks() { ! grep -q -e "$1" want.out; }		# stdout_lacks PATTERN

# same NAME EXPECTED GOT: ok when the two files are equal; otherwise the first difference is the reason.
same() {
	if cmp -s "$2" "$3"; then ok "$1"
	else fail "$1" "$(diff "$2" "$3" 2>&1 | head -n 3 | tr '\n' ' ' | cut -c 1-300)"; fi
}

# is NAME WANTED GOT: ok when the two texts are equal.
is() { if [ "$2" = "$3" ]; then ok "$1"; else fail "$1" "is '$3', not '$2'"; fi; }

# until_it_is WANTED CMD...: runs CMD until it prints WANTED, at most 600 times, 0.1 s apart. The caller tests the result.
until_it_is() {
	uw=$1 ui=0; shift
	while [ "$("$@" 2>/dev/null)" != "$uw" ] && [ $ui -lt 600 ]; do sleep 0.1; ui=$((ui + 1)); done
}

# there FILE: prints yes when the file is not empty.
there() { test -s "$1" && echo yes; }

# attach FILE OPTION...: gtcollect records running programs into FILE. Returns when the recording has begun or gtcollect has exited.
# Its messages are in FILE.err, its process is $recorder. It does not inherit 7 and 8, the pipes with which tests block programs.
attach() {
	attach_file=$1; shift
	: >"$attach_file.err"
	"$B/gtcollect" -f -o "$attach_file" "$@" 2>"$attach_file.err" 7>&- 8>&- &
	recorder=$!
	until_it_is yes attached
}
attached() { if grep -q ': recording ' "$attach_file.err" || ! kill -0 $recorder; then echo yes; fi; }
# maps_driver PID: prints yes when the process has loaded a CUDA driver.
maps_driver() { grep -q 'libcuda.so' "/proc/$1/maps" && echo yes; }
# probe_capabilities: those that probes need, as setpriv reads them. Before Linux 6.6 they are perf events, for CAP_SYS_ADMIN.
probe_capabilities() { case $(uname -r) in 5.*|6.[0-5].*) echo +bpf,+perfmon,+sys_ptrace,+sys_admin ;; *) echo +bpf,+perfmon,+sys_ptrace ;; esac; }
# detach: stops the recording that attach has started. The status is gtcollect's.
detach() { kill -INT $recorder 2>/dev/null; wait $recorder; }

# start_functions OPTION...: starts build/bpf/functions, $program, which waits for lines on 5 and prints to functions.out. Skips the
# whole test if gtcollect cannot record it with these options.
start_functions() {
	mkfifo functions.in
	"$B/bpf/functions" <functions.in >functions.out &
	program=$!
	exec 5>functions.in
	"$B/gtcollect" -q -f -o try.zst "$@" -p $program --duration 1ms >try.out 2>&1 && return
	skip ebpf "$(tail -n 1 try.out)"
	exit # which closes 5, and so ends the program
}

# hung FILE: the number of calls of cuStreamSynchronize that have not returned; the recording may still be running.
hung() { "$B/gtanalyze" open --format csv "$1" 2>/dev/null | grep -c cuStreamSynchronize; }
# go_when_hung N FILE: creates the file "go" when a recording that starts later contains N such calls.
go_when_hung() { rm -f go "$2"; { until_it_is "$1" hung "$2"; echo >go; } & }

# figure KEY FILE: this column of a trace's header; calls FUNCTION FILE: number of calls of the function
figure() { "$B/gtanalyze" header --format tsv "$2" 2>/dev/null | awk -F '\t' -v key="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) c = i } NR == 2 { print $c }'; }
# Losses of a recording with scheduling, but for waits whose end the kernel did not report. lost FILE
lost() { echo $(($(figure lost "$1") - $("$B/gtanalyze" --format tsv metadata "$1" 2>/dev/null | awk -F '\t' '$1 == "unseen_waits" { n = $2 } END { print n + 0 }'))); }
calls() { "$B/gtanalyze" top --top 0 --format csv "$2" 2>/dev/null | awk -F, -v n="$1" '$1 == n { s += $3 } END { print s + 0 }'; }

# OpenMetrics: one family for each column of numbers, whose samples stand together; no sample twice; "# EOF" ends it.
openmetrics() {	# openmetrics FILE: prints what is wrong
	awk '
	ended { print "after the end: " $0; exit }
	/^# EOF$/ { ended = 1; next }
	/^# TYPE [a-z_0-9]+ gauge$/ { if ($3 in families) { print "twice: " $0; exit } families[$3] = 1; family = $3; next }
	/^# (UNIT|HELP) / { if ($3 != family) { print "of another family: " $0; exit } next }
	{
		name = $0; sub(/[{ ].*/, "", name)
		if (name != family || $0 !~ /^[a-z_0-9]+({([a-z_0-9]+="([^"\\]|\\.)*",?)*})? (-?[0-9.]+(e[-+]?[0-9]+)?|NaN|[-+]Inf)$/) { print "wrong: " $0; exit }
		sample = $0; sub(/ [^ ]*$/, "", sample)
		if (sample in samples) { print "twice: " $0; exit }
		samples[sample] = 1
	}
	END { if (!ended) print "no end" }' "$1"
}
