# --via ebpf with a COMMAND: its processes are stopped until their probes are set. After any failure of gtcollect, of the file or of a process
# they are continued. The driver is simulated, the probes are real.
. "$SRC/tests/lib.sh"
G=$B/gtcollect T="timeout 120"
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

if ! "$G" --via ebpf -q -f -o try.zst -- true >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi
many='"$1" -s 2 || exit 8'	# gtcollect writes once a second
trains='for i in 1 2 3 4 5 6 7 8 9 10; do "$0" -n 3 || exit 9; done; echo all >trained'

# ---- the file cannot be written any more: the program continues ----
if command -v prlimit >/dev/null; then
	want limit-status 125 $T "$G" --via ebpf -f -o limit.zst -- sh -c "prlimit --pid \$PPID --fsize=1000; $many; $trains" "$B/samples/train" "$B/samples/spin_calls"
	is limit-harms-nothing all "$(cat trained)"
	is limit-is-reported "1 1" "$(grep -c 'File too large' want.err) $(grep -c 'recording stopped after' want.err)"
	rm -f trained
	want limit-status-of-the-program-wins 7 $T "$G" --via ebpf -q -f -o limit.zst -- \
		sh -c "prlimit --pid \$PPID --fsize=1000; $many; $trains; exit 7" "$B/samples/train" "$B/samples/spin_calls"
else
	skip limit "there is no prlimit"
fi

# ---- the disk is full while the program runs ----
rm -f trained
mkdir small
if unshare -m mount -t tmpfs none small 2>/dev/null; then
	want full-disk 125 unshare -m sh -c 'mount -t tmpfs -o size=16k none small && exec "$@"' sh \
		$T "$G" --via ebpf -f -o small/full.zst -- sh -c "$many; $trains" "$B/samples/train" "$B/samples/spin_calls"
	is full-disk-harms-nothing all "$(cat trained)"
	is full-disk-is-reported "1 1" "$(grep -c 'No space left' want.err) $(grep -c 'recording stopped after' want.err)"
else
	skip full-disk "a container that permits unshare and mount is needed"
fi

# ---- the output is a pipe without a reader: the program continues ----
rm -f trained
mkfifo pipe
exec 9<>pipe
head -c 60000 /dev/zero >&9
"$G" --via ebpf -q -f -o pipe -- sh -c "$many; $trains" "$B/samples/train" "$B/samples/spin_calls" >/dev/null 2>pipe.err 9<&- &
recorder=$!
until_it_is yes there trained
is full-pipe-harms-nothing all "$(cat trained)"
cat <&9 >/dev/null &
reader=$!
exec 9<&-
wait $recorder
is full-pipe-status 0 $?
kill $reader
wait $reader 2>/dev/null

# ---- privileges that gtcollect gives up are given up by all of its threads ----
rights='cat /proc/$PPID/task/*/status | grep CapEff | sort -u | wc -l'
is threads-have-the-same-rights 1 "$("$G" --via ebpf -q -f -o rights.zst -- sh -c "$rights")"
is threads-beside-guests-have-them 1 "$("$G" -e api,sched -q -f -o rights.zst -- sh -c "$rights")"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	# in another session, and with a driver that only this user can read
	open=$(TMPDIR=/tmp mktemp -d)
	trap 'rm -rf "$open"' EXIT
	chmod 755 "$open"
	mkdir "$open/home"
	cp "$B"/sim/lib* "$B/samples/train" "$open/home"
	chown -R 65534 "$open/home"
	chmod 700 "$open/home"
	want another-user 0 $T "$G" --via ebpf -f -o user.zst -- \
		setsid -w setpriv --reuid=65534 --clear-groups env LD_LIBRARY_PATH="$open/home" "$open/home/train" -n 5
	is another-users-calls-are-recorded 80 "$(calls cuLaunchKernel user.zst)"
	check another-users-file-is-read sh -c '! grep "cannot be read" want.err'
else
	skip another-user "needs root and setpriv"
fi

# ---- a process that was stopped by another process remains stopped ----
stop='sleep 600 & echo $! >held.pid; kill -STOP $!'
"$G" --via ebpf -q -f -o held.zst -- sh -c "$stop"
is stopped-process-stays-stopped T "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$(cat held.pid)/status")"
kill -KILL "$(cat held.pid)"
