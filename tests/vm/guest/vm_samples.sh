# -e samples of a user without rights, where the kernel refuses perf events (kernel.perf_event_paranoid 3, which Debian has, and 4), and
# where Yama refuses to read other processes (kernel.yama.ptrace_scope 2 and 3). Scope 3 stays until the machine ends: this test is the
# last one, because of the next line.
# serial
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze prog=$B/unit/stacks_prog work=$B/host/samples
paranoid=/proc/sys/kernel/perf_event_paranoid scope=/proc/sys/kernel/yama/ptrace_scope
shared=$(mktemp -d)
chmod 777 "$shared"
cat >"$shared/busy.py" <<'P'
import time
def busy():
    end = time.thread_time() + 1
    while time.thread_time() < end:
        pass
busy()
P
python=$(command -v python3) || skip python "there is no python3"
user="setpriv --reuid=65534 --regid=65534 --clear-groups"
meta() { "$A" --format tsv metadata "$2" 2>/dev/null | tr -d '\r' | sed -n "s/^$1	//p"; }	# meta KEY FILE
rows() { "$prog" "$shared/$1.zst" host | grep -c -e "$2"; }

# record NAME WAY [AS]: a C program's samples are there, taken by WAY. Messages are in want.err.
record() {
	want "$1" 0 $3 "$G" -f -e samples,sched -o "$shared/$1.zst" -- "$work" shares
	is "$1-way" "$2" "$(meta samples_by "$shared/$1.zst")"
	check "$1-functions" test "$(rows "$1" 'work_[ab] | shares | main')" -ge 20
}
# python NAME yes|no [AS]: do samples of a program in Python have its frames?
python() {
	[ -n "$python" ] || return 0
	# in a slow machine gtcollect reads few of them within 4 ms, or none
	for again in 1 2 3 4 5; do
		got=0 n=0
		$3 "$G" -q -f -e samples -o "$shared/python.zst" -- "$python" -S "$shared/busy.py" || got=$?
		n=$(rows python 'busy (.*busy.py:[345]) | <module> (.*busy.py:6)')
		[ "$2" = yes ] && [ "$n" -eq 0 ] || break
	done
	is "$1-frames-of-python" "0 $2" "$got $([ "$n" -gt 0 ] && echo yes || echo no)"
}
# doctor NAME SAMPLES SWITCHES [AS]: patterns of the rows of --doctor
doctor() {
	want "$1-doctor" 0 $4 "$G" --doctor
	check "$1-doctor-samples" stdout_matches "$2"
	check "$1-doctor-switches" stdout_matches "$3"
}
unreadable='not recorded: frames of Python, reasons and stacks of waits: .*ptrace_scope'
by_timers='^ok *samples .*by timers of the threads, because the kernel refuses perf events'

# ---- perf events are permitted, and a child may be read ----
echo 2 >$paranoid
echo 1 >$scope
record permitted 'perf events' "$user"
check permitted-has-switches sh -c '! grep -q "not recorded: when threads do not run" want.err'
python permitted yes "$user"
doctor permitted '^ok *samples .*by perf events' '^ok *switches ' "$user"

# ---- perf events are refused: timers of the threads, which read only the memory of their own process ----
for value in 3 4; do
	echo $value >$paranoid
	record refused-$value 'timers of threads' "$user"
	says refused-$value-is-said 'the kernel refuses perf events, so timers of the threads take the samples'
	says refused-$value-switches-are-missing 'not recorded: when threads do not run.*perf_event_paranoid=2'
	doctor refused-$value "$by_timers" '^note *switches .*perf_event_paranoid=2' "$user"
	want refused-$value-switches-alone 125 $user "$G" -q -f -e sched -o "$shared/none.zst" -- true
	says refused-$value-switches-alone-is-said 'perf_event_paranoid=2'
done
echo 2 >$scope
python refused-4-unreadable yes "$user"

# ---- perf events are permitted, but no memory may be read: CAP_SYS_PTRACE is needed, since scope 3 nothing helps ----
echo 2 >$paranoid
record unreadable-2 'perf events' "$user"
says unreadable-2-is-said "$unreadable"
python unreadable-2 no "$user"
doctor unreadable-2 '^note *samples .*no frames of Python.*ptrace_scope' '^ok *switches ' "$user"
python unreadable-2-of-root yes
doctor unreadable-2-of-root '^ok *samples .*by perf events' '^ok *switches '
echo 3 >$scope
python unreadable-3-of-root no
doctor unreadable-3-of-root '^note *samples .*no frames of Python.*ptrace_scope' '^ok *switches '
python unreadable-3 no "$user"
echo 3 >$paranoid
python refused-3-unreadable yes "$user"

# ---- --via inject ----
export LD_LIBRARY_PATH=$B/sim
"$B/samples/hang" -t 600 >/dev/null 2>&1 &
program=$!
until_it_is yes maps_driver $program
want inject-at-3 125 "$G" --via inject -q -f -o "$shared/none.zst" -p $program
says inject-at-3-is-said 'ptrace_scope is 3, .*until the machine is started again'
kill $program
wait $program 2>/dev/null
rm -r "$shared"
