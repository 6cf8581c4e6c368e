# -e samples: what threads execute, by function and by line of Python, in programs that spend known times in known places; functions
# that a program compiles. The limits are wide because other programs share the machine.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze prog=$B/unit/stacks_prog work=$B/host/samples
if ! "$G" --doctor | grep -q '^ok *samples '; then
	skip samples "the kernel refuses perf events"
	exit
fi

# record NAME COMMAND...: the samples are then in NAME.rows, one line each: thread, and frames, innermost first
record() {
	rn=$1; shift
	want "$rn" 0 "$G" -q -f -e samples -o "$rn.zst" -- "$@"
	"$prog" "$rn.zst" host >"$rn.rows"
}
# near NAME VALUE OF PERCENT: VALUE is within so many percent of OF, which is not 0
near() { is "$1" yes "$(awk -v v="$2" -v of="$3" -v p="$4" 'BEGIN { d = v - of; if (d < 0) d = -d; print (of > 0 && d * 100 <= of * p) ? "yes" : v " of " of }')"; }
rows() { grep -c -e "$2" "$1.rows"; }

# ---- C: shares of functions, and the sum of all ----
record shares "$work" shares
near all-time-is-sampled $(($(wc -l <shares.rows) * 1000 / 199)) "$(tail -n 1 want.out)" 12
near shares-of-functions $((100 * $(rows shares 'work_a | shares | main') / ($(rows shares 'work_a |') + $(rows shares 'work_b |')))) 37 20
is no-loss 0 "$(figure lost shares.zst)"
want summary 0 "$A" summary shares.zst
check samples-are-no-calls-of-the-scheduler grep -q 'Scheduler calls: not recorded' want.out

# ---- threads, processes, programs ----
record threads "$work" threads 40
near threads-time $(($(rows threads 'work_thread | thread') * 1000 / 199)) 2000 15
is each-thread-has-samples 40 "$(grep 'work_thread | thread' threads.rows | cut -d ' ' -f 1 | sort -u | wc -l)"
record fork "$work" fork
check fork-parent test "$(rows fork 'work_a | fork_child | main')" -ge 25
check fork-child test "$(rows fork 'work_child | fork_child | main')" -ge 25
is fork-two-processes 2 "$(grep -e 'work_a\|work_child' fork.rows | cut -d ' ' -f 1 | sort -u | wc -l)"
record exec "$work" exec
check exec-before test "$(rows exec 'work_a | main')" -ge 25
check exec-after test "$(rows exec 'work_b | shares | main')" -ge 60
record ends-first "$work" ends-first
check threads-after-the-first-one-have-names test "$(rows ends-first 'work_thread | later_thread')" -ge 30
record short "$work" short 50
check short-lived-threads-run test "$(tail -n 1 want.out)" -ge 100
record ends true
check ends-at-once test "$(wc -l <ends.rows)" -lt 10
want rate 0 "$G" -f -e samples --sample-rate 997 -o rate.zst -- "$work" shares
says end-line-counts-samples '^gtcollect: rate.zst: [^,]*, 0 events, [1-9][0-9]* samples, 1 process'
n=$("$prog" rate.zst host | wc -l)
near sample-rate $((n * 1000 / 997)) "$(tail -n 1 want.out)" 12
want rate-is-checked 2 "$G" -q -f -e samples --sample-rate 0 -o rate.zst -- true
says rate-is-explained 'sample-rate must lie between 1 and 10000'
record compiled "$work" compiled
check compiled-function-has-its-name test "$(rows compiled ' | count down')" -ge 30
# ---- the same in stacks of waits and of calls ----
want compiled-calls 0 env LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$G" -q -f -e api,sched,samples --stacks all -o calls.zst -- "$work" compiled-calls
"$prog" calls.zst host >calls.rows
check compiled-function-waits grep -q '^[0-9]* sleep | .*nap | compiled call' calls.rows
"$prog" calls.zst >calls.stacks
check compiled-function-calls grep -q '^[0-9]* cuDriverGetVersion | driver_version | compiled call' calls.stacks

# ---- Python ----
python=$(command -v /usr/bin/python3 || command -v python3 || :)
py=$SRC/tests/unit/collect/host/samples.py
line() { grep -n "# $1\$" "$py" | cut -d : -f 1; }
if [ -n "$python" ]; then
	record python "$python" "$py" 2
	called="busy (host/samples.py:$(line called))"
	a=$(rows python "| a (host/samples.py:$(line 'line a')) | $called | main (host/samples.py:$(line 'calls a'))")
	b=$(rows python "| b (host/samples.py:$(line 'line b')) | $called | main (host/samples.py:$(line 'calls b'))")
	check python-many test "$((a + b))" -ge 150
	near python-shares $((100 * a / (a + b + 1))) 37 20
	is python-lines-are-right "$((a + b))" "$(grep -c '| [ab] (host' python.rows)"
	is python-no-line-of-the-other 0 "$(grep '| a (host' python.rows | grep -c "samples.py:\($(line 'line b')\|$(line 'calls b')\))")"
	is python-all-are-below-their-thread "$((a + b))" "$(grep '| [ab] (host' python.rows | grep -c '| Thread._bootstrap_inner \|| _bootstrap_inner ')"
	# ---- native frames end before the interpreter: those of Python are there all the same ----
	cat >cut.py <<'P'
import time
def show(nest):
    while time.thread_time() < 0.6:
        repr(nest)
nest = list(range(20000))
for i in range(700):
    nest = [nest]  # repr's native stack is longer than a sample's part of it
show(nest)
P
	record cut "$python" cut.py
	grep '\[native frames unknown\]' cut.rows | grep -v '\[unreadable Python frame\]' >cut.read
	check cut-many test "$(wc -l <cut.read)" -ge 30
	# those before the interpreter runs the file have no frames of it
	show='show (.*cut.py:4) | <module> (.*cut.py:8)' before='<module> (.*cut.py:[5-7])'
	is cut-python-is-there "$(grep -c 'cut\.py:' cut.read)" "$(grep -c "\[native frames unknown\] | \($show\|$before\)" cut.read)"
	check cut-few-are-without test "$(grep -vc 'cut\.py:' cut.read)" -le 5
	# ---- beside -e sched, with eBPF or without: the stack of a wait ----
	want python-waits 0 "$G" -q -f -e samples,sched -o waits.zst -- "$python" "$py" 4
	"$prog" waits.zst host | grep '^[0-9]* sleep' >waits.rows
	check wait-has-its-stack grep -q "| asleep (host/samples.py:$(line asleep)) | main" waits.rows
else
	skip python "there is no python3"
fi

# ---- calls and GPU work beside samples: the same calls as without ----
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
want train 0 "$G" -q -f -e api,gpu,samples -o train.zst -- "$B/samples/train" -n 20
want train-without 0 "$G" -q -f -e api,gpu -o plain.zst -- "$B/samples/train" -n 20
counts() { "$A" top --top 0 --format csv "$1" 2>/dev/null | awk -F, '$1 ~ /^cu/ { print $1, $3 }' | sort; }
counts train.zst >with.counts
counts plain.zst >without.counts
same calls-are-those-without without.counts with.counts
is thread-has-one-track 1 "$("$A" threads --format csv train.zst 2>/dev/null | awk -F, 'NR > 1 && $4 == "train"' | wc -l)"
