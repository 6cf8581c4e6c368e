# gtcollect with programs that cannot be run, that avoid the library, that start many processes, or that remove the output; and with
# little memory or few descriptors for itself.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze S=$B/samples
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" TMPDIR="$PWD"
unset XDG_RUNTIME_DIR
T="timeout 60"

figure() { "$A" header "$2" --format tsv 2>/dev/null | awk -F'\t' -v k="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == k) c = i } NR == 2 { print $c }'; }
calls() { "$A" top --top 0 --format csv "$2" 2>/dev/null | awk -F, -v n="$1" '$1 == n { s += $3 } END { print s + 0 }'; }
is() { if [ "$2" = "$3" ]; then ok "$1"; else fail "$1" "is '$3', not '$2'"; fi; }
spin() { spin_name=$1; shift; want "$spin_name" 0 $T "$@"; is "$spin_name-calls" 1000 "$(calls cuCtxGetCurrent c.zst)"; rm -f c.zst; }	# spin NAME CMD: CMD records 1000 calls into c.zst

# ---- commands that cannot be run ----
mkdir folder; printf '#!/no/such/shell\n' >orphan; chmod +x orphan
want run-a-folder 126 "$C" -o no.zst ./folder;		says run-a-folder-message './folder: Permission denied'
want run-nothing 127 "$C" -o no.zst '';		says run-nothing-message "gtcollect: '': not found in .PATH$"
cp /bin/true here-only
want run-here 127 "$C" -o no.zst here-only;	says run-here-message 'here-only: not found in .PATH; to run the file in the current folder, write ./here-only$'
want run-nowhere 127 "$C" -o no.zst folder;	says run-nowhere-message 'folder: not found in .PATH$'
want run-an-orphan 127 "$C" -o no.zst ./orphan;	says run-an-orphan-message './orphan: the interpreter or loader that it names is not there'
check nothing-is-left test ! -e no.zst
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir locked; chmod 555 locked
	open=$(TMPDIR=/tmp mktemp -d)	# a folder that the other user can reach; the sources may be in /root
	chmod 755 "$open"; cp "$C" "$B/libgtpreload.so" "$B/sim/libcuda.so.1" "$S/spin_calls" "$open"
	as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR=/tmp LD_LIBRARY_PATH=$open"
	want output-not-permitted 125 $as_nobody "$open/gtcollect" -o locked/x.zst true
	says output-not-permitted-message 'locked/x.zst: Permission denied$'
	cd locked
	want default-not-permitted 125 $as_nobody "$open/gtcollect" true
	says default-not-permitted-message 'gt-true-.*zst: Permission denied; use -o FILE to write elsewhere$'
	cd ..
	want other-user 0 $T "$C" -o user.zst $as_nobody "$open/spin_calls" -n 1000
	is other-user-is-unharmed 1 "$(grep -c '1000 calls' want.out)"
	rm -rf "$open"
else skip other-user "needs root and setpriv"; fi

# ---- programs that hide from the library ----
spin preload-taken-out-and-put-back "$C" -q -o c.zst sh -c 'keep=$LD_PRELOAD; unset LD_PRELOAD; true; LD_PRELOAD=$keep exec "$0" -n 1000' "$S/spin_calls"
want preload-taken-out 0 "$C" -o gone.zst sh -c 'unset LD_PRELOAD; exec "$0" -n 1000' "$S/spin_calls"
says preload-taken-out-message 'had LD_PRELOAD taken out'
spin streams-closed "$C" -q -o c.zst sh -c 'exec <&- >&- 2>&-; exec "$0" -n 1000' "$S/spin_calls"
spin few-descriptors "$C" -q -o c.zst sh -c 'ulimit -n 8; exec "$0" -n 1000' "$S/spin_calls"
spin own-streams-closed sh -c '"$0" -o c.zst "$1" -n 1000 <&- >&- 2>&-' "$C" "$S/spin_calls"
"$C" -o stderr.zst "$S/spin_calls" -n 10 2>&- >/dev/null
check messages-go-nowhere-else zstd -qt stderr.zst
spin in-a-session-of-its-own "$C" -q -o c.zst setsid -w "$S/spin_calls" -n 1000
if unshare -pf --mount-proc true 2>/dev/null; then spin other-pid-namespace "$C" -q -o c.zst unshare -pf --mount-proc "$S/spin_calls" -n 1000
else skip other-pid-namespace "unshare is not permitted"; fi
[ -n "$SAN" ] || spin inside-itself "$C" -q -o outer.zst "$C" -q -o c.zst "$S/spin_calls" -n 1000	# the library cannot be preloaded into a sanitized program
"$C" -q -o one.zst "$S/spin_calls" -n 100000 >/dev/null & "$C" -q -o two.zst "$S/spin_calls" -n 100000 >/dev/null; wait
is two-at-once '100000 100000' "$(calls cuCtxGetCurrent one.zst) $(calls cuCtxGetCurrent two.zst)"

# ---- programs with many threads and processes ----
want churn 0 $T "$C" -q -o churn.zst "$S/churn" -t 3000 -p 500 -n 10
is churn-calls '35020 501 3501 0' "$(calls cuDriverGetVersion churn.zst) $(figure processes churn.zst) $(figure threads churn.zst) $(figure lost churn.zst)"

# ---- the output is removed, or is not a regular file ----
want output-removed 125 "$C" -o r.zst sh -c 'rm r.zst';				says output-removed-message 'r.zst: was removed or replaced'
want output-replaced 125 "$C" -o r.zst sh -c 'mv r.zst s.zst; echo x >r.zst';	says output-replaced-message 'r.zst: was removed or replaced'
check output-replaced-is-left test "$(cat r.zst)" = x
want output-removed-status-of-the-program-wins 3 "$C" -q -o r2.zst sh -c 'rm r2.zst; exit 3'
mkfifo pipe
want pipe-without-reader 125 $T "$C" -o pipe true;				says pipe-without-reader-message 'pipe: no process reads it'
# read_by CMD...: CMD reads the pipe, which is already open when CMD starts. CMD reads its end at `written`, not earlier.
read_by() { exec 8<>pipe 9<pipe 7>pipe 8>&-; "$@" <&9 7>&- & exec 9<&-; }
written() { exec 7>&-; wait; }
read_by cat >piped.zst; want pipe-is-written 0 $T "$C" -q -o pipe "$S/spin_calls" -n 1000; written
is pipe-calls 1000 "$(calls cuCtxGetCurrent piped.zst)"
read_by head -c 500 >/dev/null; want pipe-closed 125 $T "$C" -o pipe "$S/spin_calls" -s 1; written
says pipe-closed-message 'pipe: cannot write: Broken pipe'
is pipe-closed-program-is-unharmed 1 "$(grep -c 'calls,' want.out)"

read_by cat >/dev/null; want pipe-report 125 $T "$C" --report -o pipe true; written
says pipe-report-message 'pipe: is not a regular file, and --report reads the trace'

# A pipe without a reader. full prints yes when the pipe takes no more bytes; the byte block that it writes is discarded.
full() { dd if=/dev/zero bs=4096 count=1 oflag=nonblock >/proc/self/fd/8 2>/dev/null || echo yes; }
ended() { kill -0 $1 2>/dev/null || echo yes; }
# stuck END: fills the pipe and starts gtcollect ($collector). The recorded program writes a line to "received" for each TERM, and exits
# with 7 when END is true.
stuck() {
	exec 8<>pipe
	rm -f received began go
	head -c 61000 /dev/zero >&8
	"$C" -o pipe sh -c 'trap "echo TERM >>received" TERM; "$0" -s 100 & echo $$ >began; while ! '"$1"'; do sleep 0.05; done; kill $!; exit 7' \
		"$S/spin_calls" >/dev/null 2>want.err 8>&- &
	collector=$!
	until_it_is yes there began
	until_it_is yes full
}
# unstuck: waits at most a minute and sets $got_status to gtcollect's exit status
unstuck() {
	until_it_is yes ended $collector; kill -KILL $collector 2>/dev/null
	wait $collector; got_status=$?
	exec 8>&-
}
stuck '[ -e received ]'
kill -TERM $collector; until_it_is yes there received
check full-pipe-signal-reaches-the-program test -e received
until_it_is yes ended "$(cat began)"
kill -TERM $collector 2>/dev/null; unstuck
is full-pipe-status-is-the-program-s 7 $got_status
says full-pipe-message 'pipe: no process read it for [0-9.]* s until a signal came$'
says full-pipe-reports-what-is-missing ' were written; everything after [0-9.]* s is missing, '
stuck '[ -e go ]'
for n in $(seq 40); do	# gtcollect writes once a second, so the first signals may come before it has data to write
	kill -TERM $collector; until_it_is $n sh -c 'grep -c TERM received'
done
echo >go; unstuck
is full-pipe-second-signal-ends-the-recording 7 $got_status
# Standard error is a full pipe without a reader: gtcollect completes the trace, and a signal ends it.
exec 8<>pipe
head -c 65536 /dev/zero >&8
"$C" -f -o full_stderr.zst true 2>pipe 8>&- &
collector=$!
exit_status() { "$A" --format tsv metadata full_stderr.zst 2>/dev/null | sed -n 's/^exit_status[[:space:]]*//p'; }
until_it_is 0 exit_status
kill_it() { kill -TERM $collector 2>/dev/null; ended $collector; }
until_it_is yes kill_it; kill -KILL $collector 2>/dev/null
wait $collector; is full-standard-error-signal-ends-it 143 $?
is full-standard-error-trace-is-whole 0 "$(exit_status)"
exec 8>&-
read_by sh -c 'while [ ! -e made ]; do sleep 0.05; done; cat' >late.zst
want pipe-read-late 0 $T "$C" -q -o pipe sh -c '"$0" -t 20 -n 40000 && echo >made' "$S/many_threads"; written
is pipe-read-late-has-all "800000 0" "$(calls cuCtxGetCurrent late.zst) $(figure lost late.zst)"

# ---- few descriptors and little memory ----
if [ -z "$SAN" ]; then	# the sanitizers' runtime needs both
	want no-descriptors 125 $T sh -c 'ulimit -n 4; exec "$0" -o no.zst true' "$C";	says no-descriptors-message 'Too many open files'
	want no-memory 125 $T sh -c 'ulimit -v 40000; exec "$0" -o no.zst true' "$C";	says no-memory-message 'cannot map the rings'
fi
want no-file-size 125 $T sh -c 'ulimit -f 1; exec "$0" -o no.zst true' "$C";	says no-file-size-message 'cannot reserve .* for the rings'
check nothing-is-left-either test ! -e no.zst
spin temporary-folder-missing env TMPDIR="$PWD/missing" "$C" -q -o c.zst "$S/spin_calls" -n 1000
mkdir full
if mount -t tmpfs -o size=16k none full 2>/dev/null; then
	head -c 16384 /dev/zero >full/ballast 2>/dev/null
	spin temporary-folder-full env TMPDIR="$PWD/full" "$C" -q -o c.zst "$S/spin_calls" -n 1000
	mount -o remount,ro full
	spin temporary-folder-read-only env TMPDIR="$PWD/full" "$C" -q -o c.zst "$S/spin_calls" -n 1000
	umount full
else skip temporary-folder-full "mounting is not permitted"; fi

# ---- a program damages its own part of the shared memory: other processes lose nothing ----
spin_pid() { "$A" threads --top 0 --format csv d.zst 2>/dev/null | awk -F, '$2 == "spin_calls" { print $1; exit }'; }
: >damage.err
for seed in 1 2 3 4 5 6 7 8; do
	want damage-$seed 0 $T "$C" -f -o d.zst sh -c '"$0" -n 100000 & "$1" -s "$2" && wait' "$S/spin_calls" "$B/guest/fake/damage" $seed
	is damage-$seed-calls 100000 "$("$A" top --pid "$(spin_pid)" --top 0 --format csv d.zst 2>/dev/null | awk -F, '$1 == "cuCtxGetCurrent" { print $3 }')"
	cat want.err >>damage.err
done
check damage-is-reported grep -q 'no longer read: the program overwrote ring memory' damage.err
is damage-is-a-loss "$(grep -c 'overwrote ring memory$' damage.err)" "$(grep -A 1 'overwrote ring memory$' damage.err | grep -c ' LOST, ')"
want damage-lossless 0 $T "$C" -q -f -o d.zst --lossless --ring-memory 1M "$B/guest/fake/damage" -s 1 -r 200

# ---- command lines with any bytes are valid JSON ----
want odd-arguments 0 "$C" -q -o odd.zst sh -c true "$(printf 'a\377\376"\\\001\n')" "$(head -c 100000 /dev/zero | tr '\0' x)"
want odd-arguments-are-reported 0 "$A" --format json metadata odd.zst
if command -v python3 >/dev/null; then check odd-arguments-are-json python3 -m json.tool want.out /dev/null
else skip odd-arguments-are-json "no python3"; fi
