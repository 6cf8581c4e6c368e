# gtcollect -p PID without --via: where injection is refused, eBPF records what it can, and one line says what is missing and why. A
# refusal leaves an old file as it is. Simulated driver and CUPTI; the probes are real.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" SIMGPU_SPEED=10
# train NAME COMMAND...: starts samples/train through COMMAND, and waits until it has loaded the driver. Its process is $NAME.
train() {
	train_name=$1; shift
	"$@" "$B/samples/train" -n 100000000 >/dev/null 2>&1 &
	eval "$train_name=$!"
	until_it_is yes maps_driver $!
}
# lines of the last want's standard error
lines() { wc -l <want.err | tr -d ' '; }

# ---- a refusal leaves the old file ----
echo old >old.zst
for way in auto inject ebpf; do
	want "no-driver-$way" 125 "$G" --via $way -f -o old.zst -p $$
	is "no-driver-$way-leaves-the-file" old "$(cat old.zst)"
done
train ignoring sh -c 'trap "" SEGV; exec "$@"' sh
want ignores-segv 125 "$G" --via inject -f -o old.zst -p $ignoring
says ignores-segv-is-reported "process $ignoring ignores SIGSEGV"
is ignores-segv-leaves-the-file old "$(cat old.zst)"
train stopped env
kill -STOP $stopped
want stopped-inject 125 "$G" --via inject -f -o old.zst -p $stopped
says stopped-is-reported "process $stopped is stopped, by SIGSTOP or Ctrl-Z: kill -CONT $stopped continues it"
is stopped-is-one-line 1 "$(lines)"

if ! "$G" --via ebpf -q -f -o try.zst -p $ignoring --duration 1ms >try.out 2>&1; then
	skip fallback "$(tail -n 1 try.out)"
	kill -KILL $ignoring $stopped
	exit
fi

# ---- eBPF records instead ----
# record FILE OPTION...: until the file has what "$recorded" prints as yes
record() { attach "$@"; until_it_is yes $recorded; is "$1-has-its-rows" yes "$($recorded)"; detach; is "$1-ends-well" 0 $?; }
has_calls() { [ "$(calls cuLaunchKernel old.zst)" -gt 0 ] && echo yes; }
recorded=has_calls
record old.zst -p $ignoring
check fallback-is-reported grep -q "note: not recorded: gpu,nvtx, for which a library has to be loaded: process $ignoring ignores SIGSEGV" old.zst.err
check fallback-records grep -q 'recording api,ioctl ([0-9]* functions of 1 library)' old.zst.err
"$A" header old.zst >header.out 2>/dev/null
check fallback-is-in-the-header grep -q 'gpu,nvtx, for which a library' header.out
has_waits() { "$A" offcpu named.zst 2>/dev/null | grep -q futex && echo yes; }
recorded=has_waits
record named.zst -e api,gpu,sched -p $ignoring
check fallback-named-is-reported grep -q 'note: not recorded: gpu, for which a library' named.zst.err
want fallback-stopped 0 "$G" -f -o stopped.zst -p $stopped --duration 10ms
says fallback-stopped-is-reported "gpu,nvtx, for which .*: process $stopped is stopped"
echo old >old.zst
want nothing-for-ebpf 125 "$G" -f -e gpu -o old.zst -p $ignoring
says nothing-for-ebpf-is-reported 'ignores SIGSEGV'
is nothing-for-ebpf-is-one-line 1 "$(lines)"
is nothing-for-ebpf-leaves-the-file old "$(cat old.zst)"

want report 0 "$G" -q -f -e api --report -o report.zst -p $ignoring --duration 2s
check report-is-printed stdout_has cuLaunchKernel

# ---- one of two processes refuses: the guest in the other one ends ----
train other env
threads() { ls /proc/$other/task | wc -l; }
has_both() { [ "$("$A" threads --format csv two.zst 2>/dev/null | awk -F, 'NR > 1 { print $1 }' | sort -u | wc -l)" = 2 ] && echo yes; }
recorded=has_both
record two.zst -p $other -p $ignoring
check one-of-two-is-reported grep -q "not recorded: gpu,nvtx, .*: process $ignoring ignores" two.zst.err
few() { [ "$(threads)" -le 4 ] && echo yes; }	# the simulated driver's and CUPTI's remain
until_it_is yes few
is one-of-two-leaves-no-thread yes "$(few)"

# ---- a debugger ----
if command -v strace >/dev/null 2>&1; then
	strace -f -e trace=none -p $other >strace.out 2>&1 &
	tracer=$!
	traced() { awk '/^TracerPid/ && $2 { print "yes" }' /proc/$other/status; }
	until_it_is yes traced
	want traced 0 "$G" -f -o traced.zst -p $other --duration 10ms
	says traced-is-reported "gpu,nvtx, for which .*: process $other is traced by process $tracer already"
	kill $tracer
else
	skip traced "needs strace"
fi
kill -KILL $ignoring $stopped $other
