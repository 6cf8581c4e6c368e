# -e samples where the kernel refuses perf events: timers of the program's threads. The processor time of all samples is the one that
# the program has used, however busy the machine is.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze prog=$B/unit/stacks_prog work=$B/host/samples refuse="$B/bpf/without_bpf 1"
if ! $refuse true; then skip timers "this machine has no seccomp filters"; exit; fi

# record NAME COMMAND...: the samples are then in NAME.rows, one line each: thread, and frames, innermost first
record() {
	rn=$1; shift
	want "$rn" 0 $refuse "$G" -f -e samples -o "$rn.zst" -- "$@"
	"$prog" "$rn.zst" host >"$rn.rows"
}
rows() { grep -c -e "$2" "$1.rows"; }
# near NAME VALUE OF UNITS: VALUE is within so many units of OF
near() { is "$1" yes "$(awk -v v="$2" -v of="$3" -v u="$4" 'BEGIN { d = v - of; if (d < 0) d = -d; print d <= u ? "yes" : v " of " of }')"; }
# all_time NAME UNITS: the samples stand for the processor time that the program has printed in ms
all_time() { near "$1-time" $(($("$prog" "$1.zst" period) / 1000000)) "$(tail -n 1 want.out)" "$2"; }
meta() { "$A" --format tsv metadata "$2" 2>/dev/null | tr -d '\r' | sed -n "s/^$1	//p"; }	# meta KEY FILE

# ---- C: shares of functions, stacks, the sum of all ----
record shares "$work" shares
all_time shares 20
says way-is-reported 'perf events, so timers of the threads take the samples'
is way-in-the-header 'timers of threads' "$(meta samples_by shares.zst)"
stacks=$(rows shares 'work_[ab] | shares | main')
check shares-stacks test "$stacks" -ge 50
is shares-stacks-are-whole 0 "$(rows shares '\[native frames unknown\]')"

# ---- threads, processes, programs ----
record threads "$work" threads 40
all_time threads 30
check thread-stacks test "$(rows threads 'work_thread | thread | start_thread')" -ge 40
record ends "$work" short 100
check threads-that-end test "$("$prog" ends.zst period)" -gt 0
record fork "$work" fork
all_time fork 20
is fork-two-processes 2 "$(grep -e 'work_a | fork_child | main' -e 'work_child | fork_child | main' fork.rows | cut -d ' ' -f 1 | sort -u | wc -l)"
record exec "$work" exec
check exec-time test "$("$prog" exec.zst period)" -gt 700000000 # of 1 s: the time after the last sample before exec is lost
check exec-before test "$(rows exec 'work_a | main')" -ge 10
check exec-after test "$(rows exec 'work_b | shares | main')" -ge 10

# ---- signals ----
record own-timer "$work" own-timer
all_time own-timer 20
check programs-own-timer test "$(sed -n 's/^alarms //p' want.out)" -ge 20
record blocked "$work" blocked
says blocked-threads '2 threads have no samples while signals are blocked there'
record to-the-end "$work" blocked-to-the-end
says blocked-thread-counts-once '1 thread has no samples while signals are blocked there'
record while "$work" blocked-for-a-while
all_time while 20
check while-blocked-no-stack-is-wrong test "$(rows while 'work_b | ')" -ge 10
is while-blocked-no-function 0 "$(rows while 'work_a | ')"
record takes "$work" takes-signals
check signal-is-the-programs grep -qx 'others 0, came 0' want.out
says signal-is-reported '1 process has no further samples'
record waits "$work" waits-for-signals
is waits-get-the-programs-signals 'wrong 0' "$(head -n 1 want.out)"
all_time waits 30
record reads "$work" reads-signals
is reads-get-the-programs-signals 'wrong 0' "$(head -n 1 want.out)"
says reads-are-reported '1 process has no further samples'
record vfork "$work" vfork
all_time vfork 20
want killed 0 $refuse "$G" -q -f -e samples -o killed.zst -- "$work" killed
is signals-of-others-end-a-process 'killed 20' "$(head -n 1 want.out)"
record no-timers "$work" no-timers
says no-timers-are-reported '3 threads have no samples, because the kernel has made no timer'

# ---- Python: each pair of frames is a call that the source has ----
python=$(command -v /usr/bin/python3 || command -v python3 || :)
if [ -n "$python" ]; then
	chains=$SRC/tests/unit/collect/host/chains.py
	want python 0 $refuse "$G" -q -f -e samples --sample-rate 997 -o python.zst -- "$python" "$chains" 1
	"$prog" python.zst host >python.rows
	awk -f "$SRC/tests/cli/collect/check_chains.awk" "$chains" python.rows >chains.out
	is python-no-wrong-call '' "$(grep wrong chains.out | head -n 1)"
	check python-many test "$(tail -n 1 chains.out)" -ge 100
	# a sample may find a frame that is being made
	check python-few-unreadable test "$(rows python 'Python frame')" -le $(($(tail -n 1 chains.out) / 50))
	# threads that the end of the program finds in Python code, and a destructor that runs after it
	cat >ends.py <<-'P'
		import sys, threading, time
		class Late:
		    def __del__(self):
		        end = time.thread_time() + 0.1
		        while time.thread_time() < end: pass
		def forever():
		    while True: sum(range(1000))
		sys.late = Late()
		for i in range(3): threading.Thread(target=forever, daemon=True).start()
		time.sleep(0.1)
	P
	want python-ends 0 $refuse "$G" -q -f -e samples --sample-rate 997 -o ends.zst -- "$python" ends.py
	check python-ends-is-sampled test "$("$prog" ends.zst period)" -gt 0
	want damaged 0 $refuse "$G" -q -f -e samples --sample-rate 997 -o damaged.zst -- "$python" "$SRC/tests/unit/collect/guest/damaged_frames.py" busy
	is damaged-program-goes-on 'the calls returned' "$(grep returned want.out)"
	check damaged-is-marked sh -c '"$0" damaged.zst host | grep -q "| damage (guest.* | \[unreadable Python frame\]"' "$prog"
else
	skip python "there is no python3"
fi

# ---- in the wrappers, at a high rate: the same calls as without ----
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
want train 0 $refuse "$G" -q -f -e api,gpu,samples --sample-rate 10000 -o train.zst -- "$B/samples/train" -n 500
want train-without 0 "$G" -q -f -e api,gpu -o plain.zst -- "$B/samples/train" -n 500
counts() { "$A" top --top 0 --format csv "$1" 2>/dev/null | awk -F, '$1 ~ /^cu/ { print $1, $3 }' | sort; }
counts train.zst >with.counts
counts plain.zst >without.counts
same calls-are-those-without without.counts with.counts
is no-loss 0 "$(figure lost train.zst)"
want spin 0 $refuse "$G" -q -f -e api,samples --stacks all --lossless -o spin.zst -- "$B/samples/spin_calls" -n 2000000
is spin-calls 2000000 "$(calls cuCtxGetCurrent spin.zst)"
"$prog" spin.zst host >spin.rows
check samples-in-wrappers test "$(rows spin 'gt_.* | main | ')" -gt 0
check calls-have-samples test "$("$prog" train.zst period)" -gt 0
is thread-has-one-track 1 "$("$A" threads --format csv train.zst 2>/dev/null | awk -F, 'NR > 1 && $4 == "train"' | wc -l)"

want sandbox 0 $refuse "$G" -f -e api,samples -o sandbox.zst -- "$B/samples/train" -n 2000 -s 1
check sandbox-ends grep '^2000 steps in a sandbox' want.out
says sandbox-is-reported '1 process has no further samples, because the program limits its own system calls'

# ---- switches, which there is no way to record, are left out ----
want switches 0 $refuse "$G" -f -e samples,sched -o switches.zst -- "$work" short 3
says switches-are-missing 'not recorded: when threads do not run'
want only-switches 125 $refuse "$G" -f -e sched -o only.zst -- true

want --doctor 0 $refuse "$G" --doctor
check doctor-says-timers stdout_matches '^ok *samples .*by timers'
