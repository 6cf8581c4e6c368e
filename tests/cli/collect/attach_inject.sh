# -p PID --via inject: gtcollect loads the library into a running program that was not prepared for it. Simulated driver and CUPTI.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" SIMGPU_SPEED=10
gt() { "$G" --via inject "$@"; }

# ---- command line ----
want all-cannot 2 gt -a
says all-cannot-is-reported 'records processes of -p, not -a'
want command-cannot 2 gt true
says command-cannot-is-reported 'give -p PID$'
want ioctl-is-left-out 125 gt -e ioctl,api -p $$ -o none.zst
says no-driver-is-reported "process $$ has no CUDA driver mapped"
sh -c 'exit 0' &
gone=$!
wait $gone
want gone 125 gt -p $gone -o none.zst
says gone-is-reported "there is no process $gone"

"$B/samples/train" -n 100000000 >endless.out 2>&1 &
p=$!
mapped() { grep -c 'libcuda.so' /proc/$p/maps | sed 's/^[1-9].*/yes/'; }
until_it_is yes mapped
if ! gt -q -f -o try.zst -p $p --duration 1ms >try.out 2>&1; then
	skip inject "$(tail -n 1 try.out)"
	kill $p
	exit
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	open=$(mktemp -d)
	chmod 777 "$open"
	want other-user 125 setpriv --reuid=65534 --clear-groups "$G" --via inject -o "$open/none.zst" -p $p
	says other-user-is-reported "process $p belongs to user 0"
	# without the privileges for eBPF, -p uses injection
	want auto 125 setpriv --reuid=65534 --clear-groups "$G" -o "$open/none.zst" -p $p
	says auto-injects "process $p belongs to user 0"
	is no-file-of-another-user "" "$(ls "$open")"
	rm -r "$open"
else
	skip other-user "needs root and setpriv"
fi
(trap '' SEGV; exec "$B/samples/hang" -t 600) >/dev/null 2>&1 &
ignores=$!
ignoring() { grep -c 'libcuda.so' /proc/$ignores/maps | sed 's/^[1-9].*/yes/'; }
until_it_is yes ignoring
want ignores-segv 125 gt -p $ignores -o none.zst
says ignores-segv-is-reported 'ignores SIGSEGV'
kill $ignores
"$G" -q -f -o preloaded.zst "$B/samples/hang" -t 600 >/dev/null 2>&1 &
preloading=$!
until_it_is 1 hung preloaded.zst
want preloaded 125 gt -p "$(pgrep -P $preloading)" -o none.zst
says preloaded-is-reported "was started with gt's library"
kill $preloading
check refusals-leave-no-file test ! -e none.zst

"$B/samples/hang" -t 600 >hanging.out 2>&1 &
hanging=$!
waits() { grep -q 'waiting for the kernel' hanging.out && awk '{ print $3 }' /proc/$hanging/stat; }
until_it_is S waits
want no-call 0 gt -f -p $hanging --duration 10ms -o hanging.zst
says no-call-is-reported 'made none while it was recorded'
kill $hanging

# ---- 20 recordings of one run: the program continues, each file has calls and GPU work, and nothing remains in the process ----
threads() { ls /proc/$p/task | wc -l; }
good=0 attaches=0
settled() { [ "$(threads)" -ge 3 ] && echo yes; }	# two of them belong to the simulated driver
until_it_is yes settled
few() { [ "$(threads)" -le 4 ] && echo yes; }	# CUPTI keeps one thread
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	for duration in 50ms 1s 8s; do # longer if the program got no processor time
		attaches=$((attaches + 1))
		gt -v -f -o $i.zst -p $p --duration $duration 2>>many.err || { tail -n 1 many.err; break; }
		[ "$(calls cuLaunchKernel $i.zst)" -gt 0 ] && [ "$(calls 'relu<float>' $i.zst)" -gt 0 ] && good=$((good + 1)) && break
	done
done
is twenty-attaches 20 $good
"$B/unit/stacks_prog" 20.zst >stacks
is every-launch-has-a-stack "$(calls cuLaunchKernel 20.zst)" "$(grep -c '^[0-9]* cuLaunchKernel |' stacks)"
check stacks-begin-at-the-call grep -q '^[0-9]* cuLaunchKernel | main | .*__libc_start_main' stacks
is nothing-is-lost 0 "$(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do figure lost $i.zst; done | awk '{ n += $1 } END { print n + 0 }')"
is no-thread-remains yes "$(few)"
check no-memory-remains sh -c "! grep -q memfd:gt /proc/$p/maps"
stopped() { sed -n 's/.*was stopped for \([0-9.]*\) ms/\1/p' many.err | sort -n; }
is stops-are-printed $attaches "$(stopped | wc -l | tr -d ' ')"
check stops-are-short test "$(stopped | sed -n '10s/\..*//p')" -lt 50
want header 0 "$A" header 1.zst
check header-says-how grep -q 'injection, cupti: api gpu' want.out
check header-reports-what-is-missing grep -q 'attached to running programs' want.out

# ---- two recordings at the same time; gtcollect is killed ----
"$G" --via inject -q -f -o first.zst -p $p &
first=$!
until_it_is yes there first.zst
attached() { grep -c libgtpreload /proc/$p/maps >/dev/null && gt -f -p $p -o second.zst 2>&1 | grep -c 'is recorded already'; }
until_it_is 1 attached
is second-is-refused 1 "$(attached)"
kill -KILL $first
wait $first 2>/dev/null
again() { gt -q -f -p $p --duration 1ms -o again.zst >/dev/null 2>&1 && echo yes; }
until_it_is yes again
until_it_is yes few
is guest-ends-with-killed-gtcollect yes "$(few)"
kill -0 $p
is program-still-runs 0 $?
kill $p
wait $p 2>/dev/null

# ---- the recording ends with the program, whose output and exit status are as without gtcollect ----
"$B/samples/train" -n 8000 >alone.out
"$B/samples/train" -n 8000 >recorded.out &
p=$!
until_it_is yes mapped
gt -q -f -o end.zst -p $p
is recorder-ends-with-the-program 0 $?
wait $p
is status-is-the-same 0 $?
for f in alone recorded; do sed 's/, [0-9.]* ms a step//' $f.out >$f.text; done
same output-is-the-same alone.text recorded.text
check end-has-calls test "$(calls cuLaunchKernel end.zst)" -gt 1000
want reads 0 "$A" end.zst

# ---- eBPF besides the library: requests by default, scheduling and functions when they are named ----
if "$G" --via ebpf -q -f -e sched -o try.zst -p $$ --duration 1ms >try.out 2>&1; then
	"$B/samples/train" -n 100000000 >/dev/null &
	p=$!
	until_it_is yes mapped
	want auto-with-rights 0 "$G" -f -p $p --duration 50ms -o default.zst
	says auto-with-rights-is-reported 'recording api,ioctl,gpu,nvtx by CUPTI and eBPF; Ctrl-C ends it'
	"$A" header default.zst >header.out 2>/dev/null
	check auto-records-requests grep -q 'injection, cupti: api ioctl gpu' header.out
	want both 0 "$G" -f -e api,gpu,sched --probe libc:pthread_cond_wait -p $p --duration 200ms -o both.zst
	says both-is-reported 'by CUPTI and eBPF ([0-9]* functions of 1 library)'
	is both-is-one-process 1 "$("$A" threads --format csv both.zst 2>/dev/null | awk -F, 'NR > 1 { print $1 }' | sort -u | wc -l)"
	check both-has-kernels test "$(calls 'relu<float>' both.zst)" -gt 0
	check both-has-calls test "$(calls cuLaunchKernel both.zst)" -gt 0
	check both-has-functions test "$(calls pthread_cond_wait both.zst)" -gt 0
	want both-offcpu 0 "$A" offcpu both.zst
	check both-has-scheduling grep -q ' futex ' want.out
	is both-loses-nothing 0 "$(lost both.zst)"
	kill $p
	wait $p 2>/dev/null
else
	skip both "$(tail -n 1 try.out)"
fi

# ---- annotations of a program that has not used NVTX before ----
mkfifo late.in
"$B/guest/fake/nvtx" late <late.in &
late=$!
exec 7>late.in
late_mapped() { grep -c 'libcuda.so' /proc/$late/maps | sed 's/^[1-9].*/yes/'; }
until_it_is yes late_mapped
"$G" --via inject -v -f -o late.zst -p $late 2>late.err 7>&- &
recorder=$!
late_recorded() { grep -c 'recording 1 process' late.err; }
until_it_is 1 late_recorded
exec 7>&-
wait $late
is annotated-program-ends-well 0 $?
wait $recorder
is its-recorder-ends-well 0 $?
check annotations-are-recorded test "$(calls registered late.zst)" -gt 0

# ---- a process in its own namespaces, as in a container: it can open neither the library nor the session's folder ----
mkdir -p box/app && cp "$B/samples/train" "$B"/sim/*.so* box/app/
if ! unshare -m -p -n -f --mount-proc true 2>/dev/null; then
	skip container "needs unshare with namespaces of mounts, processes and networks"
	exit
fi
base=$(cd "$B" && pwd)
LD_LIBRARY_PATH=$PWD/box/app unshare -m -p -n -f --mount-proc sh -c "mount -t tmpfs none '$base' && mount -t tmpfs none /run; exec '$PWD/box/app/train' -n 100000000" >box.out 2>&1 &
outer=$!
inner() { pgrep -P $outer; }
box_mapped() { p=$(inner) && grep -c 'libcuda.so' /proc/$p/maps 2>/dev/null | sed 's/^[1-9].*/yes/'; }
until_it_is yes box_mapped
p=$(inner)
for i in 1 2; do
	want container-$i 0 gt -v -f -o box$i.zst -p $p --duration 500ms
	check container-$i-has-calls test "$(calls cuLaunchKernel box$i.zst)" -gt 0
	check container-$i-has-kernels test "$(calls 'relu<float>' box$i.zst)" -gt 0
	is container-$i-loses-nothing 0 "$(figure lost box$i.zst)"
done
descriptors() { ls -l /proc/$p/fd | grep -c 'memfd:libgt\|socket:'; }
is container-keeps-no-descriptor 0 "$(descriptors)"
kill -0 $p
is container-still-runs 0 $?
kill -KILL $p
wait $outer 2>/dev/null || :
