# --probe: functions of libraries and programs, by eBPF, in a program that knows nothing of CUDA. The probes are real.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze

# ---- what needs no rights ----
want needs-ebpf 2 "$G" --via preload --probe libc:read true
says needs-ebpf-is-reported '--probe needs --via ebpf'
want wrong-probe 2 "$G" --probe read -p $$
says wrong-probe-is-reported 'must be LIB:GLOB'
want many-arguments 2 "$G" --probe 'libc:read(7)' -p $$
says many-arguments-are-reported 'between 0 and 6'

start_functions --probe functions:outer

# ---- what is not there: one line with the nearest name, nothing is left ----
want no-function 125 "$G" -o none.zst --probe libc:getpidd -p $program
says no-function-is-reported "libc has no such function; similar is getpid"
want no-library 125 "$G" -o none.zst --probe libnone:f -p $program
says no-library-is-reported 'no process that is recorded has the library or program libnone mapped'
check failures-leave-no-file test ! -e none.zst

# ---- calls, arguments, results, nesting ----
"$G" -f -o f.zst --probe 'functions:outer(1)' --probe 'functions:innermost(2)' --probe libc:getppid --probe 'libc:getpp*' --probe functions:leaver --probe functions:tail -p $program 2>f.err 5>&- &
recorder=$!
observed() { grep -c 'recording api,ioctl' f.err; }
until_it_is 1 observed
echo >&5
until_it_is yes there functions.out
exec 5>&-
wait $program
is program-is-unharmed 0 $?
wait $recorder
is recorder-ends-with-it 0 $?
"$B/gtexport" --jsonl -f -o f.jsonl f.zst 2>/dev/null
calls_of() { grep '"phase":"B"' f.jsonl | grep -c "\"name\":\"$1\".*\"domain\":\"$2\""; }
if [ "$(uname -m)" = x86_64 ]; then
	check slow-functions-of-a-pattern-are-left-out grep -q 'functions\{0,1\} [a-z]* left out, because their probes cost some 10 us' f.err
else skip slow-functions-of-a-pattern-are-left-out "the kernel emulates next to no instructions of this architecture"; fi
is outer-is-called 20 "$(calls_of outer functions)"
is static-function-is-called 120 "$(calls_of innermost functions)"
is library-function-is-called 20 "$(calls_of getppid libc)"
is function-without-return-is-no-row 0 "$(calls_of leaver functions)"
is arguments-and-result 1 "$(grep '"name":"innermost"' f.jsonl | grep -c '"arg0":"0x13","arg1":"0x4","return":"0x134"')"
is tail-calls-are-nested 20 "$(calls_of tail functions)"
is nested-calls-have-depth 120 "$(grep '"phase":"B"' f.jsonl | grep '"name":"innermost"' | grep -c '"depth":1')"
is outer-calls-have-none 0 "$(grep '"name":"outer"' f.jsonl | grep -c '"depth"')"
want is-in-top 0 "$A" top --top 0 f.zst
check top-has-it grep -q '^ *innermost  *user  *120 ' want.out
is nothing-is-lost 0 "$(figure lost f.zst)"

# ---- of a COMMAND: its own functions, from the first call on ----
echo | "$G" -q -f -o c.zst --probe functions:innermost --probe functions:outer -- "$B/bpf/functions" >/dev/null
is command-is-unharmed 0 $?
"$B/gtexport" --jsonl -f -o f.jsonl c.zst 2>/dev/null
is functions-of-a-command-are-recorded "20 120" "$(calls_of outer functions) $(calls_of innermost functions)"
echo >line
want rows-of-probes-are-enough 0 "$G" -f -o c.zst --probe functions:outer -- "$B/bpf/functions" <line
is no-word-of-cuda 0 "$(grep -c 'no CUDA call was seen' want.err)"
want command-without-function 0 "$G" -f -o c.zst --probe functions:oute -- "$B/bpf/functions" </dev/null
says command-without-function-is-reported 'functions has no such function; similar is outer'

# ---- a function that the kernel refuses, beside others ----
if [ "$(uname -m)" = x86_64 ]; then
	echo | "$G" -f -o r.zst --slow-probes --probe 'functions:[iol]*' --probe functions:locked -- "$B/bpf/functions" >/dev/null 2>r.err
	"$B/gtexport" --jsonl -f -o f.jsonl r.zst 2>/dev/null
	is functions-beside-a-refused-one "0 20 120" "$(calls_of locked functions) $(calls_of outer functions) $(calls_of innermost functions)"
	check refused-functions-are-reported grep -q 'note: 2 places are left out: functions:locked, functions:locked: the kernel cannot probe the instruction' r.err
else
	skip refused-functions "another architecture has other instructions that cannot be probed"
fi

# ---- more functions than can be recorded ----
mkfifo thousands
"$B/bpf/many_functions" <thousands >many_functions.out &
program=$!
exec 5>thousands
want too-many 125 "$G" -o none.zst --probe 'many_functions:f*' -p $program
says too-many-is-reported "probe 'many_functions:f\*': 7000[0-9] functions of .* match, and 65536 can be recorded in all: a longer GLOB"
is too-many-is-one-line 1 "$(wc -l <want.err | tr -d ' ')"
want too-many-together 125 "$G" -o none.zst --probe 'many_functions:f[1-4]*' --probe 'many_functions:f[3-6]*' -p $program
says too-many-together-are-reported 'can be recorded in all'
"$G" -f -o f1.zst --probe 'many_functions:f1*' -p $program 2>f1.err 5>&- &
recorder=$!
observed() { grep -c 'recording api,ioctl (11111 functions of 1 library)' f1.err; }
until_it_is 1 observed
echo >&5
until_it_is yes there many_functions.out
exec 5>&-
wait $program
wait $recorder
"$B/gtexport" --jsonl -f -o f.jsonl f1.zst 2>/dev/null
is one-of-many-is-recorded 1 "$(calls_of f1 many_functions)"

# ---- 300 files: no call is lost while their probes are removed, of which each takes some 60 ms ----
files= probes=
for i in $(seq 300); do
	cp "$B/bpf/functions" "file$i"
	files="$files ./file$i" probes="$probes --probe file$i:outer"
done
mkfifo many_files
"$B/bpf/many_files" $files <many_files >many_files.out &
program=$!
exec 5>many_files
until_it_is yes there many_files.out
echo >&5
attach files.zst $probes --probe many_files:called -p $program 5>&-
check probes-in-300-files grep -q '(301 functions of 301 libraries)' files.zst.err
detach
exec 5>&-
wait $program
check calls-beside-300-files test "$(calls called files.zst)" -gt 0
is detach-of-300-files-loses-nothing 0 "$(figure lost files.zst)"

# ---- a library among many whose names begin alike ----
library=$(ldd "$G" | grep -o '/[^ ]*libelf[^ ]*')
if [ -n "$library" ]; then
	all=./libf.so
	cp "$library" libf.so
	for i in 0 1 2 3 4 5 6 7 8 9; do
		cp "$library" libfile$i.so
		all="$all ./libfile$i.so"
	done
	mkfifo many
	LD_PRELOAD=$all "$B/bpf/functions" <many >many.out &
	program=$!
	exec 5>many
	echo >&5
	until_it_is yes there many.out
	want library-among-many 0 "$G" -f -o m.zst --probe libf:elf_version -p $program --duration 1ms
	exec 5>&-
	wait $program
	is many-is-unharmed 0 $?
else
	skip library-among-many "gtcollect is linked with libelf statically"
fi

# ---- two probes at one function: its second return takes no caller away, also not one that is the same function ----
echo | "$G" -q -f -o t.zst --slow-probes --probe functions:outer --probe functions:innermost --probe 'functions:inner*' --probe functions:deeper --probe 'functions:deep*' -- "$B/bpf/functions" >/dev/null
is twice-probed-is-unharmed 0 $?
"$B/gtexport" --jsonl -f -o f.jsonl t.zst 2>/dev/null
is callers-of-twice-probed-functions "20 120" "$(calls_of outer functions) $(calls_of innermost functions)"
is twice-probed-recursive-function 80 "$(calls_of deeper functions)"
is nothing-of-twice-probed-is-lost 0 "$(figure lost t.zst)"
