# serial
# With -a, probes of the simulated driver run in the programs of other tests, too.
# -a with --comm and --cgroup: only processes that match are recorded, from the moment on at which they match until they do not. The
# simulated driver; the probes are real.
. "$SRC/tests/lib.sh"
[ -z "$SAN" ] || { skip sanitized "cli/ebpf and cli/ebpf_links run the same code sanitized"; exit 0; }
G=$B/gtcollect A=$B/gtanalyze
cuda=$B/sim/libcuda.so.1
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# ---- what needs no rights ----
want comm-needs-all 2 "$G" --comm 'x*' true
says comm-needs-all-is-reported 'selects processes of -a'
want comm-is-too-long 2 "$G" -f -o try.zst -a --duration 1ms --comm '*abcdefgh[i-k]?mnopqr*'
says comm-is-too-long-is-reported 'at most 15'
want comm-is-too-much 2 "$G" -f -o try.zst -a --duration 1ms --comm '123456789abcdef' --comm '*123456789abcdef' --comm '123456789abcdef*' --comm '[1]23456789abcdef' --comm '?'
says comm-is-too-much-is-reported 'too long together'
want cgroup-is-missing 2 "$G" -a --cgroup /nonexistent
says cgroup-is-missing-is-reported 'No such file'
want cgroup-is-none 2 "$G" -a --cgroup /
says cgroup-is-none-is-reported 'no folder of cgroup v2'

if ! "$G" --via ebpf -q -f -o try.zst -- true >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi

# processes that match may start later
want probe-may-come-later 0 "$G" -f -o later.zst -a --duration 1ms --comm none --probe none:none
says probe-that-nobody-has-is-reported 'note: .*none:none.*no process'

# record NAME OPTIONS...: in the background, begun when it returns
record() {
	file=$1; shift
	attach "$file" -a "$@"
}
# nothing is lost but waits of which the kernel has not reported the end
end_record() {
	detach
	unseen=$(awk '/waits? of .*the kernel did not report/ { print $2 }' "$1.err")
	is "$1-loses-nothing" "${unseen:-0}" "$(figure lost "$1")"
}
processes() { "$A" threads --format csv --top 0 "$1" 2>/dev/null | awk -F, 'NR > 1 && $2 != "" { print $2 }' | sort -u; }
# counts PATTERN FILE: of functions
counts() { "$A" top --top 0 --format csv "$2" 2>/dev/null | awk -F, -v p="$1" '$1 ~ p { n[$1] += $3 } END { for (f in n) print n[f], f }' | sort; }
# sleeps FILE: of threads, that ended by themselves
sleeps() { "$A" --format csv --top 0 offcpu "$1" 2>/dev/null | awk -F, '$1 == "pid" { table++; for (i = 1; i <= NF; i++) if (table == 1) c[$i] = i }
	table == 1 && $c["reason"] == "sleep" { n += $c["count"] } END { print n + 0 }'; }

# A program that obeys commands: its process is $pid.
# begin COMMAND...
begin() {
	rm -f in; mkfifo in; : >out
	"$@" <in >out 2>err 8>&- &
	pid=$!
	exec 7>in
}
# one that calls the driver
begin_calls() {
	begin ./other-name "$cuda"
	until_it_is yes there out
}
# tell COMMAND: until the program has answered
tell() {
	tell_n=$(($(wc -l <out) + 1))
	echo "$1" >&7
	answered() { { [ "$(wc -l <out)" -ge $tell_n ] || ! kill -0 $pid; } && echo yes; }
	until_it_is yes answered
}
finish() { exec 7>&-; wait $pid; }

# ---- programs that run before the recording begins, and that start later ----
cp "$B/samples/spin_calls" chosen-early
cp "$B/samples/train" chosen-late
./chosen-early -s 600 >/dev/null &
early=$!
"$B/samples/spin_calls" -s 600 >/dev/null &
other=$!
until_it_is yes maps_driver $early
until_it_is yes maps_driver $other
record comm.zst -e api --comm 'chosen-*'
./chosen-late -n 20 >/dev/null
"$B/samples/train" -n 20 >/dev/null
kill $early $other
wait $early $other 2>/dev/null
detach
processes comm.zst >comm.names
printf 'chosen-early\nchosen-late\n' >wanted
same comm-selects-by-name wanted comm.names

# ---- from the first call on, also if no process matched before: another one has the driver mapped ----
mkfifo idle
"$B/bpf/renamed" "$cuda" <idle >idle.out &
idle=$!
exec 8>idle
until_it_is yes maps_driver $idle
"$G" --via ebpf -q -f -e api,ioctl -o alone.zst -- ./chosen-late -n 2 >/dev/null
record first.zst -e api,ioctl,sched --comm 'chosen-late'
for i in 1 2 3 4 5 6 7 8; do ./chosen-late -n 2 >/dev/null; done
end_record first.zst
counts . alone.zst | awk '{ $1 *= 8; print }' | sort >alone.counts
counts . first.zst >first.counts
check first-are-many test "$(wc -l <first.counts)" -gt 10
same first-calls-are-recorded alone.counts first.counts

# ---- a name that changes: matches, does not, and does again ----
cp "$B/bpf/renamed" chosen-name
cp "$B/bpf/renamed" other-name
begin_calls
record renamed.zst -e api,sched --comm 'chosen-*' --comm 'fifteen-[a-f]ytes-?'
tell 'calls 200'
tell 'name chosen-1'
tell 'calls 20'
tell 'name chose'
tell 'calls 200'
tell 'name fifteen-bytes-x'
tell 'calls 3'
tell 'name fifteen-bytes'
tell 'calls 200'
tell 'name chosen-again'
tell 'calls 100'
tell 'child 50'
tell "exec $PWD/chosen-name"
tell 'calls 4'
tell "exec $PWD/other-name"
tell 'calls 200'
finish
end_record renamed.zst
is renamed-calls 177 "$(calls cuDriverGetVersion renamed.zst)"
is renamed-waits yes "$(n=$(sleeps renamed.zst); [ "$n" -gt 80 ] && [ "$n" -lt 250 ] && echo yes || echo "$n")"

# ---- probes that the user names: set in the processes that match, and removed ----
# probed NAME EVENT COMMAND OPTIONS...: of the program that has begun. The file gets its probes when the process matches first.
probed() {
	probed=$1 event=$2 command=$3; shift 3
	record $probed.zst --comm 'chosen' "$@"
	tell "$command 200"
	tell 'name chosen'
	until_it_is yes hit
	tell "$command 20"
	tell 'name other'
	tell "$command 200"
	tell 'name chosen'
	tell 'name other'
	tell "$command 200"
	finish
	ones=$(grep -c . out) # commands, and so at most those of hit()
	end_record $probed.zst
	check $probed-is-recorded-while-it-matches test "$(hits)" -gt 20
	check $probed-is-not-recorded-after-it test "$(hits)" -le $((ones + 20))
}
hits() { "$B/gtexport" --jsonl -o - $probed.zst 2>/dev/null | grep "\"name\":\"$event\"" | grep -vc '"phase":"E"'; }
hit() {
	tell "$command 1"
	[ "$(hits)" -gt 0 ] && echo yes
}
begin_calls
probed function hit calls -e api --probe other-name:hit
if [ -x "$B/bpf/usdt" ]; then
	begin "$B/bpf/usdt"
	probed usdt text texts -e usdt:gt_test:text
else skip usdt "needs sys/sdt.h (systemtap-sdt-dev)"; fi

# ---- cgroups ----
mounted=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
group=$mounted/gt-test-$$
if [ -z "$mounted" ] || ! mkdir "$group" 2>/dev/null || ! mkdir "$group/below" 2>/dev/null ||
	! sh -c 'echo $$ >"$1/cgroup.procs"' sh "$group/below" 2>/dev/null; then
	skip cgroup "no cgroup v2 is writable"
	rmdir "$group/below" "$group" 2>/dev/null
	exit 0
fi
empty() { cat "$group/below/cgroup.procs" "$group/cgroup.procs"; }
trap 'until_it_is "" empty; rmdir "$group/below" "$group"' EXIT
move() { echo "$1" >"$2/cgroup.procs"; }
begin_calls
record cgroup.zst -e api,sched --cgroup "$group"
sh -c 'echo $$ >"$1/below/cgroup.procs"; exec "$2" -n 20' sh "$group" ./chosen-late >/dev/null
"$B/samples/train" -n 20 >/dev/null
tell 'calls 200'
move $pid "$group"
tell 'calls 20'
move $pid "$group/below"
tell 'calls 3'
move $pid "$mounted"
tell 'calls 200'
move $pid "$group/below"
tell 'child 100'
tell "exec $PWD/chosen-name"
tell 'calls 4'
move $pid "$mounted"
tell 'calls 200'
finish
end_record cgroup.zst
processes cgroup.zst >cgroup.names
printf 'chosen-late\nchosen-name\nother-name\nthread\n' >wanted
same cgroup-selects-its-processes wanted cgroup.names
is cgroup-calls 127 "$(calls cuDriverGetVersion cgroup.zst)"
is cgroup-waits yes "$(n=$(sleeps cgroup.zst); [ "$n" -gt 60 ] && [ "$n" -lt 200 ] && echo yes || echo "$n")"

# a unit that is started again has a new folder of the same name
until_it_is "" empty
record again.zst -e api --cgroup "$group/below"
rmdir "$group/below"
mkdir "$group/below"
sh -c 'echo $$ >"$1/below/cgroup.procs"; exec "$2" -n 2' sh "$group" ./chosen-late >/dev/null
end_record again.zst
counts '^cu' alone.zst >alone.counts
counts '^cu' again.zst >again.counts
same cgroup-of-the-same-name alone.counts again.counts

# in a namespace of cgroups, whose root is a folder of the machine's
if ! unshare -Cm true 2>/dev/null; then skip cgroup-in-namespace "needs unshare -C"
else
	until_it_is "" empty
	mkdir mounted "$group/below/inner"
	attach_file=inner.zst
	sh -c 'echo $$ >"$1/below/cgroup.procs"; shift
		exec unshare -Cm sh -c "mount -t cgroup2 none mounted && exec \"\$@\"" sh "$@"' sh "$group" \
		"$G" -f -o inner.zst -a -e api --cgroup mounted/inner 2>inner.zst.err 8>&- &
	recorder=$!
	until_it_is yes attached
	sh -c 'echo $$ >"$1/below/inner/cgroup.procs"; exec "$2" -n 2' sh "$group" ./chosen-late >/dev/null
	sh -c 'echo $$ >"$1/below/cgroup.procs"; exec "$2" -n 2' sh "$group" ./chosen-late >/dev/null
	end_record inner.zst
	counts '^cu' inner.zst >inner.counts
	same cgroup-in-namespace alone.counts inner.counts
	until_it_is "" cat "$group/below/inner/cgroup.procs"
	rmdir "$group/below/inner"
fi

# both must match
begin_calls
record both.zst -e api --cgroup "$group" --comm 'chosen-*'
sh -c 'echo $$ >"$1/below/cgroup.procs"; exec "$2" -n 20' sh "$group" "$B/samples/train" >/dev/null
./chosen-late -n 20 >/dev/null
move $pid "$group"
tell 'calls 200'
tell 'name chosen-1'
tell 'calls 20'
tell 'child 10'
move $pid "$mounted"
tell 'calls 200'
move $pid "$group"
tell 'calls 3'
tell 'name other'
tell 'calls 200'
finish
end_record both.zst
is both-must-match 33 "$(calls cuDriverGetVersion both.zst)"
exec 8>&-
wait $idle
