/* Reports over traces whose figures are known: counted by hand, or in the plainest way there is. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jansson.h>
#include <sys/mman.h>
#include <unistd.h>
#include "analyze/run.h"
#include "formats/writer.h"
#include "tests/unit/t.h"

/* ---- traces ---- */

enum { INIT, ALLOC, FREE, LAUNCH, COPY, SYNC, CONTEXT, RM, SCHED, NTYPES };
struct trace {
	int fd;
	struct gt_writer *w;
	struct gt_err err;
	uint32_t process, thread[8], type[NTYPES];
	int64_t shift;			/* ns that all calls are moved by */
};

static uint32_t str(struct trace *t, const char *s) { return gt_writer_string(t->w, s); }

static uint32_t new_type(struct trace *t, const char *name, struct gt_type type, unsigned role0, unsigned role1)
{
	struct gt_field f[2] = { { str(t, "one"), role0 == GT_R_KERNEL ? GT_F_STR : GT_F_U64, (uint8_t)role0 },
				 { str(t, "two"), GT_F_U64, (uint8_t)role1 } };

	type.name = str(t, name);
	type.fields = f;
	type.nfields = (uint8_t)(!!role0 + !!role1);
	return gt_writer_type(t->w, &type);
}

/* args: whether types have their arguments. layers: bits; which layers' types there are. */
static void begin(struct trace *t, bool args)
{
	struct gt_writer_options o = { .host = "node1", .boot_id = "b", .meta_json = "{\"sample\":10,\"gpus\":[{\"model\":\"H200\"}]}" };
	unsigned b = args ? GT_R_BYTES : 0, a = args ? GT_R_ADDR : 0;

	memset(t, 0, sizeof(*t));
	t->err.offset = GT_NO_OFFSET;
	t->fd = memfd_create("trace", 0);
	t->w = gt_writer_open(dup(t->fd), &o, &t->err);
	t->process = gt_writer_track(t->w, &(struct gt_track){ .parent = GT_NONE, .name = str(t, "train"), .source = str(t, "preload"),
							       .kind = GT_TRACK_PROCESS, .id = 100, .ns_id = 100 });
	for (int i = 0; i < 8; i++)
		t->thread[i] = gt_writer_track(t->w, &(struct gt_track){
			.parent = t->process, .name = i ? GT_NONE : str(t, "main"), .source = str(t, "preload"),
			.kind = GT_TRACK_THREAD, .id = 100 + i, .ns_id = 100 + i });
	t->type[INIT] = new_type(t, "cuInit", (struct gt_type){ .category = GT_CAT_INIT }, 0, 0);
	t->type[ALLOC] = new_type(t, "cuMemAlloc_v2", (struct gt_type){ .category = GT_CAT_MEMORY, .op = GT_OP_ALLOC,
				  .memkind = GT_MEM_DEVICE }, b, a);
	t->type[FREE] = new_type(t, "cuMemFree_v2", (struct gt_type){ .category = GT_CAT_MEMORY, .op = GT_OP_FREE,
				 .memkind = GT_MEM_DEVICE }, a, 0);
	t->type[LAUNCH] = new_type(t, "cuLaunchKernel", (struct gt_type){ .category = GT_CAT_LAUNCH, .op = GT_OP_LAUNCH },
				   args ? GT_R_KERNEL : 0, 0);
	t->type[COPY] = new_type(t, "cuMemcpyHtoD_v2", (struct gt_type){ .category = GT_CAT_COPY, .op = GT_OP_COPY }, b,
				 args ? GT_R_DIRECTION : 0);
	t->type[SYNC] = new_type(t, "cuStreamSynchronize", (struct gt_type){ .category = GT_CAT_SYNC, .op = GT_OP_SYNC }, 0, 0);
	t->type[CONTEXT] = new_type(t, "cuCtxSetCurrent", (struct gt_type){ .category = GT_CAT_CONTEXT },
				    args ? GT_R_CONTEXT : 0, 0);
}

static void with_ioctl(struct trace *t)
{
	t->type[RM] = new_type(t, "NV_ESC_RM_ALLOC", (struct gt_type){ .category = GT_CAT_IOCTL, .op = GT_OP_IOCTL,
			       .layer = GT_LAYER_IOCTL }, 0, 0);
}

static void call(struct trace *t, int thread, int type, int64_t start, int64_t end, int depth, int32_t ret, uint64_t a, uint64_t b)
{
	const struct gt_type *ty = gt_writer_type_get(t->w, t->type[type]);
	struct gt_row row = { start + t->shift, end + t->shift, t->type[type], ret, (uint8_t)depth, ty->nfields };

	gt_writer_row(t->w, GT_CALL, t->thread[thread], &row, (uint64_t[]){ a, b }, &t->err);
}

static struct gt_reader *end(struct trace *t)
{
	struct gt_reader *r = NULL;

	if (!gt_writer_close(t->w, &t->err))
		r = gt_reader_open_fd(t->fd, &t->err);
	if (!r)
		gt_err_print("test", NULL, &t->err);
	return r;
}

/* Two threads, an allocation that fails, an ioctl within a call, launches that overlap, a call that never returns. */
static void known_calls(struct trace *t)
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

static void known(struct trace *t, bool args)
{
	begin(t, args);
	with_ioctl(t);
	known_calls(t);
	gt_writer_epoch(t->w, 10000, &t->err);
}

/* Calls are from now on what another source sees of the same threads, a little later. */
static void seen_by(struct trace *t, const char *source, int64_t process_start)
{
	t->shift += 3;
	t->process = gt_writer_track(t->w, &(struct gt_track){ .parent = GT_NONE, .name = str(t, "train"), .source = str(t, source),
				     .kind = GT_TRACK_PROCESS, .id = 100, .ns_id = 100, .start = process_start });
	for (int i = 0; i < 8; i++)
		t->thread[i] = gt_writer_track(t->w, &(struct gt_track){ .parent = t->process, .name = GT_NONE, .source = str(t, source),
					       .kind = GT_TRACK_THREAD, .id = 100 + i, .ns_id = 100 + i });
}

/* ---- reports ---- */

static const struct gt_analysis_options plain = { .top = 0, .file = "trace" };

/* Runs the named reports (NULL-terminated; none: all there are) and returns them as JSON. Closes the reader. new. */
static char *report_text(struct gt_reader *r, const char *const *names, const struct gt_analysis_options *options, unsigned threads,
			 enum gt_table_format format)
{
	const struct gt_analysis *chosen[32];
	struct gt_analysis_options o = *options;
	struct gt_table *tables[GT_RUN_TABLES];
	struct gt_err err = GT_ERR_INIT;
	struct gt_out out;
	unsigned n = 0;
	char *text = NULL;
	int made;

	for (; names && names[n]; n++)
		chosen[n] = gt_analysis_find(names[n]);
	for (; !names && gt_analyses[n]; n++)
		chosen[n] = gt_analyses[n];
	o.origin = gt_reader_segment(r, 0)->min_start;
	made = gt_run(r, chosen, n, &o, threads, tables, &err);
	gt_out_memory(&out);
	if (made >= 0 && !gt_tables_print(tables, (unsigned)made, format, &out, &err))
		text = strndup(out.data, out.len);
	else
		gt_err_print("test", NULL, &err);
	gt_out_close(&out, &err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	gt_reader_close(r);
	return text;
}

static json_t *report(struct gt_reader *r, const char *const *names, const struct gt_analysis_options *options)
{
	char *text = r ? report_text(r, names, options, 1, GT_JSON) : NULL;
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	free(text);
	return json;
}

static const json_t *row(const json_t *report, const char *table, size_t i)
{
	return json_array_get(json_object_get(json_object_get(report, table), "rows"), i);
}

static size_t rows(const json_t *report, const char *table)
{
	return json_array_size(json_object_get(json_object_get(report, table), "rows"));
}

/* The row whose cell `key` is this text. */
static const json_t *row_named(const json_t *report, const char *table, const char *key, const char *text)
{
	for (size_t i = 0; i < rows(report, table); i++) {
		const char *have = json_string_value(json_object_get(row(report, table, i), key));

		if (have && !strcmp(have, text))
			return row(report, table, i);
	}
	return NULL;
}

static double num(const json_t *row, const char *key)
{
	const json_t *v = json_object_get(row, key);

	return v && json_is_number(v) ? json_number_value(v) : -1e99;
}

static bool is(const json_t *row, const char *key, const char *text)
{
	const char *have = json_string_value(json_object_get(row, key));

	return have && !strcmp(have, text);
}

static bool absent(const json_t *row, const char *key) { return json_is_null(json_object_get(row, key)); }

static bool noted(const json_t *report, const char *table, const char *part)
{
	const json_t *notes = json_object_get(json_object_get(report, table), "notes");

	for (size_t i = 0; i < json_array_size(notes); i++)
		if (strstr(json_string_value(json_array_get(notes, i)), part))
			return true;
	return false;
}

/* ---- tests ---- */

static void summary_counts(void)
{
	struct trace t;
	json_t *j;
	const json_t *u, *k;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	u = row(j, "userspace", 0);
	k = row(j, "kernel_space", 0);
	CHECK(num(u, "api_calls") == 13 && num(u, "kernel_launches") == 4);	/* the one still open was made, too */
	CHECK(num(u, "allocations") == 3 && num(u, "allocated_bytes") == 1500);
	CHECK(num(u, "transfers") == 1 && num(u, "transferred_bytes") == 4096);
	CHECK(num(k, "ioctl_calls") == 1 && num(k, "ioctl_time_ns") == 200 && absent(k, "scheduler_calls"));
	json_decref(j);
}

static void summary_says_what_was_not_recorded(void)
{
	static const char *const names[] = { "summary", "memory", "ioctls", "layers", NULL };
	struct trace t;
	char *text;
	json_t *j;
	const json_t *u;

	begin(&t, false);
	call(&t, 0, ALLOC, 10, 20, 0, 0, 0, 0);
	j = report(end(&t), names, &plain);
	u = row(j, "userspace", 0);
	CHECK(num(u, "allocations") == 1 && absent(u, "allocated_bytes"));
	CHECK(num(u, "transfers") == 0 && num(u, "transferred_bytes") == 0);	/* there were none: that is known */
	CHECK(absent(row(j, "kernel_space", 0), "ioctl_calls") && noted(j, "ioctls", "not recorded"));
	CHECK(absent(row(j, "memory", 0), "peak_bytes") && num(row(j, "memory", 0), "allocations") == 1);
	CHECK(absent(row_named(j, "layers", "layer", "gpu"), "count") && num(row_named(j, "layers", "layer", "api"), "count") == 1);
	json_decref(j);
	begin(&t, false);
	call(&t, 0, ALLOC, 10, 20, 0, 0, 0, 0);
	text = report_text(end(&t), names, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "  Total memory allocated: not recorded\n") && strstr(text, "  IOCTL calls: not recorded\n"));
	free(text);
}

static void summary_text_has_its_shape(void)
{
	static const char *const names[] = { "summary", NULL };
	static const char want[] =
		"=== TRACE SUMMARY ===\n\nUSERSPACE (libcuda.so):\n  Total CUDA API calls: 13\n  Kernel launches: 4\n"
		"  Memory allocations: 3\n  Total memory allocated: 1500 bytes (0.00 MiB)\n  Memory transfers: 1\n"
		"  Total data transferred: 4096 bytes (0.00 MiB)\n\nKERNEL SPACE (nvidia.ko):\n  IOCTL calls: 1\n"
		"  Total IOCTL time: 0.000 ms\n  Scheduler calls: not recorded\n";
	struct trace t;
	char *text;

	known(&t, true);
	text = report_text(end(&t), names, &plain, 1, GT_TEXT);
	CHECK(text && !strcmp(text, want));
	free(text);
}

static void operations_and_categories(void)
{
	struct trace t;
	json_t *j;
	const json_t *a, *c;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	a = row(j, "top", 0);
	CHECK(is(a, "operation", "cuMemAlloc_v2") && num(a, "count") == 3 && num(a, "failed") == 1 && num(a, "total_ns") == 950);
	CHECK(num(a, "mean_ns") == 316 && num(a, "max_ns") == 450 && num(a, "p99_ns") <= 450 && num(a, "p99_ns") > 445);
	CHECK(num(a, "share_percent") == 66.20);	/* 950 of 1435 */
	CHECK(!row_named(j, "top", "operation", "NV_ESC_RM_ALLOC"));
	CHECK(num(row(j, "ioctls", 0), "total_ns") == 200 && num(row(j, "ioctls", 0), "share_percent") == 100);
	c = row_named(j, "categories", "category", "memory");
	CHECK(num(c, "count") == 5 && num(c, "time_ns") == 1010 && num(c, "share_percent") == 70.38);
	c = row_named(j, "categories", "category", "ioctl");	/* nested: in no share */
	CHECK(num(c, "count") == 1 && num(c, "time_ns") == 0 && num(c, "nested_ns") == 200 && num(c, "share_percent") == 0);
	CHECK(num(row_named(j, "categories", "category", "init"), "share_percent") == 6.97);
	json_decref(j);
}

static void memory_over_threads(void)
{
	struct trace t;
	json_t *j;
	const json_t *m, *p;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	m = row_named(j, "memory", "kind", "all");
	CHECK(num(m, "allocations") == 3 && num(m, "failed") == 1 && num(m, "frees") == 2 && num(m, "unknown_frees") == 1);
	CHECK(num(m, "allocated_bytes") == 1500 && num(m, "freed_bytes") == 1000 && num(m, "peak_bytes") == 1500);
	CHECK(num(m, "live_bytes") == 500 && num(m, "live_count") == 1);
	p = row(j, "memory_processes", 0);
	CHECK(num(p, "pid") == 100 && is(p, "process", "train") && num(p, "peak_bytes") == 1500 && num(p, "peak_at_ns") == 1900);
	json_decref(j);
}

static void an_address_handed_out_twice(void)
{
	static const char *const names[] = { "memory", NULL };
	struct trace t;
	json_t *j;

	begin(&t, true);
	call(&t, 0, ALLOC, 10, 20, 0, 0, 100, 0x1000);
	call(&t, 0, FREE, 30, 60, 0, 0, 0x1000, 0);		/* begun, so another thread may have it */
	call(&t, 1, ALLOC, 40, 50, 0, 0, 300, 0x1000);
	call(&t, 1, ALLOC, 70, 80, 0, 0, 40, 0x1000);		/* its free was missed */
	j = report(end(&t), names, &plain);
	CHECK(num(row(j, "memory", 0), "peak_bytes") == 300 && num(row(j, "memory", 0), "live_bytes") == 40);
	CHECK(num(row(j, "memory", 0), "freed_bytes") == 100 && num(row(j, "memory", 0), "live_count") == 1);
	CHECK(noted(j, "memory", "1 frees were missed"));
	json_decref(j);
}

static void gaps_between_launches(void)
{
	struct trace t;
	json_t *j;
	const json_t *g;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	g = row(j, "gaps", 0);
	CHECK(num(g, "launches") == 4 && num(g, "gaps") == 2 && num(g, "total_ns") == 940 && num(g, "mean_ns") == 470);
	CHECK(num(g, "max_ns") == 930 && num(g, "max_at_ns") == 2120 && num(g, "doubtful") == 0);
	CHECK(num(row(j, "largest_gaps", 1), "duration_ns") == 10 && is(row(j, "largest_gaps", 0), "before", "cuLaunchKernel"));
	json_decref(j);
}

static void losses_are_told(void)
{
	struct trace t;
	json_t *j;
	const json_t *g;

	known(&t, true);
	gt_writer_lost(t.w, GT_SCOPE_PROCESS, t.process, 3500, 3600, 12, &t.err);
	gt_writer_lost(t.w, GT_SCOPE_ALL, GT_NONE, 7000, 7001, GT_LOST_UNKNOWN, &t.err);
	j = report(end(&t), NULL, &plain);
	g = row(j, "gaps", 0);
	CHECK(num(g, "gaps") == 2 && num(g, "doubtful") == 1 && num(g, "doubtful_ns") == 930);
	CHECK(num(row(j, "header", 0), "lost") == 12 && num(row(j, "header", 0), "lost_unknown") == 1);
	CHECK(noted(j, "header", "lost") && noted(j, "header", "sampled: one call in 10"));
	CHECK(is(row_named(j, "metadata", "key", "gpus.0.model"), "value", "H200"));
	json_decref(j);
}

static void threads_and_open_calls(void)
{
	struct trace t;
	json_t *j;
	const json_t *a, *b, *o;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	a = row(j, "threads", 0);
	b = row(j, "threads", 1);
	CHECK(is(a, "thread", "main") && num(a, "tid") == 100 && num(a, "calls") == 8 && num(a, "open") == 1);
	CHECK(num(a, "busy_ns") == 1780 && num(a, "share_percent") == 19.78 && num(a, "max_depth") == 2);
	CHECK(num(b, "busy_ns") == 655 && num(b, "max_depth") == 1 && absent(b, "thread") && rows(j, "threads") == 2);
	o = row(j, "open", 0);
	CHECK(is(o, "operation", "cuStreamSynchronize") && num(o, "duration_ns") == 1000 && num(o, "start_ns") == 8000);
	CHECK(num(o, "tid") == 100 && absent(o, "result") && rows(j, "open") == 1 && num(row(j, "header", 0), "open") == 1);
	json_decref(j);
}

static void lists_of_calls(void)
{
	struct trace t;
	json_t *j;
	const json_t *e;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	e = row(j, "errors", 0);
	CHECK(rows(j, "errors") == 1 && is(e, "operation", "cuMemAlloc_v2") && is(e, "error", "CUDA_ERROR_OUT_OF_MEMORY"));
	CHECK(num(e, "code") == 2 && num(e, "count") == 1 && num(e, "first_ns") == 1500 && num(e, "tid") == 100);
	CHECK(rows(j, "slowest") == 13 && num(row(j, "slowest", 0), "duration_ns") == 450 && num(row(j, "slowest", 0), "tid") == 101);
	CHECK(rows(j, "contexts") == 1 && is(row(j, "contexts", 0), "context", "0x77"));
	CHECK(num(row(j, "kernels", 0), "launches") == 3 && is(row(j, "kernels", 0), "name", "_Z3addPf"));
	CHECK(num(row(j, "kernels", 0), "total_ns") == 105 && rows(j, "kernels") == 2);
	CHECK(is(row(j, "copies", 0), "direction", "host to device") && num(row(j, "copies", 0), "bytes") == 4096);
	e = row_named(j, "histogram", "operation", "cuInit");
	CHECK(num(e, "from_ns") == 64 && num(e, "to_ns") == 128 && num(e, "count") == 1 && num(e, "share_percent") == 100);
	json_decref(j);
}

static void a_range_cuts(void)
{
	struct gt_analysis_options o = plain;
	struct trace t;
	json_t *j;

	known(&t, true);
	o.filter = (struct gt_filter){ .ranged = true, .from = 2200, .to = 3050 };
	o.restricted = "--from";
	j = report(end(&t), NULL, &o);
	CHECK(num(row(j, "userspace", 0), "api_calls") == 5);		/* whole calls that overlap */
	CHECK(num(row_named(j, "threads", "thread", "main"), "busy_ns") == 200 + 100 + 10);	/* busy time is cut */
	CHECK(num(row(j, "threads", 0), "busy_ns") == 450 + 45);
	CHECK(num(row(j, "threads", 0), "share_percent") == 58.24);	/* of 850 */
	CHECK(noted(j, "header", "restricted to --from"));
	json_decref(j);
}

static void top_leaves_rows_out_and_says_so(void)
{
	struct gt_analysis_options o = { .top = 2, .file = "x" };
	struct trace t;
	json_t *j;

	known(&t, true);
	j = report(end(&t), NULL, &o);
	CHECK(rows(j, "top") == 2 && noted(j, "top", "4 more rows below --top 2"));
	CHECK(num(row(j, "top", 0), "share_percent") == 66.20);		/* still of all */
	CHECK(rows(j, "slowest") == 2 && noted(j, "slowest", "11 more rows"));
	json_decref(j);
}

static void an_unclosed_file_is_told(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;
	struct trace t;
	json_t *j;

	known(&t, true);
	gt_writer_abandon(t.w);
	r = gt_reader_open_fd(t.fd, &err);
	j = report(r, NULL, &plain);
	CHECK(is(row(j, "header", 0), "closed", "not closed") && num(row(j, "header", 0), "complete_to_ns") >= 0);
	CHECK(noted(j, "header", "not closed") && num(row(j, "userspace", 0), "api_calls") == 13);
	json_decref(j);
}

static void times_far_apart(void)
{
	const int64_t far = GT_TIME_MAX - 100;
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 3; i++)
		call(&t, i, LAUNCH, (i - 1) * far, (i - 1) * far + 10, 0, 0, str(&t, "k"), 0);
	call(&t, 0, CONTEXT, -far + 20, -far + 30, 0, 0, 1, 0);
	j = report(end(&t), NULL, &plain);
	CHECK(num(row(j, "gaps", 0), "gaps") == 2 && num(row(j, "gaps", 0), "max_ns") == (double)(far - 10));
	CHECK(num(row(j, "contexts", 0), "start_ns") == 20);
	json_decref(j);
}

static void sums_do_not_wrap(void)
{
	static const char *const names[] = { "top", "threads", "memory", "summary", NULL };
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 4; i++)
		call(&t, i, ALLOC, -GT_TIME_MAX + 1, GT_TIME_MAX - 1, 0, 0, UINT64_MAX / 2, 0x1000ul + (uint64_t)i);
	j = report(end(&t), names, &plain);
	CHECK(num(row(j, "top", 0), "total_ns") == (double)INT64_MAX && num(row(j, "top", 0), "count") == 4);
	CHECK(num(row(j, "memory", 0), "allocated_bytes") == (double)INT64_MAX);
	CHECK(num(row(j, "userspace", 0), "allocated_bytes") == (double)INT64_MAX);
	json_decref(j);
}

/* ---- a large one, against the plainest count ---- */

#define LARGE 60000
struct ev { int64_t start, end; uint64_t bytes, addr; int type, thread; };
static struct ev evs[LARGE];

static void large(struct trace *t)
{
	int64_t now[8];
	uint64_t seed = 42;
	int n = 0;

	begin(t, true);
	with_ioctl(t);
	for (int i = 0; i < 8; i++)
		now[i] = 1000000 + i;
	for (; n < LARGE; n++) {
		struct ev *e = &evs[n];
		int th = (int)((seed = seed * 6364136223846793005ULL + 1442695040888963407ULL) >> 33) & 7;

		for (int i = 0; i < 8; i++)
			th = now[i] < now[th] - 20000 ? i : th;	/* no thread runs far ahead */
		*e = (struct ev){ .type = (int)((seed >> 40) % 9 == 8 ? RM : (seed >> 40) % 7), .thread = th,
				  .start = now[th] + (int64_t)((seed >> 20) % 500), .bytes = (seed >> 30) % 5000,
				  .addr = 0x1000 + ((seed >> 44) % 40) * 8 + (uint64_t)th * 4096 };
		e->end = e->start + (int64_t)((seed >> 25) % ((seed >> 50) % 50 ? 300 : 300000));
		now[th] = e->end;
		call(t, th, e->type, e->start, e->end, 0, e->type != INIT ? 0 : (int32_t)(seed >> 48 & 1) * 600,
		     e->type == FREE ? e->addr : e->type == LAUNCH ? str(t, e->bytes & 1 ? "_Z1av" : "_Z1bv") : e->bytes, e->addr);
		if (n % 5000 == 4999)
			gt_writer_epoch(t->w, now[th], &t->err);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct ev *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int by_effect(const void *a, const void *b)
{
	const struct ev *x = a, *y = b;
	int64_t p = x->type == ALLOC ? x->end : x->start, q = y->type == ALLOC ? y->end : y->start;

	return (p > q) - (p < q);
}

static void large_gaps(void)
{
	static const char *const names[] = { "gaps", NULL };
	int64_t last = 0, total = 0, most = 0, gaps = 0;
	struct trace t;
	json_t *j;

	large(&t);
	qsort(evs, LARGE, sizeof(*evs), by_start);
	for (int i = 0; i < LARGE; i++) {
		int64_t gap = last ? evs[i].start - last : 0;

		if (evs[i].type != LAUNCH)
			continue;
		if (gap > 0)
			gaps++, total += gap, most = gap > most ? gap : most;
		last = evs[i].end > last ? evs[i].end : last;
	}
	j = report(end(&t), names, &plain);
	CHECK(gaps > 100 && num(row(j, "gaps", 0), "gaps") == (double)gaps && num(row(j, "gaps", 0), "total_ns") == (double)total);
	CHECK(num(row(j, "gaps", 0), "max_ns") == (double)most && num(row(j, "largest_gaps", 0), "duration_ns") == (double)most);
	json_decref(j);
}

static void large_memory(void)
{
	static const char *const names[] = { "memory", NULL };
	static uint64_t held[65536];
	uint64_t live = 0, peak = 0, freed = 0, allocated = 0;
	struct trace t;
	json_t *j;
	const json_t *m;

	large(&t);
	memset(held, 0, sizeof(held));
	qsort(evs, LARGE, sizeof(*evs), by_effect);
	for (int i = 0; i < LARGE; i++) {
		uint64_t *at = &held[evs[i].addr];

		if (evs[i].type != ALLOC && evs[i].type != FREE)
			continue;
		live -= *at;
		freed += evs[i].type == FREE ? *at : 0;
		*at = evs[i].type == ALLOC ? evs[i].bytes : 0;
		live += *at;
		allocated += *at;
		peak = live > peak ? live : peak;
	}
	j = report(end(&t), names, &plain);
	m = row_named(j, "memory", "kind", "device");
	CHECK(num(m, "allocated_bytes") == (double)allocated && num(m, "freed_bytes") == (double)freed);
	CHECK(num(m, "peak_bytes") == (double)peak && num(m, "live_bytes") == (double)live);
	json_decref(j);
}

static void large_busy(void)
{
	static const char *const names[] = { "threads", NULL };
	int64_t busy[8] = { 0 };
	struct trace t;
	json_t *j;

	large(&t);
	for (int i = 0; i < LARGE; i++)
		busy[evs[i].thread] += evs[i].end - evs[i].start;
	j = report(end(&t), names, &plain);
	for (size_t i = 0; i < 8; i++)
		CHECK(num(row(j, "threads", i), "busy_ns") == (double)busy[(int)num(row(j, "threads", i), "tid") - 100]);
	json_decref(j);
}

/* What the descriptors say splits by block: any number of threads says the same as one. */
static void split_is_the_whole(void)
{
	struct gt_analysis_options o = { .top = 20, .file = "x" };
	struct trace t;
	char *whole;

	large(&t);
	whole = report_text(end(&t), NULL, &o, 1, GT_JSON);
	CHECK(whole && strlen(whole) > 5000);
	for (unsigned threads = 2; threads <= 5; threads++) {
		char *split;

		large(&t);
		split = report_text(end(&t), NULL, &o, threads, GT_JSON);
		CHECK(split && !strcmp(whole, split));
		free(split);
	}
	free(whole);
}

/* Alone or together, a report says the same. */
static void reports_do_not_disturb_each_other(void)
{
	struct gt_analysis_options o = { .top = 5, .file = "x" };
	struct trace t;
	json_t *all;

	large(&t);
	all = report(end(&t), NULL, &o);
	for (unsigned i = 0; gt_analyses[i]; i++) {
		const char *const names[] = { gt_analyses[i]->name, NULL };
		const char *key;
		json_t *one, *table;

		large(&t);
		one = report(end(&t), names, &o);
		CHECK(json_object_size(one) > 0);
		json_object_foreach(one, key, table)
			CHECK(json_equal(table, json_object_get(all, key)));
		json_decref(one);
	}
	json_decref(all);
}

/* Every table but the header is what it was before other sources recorded all of it as well; the header says so. */
static void a_call_counts_from_one_source(void)
{
	struct gt_analysis_options o[] = { plain, plain, plain };
	struct trace t;
	char *text;

	o[1].filter = (struct gt_filter){ .ranged = true, .from = 2200, .to = 3050 };
	o[2].filter.tid = 101;
	for (size_t i = 0; i < sizeof(o) / sizeof(*o); i++) {
		static const char *const same[] = { "calls", "open", "threads", "processes", "span_ns" };
		json_t *once, *twice, *table;
		const char *key;

		known(&t, true);
		once = report(end(&t), NULL, &o[i]);
		begin(&t, true);
		with_ioctl(&t);
		known_calls(&t);
		for (int s = 0; s < 3; s++) {
			seen_by(&t, (const char *[]){ "import x", "ebpf", "cupti" }[s], 0);
			known_calls(&t);
		}
		gt_writer_epoch(t.w, 10000, &t.err);
		twice = report(end(&t), NULL, &o[i]);
		json_object_foreach(once, key, table)
			CHECK(!strcmp(key, "header") || json_equal(table, json_object_get(twice, key)));
		for (size_t k = 0; k < sizeof(same) / sizeof(*same); k++)
			CHECK(num(row(once, "header", 0), same[k]) == num(row(twice, "header", 0), same[k]));
		CHECK(json_object_size(once) > 10 && json_object_size(twice) == json_object_size(once));
		CHECK(noted(twice, "header", "14 calls recorded by ebpf as well are counted once, from preload"));
		CHECK(noted(twice, "header", "14 calls recorded by cupti as well"));
		CHECK(noted(twice, "header", "14 calls recorded by import x as"));
		CHECK(!noted(once, "header", "as well"));
		json_decref(once);
		json_decref(twice);
	}
	begin(&t, true);
	call(&t, 0, INIT, 10, 20, 0, 0, 0, 0);
	seen_by(&t, "ebpf", 0);
	call(&t, 0, INIT, 10, 20, 0, 0, 0, 0);
	text = report_text(end(&t), NULL, &plain, 3, GT_TEXT);
	CHECK(text && strstr(text, "trace: 1 calls in 1 process, 8 threads") && strstr(text, "Total CUDA API calls: 1\n"));
	CHECK(text && strstr(text, "1 call recorded by ebpf as well is counted once, from preload"));
	free(text);
}

/* A layer that the best source has nothing of comes from the next one; other threads have nothing to do with it. */
static void sources_complement_each_other(void)
{
	struct trace t;
	struct gt_row moment = { .start = 2000, .end = 2000 };
	json_t *j;

	begin(&t, true);
	with_ioctl(&t);
	t.type[SCHED] = new_type(&t, "sched_switch", (struct gt_type){ .category = GT_CAT_SCHEDULER, .op = GT_OP_SCHED,
				 .layer = GT_LAYER_SCHED }, 0, 0);
	moment.type = t.type[SCHED];
	call(&t, 0, ALLOC, 1000, 1100, 0, 0, 100, 0xa000);
	call(&t, 2, INIT, 1000, 1100, 0, 0, 0, 0);
	for (int s = 0; s < 2; s++) {
		seen_by(&t, s ? "cupti" : "ebpf", 0);
		call(&t, 0, ALLOC, 1000, 1100, 0, 0, 100, 0xa000);
		call(&t, 0, RM, 1010, 1050, 1, 0, 0, 0);	/* preload has none: cupti's count */
		call(&t, 1, SYNC, 1000, 1050 + s, 0, 0, 0, 0);	/* likewise */
		if (!s)
			gt_writer_row(t.w, GT_INSTANT, t.thread[0], &moment, NULL, &t.err);
	}
	j = report(end(&t), NULL, &plain);
	CHECK(num(row(j, "userspace", 0), "api_calls") == 3 && num(row(j, "userspace", 0), "allocated_bytes") == 100);
	CHECK(num(row(j, "kernel_space", 0), "ioctl_calls") == 1 && num(row(j, "kernel_space", 0), "scheduler_calls") == 1);
	CHECK(num(row_named(j, "top", "operation", "cuStreamSynchronize"), "total_ns") == 51);
	CHECK(noted(j, "header", "1 call recorded by ebpf as well is counted once, from preload"));
	CHECK(noted(j, "header", "2 calls recorded by ebpf as well are counted once, from cupti"));
	CHECK(num(row(j, "header", 0), "calls") == 4 && num(row(j, "header", 0), "instants") == 1);
	json_decref(j);
}

/* Ids are used again: by a thread of the same source, and by a process that began later. */
static void ids_used_again_are_others(void)
{
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 4; i++) {
		seen_by(&t, i < 3 ? "cupti" : "ebpf", i < 2 ? 1000 : 5000000000);
		call(&t, 0, INIT, 1000 + 10 * i, 1005 + 10 * i, 0, 0, 0, 0);
	}
	j = report(end(&t), NULL, &plain);
	CHECK(num(row(j, "userspace", 0), "api_calls") == 3 && num(row(j, "header", 0), "calls") == 3);
	CHECK(noted(j, "header", "1 call recorded by ebpf as well is counted once, from cupti"));
	json_decref(j);
}

static void timeline_of_threads_and_calls(void)
{
	static const char *const names[] = { "timeline", NULL };
	struct gt_analysis_options top = { .top = 4, .file = "trace" };
	struct trace t;
	json_t *j;
	char *text;

	known(&t, true);
	j = report(end(&t), names, &plain);
	CHECK(rows(j, "timeline") == 2 && noted(j, "timeline", "60 cells of 150 ns each") && rows(j, "calls") == 14);
	CHECK(num(row(j, "timeline", 0), "tid") == 100 && num(row(j, "timeline", 0), "busy_percent") == 19.78);
	CHECK(is(row(j, "timeline", 0), "strip", "*     -@@-*  ..     *     -                          *@@@@@@"));
	CHECK(is(row(j, "calls", 2), "operation", "NV_ESC_RM_ALLOC") && num(row(j, "calls", 2), "depth") == 1);
	CHECK(num(row(j, "calls", 13), "open") == 1 && absent(row(j, "calls", 13), "result"));
	json_decref(j);
	known(&t, true);
	text = report_text(end(&t), names, &top, 1, GT_TEXT);
	CHECK(text && strstr(text, "10 more rows below --top 4") && strstr(text, "  1    NV_ESC_RM_ALLOC  ") && !strstr(text, "Launch"));
	free(text);
}

static void nothing_at_all(void)
{
	struct trace t;
	char *text;

	begin(&t, true);
	text = report_text(end(&t), NULL, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "Total CUDA API calls: "));
	free(text);
}

T_MAIN(T(summary_counts), T(summary_says_what_was_not_recorded), T(summary_text_has_its_shape),
       T(operations_and_categories), T(memory_over_threads), T(an_address_handed_out_twice), T(gaps_between_launches),
       T(losses_are_told), T(threads_and_open_calls), T(lists_of_calls), T(a_range_cuts),
       T(top_leaves_rows_out_and_says_so), T(an_unclosed_file_is_told), T(times_far_apart), T(sums_do_not_wrap),
       T(large_gaps), T(large_memory), T(large_busy), T(split_is_the_whole), T(reports_do_not_disturb_each_other),
       T(a_call_counts_from_one_source), T(sources_complement_each_other), T(ids_used_again_are_others),
       T(timeline_of_threads_and_calls), T(nothing_at_all))
