# --via ebpf in unusual cases: processes that end, execute another program or have many threads; drivers that are
# replaced, in memory only or in another namespace; a kernel without BPF; full rings; gtcollect is killed. The driver is
# simulated, the probes are real.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
cuda=$B/sim/libcuda.so.1
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# gated NAME COMMAND...: starts build/bpf/gated_calls through COMMAND and waits until it has loaded the driver. It makes its calls after
# `go NAME`, which waits for them, and ends after `end NAME`. $gated is the started process.
gated() {
	gated_name=$1; shift
	mkfifo "$gated_name.in"
	"$@" <"$gated_name.in" >"$gated_name.out" 2>"$gated_name.err" 7>&- 8>&- &
	gated=$!
	open_gate "$gated_name"
	until_it_is yes there "$gated_name.out"
}
open_gate() { case $1 in second) exec 8>second.in ;; *) exec 7>"$1.in" ;; esac; }
gate() { case $1 in second) echo 8 ;; *) echo 7 ;; esac; }
lines() { wc -l <"$1" | tr -d ' '; }
go() { go_lines=$(lines "$1.out"); eval "echo >&$(gate "$1")"; until_it_is $((go_lines + 1)) lines "$1.out"; }
end() { eval "exec $(gate "$1")>&-"; wait "$2"; }
results() { tail -n 1 "$1.out"; }
# who FILE: the processes that made calls, and the number of calls.
who() { "$B/gtexport" --jsonl -o - "$1" 2>/dev/null | sed -n '/"name":"cuDriverGetVersion"/s/.*"phase":"B".*"pid":\([0-9]*\).*/\1/p' | sort -n | uniq -c | awk '{ print $2, $1 }'; }
made() { calls cuDriverGetVersion "$1"; }
one_line() { is "$1-is-one-line" 1 "$(lines want.err)"; }

# ---- a failure prints one line and leaves no file ----
sh -c 'exit 0' &
gone=$!
wait $gone
want gone 125 "$G" --via ebpf -o none.zst -p $gone
if grep -q 'CAP_BPF\|built without' want.err; then
	skip ebpf "$(tail -n 1 want.err)"
	exit
fi
says gone-is-reported "there is no process $gone"
one_line gone
want no-driver 125 "$G" --via ebpf -o none.zst -p $$
says no-driver-is-reported 'has no CUDA driver mapped'
one_line no-driver
cp "$(ldd "$B/bpf/gated_calls" | awk '/libc.so/ { print $3 }')" libcuda.so.1
LD_PRELOAD=$PWD/libcuda.so.1 sleep 600 &
other=$!
until_it_is yes maps_driver $other
want no-functions 125 "$G" --via ebpf -o none.zst -p $other
says no-functions-is-reported 'libcuda.so.1 has no function to record'
one_line no-functions
kill $other
wait $other 2>/dev/null
sh -c 'sleep 600 & echo $! >dead.pid; exec sleep 600' &
careless=$!
until_it_is yes there dead.pid
comm() { cat /proc/$careless/comm; }
until_it_is sleep comm
kill "$(cat dead.pid)"
state() { sed -n 's/^State:.\(.\).*/\1/p' "/proc/$(cat dead.pid)/status"; }
until_it_is Z state
want zombie 125 "$G" --via ebpf -o none.zst -p "$(cat dead.pid)"
says zombie-is-reported "process $(cat dead.pid) has ended"
kill $careless
wait $careless 2>/dev/null
gated refused "$B/bpf/gated_calls" "$cuda" 1 1
for errno in 1 38; do	# EPERM: a container's filter; ENOSYS: a kernel without BPF
	want "bpf-is-refused-with-$errno" 125 "$B/bpf/without_bpf" $errno "$G" -o none.zst --via ebpf -p $gated
	one_line "bpf-is-refused-with-$errno"
	cp want.err "refused.$errno"
done
check refused-names-a-filter grep -q 'refuses bpf().*seccomp.*--via inject' refused.1
check no-bpf-is-reported grep -q 'has no bpf().*--via inject' refused.38
check failures-leave-no-file test ! -e none.zst
end refused $gated

# ---- the process ends while probes are set: either a recording, or one line and no file ----
wrong=
for i in 1 2 3 4 5 6 7 8 9 10; do
	gated "ends$i" "$B/bpf/gated_calls" "$cuda" 1 100
	status=0
	exec 7>&-
	"$G" --via ebpf -q -o "ends$i.zst" -p $gated 2>ends.err || status=$?
	wait $gated || wrong="$wrong program:$?"
	case $status in
	0) "$A" "ends$i.zst" >/dev/null 2>&1 || wrong="$wrong unreadable" ;;
	125) [ ! -e "ends$i.zst" ] && [ "$(lines ends.err)" = 1 ] || wrong="$wrong $(cat ends.err)" ;;
	*) wrong="$wrong status:$status" ;;
	esac
done
is ends-during-attach "" "$wrong"

# ---- the process executes another program ----
gated execs "$B/bpf/gated_calls" "$cuda" 1 1000 "$B/bpf/gated_calls" "$cuda" 1 1000
attach execs.zst --via ebpf -p $gated
go execs
exec 7>&-
wait $gated
is exec-is-unharmed 0 $?
wait $recorder
is exec-ends-the-recording 0 $?
is exec-has-the-calls-before 1000 "$(made execs.zst)"

# ---- 10,000 threads at the same time: each call is recorded, or counted as lost ----
gated many "$B/bpf/gated_calls" "$cuda" 10000 10
attach many.zst -e api -p $gated
go many
is many-threads-are-unharmed 100000 "$(results many)"
end many $gated
is many-threads-end-well 0 $?
wait $recorder
check many-threads-are-recorded test "$(made many.zst)" -gt 0	# as many threads as there are rings
is many-threads-are-all-counted 100000 "$(($(made many.zst) + $(figure lost many.zst)))"

# ---- a full ring, because gtcollect is stopped ----
gated full "$B/bpf/gated_calls" "$cuda" 4 50000
attach full.zst -e api --ring-memory 1M -p $gated
kill -STOP $recorder
go full
kill -CONT $recorder
is full-ring-harms-nothing 200000 "$(results full)"
end full $gated
wait $recorder
check full-ring-loses test "$(figure lost full.zst)" -gt 0
check full-ring-has-calls test "$(made full.zst)" -gt 0
is full-ring-is-all-counted 200000 "$(($(made full.zst) + $(figure lost full.zst)))"

# ---- in a full ring the exec and the exit of a process take no space of calls, and are not counted as such ----
gated gone "$B/bpf/gated_calls" "$cuda" 4 50000 "$B/bpf/gated_calls" "$cuda" 1 0
attach gone.zst -e api --ring-memory 1M -p $gated
kill -STOP $recorder
go gone
until_it_is 200000 results gone
end gone $gated
kill -CONT $recorder
wait $recorder
is exec-and-exit-in-a-full-ring-are-no-calls 200000 "$(($(made gone.zst) + $(figure lost gone.zst)))"
check exec-and-exit-in-a-full-ring-are-not-lost sh -c '! grep -q "starts and ends of proc" gone.zst.err'

# ---- tables and rings of the kernel that are full: one line, and a note in the header ----
if [ -z "$SAN" ] && ${CC:-cc} -O2 -shared -fPIC "$SRC/tests/cli/collect/small_maps.c" -o small_maps.so 2>cc.err; then
	# small NAME,ENTRIES COMMAND...: records COMMAND with a map of this size
	small() {
		small_map=$1; shift
		want "small-${small_map%,*}-harms-nothing" 0 env LD_PRELOAD="$PWD/small_maps.so" SMALL_MAP="$small_map" "$G" -e api --via ebpf -f -o small.zst -- env -u LD_PRELOAD "$@"
	}
	small traced,3 sh -c 'for i in 1 2 3 4 5 6; do sleep 1 & done; wait'
	says full-table-of-processes-is-reported '[0-9] times a process is not recorded, because eBPF records as many as it can'
	says full-table-of-processes-is-in-the-last-line '[0-9] processes MISSING'
	check full-table-of-processes-is-in-the-header sh -c '"$0" header small.zst | grep -q "[0-9] times a process was not recorded"' "$A"
	small traced,65536 sh -c 'for i in 1 2 3 4 5 6; do true & done; wait'
	check table-with-space-is-not-reported sh -c '! grep -q "is not recorded" want.err'
else
	skip small-maps "${SAN:+a sanitized program has functions of its own}$(grep -m 1 error cc.err)"
fi

# ---- another program or driver, and a child, while only calls are recorded ----
symbol=$(nm -D "$cuda" | awk '$3 == "cuDriverGetVersion" { print $1 }')
# code PID FILE: the instruction at the function in the process's memory.
code() {
	set -- "$1" $(awk -v file="$2" '$NF == file && $2 ~ /x/ { sub(/-.*/, "", $1); print $1, $3; exit }' "/proc/$1/maps")
	dd if="/proc/$1/mem" bs=1 count=4 skip=$((0x$2 - 0x$3 + 0x$symbol)) 2>/dev/null | od -An -tx1
}
probed() { case $(code "$1" "$2") in " cc"*) echo yes ;; esac; }
mkdir -p own
cp "$cuda" own/libcuda.so.1
gated later env LATER=$PWD/own/libcuda.so.1 "$B/bpf/gated_calls" "$cuda" 1 1000
attach later.zst -e api -p $gated
go later
until_it_is yes probed $gated "$PWD/own/libcuda.so.1"
go later
end later $gated
wait $recorder
is driver-that-is-loaded-later 1000 "$(made later.zst)"
mkfifo second.in
inner='exec "$0" "$1" 1 1000 <second.in >second.out'
exec 8<>second.in
gated becomes "$B/bpf/gated_calls" "$cuda" 1 1000 /bin/sh -c "$inner" "$B/bpf/gated_calls" "$cuda"
attach becomes.zst -e api -p $gated
go becomes
exec 7>&-
until_it_is yes there second.out
until_it_is yes probed $gated "$cuda"
go second
kill $gated
wait $gated
wait $recorder
is program-that-is-executed 2000 "$(made becomes.zst)"
mkfifo parent.in
rm second.out
"$B/bpf/parent" /bin/sh -c "$inner" "$B/bpf/gated_calls" "$cuda" <parent.in 7>&- 8>&- &
parent=$!
exec 7>parent.in
until_it_is yes maps_driver $parent
attach parent.zst -e api -p $parent
echo >&7
until_it_is yes there second.out
child=$(pgrep -P $parent)
until_it_is yes probed "$child" "$cuda"
go second
kill "$child"
exec 7>&- 8>&-
wait $parent
wait $recorder
is child-that-executes "$child 1000" "$(who parent.zst)"
rm second.in second.out

# ---- the recorded library is the one that the process has mapped ----
# recorded NAME COMMAND...: the 1,000 calls of COMMAND are recorded.
recorded() {
	recorded_name=$1; shift
	gated "$recorded_name" "$@"
	if [ "$(cat "$recorded_name.out")" != loaded ]; then
		skip "$recorded_name" "$(tail -n 1 "$recorded_name.err")"
		end "$recorded_name" $gated
		return
	fi
	[ -z "$meanwhile" ] || $meanwhile
	process=$(pgrep -P $gated || echo $gated)
	attach "$recorded_name.zst" -e api -p "$process"
	go "$recorded_name"
	end "$recorded_name" $gated
	wait $recorder
	is "$recorded_name" 1000 "$(made "$recorded_name.zst")"
	is "$recorded_name-has-the-pid" "$process 1000" "$(who "$recorded_name.zst")"
}
replace() { rm own/libcuda.so.1; cp "$B/sim/libcupti.so.13" own/libcuda.so.1; }
meanwhile=replace
recorded replaced-on-disk "$B/bpf/gated_calls" own/libcuda.so.1 1 1000
cp "$cuda" own/libcuda.so.1
delete() { rm own/libcuda.so.1; }
meanwhile=delete
recorded deleted "$B/bpf/gated_calls" own/libcuda.so.1 1 1000
meanwhile=
recorded in-memory-only "$B/bpf/gated_calls" "memfd:$cuda" 1 1000
recorded mount-namespace unshare -m sh -c 'mount -t tmpfs none own && cp "$1" own/libcuda.so.1 && exec "$0" own/libcuda.so.1 1 1000' \
	"$B/bpf/gated_calls" "$cuda"
check mount-namespace-is-another test ! -e own/libcuda.so.1
recorded pid-namespace unshare -p -f --mount-proc "$B/bpf/gated_calls" "$cuda" 1 1000

# ---- gtcollect is killed: nothing remains in the system, and the recorded events are readable ----
gated killed "$B/bpf/gated_calls" "$cuda" 1 1000
# others may record at the same time, so the links are those that the recorder has open
links() { bpftool link 2>/dev/null | sed -n 's/^\([0-9]*\):.*/\1/p'; }
before=$(code $gated "$cuda")
attach killed.zst -e api -p $gated
check probes-are-in-the-code test "$(code $gated "$cuda")" != "$before"
sed -n 's/^link_id:[[:space:]]*//p' /proc/$recorder/fdinfo/* 2>/dev/null | sort -u >links.recording
go killed
on_disk() { made killed.zst; }
until_it_is 1000 on_disk
kill -KILL $recorder
wait $recorder 2>/dev/null
original() { [ "$(code $gated "$cuda")" = "$before" ] && echo yes; }
until_it_is yes original
is code-is-the-original "$before" "$(code $gated "$cuda")"
if command -v bpftool >/dev/null 2>&1; then
	check recording-has-links test -s links.recording
	remaining() { links | grep -cxFf links.recording; }
	until_it_is 0 remaining
	is no-link-remains 0 "$(remaining)"
else
	skip no-link-remains "needs bpftool"
fi
is killed-file-has-the-calls 1000 "$(made killed.zst)"
go killed
is killed-harms-nothing 1000 "$(results killed)"

# ---- 20 recordings in sequence ----
wrong=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	attach again.zst -e api -p $gated
	go killed
	detach || wrong="$wrong status:$?"
	[ "$(results killed)" = 1000 ] && [ "$(made again.zst)" = 1000 ] || wrong="$wrong $i:$(results killed):$(made again.zst)"
done
is twenty-attaches "" "$wrong"
is twenty-attaches-leave-the-code "$before" "$(code $gated "$cuda")"
end killed $gated
is twenty-attaches-harm-nothing 0 $?

# ---- gtcollect and the process are in a pid namespace, as in a container: process ids are those of this namespace ----
cat >inside.sh <<'END'
. "$SRC/tests/lib.sh"
mkfifo inside.in
"$B/bpf/gated_calls" "$1" 1 1000 <inside.in >inside.out &
echo $! >inside.pid
exec 7>inside.in
until_it_is yes there inside.out
attach inside.zst -e api,ioctl,sched -p "$(cat inside.pid)"
echo >&7
exec 7>&-
wait $recorder
END
if unshare -p -f --mount-proc true 2>/dev/null; then
	unshare -p -f --mount-proc sh inside.sh "$cuda" >inside.log 2>&1
	is inside-a-pid-namespace "$(cat inside.pid) 1000" "$(who inside.zst)"
	check inside-has-few-pids test "$(cat inside.pid)" -lt 1000
	check inside-has-scheduling grep -q "^$(cat inside.pid),.*futex" <<END
$("$A" offcpu --top 0 --format csv inside.zst 2>/dev/null)
END
else
	skip inside-a-pid-namespace "needs a container that permits unshare"
fi

# ---- /sys is not mounted, as in some containers ----
if unshare -m sh -c 'mount -t tmpfs none /sys && test ! -e /sys/kernel' 2>/dev/null; then
	no_sys() { unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' sh "$@"; }
	want no-sys 125 no_sys "$G" --via ebpf -f -e sched -o no-sys.zst -- true
	is no-sys-has-one-line 1 "$(wc -l <want.err)"
	says no-sys-is-the-reason 'eBPF needs BTF: /sys/kernel/btf/vmlinux cannot be read: /sys is not mounted'
	want no-sys-doctor 0 no_sys "$G" --doctor
	is doctor-prints-no-library-lines 0 "$(wc -l <want.err)"
	check doctor-says-what-to-do grep -q '^no *BTF .*mount -t sysfs sysfs /sys' want.out
	check doctor-blames-no-kernel grep -q '^no *uprobes *unknown without /sys' want.out
else
	skip no-sys "needs a container that permits unshare"
fi
