# Long work shows a progress line on the terminal after one second and erases it at the end. The line is absent where it would disturb.
# A signal ends a program without leaving the line or an incomplete file.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze X=$B/gtexport
export TERM=xterm
unset COLUMNS
if ! command -v script >/dev/null || [ "$(script -qec 'stty cols 44; stty size' /dev/null </dev/null | tr -d '\r' | cut -d ' ' -f 2)" != 44 ]; then
	skip progress "no script(1) that gives a terminal"
	exit 0
fi
erase=$(printf '\r\033[K')
shown() { grep -ao 'importing standard input: [0-9.]* MB, [0-9.]* [kMG]B/s' "$1" | tail -n 1; }
# begin NAME COMMAND...: COMMAND reads its own pipe on its own terminal; NAME.term is the text of that terminal.
begin() { name=$1; shift; mkfifo "$name.pipe"; script -qefc "stty cols 100; echo \$\$ >$name.pid; exec env --default-signal=INT $* <$name.pipe" "$name.term" </dev/null >"$name.out" 2>&1 & }
awk 'BEGIN { for (k = 0; k < 2000; k++) printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":7,\"tid\":7,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},\n", 2 * k, k }' >piece
# feed end|hold NAME...: writes calls into all pipes until the progress line of the first program appears. Then it either ends the
# input or waits until the programs are stopped.
feed() {
	how=$1 first=$2; shift
	for p in "$@"; do
		( trap '' PIPE; exec 3>"$p.pipe"; printf '{"traceEvents":[\n' >&3 2>/dev/null
		while [ ! -s shown ] && cat piece >&3 2>/dev/null; do sleep 0.05; done
		if [ "$how" = end ]; then printf '{"ph":"X","cat":"cuda_runtime","name":"last","pid":7,"tid":7,"ts":900000000,"dur":1}]}\n' >&3 2>/dev/null
		else until_it_is yes there stopped; fi ) &
	done
	until_it_is yes has_line "$first.term"; shown "$first.term" >shown
}
# erased FILE: the last progress line is erased
erased() { tr -d '\n' <"$1" | sed 's/.*importing//' | grep -aqF "$erase"; }
has_line() { [ -n "$(shown "$1")" ] && echo yes; }

# ---- where the line appears, and where it does not ----
begin a "$A" top -
begin quiet "$A" --no-progress top -
begin dumb TERM=dumb "$A" top -
begin file sh -c "'\"$A\" top - 2>file.err'"
feed end a quiet dumb file
wait
check line-appears test -s shown
check line-is-erased-before-the-report erased a.term
for n in quiet dumb file; do is "$n-shows-nothing" '' "$(shown $n.term)"; done
is file-says-nothing '' "$(cat file.err)"
for n in a quiet dumb file; do check "$n-reports" grep -aq '^  last ' $n.term; done

# ---- a signal ends the program ----
if [ -n "$SAN" ]; then skip signals "a preloaded library cannot come before the sanitizer's"; exit 0; fi
if ! ${CC:-cc} -O2 -shared -fPIC "$SRC/tests/cli/analyze/no_tmpfile.c" -o no_tmpfile.so 2>cc.err; then
	skip signals "no compiler for a library that hides O_TMPFILE"
	exit 0
fi
for signal in INT TERM; do
	rm -f shown stopped; mkdir out$signal
	begin x$signal "$X" --chrome -f -o out$signal/x.json -
	begin n$signal LD_PRELOAD="$PWD/no_tmpfile.so" "$A" top -o out$signal/report.txt -
	feed hold x$signal n$signal
	check "$signal-file-was-there" test -n "$(ls -A out$signal)"
	kill -$signal "$(cat x$signal.pid)" "$(cat n$signal.pid)"
	echo >stopped
	wait
	is "$signal-leaves-no-file" '' "$(ls -A out$signal)"
	check "$signal-erases" erased x$signal.term
done
