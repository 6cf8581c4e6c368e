. "$SRC/tests/lib.sh"
X=$B/gtexport
R=$SRC/samples/recorded/h200-nvtx.zst

# Parquet: a folder of files. tests/consumers reads their contents.
want parquet 0 "$X" --parquet -o p "$R"
for t in CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_RUNTIME NVTX_EVENTS StringIds metadata ENUM_CUDA_MEM_KIND; do
	is parquet-begins-$t PAR1 "$(head -c 4 p/$t.parquet)"
	is parquet-ends-$t PAR1 "$(tail -c 4 p/$t.parquet)"
done
check parquet-has-only-tables-with-rows test ! -e p/CUPTI_ACTIVITY_KIND_MEMSET.parquet
want parquet-no-stream 2 "$X" --parquet -o - "$R"
says parquet-no-stream-message 'gtexport: --parquet writes no stream'
want parquet-refuses 1 "$X" --parquet -o p "$R"
says parquet-refuses-message 'p exists and is not empty'
want parquet-force 0 "$X" --parquet -f -o p --match 'cuLaunch*' "$R"
check parquet-force-removes-old-tables test ! -e p/NVTX_EVENTS.parquet -a -e p/CUPTI_ACTIVITY_KIND_RUNTIME.parquet
want parquet-one-table 0 "$X" --parquet -f -o p --table metadata "$R"
check parquet-one-table-keeps-others test -e p/CUPTI_ACTIVITY_KIND_RUNTIME.parquet
# a table that is named has its columns, even without rows
want parquet-no-rows 0 "$X" --parquet -o none --table CUPTI_ACTIVITY_KIND_MEMSET "$R"
is parquet-no-rows-file CUPTI_ACTIVITY_KIND_MEMSET.parquet "$(ls none)"
is parquet-no-rows-ends PAR1 "$(tail -c 4 none/*)"
check parquet-no-rows-columns grep -q memKind none/CUPTI_ACTIVITY_KIND_MEMSET.parquet
mkdir own; echo mine >own/notes.txt
want parquet-in-use 1 "$X" --parquet -o own "$R"
is parquet-in-use-kept notes.txt "$(ls own)"
want parquet-file-in-place 1 "$X" --parquet -o own/notes.txt "$R"
says parquet-file-in-place-message 'is not a folder'
cp "$R" t.zst
want parquet-default-name 0 "$X" --parquet t.zst
check parquet-default-folder test -s t.parquet/StringIds.parquet
says parquet-default-message 'wrote t.parquet'
# a failure leaves nothing
(ulimit -f 8; trap '' XFSZ; exec "$X" --parquet -o full "$R") >want.out 2>want.err
is parquet-full-disk 1 $?
says parquet-full-disk-message 'full/.*: File too large'
check parquet-full-disk-leaves-nothing test ! -e full

# Arrow: streams, each from its schema to its mark of the end; the names come first.
want arrow 0 "$X" --arrow -o a.arrows "$R"
is arrow-begins 'ffffffff' "$(head -c 4 a.arrows | od -An -tx1 | tr -d ' ')"
is arrow-ends 'ffffffff00000000' "$(tail -c 8 a.arrows | od -An -tx1 | tr -d ' ')"
tables_of() { tr -c 'A-Za-z_' '\n' <"$1" | grep -c '^table_name$'; }
rm -rf p; "$X" --parquet -o p "$R"
is arrow-has-all-tables "$(ls p | wc -l)" "$(tables_of a.arrows)"
want arrow-one-table 0 "$X" --arrow --table NVTX_EVENTS -o - "$R"
is arrow-one-table-alone 1 "$(tables_of want.out)"
want arrow-no-rows 0 "$X" --arrow --table CUPTI_ACTIVITY_KIND_MEMSET -o - "$R"
is arrow-no-rows-table 1 "$(tables_of want.out)"
is arrow-no-rows-ends 'ffffffff00000000' "$(tail -c 8 want.out | od -An -tx1 | tr -d ' ')"
want arrow-no-such-table 2 "$X" --arrow --table nothing -o - "$R"
says arrow-no-such-table-message '--table nothing: there is no such table'

# SQLite: Nsight's queries have the results of gtanalyze.
want sqlite-no-stream 2 "$X" --sqlite -o - "$R"
says sqlite-no-stream-message '--sqlite writes no stream: give a name with -o'
want sqlite-no-output 2 "$X" --sqlite "$R"
mkfifo pipe
want sqlite-to-a-pipe 2 "$X" --sqlite -f -o pipe "$R"
says sqlite-to-a-pipe-message 'pipe is a pipe'
want sqlite-not-compressed 2 "$X" --sqlite -o x.gz "$R"
says sqlite-not-compressed-message 'choose a name without .gz'
(ulimit -f 8; trap '' XFSZ; exec "$X" --sqlite -o full.sqlite "$R") >want.out 2>want.err
is sqlite-full-disk 1 $?
says sqlite-full-disk-message 'File too large'
check sqlite-full-disk-leaves-nothing test ! -e full.sqlite
want sqlite 0 "$X" --sqlite -o d.sqlite "$R"
command -v sqlite3 >/dev/null || { skip sqlite-queries "no sqlite3"; exit 0; }
sql() { sqlite3 -separator ' ' d.sqlite "$1"; }
# report NAME COLUMNS QUERY: does the report have, in these columns, the rows of the query? In any order.
report() {
	"$B/gtanalyze" --no-pager --format tsv --top 0 "$1" "$R" 2>/dev/null | awk -F '\t' -v want="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, k, ","); next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[k[i]], i < n ? " " : "\n" }' | sort >expected
	sql "$3" | sort >got
	check sqlite-$1-has-rows test -s got
	same sqlite-$1 expected got
}
is sqlite-is-whole ok "$(sql 'PRAGMA integrity_check')"
names='JOIN StringIds s ON s.id ='
report cuda_gpu_kern_sum total_ns,instances,min_ns,max_ns,name "SELECT sum(end - start), count(*), min(end - start), max(end - start), s.value FROM CUPTI_ACTIVITY_KIND_KERNEL $names demangledName GROUP BY demangledName"
report cuda_api_sum total_ns,num_calls,min_ns,max_ns,name "SELECT sum(end - start), count(*), min(end - start), max(end - start), s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME $names nameId GROUP BY nameId"
report cuda_gpu_mem_size_sum total_bytes,count,min_bytes,max_bytes,operation "SELECT sum(bytes), count(*), min(bytes), max(bytes), '[CUDA memcpy ' || e.label || ']' FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN ENUM_CUDA_MEMCPY_OPER e ON e.id = copyKind GROUP BY copyKind"
report nvtx_sum total_ns,instances,min_ns,max_ns,range "SELECT sum(end - start), count(*), min(end - start), max(end - start), coalesce(text, s.value) FROM NVTX_EVENTS LEFT $names textId WHERE eventType IN (59, 60) GROUP BY textId"
report cuda_kern_exec_trace api_start_ns,api_dur_ns,kernel_start_ns,kernel_dur_ns,pid,tid,dev_id,api_function "SELECT r.start, r.end - r.start, k.start, k.end - k.start, (r.globalTid >> 24) & 0xffffff, r.globalTid & 0xffffff, deviceId, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON k.correlationId = r.correlationId AND k.globalPid = (r.globalTid & 0xffffffffff000000) $names r.nameId"
is sqlite-threads-have-names "$(sql 'SELECT count(DISTINCT globalTid) FROM ThreadNames')" "$(sql 'SELECT count(DISTINCT t.globalTid) FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId')"
is sqlite-every-name-exists 0 "$(sql 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId NOT IN (SELECT id FROM StringIds)')"

# selected rows, and only the names that they need
want sqlite-selected 0 "$X" --sqlite -f -o d.sqlite --match cuInit "$R"
is sqlite-selected-calls cuInit "$(sql "SELECT DISTINCT s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME $names nameId")"
is sqlite-selected-names 0 "$(sql "SELECT count(*) FROM StringIds WHERE value LIKE 'cuLaunch%'")"
is sqlite-selected-cut '{"cut":{"match":["cuInit"],"exclude":[]}}' "$(sql "SELECT value FROM metadata WHERE name = 'cut'")"
want sqlite-range 0 "$X" --sqlite -f -o d.sqlite --from 4.3s --to 4.31s "$R"
is sqlite-range-rows 0 "$(sql 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE end < 4300000000 OR start > 4310000000')"
want sqlite-no-process 0 "$X" --sqlite -f -o d.sqlite --pid 1 "$R"
is sqlite-no-process-no-table 0 "$(sql "SELECT count(*) FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_RUNTIME'")"

want sqlite-no-rows 0 "$X" --sqlite -f -o d.sqlite --table CUPTI_ACTIVITY_KIND_MEMSET "$R"
is sqlite-no-rows-table 0 "$(sql 'SELECT count(memKind) FROM CUPTI_ACTIVITY_KIND_MEMSET')"

# names that could be formulas, code or invalid text stay text
printf '%s\n' '{"ts":0.1,"op_id":0,"phase":"B","name":"=cmd()","pid":7,"tid":8,"details":{}}' \
	'{"ts":0.2,"op_id":0,"phase":"E","name":"=cmd()","pid":7,"tid":8,"details":{"status":0}}' \
	"{\"ts\":0.3,\"op_id\":1,\"phase\":\"B\",\"name\":\"'); DROP TABLE metadata; --\",\"pid\":99999999,\"tid\":-5,\"details\":{}}" \
	"{\"ts\":0.4,\"op_id\":2,\"phase\":\"B\",\"name\":\"bad$(printf '\377')utf8\",\"pid\":7,\"tid\":8,\"details\":{}}" >odd.jsonl
want sqlite-odd-names 0 "$X" --sqlite -f -o d.sqlite odd.jsonl
sql "SELECT start, coalesce(end, 'open'), s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME $names nameId" >got
printf '%s\n' '0 100000000 =cmd()' "200000000 open '); DROP TABLE metadata; --" "300000000 open bad$(printf '\357\277\275')utf8" >expected
same sqlite-odd-names-kept expected got
is sqlite-large-ids '99999999 -5' "$(sql "SELECT p.osId, t.osId FROM GT_TRACKS t JOIN GT_TRACKS p ON p.id = t.parentId WHERE t.osId < 0")"

# thread ids that do not fit in 24 bits get numbers of their own, also if there are many
seq 50000 | awk '{ printf "{\"ts\":%d,\"op_id\":%d,\"phase\":\"B\",\"name\":\"f\",\"pid\":7,\"tid\":%d,\"details\":{}}\n", $1, $1, 20000000 + $1 }' >threads.jsonl
want sqlite-large-thread-ids 0 timeout 60 "$X" --sqlite -f -o d.sqlite threads.jsonl
is sqlite-large-thread-ids-differ 50000 "$(sql 'SELECT count(DISTINCT globalTid) FROM CUPTI_ACTIVITY_KIND_RUNTIME')"
