/* Nsight's SQLite databases: which rows their tables become, and files that are not to be trusted.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sqlite3.h>
#include "formats/import/nsight/import_nsight.h"
#include "tests/unit/formats/import/imported.h"

#define TID "72057594155368456" /* 1 << 56 | 7 << 24 | 8: the thread 7/8 */
#define NAMES                                                                                      \
	"CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"                              \
	"INSERT INTO StringIds VALUES (0, 'cuInit'), (1, 'poll'), (2, 'main'), (3, 'inner'),"      \
	" (4, '/lib/a.so'), (5, '[Max depth]'), (6, 'outer');"
#define CALLS                                                                                      \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, nameId, callchainId);"

/* Makes a database at path. */
static void put_database(const char *sql)
{
	sqlite3 *db;
	char *why = NULL;

	put_file("", 0);
	if (sqlite3_open(path, &db) || sqlite3_exec(db, sql, NULL, NULL, &why)) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	sqlite3_close(db);
}

static const char *rows_of(const char *sql)
{
	put_database(sql);
	err = (struct gt_err)GT_ERR_INIT;
	return list(gt_open_any(path, &err));
}

static bool meta_has(const char *what)
{
	struct gt_reader *r = gt_open_any(path, &err);
	bool has = r && strstr(gt_reader_segment(r, 0)->meta_json, what);

	gt_reader_close(r);
	return has;
}

static const char *frames_of(uint32_t stack)
{
	struct gt_reader *r = gt_open_any(path, &err);
	const struct gt_segment *seg = r ? gt_reader_segment(r, 0) : NULL;

	gt_buf_clear(&listing);
	for (uint32_t i = 0; seg && stack < seg->nstacks && i < seg->stacks[stack].n; i++) {
		uint32_t text = seg->stacks[stack].frames[i];
		const struct gt_frame *f = gt_segment_frame(seg, text);

		gt_buf_printf(&listing, "%s %s %s\n", gt_str(seg, text),
			gt_frame_kind_word(f ? f->kind : 0), f ? gt_str(seg, f->module) : "");
	}
	gt_reader_close(r);
	gt_buf_byte(&listing, 0);
	return (const char *)listing.data;
}

/* Frames in any order; a call whose stack has no frames; unresolved and special ones. */
static void calls_have_their_stacks(void)
{
	CHECK_STR(rows_of(NAMES CALLS
			  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, " TID ", 0, 7),"
			  " (30, 40, " TID ", 0, 3), (50, 60, " TID ", 0, 0);"
			  "CREATE TABLE OSRT_API(start, end, globalTid, nameId, callchainId);"
			  "INSERT INTO OSRT_API VALUES (70, 80, " TID ", 1, 7);"
			  "CREATE TABLE CUDA_CALLCHAINS(id, symbol, module, unresolved, kernelMode,"
			  " specialEntry, originalIP, stackDepth);"
			  "INSERT INTO CUDA_CALLCHAINS VALUES (7, 6, 4, 0, 0, 0, 5, 2),"
			  " (3, 2, 4, 0, 0, 0, 5, 0), (7, 3, 4, 1, 0, 0, 5, 0),"
			  " (7, 5, NULL, 0, 0, 1, 5, 3), (7, 2, 4, 0, 1, 0, 5, 1);"
			  "CREATE TABLE OSRT_CALLCHAINS(id, symbol, module, stackDepth);"
			  "INSERT INTO OSRT_CALLCHAINS VALUES (7, 6, 4, 0);"),
		"C 7/8 cuInit 10+10 d0 r0 stack=1\nC 7/8 cuInit 30+10 d0 r0 stack=0\n"
		"C 7/8 cuInit 50+10 d0 r0\nC 7/8 poll 70+10 d0 r0 stack=2\n");
	CHECK_STR(frames_of(1),
		"[Max depth] mark ?\nouter native /lib/a.so\n"
		"main kernel /lib/a.so\ninner native /lib/a.so\n");
	CHECK_STR(frames_of(2), "outer native /lib/a.so\n");
}

static void samples_and_switches_in_any_order(void)
{
	CHECK_STR(
		rows_of(NAMES
			"CREATE TABLE COMPOSITE_EVENTS(id, start, cpu, threadState, globalTid, cpuCycles);"
			"INSERT INTO COMPOSITE_EVENTS VALUES (9, 500, 0, 1, " TID ", 1),"
			" (8, 400, 0, 1, " TID ", 1);"
			"CREATE TABLE SAMPLING_CALLCHAINS(id, symbol, module, stackDepth);"
			"INSERT INTO SAMPLING_CALLCHAINS VALUES (9, 2, 4, 0);"
			"CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid, threadState);"
			"INSERT INTO SCHED_EVENTS VALUES (300, 0, 1, " TID ", 0), (200, 0, 0, " TID
			", 3),"
			" (100, 0, 1, " TID ", 0), (700, 0, 0, " TID ", 1), (790, 0, 1, " TID
			", 0),"
			" (800, 0, 0, " TID ", 2), (900, 0, 1, " TID ", 0), (910, 0, 0, " TID
			", 0),"
			" (920, 0, 1, " TID ", 0), (930, 0, 0, " TID ", 0)"),
		"S 7/8 io 200+100 d0 r0 waker_pid=0 waker_tid=0 syscall=-1\n"
		"I 7/8 sample 400+0 d0 r0\nI 7/8 sample 500+0 d0 r0 stack=0\n"
		"S 7/8 preempted 700+90 d0 r0 by_pid=0 by_tid=0\n"
		"S 7/8 other wait 800+100 d0 r0 waker_pid=0 waker_tid=0 syscall=-1\n"
		"S 7/8 off CPU 910+10 d0 r0\n");
}

static void metrics_and_messages(void)
{
	CHECK_STR(
		rows_of("CREATE TABLE TARGET_INFO_GPU_METRICS(typeId, sourceId, typeName, metricId,"
			" metricName);"
			"INSERT INTO TARGET_INFO_GPU_METRICS VALUES (77, 1, 'GPU 0', 5, 'SM Active');"
			"CREATE TABLE GPU_METRICS(timestamp, typeId, metricId, value);"
			"INSERT INTO GPU_METRICS VALUES (20, 77, 5, 50), (10, 77, 5, 0.5),"
			" (30, 77, 6, 1), (40, 77, 5, NULL), (NULL, 77, 5, 1);"
			"CREATE TABLE DIAGNOSTIC_EVENT(severity, text);"
			"INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'fine'), (3, 'Events are missing')"),
		"N 0/77 GPU 0 SM Active 10+0 d0 r0 value=0.5\n"
		"N 0/77 GPU 0 SM Active 20+0 d0 r0 value=50\nN 0/77 GPU 0 ? 30+0 d0 r0 value=1\n");
	CHECK(meta_has("\"nsight_message_1\":\"Events are missing\"") && !meta_has("fine"));
	CHECK(meta_has("\"events_without_time\":1"));
}

/* JSON has no zeros, and each name once. */
static void metadata_of_any_text(void)
{
	CHECK_STR(rows_of(NAMES CALLS
			  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, " TID ", 0, 0);"
			  "CREATE TABLE metadata(segment, name, value);"
			  "INSERT INTO metadata VALUES (0, 'calls', '1'), (0, 'calls', '2'),"
			  " (0, 'a' || char(0) || 'b', 'c' || char(0) || 'd'), (0, x'ff', x'00'),"
			  " (0, 'gpus.0.model', 'H200'), (0, 'simulated', 'true'), (1, 'x', 'y')"),
		"C 7/8 cuInit 10+10 d0 r0\n");
	CHECK(meta_has("\"calls\":2,\"a\":\"c\"") && meta_has("\"gpus.0.model\":\"H200\""));
	CHECK(meta_has("\"simulated\":true") && !meta_has("\"x\"") && !meta_has("\"gpus\""));
}

/* What gtexport writes of rows that no recording of the samples has. */
static void losses_open_calls_and_other_events(void)
{
	CHECK_STR(
		rows_of(NAMES CALLS
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, NULL, " TID
			", 0, NULL),"
			" (15, 20, " TID ", 0, NULL);"
			"INSERT INTO StringIds VALUES (10, 'process'), (11, 'thread'), (12, 'instant'),"
			" (13, 'fault'), (14, 'overhead'), (15, 'cpu'), (16, 'map'), (17, 'preload');"
			"CREATE TABLE GT_TRACKS(id, parentId, segment, kindId, osId, nameId, sourceId,"
			" globalTid);"
			"INSERT INTO GT_TRACKS VALUES (1, 0, 0, 11, 99999999, 2, 17, " TID "),"
			" (0, NULL, 0, 10, 88888888, 6, 17, " TID " - 8);"
			"CREATE TABLE GT_LOSSES(start, end, scopeId, trackId, count);"
			"INSERT INTO GT_LOSSES VALUES (11, 12, 11, 1, 5), (12, 13, 10, 1, NULL),"
			" (13, 14, 15, NULL, 3);"
			"CREATE TABLE GT_EVENTS(start, end, kindId, trackId, globalTid, nameId,"
			" categoryId, layerId, operationId, returnValue, bytes, stackId);"
			"INSERT INTO GT_EVENTS VALUES (16, NULL, 12, 1, 0, 3, 13, 14, 16, 2, 64, NULL)"),
		"O 88888888/99999999 main cuInit 10+10 d0 r0\n"
		"L 88888888/99999999 main ? 11+1 d0 r0\nL 88888888/99999999 main ? 12+1 d0 r0\n"
		"L 0/0 ? 13+1 d0 r0\nC 88888888/99999999 main cuInit 15+5 d1 r0\n"
		"I 88888888/99999999 main inner 16+0 d0 r2 bytes=64\n");
}

/* ---- values and schemas ---- */

static void values_of_any_type(void)
{
	CHECK_STR(
		rows_of(NAMES CALLS
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ('x', 'y', " TID ", 0, 0),"
			" (NULL, NULL, " TID ", 0, 0), ('100', '150', '" TID "', '0', 'x'),"
			" (9223372036854775807, 9223372036854775807, -1, -1, -1),"
			" (-9223372036854775808, 1, 1, 1, 1), (1e300, 1e301, 1e300, 1e300, 1e300),"
			" (200, x'00', " TID ", 0, 0), (300, 310, " TID ", NULL, 0),"
			" (400, 390, " TID ", 0, 0)"),
		"C 7/8 cuInit 100+50 d0 r0\nC 7/8 ? 300+10 d0 r0\n");
	CHECK(meta_has("\"events_without_time\":7"));
}

/* Nothing of these is executed, or opened. */
static void hostile_schemas(void)
{
	CHECK_STR(
		rows_of(NAMES CALLS
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, " TID ", 0, 0);"
			"CREATE TABLE OSRT_API(start, end AS (hex(zeroblob(1000))),"
			" globalTid CHECK(abs(globalTid) > 0), nameId, returnValue DEFAULT (random()), more);"
			"INSERT INTO OSRT_API(start, globalTid, nameId) VALUES (1, " TID ", 0);"
			"CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL"
			" SELECT start + 1 FROM n) SELECT start, start AS end FROM n;"
			"CREATE INDEX i ON CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, nameId,"
			" callchainId);"
			"CREATE TRIGGER t AFTER DELETE ON OSRT_API BEGIN DELETE FROM StringIds; END;"),
		"C 7/8 cuInit 10+10 d0 r0\n");
	CHECK(meta_has("NVTX_EVENTS (no ordinary table), OSRT_API\""));
}

static void databases_of_others(void)
{
	CHECK_STR(rows_of("CREATE TABLE PROCESSES(a); CREATE TABLE moz_places(id, url)"),
		"a SQLite database without Nsight's tables");
	/* nvprof's */
	CHECK_STR(
		rows_of("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid,"
			" start, end, processId, threadId, correlationId, returnValue);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 3, 4, 5, 6, 7, 8)"),
		"a SQLite database without Nsight's tables");
	put_file("SQLite format 3\0\3\xfe encrypted", 26);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_open_any(path, &err) && strstr(err.text, "SQLite: "));
	CHECK_STR(rows_of(NAMES "CREATE TABLE NVTX_EVENTS(start, end, text);"
				"INSERT INTO NVTX_EVENTS VALUES (1, 2, zeroblob(20000000))"),
		"SQLite: string or blob too big");
}

static void a_database_in_wal_mode(void)
{
	CHECK_STR(rows_of("PRAGMA journal_mode = WAL;" NAMES CALLS
			  "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, " TID ", 0, 0)"),
		"C 7/8 cuInit 10+10 d0 r0\n");
}

/* ---- endless tables ---- */

#define PAGE 512u
#define CHILDREN 70u

static void put_be(uint8_t *to, unsigned bytes, uint32_t v)
{
	while (bytes--) {
		to[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

/* An inner page of a table, all whose children are one page. */
static void put_inner(uint8_t *page, uint32_t child)
{
	memset(page, 0, PAGE);
	page[0] = 5;
	put_be(page + 3, 2, CHILDREN);
	put_be(page + 5, 2, PAGE - CHILDREN * 5);
	put_be(page + 8, 4, child);
	for (unsigned i = 0; i < CHILDREN; i++) {
		uint8_t *cell = page + PAGE - (i + 1) * 5;

		put_be(page + 12 + i * 2, 2, (uint32_t)(cell - page));
		put_be(cell, 4, child);
		cell[4] = (uint8_t)i;
	}
}

/* The root's children are page 4, whose children are page 5, and so on: 71 to the 6th rows. */
static void a_table_with_more_rows_than_the_file(void)
{
	static uint8_t bytes[64 * PAGE];
	size_t len;
	FILE *f;

	put_database("PRAGMA page_size = 512; CREATE TABLE OSRT_API(start, end, globalTid, nameId);"
		     "CREATE TABLE other(a); INSERT INTO other VALUES (zeroblob(5000))");
	f = fopen(path, "rb");
	CHECK(f);
	len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	CHECK(len > 9 * PAGE && bytes[PAGE] == 13);
	put_inner(bytes + PAGE, 4);
	for (uint32_t i = 4; i < 9; i++)
		put_inner(bytes + (i - 1) * PAGE, i + 1);
	/* a leaf with one row, of four numbers 1 */
	memcpy(bytes + 8 * PAGE, "\15\0\0\0\1\1\xf8\0\1\xf8", 10);
	memcpy(bytes + 8 * PAGE + 504, "\5\1\5\11\11\11\11", 7);
	put_file(bytes, len);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_open_any(path, &err));
	CHECK_STR(err.text, "OSRT_API has more rows than the file can have");
}

/* ---- another source of tables ---- */

static void a_database_in_memory_may_have_views(void)
{
	int fd = open(path, O_RDWR | O_TRUNC);
	struct gt_writer *w = gt_writer_open(fd, &(struct gt_writer_options){ 0 }, &err);
	sqlite3 *db;

	err = (struct gt_err)GT_ERR_INIT;
	CHECK(w && !sqlite3_open(":memory:", &db));
	CHECK(!sqlite3_exec(db,
		NAMES "CREATE VIEW OSRT_API AS SELECT 10 AS start, 20 AS end, " TID " AS globalTid,"
		      " 1 AS nameId",
		NULL, NULL, NULL));
	CHECK(!gt_nsight_import_database(db, w, &err) && !gt_writer_close(w, &err));
	CHECK(sqlite3_exec(db, "SELECT " GT_NSIGHT_FUNCTION "(1)", NULL, NULL, NULL));
	CHECK(!sqlite3_close(db));
	CHECK_STR(list(gt_open_any(path, &err)), "C 7/8 poll 10+10 d0 r0\n");
}

T_MAIN(T(the_beginning), T(calls_have_their_stacks), T(samples_and_switches_in_any_order),
	T(metrics_and_messages), T(metadata_of_any_text), T(losses_open_calls_and_other_events),
	T(values_of_any_type), T(hostile_schemas), T(databases_of_others),
	T(a_database_in_wal_mode), T(a_table_with_more_rows_than_the_file),
	T(a_database_in_memory_may_have_views), T(the_end))
