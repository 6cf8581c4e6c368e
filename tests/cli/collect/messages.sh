# Messages of gtcollect when something is wrong: one line that names the reason, and no misleading figure. Simulated driver.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" SIMGPU_SPEED=10
# one_line NAME PATTERN: standard error of the last want is one line that matches
one_line() { is "$1" "1 1" "$(grep -c . want.err) $(grep -c -e "$2" want.err)"; }

# ---- process ids ----
for pid in 0 -5 abc '' 1x 99999999999999 4294967297; do
	want "pid-$pid" 2 "$G" -o none.zst -p "$pid"
	one_line "pid-$pid-is-reported" "-p '$pid' is not a process id$"
done
want comm-empty 2 "$G" -o none.zst -a --comm ''
one_line comm-empty-is-reported "--comm '': the name is empty$"
want kernel-by-preload 2 "$G" -o none.zst --kernel --via preload true
one_line kernel-by-preload-is-reported 'gtcollect: --kernel needs --via ebpf$'

"$B/samples/train" -n 100000000 >/dev/null 2>&1 &
p=$!
until_it_is yes maps_driver $p
if [ "$(id -u)" -eq 0 ] && setpriv --bounding-set -sys_ptrace true 2>/dev/null; then
	for way in inject ebpf; do
		want "root-without-ptrace-$way" 125 setpriv --bounding-set -sys_ptrace "$G" --via $way -o none.zst -p $p
		grep -q 'built without\|refuses bpf' want.err && continue
		one_line "root-without-ptrace-$way-is-reported" ".*: root needs CAP_SYS_PTRACE to read it (docker run --cap-add SYS_PTRACE)$"
	done
else
	skip root-without-ptrace "needs root and setpriv"
fi
check no-file test ! -e none.zst

want thread 125 "$G" -o none.zst -p "$(ls /proc/$p/task | tail -n 1)"
one_line thread-is-reported "is a thread of process $p: use -p $p$"
sh -c 'sleep 600 & echo $! >dead.pid; exec sleep 600' &
careless=$!
until_it_is yes there dead.pid
comm() { cat /proc/$careless/comm; }
until_it_is sleep comm
kill "$(cat dead.pid)"
state() { sed -n 's/^State:.\(.\).*/\1/p' "/proc/$(cat dead.pid)/status"; }
until_it_is Z state
want zombie 125 "$G" --via inject -o none.zst -p "$(cat dead.pid)"
one_line zombie-is-reported "process $(cat dead.pid) has ended$"
kill $careless
want cupti-is-a-folder 2 "$G" -o none.zst --cupti . true
one_line cupti-is-a-folder-is-reported "--cupti '.' is not a file$"
want unclosed-number 2 "$G" -o none.zst --via ebpf --kprobe 'vfs_read(3' true
one_line unclosed-number-is-reported 'arguments in parentheses must lie between 0 and 6$'
check no-file-either test ! -e none.zst
if [ -w /dev/full ]; then
	"$G" -q --print -o print.zst "$B/samples/spin_calls" -n 100 >/dev/full 2>want.err
	is print-to-full 125 $?
	one_line print-to-full-is-reported 'cannot write standard output: No space left on device$'
fi

# ---- the name of a file without -o is that of the process ----
if "$G" --via inject -q -p $p --duration 1ms >try.out 2>&1; then
	is file-has-the-name 1 "$(ls | grep -c '^gt-train-[0-9]*-[0-9]*-[0-9]*\.zst$')"
	want ioctl-by-injection 0 "$G" --via inject -f -e api,ioctl -o ioctl.zst -p $p --duration 1ms
	says ioctl-by-injection-is-missing 'note: not recorded: ioctl, which injection does not see, but eBPF does$'
	"$A" header ioctl.zst >header.out 2>/dev/null
	check ioctl-by-injection-is-in-the-header grep -q 'missing: ioctl' header.out
	# a full disk after the attach: the process can be recorded again at once
	if [ -w /dev/full ]; then
		want full 125 "$G" --via inject -o /dev/full -p $p
		says full-is-reported '/dev/full: cannot write: No space left on device'
		want after-full 0 "$G" --via inject -f -o after.zst -p $p --duration 1ms
	else
		skip full "no /dev/full"
	fi
else
	skip file-has-the-name "$(tail -n 1 try.out)"
fi

# ---- eBPF ----
if ! "$G" --via ebpf -q -f -o try.zst -p $p --duration 1ms >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	kill $p
	exit
fi
want both 0 "$G" -f -o both.zst -p $p --duration 1ms
is both-begins-once 1 "$(grep -c 'recording .*; Ctrl-C ends it' want.err)"
want scheduling 0 "$G" -f -e sched -o sched.zst -p $$ --duration 1ms
says scheduling-has-no-functions 'recording sched; Ctrl-C ends it$'
want no-cuda 0 "$G" -f -e api,gpu,usdt:none:none -o none.zst true
says no-cuda-says-so 'no CUDA call was seen: \(it never loaded\|there is no\) libcuda'
is no-cuda-has-no-gpu-message 0 "$(grep -c 'no GPU work was recorded' want.err)"
want only-scheduling 0 "$G" -f -e sched -o none.zst true
is only-scheduling-asks-for-no-calls 0 "$(grep -c 'no CUDA call was seen' want.err)"
want range-and-scheduling 0 "$G" -f --range cuda-profiler -e api,sched -o none.zst true
says range-and-scheduling-is-a-note 'note: --range does not limit what the kernel reports'
kill $p
wait $p 2>/dev/null

# ---- --live: the last figures are those of the recording, not of the time after --duration ----
# on a busy machine the program may begin later, or the recorder's seconds be longer: then there is more time before the recording
last() { sed -n '$s/^gtcollect: \([0-9]*\)\..*/\1/p' live.err; }
empty() { grep -c ': 0 calls/s' live.err; }
for delay in 0 1 2 4 8; do
	"$G" -q -f --live --delay ${delay}s --duration 500ms -o live.zst -- \
		sh -c '"$0" -n 100000000 >/dev/null & p=$!; sleep "$1"; kill $p' "$B/samples/train" $((delay + 3)) 2>live.err
	grep -q ': [1-9][0-9]* calls/s' live.err && [ "$(last)" -lt $((delay + 2)) ] && [ "$(empty)" -eq 0 ] && break
done
check live-ends-with-the-duration test "$(last)" -lt $((delay + 2))
is live-has-no-empty-interval 0 "$(empty)"
