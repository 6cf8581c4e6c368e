/* Memory that is allocated again in each step: loops that allocate at random, compared with a
 * count that replays each call. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

#define ROUNDS 20
#define SIZES 3

struct churning {
	struct gpus g;
	uint32_t alloc, free_;
	/* time; the first launch of the first round and of the last one */
	int64_t at, loop, last;
	uint64_t live[SIZES][400], next; /* addresses */
	int nlive[SIZES], spare[SIZES];
	struct {
		int64_t called;
		int size;
	} again[4000];
	int nagain;
};

static uint32_t type_with(
	struct gpus *g, const char *name, unsigned op, unsigned role0, unsigned role1)
{
	struct gt_field f[2] = { { gt_writer_string(g->w, "one"), GT_F_U64, (uint8_t)role0 },
		{ gt_writer_string(g->w, "two"), GT_F_U64, (uint8_t)role1 } };

	return gt_writer_type(g->w,
		&(struct gt_type){ .name = gt_writer_string(g->w, name),
			.category = GT_CAT_MEMORY,
			.op = (uint8_t)op,
			.memkind = GT_MEM_DEVICE,
			.fields = f,
			.nfields = (uint8_t)(1 + !!role1) });
}

static void allocate(struct churning *c, int size)
{
	struct gt_row row = { .start = c->at, .end = c->at + 5, .type = c->alloc, .nargs = 2 };
	uint64_t address = 0x1000000 + 0x10000 * c->next++;

	gt_writer_row(c->g.w, GT_CALL, c->g.thread[0], &row, (uint64_t[]){ 1000u << size, address },
		&c->g.err);
	c->live[size][c->nlive[size]++] = address;
	if (c->spare[size]) {
		c->spare[size]--;
		c->again[c->nagain].called = c->at;
		c->again[c->nagain++].size = size;
	}
	c->at += 10;
}

static void give_back(struct churning *c, int size)
{
	struct gt_row row = { .start = c->at, .end = c->at + 5, .type = c->free_, .nargs = 1 };

	gt_writer_row(
		c->g.w, GT_CALL, c->g.thread[0], &row, &c->live[size][--c->nlive[size]], &c->g.err);
	c->spare[size]++;
	c->at += 10;
}

static void some(struct churning *c, int most)
{
	for (int n = rand() % (most + 1); n--;) {
		int size = rand() % SIZES;

		if (c->nlive[size] && rand() % 2)
			give_back(c, size);
		else
			allocate(c, size);
	}
}

static void launch(struct churning *c, int kernel)
{
	struct gt_gpu_work w = gpus_work(c->g.stream[0][0], c->at + 20, c->at + 25);

	gpus_launched(&c->g, &w, 0, c->at, 3, GT_JOIN_CORRELATION);
	if (kernel < 0)
		gpus_copy(&c->g, &w, GT_DIR_HTOD, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE, 4096);
	else
		gpus_kernel(&c->g, kernel, &w);
	c->at += 40;
}

static void churn_begins(struct churning *c)
{
	memset(c, 0, sizeof(*c));
	gpus_begin_with(&c->g, "{\"events\":\"api,gpu\"}", 1);
	c->alloc = type_with(&c->g, "cuMemAlloc_v2", GT_OP_ALLOC, GT_R_BYTES, GT_R_ADDR);
	c->free_ = type_with(&c->g, "cuMemFree_v2", GT_OP_FREE, GT_R_ADDR, 0);
	c->at = 1000;
}

/* A copy, which each step begins with, and three kernels; memory before, within and behind. */
static void churn_loops(struct churning *c, int most)
{
	some(c, 3 * most);
	for (int i = 0; i < ROUNDS; i++) {
		c->loop = i ? c->loop : c->at;
		c->last = c->at;
		launch(c, -1);
		some(c, most);
		launch(c, 0);
		launch(c, 1);
		some(c, most);
		launch(c, 0);
	}
	some(c, 3 * most);
}

static void steps_are_counted_in(void)
{
	static const char *const reports[] = { "steps", "memory", NULL };
	static struct churning c;
	int in = 0, out = 0;

	for (unsigned seed = 1; seed <= 30; seed++) {
		double want[SIZES] = { 0 };
		json_t *j;

		srand(seed);
		churn_begins(&c);
		churn_loops(&c, 1 + (int)seed % 9);
		j = report(gpus_end(&c.g), reports, &plain);
		for (int i = 0; i < c.nagain; i++) {
			bool is_in = c.again[i].called >= c.loop && c.again[i].called < c.last;

			want[c.again[i].size] += is_in;
			in += is_in;
			out += !is_in;
		}
		CHECK(num(row(j, "steps", 0), "steps") == ROUNDS - 1);
		for (size_t i = 0; i < rows(j, "memory_churn"); i++) {
			const json_t *r = row(j, "memory_churn", i);
			int size = num(r, "size_bytes") == 1000 ? 0
				: num(r, "size_bytes") == 2000  ? 1
								: 2;

			CHECK(fabs(num(r, "again_per_step") - want[size] / (ROUNDS - 1)) < 1e-3);
			want[size] = 0;
		}
		CHECK_EQ(want[0] + want[1] + want[2], 0);
		CHECK(!rows(j, "memory_churn") ||
			noted(j, "memory_churn", "per step: allocations in the steps"));
		json_decref(j);
	}
	CHECK(in > 100 && out > 10);
}

/* Without GPU work there are no steps; without repetition there are none, either. */
static void without_steps(void)
{
	static struct churning c;

	for (int how = 0; how < 2; how++) {
		json_t *j;

		churn_begins(&c);
		for (int i = 0; i < 5; i++) {
			allocate(&c, 0);
			if (how)
				launch(&c, i % 2);
			give_back(&c, 0);
		}
		j = report(gpus_end(&c.g), (const char *[]){ "memory", NULL }, &plain);
		CHECK(rows(j, "memory_churn") == 1 && num(row(j, "memory_churn", 0), "again") == 4);
		CHECK(absent(row(j, "memory_churn", 0), "again_per_step"));
		CHECK(noted(j, "memory_churn", "the number per step is unknown"));
		json_decref(j);
	}
}

T_MAIN(T(steps_are_counted_in), T(without_steps))
