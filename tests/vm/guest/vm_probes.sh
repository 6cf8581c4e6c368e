# Probes that the user names, on this kernel: functions, and USDT with semaphores. The hits of the programs are known.
. "$SRC/tests/lib.sh"
G=$B/gtcollect

# ---- functions: entry and return, arguments ----
echo | "$G" -q -f -o f.zst --probe 'functions:outer(1)' --probe 'functions:innermost(2)' --probe libc:getppid -- "$B/bpf/functions" >/dev/null
is program-is-unharmed 0 $?
"$B/gtexport" --jsonl -f -o f.jsonl f.zst 2>/dev/null
calls_of() { grep '"phase":"B"' f.jsonl | grep -c "\"name\":\"$1\".*\"domain\":\"$2\""; }
is calls "20 120 20" "$(calls_of outer functions) $(calls_of innermost functions) $(calls_of getppid libc)"
is arguments-and-result 1 "$(grep '"name":"innermost"' f.jsonl | grep -c '"arg0":"0x13","arg1":"0x4","return":"0x134"')"
is nested-calls-have-depth 100 "$(grep '"phase":"B"' f.jsonl | grep '"name":"innermost"' | grep -c '"depth":1')"
is nothing-is-lost 0 "$(figure lost f.zst)"

# ---- USDT: in a file and in memory only; the program fires guarded probes if their semaphore is raised ----
if [ ! -x "$B/bpf/usdt" ]; then skip usdt "needs sys/sdt.h (systemtap-sdt-dev)"; exit; fi
mkfifo in; : >out
"$B/bpf/usdt" <in >out 2>/dev/null &
program=$!
exec 7>in
# tell COMMAND: until the program has answered; the answer's number is $answer
tell() {
	tell_n=$(($(wc -l <out) + 1))
	echo "$1" >&7
	answered() { [ "$(wc -l <out)" -ge $tell_n ] && echo yes; }
	until_it_is yes answered
	answer=$(tail -n 1 out | cut -d ' ' -f 2)
}
tell memory
tell semaphore; is semaphore-before 0 "$answer"
"$G" -f -o u.zst -e 'usdt:gt_test:*,usdt:gt_memory:*' -p $program 2>u.err 7>&- &
recorder=$!
recording() { { grep -q recording u.err || ! kill -0 $recorder; } 2>/dev/null && echo yes; }
until_it_is yes recording
tell semaphore; is semaphore-during 1 "$answer"
tell numbers
tell texts\ 3
tell counted\ 5; is guarded-probes-are-fired 5 "$answer"
tell hits\ 4; is memory-semaphore-during 1 "$answer"
kill -INT $recorder; wait $recorder; is recorder-ends 0 $?
tell semaphore; is semaphore-after 0 "$answer"
exec 7>&-
wait $program
"$B/gtexport" --jsonl -o - u.zst 2>/dev/null | sed -n 's/.*"name":"\([^"]*\)".*"details":{"domain":"\([^"]*\)",*\(.*\)}}/\2:\1 \3/p' | tr -d '"' >rows
cat >want <<END
gt_test:numbers arg0:-8,arg1:65535,arg2:-32,arg3:1099511627776,arg4:5,arg5:0
gt_test:numbers arg0:-8,arg1:65535,arg2:-32,arg3:1099511627776,arg4:5,arg5:1
gt_test:text arg0:text 0,arg1:0
gt_test:text arg0:text 1,arg1:1
gt_test:text arg0:text 2,arg1:2
END
head -n 5 rows >got
same arguments want got
is hits "5 4" "$(grep -c '^gt_test:counted' rows) $(grep -c '^gt_memory:hit' rows)"

# ---- three capabilities are enough for scheduling; before Linux 5.11 BPF maps also count as locked memory ----
shared=$(mktemp -d)
chmod 777 "$shared"
limited() { # LIMIT
	(ulimit -l "$1"
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-sys_resource --inh-caps="$caps" --ambient-caps="$caps" \
		"$G" -q -f -e sched -o "$shared/l.zst" -p $program --duration 1ms)
}
caps=+bpf,+perfmon,+sys_ptrace
mkfifo hold
"$B/bpf/functions" <hold >/dev/null &
program=$!
exec 7>hold
want three-capabilities 0 limited unlimited
case $(uname -r) in
5.?.*|5.10.*)
	want little-locked-memory 125 limited 64
	says locked-memory-is-reported 'ulimit -l unlimited, or the capability CAP_SYS_RESOURCE'
	;;
*) want little-locked-memory 0 limited 64 ;;
esac
exec 7>&-
wait $program
rm -r "$shared"
