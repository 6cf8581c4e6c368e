# -e samples and -e sched for programs that already run (-p): shares of known lines, stacks of waits, threads and children that start
# later. The limits are those of samples.sh.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze prog=$B/unit/stacks_prog refuse="$B/bpf/without_bpf 1"
if ! "$G" --doctor | grep -q '^ok *samples .*perf events'; then
	skip attach-samples "the kernel refuses perf events"
	exit
fi
python=$(command -v /usr/bin/python3 || command -v python3 || :)
if [ -z "$python" ]; then
	skip attach-samples "there is no python3"
	exit
fi
# as another user if this one is root
as=
shared=$PWD
if [ "$(id -u)" -eq 0 ]; then
	command -v setpriv >/dev/null 2>&1 || { skip attach-samples "root needs setpriv"; exit; }
	shared=$(mktemp -d)
	chmod 777 "$shared"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_RUNTIME_DIR"
fi
trap '[ "$shared" = "$PWD" ] || rm -rf "$shared"' EXIT
if ! $as test -x "$G" -a -r "$SRC/tests/lib.sh"; then
	skip attach-samples "the build is in a folder of root"
	exit
fi
near() { is "$1" yes "$(awk -v v="$2" -v of="$3" -v p="$4" 'BEGIN { d = v - of; if (d < 0) d = -d; print (of > 0 && d * 100 <= of * p) ? "yes" : v " of " of }')"; }
rows() { grep -c -e "$2" "$1.rows"; }
py=$SRC/tests/unit/collect/host/samples.py late=$SRC/tests/unit/collect/host/attached.py
line() { grep -n "# $1\$" "$2" | cut -d : -f 1; }
# names PID: its descriptors, and how many threads it has
names() { ls -l "/proc/$1/fd" | sed 's/.* //'; ls "/proc/$1/task" | wc -l; }
waits_at() { grep -c "^$1 " "/proc/$2/task/$2/syscall"; }
[ "$(uname -m)" = x86_64 ] && reads=0 || reads=63

# ---- shares of lines, of a program whose thread runs already; nothing remains ----
$as "$python" "$py" 1 100000 &
p=$!
two_threads() { ls /proc/$p/task | wc -l; }
until_it_is 2 two_threads
names $p >before
$as "$G" -f -e samples -o "$shared/shares.zst" -p $p 2>shares.err &
recorder=$!
sampled() { [ "$("$prog" "$shared/$1.zst" host 2>/dev/null | grep -c "$2")" -ge $3 ] && echo yes; }
until_it_is yes sampled shares '| [ab] (host' 200
detach
is shares 0 $?
check says-what-it-records grep -q 'recording 1 process by perf events; Ctrl-C ends it' shares.err
names $p >after
same nothing-remains before after
is no-tracer 0 "$(sed -n 's/^TracerPid:[^0-9]*//p' /proc/$p/status)"
"$prog" "$shared/shares.zst" host >shares.rows
called="busy (host/samples.py:$(line called "$py"))"
a=$(rows shares "| a (host/samples.py:$(line 'line a' "$py")) | $called | main (host/samples.py:$(line 'calls a' "$py"))")
b=$(rows shares "| b (host/samples.py:$(line 'line b' "$py")) | $called | main (host/samples.py:$(line 'calls b' "$py"))")
check many test $((a + b)) -ge 200
near shares-of-lines $((100 * a / (a + b + 1))) 37 20
is lines-are-right $((a + b)) "$(grep -c '| [ab] (host' shares.rows)"
is no-loss 0 "$(figure lost "$shared/shares.zst")"

# ---- two processes, without rights for eBPF: one of them waits for a line, then starts a thread and a child ----
mkfifo go
$as "$python" "$late" <go &
waiting=$!
exec 7>go
until_it_is 1 waits_at $reads $waiting
$as "$G" -f -e samples,sched -o "$shared/two.zst" -p $p -p $waiting 2>two.err 7>&- &
recorder=$!
recording() { grep -c 'recording 2 processes by perf events' two.err; }
until_it_is 1 recording
until_it_is yes sampled two '^[0-9]* sleep' 1
echo >&7
exec 7>&-
wait $waiting
is waiting-program-ends-well 0 $?
kill $p
wait $p 2>/dev/null
wait $recorder
is recording-ends-with-the-programs 0 $?
"$prog" "$shared/two.zst" host >two.rows
check wait-since-before-has-its-stack grep -q "^[0-9]* io | .*main (host/attached.py:$(line waits "$late")) |" two.rows
check later-thread-is-sampled test "$(rows two 'sample |.* late_thread (host/attached.py')" -ge 30
check later-child-is-sampled test "$(rows two 'sample |.* late_child (host/attached.py')" -ge 30
check sleep-has-its-stack grep -q "^[0-9]* sleep | .* asleep (host/samples.py:$(line asleep "$py")) | main" two.rows
is thread-is-sampled-once yes "$(awk -v n="$(rows two 'sample |.* late_thread (host/attached.py')" 'BEGIN { print (n <= 130) ? "yes" : n }')"
"$A" header "$shared/two.zst" >header.out 2>/dev/null
check header-says-what-is-missing grep -q 'who wakes a thread' header.out

# ---- with eBPF and samples, waits have their stacks ----
if "$G" --via ebpf -q -f -e sched -o try.zst -p $$ --duration 1ms >try.out 2>&1; then
	mkfifo again
	"$python" "$late" <again &
	waiting=$!
	exec 7>again
	until_it_is 1 waits_at $reads $waiting
	attach ebpf.zst -e sched,samples -p $waiting
	is_stacked() { "$prog" ebpf.zst host 2>/dev/null | grep -c ' io | .* main (host/attached.py' | sed 's/^[1-9].*/yes/'; }
	echo >&7
	exec 7>&-
	wait $waiting
	wait $recorder
	is ebpf-waits-have-stacks yes "$(is_stacked)"
	want command-waits 0 "$G" -q -f -e sched,samples -o command.zst -- "$python" "$py" 1
	"$prog" command.zst host >command.rows
	check command-waits-have-stacks grep -q "^[0-9]* sleep | .* asleep (host/samples.py:$(line asleep "$py")) | main" command.rows
else
	skip ebpf "$(tail -n 1 try.out)"
fi

# ---- refusals ----
want all-is-refused 2 "$G" -q -f -e samples -o none.zst -a
says all-is-refused-says '-e samples needs a COMMAND or -p: the stacks of all processes'
want perf-refused 125 $refuse "$G" -q -f -e samples -o none.zst -p $$
says perf-refused-says 'cannot record samples: perf_event_open: .*kernel.perf_event_paranoid=2'
if [ "$shared" != "$PWD" ]; then
	want other-user 125 $as "$G" -q -f -e samples -o "$shared/none.zst" -p $$
	says other-user-says "cannot record process $$ by perf events: it belongs to another user"
fi
want memory-refused 0 $refuse --memory "$G" -f -e samples -o memory.zst -p $$ --duration 1ms
says memory-refused-says 'not recorded: frames of Python, reasons and stacks of waits: the kernel refuses to read the processes of -p'
sh -c 'exit 0' &
gone=$!
wait $gone
want gone 125 "$G" -q -f -e samples -o none.zst -p $gone
says gone-says "there is no process $gone"
check refusals-leave-no-file test ! -e none.zst
