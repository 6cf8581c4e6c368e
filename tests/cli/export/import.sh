# All programs read files of other tools: plain, compressed, concatenated, through a pipe. (tests/cli/hostile/broken.sh reads files that must be refused.)
. "$SRC/tests/lib.sh"

line() { printf '{"ts":0.%09d,"op_id":%d,"phase":"%s","name":"%s"%s}\n' "$@"; }
{ line 1000 0 B cuInit ',"details":{"flags":0}'; line 51000 0 E cuInit ',"details":{"status":0}'
  line 60000 1 B cuMemAlloc_v2 ',"details":{"bytesize":4096,"dptr":"0x7f00"}'; line 61000 1 E cuMemAlloc_v2 ',"details":{"status":0}'
  line 70000 2 B cuLaunchKernel ''; line 75000 2 E cuLaunchKernel ',"details":{"status":1}'; } >b.jsonl
head -n 3 b.jsonl >b1; tail -n +4 b.jsonl >b2
gzip -c b1 >b1.gz; gzip -c b2 >b2.gz; cat b1.gz b2.gz >packed-gz
zstd -qc b1 >b1.zst; zstd -qc b2 >b2.zst; cat b1.zst b2.zst >packed-zst

want plain 0 "$B/gtexport" --jsonl -o - b.jsonl; cp want.out plain.out
check plain-says-something test -s plain.out
for f in packed-gz packed-zst; do
	want $f 0 "$B/gtexport" --jsonl -o - $f
	same $f-is-equal plain.out want.out
done
"$B/gtexport" --jsonl -o - - <b.jsonl >stdin.out 2>stdin.err; same stdin plain.out stdin.out
cat packed-gz | "$B/gtexport" --jsonl -o - - >pipe.out 2>pipe.err; same pipe plain.out pipe.out
want jsonl-again 0 "$B/gtexport" --jsonl -o - plain.out
same jsonl-of-jsonl-is-equal plain.out want.out
want native 0 "$B/gtexport" --native -o b.zst b.jsonl
cat b.zst | "$B/gtexport" --jsonl -o - - >native.out 2>native.err; same native-through-a-pipe plain.out native.out

want analyze 0 "$B/gtanalyze" b.jsonl
check analyze-counts grep -q 'Total CUDA API calls: 3' want.out
check analyze-adds-bytes grep -q 'Total memory allocated: 4.000 KiB' want.out

# Events about the driver's files, written by gtexport --jsonl, do not become API calls when gt imports them.
{ line 1000 0 B 'open /dev/nvidia-uvm' ''; line 2000 0 E 'open /dev/nvidia-uvm' ''; line 3000 1 B 'mmap /dev/nvidia0' ''
  line 4000 1 E 'mmap /dev/nvidia0' ''; line 5000 2 B 'ioctl CARD_INFO' ''; line 6000 2 E 'ioctl CARD_INFO' ''; } >files.jsonl
want files 0 "$B/gtanalyze" summary categories files.jsonl
check files-are-no-api-calls grep -q 'Total CUDA API calls: not recorded' want.out
check files-are-no-ioctls grep -q 'IOCTL calls: 1$' want.out
check files-are-files grep -q '^  file  *2 ' want.out

head -c -30 b.jsonl >cut.jsonl
want cut 0 "$B/gtanalyze" cut.jsonl
check cut-is-reported grep -q "is truncated: its end is missing)" want.out
{ line 2000 0 B cuInit ""; line 1000 1 B cuInit ""; } >back.jsonl
want back 0 "$B/gtanalyze" header back.jsonl
check back-is-reported grep -q "of the imported file 1 line has an earlier time than the line before" want.out

# PyTorch's Chrome JSON. The table of kernels equals the one that awk computes from the file: name, count, total, least and most ns.
K=$SRC/samples/recorded/kineto-h200-mlp.json.gz
gzip -dc "$K" >kineto.json
awk -F '"' '
	/"ph": "X", "cat": "kernel"/ { name = $0; sub(/.*"name": "/, "", name); sub(/", "pid": .*/, "", name); next }
	name != "" { dur = $0; sub(/.*"dur": /, "", dur); split(dur, part, /[.,]/); part[2] = substr(part[2] "000", 1, 3); ns = part[1] * 1000 + part[2]
		n[name]++; sum[name] += ns; if (ns > most[name]) most[name] = ns; if (!(name in least) || ns < least[name]) least[name] = ns; name = "" }
	END { for (name in n) print n[name], sum[name], least[name], most[name], name }' kineto.json | sort >kernels.awk
want kineto-kernels 0 "$B/gtanalyze" kernels --top 0 --format json "$K"
sed -n 's/.*"count": \([0-9]*\), "total_ns": \([0-9]*\), .*"min_ns": \([0-9]*\), "max_ns": \([0-9]*\), .*"name": "\(.*\)"},*$/\1 \2 \3 \4 \5/p' want.out |
	sort >kernels.gt
same kineto-kernels-are-the-files kernels.awk kernels.gt
is kineto-kernel-count 732 "$(awk '{ n += $1 } END { print n }' kernels.awk)"
is kineto-header '2 869 1012 0' "$(for k in threads gpu_operations calls lost; do figure $k "$K"; done | tr '\n' ' ' | sed 's/ $//')"
want kineto 0 "$B/gtanalyze" header summary "$K"
check kineto-says-what-it-is grep -q 'NVIDIA H200, CUDA 13.0; 2026-11-20T08:05:02Z; import kineto: api gpu user overhead' want.out
check kineto-summary grep -q 'Kernel launches: 732' want.out
want kineto-gpu 0 "$B/gtanalyze" gpu "$K"
check kineto-gpu-is grep -q '691  python3       0  NVIDIA H200      732      41    96  7.672 ms' want.out
"$B/gtanalyze" top --format csv "$K" >whole.csv 2>whole.err
cat "$K" | "$B/gtanalyze" top --format csv - >pipe.csv 2>pipe.err; same kineto-through-a-pipe whole.csv pipe.csv
"$B/gtexport" --native -o kineto.zst kineto.json
"$B/gtanalyze" top --format csv kineto.zst >native.csv 2>native.err; same kineto-kept whole.csv native.csv
# The forward operators of its backward pass: by sequence numbers, by the profiler's arrows, and by both.
sed 's/"fwdbwd"/"other"/' kineto.json >by-numbers.json; sed 's/"Sequence number"/"other"/; s/"Fwd thread id"/"other"/' kineto.json >by-arrows.json
for f in kineto by-numbers by-arrows; do "$B/gtanalyze" kernels --by function --format csv $f.json >$f.csv 2>$f.err; done
check kineto-has-forward-operators grep -q '^aten::addmm,' kineto.csv
same kineto-forward-by-numbers kineto.csv by-numbers.csv
same kineto-forward-by-arrows kineto.csv by-arrows.csv
head -c 1000000 kineto.json >cut.json
want kineto-cut 0 "$B/gtanalyze" cut.json
check kineto-cut-is-reported grep -q "is truncated: its end is missing)" want.out

event() { printf '%s{"ph":"X","cat":"%s","name":"%s","pid":%s,"tid":%s,"ts":%s,"dur":%s,"args":{%s}}\n' "$@"; }
# The same for calls of AMD's HIP. Memory that a loop frees has hipFree in its table.
amd() {
	printf '{"schemaVersion":1,"traceEvents":['
	event '' cuda_runtime hipLaunchKernel 10 11 1 1 '"cid":107,"correlation":1'
	event , kernel add 2 0 5 95 '"device":2,"stream":0,"correlation":1,"kind":"Dispatch Kernel"'
	event , cuda_runtime hipFree 10 11 3 90 '"cid":69,"correlation":2'
	event , cuda_runtime hipStreamSynchronize 10 11 94 9 '"cid":199,"correlation":3'
	printf ',{"ph":"M","name":"process_name","pid":10,"args":{"name":"python3"}}'
	printf ',{"ph":"M","name":"thread_name","pid":10,"tid":11,"args":{"name":"main"}}'
	printf ']}\n'
}
amd >amd.json
"$B/gtexport" --chrome -f -o ours.json amd.json
for report in kernels sync categories; do
	"$B/gtanalyze" $report --format tsv amd.json >before.tsv 2>before.err
	"$B/gtanalyze" $report --format tsv ours.json >after.tsv 2>after.err
	same "chrome-of-hip-comes-back-$report" before.tsv after.tsv
	cp after.tsv "$report.tsv"
done
is hip-calls-come-back "$(figure calls amd.json)" "$(figure calls ours.json)"
check hip-free-is-memory grep -q '^memory	1	' categories.tsv

# One event that is not JSON and one value that is not a number: the rest is read, and both are counted.
{ printf '\357\273\277{"schemaVersion":1,"traceEvents":[\n'
  event '' python_function 'f("x")' 10 11 1 1 ''
  event , cuda_runtime hipLaunchKernel 10 11 1 1 '"cid":107,"correlation":1'
  event , kernel add 2 0 5 95 '"device":2,"stream":0,"correlation":1,"est. achieved occupancy %":-nan'
  printf ']}\n'; } >damaged.json
want damaged 0 "$B/gtanalyze" damaged.json
check damaged-is-reported grep -q 'of the imported file 1 event is not JSON and was skipped)' want.out
check no-number-is-reported grep -q 'of the imported file 1 value is not a number (inf, nan) and was left out)' want.out
is damaged-rest-is-read '1 1 0' "$(for k in calls gpu_operations lost; do figure $k damaged.json; done | tr '\n' ' ' | sed 's/ $//')"
want damaged-export 0 "$B/gtexport" --native -f -o damaged.zst damaged.json
check export-tells-damaged grep -q 'damaged.json: events skipped because they are not JSON: 1$' want.err
check export-tells-no-number grep -q 'damaged.json: values omitted because they are not numbers (inf, nan): 1$' want.err

# Allocations of PyTorch's allocators are exported by --chrome as they were imported: whether it is a free, its size, its device.
allocations() {
	printf '{"schemaVersion":1,"traceEvents":['
	for row in '1 512 4096 0 1' '2 256 8192 0 1' '3 -512 4096 0 1' '4 64 65536 -1 0' '5 128 12288 1 1'; do
		set -- $row
		[ $1 = 1 ] || printf ,
		printf '{"ph":"i","s":"t","name":"[memory]","cat":"cpu_instant_event","pid":10,"tid":11,"ts":%d,' $1
		printf '"args":{"Bytes":%d,"Addr":%d,"Device Id":%d,"Device Type":%d}}' $2 $3 $4 $5
	done
	printf ']}\n'
}
allocations >allocations.json
want allocations-to-chrome 0 "$B/gtexport" --chrome -f -o allocated.json allocations.json
check allocations-have-kineto-names grep -qF '"cat":"cpu_instant_event","ph":"i","s":"t","pid":10,"tid":11,"ts":2.000,"args":{"Bytes":-512,"Device Id":0,"Device Type":1,"Addr":"0x1000"}' \
	allocated.json
for f in allocations allocated; do "$B/gtanalyze" memory --format csv $f.json 2>/dev/null | sed 5q >$f.csv; done
check allocations-are-there grep -q '^pool,3,0,1,' allocations.csv
same allocations-come-back allocations.csv allocated.csv

# Arguments of collective operations are imported. query selects them by their names, which contain spaces.
collective() {
	printf '{"schemaVersion":1,"traceEvents":['
	event '' kernel ncclDevKernel_AllReduce 0 7 5 1 '"device":0,"stream":7,"Collective name":"allreduce","In msg nelems":1024,"Group size":8'
	event , kernel ncclDevKernel_Gather 0 7 9 1 '"device":0,"stream":7,"Collective name":"gather","In msg nelems":16,"Group size":2'
	printf ']}\n'
}
collective >collective.json
is collective-by '"name,arg.Group size,sum_arg.In msg nelems" ncclDevKernel_AllReduce,8,1024' "\"$("$B/gtanalyze" query --format csv \
	--where "arg.'Group size'>=8" --by 'name,arg.Group size' --agg 'sum(arg.In msg nelems)' collective.json 2>collective.err |
	tr -d '\r' | sed '1s/$/"/' | tr '\n' ' ' | sed 's/ $//')"

# More different kernels than a trace may have names: the rest share one name, and no row is lost.
awk 'BEGIN {
	printf "{\"schemaVersion\":1,\"traceEvents\":["
	for (i = 0; i <= 360000; i++)
		printf "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"ts\":%d,\"dur\":1,\"args\":{\"device\":0,\"stream\":7,\"context\":1,\"correlation\":1,\"grid\":[1,1,1],\"block\":[1,1,1],\"shared memory\":0,\"registers per thread\":1}}",
			i ? "," : "", i % 360000 ? "k" i : "first", i * 2
	print "]}"
}' >kernels.json
want many-kernels 0 "$B/gtexport" --native -f -o kernels.zst kernels.json
is many-kernels-are-there "360001 2" "$("$B/gtanalyze" query --format csv --agg count kernels.zst 2>/dev/null | tr -d '\r' | sed -n 2p) $(
	"$B/gtanalyze" query --format csv --where 'name==first' --agg count kernels.zst 2>/dev/null | tr -d '\r' | sed -n 2p)"
rm -f kernels.json kernels.zst

# Pending work of waits: another stream is busy for a long time, so only the row of a wait gives the stream and whether it has pending work.
waits() {	# waits yes|no: with or without rows of waits
	printf '{"schemaVersion":1,"traceEvents":['
	event '' cuda_runtime cudaLaunchKernel 10 11 1 1 '"cbid":211,"correlation":1'
	event , cuda_runtime cudaLaunchKernel 10 11 3 1 '"cbid":211,"correlation":2'
	event , kernel long 0 9 5 95 '"device":0,"context":1,"stream":9,"correlation":1'
	event , kernel short 0 7 6 10 '"device":0,"context":1,"stream":7,"correlation":2'
	event , cuda_runtime cudaStreamSynchronize 10 11 8 10 '"cbid":131,"correlation":3'
	event , cuda_runtime cudaStreamSynchronize 10 11 30 2 '"cbid":131,"correlation":4'
	[ "$1" = no ] || event , cuda_sync "Stream Sync" 0 1000007 9 8 '"device":0,"context":1,"stream":7,"correlation":3'
	[ "$1" = no ] || event , cuda_sync "Stream Sync" 0 1000007 31 1 '"device":0,"context":1,"stream":7,"correlation":4'
	printf ']}\n'
}
waits yes >waits.json; waits no >no_waits.json
is waits-are-reported '10,,11,,cudaStreamSynchronize,stream 7,2,12000,10000,7000,12000,0,1,2000,0,0,12000,7' \
	"$("$B/gtanalyze" sync --format csv waits.json 2>waits.err | tr -d '\r' | sed -n 3p)"
want waits-missing 0 "$B/gtanalyze" sync no_waits.json
check waits-missing-is-reported grep -q 'for 2 unknown waits for a stream it was not recorded which stream (PyTorch' want.out

# strace: each report can answer; the counts equal those of grep; -ff writes one file per thread.
T=$SRC/samples/recorded/strace-many-threads.txt.gz
gzip -dc "$T" >strace.txt
strace_calls() { grep -c '^[0-9]* [0-9.]* [a-z][a-z0-9_]*(' strace.txt; }
want strace 0 "$B/gtanalyze" header "$T"
check strace-says-what-it-is grep -qF '2026-11-24T18:51:20Z; import strace: ioctl syscall' want.out
check strace-has-the-command grep -qF ': ./many_threads -t 2 -n 2' want.out
lacks() { ! grep -q "$1" want.out; }
check strace-understands-every-line lacks 'not strace'
is strace-calls "$(strace_calls)" "$(figure calls "$T")"
is strace-threads 5 "$(figure threads "$T")"
for r in top ioctls driver slowest errors threads histogram timeline layers; do
	want strace-$r 0 "$B/gtanalyze" $r "$T"
	check strace-$r-answers lacks 'cannot answer'
done
want strace-pauses 4 "$B/gtanalyze" pauses "$T"
"$B/gtanalyze" ioctls --top 0 --format tsv "$T" >ioctls.tsv 2>ioctls.err
check strace-names-requests grep -q 'ioctl UVM_REGISTER_CHANNEL	' ioctls.tsv
is strace-requests "$(grep -c 'ioctl([0-9]*<[^>]*nvidia' strace.txt)" "$(awk -F '\t' '/ioctl [A-Z]/ { n += $3 } END { print n }' ioctls.tsv)"
"$B/gtanalyze" top --format csv strace.txt >whole.csv 2>whole.err
"$B/gtexport" --native -o strace.zst "$T"
"$B/gtanalyze" top --format csv strace.zst >native.csv 2>native.err; same strace-kept whole.csv native.csv
"$B/gtexport" --chrome -f -o strace.json "$T"
"$B/gtanalyze" top --format csv strace.json >chrome.csv 2>chrome.err; same strace-as-chrome whole.csv chrome.csv
{ sed 's/^/[pid /; s/ /] /2' strace.txt | sed '1,100s/ <[0-9.]*>$//'; echo 'a line of the program'; } >untimed.txt
want strace-untimed 0 "$B/gtanalyze" header untimed.txt
check strace-untimed-is-reported grep -q 'calls have no duration and count as 0 ns (strace -T prints it)' want.out
check strace-others-are-reported grep -q "1 line is not strace's or is damaged" want.out
sed 's/^\([0-9]*\) [0-9.]* /\1 /' strace.txt >timeless.txt
want strace-timeless 1 "$B/gtanalyze" timeless.txt
check strace-timeless-is-reported grep -q "strace's output without times: record it with strace -f -ttt -T -y" want.err
awk '{ tid = $1; $1 = ""; print substr($0, 2) >("calls." tid) }' strace.txt
want strace-per-thread 0 "$B/gtanalyze" threads --format tsv calls.*
is strace-per-thread-threads 5 "$(grep -c '^calls' want.out)"
for w in 80 120; do
	want strace-view-$w 0 "$B/gtview" --render ${w}x24 "$T"
	check strace-view-$w-shows grep -q 'futex' want.out
done

# The flight recorder's files of two ranks: rank 1 enqueues each collective 3 ms late, lacks the third one, and has not come to
# the last one, which is open on rank 0.
entry() { printf '%s{"record_id":%d,"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":%d,"profiling_name":"nccl:all_reduce","time_created_ns":1790000000%03d000000,"state":"%s","time_discovered_completed_ns":%s,"duration_ms":%d,"frames":[{"name":"step","filename":"/home/u/train.py","line":24}]}' "$@"; }
{ printf '{"entries":['
  for i in 0 1 2 3 4; do entry "$([ $i = 0 ] || echo ,)" $i $i ${i}0 completed 17900000000${i}9000000 8; done
  entry , 5 5 50 started 0 8; printf ']}\n'; } | sed 's/\("state":"started"[^}]*\),"duration_ms":8/\1/' >nccl_trace_rank_0.json
{ printf '{"entries":['
  for i in 0 1 3 4; do entry "$([ $i = 0 ] || echo ,)" $i $i ${i}3 completed 17900000000${i}9000000 5; done; printf ']}\n'; } >nccl_trace_rank_1.json
want flight-recorder 0 "$B/gtanalyze" collectives nccl_trace_rank_0.json nccl_trace_rank_1.json
check flight-recorder-open grep -q '^  (rank 0: 1 collective of the imported file has not completed: it counts as open)' want.out
check flight-recorder-late grep -Eq '^  1 .* 4 +4 .* 4 +3.000 ms +12.00 ms$' want.out
check flight-recorder-lacks-one grep -q '(1 kernel has no counterpart on another GPU' want.out
is flight-recorder-lines 5 "$("$B/gtanalyze" kernels --by line --format csv nccl_trace_rank_0.json 2>fr.err | tr -d '\r' | sed -n 's/^step (train.py:24),\([0-9]*\),.*/\1/p')"

is flight-recorder-numbers '0:0:5 1:0:4' "$("$B/gtanalyze" query --by 'recording,arg.Process Group Name' --agg 'max(arg.sequence)' \
	--format csv nccl_trace_rank_0.json nccl_trace_rank_1.json 2>fr.err | tr -d '\r' | sed -n 's/^\([01]\),\([0-9]\),\([0-9]\)$/\1:\2:\3/p' | sort | tr '\n' ' ' | sed 's/ $//')"

# NCCL's inspector: rank 0 waits 200 us for rank 1 at each collective that both have.
inspector() { printf '{"header":{"id":"0x7f8c","rank":%d,"n_ranks":2,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":174803037700%d000,"hostname":"n","pid":16},"coll_perf":{"coll":"AllReduce","coll_sn":%d,"coll_msg_size_bytes":1048576,"coll_exec_time_us":%d}}\n' "$@"; }
for i in 0 1 2 3 4 5; do [ $i = 2 ] || inspector 0 $i $i 700 >>n0.log; [ $i = 4 ] || inspector 1 $i $i 500 >>n1.log; done
want inspector 0 "$B/gtanalyze" collectives n0.log n1.log
check inspector-late grep -Eq '^  n1.log .* 5 +4 .* 4 +200.0 us +800.0 us$' want.out
check inspector-lost grep -q '(n0.log: LOST: 1 event' want.out
check inspector-placed grep -q '(n1.log: of the imported file 5 collectives have a duration, but neither start nor end' want.out
