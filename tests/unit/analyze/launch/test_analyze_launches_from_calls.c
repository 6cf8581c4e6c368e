/* Definitions of counts, and the notes of reports whose figures differ: begins without an end,
 * calls about contexts, files of the driver among its ioctls, calls of the runtime, arguments
 * that were not recorded. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

/* Like known(), but there may be other rows. */
static void begun(struct trace *t)
{
	begin(t, true);
	with_ioctl(t);
	known_calls(t);
}

static uint32_t range_type(struct trace *t, const char *name)
{
	return new_type(
		t, name, (struct gt_type){ .category = GT_CAT_USER, .layer = GT_LAYER_USER }, 0, 0);
}

static void half(struct trace *t, uint32_t type, int64_t at, int32_t end)
{
	gt_writer_row(t->w, GT_UNMATCHED, t->thread[0], &(struct gt_row){ at, at, type, end, 0, 0 },
		NULL, &t->err);
}

/* The program never closed this range: the range is open, and its end is unknown. */
static void begins_without_an_end_are_named_and_listed(void)
{
	static const char *const reports[] = { "header", "open", NULL };
	struct trace t;
	json_t *j;

	begun(&t);
	for (int i = 0; i < 2; i++)
		half(&t, range_type(&t, "ncclCommInitRankConfig"), 3000 + i, 0);
	half(&t, range_type(&t, "ncclCommFinalize"), 4000, 0);
	j = report(end(&t), reports, &plain);
	CHECK(noted(j, "header",
		"UNMATCHED: 3 events have a begin but no end; only the report open lists them: ncclCommInitRankConfig (2), ncclCommFinalize (1)"));
	CHECK(rows(j, "open") == 4 && is(row(j, "open", 0), "operation", "cuStreamSynchronize") &&
		!absent(row(j, "open", 0), "duration_ns"));
	for (size_t i = 1; i < 4; i++)
		CHECK(absent(row(j, "open", i), "duration_ns") &&
			num(row(j, "open", i), "start_ns") >= 1999);
	CHECK(is(row(j, "open", 1), "operation", "ncclCommInitRankConfig") &&
		is(row(j, "open", 3), "operation", "ncclCommFinalize"));
	CHECK(noted(j, "open", "no recorded end"));
	json_decref(j);
}

static void ends_without_a_begin_are_in_no_list(void)
{
	static const char *const reports[] = { "header", "open", NULL };
	struct trace t;
	json_t *j;

	begun(&t);
	half(&t, range_type(&t, "a"), 3000, 1);
	half(&t, range_type(&t, "b"), 3000, 0);
	for (int i = 0; i < 4; i++) {
		char name[2] = { (char)('c' + i), 0 };

		half(&t, range_type(&t, name), 3100, 1);
	}
	j = report(end(&t), reports, &plain);
	CHECK(noted(j, "header",
		"UNMATCHED: 6 events have only a begin or only an end (the report open lists the begins): "
		"a (1), b (1), c (1), d (1) and 2 more names"));
	CHECK(rows(j, "open") == 2 && is(row(j, "open", 1), "operation", "b"));
	json_decref(j);
}

/* Recordings keep the category that a function had when they were made. */
static void only_what_changes_contexts_is_listed(void)
{
	static const char *const reports[] = { "contexts", NULL };
	static const char *const names[] = { "cuThreadExchangeStreamCaptureMode", "cuCtxCreate_v2",
		"cuCtxSetLimit", "cudaSetDevice" };
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 4; i++) {
		struct gt_row row = { .start = i * 100,
			.end = i * 100 + 10,
			.type = new_type(&t, names[i],
				(struct gt_type){ .category = GT_CAT_CONTEXT }, 0, 0) };

		gt_writer_row(t.w, GT_CALL, t.thread[0], &row, NULL, &t.err);
	}
	j = report(end(&t), reports, &plain);
	CHECK(rows(j, "contexts") == 2 && is(row(j, "contexts", 0), "operation", "cuCtxCreate_v2"));
	CHECK(is(row(j, "contexts", 1), "operation", "cudaSetDevice"));
	json_decref(j);
}

/* One ioctl and one close of a file: each report says which of them it counts. */
static void files_of_the_driver_are_distinguished(void)
{
	static const char *const reports[] = { "summary", "layers", "driver", NULL };
	struct gt_row closes = { .start = 7000, .end = 7500 };
	struct trace t;
	json_t *j;
	char *text;

	known(&t, true);
	closes.type = new_type(&t, "close /dev/nvidiactl",
		(struct gt_type){ .category = GT_CAT_FILE, .layer = GT_LAYER_IOCTL }, 0, 0);
	gt_writer_row(t.w, GT_CALL, t.thread[0], &closes, NULL, &t.err);
	j = report(end(&t), reports, &plain);
	CHECK(num(row(j, "kernel_space", 0), "ioctl_calls") == 1 &&
		noted(j, "kernel_space", "without 1 call that opens, maps or closes"));
	CHECK(num(row(j, "layers", 1), "count") == 2 &&
		noted(j, "layers",
			"ioctl: 1 of these rows opens, maps or closes the driver's files, 500 ns"));
	CHECK_EQ(
		num(row(j, "driver", 0), "ioctls") + num(row(j, "driver", 0), "outside_ioctls"), 2);
	CHECK(noted(j, "driver", "of these 2 ioctls 1 opens, maps or closes the driver's files"));
	json_decref(j);
	known(&t, true);
	text = report_text(end(&t), NULL, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "trace: 13 calls and ioctls and 1 still open in 1 process"));
	free(text);
	begin(&t, true);
	call(&t, 0, INIT, 100, 200, 0, 0, 0, 0);
	text = report_text(end(&t), NULL, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "trace: 1 call in 1 process"));
	free(text);
}

/* A file of another tool, with calls of the runtime, and copies that have only a name. */
static void unknown_in_imported_files(void)
{
	static const char *const reports[] = { "summary", "transfers", "gaps", "memory", NULL };
	struct trace t;
	uint32_t copy, alloc;
	json_t *j;

	begin(&t, false);
	gt_writer_meta(t.w, "{\"imported_from\":\"kineto\"}", &t.err);
	copy = new_type(&t, "cudaMemcpyAsync",
		(struct gt_type){ .category = GT_CAT_COPY, .op = GT_OP_COPY }, 0, 0);
	alloc = new_type(&t, "cudaMalloc",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_ALLOC, .memkind = GT_MEM_DEVICE },
		0, 0);
	call(&t, 0, INIT, 10, 20, 0, 0, 0, 0);
	gt_writer_row(t.w, GT_CALL, t.thread[0], &(struct gt_row){ 100, 200, copy, 0, 0, 0 }, NULL,
		&t.err);
	gt_writer_row(t.w, GT_CALL, t.thread[0], &(struct gt_row){ 300, 400, alloc, 0, 0, 0 }, NULL,
		&t.err);
	j = report(end(&t), reports, &plain);
	CHECK(num(row(j, "userspace", 0), "api_calls") == 3 &&
		noted(j, "userspace", "2 of the calls are the CUDA runtime's"));
	CHECK(noted(j, "transfers", "the arguments of 1 copy were not recorded"));
	CHECK(noted(j, "gaps", "cannot answer: what GPUs did was not recorded") &&
		!noted(j, "gaps", "gtcollect"));
	CHECK(noted(j, "memory_live", "cannot answer") && !noted(j, "memory_live", "gtcollect"));
	json_decref(j);
	begin(&t, false);
	call(&t, 0, INIT, 10, 20, 0, 0, 0, 0);
	j = report(end(&t), reports, &plain);
	CHECK(noted(j, "gaps", "gtcollect -e gpu") && !noted(j, "userspace", "runtime"));
	json_decref(j);
}

T_MAIN(T(begins_without_an_end_are_named_and_listed), T(ends_without_a_begin_are_in_no_list),
	T(only_what_changes_contexts_is_listed), T(files_of_the_driver_are_distinguished),
	T(unknown_in_imported_files))
