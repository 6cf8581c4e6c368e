/* Copies by direction if calls have only a name: the GPU's copies of each call give the rest. */
#define _GNU_SOURCE
#include "analyze/core/report.h"
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static const char *const transfers[] = { "transfers", NULL };
static const char *const words[] = { "unknown", "host to device", "device to host",
	"device to device", "host to host", "peer" };

/* From now on copying calls have a name and no other data. */
static void begin_bare(struct gpus *g)
{
	struct gt_type type = { .category = GT_CAT_COPY, .op = GT_OP_COPY };

	gpus_begin(g, "{\"imported_from\":\"kineto\"}");
	g->launch_name = type.name = gt_writer_string(g->w, "cudaMemcpyAsync");
	g->launch = gt_writer_type(g->w, &type);
}

static void copied(struct gpus *g, int thread, int64_t call, int64_t ns, int64_t start,
	enum gt_direction direction, uint64_t bytes, enum gt_join join)
{
	struct gt_gpu_work w = gpus_work(g->stream[0][0], start, start + 10);

	gpus_launched(g, &w, thread, call, ns, join);
	gpus_copy(g, &w, direction, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE, bytes);
}

static void bare_call(struct gpus *g, int thread, int64_t start, int64_t ns, int32_t ret)
{
	struct gt_row row = { .start = start, .end = start + ns, .type = g->launch, .ret = ret };

	gt_writer_row(g->w, GT_CALL, g->thread[thread], &row, NULL, &g->err);
}

static void known_copies(struct gpus *g)
{
	begin_bare(g);
	copied(g, 0, 100, 20, 130, GT_DIR_HTOD, 1000, GT_JOIN_CORRELATION);
	/* at the same time on another thread */
	copied(g, 1, 100, 30, 150, GT_DIR_DTOH, 500, GT_JOIN_CORRELATION);
	copied(g, 0, 200, 40, 900, GT_DIR_HTOD, 3000, GT_JOIN_ORDER); /* long after */
	/* of which no row came */
	bare_call(g, 0, 300, 50, 0);
	bare_call(g, 0, 400, 7, 1); /* it failed */
}

static void copies_of_the_gpu_have_directions(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	known_copies(&g);
	j = report(gpus_end(&g), transfers, &plain);
	r = row_named(j, "transfers", "direction", "host to device");
	CHECK(num(r, "count") == 2 && num(r, "bytes") == 4000 && num(r, "mean_bytes") == 2000 &&
		num(r, "max_bytes") == 3000);
	CHECK(num(r, "total_ns") == 60 && num(r, "max_ns") == 40);
	r = row_named(j, "transfers", "direction", "device to host");
	CHECK(num(r, "count") == 1 && num(r, "bytes") == 500 && num(r, "total_ns") == 30);
	r = row_named(j, "transfers", "direction", "unknown");
	CHECK(num(r, "count") == 2 && num(r, "failed") == 1 && absent(r, "bytes") &&
		num(r, "max_ns") == 50);
	CHECK(noted(j, "transfers", "for 3 copies the call has no direction and size") &&
		noted(j, "transfers", "for 1 of these"));
	CHECK(noted(j, "transfers", "arguments of 1 copy were not recorded"));
	json_decref(j);
}

static bool only_calls(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->layer == GT_LAYER_API;
}

/* Options select calls: their copies may be outside the range. */
static void options_choose_calls(void)
{
	struct gt_analysis_options o = plain;
	struct gpus g;
	json_t *j;

	known_copies(&g);
	o.filter = (struct gt_filter){ .ranged = true, .from = 190, .to = 250 };
	j = report(gpus_end(&g), transfers, &o);
	CHECK(rows(j, "transfers") == 1 &&
		is(row(j, "transfers", 0), "direction", "host to device"));
	CHECK_EQ(num(row(j, "transfers", 0), "bytes"), 3000);
	json_decref(j);
	known_copies(&g);
	o.filter = (struct gt_filter){ .tid = 101 };
	j = report(gpus_end(&g), transfers, &o);
	CHECK(rows(j, "transfers") == 1 && num(row(j, "transfers", 0), "bytes") == 500);
	json_decref(j);
	known_copies(&g);
	o.filter = (struct gt_filter){ .match = only_calls };
	j = report(gpus_end(&g), transfers, &o);
	CHECK(rows(j, "transfers") == 3 &&
		num(row_named(j, "transfers", "direction", "host to device"), "bytes") == 4000);
	json_decref(j);
}

/* Calls with bytes and no direction among such with both, some of several parts, on four threads of
 * gtanalyze. */
static void sums_equal_brute_force(void)
{
	unsigned long long seed = 1;

	for (int round = 0; round < 60; round++) {
		uint64_t count[6] = { 0 }, bytes[6] = { 0 }, ns[6] = { 0 };
		struct gpus g;
		char *text;
		json_t *j;

		begin_bare(&g);
		for (int i = 0; i < 40; i++) {
			unsigned draw = (unsigned)((seed = seed * 6364136223846793005ull +
								   1442695040888963407ull) >>
				33);
			enum gt_direction d = 1 + draw % 5;
			int thread = draw >> 4 & 1, parts = draw % 7;
			int64_t at = 100 * i, took = 1 + draw % 90;
			struct gt_gpu_work w = gpus_work(g.stream[0][0], at + 50, at + 60);

			gpus_launched(&g, &w, thread, at, took,
				draw % 3 ? GT_JOIN_CORRELATION : GT_JOIN_UNKNOWN);
			for (int k = 0; k < parts; k++)
				gpus_copy(&g, &w, d, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE,
					(uint64_t)i);
			d = parts && draw % 3 ? d : GT_DIR_UNKNOWN;
			count[d]++;
			bytes[d] += d ? (uint64_t)(i * parts) : 0;
			ns[d] += (uint64_t)took;
		}
		text = report_text(gpus_end(&g), transfers, &plain, 1 + round % 4, GT_JSON);
		j = text ? json_loads(text, 0, NULL) : NULL;
		for (int d = 0; d < 6; d++) {
			const json_t *r = row_named(j, "transfers", "direction", words[d]);

			CHECK(!r == !count[d]);
			CHECK(!r ||
				(num(r, "count") == (double)count[d] &&
					num(r, "total_ns") == (double)ns[d]));
			CHECK(!r || (d ? num(r, "bytes") == (double)bytes[d] : absent(r, "bytes")));
		}
		json_decref(j);
		free(text);
	}
}

T_MAIN(T(copies_of_the_gpu_have_directions), T(options_choose_calls), T(sums_equal_brute_force))
