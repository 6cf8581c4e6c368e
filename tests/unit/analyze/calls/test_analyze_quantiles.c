/* Quantiles as reports print them: never outside the range of the values, and exact if many rows
 * have one value. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static const json_t *row_where(
	const json_t *j, const char *table, const char *key, const char *value)
{
	for (size_t i = 0; i < rows(j, table); i++)
		if (is(row(j, table, i), key, value))
			return row(j, table, i);
	return NULL;
}

/* All three are in one bucket, whose middle is below each of them. */
static void top_stays_within_what_was_met(void)
{
	static const char *const reports[] = { "top", "ioctls", NULL };
	static const int64_t durations[] = { 498273300, 498273296, 499000000 };
	const char *const names[2][2] = { { "top", "cuMemAlloc_v2" },
		{ "ioctls", "NV_ESC_RM_ALLOC" } };
	struct trace t;
	uint32_t ioctl;
	int64_t at = 0;
	json_t *j;

	begin(&t, false);
	ioctl = new_type(&t, "NV_ESC_RM_ALLOC",
		(struct gt_type){
			.category = GT_CAT_IOCTL, .op = GT_OP_IOCTL, .layer = GT_LAYER_IOCTL },
		0, 0);
	for (int i = 0; i < 3; i++, at += 1000000000) {
		struct gt_row row = { at, at + durations[i], ioctl, 0, 1, 0 };

		call(&t, 0, ALLOC, at, at + durations[i], 0, 0, 0, 0);
		gt_writer_row(t.w, GT_CALL, t.thread[1], &row, NULL, &t.err);
	}
	j = report(end(&t), reports, &plain);
	for (int k = 0; k < 2; k++) {
		const json_t *r = row_where(j, names[k][0], "operation", names[k][1]);

		CHECK(r && num(r, "count") == 3 && num(r, "p50_ns") >= 498273296 &&
			num(r, "p50_ns") <= 499000000);
		CHECK_EQ(num(r, "p99_ns"), 499000000);
	}
	json_decref(j);
}

static void copies_of_one_size_have_that_size(void)
{
	static const char *const reports[] = { "cuda_gpu_mem_size_sum", NULL };
	struct gpus g;
	const json_t *r;
	json_t *j;

	gpus_begin(&g, NULL);
	for (int i = 0; i < 120; i++) {
		struct gt_gpu_work w = gpus_work(g.stream[0][0], i * 100, i * 100 + 50);

		gpus_copy(&g, &w, GT_DIR_HTOD, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE,
			i < 100 ? 1048576 : 12);
	}
	j = report(gpus_end(&g), reports, &plain);
	r = row(j, "cuda_gpu_mem_size_sum", 0);
	CHECK(num(r, "count") == 120 && num(r, "med_bytes") == 1048576);
	json_decref(j);
}

T_MAIN(T(top_stays_within_what_was_met), T(copies_of_one_size_have_that_size))
