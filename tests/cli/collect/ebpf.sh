# serial
# --via ebpf: programs that already run, and that were not prepared for it. The simulated driver; the probes are real.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
alone="setarch -R"	# addresses are equal in all runs
$alone true 2>/dev/null || alone=

# ---- what needs no rights ----
want bad-pid 2 "$G" -p 12x
says bad-pid-is-reported "-p '12x' is not a process id"
want with-command 2 "$G" -p 1 true
says with-command-is-reported 'not a COMMAND'
want preload-cannot 2 "$G" --via preload -p 1
says preload-cannot-is-reported 'use --via inject or ebpf'
want sched-needs-ebpf 2 "$G" --via preload -e sched true
says sched-needs-ebpf-is-reported 'needs --via ebpf'
want source-cannot 2 "$G" --via ebpf -e gpu -p 1
says source-cannot-is-reported 'eBPF does not see it'

"$B/samples/hang" -t 600 >/dev/null 2>&1 &
idle=$!
until_it_is yes maps_driver $idle

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	want no-rights 125 setpriv --reuid=65534 --clear-groups "$G" --via ebpf -o no.zst -p $idle
	says no-rights-is-reported 'CAP_BPF and CAP_PERFMON.*CUDA calls need none: --via preload, or inject for -p$'
	# no_rights OPTION...: each option that needs eBPF says what is missing, in one line
	wrong=
	no_rights() {
		setpriv --reuid=65534 --clear-groups "$G" -o no.zst "$@" >no.out 2>no.err
		status=$?
		[ $status = 125 ] && grep -q 'CAP_BPF and CAP_PERFMON' no.err && [ "$(wc -l <no.err)" -eq 1 ] ||
			wrong="$wrong; $*: $status $(tr '\n' ' ' <no.err)"
	}
	no_rights -a
	for option in '--via ebpf' '-e ioctl,sched' '-e driver' '-e fault' --kernel '-e usdt:a:b' '-e api,usdt:a:b --pair start=b,end=a:b,key=arg0' \
		'--probe libc:read' '--kprobe vfs_read' '--tracepoint sched:sched_switch'; do
		no_rights $option -p $idle
		case $option in -e*sched) ;; *) no_rights $option -- true ;; esac # perf events are enough (switches.sh, attach_samples.sh)
	done
	is no-rights-of-each-option "" "$wrong"
	check no-rights-leaves-no-file test ! -e no.zst
else
	skip no-rights "needs root and setpriv"
fi
if ! "$G" --via ebpf -q -f -o try.zst -p $idle --duration 1ms >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	kill $idle
	exit
fi

# ---- words of -e; a file is not overwritten for a process that is not there; times begin before all rows ----
want unknown-word 2 "$G" --via ebpf -e api,nonsense -o word.zst -p $idle
says unknown-word-is-reported "-e: invalid value 'nonsense'; choose from api ioctl"
echo kept >kept.zst
want kept 125 "$G" -f --via ebpf -o kept.zst -p 999999999
is kept-is-not-overwritten kept "$(cat kept.zst)"
mkdir alone
cp "$G" alone/
want without-library 0 alone/gtcollect --via ebpf -q -f -o alone.zst -p $idle --duration 1ms
# setting the probes takes 0.1 s, and is no part of the recording's time
seconds='' tries=0
while [ "${seconds%[0-4]}" != 0.0 ] && [ $tries -lt 20 ]; do
	seconds=$("$G" --via ebpf -f -e sched -o short.zst -p $idle --duration 1ms 2>&1 | sed -n 's/.* \([0-9.]*\) s$/\1/p')
	tries=$((tries + 1))
done
is attaching-does-not-count 0.0 "${seconds%[0-4]}"
want times 0 "$G" --via ebpf -e api,sched --print-json -q -f -o times.zst -a --duration 200ms
is times-are-not-negative 0 "$(grep -c '"ts":-' want.out)"

# ---- capabilities are enough, and two are not for another user's process ----
# before Linux 5.11 BPF maps count as locked memory
capable() { (ulimit -l unlimited; setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$1" --ambient-caps="$1" "$G" --via ebpf -q -f -o "$shared/$2.zst" -p $idle --duration 1ms); }
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	shared=$(mktemp -d)
	chmod 777 "$shared"
	want capabilities 0 capable "$(probe_capabilities)" three
	want other-users-process 125 capable +bpf,+perfmon two
	says other-users-process-is-reported 'root or CAP_SYS_PTRACE may read'
	# processes of root and of this user, which sleep again and again; -a and -p
	sh -c 'while :; do sleep 0.01; done' &
	of_root=$!
	setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'while :; do sleep 0.01; done' &
	of_user=$!
	two() { (ulimit -l unlimited; setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon "$G" -q -f "$@"); }
	want all-with-two-capabilities 0 two -a -e sched -o "$shared/all.zst" --duration 300ms
	"$A" offcpu --top 0 --format csv "$shared/all.zst" 2>/dev/null | cut -d , -f 1 | sort -u >all.pids
	check own-process-is-recorded grep -qx $of_user all.pids
	is other-users-are-not-recorded '' "$(for pid in $of_root $$ 1; do grep -x $pid all.pids; done)"
	want scheduling-of-another-user 125 two -e sched -p $of_root -o "$shared/other.zst"
	says scheduling-of-another-user-is-refused 'root or CAP_SYS_PTRACE may read'
	kill $of_root $of_user
	wait $of_root $of_user 2>/dev/null
	rm -r "$shared"
else
	skip capabilities "needs root and setpriv"
fi

# ---- a child of the process is recorded, too ----
mkfifo go2
"$B/bpf/parent" "$B/samples/train" -n 20000 <go2 >/dev/null &
parent=$!
exec 6>go2
attach child.zst --via ebpf -p $parent
echo >&6
exec 6>&-
wait $parent
is parent-is-unharmed 0 $?
wait $recorder
check child-has-calls test "$(calls cuLaunchKernel child.zst)" -gt 0
"$A" --format csv --top 0 ioctls child.zst 2>/dev/null | awk -F, '/(open|mmap).*nvidia/ { print $1, $3 }' | sort >files
"$G" -q -f -e ioctl -o files.zst -- "$B/samples/train" -n 1 >/dev/null
"$A" --format csv --top 0 ioctls files.zst 2>/dev/null | awk -F, '/(open|mmap).*nvidia/ { print $1, $3 }' | sort >files.preload
same drivers-files-are-recorded files.preload files

# ---- a program that starts later: every call, as preload records it ----
attach all.zst -a
$alone "$B/samples/train" -n 50 >train.out &
train=$!
wait $train
is program-is-unharmed 0 $?
detach
is recorder-ends-by-signal 0 $?
$alone "$G" -q -f -e api --stacks none -o preload.zst "$B/samples/train" -n 50 >/dev/null
# addresses on the heap differ, because the library uses the heap, too: they are numbered
numbered() { awk '{ out = ""; while (match($0, /0x[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+/)) { a = substr($0, RSTART, RLENGTH); if (!(a in n)) n[a] = ++c
	out = out substr($0, 1, RSTART - 1) "address " n[a]; $0 = substr($0, RSTART + RLENGTH) } print out $0 }'; }
for f in all preload; do
	only=
	[ $f = preload ] || only="--pid $train"	# others may use the same driver
	"$B/gtexport" --jsonl $only -o - $f.zst 2>/dev/null | grep '"name":"cu' | grep '"phase":"B"' |
		sed 's/.*"name"/"name"/; s/,"pid":[0-9]*,"tid":[0-9]*//; s/"duration_us":[0-9.]*,*//' | numbered >$f.calls
done
check calls-are-many test "$(wc -l <all.calls)" -gt 900
if [ -n "$alone" ]; then same calls-and-arguments-are-equal preload.calls all.calls
else skip calls-and-arguments-are-equal "needs setarch"; fi
is kernels-have-names 200 "$(grep -c 'kernel":"_Z4reluIfEvPT_i' all.calls)"
check stacks-are-said-to-be-missing sh -c '"$0" header all.zst 2>/dev/null | grep -q "stacks of calls, which eBPF does not take"' "$A"
is source-is-ebpf ebpf "$("$A" header --format tsv all.zst 2>/dev/null | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "sources") c = i } NR == 2 { print $c }')"

# ---- all processes of the machine: only those with records are in the file ----
attach every.zst -e api -a
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do sh -c 'env true'; done
"$B/samples/train" -n 5 >/dev/null
detach
check all-processes-have-calls test "$(calls cuLaunchKernel every.zst)" -ge 80
check programs-without-calls-are-not-listed test "$(figure processes every.zst)" -lt 40

# ---- attached in the middle, and killed: the program goes on ----
"$B/samples/spin_calls" -s 3 >spin.out &
spin=$!
"$G" --via ebpf -q -f -o part.zst -p $spin --duration 500ms
is duration-ends-it 0 $?
check part-has-calls test "$(calls cuCtxGetCurrent part.zst)" -gt 1000
"$G" --via ebpf -q -f -o killed.zst -p $spin &
recorder=$!
until_it_is yes there killed.zst
kill -KILL $recorder
wait $recorder 2>/dev/null
wait $spin
is killed-recorder-harms-nothing 0 $?
check program-made-its-calls grep -q 'calls, .* ns each' spin.out

# ---- why threads do not run: a program with known waits, and its child ----
mkfifo go
"$B/bpf/waits" <go &
waits=$!
exec 5>go
attach waits.zst -e sched -p $waits
echo >&5
exec 5>&-
wait $waits
is waits-are-unharmed 0 $?
wait $recorder
is waits-are-recorded 0 $?
"$A" --format csv --top 0 offcpu waits.zst >waits.csv 2>/dev/null
# at_least NAME REASON MS: the longest wait for that reason
at_least() { is "$1" yes "$(awk -F, -v r="$2" -v ms="$3" '$1 == "pid" { table++; for (i = 1; i <= NF; i++) if (table == 1) c[$i] = i }
	table == 1 && $c["reason"] == r && $c["max_ns"] >= ms * 1e6 { y = "yes" } END { print y }' waits.csv)"; }
at_least lock-is-futex futex 150
at_least byte-is-read-from-a-pipe "pipe read" 149
at_least poll-is-poll poll 120
at_least sleep-is-sleep sleep 200
check child-is-recorded test "$(awk -F, '$1 ~ /^[0-9]+$/ { print $1 }' waits.csv | sort -u | wc -l)" -ge 2
check processor-waits-are-rows grep -q ,runnable, waits.csv
is nothing-is-lost 0 "$(lost waits.zst)"
want scheduler-calls 0 "$A" summary waits.zst
check scheduler-calls-are-a-figure grep -q 'Scheduler calls: [1-9]' want.out

kill $idle
wait $idle 2>/dev/null

# ---- what --doctor says ----
"$G" --doctor >doctor.out 2>&1
for row in BTF uprobes 'BPF cookies' uprobe.multi 'uprobe sessions' kprobes fentry lockdown tracefs capabilities memlock perf_event_paranoid container; do
	is "doctor-has-a-line-for-$row" 1 "$(grep -cE "^(yes|no ) *$row .*[a-z0-9)]$" doctor.out)"
done
is doctor-sees-uprobes yes "$(sed -n 's/^yes *uprobes .*/yes/p' doctor.out)"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	setpriv --reuid=65534 --clear-groups "$G" --doctor >doctor.plain 2>&1
	check doctor-names-capabilities grep -q '^no *capabilities *CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE missing: setcap' doctor.plain
else
	skip doctor-names-capabilities "needs root and setpriv"
fi
check doctor-says-ebpf-works grep -q '^ok *ebpf .*calls, requests to the driver and scheduling' doctor.out

# ---- it ends with the program, also if its parent does not wait for it ----
mkfifo end_zombie end_child
sh -c '"$0" "$1" 1 1 <end_zombie >/dev/null & echo $! >zombie.pid; exec sleep 600' "$B/bpf/gated_calls" "$B/sim/libcuda.so.1" &
careless=$!
exec 7>end_zombie
until_it_is yes there zombie.pid
zombie=$(cat zombie.pid)
until_it_is yes maps_driver $zombie
attach zombie.zst --via ebpf -p $zombie
echo >&7
exec 7>&-
wait $recorder
is ends-with-a-zombie 0 $?
kill $careless
wait $careless 2>/dev/null
"$B/bpf/gated_calls" "$B/sim/libcuda.so.1" 1 1 <end_child >/dev/null &
short=$!
exec 7>end_child
until_it_is yes maps_driver $short
attach short.zst --via ebpf -p $short
echo >&7
exec 7>&-
wait $short
wait $recorder
is ends-with-the-program 0 $?
want reads 0 "$A" short.zst
