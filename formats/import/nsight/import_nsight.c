/* Nsight Systems' SQLite exports, and those of gtexport --sqlite.
 *
 * A database can contain anything: views, triggers, virtual tables, text where numbers belong. Only
 * ordinary tables are read, each by one SELECT of its columns; NULL takes the place of a column
 * that a version lacks. SQLite reads the input, or a temporary copy if that is compressed or a
 * pipe, and opens no other file (formats/io/sqlite_file.h). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"
#include "formats/import/nsight/import_nsight.h"
#include "formats/import/importers.h"
#include "formats/io/sqlite_file.h"
#include "formats/io/stream_in.h"
#include "formats/io/stream_out.h"
#include "formats/os/file.h"

#define MAGIC "SQLite format 3"  /* and a zero */
#define TEXT_MAX (16 << 20)      /* bytes of a text or row; longer ones are an error */
#define STRINGS_MAX (192u << 20) /* bytes of all different names */
#define STRING_IDS_MAX (16u << 20)
#define GPUS_MAX 256u
#define UNREAD_MAX 32u /* names of tables that are not read */
#define COLUMNS_MAX 26

struct nsight_import {
	struct gt_nsight n;
	sqlite3 *db;
	struct gt_err *err;
	bool is_virtual; /* the tables are gt's own virtual ones, which have no root page */
	uint64_t text_bytes;
	uint32_t known_strings; /* those of the writer below this one are counted in text_bytes */
	bool any;               /* there was a table of Nsight's */
	struct gt_out gpus;     /* as the metadata have them */
	unsigned ngpus;
};
/* A table: which columns to read, and what to do with a row of them. */
struct nsight_table {
	const char *name;
	const char *columns[COLUMNS_MAX]; /* NULL-terminated */
	int (*row)(struct nsight_import *x, sqlite3_stmt *s);
};

static int no_memory(struct nsight_import *x)
{
	return gt_err_set(x->err, -ENOMEM, "out of memory");
}

static bool is_null(sqlite3_stmt *s, int c) { return sqlite3_column_type(s, c) == SQLITE_NULL; }

static int64_t number_or(sqlite3_stmt *s, int c, int64_t otherwise)
{
	/* NULL reads as 0 */
	return otherwise && is_null(s, c) ? otherwise : sqlite3_column_int64(s, c);
}

static uint32_t number32(sqlite3_stmt *s, int c) { return (uint32_t)number_or(s, c, 0); }

static uint32_t add_text(struct nsight_import *x, const char *text, size_t len)
{
	uint32_t string;

	string = gt_writer_string_n(x->n.w, text, len);
	if (string == GT_NONE) {
		no_memory(x);
		return GT_NONE;
	}
	/* the writer numbers strings in order, and a repeated one needs no memory */
	if (string >= x->known_strings) {
		x->known_strings = string + 1;
		x->text_bytes += len < GT_STRING_MAX ? len : GT_STRING_MAX;
	}
	if (x->text_bytes > STRINGS_MAX) {
		gt_err_set(x->err, -E2BIG, "names need more than %u MiB", STRINGS_MAX >> 20);
		return GT_NONE;
	}
	return string;
}

/* ---- names ---- */

static int see_string(struct nsight_import *x, sqlite3_stmt *s)
{
	struct gt_nsight_string one;
	const char *text = (const char *)sqlite3_column_text(s, 1);

	memset(&one, 0, sizeof(one));
	one.id = sqlite3_column_int64(s, 0);
	one.function = GT_NONE;
	if (!text ||
		gt_map_find_item(&x->n.string_map, x->n.strings, sizeof(one), &one,
			sizeof(one.id)) != GT_NONE)
		return 0;
	if (x->n.nstrings == STRING_IDS_MAX)
		return gt_err_set(
			x->err, -E2BIG, "StringIds has more than %u names", STRING_IDS_MAX);
	one.string = add_text(x, text, (size_t)sqlite3_column_bytes(s, 1));
	if (one.string == GT_NONE)
		return x->err->code;
	return gt_map_add_item(&x->n.string_map, &x->n.strings, &x->n.nstrings, &x->n.strings_cap,
		       sizeof(one), &one, sizeof(one.id)) == GT_NONE
		? no_memory(x)
		: 0;
}

/* The entry with the id in this column, or NULL. */
static struct gt_nsight_string *entry_at(struct nsight_import *x, sqlite3_stmt *s, int c)
{
	int64_t id = sqlite3_column_int64(s, c);
	uint32_t i;

	/* usually ids are 0, 1, 2 ... in this order */
	if (id > 0 && (uint64_t)id < x->n.nstrings && x->n.strings[id].id == id)
		return &x->n.strings[id];
	i = gt_map_find_item(
		&x->n.string_map, x->n.strings, sizeof(*x->n.strings), &id, sizeof(id));
	return i == GT_NONE || (!id && is_null(s, c)) ? NULL : &x->n.strings[i];
}

/* Its string; "?" if there is none. */
static uint32_t string_at(struct nsight_import *x, sqlite3_stmt *s, int c)
{
	const struct gt_nsight_string *e = entry_at(x, s, c);

	return e ? e->string : add_text(x, "?", 1);
}

/* The name of a function without the version that Nsight adds: cudaMalloc_v3020. */
static uint32_t without_version(struct nsight_import *x, uint32_t string)
{
	const char *text = gt_writer_string_text(x->n.w, string), *last = strrchr(text, '_');
	char plain[200];
	size_t len = last ? (size_t)(last - text) : sizeof(plain);

	if (len >= sizeof(plain) || last[1] != 'v' || strlen(last) < 6 ||
		strspn(last + 2, "0123456789") != strlen(last + 2))
		return string;
	memcpy(plain, text, len); /* the writer may move its text */
	return add_text(x, plain, len);
}

static uint32_t function_at(struct nsight_import *x, sqlite3_stmt *s, int c)
{
	struct gt_nsight_string *e = entry_at(x, s, c);

	if (!e)
		return add_text(x, "?", 1);
	if (e->function == GT_NONE)
		e->function = without_version(x, e->string);
	return e->function;
}

/* ---- processes and threads ---- */

static int name_track(struct nsight_import *x, uint32_t track, uint32_t name)
{
	return track == GT_NONE || name == GT_NONE
		? x->err->code
		: gt_writer_track_name(x->n.w, track, name, x->err);
}

static int see_process(struct nsight_import *x, sqlite3_stmt *s)
{
	const char *name = (const char *)sqlite3_column_text(s, 1);

	if (is_null(s, 0) || !name)
		return 0;
	return name_track(x, gt_nsight_process(&x->n, sqlite3_column_int64(s, 0)),
		add_text(x, name, (size_t)sqlite3_column_bytes(s, 1)));
}

static int see_thread(struct nsight_import *x, sqlite3_stmt *s)
{
	return is_null(s, 0) ? 0
			     : name_track(x, gt_nsight_thread(&x->n, sqlite3_column_int64(s, 0)),
				       string_at(x, s, 1));
}

static int see_session(struct nsight_import *x, sqlite3_stmt *s)
{
	struct gt_anchor a = { .realtime = sqlite3_column_int64(s, 0) };

	return a.realtime <= 0 || a.realtime >= GT_TIME_MAX ? 0
							    : gt_writer_anchor(x->n.w, &a, x->err);
}

/* ---- GPUs ---- */

static void put_gpu_text(struct nsight_import *x, sqlite3_stmt *s, int c, const char *key)
{
	const char *text = (const char *)sqlite3_column_text(s, c);
	size_t len = (size_t)sqlite3_column_bytes(s, c);

	if (!text)
		return;
	gt_out_printf(&x->gpus, ",\"%s\":", key);
	gt_out_json(&x->gpus, text, len < 256 ? len : 256);
}

/* Columns: id, name, busLocation, uuid. Reports have the limits of a GPU by its name. */
static int see_gpu(struct nsight_import *x, sqlite3_stmt *s)
{
	if (x->ngpus++ >= GPUS_MAX)
		return 0;
	gt_out_printf(
		&x->gpus, "%s{\"id\":%lld", x->ngpus > 1 ? "," : "", (long long)number_or(s, 0, 0));
	put_gpu_text(x, s, 1, "model");
	put_gpu_text(x, s, 2, "bus");
	put_gpu_text(x, s, 3, "uuid");
	gt_out_str(&x->gpus, "}");
	return 0;
}

/* ---- times ---- */

/* Are the first two columns times that a row may have? Text and NULL are none. has_end: else the
 * start stands for both. */
static bool has_times(struct nsight_import *x, sqlite3_stmt *s, bool has_end)
{
	for (int c = 0; c <= has_end; c++)
		if (sqlite3_column_type(s, c) != SQLITE_INTEGER &&
			sqlite3_column_type(s, c) != SQLITE_FLOAT) {
			x->n.invalid++;
			return false;
		}
	return gt_nsight_is_valid(
		&x->n, sqlite3_column_int64(s, 0), sqlite3_column_int64(s, has_end));
}

/* ---- calls and ranges ---- */

static int add_call(struct nsight_import *x, const struct gt_nsight_call *c)
{
	struct gt_nsight_call *call = gt_sorter_add(&x->n.calls, x->err);
	struct gt_nsight_work *work;

	if (!call)
		return x->err->code;
	*call = *c;
	if (!c->correlation || c->end == GT_NSIGHT_NO_END)
		return 0;
	work = gt_sorter_add(&x->n.works, x->err);
	if (!work)
		return x->err->code;
	memset(work, 0, sizeof(*work));
	*work = (struct gt_nsight_work){ .global = c->global & ~0xffffffll,
		.correlation = c->correlation,
		.start = c->start,
		.end = c->end,
		.kind = GT_NSIGHT_CALL,
		.name = c->name,
		.call = { c->global } };
	return 0;
}

/* Columns: start, end, globalTid, nameId, returnValue, then of calls correlationId, eventClass. */
static int see_any_call(struct nsight_import *x, sqlite3_stmt *s, uint8_t layer)
{
	bool open = is_null(s, 1);
	struct gt_nsight_call c = { .start = sqlite3_column_int64(s, 0),
		.end = open ? GT_NSIGHT_NO_END : sqlite3_column_int64(s, 1),
		.global = number_or(s, 2, 0),
		.ret = (int32_t)number_or(s, 4, 0),
		.layer = layer };

	if (!has_times(x, s, !open))
		return 0;
	c.name = layer == GT_LAYER_SYSCALL ? string_at(x, s, 3) : function_at(x, s, 3);
	if (layer != GT_LAYER_SYSCALL)
		c.correlation = (uint64_t)number_or(s, 5, 0);
	return c.name == GT_NONE ? x->err->code : add_call(x, &c);
}

static int see_call(struct nsight_import *x, sqlite3_stmt *s)
{
	int64_t event_class = number_or(s, 6, 0);

	/* 67: the stack of a call, which is in a row of its own */
	if (event_class == 67)
		return 0;
	return see_any_call(x, s, event_class == 1 ? GT_LAYER_API : GT_LAYER_RUNTIME);
}

static int see_system_call(struct nsight_import *x, sqlite3_stmt *s)
{
	return see_any_call(x, s, GT_LAYER_SYSCALL);
}

enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

/* Columns: start, end, eventType, text, textId, globalTid. A range without an end is left out. */
static int see_range(struct nsight_import *x, sqlite3_stmt *s)
{
	int64_t start = sqlite3_column_int64(s, 0), type = number_or(s, 2, NVTX_PUSH_POP);
	bool mark = type == NVTX_MARK;
	const char *text = (const char *)sqlite3_column_text(s, 3);
	uint32_t name;

	if (!mark && type != NVTX_PUSH_POP && type != NVTX_START_END)
		return 0;
	if ((!mark && is_null(s, 1)) || !has_times(x, s, !mark))
		return 0;
	name = text ? add_text(x, text, (size_t)sqlite3_column_bytes(s, 3)) : string_at(x, s, 4);
	return name == GT_NONE ? x->err->code
			       : gt_nsight_put_range(&x->n, number_or(s, 5, 0), name, start,
					 mark ? start : sqlite3_column_int64(s, 1), mark);
}

/* ---- GPU work ---- */

#define WORK "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"
#define NWORK 7

/* The record of a row that begins with the columns WORK. NULL: the row is not valid, or with err
 * filled in. */
static struct gt_nsight_work *add_work(
	struct nsight_import *x, sqlite3_stmt *s, enum gt_nsight_kind kind)
{
	int64_t start = sqlite3_column_int64(s, 0), end = sqlite3_column_int64(s, 1);
	struct gt_nsight_work *r;

	if (!has_times(x, s, true))
		return NULL;
	r = gt_sorter_add(&x->n.works, x->err);
	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->start = start;
	r->end = end;
	r->gpu.device = number_or(s, 2, 0);
	r->gpu.context = number_or(s, 3, -1);
	r->gpu.stream = number_or(s, 4, -1);
	r->correlation = (uint64_t)number_or(s, 5, 0);
	r->global = number_or(s, 6, 0) & ~0xffffffll;
	r->gpu.unknown = GT_GPU_NO_ASYNC | (r->correlation ? 0 : GT_GPU_NO_CORRELATION) |
		(r->gpu.context < 0 ? GT_GPU_NO_CONTEXT : 0);
	return r;
}

static uint32_t kernel_name(struct nsight_import *x, sqlite3_stmt *s)
{
	for (int c = NWORK; c < NWORK + 2; c++)
		if (!is_null(s, c))
			return string_at(x, s, c);
	return string_at(x, s, NWORK + 2);
}

static int see_kernel(struct nsight_import *x, sqlite3_stmt *s)
{
	const int grid = NWORK + 3, block = grid + 3, shared = block + 3;
	uint32_t name = kernel_name(x, s);
	struct gt_nsight_work *r = name == GT_NONE ? NULL : add_work(x, s, GT_NSIGHT_KERNEL);

	if (!r)
		return x->err->code;
	r->name = name;
	for (int i = 0; i < 3; i++) {
		r->gpu.grid[i] = number32(s, grid + i);
		r->gpu.block[i] = number32(s, block + i);
	}
	r->gpu.shared[0] = number32(s, shared);
	r->gpu.shared[1] = number32(s, shared + 1);
	r->gpu.registers = number32(s, shared + 2);
	r->gpu.node = (uint64_t)number_or(s, shared + 3, 0);
	r->gpu.graph = number32(s, shared + 4);
	r->gpu.unknown |= (is_null(s, grid) ? GT_GPU_NO_GRID : 0) |
		(is_null(s, block) ? GT_GPU_NO_BLOCK : 0) |
		(is_null(s, shared) ? GT_GPU_NO_SHARED : 0) |
		(is_null(s, shared + 2) ? GT_GPU_NO_REGISTERS : 0);
	return 0;
}

/* From ENUM_CUDA_MEMCPY_OPER. Those of managed memory count as copies, too. */
static uint8_t direction_of(int64_t kind)
{
	static const uint8_t directions[] = { [1] = GT_DIR_HTOD,
		[2] = GT_DIR_DTOH,
		[3] = GT_DIR_HTOD,
		[4] = GT_DIR_DTOH,
		[5] = GT_DIR_DTOD,
		[6] = GT_DIR_DTOD,
		[7] = GT_DIR_DTOD,
		[8] = GT_DIR_DTOD,
		[9] = GT_DIR_HTOH,
		[10] = GT_DIR_PEER,
		[11] = GT_DIR_HTOD,
		[12] = GT_DIR_DTOH,
		[13] = GT_DIR_DTOD };

	return kind >= 0 && kind < (int64_t)sizeof(directions) ? directions[kind] : GT_DIR_UNKNOWN;
}

/* From ENUM_CUDA_MEM_KIND. */
static uint8_t memory_of(sqlite3_stmt *s, int c)
{
	int64_t kind = number_or(s, c, -1);

	return kind >= 0 && kind < 7 ? (uint8_t)(kind + 1) : GT_GPU_MEM_UNKNOWN;
}

static int see_copy(struct nsight_import *x, sqlite3_stmt *s)
{
	struct gt_nsight_work *r = add_work(x, s, GT_NSIGHT_COPY);

	if (!r)
		return x->err->code;
	r->gpu.bytes = (uint64_t)number_or(s, NWORK, 0);
	r->gpu.direction = direction_of(number_or(s, NWORK + 1, 0));
	r->gpu.source = memory_of(s, NWORK + 2);
	r->gpu.destination = memory_of(s, NWORK + 3);
	r->gpu.grid[0] = number32(s, NWORK + 4);
	r->gpu.grid[1] = number32(s, NWORK + 5);
	r->gpu.node = (uint64_t)number_or(s, NWORK + 6, 0);
	r->gpu.unknown |= is_null(s, NWORK) ? GT_GPU_NO_BYTES : 0;
	return 0;
}

static int see_set(struct nsight_import *x, sqlite3_stmt *s)
{
	struct gt_nsight_work *r = add_work(x, s, GT_NSIGHT_SET);

	if (!r)
		return x->err->code;
	r->gpu.value = number32(s, NWORK);
	r->gpu.bytes = (uint64_t)number_or(s, NWORK + 1, 0);
	r->gpu.node = (uint64_t)number_or(s, NWORK + 2, 0);
	r->gpu.destination = memory_of(s, NWORK + 3);
	r->gpu.unknown |= (is_null(s, NWORK) ? GT_GPU_NO_VALUE : 0) |
		(is_null(s, NWORK + 1) ? GT_GPU_NO_BYTES : 0);
	return 0;
}

static int see_sync(struct nsight_import *x, sqlite3_stmt *s)
{
	static const uint8_t waits[] = { GT_GPU_WAIT_UNKNOWN, GT_GPU_WAIT_EVENT,
		GT_GPU_WAIT_STREAM_EVENT, GT_GPU_WAIT_STREAM, GT_GPU_WAIT_CONTEXT };
	int64_t type = number_or(s, NWORK, 0);
	struct gt_nsight_work *r = add_work(x, s, GT_NSIGHT_SYNC);

	if (!r)
		return x->err->code;
	r->gpu.wait = type > 0 && type < (int64_t)sizeof(waits) ? waits[type] : GT_GPU_WAIT_UNKNOWN;
	r->gpu.value = (uint64_t)number_or(s, NWORK + 1, GT_GPU_NO_EVENT);
	return 0;
}

static int see_graph(struct nsight_import *x, sqlite3_stmt *s)
{
	struct gt_nsight_work *r = add_work(x, s, GT_NSIGHT_GRAPH);

	if (!r)
		return x->err->code;
	r->gpu.graph = number32(s, NWORK);
	return 0;
}

/* ---- tables ---- */

/* The names come first. */
static const struct nsight_table tables[] = {
	{ "StringIds", { "id", "value" }, see_string },
	{ "PROCESSES", { "globalPid", "name" }, see_process },
	{ "ThreadNames", { "globalTid", "nameId" }, see_thread },
	{ "TARGET_INFO_SESSION_START_TIME", { "utcEpochNs" }, see_session },
	{ "TARGET_INFO_GPU", { "id", "name", "busLocation", "uuid" }, see_gpu },
	{ "CUPTI_ACTIVITY_KIND_RUNTIME",
		{ "start", "end", "globalTid", "nameId", "returnValue", "correlationId",
			"eventClass" },
		see_call },
	{ "OSRT_API", { "start", "end", "globalTid", "nameId", "returnValue" }, see_system_call },
	{ "NVTX_EVENTS", { "start", "end", "eventType", "text", "textId", "globalTid" },
		see_range },
	{ "CUPTI_ACTIVITY_KIND_KERNEL",
		{ WORK, "mangledName", "demangledName", "shortName", "gridX", "gridY", "gridZ",
			"blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory",
			"registersPerThread", "graphNodeId", "graphId" },
		see_kernel },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY",
		{ WORK, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId",
			"graphNodeId" },
		see_copy },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", { WORK, "value", "bytes", "graphNodeId", "memKind" },
		see_set },
	{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", { WORK, "syncType", "eventId" }, see_sync },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", { WORK, "graphId" }, see_graph },
};
#define TABLES (sizeof(tables) / sizeof(*tables))

/* Is it an ordinary table? A view or a virtual table has no root page. */
static int has_table(struct nsight_import *x, const char *name)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(x->db,
		"SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage >= ? AND name = ?",
		-1, &s, NULL);

	if (!rc)
		rc = sqlite3_bind_int(s, 1, !x->is_virtual);
	if (!rc)
		rc = sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC);
	if (!rc)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : gt_sqlite_error(x->db, rc, x->err);
}

/* 1, 0 or negative */
static int has_column(struct nsight_import *x, const char *table, const char *column)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(
		x->db, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", -1, &s, NULL);

	if (!rc)
		rc = sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	if (!rc)
		rc = sqlite3_bind_text(s, 2, column, -1, SQLITE_STATIC);
	if (!rc)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : gt_sqlite_error(x->db, rc, x->err);
}

static int prepare_select(struct nsight_import *x, const struct nsight_table *t, sqlite3_stmt **s)
{
	struct gt_buf b = { 0 };
	int has = 0, rc;

	gt_buf_str(&b, "SELECT ");
	for (unsigned c = 0; t->columns[c] && has >= 0; c++) {
		has = has_column(x, t->name, t->columns[c]);
		gt_buf_printf(&b, has > 0 ? "%s\"%s\"" : "%sNULL", c ? ", " : "", t->columns[c]);
	}
	gt_buf_printf(&b, " FROM \"%s\"", t->name);
	gt_buf_byte(&b, 0);
	rc = has < 0 ? has : b.failed ? no_memory(x) : 0;
	if (!rc && sqlite3_prepare_v2(x->db, (const char *)b.data, -1, s, NULL))
		rc = gt_sqlite_error(x->db, sqlite3_errcode(x->db), x->err);
	gt_buf_release(&b);
	return rc;
}

static int read_table(struct nsight_import *x, const struct nsight_table *t)
{
	sqlite3_stmt *s = NULL;
	int has = has_table(x, t->name), rc = has <= 0 ? has : prepare_select(x, t, &s), step;

	x->any |= has > 0 && t->row != see_process && t->row != see_gpu;
	while (!rc && s) {
		step = sqlite3_step(s);
		if (step == SQLITE_DONE)
			break;
		rc = step == SQLITE_ROW ? t->row(x, s) : gt_sqlite_error(x->db, step, x->err);
	}
	sqlite3_finalize(s);
	return rc;
}

/* ---- metadata ---- */

static bool is_read(const char *table)
{
	/* those of the recording as a whole and of enumerations have no events */
	static const char *const others[] = { "metadata", "META_DATA_", "TARGET_INFO_", "ENUM_",
		"ANALYSIS_", "EXPORT_", "sqlite_" };

	for (size_t i = 0; i < TABLES; i++)
		if (!strcasecmp(table, tables[i].name))
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strncmp(table, others[i], strlen(others[i])))
			return true;
	return false;
}

/* A damaged table that is not read is no error. */
static bool has_rows(struct nsight_import *x, const char *table)
{
	char *select = sqlite3_mprintf("SELECT 1 FROM \"%w\" LIMIT 1", table);
	sqlite3_stmt *s = NULL;
	bool has = select && !sqlite3_prepare_v2(x->db, select, -1, &s, NULL) &&
		sqlite3_step(s) == SQLITE_ROW;

	sqlite3_finalize(s);
	sqlite3_free(select);
	return has;
}

/* The names of tables that have rows and are not read, separated by commas. 0 or negative. */
static int list_unread(struct nsight_import *x, struct gt_buf *to)
{
	sqlite3_stmt *s = NULL;
	unsigned n = 0;
	int rc = sqlite3_prepare_v2(x->db,
		"SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage >= ? AND"
		" length(name) < 64 ORDER BY name",
		-1, &s, NULL);

	if (!rc)
		rc = sqlite3_bind_int(s, 1, !x->is_virtual);
	while (!rc && n <= UNREAD_MAX && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);

		rc = 0;
		if (!name || is_read(name) || !has_rows(x, name))
			continue;
		gt_buf_printf(to, "%s%s", n ? ", " : "", n == UNREAD_MAX ? "..." : name);
		n++;
	}
	sqlite3_finalize(s);
	return !rc || rc == SQLITE_DONE ? 0 : gt_sqlite_error(x->db, rc, x->err);
}

static int put_metadata(struct nsight_import *x)
{
	struct gt_buf unread = { 0 };
	struct gt_out o;
	int rc = list_unread(x, &unread);

	gt_out_memory(&o);
	gt_out_str(&o, "{\"gpus\":[");
	gt_out_add(&o, x->gpus.data, x->gpus.len);
	gt_out_str(&o, "]");
	if (unread.len) {
		gt_out_str(&o, ",\"tables_not_read\":");
		gt_out_json(&o, (const char *)unread.data, unread.len);
	}
	gt_out_add(&o, "}", 2);
	if (!rc)
		rc = o.failed || x->gpus.failed || unread.failed
			? no_memory(x)
			: gt_writer_meta(x->n.w, o.data, x->err);
	gt_out_close(&o, NULL);
	gt_buf_release(&unread);
	return rc;
}

/* ---- the import ---- */

static int read_database(struct nsight_import *x, struct gt_writer *w)
{
	int rc = gt_sqlite_run(
		x->db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", x->err);

	sqlite3_limit(x->db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	if (!rc)
		rc = gt_nsight_init(&x->n, w, x->err);
	for (size_t i = 0; i < TABLES && !rc; i++)
		rc = read_table(x, &tables[i]);
	if (!rc && !x->any)
		rc = gt_err_set(x->err, -EILSEQ, "%s without Nsight's tables",
			x->is_virtual ? "Parquet" : "a SQLite database");
	if (!rc)
		rc = gt_nsight_finish(&x->n);
	if (!rc)
		rc = put_metadata(x);
	gt_nsight_release(&x->n);
	return rc;
}

static int import_database(sqlite3 *db, bool is_virtual, struct gt_writer *w, struct gt_err *err)
{
	struct nsight_import x = { .db = db, .err = err, .is_virtual = is_virtual };
	int rc;

	gt_out_memory(&x.gpus);
	rc = read_database(&x, w);
	gt_out_close(&x.gpus, NULL);
	return rc;
}

int gt_nsight_import_tables(sqlite3 *db, struct gt_writer *w, struct gt_err *err)
{
	return import_database(db, true, w, err);
}

static int nsight_import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	int fd = gt_in_random_access(in, err), rc;
	sqlite3 *db;

	if (fd < 0)
		return fd;
	db = gt_sqlite_open(fd, false, err);
	rc = db ? import_database(db, false, w, err) : err->code;
	sqlite3_close(db);
	if (fd != gt_in_plain_file(in))
		close(fd);
	return rc;
}

static int nsight_sniff(const char *head, size_t len)
{
	return len >= sizeof(MAGIC) && !memcmp(head, MAGIC, sizeof(MAGIC)) ? 100 : 0;
}

const struct gt_importer gt_import_nsight = {
	.name = "nsight",
	.help = "SQLite databases of Nsight Systems and of gtexport --sqlite",
	.sniff = nsight_sniff,
	.import = nsight_import,
};
