/* Calls of the CUDA runtime: they have rows of their own, and are the cause of GPU work when
 * CUPTI reports only them. */
#define _GNU_SOURCE
#include "collect/correlate/gpu_correlate.h"
#include "tests/unit/collect/correlate/joins.h"

static struct rows rows;

static void runtime(
	struct join *j, unsigned t, int64_t start, int64_t end, uint32_t correlation, uint32_t cbid)
{
	struct gt_gpu_event e = { .id = GT_EV_RUNTIME,
		.start = start,
		.end = end,
		.n = 2,
		.body.call = { correlation, cbid, (int32_t)t + 1, 5 } };

	gt_gpu_event(j->g, &j->p, j->process, &e);
}

static size_t runtime_rows(struct gt_reader *r, const char *name, uint64_t correlation)
{
	struct gt_filter f = { .kinds = GT_BIT(GT_SPAN) };
	struct gt_iter *it = gt_iter_open(r, &f, NULL);
	struct gt_event ev;
	size_t n = 0;

	while (gt_iter_next(it, &ev, NULL) == 1) {
		const struct gt_type *type = &ev.seg->types[ev.row.type];
		const struct gt_track *track = &ev.seg->tracks[ev.track];

		n += !strcmp(gt_type_name(ev.seg, ev.row.type), name) &&
			role(&ev, GT_R_CORRELATION) == correlation && ev.row.ret == 5 &&
			type->layer == GT_LAYER_RUNTIME && type->op == GT_OP_NONE &&
			track->kind == GT_TRACK_THREAD && track->id == 1;
	}
	gt_iter_close(it);
	return n;
}

/* 0: the driver's call, 1: CUPTI's record of the runtime's around it, 2: the kernel. */
static void a_runtime_call_stands_for_the_one_within(void)
{
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 },
		{ 2, 0, 1 }, { 2, 1, 0 } };
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	for (int i = 0; i < 12; i++) {
		begin(&j);
		for (int k = 0; k < 3; k++) {
			if (orders[i / 2][k] == 0)
				call(&j, 0, SECOND, SECOND + 500, 1, 10);
			else if (orders[i / 2][k] == 1)
				runtime(&j, 0, SECOND - 100, SECOND + 600, 55, 211);
			else
				kernel(&j, SECOND + 2000, SECOND + 9000, 55, 1, 10);
			if (i & 1)
				settle(&j, SECOND + 10000 + k, false);
		}
		r = finish(&j, SECOND + 20000, &t);
		CHECK(r && t.kernels == 1 && t.exact == 1 && !t.wrong && !t.without_record &&
			t.runtime == 1);
		read_rows(r, &rows);
		CHECK(rows.n == 1 && rows.r[0].launch_start == SECOND &&
			rows.r[0].launch_ns == 500);
		CHECK_EQ(runtime_rows(r, "cudaLaunchKernel", 55), 1);
		gt_reader_close(r);
	}
}

static void several_calls_within_one(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	call(&j, 0, SECOND, SECOND + 500, 1, 10);
	call(&j, 0, SECOND + 600, SECOND + 900, 2, 10);
	call(&j, 0, SECOND + 1000, SECOND + 1200, 3, 10); /* two that look the same */
	call(&j, 0, SECOND + 1300, SECOND + 1400, 3, 10);
	call(&j, 0, SECOND + 1500, SECOND + 1600, 4, 10); /* of the next one */
	runtime(&j, 0, SECOND - 100, SECOND + 1450, 55, 211);
	runtime(&j, 0, SECOND + 1460, SECOND + 1700, 56, 211);
	runtime(&j, 0, SECOND + 1800, SECOND + 1900, 57, 20); /* cudaMalloc: nothing within */
	kernel(&j, SECOND + 2000, SECOND + 2100, 55, 2, 10);
	kernel(&j, SECOND + 2200, SECOND + 2300, 55, 1, 10);
	kernel(&j, SECOND + 2400, SECOND + 2500, 55, 3, 10);
	kernel(&j, SECOND + 2600, SECOND + 2700, 55, 3, 10);
	kernel(&j, SECOND + 2800, SECOND + 2900, 56, 4, 10);
	kernel(&j, SECOND + 3000, SECOND + 3100, 55, 4, 10); /* of none of them */
	r = finish(&j, SECOND + 20000, &t);
	CHECK(r && t.kernels == 6 && t.exact == 4 && t.inferred == 1 && t.wrong == 1 &&
		t.unjoined == 1 && !t.without_record && t.runtime == 3);
	read_rows(r, &rows);
	CHECK(rows.n == 6 && rows.r[0].launch_start == SECOND + 600 &&
		rows.r[1].launch_start == SECOND);
	CHECK(rows.r[2].launch_start == SECOND + 1000);
	CHECK(rows.r[2].join == GT_JOIN_ORDER && rows.r[3].launch_start == SECOND + 1300 &&
		rows.r[3].join == GT_JOIN_CORRELATION);
	CHECK(rows.r[4].launch_start == SECOND + 1500 && rows.r[5].join == GT_JOIN_UNKNOWN);
	CHECK_EQ(runtime_rows(r, "cudaMalloc", 57), 1);
	gt_reader_close(r);
}

/* A call that ended within it may still be in a ring. */
static void a_runtime_call_waits_for_those_within(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	call(&j, 0, SECOND, SECOND + 500, 1, 10);
	runtime(&j, 0, SECOND - 100, SECOND + 1450, 55, 211);
	settle(&j, SECOND + 1000, false);
	call(&j, 0, SECOND + 600, SECOND + 1200, 2, 10);
	settle(&j, SECOND + 2000, false);
	kernel(&j, SECOND + 2000, SECOND + 2100, 55, 2, 10);
	kernel(&j, SECOND + 2200, SECOND + 2300, 55, 1, 10);
	r = finish(&j, SECOND + 20000, &t);
	CHECK(r && t.exact == 2 && !t.wrong);
	gt_reader_close(r);
}

/* An unlimited number of calls that never reach the driver or launch no work. */
static void runtime_calls_take_no_memory(void)
{
	struct gt_gpu_totals t;
	struct join j;
	size_t before = 0;

	begin(&j);
	for (int64_t i = 0; i < 400000; i++) {
		runtime(&j, 0, SECOND + i * 1000, SECOND + i * 1000 + 500, (uint32_t)i + 1,
			i % 4 ? 17 : 211);
		if (i % 1000 == 0)
			settle(&j, SECOND + i * 1000 + 600, false);
		if (i == 50000)
			before = in_use();
	}
	CHECK(in_use() < before + (12u << 20));
	gt_reader_close(finish(&j, 3 * SECOND, &t));
	CHECK_EQ(t.runtime, 400000);
}

T_MAIN(T(a_runtime_call_stands_for_the_one_within), T(several_calls_within_one),
	T(a_runtime_call_waits_for_those_within), T(runtime_calls_take_no_memory))
