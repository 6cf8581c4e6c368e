# serial
# -a with --comm and --cgroup: only processes that match are recorded. The simulated driver; the probes are real.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# ---- what needs no rights ----
want comm-needs-all 2 "$G" --comm 'x*' true
says comm-needs-all-is-told 'selects processes of -a'
want cgroup-is-missing 2 "$G" -a --cgroup /nonexistent
says cgroup-is-missing-is-told 'No such file'
want cgroup-is-none 2 "$G" -a --cgroup /
says cgroup-is-none-is-told 'no folder of cgroup v2'

if ! "$G" --via ebpf -q -f -o try.zst -- true >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi

# record FILE OPTIONS...: in the background, begun when it returns
records() { grep -c 'recording api' record.err; }
record() {
	file=$1; shift
	"$G" -f -e api -a --print "$@" -o "$file" >record.lines 2>record.err &
	recorder=$!
	until_it_is 1 records
}
end_record() { kill -INT $recorder; wait $recorder; }
processes() { "$A" threads --format csv --top 0 "$1" 2>/dev/null | awk -F, 'NR > 1 && $2 != "" { print $2 }' | sort -u; }

# Programs that map the driver before the recording begins and go on after it, and those that start later.
cp "$B/samples/spin_calls" chosen-early
cp "$B/samples/train" chosen-late
./chosen-early -s 600 >/dev/null &
early=$!
"$B/samples/spin_calls" -s 600 >/dev/null &
other=$!
maps_driver() { grep -c 'libcuda.so' "/proc/$1/maps" | sed 's/^[1-9].*/yes/'; }
until_it_is yes maps_driver $early
until_it_is yes maps_driver $other

record comm.zst --comm 'chosen-*'
./chosen-late -n 2000 >/dev/null
"$B/samples/train" -n 20 >/dev/null
end_record
processes comm.zst >comm.names
printf 'chosen-early\nchosen-late\n' >wanted
same comm-selects-by-name wanted comm.names
kill $early $other
wait $early $other 2>/dev/null

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
trap 'kill $moved 2>/dev/null; until_it_is "" empty; rmdir "$group/below" "$group"' EXIT
"$B/samples/spin_calls" -s 600 >/dev/null &
moved=$!
until_it_is yes maps_driver $moved
record cgroup.zst --cgroup "$group"
sh -c 'echo $$ >"$1/below/cgroup.procs"; exec "$2" -n 2000' sh "$group" ./chosen-late >/dev/null
"$B/samples/train" -n 20 >/dev/null
echo $moved >"$group/cgroup.procs"
calls_of_moved() { grep -q "spin_calls $moved/" record.lines && echo yes; }
until_it_is yes calls_of_moved
end_record
kill $moved
wait $moved 2>/dev/null
processes cgroup.zst >cgroup.names
printf 'chosen-late\nspin_calls\n' >wanted
same cgroup-selects-its-processes wanted cgroup.names
record both.zst --cgroup "$group" --comm 'other-name'
sh -c 'echo $$ >"$1/below/cgroup.procs"; exec "$2" -n 20' sh "$group" ./chosen-late >/dev/null
end_record
want both-is-recorded 0 "$A" header both.zst
is both-must-match "" "$(processes both.zst)"
