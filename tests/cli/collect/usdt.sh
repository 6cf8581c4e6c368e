# -e usdt:PROVIDER:PROBE: probes that programs declare, with all encodings of arguments, in files and in memory only, in the
# process's own namespaces or in others; semaphores; pairs.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze prog=$B/bpf/usdt

# ---- what needs no rights ----
want bad-pattern 2 "$G" -e usdt:only-provider -p 1
says bad-pattern-is-reported 'usdt:PROVIDER:PROBE'
want bad-format 2 "$G" -e 'usdt:a:b(arg0:float)' -p 1
says bad-format-is-reported 'str, hex, int, uint'
want bad-argument 2 "$G" -e 'usdt:a:b(arg12:str)' -p 1
want bad-pair 2 "$G" -e usdt:a:b --pair start=x,end=y -p 1
says bad-pair-is-reported 'key=argN'
want pair-of-nothing 2 "$G" --pair start=x,end=y,key=arg0 -p 1
says pair-of-nothing-is-reported '-e usdt:PROVIDER:PROBE'
want usdt-needs-ebpf 2 "$G" -e usdt:a:b --via inject -p 1

if [ ! -x "$prog" ]; then skip usdt "needs sys/sdt.h (systemtap-sdt-dev)"; exit; fi
if ! "$G" --via ebpf -q -f -e usdt:none:none -o try.zst -p $$ --duration 1ms >try.out 2>&1; then
	skip usdt "$(tail -n 1 try.out)"
	exit
fi

# ---- a program that obeys commands: a copy, because a recording elsewhere raises the semaphores of a file ----
cp "$prog" usdt
prog=$PWD/usdt
# begin COMMAND...: starts it; its process is $pid
begin() {
	rm -f in out; mkfifo in; : >out
	"$@" <in >out 2>err &
	child=$! pid=$!
	exec 7>in
}
# tell COMMAND: until the program has answered; the answer's number is $answer
tell() {
	tell_n=$(($(wc -l <out) + 1))
	echo "$1" >&7
	answered() { [ "$(wc -l <out)" -ge $tell_n ] && echo yes; }
	until_it_is yes answered
	answer=$(tail -n 1 out | cut -d ' ' -f 2)
}
finish() { exec 7>&-; wait $child; }
# record NAME OPTIONS...: attaches, until the probes are set
record() {
	record_name=$1; shift
	"$G" -f -o "$record_name.zst" "$@" 2>"$record_name.err" 7>&- &
	recorder=$!
	attached() { grep -c 'recording' "$record_name.err"; }
	until_it_is 1 attached
}
rows() { "$B/gtexport" --jsonl -o - "$1.zst" 2>/dev/null | sed -n 's/.*"name":"\([^"]*\)".*"details":{"domain":"\([^"]*\)",*\(.*\)}}/\2:\1 \3/p' | tr -d '"'; }
hits() { rows "$1" | grep -c "^$2 "; }

# ---- every encoding ----
begin "$prog"
tell semaphore; is semaphore-before 0 "$answer"
tell counted\ 3; is guard-is-closed 0 "$answer"
record all -e 'usdt:gt_test:*,usdt:gt_memory:*' -p $pid
tell semaphore; is semaphore-during 1 "$answer"
tell operands
tell numbers
tell texts\ 3
for n in 62 63 64 254 255 256; do tell "long $n"; done
tell counted\ 5; is guard-is-open 5 "$answer"
tell memory
# the library is found after it is loaded
raised() { tell hits\ 0; echo "$answer"; }
until_it_is 1 raised
tell hits\ 4; is memory-semaphore-during 1 "$answer"
kill -INT $recorder; wait $recorder; is recorder-ends 0 $?
tell semaphore; is semaphore-after 0 "$answer"
tell hits\ 1; is memory-semaphore-after 0 "$answer"
tell counted\ 3; is guard-is-closed-again 0 "$answer"
rows all >all
cat >want <<END
gt_test:operands arg0:33,arg1:-2,arg2:52608,arg3:-128,arg4:205,arg5:2427178368,arg6:1311768467294899584,arg7:7,arg8:-7,arg9:2.5,arg10:-0.5,arg11:1
gt_test:numbers arg0:-8,arg1:65535,arg2:-32,arg3:1099511627776,arg4:5,arg5:0
gt_test:numbers arg0:-8,arg1:65535,arg2:-32,arg3:1099511627776,arg4:5,arg5:1
gt_test:text arg0:text 0,arg1:0
gt_test:text arg0:text 1,arg1:1
gt_test:text arg0:text 2,arg1:2
END
head -n 6 all >got
same encodings want got
is texts-are-long "62 63 64 254" "$(sed -n 's/.*text arg0:\(xx*\),arg1:0/\1/p' all | awk '{ print length($0) }' | tr '\n' ' ' | sed 's/ $//')"
is longer-text-is-an-address 2 "$(grep -c 'text arg0:[0-9]*,arg1:0' all)"
is guarded-hits 5 "$(grep -c '^gt_test:counted' all)"
is hits-in-memory 4 "$(grep -c '^gt_memory:hit arg0:[0-3],arg1:-*[0-3]$' all)"

# ---- only what is named, in the form that is named; killed: no semaphore stays raised ----
record some -e 'usdt:gt_t*:text(arg0:hex arg1:str)' -p $pid
tell semaphore; is semaphore-of-others 0 "$answer"
tell texts\ 2
tell numbers
kill -INT $recorder; wait $recorder
is only-text 2 "$(rows some | grep -c 'text arg0:0x[0-9a-f]*,arg1:')"
is nothing-else 2 "$(rows some | wc -l)"
record cut -e 'usdt:gt_test:text(arg0:str)' -p $pid
tell long\ 300
kill -INT $recorder; wait $recorder
is str-is-cut 255 "$(rows cut | sed -n 's/.*text arg0:\(xx*\),arg1:0/\1/p' | awk '{ print length($0) }')"
record killed -e usdt:gt_test:counted -p $pid
tell semaphore; is semaphore-before-kill 1 "$answer"
kill -KILL $recorder; wait $recorder 2>/dev/null
semaphore() { tell semaphore; echo "$answer"; }
until_it_is 0 semaphore
tell semaphore; is semaphore-after-kill 0 "$answer"
finish

# ---- places that the kernel refuses are left out, and the rest is recorded ----
if [ "$(uname -m)" = x86_64 ]; then
	begin "$prog"
	tell semaphore
	record refused -e 'usdt:gt_refused:*' -p $pid
	tell refused
	finish
	wait $recorder; is refused-ends 0 $?
	is refused-places-are-left-out "0 4" "$(hits refused gt_refused:bad.) $(hits refused gt_refused:good)"
	check refused-places-are-reported grep -q 'note: 3 places are left out: gt_refused:bad1, gt_refused:bad2, gt_refused:bad3: the kernel cannot probe the instruction' refused.err
else
	skip refused-places "another architecture has other instructions that cannot be probed"
fi

# Another tracer, which does not raise the semaphore. The kernel permits one semaphore at a place.
events=/sys/kernel/tracing/uprobe_events
if [ -w "$events" ] && echo "p:gt_test_$$ $prog:$(($(readelf -n "$prog" | sed -n '/Name: counted/{n;s/.*Location: \(0x[0-9a-f]*\).*/\1/p}')))" >>"$events"; then
	enabled=/sys/kernel/tracing/events/uprobes/gt_test_$$/enable
	echo 1 >"$enabled"
	begin "$prog"
	tell semaphore
	record conflict -e 'usdt:gt_test:*' -p $pid
	tell numbers
	finish
	wait $recorder
	echo 0 >"$enabled"
	echo "-:gt_test_$$" >>"$events"
	is conflict-leaves-the-rest 2 "$(hits conflict gt_test:numbers)"
	check conflict-is-reported grep -q 'note: 1 place is left out: gt_test:counted: invalid, or in use by another tracer' conflict.err
else
	skip another-tracer "needs tracefs, and readelf (binutils)"
fi

# ---- pairs: by text, in two threads; the rest are marks ----
begin "$prog"
record pairs -e 'usdt:gt_test:*' --pair start=gt_test:request_start,end=request_end,key=arg0 -p $pid
tell pairs\ 100
finish
wait $recorder; is pairs-end 0 $?
rows pairs | grep -v '^gt_test:request ' >got
printf 'gt_test:%s\n' 'request_start arg0:never ends,arg1:-1' 'request_start arg0:again,arg1:1' 'request_end arg0:never began,arg1:-1' | sort >want
sort -o got got
same pairs-left-over want got
is pairs-are-ranges 101 "$(hits pairs gt_test:request)"
is pairs-have-both-arguments 1 "$(rows pairs | grep -c 'request arg0:req-42,arg1:42,end_arg1:420')"
check pairs-left-over-are-reported grep -q 'note: 3 hits of --pair without a start or an end remain marks' pairs.err
is pair-ends-the-latest-start 1 "$(rows pairs | grep -c 'request arg0:again,arg1:2,end_arg1:3')"
# a start is a mark as soon as its process has ended
begin "$prog"
record ended -e 'usdt:gt_test:*' --pair start=gt_test:request_start,end=request_end,key=arg0 -a
tell pairs\ 1
finish
left() { rows ended | grep -c 'request_start arg0:never ends'; }
until_it_is 1 left
is start-of-an-ended-process-is-a-mark 1 "$(left)"
kill -INT $recorder
wait $recorder
printf 'texts 1\n' | "$G" -f -e usdt:gt_test:text,usdt:gt_test:texts -o no-match.zst -- "$prog" >/dev/null 2>no-match.err
check unmatched-is-reported grep -q 'no file of the processes has a probe that matches usdt:gt_test:texts' no-match.err

# ---- names and arguments that the probes of the process do not have: refused before a file is overwritten; a note where processes start
# later ----
begin "$prog"
tell semaphore
echo old >old.zst
# absent NAME WORDS OPTION...
absent() {
	absent_name=$1 absent_words=$2; shift 2
	want "$absent_name" 125 "$G" -f -o old.zst -p $pid "$@"
	is "$absent_name-is-reported" "1 1 old" "$(grep -c . want.err) $(grep -c -e "$absent_words" want.err) $(cat old.zst)"
}
absent pair-without-start '--pair start request_begin: no file of the processes has this probe' \
	-e 'usdt:gt_test:*' --pair start=request_begin,end=request_end,key=arg0
absent pair-without-end '--pair end gt_memory:request_end: no file of the processes' \
	-e 'usdt:*:*' --pair start=request_start,end=gt_memory:request_end,key=arg0
absent pair-without-key '--pair start request_start: arg9 is not there: the probe has 2 arguments$' \
	-e 'usdt:gt_test:*' --pair start=request_start,end=request_end,key=arg9
absent format-without-argument '-e usdt:gt_test:text: arg7 is not there: the probe has 2 arguments$' -e 'usdt:gt_test:text(arg0:str arg7:str)'
finish
printf 'pairs 1\n' | "$G" -f -e 'usdt:gt_test:*' --pair start=request_begin,end=request_end,key=arg0 -o later.zst -- "$prog" >/dev/null 2>later.err
is later-pair-is-recorded 0 $?
is later-pair-is-a-note 1 "$(grep -c 'note: --pair start request_begin: no file of the processes has this probe' later.err)"

# ---- other namespaces, deleted files ----
# as_before NAME: the program's probes and the library in memory, by its process $pid
as_before() {
	tell memory
	record "$1" -e 'usdt:gt_test:*,usdt:gt_memory:*' -p $pid
	tell numbers
	tell hits\ 2; is "$1-semaphore" 1 "$answer"
	finish
	wait $recorder; is "$1-ends-with-the-program" 0 $?
	is "$1-numbers" 2 "$(hits "$1" gt_test:numbers)"
	is "$1-in-memory" 2 "$(hits "$1" gt_memory:hit)"
}
cp "$prog" deleted
begin ./deleted
tell semaphore
rm deleted
as_before deleted-file
if unshare -m -p -f true 2>/dev/null; then
	mkdir there
	begin unshare -m -p -f sh -c 'mount -t tmpfs none "$2" && cp "$1" "$2/prog" && exec "$2/prog"' sh "$prog" "$PWD/there"
	tell semaphore
	pid=$(grep -l "^PPid:[[:space:]]*$child\$" /proc/[0-9]*/status 2>/dev/null | cut -d / -f 3)
	as_before other-namespaces
else
	skip other-namespaces "unshare is not permitted"
fi

# ---- another user's process, by root and with capabilities: libraries in memory, also one that is loaded later ----
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
	shared=$(mktemp -d)
	chmod 777 "$shared"
	cp "$prog" "$shared/prog"
	# other_user NAME COMMAND...: records the program of one user by another, or by root
	other_user() {
		other_name=$1; shift
		begin setpriv --reuid=65534 --regid=65534 --clear-groups "$shared/prog"
		[ "$when" = later ] || tell memory
		(exec 7>&-; "$@" -f -e 'usdt:gt_*:*' -o "$shared/$other_name.zst" -p $pid 2>"$other_name.err") &
		recorder=$!
		attached() { grep -c 'recording' "$other_name.err"; }
		until_it_is 1 attached
		tell numbers
		[ "$when" = before ] || tell memory
		raised() { tell hits\ 0; echo "$answer"; }
		until_it_is 1 raised
		tell hits\ 2
		finish
		wait $recorder
		cp "$shared/$other_name.zst" .
		is "$other_name-in-a-file" 2 "$(hits "$other_name" gt_test:numbers)"
	}
	as_third() { setpriv --reuid=65533 --regid=65533 --clear-groups --inh-caps="$(probe_capabilities)" --ambient-caps="$(probe_capabilities)" "$G" "$@"; }
	for when in before later; do
		other_user root-$when "$G"
		is root-$when-in-memory 2 "$(hits root-$when gt_memory:hit)"
		other_user capabilities-$when as_third
		is capabilities-$when-in-memory 2 "$(hits capabilities-$when gt_memory:hit)"
	done
	rm -r "$shared"
else
	skip other-users-process "needs root and setpriv"
fi

# ---- a program that is executed later, and a command from its first instruction on ----
begin sh -c 'echo shell 0; read -r go; exec "$1"' sh "$prog"
shell() { grep -c shell out; }
until_it_is 1 shell
record executed -e 'usdt:gt_test:*' -p $pid
echo go >&7
until_it_is 1 semaphore
tell numbers
finish
wait $recorder
is executed-has-hits 2 "$(hits executed gt_test:numbers)"
printf 'numbers\nmemory\nhits 3\n' | "$G" -q -f -e 'usdt:gt_*:*' -o command.zst -- "$prog" >/dev/null
is command-ends 0 $?
is command-has-hits 2 "$(hits command gt_test:numbers)"
is command-has-hits-in-memory 3 "$(hits command gt_memory:hit)"

# ---- all processes, also one that starts later ----
record everywhere -a -e usdt:gt_test:numbers
begin "$prog"
tell semaphore
tell numbers
seen() { tell numbers; hits everywhere gt_test:numbers | sed 's/^[1-9].*/yes/'; }
until_it_is yes seen
kill -INT $recorder; wait $recorder; is everywhere-ends 0 $?
finish
check everywhere-has-hits test "$(hits everywhere gt_test:numbers)" -gt 0

# ---- a file whose mode changes remains the same one: its probes are not set twice ----
cp "$prog" changed
begin ./changed
record changed -a -e 'usdt:gt_*:*'
until_it_is 1 semaphore
finish
chmod 700 changed
begin ./changed
tell memory
until_it_is 1 raised # events come in order
tell numbers
tell semaphore; is semaphore-of-a-changed-file 1 "$answer"
kill -INT $recorder; wait $recorder; is changed-ends 0 $?
finish
is changed-hits 2 "$(hits changed gt_test:numbers)"

# ---- a second opinion ----
if command -v bpftrace >/dev/null 2>&1; then
	begin "$prog"
	record both -e usdt:gt_test:text,usdt:gt_test:counted -p $pid
	# it ends with the program, and attaches to `counted` last
	BPFTRACE_PERF_RB_PAGES=1024 timeout 60 bpftrace -B line -p $pid -e "usdt:$prog:gt_test:text { printf(\"%s %d\\n\", str(arg0), arg1); } usdt:$prog:gt_test:counted { printf(\"counted\\n\"); }" >bpftrace.out 2>bpftrace.err 7>&- &
	tracer=$!
	sees() { tell counted\ 1; { kill -0 $tracer 2>/dev/null && ! grep -q counted bpftrace.out; } || echo yes; }
	until_it_is yes sees
	tell texts\ 500
	finish
	wait $recorder
	wait $tracer
	rows both | sed -n 's/gt_test:text arg0:\(.*\),arg1:\(.*\)/\1 \2/p' >ours
	grep '^text ' bpftrace.out >theirs
	if grep -q counted bpftrace.out; then same bpftrace-sees-the-same theirs ours
	else skip bpftrace-sees-the-same "it cannot attach here: $(tail -n 1 bpftrace.err)"; fi
else
	skip bpftrace-sees-the-same "bpftrace is not installed"
fi
