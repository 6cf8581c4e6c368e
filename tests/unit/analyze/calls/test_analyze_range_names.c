/* Ranges whose names differ by numbers are one row, with the figures of all of them. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/core/run.h"
#include "analyze/stats/name_template.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static void numbers_become_n(void)
{
	static const struct {
		const char *name, *alone, *all;
		unsigned n;
		uint64_t number;
	} of[] = {
		{ "aten::add, op_id = 156", "aten::add, op_id = N", "aten::add, op_id = N", 1,
			156 },
		{ "aten::linear, seq = 7, op_id = 18446744073709551615",
			"aten::linear, seq = N, op_id = N", "aten::linear, seq = N, op_id = N", 2,
			UINT64_MAX },
		{ "ProfilerStep#12", "ProfilerStep#N", "ProfilerStep#N", 1, 12 },
		{ "12", "N", "N", 1, 12 },
		{ "lr 0.001", "lr N", "lr N.N", 1, 0 },
		{ "epoch 3.", "epoch N.", "epoch N.", 1, 3 },
		{ "layers.0.mlp", "layers.0.mlp", "layers.N.mlp", 0, 0 },
		{ "fp16", "fp16", "fpN", 0, 0 },
		{ "layer_3", "layer_3", "layer_N", 0, 0 },
		{ "AddmmBackward0", "AddmmBackward0", "AddmmBackwardN", 0, 0 },
		{ "3d conv", "3d conv", "Nd conv", 0, 0 },
		{ "\xc3\xa9"
		  "5",
			"\xc3\xa9"
			"5",
			"\xc3\xa9N", 0, 0 },
		{ "1.5x", "1.5x", "N.Nx", 0, 0 },
		{ "forward", "forward", "forward", 0, 0 },
		{ "", "", "", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct gt_string name = { of[i].name, (uint32_t)strlen(of[i].name) };
		char to[64];
		uint64_t number;
		unsigned n;
		size_t len = gt_name_template(name, GT_NUMBERS_ALONE, to, sizeof(to), &number, &n);

		CHECK(len == strlen(of[i].alone) && !memcmp(to, of[i].alone, len));
		CHECK(n == of[i].n && number == of[i].number);
		len = gt_name_template(name, GT_NUMBERS_ALL, to, sizeof(to), &number, &n);
		CHECK(len == strlen(of[i].all) && !memcmp(to, of[i].all, len));
		len = gt_name_template(name, GT_NUMBERS_ALL, to, 3, &number, &n);
		CHECK(len <= 3 && !memcmp(to, of[i].all, len));
	}
}

/* Range i of 200 has the name `format` of i and lasts (i + 1) * 100 ns. Names are written twice, as
 * types with different arguments have the same name. */
static struct gt_reader *ranges(const char *format, int n)
{
	struct gpus g;

	gpus_begin(&g, "{}");
	for (int i = 0; i < 2 * n; i++) {
		char name[64];
		struct gt_row row = { .start = 100000 * i, .end = 100000 * i + (i / 2 + 1) * 100 };

		snprintf(name, sizeof(name), format, i / 2);
		row.type = gt_writer_type(g.w,
			&(struct gt_type){ .name = gt_writer_string(g.w, name),
				.layer = GT_LAYER_USER,
				.memkind = (uint8_t)(i % 2),
				.category = GT_CAT_USER });
		gt_writer_row(g.w, GT_SPAN, g.thread[0], &row, NULL, &g.err);
	}
	return gpus_end(&g);
}

static void one_row_has_all_figures(void)
{
	struct gt_analysis_options o = plain;
	json_t *j = report(ranges("step %d", 200), (const char *[]){ "top", NULL }, &o);
	const json_t *r = row_named(j, "top", "operation", "step N");

	CHECK_EQ(rows(j, "top"), 1);
	CHECK(r);
	if (r) {
		CHECK_EQ(num(r, "count"), 400);
		CHECK_EQ(num(r, "total_ns"), 2 * 100 * 200 * 201 / 2);
		CHECK_EQ(num(r, "mean_ns"), 10050);
		CHECK_EQ(num(r, "max_ns"), 20000);
		CHECK(fabs(num(r, "p50_ns") - 10000) <= 100);
		CHECK(fabs(num(r, "p99_ns") - 19800) <= 200);
	}
	json_decref(j);
}

static void a_single_number_stays(void)
{
	struct gt_analysis_options o = plain;
	json_t *j = report(ranges("only 7 of 8", 3), (const char *[]){ "top", NULL }, &o);

	CHECK(row_named(j, "top", "operation", "only 7 of 8"));
	CHECK_EQ(rows(j, "top"), 1);
	json_decref(j);
	j = report(ranges("layer_%d", 5), (const char *[]){ "top", NULL }, &o);
	CHECK_EQ(rows(j, "top"), 5);
	json_decref(j);
}

/* The reports that copy Nsight's have the names as they are. */
static void nsight_has_each_name(void)
{
	struct gt_analysis_options o = plain;
	json_t *j = report(ranges("step %d", 5), (const char *[]){ "nvtx_sum", NULL }, &o);

	CHECK_EQ(rows(j, "nvtx_sum"), 5);
	json_decref(j);
}

T_MAIN(T(numbers_become_n), T(one_row_has_all_figures), T(a_single_number_stays),
	T(nsight_has_each_name))
