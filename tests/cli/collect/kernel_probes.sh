# --tracepoint, --kprobe, -e driver and -e fault: events of the kernel in the context of a program. Tracepoints are real; when the kernel
# refuses kprobes, the recording continues and reports the missing events.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze

# ---- checks that need no privileges ----
want needs-ebpf 2 "$G" --via preload --tracepoint sched:sched_switch true
says needs-ebpf-is-reported '--tracepoint needs --via ebpf'
want wrong-tracepoint 2 "$G" --tracepoint sched_switch -p $$
says wrong-tracepoint-is-reported 'must be CATEGORY:NAME'
want wrong-path 2 "$G" --tracepoint ../sched:sched_switch -p $$
says wrong-path-is-reported 'must be CATEGORY:NAME'
want driver-needs-ebpf 2 "$G" --via preload -e driver true
says driver-needs-ebpf-is-reported '-e driver needs --via ebpf'

start_functions --tracepoint sched:sched_switch
if "$A" header try.zst 2>/dev/null | grep -q 'missing: --tracepoint'; then
	skip ebpf "tracefs cannot be read"
	exec 5>&-
	exit
fi

# ---- tracepoints ----
want no-tracepoint 125 "$G" -o none.zst --tracepoint sched:sched_swich -p $program
says no-tracepoint-is-reported 'the kernel has no such tracepoint; similar is sched:sched_switch'
check failure-leaves-no-file test ! -e none.zst
"$G" -f -e fault -o t.zst --tracepoint syscalls:sys_enter_getppid --tracepoint syscalls:sys_exit_getppid --tracepoint sched:sched_switch -p $program 2>t.err 5>&- &
recorder=$!
observed() { grep -c 'recording fault' t.err; }
until_it_is 1 observed
echo >&5
until_it_is yes there functions.out
exec 5>&-
wait $program
is program-is-unharmed 0 $?
wait $recorder
is recorder-ends-with-it 0 $?
"$B/gtexport" --jsonl -f -o t.jsonl t.zst 2>/dev/null
hits() { grep -c "\"name\":\"$1\".*\"domain\":\"$2\"$3" t.jsonl; }
is each-hit-is-a-mark 20 "$(hits sys_enter_getppid syscalls)"
is signed-field 20 "$(hits sys_exit_getppid syscalls ".*\"ret\":$$[,}]")"
check text-field test "$(hits sched_switch sched '.*"prev_comm":"functions"')" -ge 1
is nothing-is-lost 0 "$(figure lost t.zst)"
if [ "$(uname -m)" = x86_64 ]; then check page-faults-have-addresses test "$(hits page_fault_user exceptions '.*"address":"0x')" -ge 16
else skip page-faults-have-addresses "this architecture has no such tracepoint"; fi

# ---- functions of the kernel ----
printf 'one\ntwo\n' >lines
if "$G" --doctor 2>/dev/null | grep -q '^yes *kprobes'; then
	want no-function 125 "$G" -o none.zst --kprobe vfs_raed true
	says no-function-is-reported 'similar is vfs_read'
	want kprobe 0 "$G" -f -o k.zst --kprobe 'vfs_read(3)' -- dd if=lines of=/dev/null bs=4
	"$B/gtexport" --jsonl -f -o t.jsonl k.zst 2>/dev/null
	check calls-are-ranges test "$(hits vfs_read kernel '.*"arg2":"0x4","return":"0x4"')" -ge 2
else
	want kprobe-is-refused 0 "$G" -f -o k.zst --kprobe vfs_read --tracepoint syscalls:sys_enter_read -- dd if=lines of=/dev/null bs=4
	says refusal-is-reported 'note: not recorded: --kprobe vfs_read (kprobes are refused: '
	"$B/gtexport" --jsonl -f -o t.jsonl k.zst 2>/dev/null
	check the-rest-is-recorded test "$(hits sys_enter_read syscalls '.*"count":4}')" -ge 2
	"$A" header k.zst >header.out 2>/dev/null
	check header-reports-what-is-missing grep -q 'missing: --kprobe vfs_read (kprobes are refused: ' header.out
fi
want kernel 0 "$G" -f --kernel -o kernel.zst -- true
"$A" header kernel.zst >header.out 2>/dev/null
if grep -qE ' (nv.*(sched|ctx)|uvm).*\[' /proc/kallsyms; then skip driver-is-missing "a driver is loaded"
else
	is driver-is-missing 1 "$(grep -c 'not recorded: driver functions (' want.err)"
	check header-has-driver grep -q 'missing: .*driver functions (' header.out
fi
