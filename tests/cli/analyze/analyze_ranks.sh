# gtanalyze with several files: the ranks of one run, merged or one by one (--per-rank).
. "$SRC/tests/lib.sh"

A=$B/gtanalyze X=$B/gtexport R=$SRC/samples/recorded
rows() { tr -d '\r' <want.out | sed -n "/^# $1$/,/^$/p" | sed '1,2d;/^$/d'; }

# ---- two files give the figures of one file that contains both ----
mkdir rank0 rank1
cp "$R/h200-streams.zst" rank0/trace.zst
cp "$R/h200-graphs.zst" rank1/trace.zst
cat rank0/trace.zst rank1/trace.zst >one.zst
all=$($A --list --format csv | tr -d '\r' | sed '1d;s/,.*//' | grep -v -e '^header$' -e '^query$' -e '^histogram$')
for format in json csv; do
	"$A" --format $format $all one.zst 2>one.err | sed '/"header": {/,/^  },/d; s,gtview --at [^ ]* one.zst,gtview,' >one
	"$A" --format $format $all rank0/trace.zst rank1/trace.zst 2>two.err | sed '/"header": {/,/^  },/d' |
		sed 's/"rank": "rank\([01]\)"/"recording": \1/g; s/"rank": null/"recording": null/; s/^rank\([01]\),/\1,/; s/^rank,/recording,/; s/rank\([01]\): /recording \1: /g; s/ of rank\([01]\) / of recording \1 /g; s,gtview --at [^ ]* [a-z01/]*trace.zst,gtview,; s/"columns": \["rank"/"columns": ["recording"/' >two
	same ranks-as-one-file-$format one two
done
want ranks-text 0 "$A" budget kernels rank0/trace.zst rank1/trace.zst
check ranks-text-header stdout_has "2 files, read as the ranks of one run (--per-rank: each separately)"
check ranks-text-column grep -Eq '^  Rank +PID +Process' want.out
check ranks-text-row grep -Eq '^  rank1 +616' want.out
is ranks-same-machine-is-named-once 1 "$(grep -c 'NVIDIA H200, driver' want.out)"

# ---- a folder of ranks ----
mkdir folder nothing
cp "$R/h200-streams.zst" folder/rank2.zst
cp "$R/h200-graphs.zst" folder/rank10.zst
echo notes >folder/notes.txt; echo hidden >folder/.hidden; mkdir folder/sub; cp "$R/h200-streams.zst" folder/sub/rank3.zst
want ranks-folder 0 "$A" kernels --format csv folder; cp want.out folder.csv
check ranks-folder-names-the-others stderr_has 'gtanalyze: files in the folder that are not traces, and are skipped: 1'
want ranks-files 0 "$A" kernels --format csv folder/rank2.zst folder/rank10.zst
same ranks-folder-is-its-files want.out folder.csv
want ranks-folder-order 0 "$A" header folder/
is ranks-folder-by-number 'rank2.zst rank10.zst' "$(sed -n 's/^\(rank[0-9]*.zst\): .* calls.*/\1/p' want.out | paste -s -d ' ')"
want ranks-folder-one 0 "$A" header folder/sub
check ranks-folder-one-is-a-file stdout_has 'folder/sub/rank3.zst: '
want ranks-nothing 1 "$A" nothing
check ranks-nothing-message stderr_has 'gtanalyze: nothing: this folder contains no trace'
want ranks-folder-export 1 "$X" --jsonl -o - folder
check ranks-folder-export-message stderr_has 'gtexport: folder: is a folder: name one of the traces in it'

# ---- a recording that was split into one file for each process ----
# The figures of all parts together are those of the whole file.
for pid in 674 708 709; do "$X" --native --pid $pid -o part$pid.zst "$R/h200x2-nccl.zst" 2>/dev/null; done
without_rank() { awk '/^#/ || NF == 0 { titles = 1; print; next } NR == 1 || titles { cut = /^rank,/; titles = 0 } { if (cut) sub(/^[^,]*,/, ""); print }'; }
for report in kernels copies cuda_gpu_kern_sum cuda_gpu_mem_time_sum cuda_api_sum top categories ioctls overlap collectives; do
	"$A" --format csv $report "$R/h200x2-nccl.zst" 2>/dev/null | tr -d '\r' | sort >whole
	"$A" --format csv $report part*.zst 2>/dev/null | tr -d '\r' | without_rank | sort >parts
	same ranks-split-$report whole parts
done

# ---- text has one section per rank, csv one table with a column rank ----
want ranks-apart 0 "$A" steps critical top --top 1 rank0/trace.zst rank1/trace.zst
is ranks-apart-headings "=== rank0/trace.zst === === rank1/trace.zst ===" "$(grep '^===' want.out | paste -s -d ' ')"
is ranks-apart-tables "1 2 2" "$(for t in 'Operations by' 'Steps' 'Critical path by kind'; do grep -c "^$t" want.out; done | paste -s -d ' ')"
want ranks-apart-csv 0 "$A" steps critical --format csv rank0/trace.zst rank1/trace.zst
is ranks-apart-csv-rank rank0,rank1 "$(rows steps | cut -d, -f1 | paste -s -d,)"
"$A" steps --top 1 rank0/trace.zst | sed '1,/^Steps/d' >alone
"$A" steps --top 1 rank0/trace.zst rank1/trace.zst | sed '1,/^Steps/d;/^===/,$d' | sed '$d' >apart
# the times of two ranks of one machine start at the earlier rank
sed 's/ [0-9]*\.[0-9]\{9\} / TIME /;s/  *TIME/ TIME/' alone >alone-but-times
sed 's/ [0-9]*\.[0-9]\{9\} / TIME /;s/  *TIME/ TIME/' apart >apart-but-times
same ranks-apart-as-alone alone-but-times apart-but-times

# ---- --per-rank ----
want ranks-each 0 "$A" --per-rank top --top 1 rank0/trace.zst rank1/trace.zst
"$A" top --top 1 rank0/trace.zst >each; echo >>each; "$A" top --top 1 rank1/trace.zst >>each
same ranks-each-as-alone each want.out

# ---- rank numbers in the files; files with and without one ----
chrome() {	# RANK START_US
	cat <<END_OF_CHROME
{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":$1,"world_size":3},"baseTimeNanoseconds":1000,"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":$2,"dur":10,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":$(($2 + 20)),"dur":$3,"args":{"device":0,"stream":7,"correlation":1}}]}
END_OF_CHROME
}
chrome 10 5000 100 >z.json; chrome 2 70000 100 >a.json; chrome 0 9 900 | gzip >m.json.gz
want ranks-numbers 0 "$A" gpu --format csv z.json a.json m.json.gz
is ranks-numbers-sorted 0,2,10 "$(rows gpu | cut -d, -f1 | paste -s -d,)"
want ranks-numbers-json 0 "$A" header --format json z.json a.json m.json.gz
check ranks-numbers-header stdout_has '{"file": "m.json.gz", "rank": "0"'
want ranks-numbers-heading 0 "$A" timeline z.json a.json
is ranks-numbers-headings "=== rank 2: a.json === === rank 10: z.json ===" "$(grep '^===' want.out | paste -s -d ' ')"
want ranks-mixture 0 "$A" cuda_gpu_kern_sum --format csv rank0/trace.zst a.json
is ranks-mixture-sums "4301 1" "$(sed 1d want.out | cut -d, -f3 | awk '{ s += $1 } END { print s }') $(grep -c ',gemm,' want.out)"
want ranks-mixture-names 0 "$A" gpu --format csv rank0/trace.zst a.json
is ranks-mixture-files trace.zst,a.json "$(rows gpu | cut -d, -f1 | paste -s -d,)"

# An example command opens the file of one rank; its times are relative to that file's start.
"$A" --format json advice rank0/trace.zst rank1/trace.zst >two.json
seen() { jq -r '.advice.rows[] | select(.rank == "rank1" and .state == "found") | .command' two.json | sort | head -n 1; }
check ranks-command-names-file test "$(seen | sed 's/.* //')" = rank1/trace.zst
own() { "$A" --format json advice rank1/trace.zst | jq -r '.advice.rows[] | select(.state == "found") | .command'; }
check ranks-command-counts-from-its-start sh -c 'echo "$2" | grep -qxF "$1"' - "$(seen)" "$(own)"

# One rank has more work than the other.
chrome 0 10 1000 >b.json; chrome 1 10 100 >c.json
want ranks-unbalanced 3 "$A" advice b.json c.json
check ranks-unbalanced-message stdout_has "GPU 0 of rank 0 works for 1.000 ms (without communication) and GPU 0 of rank 1 for 100.0"
want ranks-gate 3 "$A" header --fail-if 'gpu.kernels < 5' --fail-if 'gpu.busy_ns[1] > 500us' b.json c.json
check ranks-gate-names-rank grep -Eq '^  failed +gpu.kernels < 5 +[01] / ' want.out
check ranks-gate-picks-rank grep -Eq '^  passed +gpu.busy_ns\[1\] > 500us' want.out

# Collectives of ranks with different clocks: they are matched by order within a communicator, and waits are computed from durations.
nccl() {	# RANK START_US DURATION_US [GROUP]: 20 all-reduces
	printf '{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":%s,"world_size":2},"baseTimeNanoseconds":1000,"traceEvents":[\n' "$1"
	awk -v at="$2" -v dur="$3" -v group="${4:+,\"Process Group Name\":\"$4\"}" 'BEGIN { for (i = 0; i < 20; i++) printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d%s}}%s\n", at + 100 * i - dur, dur, i + 1, group, i < 19 ? "," : "]}" }'
}
nccl 0 1000 50 0 >early.json; nccl 1 777000 20 0 >late.json
want ranks-late 0 "$A" collectives --format csv early.json late.json
is ranks-late-waits "1,20,0,20,600000 0,20,600000,0,0" "$(rows collectives | cut -d, -f 1,6,8,12,14 | paste -s -d ' ')"
want ranks-late-json 0 "$A" collectives --format json early.json late.json
check ranks-late-communicator stdout_has '"communicator": "0"'
want ranks-late-advice 3 "$A" advice early.json late.json
tr -s ' \n' ' ' <want.out >one-line; mv one-line want.out
check ranks-late-is-named stdout_has "GPU 0 of rank 1 arrives last at 20 of 20 collectives, 30.00 us after the first on average"
nccl 0 1000 50 >early.json; nccl 1 777000 20 >late.json
want ranks-late-unknown 4 "$A" collectives early.json late.json
check ranks-late-unknown-message stdout_has "no collective of two GPUs was found: their clocks differ"
nccl 0 1000 50 0 >early.json; nccl 1 777000 20 1 >late.json
want ranks-late-other-communicator 4 "$A" collectives early.json late.json
# Two pairs of GPUs with the same clock run at the same time: their communicators keep their collectives separate.
{
	printf '{"schemaVersion":1,"baseTimeNanoseconds":1000,"traceEvents":[\n'
	awk 'BEGIN { split("0 30 1 5", late, " "); for (i = 0; i < 20; i++) for (g = 0; g < 4; g++) printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":%d,\"stream\":7,\"correlation\":%d,\"Process Group Name\":\"%d\"}}%s\n", 1000 + 100 * i + late[g + 1], 60 - late[g + 1], g, 4 * i + g + 1, g / 2, i < 19 || g < 3 ? "," : "]}" }'
} >pairs.json
want pairs 0 "$A" collectives --format csv pairs.json
is pairs-waits "1,20,0,600000 3,20,0,80000 0,20,600000,0 2,20,80000,0" "$(tr -d '\r' <want.out | awk '/^# collectives_names/ { exit } /^[0-9]/' | cut -d, -f 3,5,7,13 | paste -s -d ' ')"

# Clocks that cannot be compared: --from and --to are relative to the start of each file.
want ranks-range 0 "$A" query --by recording --format csv --to 15us z.json a.json
is ranks-range-each 1,1 "$(sed 1d want.out | cut -d, -f2 | paste -s -d,)"

# Each imported file keeps a descriptor: their number may exceed the soft limit of open files.
mkdir limit
for i in $(seq 80); do echo '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cuda_runtime","name":"cudaFree","pid":1,"tid":2,"ts":'$i',"dur":2}]}' >limit/$i.json; done
(ulimit -Sn 64; exec "$A" header limit >limit.out 2>limit.err); is ranks-limit-status 0 $?
check ranks-limit grep -q '^80 files, read as' limit.out

# ---- unreadable files, and a recording that is given twice ----
echo broken >broken.zst
head -c 60000 rank0/trace.zst >cut.zst
cp rank0/trace.zst copy.zst
want ranks-broken 1 "$A" top rank0/trace.zst broken.zst none.zst rank1/trace.zst
check ranks-broken-message stderr_has "gtanalyze: broken.zst: byte 0: not a gt trace: it looks like something else"
check ranks-missing-message stderr_has "gtanalyze: none.zst: cannot open: No such file or directory"
check ranks-broken-message stdout_has "(broken.zst could not be read: no figure includes it)"
check ranks-broken-others stdout_has "2 files, read as the ranks of one run"
want ranks-all-broken 1 "$A" top broken.zst none.zst
check ranks-all-broken-nothing test ! -s want.out
want ranks-twice 0 "$A" top --format csv rank0/trace.zst ./rank0/trace.zst copy.zst rank1/trace.zst
is ranks-twice-message 2 "$(grep -c "the same recording as rank0/trace.zst: it is counted once" want.err)"
sed 1,1d want.out >twice; "$A" top --format csv rank0/trace.zst rank1/trace.zst 2>/dev/null | sed 1,1d >once
same ranks-twice-counts-once once twice
want ranks-cut 0 "$A" top cut.zst rank1/trace.zst
check ranks-cut-message stdout_has "(cut.zst: NOT CLOSED: complete to "
want ranks-cut-and-whole 0 "$A" top --format csv cut.zst rank1/trace.zst rank0/trace.zst
check ranks-cut-is-known stderr_has "cut.zst is the same recording as rank0/trace.zst: it is counted once"
want ranks-no-gpu 0 "$A" kernels "$R/h200-mlp-calls.zst" rank1/trace.zst
check ranks-no-gpu-message stdout_has "(h200-mlp-calls.zst: it has no GPU operations: GPU reports cover the others)"
want ranks-stdin 0 sh -c "\"$A\" gpu --format csv - rank1/trace.zst <rank0/trace.zst"
is ranks-stdin-names "-,trace.zst" "$(rows gpu | cut -d, -f1 | paste -s -d,)"

# ---- many files ----
n=0; files=
while [ $n -lt 64 ]; do chrome $n $((n * 1000)) 50 >many$n.json; files="$files many$n.json"; n=$((n + 1)); done
want ranks-many 0 "$A" kernels gpu $files
check ranks-many-sum grep -Eq '^  gemm +64 +3.200 ms' want.out
check ranks-many-header stdout_has "and 44 more"
want ranks-many-csv 0 "$A" gpu --format csv $files
is ranks-many-in-order "$(seq 0 63 | paste -s -d,)" "$(rows gpu | cut -d, -f1 | paste -s -d,)"
