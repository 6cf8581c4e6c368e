# -e sched by eBPF: a program with 10,000 threads at the same time, and then 10,000 short ones, with the default memory.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
if ! "$G" --via ebpf -q -f -e sched -o try.zst -- true >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi
if ! "$B/bpf/thread_crowd" 10000 0 2>crowd.err; then
	skip crowd "$(tail -n 1 crowd.err)"
	exit
fi
# count FILE: threads with rows, as distinct ids: 20,001 exist, and the ids do not repeat within a run
count() { "$A" --format csv --top 0 offcpu "$1" 2>/dev/null | awk -F, '/^[0-9]/ && !seen[$1, $3]++ { n++ } END { print n + 0 }'; }
# The kernel may not report that a thread runs again: such a wait is a loss with a message of its own.
# crowd NAME OPTION...: records the program; all threads have rows, but for those losses
crowd() {
	name=$1; shift
	want $name 0 "$G" -f -e sched -o $name.zst "$@" -- "$B/bpf/thread_crowd" 10000 10000
	unseen=$(awk '/waits? of .*the kernel did not report/ { print $2 }' want.err)
	is $name-loses-nothing "${unseen:-0}" "$(figure lost $name.zst)"
	n=$(count $name.zst)
	check $name-has-all-threads test "$n" -ge $((20001 - ${unseen:-0})) -a "$n" -le 20001
	is $name-has-no-thread-twice "$n" "$(figure threads $name.zst)"
}
crowd ebpf --via ebpf
says rows-are-scheduler-rows ' 0 events, [1-9][0-9]* scheduler rows, 1 process'
check calls-are-not-missed sh -c '! grep -q "no CUDA call" want.err'
crowd preload # and eBPF for scheduling

# ---- more threads than the memory has slots for: the message says what is not recorded ----
want few-slots 0 "$G" -f --via ebpf -e sched --ring-memory 1M -o few.zst -- "$B/bpf/thread_crowd" 2000 0
says few-slots-are-reported 'scheduler rows or calls not recorded, because there was memory for 2[0-9][0-9] threads at the same time: try a larger --ring-memory'
check few-slots-are-a-loss test "$(figure lost few.zst)" -gt 0
check no-calls-are-reported-lost sh -c '! grep -q "[0-9] calls not recorded" want.err'
