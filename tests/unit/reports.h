/* Reports over small traces whose figures are known: makes the trace with the writer, runs
 * reports, and returns their output as JSON or text. The includer defines _GNU_SOURCE
 * (memfd_create). */
#ifndef REPORTS_H
#define REPORTS_H
#include <fcntl.h>
#include <jansson.h>
#include <sys/mman.h>
#include <unistd.h>
#include "analyze/query/query.h"
#include "analyze/core/run.h"
#include "formats/trace/write/writer.h"
#include "tests/unit/t.h"

/* Of two int64_t, for qsort. */
static inline int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* ---- traces ---- */

enum { INIT, ALLOC, FREE, LAUNCH, COPY, SYNC, CONTEXT, RM, SCHED, NTYPES };
struct trace {
	int fd;
	struct gt_writer *w;
	struct gt_err err;
	uint32_t process, thread[8], type[NTYPES];
	int64_t shift; /* ns that all calls are moved by */
};

static inline uint32_t str(struct trace *t, const char *s) { return gt_writer_string(t->w, s); }

static inline uint32_t new_type(
	struct trace *t, const char *name, struct gt_type type, unsigned role0, unsigned role1)
{
	struct gt_field f[2] = { { str(t, "one"), role0 == GT_R_KERNEL ? GT_F_STR : GT_F_U64,
					 (uint8_t)role0 },
		{ str(t, "two"), GT_F_U64, (uint8_t)role1 } };

	type.name = str(t, name);
	type.fields = f;
	type.nfields = (uint8_t)(!!role0 + !!role1);
	return gt_writer_type(t->w, &type);
}

/* args: whether types have their arguments. layers: bits; which layers' types there are. */
static inline void begin(struct trace *t, bool args)
{
	struct gt_writer_options o = { .host = "node1",
		.boot_id = "b",
		.meta_json = "{\"sample\":10,\"gpus\":[{\"model\":\"H200\"}]}" };
	unsigned b = args ? GT_R_BYTES : 0, a = args ? GT_R_ADDR : 0;

	memset(t, 0, sizeof(*t));
	t->err.offset = GT_NO_OFFSET;
	t->fd = memfd_create("trace", 0);
	t->w = gt_writer_open(dup(t->fd), &o, &t->err);
	t->process = gt_writer_track(t->w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = str(t, "train"),
			.source = str(t, "preload"),
			.kind = GT_TRACK_PROCESS,
			.id = 100,
			.ns_id = 100 });
	for (int i = 0; i < 8; i++)
		t->thread[i] = gt_writer_track(t->w,
			&(struct gt_track){ .parent = t->process,
				.name = i ? GT_NONE : str(t, "main"),
				.source = str(t, "preload"),
				.kind = GT_TRACK_THREAD,
				.id = 100 + i,
				.ns_id = 100 + i });
	t->type[INIT] = new_type(t, "cuInit", (struct gt_type){ .category = GT_CAT_INIT }, 0, 0);
	t->type[ALLOC] = new_type(t, "cuMemAlloc_v2",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_ALLOC, .memkind = GT_MEM_DEVICE },
		b, a);
	t->type[FREE] = new_type(t, "cuMemFree_v2",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_FREE, .memkind = GT_MEM_DEVICE },
		a, 0);
	t->type[LAUNCH] = new_type(t, "cuLaunchKernel",
		(struct gt_type){ .category = GT_CAT_LAUNCH, .op = GT_OP_LAUNCH },
		args ? GT_R_KERNEL : 0, 0);
	t->type[COPY] = new_type(t, "cuMemcpyHtoD_v2",
		(struct gt_type){ .category = GT_CAT_COPY, .op = GT_OP_COPY }, b,
		args ? GT_R_DIRECTION : 0);
	t->type[SYNC] = new_type(t, "cuStreamSynchronize",
		(struct gt_type){ .category = GT_CAT_SYNC, .op = GT_OP_SYNC }, 0, 0);
	t->type[CONTEXT] = new_type(t, "cuCtxSetCurrent",
		(struct gt_type){ .category = GT_CAT_CONTEXT }, args ? GT_R_CONTEXT : 0, 0);
}

static inline void with_ioctl(struct trace *t)
{
	t->type[RM] = new_type(t, "NV_ESC_RM_ALLOC",
		(struct gt_type){
			.category = GT_CAT_IOCTL, .op = GT_OP_IOCTL, .layer = GT_LAYER_IOCTL },
		0, 0);
}

static inline void call(struct trace *t, int thread, int type, int64_t start, int64_t end,
	int depth, int32_t ret, uint64_t a, uint64_t b)
{
	const struct gt_type *ty = gt_writer_type_get(t->w, t->type[type]);
	struct gt_row row = { start + t->shift, end + t->shift, t->type[type], ret, (uint8_t)depth,
		ty->nfields };

	gt_writer_row(t->w, GT_CALL, t->thread[thread], &row, (uint64_t[]){ a, b }, &t->err);
}

static inline struct gt_reader *end(struct trace *t)
{
	struct gt_reader *r = NULL;

	if (!gt_writer_close(t->w, &t->err))
		r = gt_reader_open_fd(t->fd, &t->err);
	if (!r)
		gt_err_print("test", NULL, &t->err);
	return r;
}

/* Two threads, an allocation that fails, an ioctl within a call, launches that overlap, a call that
 * never returns. */
static inline void known_calls(struct trace *t)
{
	struct gt_row open = { .start = 9000 + t->shift };
	uint64_t add, mul;

	add = str(t, "_Z3addPf");
	mul = str(t, "_Z3mulPf");
	call(t, 0, INIT, 1000, 1100, 0, 0, 0, 0);
	call(t, 0, ALLOC, 2000, 2400, 0, 0, 1000, 0xa000);
	call(t, 0, RM, 2100, 2300, 1, 0, 0, 0);
	call(t, 0, ALLOC, 2500, 2600, 0, 2, 7, 0);
	call(t, 0, LAUNCH, 3000, 3010, 0, 0, add, 0);
	call(t, 0, LAUNCH, 3100, 3120, 0, 0, mul, 0);
	call(t, 0, COPY, 4000, 4100, 0, 0, 4096, GT_DIR_HTOD);
	call(t, 0, FREE, 5000, 5050, 0, 0, 0xa000, 0);
	call(t, 1, ALLOC, 2450, 2900, 0, 0, 500, 0xb000);
	call(t, 1, LAUNCH, 3005, 3090, 0, 0, add, 0);
	call(t, 1, LAUNCH, 4050, 4060, 0, 0, add, 0);
	call(t, 1, FREE, 5100, 5110, 0, 0, 0xdead, 0);
	call(t, 1, CONTEXT, 6000, 6100, 0, 0, 0x77, 0);
	open.type = t->type[SYNC];
	gt_writer_open_call(t->w, t->thread[0], &open, NULL, &t->err);
}

static inline void known(struct trace *t, bool args)
{
	begin(t, args);
	with_ioctl(t);
	known_calls(t);
	gt_writer_epoch(t->w, 10000, &t->err);
}

/* From now on calls are those that another source records of the same threads, a little later. */
static inline void seen_by(struct trace *t, const char *source, int64_t process_start)
{
	t->shift += 3;
	t->process = gt_writer_track(t->w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = str(t, "train"),
			.source = str(t, source),
			.kind = GT_TRACK_PROCESS,
			.id = 100,
			.ns_id = 100,
			.start = process_start });
	for (int i = 0; i < 8; i++)
		t->thread[i] = gt_writer_track(t->w,
			&(struct gt_track){ .parent = t->process,
				.name = GT_NONE,
				.source = str(t, source),
				.kind = GT_TRACK_THREAD,
				.id = 100 + i,
				.ns_id = 100 + i });
}

/* ---- reports ---- */

static const struct gt_analysis_options plain
	__attribute__((unused)) = { .top = 0, .file = "trace" };

/* Runs the named reports (NULL-terminated; none: all) and returns their JSON, which the caller
 * frees. Closes the reader. */
static inline char *report_text(struct gt_reader *r, const char *const *names,
	const struct gt_analysis_options *options, unsigned threads, enum gt_table_format format)
{
	const struct gt_analysis *chosen[GT_RUN_REPORTS];
	struct gt_analysis_options o = *options;
	struct gt_table *tables[GT_RUN_TABLES];
	struct gt_err err = GT_ERR_INIT;
	struct gt_out out;
	const char *option, *wrong;
	struct gt_query *query = gt_query_new(NULL, "name", NULL, NULL, &option, &wrong, &err);
	struct gt_query *histogram = gt_query_new_hist(NULL, NULL, NULL, &option, &wrong, &err);
	struct gt_report_option list[8] = { 0 };
	unsigned n = 0, nlist = 0;
	char *text = NULL;
	int made;

	for (; names && names[n]; n++)
		chosen[n] = gt_analysis_find(names[n]);
	for (; !names && gt_analyses[n]; n++)
		chosen[n] = gt_analyses[n];
	o.origin = gt_reader_segment(r, 0)->min_start;
	for (const struct gt_report_option *given = o.report_options; given && given->name; given++)
		list[nlist++] = *given;
	list[nlist++] = (struct gt_report_option){ "query", query };
	list[nlist++] = (struct gt_report_option){ "histogram", histogram };
	o.report_options = list;
	made = gt_run(r, chosen, n, &o, threads, tables, &err);
	gt_out_memory(&out);
	if (made >= 0 && !gt_tables_print(tables, (unsigned)made, format, NULL, &out, &err))
		text = strndup(out.data, out.len);
	else
		gt_err_print("test", NULL, &err);
	gt_out_close(&out, &err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	gt_query_free(query);
	gt_query_free(histogram);
	gt_reader_close(r);
	return text;
}

static inline json_t *report(
	struct gt_reader *r, const char *const *names, const struct gt_analysis_options *options)
{
	char *text = r ? report_text(r, names, options, 1, GT_JSON) : NULL;
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	free(text);
	return json;
}

static inline const json_t *row(const json_t *report, const char *table, size_t i)
{
	return json_array_get(json_object_get(json_object_get(report, table), "rows"), i);
}

static inline size_t rows(const json_t *report, const char *table)
{
	return json_array_size(json_object_get(json_object_get(report, table), "rows"));
}

/* The row whose cell `key` is this text. */
static inline const json_t *row_named(
	const json_t *report, const char *table, const char *key, const char *text)
{
	for (size_t i = 0; i < rows(report, table); i++) {
		const char *have = json_string_value(json_object_get(row(report, table, i), key));

		if (have && !strcmp(have, text))
			return row(report, table, i);
	}
	return NULL;
}

static inline double num(const json_t *row, const char *key)
{
	const json_t *v = json_object_get(row, key);

	return v && json_is_number(v) ? json_number_value(v) : -1e99;
}

static inline bool is(const json_t *row, const char *key, const char *text)
{
	const char *have = json_string_value(json_object_get(row, key));

	return have && !strcmp(have, text);
}

static inline bool absent(const json_t *row, const char *key)
{
	return json_is_null(json_object_get(row, key));
}

static inline bool noted(const json_t *report, const char *table, const char *part)
{
	const json_t *notes = json_object_get(json_object_get(report, table), "notes");

	for (size_t i = 0; i < json_array_size(notes); i++)
		if (strstr(json_string_value(json_array_get(notes, i)), part))
			return true;
	return false;
}
#endif
