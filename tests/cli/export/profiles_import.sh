# Files of profilers: folders of uftrace, the output of perf script, and profiles of speedscope, in reports, pictures and exports.
. "$SRC/tests/lib.sh"

# uftrace.data was recorded by uftrace 0.13 (info and symbols are shortened):
#     uftrace record -d d --no-libcall -A leaf@arg1,arg2/s -R leaf@retval ./demo
# Counts are those of uftrace report.
U=$SRC/tests/cli/export/uftrace.data
counts() { "$B/gtanalyze" top --top 0 --format tsv "$1" 2>counts.err | awk -F '\t' '$2 == "user" { print $3, $1 }' | sort; }
printf '1 main\n1 run\n13 work\n5 leaf\n' >report.txt
counts "$U" >calls.txt
same uftrace-counts report.txt calls.txt
want uftrace-header 0 "$B/gtanalyze" header "$U"
check uftrace-command grep -q 'uftrace record -d d --no-libcall' want.out
check uftrace-arguments grep -q 'the arguments, result or data of 10 records of uftrace are not read' want.out
is uftrace-threads 2 "$(figure threads "$U")"
is uftrace-spans 20 "$(figure spans "$U")"
want uftrace-page 0 "$B/gtanalyze" "$U"
check uftrace-page-answers grep -q '^  work  *user  *13 ' want.out
check uftrace-page-without-empty-tables sh -c '! grep -qE "cannot answer|not recorded|^  none" want.out'
want uftrace-native 0 "$B/gtexport" --native -f -o uftrace.zst "$U"
counts uftrace.zst >native.txt; same uftrace-kept calls.txt native.txt
want uftrace-view 0 "$B/gtview" --render 100x24 "$U"
check uftrace-view-shows grep -q 'demo (pid 29041)' want.out
check uftrace-view-names-functions grep -q 'main' want.out
want uftrace-flame 0 "$B/gtexport" --folded -o - "$U"
check uftrace-flame-nests grep -qE '^CPU;demo \(29041\);thread 29043;run;work;work;work;leaf [0-9]+$' want.out

# Damaged folders. Their messages name the file.
broken() {	# broken NAME MESSAGE: the folder `damaged` is refused
	want "uftrace-refuses-$1" 1 "$B/gtexport" --jsonl -o /dev/null damaged
	check "uftrace-names-$1" grep -qF "gtexport: damaged: $2" want.err
	rm -rf damaged; cp -r "$U" damaged; chmod -R u+w damaged
}
cp -r "$U" damaged; chmod -R u+w damaged
rm damaged/sid-*.map; broken map 'sid-23c5cebcc6a0a6d9.map is missing'
printf 'no symbol\n' >>damaged/demo.sym; broken symbols 'demo.sym: line 27: not a symbol'
head -c 100 damaged/29041.dat >cut; cat cut cut >damaged/29041.dat; broken record '29041.dat: byte 104: not a record of uftrace'
mkfifo damaged/pipe; rm damaged/task.txt; mv damaged/pipe damaged/task.txt; broken pipe 'task.txt: cannot open'
head -c 8 damaged/info >cut; cp cut damaged/info; broken info 'info: not a file of uftrace'
head -c 264 damaged/29041.dat >cut; cp cut damaged/29041.dat
want uftrace-cut 0 "$B/gtanalyze" header damaged
check uftrace-cut-is-reported grep -q 'is truncated: its end is missing' want.out

# uftrace itself, on this machine.
cat >demo.c <<'C'
volatile long sum;
__attribute__((noinline)) long leaf(long n, const char *why) { return sum += n * *why; }
__attribute__((noinline)) long work(int depth) { return (depth ? work(depth - 1) : leaf(100, "deep")) + 1; }
int main(void) { for (int i = 0; i < 50; i++) work(i % 7); return 0; }
C
if ! command -v uftrace >which.out; then
	skip uftrace-real "no uftrace"
elif ! cc -pg -O1 -fno-optimize-sibling-calls demo.c -o demo 2>cc.err ||
	! uftrace record -d real --no-libcall -A 'leaf@arg1,arg2/s' -R 'leaf@retval' ./demo >record.out 2>record.err; then
	skip uftrace-real "uftrace cannot record: $(tail -n 1 cc.err record.err | tr '\n' ' ' | cut -c 1-100)"
else
	uftrace report -d real -f call 2>report.err | awk '$2 ~ /^[a-z]+$/ && $1 ~ /^[0-9]+$/ { print $1, $2 }' | sort >report.txt
	counts real >calls.txt
	same uftrace-real report.txt calls.txt
	check uftrace-real-has-calls grep -q '^50 leaf$' calls.txt
fi

# perf script: samples in the report of the host, the flame graph and the timeline.
cat >perf.txt <<'P'
# cmdline : /usr/bin/perf record -g ./p
my worker 12892/12893   684.119382:     250000 task-clock: 
	            11ba leaf+0x11 (/tmp/p)
	            11ef work+0x1a (/tmp/p)

p 12892/12892   684.119630:     750000 task-clock: 
	ffffffff8161a579 __rmqueue_pcplist+0x49 ([kernel.kallsyms])
	            11ef work+0x1a (/tmp/p)

my worker 12892/12893   684.119700:     1003 cycles: 
	            11ba leaf+0x11 (/tmp/p)

P
want perf-page 0 "$B/gtanalyze" perf.txt
check perf-page-has-lines grep -q '^Processor time by line of the host$' want.out
check perf-page-without-empty-tables sh -c '! grep -qE "cannot answer|not recorded|^  none" want.out'
want perf-host 0 "$B/gtanalyze" host --format tsv perf.txt
check perf-host-kernel grep -q '^__rmqueue_pcplist	750000	75.00	1	750000	75.00$' want.out
check perf-host-inclusive grep -q '^work (p)	0	0.00	0	1000000	100.00$' want.out
want perf-flame 0 "$B/gtexport" --folded --stacks=host -o - perf.txt
printf '%s\n' 'host;p (12892);my worker (12893);work (p);leaf (p) 250000' 'host;p (12892);p (12892);work (p);__rmqueue_pcplist 750000' >folded.txt
same perf-flame-is folded.txt want.out
want perf-header 0 "$B/gtanalyze" header perf.txt
check perf-command grep -q '/usr/bin/perf record -g ./p' want.out
check perf-other-events grep -q '1 sample has no time: its event is not processor time' want.out
want perf-view 0 "$B/gtview" --render 100x24 perf.txt
check perf-view-shows grep -q 'my worker' want.out
grep -v '^#' perf.txt | zstd -q >perf.zst
"$B/gtexport" --jsonl -o - perf.zst >packed.out 2>packed.err
"$B/gtexport" --jsonl -o - perf.txt >plain.out 2>plain.err
same perf-packed plain.out packed.out
sed -n '/cycles/,$p' perf.txt >cycles.txt
want perf-no-times 1 "$B/gtexport" --folded --stacks=host -o - cycles.txt
says perf-no-times-is-reported 'the samples count other events than processor time'

# speedscope: a recording comes back with its names, times and nesting, whether the input can be read twice or not.
events() {	# events FILE: "O name time" and "C name time" of all profiles in order, each profile with its first event as a key
	awk '/^\{"name":/ { name = $0; sub(/^\{"name":"/, "", name); sub(/"[,}].*/, "", name); names[n++] = name }
		/^\{"type":"evented"/ { key = "" }
		/^\{"type":"[OC]"/ { split($0, part, /[:,}]/); event = part[2] " " names[part[4]] " " part[6]
			if (key == "") { key = event; i = 0 } printf "%s %07d %s\n", key, i++, event }' "$1" | LC_ALL=C sort
}
T=$SRC/samples/recorded/h200-inference.zst
"$B/gtexport" --speedscope -f -o first.json "$T"
want speedscope-again 0 "$B/gtexport" --speedscope -f -o second.json first.json
events first.json >first.txt; events second.json >second.txt
check speedscope-has-events test "$(wc -l <first.txt)" -gt 1000
same speedscope-comes-back first.txt second.txt
gzip -c first.json | "$B/gtexport" --speedscope -f -o - - >third.json 2>third.err
same speedscope-through-a-pipe second.json third.json
want speedscope-top 0 "$B/gtanalyze" top --format tsv first.json
check speedscope-names grep -q '^cuLaunchKernel	' want.out

# Files that have nothing but collectives say nothing about what GPUs do besides.
for name in nccl-inspector/short flight-recorder/two; do
	F=$SRC/tests/fuzz/corpus/fuzz_import/$name t=${name%%/*}
	want "$t-page" 0 "$B/gtanalyze" "$F"
	check "$t-page-has-collectives" stdout_has 'Collectives by name, stream and communicator'
	check "$t-page-without-verdict" stdout_lacks 'The GPU is busy'
	want "$t-budget" 4 "$B/gtanalyze" budget "$F"
	check "$t-budget-says-why" stdout_has 'cannot answer: the file has collectives, but not what else GPUs did'
	want "$t-native" 0 "$B/gtexport" --native -f -o collectives.zst "$F"
	want "$t-native-budget" 4 "$B/gtanalyze" budget collectives.zst
done
