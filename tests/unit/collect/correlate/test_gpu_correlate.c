/* Joining GPU work to the calls that launched it: whatever order things come in, right or not at
 * all. */
#define _GNU_SOURCE
#include "collect/correlate/gpu_correlate.h"
#include "tests/unit/collect/correlate/joins.h"

static struct rows rows;

/* 0: call, 1: CUPTI's record of it, 2: the kernel; and whether they come in passes of their own. */
static void one_launch(const int order[3], bool apart, struct gt_gpu_totals *totals)
{
	struct gt_reader *r;
	struct join j;

	begin(&j);
	for (int i = 0; i < 3; i++) {
		if (order[i] == 0)
			call(&j, 0, SECOND, SECOND + 500, 1, 10);
		else if (order[i] == 1)
			record(&j, 0, SECOND + 100, SECOND + 400, 55, LAUNCH_CBID);
		else
			kernel(&j, SECOND + 2000, SECOND + 9000, 55, 1, 10);
		if (apart)
			settle(&j, SECOND + 10000 + i, false);
	}
	r = finish(&j, SECOND + 20000, totals);
	rows.n = 0;
	if (r)
		read_rows(r, &rows);
	gt_reader_close(r);
}

static void in_whatever_order_they_come(void)
{
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 },
		{ 2, 0, 1 }, { 2, 1, 0 } };
	struct gt_gpu_totals t;

	for (int i = 0; i < 12; i++) {
		one_launch(orders[i / 2], i & 1, &t);
		CHECK(t.kernels == 1 && t.exact == 1 && !t.inferred && !t.unjoined && !t.wrong &&
			!t.without_record);
		CHECK(rows.n == 1 && rows.r[0].start == SECOND + 2000 &&
			rows.r[0].launch_start == SECOND && rows.r[0].launch_ns == 500);
		CHECK(rows.r[0].join == GT_JOIN_CORRELATION && rows.r[0].track == 1 &&
			rows.r[0].correlation == 55 && !strcmp(rows.r[0].name, "kernel1"));
	}
}

static void what_does_not_fit_its_call_is_not_joined(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	call(&j, 0, SECOND, SECOND + 500, 1, 10);
	record(&j, 0, SECOND + 100, SECOND + 400, 1, LAUNCH_CBID);
	kernel(&j, SECOND + 2000, SECOND + 9000, 1, 1, 11); /* another grid */
	call(&j, 0, SECOND + 1000, SECOND + 1500, 1, 10);
	record(&j, 0, SECOND + 1100, SECOND + 1400, 2, LAUNCH_CBID);
	kernel(&j, SECOND + 12000, SECOND + 19000, 2, 2, 10); /* another kernel */
	r = finish(&j, SECOND + 30000, &t);
	CHECK(r && t.kernels == 2 && t.wrong == 2 && t.unjoined == 2 && !t.exact);
	read_rows(r, &rows);
	CHECK(rows.n == 2 && rows.r[0].join == GT_JOIN_UNKNOWN && rows.r[0].track == GT_NONE);
	gt_reader_close(r);
}

static void a_graph_has_many_nodes(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	graph_call(&j, 2, SECOND, SECOND + 500);
	record(&j, 2, SECOND + 100, SECOND + 400, 9, GRAPH_CBID);
	for (unsigned i = 0; i < 100; i++)
		kernel_of(&j, SECOND + 2000 + i * 100, SECOND + 2050 + i * 100, 9, 1 + i % 8, i + 1,
			3, 4 + i);
	r = finish(&j, SECOND + 30000, &t);
	CHECK(r && t.kernels == 100 && t.exact == 100 && !t.without_record);
	read_rows(r, &rows);
	CHECK(rows.n == 100 && rows.r[99].launch_start == SECOND && rows.r[99].track == 3 &&
		rows.r[99].join == GT_JOIN_CORRELATION);
	gt_reader_close(r);
}

/* A CUPTI that gives no records of calls. */
static void without_records_of_calls_the_order_must_do(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	call(&j, 0, SECOND, SECOND + 500, 1, 10);
	call(&j, 1, SECOND + 100, SECOND + 600, 2, 10);
	call(&j, 0, SECOND + 700, SECOND + 900, 1, 10);
	kernel(&j, SECOND + 2000, SECOND + 3000, 1, 1, 10);
	kernel(&j, SECOND + 3000, SECOND + 4000, 2, 2, 10);
	settle(&j, SECOND + 5000, false);
	kernel(&j, SECOND + 4000, SECOND + 5000, 3, 1, 10);
	kernel(&j, SECOND + 5000, SECOND + 6000, 4, 1, 10); /* one too many */
	r = finish(&j, SECOND + 30000, &t);
	CHECK(r && t.kernels == 4 && t.inferred == 3 && t.unjoined == 1 && !t.exact &&
		!t.without_record);
	read_rows(r, &rows);
	CHECK(rows.n == 4 && rows.r[0].launch_start == SECOND &&
		rows.r[1].launch_start == SECOND + 100 && rows.r[1].track == 2);
	CHECK(rows.r[2].launch_start == SECOND + 700 && rows.r[2].join == GT_JOIN_ORDER &&
		rows.r[3].join == GT_JOIN_UNKNOWN);
	gt_reader_close(r);
}

/* CUPTI was another's from 2 s to 4 s, and no calls have records since. More calls were made
 * meanwhile than are looked through. */
static void calls_made_in_an_absence_are_no_candidates(void)
{
	struct gt_gpu_totals t;
	struct join j;
	struct gt_reader *r;

	begin(&j);
	gpu_state(&j, GT_GPU_ON, SECOND, SECOND);
	call(&j, 0, SECOND + 100, SECOND + 200, 1, 10);
	gpu_state(&j, GT_GPU_YIELDED, 2 * SECOND, 2 * SECOND);
	for (int i = 0; i < 1000; i++)
		call(&j, 0, 3 * SECOND + 1000 * i, 3 * SECOND + 1000 * i + 100, 1, 10);
	gpu_state(&j, GT_GPU_RESUMED, 4 * SECOND, 4 * SECOND);
	kernel(&j, SECOND + 1000, SECOND + 2000, 5, 1, 10); /* it comes late */
	for (int i = 0; i < 3; i++) {
		call(&j, 0, 5 * SECOND + 10000 * i, 5 * SECOND + 10000 * i + 100, 1, 10);
		kernel(&j, 5 * SECOND + 10000 * i + 1000, 5 * SECOND + 10000 * i + 2000, 2000 + i,
			1, 10);
	}
	r = finish(&j, 90 * SECOND, &t);
	CHECK(r && t.kernels == 4 && t.inferred == 4 && !t.unjoined && !t.wrong &&
		!t.without_record);
	read_rows(r, &rows);
	CHECK(rows.r[0].launch_start == SECOND + 100);
	for (int i = 0; i < 3; i++)
		CHECK(rows.r[1 + i].launch_start == 5 * SECOND + 10000 * i);
	gt_reader_close(r);
}

/* While CUPTI detaches, and while it attaches again, work may have a record although its call
 * has none. */
static void calls_at_the_ends_of_an_absence_are(void)
{
	static const int64_t launched[] = { 2 * SECOND - 50, 2 * SECOND + 500, 4 * SECOND - 500,
		4 * SECOND + 500 };
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	gpu_state(&j, GT_GPU_ON, SECOND, SECOND);
	for (int i = 0; i < 4; i++) {
		call(&j, 0, launched[i], launched[i] + 100, 1, 10);
		kernel(&j, launched[i] + 1000, launched[i] + 1100, 2000 + i, 1, 10);
	}
	gpu_state(&j, GT_GPU_YIELDED, 2 * SECOND, 2 * SECOND + 1000);
	gpu_state(&j, GT_GPU_RESUMED, 4 * SECOND - 1000, 4 * SECOND);
	gt_reader_close(finish(&j, 90 * SECOND, &t));
	CHECK(t.kernels == 4 && t.inferred == 4 && !t.unjoined && !t.without_record);
}

#define TURN (SECOND / 10)

/* Two departures, of threads of the program's, and two returns, of ours: threads' rings are read
 * one after another, so they may come in any order but that of the returns. All at once, or one
 * with each pass. */
static void states_of_several_threads_come_in_any_order(void)
{
	static const struct {
		enum gt_gpu_state what;
		int64_t at;
	} turns[] = { { GT_GPU_YIELDED, 2 }, { GT_GPU_RESUMED, 4 }, { GT_GPU_YIELDED, 6 },
		{ GT_GPU_RESUMED, 8 } };
	static const char *const orders[] = { "0123", "0213", "2013", "1302", "1320", "1032",
		"2103", "0132", "1023", "2130" };

	for (size_t i = 0; i < 2 * sizeof(orders) / sizeof(*orders); i++) {
		struct gt_gpu_totals t;
		struct join j;

		begin(&j);
		gpu_state(&j, GT_GPU_ON, TURN, TURN);
		for (int64_t at = 3; at <= 9; at += 2)
			call(&j, 0, at * TURN, at * TURN + 100, 1, 10);
		for (int64_t at = 5; at <= 9; at += 4) {
			record(&j, 0, at * TURN + 10, at * TURN + 90, (uint32_t)at, LAUNCH_CBID);
			kernel(&j, at * TURN + 1000, at * TURN + 2000, (uint32_t)at, 1, 10);
		}
		for (const char *o = orders[i / 2]; *o; o++) {
			gpu_state(&j, turns[*o - '0'].what, turns[*o - '0'].at * TURN,
				turns[*o - '0'].at * TURN + 1000);
			if (i & 1)
				settle(&j, 10 * TURN, false);
		}
		gt_reader_close(finish(&j, 90 * SECOND, &t));
		CHECK(t.yields == 2 && t.resumed == 2 && t.cupti_absent_ns == 4 * TURN + 2000);
		CHECK(t.kernels == 2 && t.exact == 2 && !t.without_record);
	}
}

/* A return whose departure was lost, and the other way round. */
static void states_that_were_lost_are_not_waited_for(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	gpu_state(&j, GT_GPU_ON, SECOND, SECOND);
	/* more calls than the queue holds */
	for (int i = 0; i < 2000; i++)
		gpu_state(&j, GT_GPU_RESUMED, 4 * SECOND, 4 * SECOND);
	gpu_state(&j, GT_GPU_YIELDED, 6 * SECOND, 6 * SECOND);
	settle(&j, 7 * SECOND, false);
	settle(&j, 9 * SECOND, false);
	/* CUPTI's return was not reported */
	gpu_state(&j, GT_GPU_YIELDED, 8 * SECOND, 8 * SECOND);
	gpu_state(&j, GT_GPU_RESUMED, 9 * SECOND, 9 * SECOND);
	settle(&j, 10 * SECOND, false);
	call(&j, 0, 14 * SECOND, 14 * SECOND + 100, 1, 10);
	/* CUPTI is ours: records may come late */
	settle(&j, 20 * SECOND, false);
	record(&j, 0, 14 * SECOND + 10, 14 * SECOND + 90, 5, LAUNCH_CBID);
	kernel(&j, 14 * SECOND + 1000, 14 * SECOND + 2000, 5, 1, 10);
	gt_reader_close(finish(&j, 90 * SECOND, &t));
	CHECK(t.yields == 2 && t.resumed == 2001 && t.cupti_absent_ns == 3 * SECOND);
	CHECK(t.exact == 1 && !t.without_record);
}

/* Work without a call is looked for among all calls, while it is not known yet that CUPTI is back;
 * those that have records keep them. */
static void looking_for_a_call_takes_none_from_others(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	gpu_state(&j, GT_GPU_ON, SECOND, SECOND);
	gpu_state(&j, GT_GPU_YIELDED, 2 * SECOND, 2 * SECOND);
	call(&j, 0, 3 * SECOND, 3 * SECOND + 100, 1, 10);
	kernel(&j, SECOND + 1000, SECOND + 1100, 99, 2, 20);
	settle(&j, 4 * SECOND, false);
	for (int i = 0; i < 100; i++)
		call(&j, 0, 5 * SECOND + 10000 * i, 5 * SECOND + 10000 * i + 100, 1, 10);
	gpu_state(&j, GT_GPU_RESUMED, 4 * SECOND, 4 * SECOND);
	settle(&j, 8 * SECOND, false);
	for (int i = 0; i < 100; i++) {
		record(&j, 0, 5 * SECOND + 10000 * i + 10, 5 * SECOND + 10000 * i + 90, 2000 + i,
			LAUNCH_CBID);
		kernel(&j, 5 * SECOND + 10000 * i + 1000, 5 * SECOND + 10000 * i + 1100, 2000 + i,
			1, 10);
	}
	gt_reader_close(finish(&j, 90 * SECOND, &t));
	CHECK(t.exact == 100 && t.unjoined == 1 && !t.without_record);
}

static void impossible_times_are_counted_apart(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	call(&j, 0, SECOND, SECOND + 500, 1, 10);
	kernel(&j, 1, 0, 1, 1, 10); /* both were 0 */
	kernel(&j, SECOND + 9000, SECOND + 8000, 1, 1, 10);
	kernel(&j, SECOND, 1ll << 60, 1, 1, 10);
	r = finish(&j, SECOND + 30000, &t);
	/* CUPTI was never said to be on */
	CHECK(r && t.impossible == 3 && !t.kernels && t.without_record == 0);
	read_rows(r, &rows);
	CHECK(!rows.n);
	gt_reader_close(r);
}

static void a_launch_without_a_record_is_counted(void)
{
	struct gt_gpu_event on = { .id = GT_EV_GPU_STATE,
		.start = SECOND,
		.end = SECOND,
		.n = 3,
		.body.state = { GT_GPU_ON, 1, 130001 } };
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	gt_gpu_event(j.g, &j.p, j.process, &on);
	call(&j, 0, SECOND, SECOND + 500, 1, 10);
	call(&j, 0, SECOND + 1000, SECOND + 1500, 1, 10);
	record(&j, 0, SECOND + 1100, SECOND + 1400, 2, LAUNCH_CBID);
	gt_reader_close(finish(&j, SECOND + 30000, &t));
	CHECK(t.without_record == 2 && !t.kernels && t.processes == 1 &&
		!strcmp(t.state, "CUPTI, kernel1, API version 130001"));
}

static void a_name_may_come_later(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	j.names_known = false;
	call(&j, 0, SECOND, SECOND + 500, 3, 10);
	record(&j, 0, SECOND + 100, SECOND + 400, 2, LAUNCH_CBID);
	kernel(&j, SECOND + 2000, SECOND + 3000, 2, 3, 10);
	settle(&j, SECOND + 5000, false);
	j.names_known = true;
	r = finish(&j, SECOND + 30000, &t);
	CHECK(r && t.exact == 1);
	read_rows(r, &rows);
	CHECK(rows.n == 1 && !strcmp(rows.r[0].name, "kernel3"));
	gt_reader_close(r);
}

/* ---- much ---- */

/* A capture of one thread includes launches of other threads; their calls may arrive after the
 * capture's end has arrived. */
static void captured_by_other_threads(void)
{
	struct gt_gpu_call c = {
		.tid = 1, .name = GT_NONE, .kernel = GT_NONE, .has_stream = true, .stream = 5
	};
	struct gt_gpu_totals totals;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	c.track = j.thread[0];
	c.id = (uint16_t)gt_api_find("cuStreamBeginCapture_v2");
	c.kind = GT_GPU_CALL_BEGINS_CAPTURE;
	c.start = SECOND, c.end = SECOND + 10;
	gt_gpu_call(j.g, &j.p, j.process, &c);
	call(&j, 0, SECOND + 100, SECOND + 200, 1, 10);
	c.id = (uint16_t)gt_api_find("cuStreamEndCapture");
	c.kind = GT_GPU_CALL_ENDS_CAPTURE;
	c.start = SECOND + 1000, c.end = SECOND + 1010;
	gt_gpu_call(j.g, &j.p, j.process, &c);
	call(&j, 1, SECOND + 300, SECOND + 400, 1, 10); /* in it */
	record(&j, 1, SECOND + 310, SECOND + 390, 7, LAUNCH_CBID);
	call(&j, 1, SECOND + 2000, SECOND + 2100, 1, 10); /* not in it */
	record(&j, 1, SECOND + 2010, SECOND + 2090, 8, LAUNCH_CBID);
	r = finish(&j, 2 * SECOND, &totals);
	CHECK(r && totals.captured == 2 && totals.without_record == 1);
	gt_reader_close(r);
}

static int add_missing(void *arg, unsigned worker, const struct gt_cols *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		*(int64_t *)arg +=
			c->seg->types[c->types[c->code ? c->code[i] : 0]].layer == GT_LAYER_GPU
			? c->start[i]
			: 0;
	return 0;
}

/* Missing GPU work is listed; a copy of 0 bytes is not. */
static void what_is_missing_is_listed(void)
{
	struct gt_gpu_call c = { .id = (uint16_t)gt_api_find("cuMemcpyHtoDAsync_v2"),
		.tid = 1,
		.name = GT_NONE,
		.kernel = GT_NONE,
		.empty = true,
		.start = SECOND,
		.end = SECOND + 10 };
	struct gt_filter f = { .kinds = GT_BIT(GT_INSTANT) };
	struct gt_gpu_event on = { .id = GT_EV_GPU_STATE, .n = 3, .body.state = { GT_GPU_ON } };
	struct gt_gpu_totals totals;
	struct gt_reader *r;
	int64_t sum = 0;
	struct join j;

	begin(&j);
	gt_gpu_event(j.g, &j.p, j.process, &on);
	settle(&j, 1, false);
	c.track = j.thread[0];
	gt_gpu_call(j.g, &j.p, j.process, &c);
	call(&j, 0, SECOND + 100, SECOND + 200, 1, 10);
	call(&j, 0, SECOND + 300, SECOND + 400, 2, 10);
	record(&j, 0, SECOND + 310, SECOND + 390, 7, LAUNCH_CBID);
	r = finish(&j, 2 * SECOND, &totals);
	CHECK(r && totals.without_record == 2);
	CHECK(!gt_scan(r, &f, GT_ANY_ORDER, 1, add_missing, &sum, &j.err) &&
		sum == 2 * SECOND + 400);
	gt_reader_close(r);
}

/* The origin of a node: of a copied copy, found by the node's number within its graph; of a node
 * without a creation record; and in a program that creates graphs without end. */
static void nodes_have_their_creation(void)
{
	struct gt_gpu_cause by = { GT_JOIN_CORRELATION, 0, 0, 77, 5, 0 };
	struct gt_gpu_totals totals;
	struct gt_filter f = { .kinds = GT_BIT(GT_GPU) };
	struct gt_iter *it;
	struct gt_event ev;
	struct gt_reader *r;
	struct join j;
	unsigned known = 0, unknown = 0;

	begin(&j);
	by.track = j.thread[3];
	by.name = j.launch_name;
	CHECK(!gt_gpu_node_created(&j.p, j.process, 4ull << 32 | 1, &by, NULL));
	by.start = 88;
	CHECK(!gt_gpu_node_created(&j.p, j.process, 5ull << 32 | 2, &by, NULL));
	CHECK(!gt_gpu_graph_cloned(&j.p, j.process, 5, 4, 0, 0) &&
		!gt_gpu_graph_cloned(&j.p, j.process, 6, 5, 0, 0) &&
		!gt_gpu_graph_cloned(&j.p, j.process, 9, 9, 0, 0));
	graph_call(&j, 0, SECOND, SECOND + 500);
	record(&j, 0, SECOND + 100, SECOND + 400, 9, GRAPH_CBID);
	kernel_of(&j, SECOND + 600, SECOND + 700, 9, 1, 10, 6, 6ull << 32 | 1);
	kernel_of(&j, SECOND + 800, SECOND + 900, 9, 2, 10, 6, 6ull << 32 | 2);
	kernel_of(&j, SECOND + 1000, SECOND + 1100, 9, 3, 10, 6, 6ull << 32 | 3);
	/* the records form a cycle */
	kernel_of(&j, SECOND + 1200, SECOND + 1300, 9, 4, 10, 9, 9ull << 32 | 1);
	settle(&j, 2 * SECOND, false);
	for (uint64_t i = 0; i < 300000; i++)
		CHECK(!gt_gpu_node_created(&j.p, j.process, (100 + i) << 32, &by, NULL) &&
			!gt_gpu_graph_cloned(&j.p, j.process, (uint32_t)(400000 + i),
				(uint32_t)(100 + i), i % 16 * 8, (int64_t)i));
	r = finish(&j, 3 * SECOND, &totals);
	CHECK(r && totals.kernels == 4);
	for (it = gt_iter_open(r, &f, NULL); it && gt_iter_next(it, &ev, NULL) == 1;) {
		bool told = role(&ev, GT_R_CREATED_BY_NAME) != GT_NONE;

		known += told && role(&ev, GT_R_CREATED_BY_START) == (known ? 88 : 77) &&
			role(&ev, GT_R_CREATED_BY_TRACK) == j.thread[3];
		unknown += !told && role(&ev, GT_R_CREATED_BY_TRACK) == GT_NONE;
	}
	gt_iter_close(it);
	gt_reader_close(r);
	CHECK(known == 2 && unknown == 2);
}

/* Work that was timed with CUDA events names its call by thread and start, whatever the times
 * are. */
static void timed(struct join *j, enum gt_ring_event id, unsigned t, const char *function,
	uint64_t ticks, int64_t start, unsigned k)
{
	struct gt_gpu_event e = { .id = (uint16_t)id,
		.start = start,
		.end = start + 5000,
		.n = 11,
		.body.timed = { .tid = (int32_t)t + 1,
			.id = gt_api_find(function),
			.call_start = ticks,
			.kernel = { .work = { .correlation = k, .context = 1, .stream = 7 },
				.grid = { 10, 1, 1 },
				.block = { 32, 1, 1 },
				.name = k } } };

	gt_gpu_event(j->g, &j->p, j->process, &e);
}

static void timed_call(
	struct join *j, unsigned t, const char *function, uint64_t ticks, int64_t start)
{
	struct gt_gpu_call c = { .id = (uint16_t)gt_api_find(function),
		.track = j->thread[t],
		.tid = (int32_t)t + 1,
		.start = start,
		.end = start + 500,
		.ticks = ticks,
		.name = j->launch_name,
		.kernel = j->names[3] };

	gt_gpu_call(j->g, &j->p, j->process, &c);
}

static void what_was_timed_by_events_knows_its_call(void)
{
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	/* at one time, but in ticks; a signal handler's comes before the one that it interrupted */
	for (int i = 0; i < 3; i++)
		timed_call(&j, 0, "cuLaunchKernel", (uint64_t[]){ 40, 30, 50 }[i], SECOND);
	timed_call(&j, 1, "cuLaunchKernel", 30, SECOND + 7);
	timed_call(&j, 1, "cuGraphLaunch", 60, SECOND + 1000);
	timed(&j, GT_EV_TIMED_KERNEL, 0, "cuLaunchKernel", 30, SECOND + 9000, 1);
	timed(&j, GT_EV_TIMED_KERNEL, 1, "cuLaunchKernel", 30, SECOND + 8000, 2);
	/* without a name: the call has one */
	timed(&j, GT_EV_TIMED_KERNEL, 0, "cuLaunchKernel", 50, SECOND + 7000, 0);
	timed(&j, GT_EV_TIMED_GRAPH, 1, "cuGraphLaunch", 60, SECOND + 6000, 0);
	/* that call was a launch */
	timed(&j, GT_EV_TIMED_COPY, 0, "cuMemcpyHtoD_v2", 40, SECOND + 5000, 0);
	/* its call was lost */
	timed(&j, GT_EV_TIMED_SET, 2, "cuMemsetD8_v2", 70, SECOND + 4000, 0);
	gt_gpu_event(j.g, &j.p, j.process,
		&(struct gt_gpu_event){
			.id = GT_EV_UNTIMED, .n = 2, .body.loss = { 5, GT_UNTIMED_CONTEXT } });
	settle(&j, SECOND + 20000, false);
	r = finish(&j, SECOND + 30000, &t);
	CHECK(t.exact == 4 && t.wrong == 1 && t.unjoined == 2 && !t.inferred && t.kernels == 3 &&
		t.graphs == 1 && t.copies == 1 && t.sets == 1);
	CHECK(t.untimed[GT_UNTIMED_CONTEXT] == 5 && !t.untimed[GT_UNTIMED_POOL]);
	rows.n = 0;
	read_rows(r, &rows);
	gt_reader_close(r);
	CHECK_EQ(rows.n, 6);
	for (size_t i = 0; i < rows.n; i++) {
		const struct row *w = &rows.r[i];
		int64_t at = w->start - SECOND;

		CHECK(at > 5000 ? w->join == GT_JOIN_CORRELATION : w->join == GT_JOIN_UNKNOWN);
		CHECK(at != 9000 ||
			(w->track == 1 && w->launch_start == SECOND &&
				!strcmp(w->name, "kernel1")));
		CHECK(at != 8000 ||
			(w->track == 2 && w->launch_start == SECOND + 7 &&
				!strcmp(w->name, "kernel2")));
		CHECK(at != 7000 || (w->track == 1 && !strcmp(w->name, "kernel4")));
		CHECK(at != 6000 ||
			(w->track == 2 && w->launch_start == SECOND + 1000 &&
				!strcmp(w->name, "graph")));
	}
}

T_MAIN(T(in_whatever_order_they_come), T(what_does_not_fit_its_call_is_not_joined),
	T(a_graph_has_many_nodes), T(without_records_of_calls_the_order_must_do),
	T(calls_made_in_an_absence_are_no_candidates), T(calls_at_the_ends_of_an_absence_are),
	T(looking_for_a_call_takes_none_from_others),
	T(states_of_several_threads_come_in_any_order), T(states_that_were_lost_are_not_waited_for),
	T(impossible_times_are_counted_apart), T(a_launch_without_a_record_is_counted),
	T(a_name_may_come_later), T(captured_by_other_threads), T(what_is_missing_is_listed),
	T(nodes_have_their_creation), T(what_was_timed_by_events_knows_its_call))
