# --via ebpf with a COMMAND: its process tree is recorded from the first instruction, without a library in it. The driver is simulated,
# the probes are real.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# ---- checks that need no privileges ----
want inject-is-refused 2 "$G" --via ebpf --inject true
says inject-is-reported 'via ebpf cannot be used with --inject'
want preload-has-no-sched 2 "$G" --via preload -e sched true
says preload-has-no-sched-is-reported 'needs --via ebpf'
want via-inject-is-refused 2 "$G" --via inject true
says via-inject-is-reported 'give -p PID'

if ! "$G" --via ebpf -q -f -o try.zst -- true >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi

# ---- every call of every process, as with preload ----
counts() { "$A" top --top 0 --format csv "$1" 2>/dev/null | awk -F, '$1 ~ /^cu/ { print $1, $3 }' | sort; }
equal() {	# NAME COMMAND...
	name=$1; shift
	"$G" --via ebpf -q -f -o "$name.ebpf.zst" -- "$@" >"$name.out" 2>&1
	is "$name-status" 0 $?
	"$G" --via preload -q -f -e api -o "$name.preload.zst" -- "$@" >/dev/null 2>&1
	counts "$name.ebpf.zst" >"$name.ebpf"
	counts "$name.preload.zst" >"$name.preload"
	check "$name-has-calls" test -s "$name.ebpf"
	same "$name-counts-are-equal" "$name.preload" "$name.ebpf"
	is "$name-loses-nothing" 0 "$(figure lost "$name.ebpf.zst")"
}
equal train "$B/samples/train" -n 50
equal dlopen "$B/samples/resolve"
equal exec "$B/samples/forkexec"		# a child that executes another program
equal fork "$B/samples/multiproc"		# children that inherit the loaded driver
equal contexts "$B/samples/two_contexts"
equal shell sh -c '"$0" -n 3; exec "$1"' "$B/samples/train" "$B/samples/resolve"

# ---- full rings: recorded and lost calls add up to all calls ----
all_calls() { "$A" top --top 0 --format csv "$1" 2>/dev/null | awk -F, 'NR > 1 { n += $3 } END { print n + 0 }'; }
"$G" --via ebpf -e api -q -f --ring-memory 1M -o full.zst -- "$B/samples/many_threads" >/dev/null 2>&1
"$G" --via preload -q -f -e api -o made.zst -- "$B/samples/many_threads" >/dev/null 2>&1
lost=$(figure lost full.zst)
check small-rings-lose test "$lost" -gt 0
is made-is-recorded-and-lost "$(all_calls made.zst)" "$(($(all_calls full.zst) + lost))"
is one-process-is-one 1 "$(figure processes full.zst)"
"$B/gtexport" --jsonl -o - full.zst 2>/dev/null | grep '"name":"LOST"' |
	sed 's/^{"ts":\([0-9.]*\),.*"until":\([0-9.]*\),"count":\([0-9]*\).*/\1 \2 \3/' >loss.rows
is loss-rows-have-a-time-and-the-count "$lost" "$(awk '$2 >= $1 { n += $3 } END { print n + 0 }' loss.rows)"

# ---- a call that does not return: its process is killed ----
"$G" --via ebpf -q -f -o killed-in-call.zst -- sh -c '"$0" -t 600 >hang.out & echo $! >hang.pid; wait' "$B/samples/hang" &
recorder=$!
waits() { grep -q 'waiting' hang.out && sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$(cat hang.pid)/status"; }
until_it_is S waits
kill -KILL "$(cat hang.pid)"
wait $recorder
is killed-in-call-is-open 1 "$(hung killed-in-call.zst)"

# ---- as without gtcollect: exit status, signals, standard input; no library is preloaded ----
want status-is-the-commands 7 "$G" --via ebpf -q -f -o status.zst -- sh -c 'exit 7'
want not-executable 126 "$G" --via ebpf -q -f -o none.zst -- /etc/passwd
want no-interpreter 127 sh -c 'printf "#!/nonexistent\n" >script; chmod +x script; exec "$0" --via ebpf -q -f -o none.zst -- ./script' "$G"
check failure-leaves-no-file test ! -e none.zst
is nothing-is-preloaded "" "$("$G" --via ebpf -q -f -o env.zst -- sh -c 'echo "$LD_PRELOAD$GT_SESSION"')"
is input-is-passed-on text "$(echo text | "$G" --via ebpf -q -f -o input.zst -- cat)"

# ---- --delay and --duration ----
"$G" --via ebpf -e api -q -f --duration 1ns -o window.zst -- "$B/samples/train" -n 5 >/dev/null
is duration-has-passed 0 "$(calls cuLaunchKernel window.zst)"
want delay 0 "$G" --via ebpf -e api -q -f --delay 3600s -o window.zst -- "$B/samples/train" -n 5
is delay-has-not-passed 0 "$(calls cuLaunchKernel window.zst)"

# ---- gtcollect is killed: the program continues and is not stopped ----
"$G" --via ebpf -q -f -o killed.zst -- sh -c 'echo yes >spin.begun; "$0" -s 1 >spin.out; echo $? >spin.status' "$B/samples/spin_calls" &
recorder=$!
until_it_is yes there spin.begun
kill -KILL $recorder
wait $recorder 2>/dev/null
until_it_is yes there spin.status
is killed-recorder-harms-nothing 0 "$(cat spin.status)"

# ---- one recording from two sources: calls and GPU times from the library, scheduling from eBPF ----
both() {	# NAME COMMAND...
	name=$1; shift
	"$G" -q -f -e api,gpu,sched -o "$name.both.zst" -- "$@" >both.out 2>&1
	is "$name-both-status" 0 $?
	counts "$name.both.zst" >"$name.both"
	same "$name-both-record-each-call-once" "$name.preload" "$name.both"
	is "$name-both-lose-nothing" 0 "$(lost "$name.both.zst")"
}
both train "$B/samples/train" -n 50
both shell sh -c '"$0" -n 3; exec "$1"' "$B/samples/train" "$B/samples/resolve"
both fork "$B/samples/multiproc"
both exec "$B/samples/forkexec"
is both-are-one-process 1 "$(figure processes train.both.zst)"
# the thread with the calls is the thread that waits
column() { "$A" "$1" --format csv --top 0 "$2" 2>/dev/null | awk -F, -v c="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) n = i } NR == 2 { print $n; exit }'; }
tid=$(column threads train.both.zst tid)
check calls-and-waits-are-of-one-thread test "$("$A" offcpu --format csv --top 0 train.both.zst 2>/dev/null | grep -c ",$tid,")" -gt 0
"$A" summary train.both.zst >summary.out 2>/dev/null
check scheduler-calls-are-a-figure grep -q 'Scheduler calls: [1-9]' summary.out
check gpu-has-times grep -q relu "$("$A" kernels train.both.zst >kernels.out 2>/dev/null; echo kernels.out)"
# a running program: injection and eBPF
"$B/samples/train" -n 100000 >train.out &
train=$!
maps_sim() { grep -c 'libcuda.so' /proc/$train/maps | sed 's/^[1-9].*/yes/'; }
until_it_is yes maps_sim
"$G" -f -e api,gpu,sched -o attached.zst -p $train --duration 1s 2>attached.err
attached=$?
if grep -q ptrace attached.err; then
	skip attached-both "$(tail -n 1 attached.err)"
else
	is attached-both-status 0 $attached
	is attached-both-are-one-process 1 "$(figure processes attached.zst)"
	check attached-both-have-calls test "$(calls cuLaunchKernel attached.zst)" -gt 0
	"$A" kernels attached.zst >kernels.out 2>/dev/null
	check attached-both-have-gpu-times grep -q relu kernels.out
	"$A" summary attached.zst >summary.out 2>/dev/null
	check attached-both-have-scheduling grep -q 'Scheduler calls: [1-9]' summary.out
	check attached-both-is-unharmed kill -0 $train
	attach rights.zst -e api,gpu,sched -p $train
	sed -n 's/^CapEff:[[:space:]]*//p' /proc/$recorder/task/*/status >rights
	check attached-both-has-threads test "$(wc -l <rights)" -gt 1
	is attached-both-threads-have-the-same-rights 1 "$(sort -u rights | wc -l | tr -d ' ')"
	detach
fi
kill $train
wait $train 2>/dev/null
# a thread has one track in the file, also when it ended early
"$G" -q -f -e api,sched -o tracks.zst -- "$B/samples/many_threads" >/dev/null 2>&1
"$A" threads --format csv --top 0 tracks.zst 2>/dev/null | awk -F, 'NR > 1 { print $1, $3 }' | sort | uniq -d >twice
check thread-has-one-track test ! -s twice
