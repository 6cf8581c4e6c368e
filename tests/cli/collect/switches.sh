# -e sched for a COMMAND without rights for eBPF: by perf events. The program build/bpf/waits waits for known times.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
# as another user if this one is root, who has all rights
user() { "$@"; }
shared=$PWD
if [ "$(id -u)" -eq 0 ]; then
	command -v setpriv >/dev/null 2>&1 || { skip switches "root needs setpriv"; exit; }
	shared=$(mktemp -d)
	chmod 777 "$shared"
	user() { setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_RUNTIME_DIR "$@"; }
fi
trap '[ "$shared" = "$PWD" ] || rm -rf "$shared"' EXIT
if ! user test -x "$G"; then
	skip switches "the build is in a folder of root"
	exit
fi
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	skip switches "perf_event_paranoid is above 2"
	exit
fi

# ---- reasons and times ----
want waits 0 user sh -c 'echo | "$@"' sh "$G" -f -e sched -o "$shared/waits.zst" -- "$B/bpf/waits"
says missing-is-reported 'note: not recorded: who wakes a thread'
"$A" --format csv --top 0 offcpu "$shared/waits.zst" >waits.csv 2>/dev/null
# longest NAME REASON FROM TO: the longest wait for that reason, ms
longest() { is "$1" yes "$(awk -F, -v r="$2" -v from="$3" -v to="$4" '$1 == "pid" { table++; for (i = 1; i <= NF; i++) if (table == 1) c[$i] = i }
	table == 1 && $c["reason"] == r && $c["max_ns"] > max { max = $c["max_ns"] }
	END { print (max >= from * 1e6 && max < to * 1e6) ? "yes" : max }' waits.csv)"; }
longest lock-is-futex futex 150 1000
longest byte-is-read-from-a-pipe 'pipe read' 149 1000
longest poll-is-poll poll 120 1000
longest sleep-is-sleep sleep 200 1000
check child-is-recorded test "$(awk -F, '$1 ~ /^[0-9]+$/ { print $1 }' waits.csv | sort -u | wc -l)" -ge 2
is nothing-is-lost 0 "$(figure lost "$shared/waits.zst")"
is none-is-runnable 0 "$(grep -c ,runnable, waits.csv)"

# ---- a thread that is preempted, or runs, all the time ----
want busy 0 user "$G" -q -f -e sched -o "$shared/busy.zst" -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
is busy-waits-for-little yes "$("$A" --format csv --top 0 offcpu "$shared/busy.zst" 2>/dev/null | awk -F, '$1 == "pid" { table++; for (i = 1; i <= NF; i++) if (table == 1) c[$i] = i; next }
	table == 1 && $c["reason"] != "preempted" { waits += $c["total_ns"] } END { print (waits < 50e6) ? "yes" : waits }')"

# ---- a thread of the program that has the name of those of gt ----
ln -s "$(command -v sleep)" "$shared/[gt]"
want same-name 0 user "$G" -q -f -e sched -o "$shared/name.zst" -- "$shared/[gt]" 0.01
"$A" offcpu "$shared/name.zst" >name.out 2>&1
check same-name-is-a-thread-of-the-program grep -q ' \[gt\] (program) ' name.out

# ---- the stack of a long wait, of Python and with the function of the C library ----
python=$(command -v /usr/bin/python3 || command -v python3 || :)
py=$SRC/tests/unit/collect/host/samples.py
if [ -n "$python" ] && user test -r "$py"; then
	want python-waits 0 user "$G" -q -f -e sched -o "$shared/python.zst" -- "$python" "$py" 4
	"$B/unit/stacks_prog" "$shared/python.zst" host >python.rows
	check wait-has-its-stack grep -q "^[0-9]* sleep | .*nanosleep.* | asleep (host/samples.py:$(grep -n '# asleep$' "$py" | cut -d : -f 1)) | main" python.rows
	check wait-for-a-thread-has-its-stack grep -q '^[0-9]* futex | .* | .*join' python.rows
else
	skip python "there is no python3 that the user can run"
fi

# ---- shares of waits: the program measures them, too. On a busy machine a wait can end before gtcollect looks at it ----
py=$SRC/tests/unit/collect/host/waits.py
# differences ROWS SAID: the waits of the main thread, in percent of its time, that are not within 1 of what it said
differences() { awk -F, 'FNR == NR { split($0, w, " "); if (w[1] ~ /-percent$/) said[w[1]] = w[2]; else is[w[1]] = w[2]; next }
	$1 == "pid" { table++; for (i = 1; i <= NF; i++) if (table == 1) c[$i] = i; next }
	table == 1 && $c["tid"] == is["main"] { r = $c["reason"]; sub(" ", "-", r); has[r "-percent"] = 100 * $c["total_ns"] / is["whole"] }
	END { for (r in said) if (has[r] - said[r] > 1 || said[r] - has[r] > 1) print r, said[r], has[r] }' "$2" "$1"; }
if [ -n "$python" ] && user test -r "$py"; then
	for try in 1 2 3 4 5; do
		user "$G" -q -f -e sched -o "$shared/shares.zst" -- "$python" "$py" 3 >said
		"$A" --format csv --top 0 offcpu "$shared/shares.zst" >shares.csv 2>/dev/null
		differences shares.csv said >differences
		[ -s differences ] || break
	done
	is "shares-are-those-of-the-program" "" "$(cat differences)"
	holder=$(sed -n 's/^holder //p' said)
	"$B/gtexport" --jsonl "$shared/shares.zst" 2>/dev/null | grep '"phase":"B","name":"gil"' >gil.rows
	is gil-has-its-holder yes "$(awk -v h="$holder" 'index($0, "\"holder_tid\":" h) { n++ } END { print (n > NR / 2) ? "yes" : n " of " NR }' gil.rows)"
fi

# ---- with calls and GPU work: one track a thread, the same calls as without ----
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
want train 0 user "$G" -q -f -e api,gpu,sched -o "$shared/train.zst" -- "$B/samples/train" -n 20
want train-without 0 user "$G" -q -f -e api,gpu -o "$shared/plain.zst" -- "$B/samples/train" -n 20
counts() { "$A" top --top 0 --format csv "$1" 2>/dev/null | awk -F, '$1 ~ /^cu/ { print $1, $3 }' | sort; }
counts "$shared/train.zst" >with.counts
counts "$shared/plain.zst" >without.counts
same calls-are-those-without without.counts with.counts
is thread-has-one-track 1 "$("$A" threads --format csv "$shared/train.zst" 2>/dev/null | awk -F, 'NR > 1 && $4 == "train"' | wc -l)"
# threads that gt and CUPTI start are not the program's
want offcpu 0 "$A" offcpu "$shared/train.zst"
check gt-and-cupti-are-left-out grep -q '^  (2 threads of gt and CUPTI are left out)' want.out
want train-events 0 user "$G" -q -f -e api,gpu,sched --gpu-timing events -o "$shared/events.zst" -- "$B/samples/train" -n 20
want offcpu-events 0 "$A" offcpu "$shared/events.zst"
check gt-is-left-out grep -q '^  (1 thread of gt and CUPTI is left out)' want.out
want train-alone 0 user "$G" -q -f -e api,sched -o "$shared/alone.zst" -- "$B/samples/train" -n 20
is threads-are-the-programs "$(figure threads "$shared/alone.zst")" "$(figure threads "$shared/train.zst")"
want summary 0 "$A" summary "$shared/train.zst"
check scheduler-calls-are-a-figure grep -q 'Scheduler calls: [1-9]' want.out

# ---- the kernel refuses perf events ----
want refused 125 user "$B/bpf/without_bpf" 1 "$G" -q -f -e sched -o "$shared/refused.zst" -- true
says refused-is-reported 'kernel.perf_event_paranoid=2'
check refused-leaves-no-file test ! -e "$shared/refused.zst"
want --doctor-refused 0 user "$B/bpf/without_bpf" 1 "$G" --doctor
check doctor-says-refused grep -q '^note *switches .*perf_event_paranoid' want.out
want unreadable 0 user "$B/bpf/without_bpf" 1 --memory "$G" -f -e sched -o "$shared/unreadable.zst" -- true
says unreadable-is-reported 'not recorded: frames of Python, reasons and stacks of waits'
want unreadable-header 0 "$A" header "$shared/unreadable.zst"
check unreadable-is-in-the-header grep -q 'ptrace_scope' want.out
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ]; then
	want user-samples 0 user "$G" -f -e samples -o "$shared/samples.zst" -- true
	says kernel-is-missing 'not recorded: samples of time in the kernel'
	want user-samples-header 0 "$A" header "$shared/samples.zst"
	check kernel-is-missing-in-the-header grep -q 'samples of time in the kernel' want.out
fi
want --doctor-works 0 user "$G" --doctor
check doctor-says-works grep -q '^ok *switches ' want.out

# ---- two recordings of samples at once, where the kernel locks no more memory for a user than it does for all ----
mkfifo go
user sh -c 'ulimit -l 64 && exec "$@"' sh "$G" -q -f -e samples -o "$shared/first.zst" -- sh -c 'echo started; read -r line' <go >first.out 2>&1 &
exec 6>go
until_it_is started cat first.out
want second 0 user sh -c 'ulimit -l 64 && exec "$@"' sh "$G" -q -f -e samples -o "$shared/second.zst" -- true
echo >&6
exec 6>&-
check first wait $!
