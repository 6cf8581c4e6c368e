# serial
# -e sched by eBPF: threads that already wait when gtcollect attaches, and who wakes a thread.
. "$SRC/tests/lib.sh"
[ -z "$SAN" ] || { skip sanitized "cli/ebpf and cli/ebpf_links run the same code sanitized"; exit 0; }
G=$B/gtcollect A=$B/gtanalyze
if ! "$G" --via ebpf -q -f -e sched -o try.zst -- true >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi
version=$(uname -r | awk -F. '{ print $1 * 100 + $2 }')
[ "$(uname -m)" = x86_64 ] && futex=202 || futex=98 # in /proc

# rows FILE AWK: how many rows of the table of the longest intervals satisfy the condition
rows() {
	"$A" --format csv --top 0 offcpu "$1" 2>/dev/null | awk -F, '{ sub(/\r$/, "") } $1 == "pid" { table++; delete c; for (i = 1; i <= NF; i++) c[$i] = i; next }
	table == 2 { pid = $c["pid"]; tid = $c["tid"]; reason = $c["reason"]; call = $c["syscall"]; ns = $c["duration_ns"]; by_pid = $c["by_pid"]; by_tid = $c["by_tid"]; if ('"$2"') n++ } END { print n + 0 }'
}

# ---- threads that wait since before, and until the end ----
# waiting PID: threads that wait for a lock
waiting() { cat /proc/$1/task/*/syscall | grep -c "^$futex "; }
# hang: a process whose threads wait for each other: $hung
hang() {
	rm -f in; mkfifo in
	"$B/bpf/deadlock" <in 8>&- &
	hung=$!
	exec 7>in
	until_it_is 2 waiting $hung
}
end_hang() { exec 7>&-; wait $hung; }
if [ "$version" -ge 515 ]; then
	hang
	begin=$(cut -d " " -f 1 /proc/uptime)
	attach hung.zst -e sched -p $hung
	detach
	end=$(cut -d " " -f 1 /proc/uptime)
	is hung-threads-have-rows 2 "$(rows hung.zst "pid == $hung && reason == \"futex\" && call == \"futex\"")"
	is main-thread-has-one 1 "$(rows hung.zst "pid == $hung && tid == pid && reason == \"io\" && call == \"read\"")"
	is rows-begin-with-the-recording 3 "$(rows hung.zst "pid == $hung && ns > 0 && ns < ($end - $begin + 0.01) * 1e9")"
	is they-have-no-waker 3 "$(rows hung.zst "pid == $hung && !by_tid")"
	want summary 0 "$A" summary hung.zst
	check scheduler-was-recorded grep -q 'Scheduler calls: [1-9]' want.out

	attach all.zst -e sched -a
	own=$recorder
	detach
	is all-processes-have-rows 2 "$(rows all.zst "pid == $hung && reason == \"futex\"")"
	is recorder-has-none 0 "$(rows all.zst "pid == $own")"
	begin=$(cut -d " " -f 1 /proc/uptime)
	"$G" -q -f -o late.zst -e sched -p $hung --delay 300ms --duration 200ms
	end=$(cut -d " " -f 1 /proc/uptime)
	is delay-is-kept 2 "$(rows late.zst "pid == $hung && reason == \"futex\" && ns < ($end - $begin - 0.28) * 1e9")"

	# stopped ones wait for nothing
	stopped() { grep -l '^State:	T' /proc/$hung/task/*/status | wc -l; }
	kill -STOP $hung
	until_it_is 3 stopped
	attach stopped.zst -e sched -p $hung
	detach
	kill -CONT $hung
	until_it_is 2 waiting $hung
	is stopped-threads-wait-for-nothing 3 "$(rows stopped.zst "pid == $hung && reason == \"other wait\"")"

	# one that matches a filter later
	attach named.zst -e sched -a --comm hung-name
	is others-are-not-recorded 0 "$(rows named.zst 1)"
	# its main thread runs again and again until it has a row
	is_recorded() { echo hung-name >&7; [ "$(rows named.zst "pid == $hung")" -gt 0 ] && echo yes; }
	until_it_is yes is_recorded
	detach
	is later-process-has-rows 2 "$(rows named.zst "pid == $hung && reason == \"futex\"")"
	end_hang
else
	skip hung-threads-have-rows "needs Linux 5.15"
fi

# ---- who wakes a thread ----
mkfifo go
"$B/bpf/wakers" <go 7>&- &
wakers=$!
exec 8>go
attach wakers.zst -e sched -p $wakers
echo >&8
exec 8>&-
wait $wakers
is program-is-unharmed 0 $?
wait $recorder
main="pid == $wakers && tid == pid"
check polls-are-rows test "$(rows wakers.zst "$main && reason == \"poll\"")" -ge 45
is timers-of-polls-are-no-threads 0 "$(rows wakers.zst "$main && reason == \"poll\" && by_tid")"
is timers-of-sleeps-are-no-threads 0 "$(rows wakers.zst "$main && reason == \"sleep\" && by_tid")"
check waits-are-rows test "$(rows wakers.zst "$main && reason == \"futex\"")" -ge 45
is timers-of-waits-are-no-threads 0 "$(rows wakers.zst "$main && reason == \"futex\" && by_tid && by_pid != $wakers")"
check writers-are-wakers test "$(rows wakers.zst "$main && (reason == \"io\" || reason ~ / read$/) && by_pid == pid && by_tid != tid")" -ge 30

# ---- a wait for the GIL is one for a futex inside it, however short ----
python=$(command -v /usr/bin/python3 || command -v python3 || :)
if [ -z "$python" ]; then
	skip gil "there is no python3"
elif [ "$version" -lt 515 ]; then
	skip gil "needs Linux 5.15"
else
	want gil 0 "$G" -q -f -e sched -o gil.zst -- "$python" "$SRC/tests/unit/collect/host/waits.py" 1
	thread=$(sed -n 's/^main //p' want.out) holder=$(sed -n 's/^holder //p' want.out)
	check gil-waits-are-rows test "$(rows gil.zst "tid == $thread && reason == \"gil\"")" -ge 10
	check gil-has-its-holder test "$("$B/gtexport" --jsonl gil.zst 2>/dev/null | grep -c "\"phase\":\"B\",\"name\":\"gil\".*\"tid\":$thread,.*\"holder_tid\":$holder")" -ge 10
	check pipe-is-a-reason test "$(rows gil.zst "tid == $thread && reason == \"pipe read\"")" -ge 5
fi

# ---- a thread of another process that preempts has a name ----
if command -v taskset >/dev/null && taskset -c 0 true; then
	taskset -c 0 sh -c 'while :; do :; done' 7>&- 8>&- &
	other=$!
	"$G" -q -f --via ebpf -e sched -o busy.zst -- taskset -c 0 sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
	kill $other
	is preempters-have-names yes "$("$A" --format csv --top 0 offcpu busy.zst 2>/dev/null | awk -F, '$7 == "preempted" && $1 != $10 && $8 ~ /^[^0-9].* [0-9]+\/[0-9]+$/ { n++ } END { if (n) print "yes" }')"
else
	skip preempters-have-names "needs taskset"
fi
