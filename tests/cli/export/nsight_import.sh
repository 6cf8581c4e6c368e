# SQLite databases of Nsight Systems and of gtexport --sqlite: read back, in any order of rows, with other columns, damaged.
. "$SRC/tests/lib.sh"
X=$B/gtexport
command -v sqlite3 >/dev/null || { skip nsight-import "no sqlite3"; exit 0; }

# everything FILE: all rows, with names and stacks in place of their numbers
everything() {
	sqlite3 "$1" "CREATE INDEX IF NOT EXISTS frames ON CUDA_CALLCHAINS(id, stackDepth);
	SELECT 'SELECT ''' || m.name || ''', ' || group_concat(CASE
		WHEN c.name IN ('stackId', 'callchainId') THEN '(SELECT group_concat((SELECT value FROM StringIds s WHERE s.id = textId)) FROM (SELECT textId FROM CUDA_CALLCHAINS f WHERE f.id = t.' || c.name || ' ORDER BY stackDepth))'
		WHEN c.name IN ('trackId', 'parentId') THEN '(SELECT globalTid || ''/'' || osId FROM GT_TRACKS g WHERE g.id = t.' || c.name || ')'
		WHEN c.name LIKE '%Name' AND m.name LIKE 'CUPTI%' OR c.name IN ('nameId', 'textId', 'kindId', 'categoryId', 'layerId', 'operationId', 'memoryId', 'valueKindId', 'stateId', 'sourceId', 'symbol', 'module', 'fileId', 'domainNameId', 'categoryNameId')
			THEN '(SELECT value FROM StringIds s WHERE s.id = t.' || c.name || ')'
		WHEN c.name = 'id' AND m.name IN ('GT_TRACKS', 'CUDA_CALLCHAINS') THEN '0'
		ELSE 't.\"' || c.name || '\"' END, ', ') || ' FROM ' || m.name || ' t;'
	FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name <> 'StringIds' GROUP BY m.name" | sqlite3 "$1" | sort
}
# again NAME FILE: reads it and writes it again; all rows must be as expected
again() {
	want "nsight-$1-import" 0 "$X" --native -f -o again.zst "$2"
	want "nsight-$1-again" 0 "$X" --sqlite -f -o again.sqlite again.zst
	everything again.sqlite >got
	same "nsight-$1-same" expected got
}
want nsight-graphs 0 "$X" --sqlite -o graphs.sqlite "$SRC/samples/recorded/h200-graphs.zst"
want nsight-part 0 "$X" --native --from 4.8 --to 5.3 -o part.zst "$SRC/samples/recorded/h200-decode.zst"
want nsight-decode 0 "$X" --sqlite -o decode.sqlite part.zst
want nsight-nvtx 0 "$X" --sqlite -o nvtx.sqlite "$SRC/samples/recorded/h200-nvtx.zst"
for r in decode nvtx; do
	cp $r.sqlite read.sqlite; everything read.sqlite >expected
	again $r $r.sqlite
done
for t in CUPTI_ACTIVITY_KIND_RUNTIME GT_SCHED GT_SAMPLES GT_COUNTERS GT_EVENTS CUDA_CALLCHAINS metadata; do
	check nsight-decode-has-$t test 0 -lt "$(sqlite3 decode.sqlite "SELECT count(*) FROM $t")"
done
for report in cuda_gpu_kern_sum cuda_api_sum cuda_kern_exec_trace; do
	"$B/gtanalyze" --no-pager --format csv --top 0 $report "$SRC/samples/recorded/h200-graphs.zst" >expected 2>/dev/null
	"$B/gtanalyze" --no-pager --format csv --top 0 $report graphs.sqlite >got 2>/dev/null
	same nsight-$report expected got
done

# rows in another order
everything read.sqlite >expected
cp nvtx.sqlite mixed.sqlite
for t in CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_MEMCPY NVTX_EVENTS OSRT_API GT_COUNTERS GT_EVENTS GT_TRACKS CUDA_CALLCHAINS; do
	sqlite3 mixed.sqlite "CREATE TABLE x AS SELECT * FROM $t ORDER BY rowid * 7919 % 1009; DROP TABLE $t; ALTER TABLE x RENAME TO $t"
done
again mixed mixed.sqlite
gzip -kf nvtx.sqlite
again gz nvtx.sqlite.gz

# Nsight's own: versions in names, text in the row, stacks as rows of their own, few columns, values of other types
nsight() { rm -f n.sqlite; sqlite3 n.sqlite "CREATE TABLE StringIds(id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'gemm'); $1" >/dev/null; "$X" --jsonl -o - n.sqlite >want.out 2>want.err; }
G=$((1 << 56 | 7 << 24)) T=$((1 << 56 | 7 << 24 | 8))
nsight "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId);
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (300, 400, 0, $T, 5, 1), (300, 400, 67, $T, 5, 1), (100, 200, 1, $T, NULL, 99), (500, 450, 0, $T, 1, 1), ('x', 'y', 'z', $T, 1, 1);
	CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(end, start, correlationId, globalPid, shortName, streamId);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (900, 600, 5, $G, 2, 7);
	CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid);
	INSERT INTO NVTX_EVENTS VALUES (50, 950, 59, 'step', $T), (60, NULL, 34, 'mark', $T), (70, NULL, 75, 'domain', $T)"
check nsight-version-removed stdout_has '"name":"cudaLaunchKernel","pid":7,"tid":8,"layer":"runtime"'
is nsight-stack-rows-left-out 1 "$(grep -c '"phase":"B","name":"cudaLaunchKernel".*"correlation":5' want.out)"
check nsight-launch stdout_matches '"name":"gemm",.*"launch_start":0.000000250,"launch_ns":100,"launch_name":"cudaLaunchKernel"'
check nsight-text-is-no-time stderr_has 'events skipped because they have no valid time: 2'
check nsight-unknown-name stdout_has '"name":"?"'
check nsight-text stdout_has '"name":"step"'
check nsight-mark stdout_has '"name":"mark"'
check nsight-domain stdout_lacks domain
# a call that ends after the one in which it began keeps its times
nsight "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, nameId); INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 100, $T, 2), (50, 150, $T, 1)"
check nsight-overlap stdout_matches '"name":"cudaLaunchKernel",.*"kind":"span",.*"duration_us":0.100'

# texts that are repeated need no memory for each row
nsight "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 14)
	INSERT INTO NVTX_EVENTS SELECT i, i + 1, 59, replace(hex(zeroblob(7500000)), '0', 'x'), $T FROM n"
is nsight-repeated-texts '' "$(cat want.err)"
rm n.sqlite

# the GPUs' names, so that kernels have their occupancy; tables that are not read
nsight "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, globalPid, deviceId, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, registersPerThread);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (600, 900, $G, 0, 2, 8, 1, 1, 1024, 1, 1, 0, 0, 64);
	CREATE TABLE TARGET_INFO_GPU(id, name, busLocation, uuid); INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA \"H200\"', '0000:01:00.0', 'GPU-1');
	CREATE TABLE SCHED_EVENTS(start, cpu); INSERT INTO SCHED_EVENTS VALUES (1, 2);
	CREATE TABLE GPU_METRICS(timestamp); CREATE TABLE OVERHEAD(start); INSERT INTO OVERHEAD VALUES (1)"
"$B/gtanalyze" --no-pager --format csv kernels n.sqlite >kernels.csv 2>/dev/null
check nsight-occupancy grep -q '50.*registers' kernels.csv
"$B/gtanalyze" --no-pager n.sqlite >want.out 2>&1
check nsight-gpu-name stdout_has 'NVIDIA "H200"'
check nsight-tables-not-read stdout_matches 'not read: OVERHEAD, SCHED_EVENTS)'
"$X" --sqlite -f -o again.sqlite n.sqlite
is nsight-gpu-again '0|NVIDIA "H200"|0000:01:00.0|GPU-1' "$(sqlite3 again.sqlite 'SELECT id, name, busLocation, uuid FROM TARGET_INFO_GPU')"

# no tables, views, virtual tables, other files

sqlite3 v.sqlite 'CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT start, start AS end FROM n'
want nsight-endless-view 1 "$X" --jsonl -o - v.sqlite
says nsight-endless-view-message "v.sqlite: a SQLite database without Nsight's tables"
head -c 6000 nvtx.sqlite >cut.sqlite
want nsight-cut 1 "$X" --jsonl -o - cut.sqlite
says nsight-cut-message 'cut.sqlite: SQLite: database disk image is malformed'
cp nvtx.sqlite torn.sqlite; printf '\377%.0s' $(seq 40000) | dd of=torn.sqlite bs=1 seek=40000 conv=notrunc 2>/dev/null
want nsight-torn 1 "$X" --jsonl -o out torn.sqlite
says nsight-torn-message 'torn.sqlite: SQLite: '
check nsight-torn-leaves-nothing test ! -e out
