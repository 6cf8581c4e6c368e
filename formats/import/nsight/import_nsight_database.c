/* Reads the tables of a database, one after another. A database can contain anything: views,
 * triggers, virtual tables, text where numbers belong. Only ordinary tables are read, each by one
 * SELECT of its columns; NULL takes the place of a column that a version lacks. The SELECT calls an
 * aggregate function with the columns of each row: that takes 0.1 us a row less than
 * sqlite3_step() and sqlite3_column_int64(). Nsight's tables are described in "SQLite Schema
 * Reference" of its documentation; versions since 2018 differ in columns, rarely in names. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "formats/base/buf.h"
#include "formats/import/nsight/import_nsight_internal.h"
#include "formats/io/sqlite_file.h"

#define UNREAD_MAX 32u  /* names of tables that are not read */
#define NAME_MAX_LEN 64 /* of a table that is named */
#define ROW_LEAST 4u    /* bytes of a row in a file, at least */

/* ---- values ---- */

bool gt_nsight_is_number(sqlite3_value **s, int c)
{
	int type = sqlite3_value_type(s[c]);
	const char *text;

	if (type != SQLITE_TEXT)
		return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
	text = (const char *)sqlite3_value_text(s[c]);
	return text && strchr("+-0123456789", *text) && *text;
}

/* Can rows have these times? If not, counts it. */
static bool is_valid(struct gt_nsight *n, int64_t start, int64_t end)
{
	bool valid = start > -GT_TIME_MAX && end < GT_TIME_MAX && end >= start;

	n->invalid += !valid;
	return valid;
}

bool gt_nsight_time(struct gt_nsight *n, sqlite3_value **s, int c, int64_t *time)
{
	/* NULL is no valid time */
	*time = gt_nsight_number(s, c, GT_TIME_MAX);
	return is_valid(n, *time, *time);
}

bool gt_nsight_times(struct gt_nsight *n, sqlite3_value **s, int64_t *start, int64_t *end)
{
	*start = gt_nsight_number(s, 0, GT_TIME_MAX);
	*end = gt_nsight_number(s, 1, INT64_MIN);
	return is_valid(n, *start, *end);
}

bool gt_nsight_call_times(struct gt_nsight *n, sqlite3_value **s, int64_t *start, int64_t *end)
{
	*start = gt_nsight_number(s, 0, GT_TIME_MAX);
	*end = sqlite3_value_int64(s[1]);
	if (*end || sqlite3_value_type(s[1]) != SQLITE_NULL)
		return is_valid(n, *start, gt_nsight_number(s, 1, INT64_MIN));
	*end = GT_NSIGHT_NO_END;
	return is_valid(n, *start, *start);
}

/* ---- tables ---- */

#define FRAME_COLUMNS                                                                              \
	{                                                                                          \
		"id", "symbol", "module", "unresolved", "stackDepth", "kernelMode",                \
			"specialEntry", "originalIP", "textId", "kindId", "fileId", "line"         \
	}
/* What others refer to comes first. */
static const struct gt_nsight_table tables[] = {
	{ .name = "StringIds",
		.needed = 2,
		.columns = { "id", "value" },
		.row = gt_nsight_see_string },
	{ .name = "GT_TRACKS",
		.needed = 1,
		.columns = { "id", "parentId", "kindId", "osId", "nameId", "sourceId",
			"globalTid" },
		.row = gt_nsight_see_track,
		.end = gt_nsight_end_tracks },
	{ .name = "PROCESSES",
		.needed = 1,
		.columns = { "globalPid", "name" },
		.row = gt_nsight_see_process,
		.is_common = true },
	{ .name = "ThreadNames",
		.needed = 2,
		.columns = { "globalTid", "nameId" },
		.row = gt_nsight_see_thread },
	{ .name = "TARGET_INFO_SESSION_START_TIME",
		.needed = 1,
		.columns = { "utcEpochNs" },
		.row = gt_nsight_see_session },
	{ .name = "TARGET_INFO_GPU",
		.needed = 1,
		.columns = { "id", "name", "busLocation", "uuid" },
		.row = gt_nsight_see_gpu,
		.is_common = true },
	{ .name = "metadata",
		.needed = 3,
		.columns = { "segment", "name", "value" },
		.row = gt_nsight_see_metadata,
		.is_common = true },
	{ .name = "DIAGNOSTIC_EVENT",
		.needed = 2,
		.columns = { "severity", "text" },
		.row = gt_nsight_see_message,
		.is_common = true },
	{ .name = "CUDA_CALLCHAINS",
		.needed = 2,
		.columns = FRAME_COLUMNS,
		.row = gt_nsight_see_frame,
		.end = gt_nsight_end_call_stacks },
	{ .name = "OSRT_CALLCHAINS",
		.needed = 2,
		.columns = FRAME_COLUMNS,
		.row = gt_nsight_see_frame,
		.end = gt_nsight_end_os_stacks },
	{ .name = "SAMPLING_CALLCHAINS",
		.needed = 2,
		.columns = FRAME_COLUMNS,
		.row = gt_nsight_see_frame,
		.end = gt_nsight_end_sample_stacks },
	{ .name = "CUPTI_ACTIVITY_KIND_RUNTIME",
		.needed = 4,
		.columns = { "start", "end", "globalTid", "nameId", "returnValue", "correlationId",
			"eventClass", "callchainId" },
		.row = gt_nsight_see_call },
	{ .name = "OSRT_API",
		.needed = 4,
		.columns = { "start", "end", "globalTid", "nameId", "returnValue", "callchainId",
			"layerId", "categoryId" },
		.row = gt_nsight_see_system_call },
	{ .name = "NVTX_EVENTS",
		.needed = 1,
		.columns = { "start", "end", "eventType", "globalTid", "text", "textId", "color",
			"domainNameId", "categoryNameId" },
		.row = gt_nsight_see_range },
	{ .name = "CUPTI_ACTIVITY_KIND_KERNEL",
		.needed = 2,
		.columns = { GT_NSIGHT_WORK, "mangledName", "demangledName", "shortName", "gridX",
			"gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory",
			"dynamicSharedMemory", "registersPerThread", "graphNodeId", "graphId" },
		.row = gt_nsight_see_kernel },
	{ .name = "CUPTI_ACTIVITY_KIND_MEMCPY",
		.needed = 2,
		.columns = { GT_NSIGHT_WORK, "bytes", "copyKind", "srcKind", "dstKind",
			"srcDeviceId", "dstDeviceId", "graphNodeId" },
		.row = gt_nsight_see_copy },
	{ .name = "CUPTI_ACTIVITY_KIND_MEMSET",
		.needed = 2,
		.columns = { GT_NSIGHT_WORK, "value", "bytes", "graphNodeId", "memKind" },
		.row = gt_nsight_see_set },
	{ .name = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		.needed = 2,
		.columns = { GT_NSIGHT_WORK, "syncType", "eventId" },
		.row = gt_nsight_see_sync },
	{ .name = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
		.needed = 2,
		.columns = { GT_NSIGHT_WORK, "graphId" },
		.row = gt_nsight_see_graph },
	{ .name = "COMPOSITE_EVENTS",
		.needed = 2,
		.columns = { "start", "globalTid", "id" },
		.row = gt_nsight_see_sample },
	{ .name = "SCHED_EVENTS",
		.needed = 3,
		.columns = { "start", "globalTid", "isSchedIn", "threadState" },
		.row = gt_nsight_see_switch,
		.end = gt_nsight_end_switches },
	{ .name = "TARGET_INFO_GPU_METRICS",
		.needed = 3,
		.columns = { "typeId", "metricId", "metricName", "typeName" },
		.row = gt_nsight_see_metric_name },
	{ .name = "GPU_METRICS",
		.needed = 1,
		.columns = { "timestamp", "typeId", "metricId", "value" },
		.row = gt_nsight_see_metric,
		.is_common = true },
	{ .name = "GT_SCHED",
		.needed = 4,
		.columns = { "start", "end", "globalTid", "stateId", "wakerPid", "wakerTid",
			"byPid", "byTid", "syscall", "holderTid", "stackId" },
		.row = gt_nsight_see_gt_sched },
	{ .name = "GT_SAMPLES",
		.needed = 2,
		.columns = { "start", "globalTid", "period", "stackId" },
		.row = gt_nsight_see_gt_sample },
	{ .name = "GT_COUNTERS",
		.needed = 2,
		.columns = { "start", "trackId", "globalPid", "deviceId", "nameId", "value",
			"categoryId", "layerId", "memoryId", "valueKindId" },
		.row = gt_nsight_see_gt_counter },
	{ .name = "GT_LOSSES",
		.needed = 2,
		.columns = { "start", "end", "scopeId", "trackId", "count" },
		.row = gt_nsight_see_gt_loss },
	{ .name = "GT_EVENTS",
		.needed = 3,
		.columns = { "start", "end", "kindId", "trackId", "globalTid", "nameId",
			"categoryId", "layerId", "operationId", "returnValue", "bytes", "stackId" },
		.row = gt_nsight_see_gt_event },
};
#define TABLES (sizeof(tables) / sizeof(*tables))

/* 1, 0 or negative. A view or a virtual table has no root page. */
static int has_table(struct gt_nsight *n, const char *name)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(n->db,
		"SELECT 1 FROM sqlite_master WHERE name = ? AND (rootpage > 0 OR ?) AND"
		" type IN ('table', 'view')",
		-1, &s, NULL);

	if (!rc)
		rc = sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
	if (!rc)
		rc = sqlite3_bind_int(s, 2, !n->in_file);
	if (!rc)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : gt_sqlite_error(n->db, rc, n->err);
}

/* Which of the columns there are, as bits; generated columns are not. 0 or negative. */
static int find_columns(struct gt_nsight *n, const struct gt_nsight_table *t, uint32_t *found)
{
	char *sql = sqlite3_mprintf("PRAGMA table_info(%Q)", t->name);
	sqlite3_stmt *s = NULL;
	int rc = sql ? sqlite3_prepare_v2(n->db, sql, -1, &s, NULL) : SQLITE_NOMEM;

	*found = 0;
	while (!rc && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 1);

		for (unsigned c = 0; name && t->columns[c]; c++)
			*found |= !strcasecmp(t->columns[c], name) ? 1u << c : 0;
		rc = 0;
	}
	sqlite3_finalize(s);
	sqlite3_free(sql);
	return !rc || rc == SQLITE_DONE ? 0 : gt_sqlite_error(n->db, rc, n->err);
}

/* *s stays NULL if there is no such table, or not with the columns that it needs. 0 or negative. */
static int prepare_select(struct gt_nsight *n, const struct gt_nsight_table *t, sqlite3_stmt **s)
{
	const uint32_t needed = (1u << t->needed) - 1;
	struct gt_buf b = { 0 };
	uint32_t found;
	int has = has_table(n, t->name), rc = has > 0 ? find_columns(n, t, &found) : has;

	if (has <= 0 || rc || (found & needed) != needed)
		return rc;
	gt_buf_str(&b, "SELECT " GT_NSIGHT_FUNCTION "(");
	for (unsigned c = 0; t->columns[c]; c++)
		gt_buf_printf(
			&b, found >> c & 1 ? "%s\"%s\"" : "%sNULL", c ? ", " : "", t->columns[c]);
	/* an index could be damaged, or have its own order */
	gt_buf_printf(&b, ") FROM \"%s\" NOT INDEXED", t->name);
	gt_buf_byte(&b, 0);
	if (b.failed)
		rc = gt_nsight_no_memory(n);
	else if (sqlite3_prepare_v2(n->db, (const char *)b.data, -1, s, NULL))
		rc = gt_sqlite_error(n->db, sqlite3_errcode(n->db), n->err);
	gt_buf_release(&b);
	return rc;
}

/* The aggregate function: takes a row. */
static void take_row(sqlite3_context *context, int columns, sqlite3_value **row)
{
	struct gt_nsight *n = sqlite3_user_data(context);
	int rc;

	if (++n->rows_read > n->rows_most)
		rc = gt_err_set(
			n->err, -EILSEQ, "%s has more rows than the file can have", n->table->name);
	else
		rc = n->table->row(n, row);
	if (rc)
		sqlite3_result_error_code(context, SQLITE_ABORT);
}

static void end_rows(sqlite3_context *context) {}

static int set_function(struct gt_nsight *n, bool exists)
{
	int rc = sqlite3_create_function_v2(n->db, GT_NSIGHT_FUNCTION, -1,
		SQLITE_UTF8 | SQLITE_DIRECTONLY, exists ? n : NULL, NULL, exists ? take_row : NULL,
		exists ? end_rows : NULL, NULL);

	return rc ? gt_sqlite_error(n->db, rc, n->err) : 0;
}

static int read_table(struct gt_nsight *n, const struct gt_nsight_table *t, bool *was_read)
{
	sqlite3_stmt *s = NULL;
	int rc = prepare_select(n, t, &s), step;

	*was_read = s;
	n->any |= s && !t->is_common;
	n->table = t;
	if (s) {
		step = sqlite3_step(s);
		if (n->err->code)
			rc = n->err->code;
		else if (step != SQLITE_ROW)
			rc = gt_sqlite_error(n->db, step, n->err);
	}
	sqlite3_finalize(s);
	return rc || !t->end || !*was_read ? rc : t->end(n);
}

/* ---- metadata ---- */

static bool is_read(const char *table, uint64_t were_read)
{
	/* those of the recording as a whole and of enumerations have no events */
	static const char *const others[] = { "META_DATA_", "TARGET_INFO_", "ENUM_", "ANALYSIS_",
		"EXPORT_", "sqlite_" };

	for (size_t i = 0; i < TABLES; i++)
		if (!strcasecmp(table, tables[i].name))
			return were_read >> i & 1;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strncmp(table, others[i], strlen(others[i])))
			return true;
	return false;
}

static bool is_known(const char *table)
{
	for (size_t i = 0; i < TABLES; i++)
		if (!strcasecmp(table, tables[i].name))
			return true;
	return false;
}

/* A damaged table that is not read is no error. */
static bool has_rows(struct gt_nsight *n, const char *table)
{
	char *select = sqlite3_mprintf("SELECT 1 FROM \"%w\" NOT INDEXED LIMIT 1", table);
	sqlite3_stmt *s = NULL;
	bool has = select && !sqlite3_prepare_v2(n->db, select, -1, &s, NULL) &&
		sqlite3_step(s) == SQLITE_ROW;

	sqlite3_finalize(s);
	sqlite3_free(select);
	return has;
}

/* The names of tables that have rows and are not read, and of views and virtual tables in place of
 * tables, separated by commas. 0 or negative. */
static int list_unread(struct gt_nsight *n, uint64_t were_read, struct gt_buf *to)
{
	sqlite3_stmt *s = NULL;
	unsigned count = 0;
	int rc = sqlite3_prepare_v2(n->db,
		"SELECT name, rootpage > 0 OR ? FROM sqlite_master WHERE type IN ('table', 'view')"
		" ORDER BY name",
		-1, &s, NULL);

	if (!rc)
		rc = sqlite3_bind_int(s, 1, !n->in_file);
	while (!rc && count <= UNREAD_MAX && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		bool is_table = sqlite3_column_int(s, 1);

		rc = 0;
		if (!name || sqlite3_column_bytes(s, 0) >= NAME_MAX_LEN ||
			is_read(name, were_read) ||
			!(is_table ? has_rows(n, name) : is_known(name)))
			continue;
		gt_buf_printf(to, "%s%s%s", count ? ", " : "", count == UNREAD_MAX ? "..." : name,
			count == UNREAD_MAX || is_table ? "" : " (no ordinary table)");
		count++;
	}
	sqlite3_finalize(s);
	return !rc || rc == SQLITE_DONE ? 0 : gt_sqlite_error(n->db, rc, n->err);
}

static int put_recorded(struct gt_nsight *n)
{
	char *text = n->recorded ? gt_json_finish(n->recorded) : NULL;
	int rc = !n->recorded ? 0
		: text        ? gt_writer_meta(n->w, text, n->err)
			      : gt_nsight_no_memory(n);

	n->recorded = NULL;
	free(text);
	return rc;
}

/* What is known from the import replaces what was recorded. */
static int put_metadata(struct gt_nsight *n, uint64_t were_read)
{
	struct gt_buf unread = { 0 };
	int rc = put_recorded(n);

	if (!rc)
		rc = list_unread(n, were_read, &unread);
	if (!n->has_gpus) {
		gt_out_str(&n->meta, ",\"gpus\":[");
		gt_out_add(&n->meta, n->gpus.data, n->gpus.len);
		gt_out_str(&n->meta, "]");
	}
	if (unread.len) {
		gt_out_str(&n->meta, ",\"tables_not_read\":");
		gt_out_json(&n->meta, (const char *)unread.data, unread.len);
	}
	gt_out_add(&n->meta, "}", 2);
	if (!rc && n->meta.len > 2 && !n->meta.failed)
		n->meta.data[0] = '{'; /* in place of the first comma */
	if (!rc)
		rc = n->meta.failed || n->gpus.failed || unread.failed ? gt_nsight_no_memory(n)
			: n->meta.len > 2 ? gt_writer_meta(n->w, n->meta.data, n->err)
					  : 0;
	gt_buf_release(&unread);
	return rc;
}

/* ---- the import ---- */

static int read_number(struct gt_nsight *n, const char *sql, uint64_t *to)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(n->db, sql, -1, &s, NULL);

	if (!rc)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*to = (uint64_t)sqlite3_column_int64(s, 0);
	rc = rc == SQLITE_ROW ? 0 : gt_sqlite_error(n->db, rc, n->err);
	sqlite3_finalize(s);
	return rc;
}

/* The pages of a damaged file can refer to each other, so that a table has endless rows. */
static int set_limits(struct gt_nsight *n)
{
	const char *file = sqlite3_db_filename(n->db, "main");
	uint64_t pages = 0, size = 0;
	int rc;

	n->in_file = file && *file;
	n->rows_most = UINT64_MAX;
	if (!n->in_file)
		return 0;
	rc = read_number(n, "PRAGMA page_count", &pages);
	if (!rc)
		rc = read_number(n, "PRAGMA page_size", &size);
	n->rows_most = pages * size / ROW_LEAST;
	return rc;
}

_Static_assert(TABLES <= 64, "a set of tables is a 64-bit word");
_Static_assert(GT_NSIGHT_COLUMNS <= 32, "a set of columns is a 32-bit word");

static int read_tables(struct gt_nsight *n)
{
	uint64_t were_read = 0;
	bool was_read;
	int rc = set_limits(n);

	if (!rc)
		rc = gt_nsight_init(n);
	if (!rc)
		rc = set_function(n, true);
	for (size_t i = 0; i < TABLES && !rc; i++) {
		rc = read_table(n, &tables[i], &was_read);
		were_read |= (uint64_t)was_read << i;
	}
	if (!rc && !n->any)
		rc = gt_err_set(n->err, -EILSEQ, "%s without Nsight's tables",
			n->in_file ? "a SQLite database" : "Parquet");
	if (!rc)
		rc = gt_nsight_finish(n);
	return rc ? rc : put_metadata(n, were_read);
}

int gt_nsight_import_database(sqlite3 *db, struct gt_writer *w, struct gt_err *err)
{
	struct gt_nsight *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return gt_err_set(err, -ENOMEM, "out of memory");
	n->db = db;
	n->w = w;
	n->err = err;
	rc = read_tables(n);
	set_function(n, false);
	gt_nsight_release(n);
	free(n);
	return rc;
}
