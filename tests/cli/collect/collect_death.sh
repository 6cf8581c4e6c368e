# Recordings in which programs or gtcollect end in any way, and with many processes and threads. Committed events are always in the file.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze S=$B/samples
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset XDG_RUNTIME_DIR
export TMPDIR="$(TMPDIR=/tmp mktemp -d)"	# for session folders only; gtcollect does not use TMPDIR when its path is too long
behind=$(TMPDIR=/tmp mktemp -d)		# for sessions that remain; the next gtcollect with this folder removes those that are older than a minute
trap 'rm -rf "$TMPDIR" "$behind"' EXIT

# whole NAME FILE: a closed, undamaged file without losses.
whole() {
	is "$1" "0 closed 0 0" "$(zstd -qt "$2" >/dev/null 2>&1; echo $?) $(figure closed "$2") $(figure damaged_blocks "$2") $(figure lost "$2")"
}
# readable NAME FILE: the file is a trace and its contents are not damaged, closed or not.
readable() { is "$1" 0 "$(figure damaged_blocks "$2")"; }

# dying NAME STATUS COMMAND...: as want, up to 5 times: on a busy machine the program may die before it waits for the GPU.
dying() {
	for again in 1 2 3 4 5; do
		want "$@"
		! grep -q -e ' in cuStreamSynchronize' -e ' open at the end' want.err || break
	done
}

# ---- the program dies: the file has every launch, and the call during which it died is open ----
for how in 11:139 9:137 6:134 0:3; do
	s=${how%:*}
	dying crash_${s}_status ${how#*:} timeout 100 "$C" -f -e api,ioctl -o crash$s.zst "$S/crash" -n 50 -s "$s"
	is crash_${s}_launches 50 "$(calls cuLaunchKernel crash$s.zst)"
	is crash_${s}_open_call cuStreamSynchronize "$("$A" open --format csv crash$s.zst | awk -F, '/cuStreamSynchronize/ { print $7 }')"
	whole crash_${s}_file crash$s.zst
done
n=0
for after in 0.02 0.05 0.11 0.17 0.23; do	# at any moment
	"$C" -q -f -o kill.zst sh -c 'echo $$ >pid; exec "$0" -s 20' "$S/spin_calls" >/dev/null 2>&1 &
	while [ ! -s pid ]; do sleep 0.01; done
	sleep $after; kill -KILL "$(cat pid)"; wait $!; status=$?; rm -f pid
	if [ $status -eq 137 ] && zstd -qt kill.zst && [ "$(figure closed kill.zst) $(figure damaged_blocks kill.zst)" = "closed 0" ]; then n=$((n + 1)); fi
done
is killed_at_any_moment 5 $n

# ---- a call that does not return is in the file within about a second, while it is still running ----
"$C" -q -o hang.zst sh -c 'echo $$ >pid; exec "$0"' "$S/hang" >/dev/null 2>&1 &
until_it_is 1 hung hang.zst
is hang_is_seen_while_it_hangs 1 "$(hung hang.zst)"
kill -KILL "$(cat pid)"; wait; rm -f pid
is hang_is_open_in_the_end 1 "$(hung hang.zst)"

# ---- gtcollect dies: the program is not affected ----
kill_collector() {	# kill_collector NAME OPTIONS...: gtcollect is killed; the program runs to its normal end
	kc=$1; shift
	for s in 1 2 4 8 16; do	# run time of the program in seconds
		rm -f status out begun
		TMPDIR=$behind timeout 100 sh -c '"$@" & echo $! >collector; wait' x "$C" -q -f -o "$kc.zst" "$@" sh -c 'echo >begun; "$0" -s '$s' -n 1000 >out; echo $? >status' "$S/spin_calls" 2>/dev/null &
		while [ ! -s begun ] || [ ! -s collector ]; do sleep 0.01; done
		sleep 0.15; kill -KILL "$(cat collector)"; rm -f collector
		until_it_is 0 cat status
		wait
		[ "$(figure closed "$kc.zst")" = closed ] || break	# the recording had ended before the kill
	done
	is "${kc}_program_is_unharmed" "0 1" "$(cat status 2>/dev/null) $(grep -c 'calls,' out)"
	readable "${kc}_file_is_readable" "$kc.zst"
}
kill_collector collector_killed
kill_collector collector_killed_lossless --lossless --ring-memory 1M

# ---- gtcollect is stopped while processes load the driver: they continue after a while, and gtcollect reports all of them as missing,
# even when there is nothing else to record after it continues ----
rm -f status out
timeout 100 "$C" -o shut.zst sh -c 'echo $PPID >collector; while [ ! -e still ]; do sleep 0.05; done
	for i in $(seq 40); do "$0" -n 100 >>out & done; wait; echo $? >status' "$S/spin_calls" 2>want.err &
until_it_is yes there collector
kill -STOP "$(cat collector)"
stopped() { cut -d ' ' -f 3 /proc/"$(cat collector)"/task/*/stat | sort -u; }	# the states of gtcollect's threads
until_it_is T stopped; echo >still
until_it_is yes there status
kill -CONT "$(cat collector)"; wait
is shut_out_programs_are_unharmed "0 40" "$(cat status) $(grep -c 'calls,' out)"
says shut_out_is_reported '^gtcollect: 40 processes not recorded: gtcollect did not respond for 10 s when they started$'
says shut_out_is_a_loss ', 40 processes MISSING, '
"$A" header shut.zst >r.txt 2>&1
check shut_out_is_in_the_report grep -q '40 processes were not recorded: gtcollect did not respond for 10 s' r.txt
rm -f status out collector still
any_calls() { [ "$(figure calls "$1")" -gt 0 ] 2>/dev/null && echo 1; }
TMPDIR=$behind "$C" -q -o both.zst sh -c 'echo $$ $PPID >pids; exec "$0" -s 20' "$S/spin_calls" >/dev/null 2>&1 &
while [ ! -s pids ]; do sleep 0.01; done
until_it_is 1 any_calls both.zst; kill -KILL $(cat pids); wait 2>/dev/null
readable both_killed_file_is_readable both.zst
is both_killed_has_calls 1 "$(any_calls both.zst)"

# ---- the disk is full ----
want full_device_status 125 timeout 100 "$C" -o /dev/full "$S/train" -n 5
is full_device_is_reported_before_the_start "1 0" "$(grep -c 'No space left on device' want.err) $(grep -c steps want.out)"
if command -v prlimit >/dev/null; then	# the program limits the size of gtcollect's files after gtcollect has started
	limit='prlimit --pid $PPID --fsize=20000; "$0" -t 20 -n 40000'
	want limit_status 125 timeout 100 "$C" -f -o limit.zst sh -c "$limit" "$S/many_threads"
	is limit_program_is_unharmed 1 "$(grep -c '20 threads' want.out)"
	is limit_is_reported "1 1" "$(grep -c 'File too large' want.err) $(grep -c 'recording stopped after' want.err)"
	readable limit_file_is_readable limit.zst
	want limit_status_of_the_program_wins 7 timeout 100 "$C" -f -o limit2.zst sh -c "$limit; exit 7" "$S/many_threads"
else
	skip limit "there is no prlimit"
fi
mkdir full
if mount -t tmpfs -o size=1m none full 2>/dev/null; then
	head -c 1000k /dev/zero >full/ballast
	want tmpfs_status 125 timeout 100 "$C" -o full/t.zst "$S/many_threads" -t 20 -n 40000
	is tmpfs_program_is_unharmed 1 "$(grep -c '20 threads' want.out)"
	is tmpfs_is_reported 1 "$(grep -c 'No space left on device' want.err)"
	readable tmpfs_file_is_readable full/t.zst
	umount full
else
	skip tmpfs "mounting is not permitted"
fi

# ---- without --lossless losses are counted; with it there are none ----
"$C" -q -o lossless.zst --lossless --ring-memory 1M "$S/spin_calls" -n 2000000 >/dev/null
is lossless_has_all "2000000 0" "$(calls cuCtxGetCurrent lossless.zst) $(figure lost lossless.zst)"
"$C" -q -o lossy.zst --ring-memory 1M "$S/spin_calls" -n 2000000 >/dev/null
is kept_and_lost_make_all 2000000 $(($(calls cuCtxGetCurrent lossy.zst) + $(figure lost lossy.zst)))

# ---- many processes and threads ----
want processes 0 timeout 100 "$C" -q -o fe.zst --wait all "$S/forkexec"
is processes_of_every_kind "6 6 210" "$(figure processes fe.zst) $(calls cuInit fe.zst) $(calls cuDriverGetVersion fe.zst)"
whole processes_file fe.zst
want multiproc 0 timeout 100 "$C" -q -o mp.zst "$S/multiproc" -p 5 -n 40
is multiproc_launches "6 240" "$(figure processes mp.zst) $(($(calls cuLaunchKernel mp.zst)))"
want threads 0 timeout 100 "$C" -q -o th.zst "$S/many_threads" -t 1000 -n 100
is thousand_threads "100000 0" "$(calls cuCtxGetCurrent th.zst) $(figure lost th.zst)"
is thousand_tracks 1001 "$(figure threads th.zst)"
want one_after_another 0 timeout 100 "$C" -q -o seq.zst sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "$0" -n 100 || exit 9; done' "$S/spin_calls"
is twenty_processes "20 2000 0" "$(figure processes seq.zst) $(calls cuCtxGetCurrent seq.zst) $(figure lost seq.zst)"
"$C" -q -o env.zst sh -c 'cd / && exec env -i LD_PRELOAD="$LD_PRELOAD" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$0" -n 100' "$S/spin_calls" >/dev/null
is bare_environment 100 "$(calls cuCtxGetCurrent env.zst)"
"$C" -q -o wait.zst --wait all sh -c '"$0" -t 3 >hung & while ! grep -q waiting hung; do sleep 0.05; done; sleep 0.4' "$S/hang"
is wait_all_waits "1 0" "$(calls cuStreamSynchronize wait.zst) $(figure open wait.zst)"
go_when_hung 1 primary.zst
TMPDIR=$behind "$C" -q -o primary.zst sh -c '"$0" >hung & echo $! >hangs; while [ ! -e go ]; do sleep 0.05; done' "$S/hang"
is wait_primary_does_not "0 1" "$(calls cuStreamSynchronize primary.zst) $(figure open primary.zst)"
kill -KILL $(cat hangs); rm -f hangs
sessions() { find "$1" -name 'gt-session-*' -prune | wc -l; }
until_it_is 0 sessions "$TMPDIR"
is no_session_is_left 0 "$(sessions "$TMPDIR")"
age_and_look() { touch -c -t 202001010000 "$behind"/gt-session-*; TMPDIR=$behind "$C" -q -f -o last.zst true; sessions "$behind"; }
until_it_is 0 age_and_look	# a killed process may still be exiting
is old_sessions_are_removed 0 "$(sessions "$behind")"

# ---- the last line says how the program ended ----
dying end_of_a_crash 139 timeout 100 "$C" -f -o end.zst "$S/crash" -n 5
says end_of_a_crash_is_reported ' s; killed by SIGSEGV in cuStreamSynchronize; next: gtanalyze end.zst$'
dying end_without_a_signal 3 timeout 100 "$C" -f -o end.zst "$S/crash" -n 5 -s 0
says end_without_a_signal_is_reported ' s; 1 call open at the end: cuStreamSynchronize; next: '
want end_of_a_program_without_calls 137 timeout 100 "$C" -f -o end.zst sh -c 'kill -KILL $$'
says end_of_a_program_without_calls_is_reported ' s; killed by SIGKILL$'
go_when_hung 2 ends.zst
want end_with_other_processes 143 timeout 100 "$C" -o ends.zst sh -c 'for i in 1 2; do "$0" >/dev/null & echo $! >>hangs; done; while [ ! -e go ]; do sleep 0.05; done; kill -TERM $$' "$S/hang"
says end_with_other_processes_is_reported ' s; killed by SIGTERM, 2 calls open at the end; next: '
kill -KILL $(cat hangs)
go_when_hung 1 another.zst
want end_with_another_process 143 timeout 100 "$C" -o another.zst sh -c '"$0" >/dev/null & echo $! >hangs; while [ ! -e go ]; do sleep 0.05; done; kill -TERM $$' "$S/hang"
says end_with_another_process_is_reported ' s; killed by SIGTERM, 1 call open at the end: cuStreamSynchronize; next: '
kill -KILL $(cat hangs)
dying end_into_a_device 139 timeout 100 "$C" -f -o /dev/null "$S/crash" -n 5
says end_into_a_device_is_reported ' s; killed by SIGSEGV, 1 call open at the end; next: '

# ---- gtcollect is killed and the program continues: the library stops CUPTI, whose records have no reader, and frees all buffers ----
GT_DEBUG=1 SIM_CUPTI_TRUTH="$PWD/work" "$C" -q -f -e api,gpu,runtime -o left.zst sh -c 'echo $$ >left.pid; exec "$0" -n 1000000' "$S/idle_host" >/dev/null 2>left.err &
until_it_is yes there work
kill -KILL $!
wait $! 2>/dev/null
left() { grep '^gt: CUPTI: gtcollect' left.err; }
until_it_is 'gt: CUPTI: gtcollect has died 0' left
is left_alone_no_cupti 'gt: CUPTI: gtcollect has died 0' "$(left)"
check left_alone_the_program_runs kill -0 "$(cat left.pid)"
kill -KILL "$(cat left.pid)"
