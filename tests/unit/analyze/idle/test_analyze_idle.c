/* The use of the GPUs' time and the causes of idle time: small programs whose answer is known. */
#define _GNU_SOURCE
#include "analyze/idle/idle.h"
#include "formats/trace/write/sched_rows.h"
#include "tests/unit/analyze/idle/idle_programs.h"

/* ---- known ---- */

/* Works 1000 to 1100 and 2000 to 2100; the second launch lasts from 1500 to 1600. */
static void two_kernels(struct gpus *g)
{
	gpus_begin(g, "{\"events\":\"api,gpu\"}");
	launched(g, 0, 0, 900, 10, 1000, 1100);
	launched(g, 0, 0, 1500, 100, 2000, 2100);
}

static void a_gap_in_slices(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	two_kernels(&g);
	j = report(gpus_end(&g), (const char *[]){ "budget", "gaps", NULL }, &plain);
	CHECK(num(row(j, "budget", 0), "total_ns") == 1100 && part(j, "compute") == 200 &&
		part(j, "idle") == 900);
	CHECK(part(j, "outside") == 400 && part(j, "call") == 100 && part(j, "queued") == 400);
	CHECK(num(row_named(j, "budget", "key", "compute"), "share_percent") == 18.18);
	r = row_named(j, "gaps", "key", "call");
	CHECK(is(r, "what", "cuLaunchKernel") && num(r, "total_ns") == 100 && num(r, "gaps") == 1 &&
		num(r, "max_ns") == 100);
	CHECK(num(r, "share_percent") == 11.11);
	r = row(j, "longest_gaps", 0);
	CHECK(rows(j, "longest_gaps") == 1 && num(r, "duration_ns") == 900 &&
		is(r, "cause", "outside CUDA"));
	CHECK(num(r, "cause_percent") == 44.44 && num(r, "tid") == 100 && is(r, "after", "add") &&
		is(r, "before", "add"));
	json_decref(j);
}

/* With calls before and behind the GPU's work: whatever part of the options is given, all reports
 * look at the same time. */
static void all_reports_have_one_window(void)
{
	static const struct {
		int64_t from, to;
		bool whole;
		double window;
	} all[] = {
		{ INT64_MIN, INT64_MAX, false, 1100 },
		{ 1050, INT64_MAX, false, 1050 },
		{ INT64_MIN, 2050, false, 1050 },
		{ 1050, 2050, false, 1000 },
		{ 500, 3000, false, 2500 },
		{ 500, INT64_MAX, false, 1600 },
		{ INT64_MIN, INT64_MAX, true, 4000 },
	};
	static const char *const names[] = { "budget", "gpu", "streams", "launches", "queues",
		"critical", NULL };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gt_analysis_options o = plain;
		double busy, percent, chain;
		struct gpus g;
		json_t *j;

		two_kernels(&g);
		for (int k = 0; k < 2; k++) {
			struct gt_row row = {
				.start = k ? 4100 : 200, .end = k ? 4200 : 300, .type = g.launch
			};

			gt_writer_row(g.w, GT_CALL, g.thread[0], &row, NULL, &g.err);
		}
		o.filter = (struct gt_filter){ .ranged = all[i].from != INT64_MIN ||
				all[i].to != INT64_MAX,
			.from = all[i].from,
			.to = all[i].to };
		o.whole = all[i].whole;
		j = report(gpus_end(&g), names, &o);
		busy = num(row(j, "gpu", 0), "busy_ns");
		percent = (double)(int64_t)(busy * 10000 / all[i].window + 0.5) / 100;
		CHECK(num(row(j, "budget_gpus", 0), "window_ns") == all[i].window &&
			num(row(j, "unqueued", 0), "window_ns") == all[i].window);
		CHECK(num(row(j, "queues", 0), "window_ns") == all[i].window &&
			num(row(j, "gpu", 0), "busy_percent") == percent);
		CHECK(num(row(j, "streams", 0), "busy_percent") == percent);
		/* its own operations in the window */
		chain = num(row(j, "critical", 0), "window_ns");
		CHECK(all[i].whole ? chain == all[i].window
				   : chain == (all[i].window < 1100 ? all[i].window : 1100));
		json_decref(j);
	}
}

static void short_gaps_are_one_line(void)
{
	int64_t min = 51;
	const struct gt_report_option list[] = { { "min", &min }, { NULL, NULL } };
	struct gt_analysis_options o = plain;
	struct gpus g;
	json_t *j;

	two_kernels(&g);
	launched(&g, 0, 0, 1510, 10, 2150, 2200);
	o.report_options = list;
	j = report(gpus_end(&g), (const char *[]){ "budget", "gaps", NULL }, &o);
	CHECK(part(j, "short") == 50 && part(j, "queued") == 400 && rows(j, "longest_gaps") == 1);
	json_decref(j);
	two_kernels(&g);
	launched(&g, 0, 0, 1510, 10, 2150, 2200);
	min = 50; /* a gap of this length is not short */
	j = report(gpus_end(&g), (const char *[]){ "budget", "gaps", NULL }, &o);
	CHECK(part(j, "short") == 0 && part(j, "queued") == 450 && rows(j, "longest_gaps") == 2);
	json_decref(j);
}

/* A stream's work is unknown during its own losses; losses of another device do not matter; a
 * thread's losses matter if it has no recorded calls there. */
static void lost_records_are_no_idle_time(void)
{
	struct gpus g;
	json_t *j;

	two_kernels(&g);
	gt_writer_loss(g.w, GT_SCOPE_TRACK, g.stream[0][1], 1550, 1700, 3, &g.err);
	gt_writer_loss(g.w, GT_SCOPE_TRACK, g.stream[1][0], 1800, 1900, 3, &g.err);
	gt_writer_loss(g.w, GT_SCOPE_TRACK, g.thread[0], 1200, 1520, 3, &g.err);
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(part(j, "lost") == 450 && part(j, "outside") == 100 && part(j, "call") == 50 &&
		part(j, "queued") == 300);
	CHECK_EQ(part(j, "idle"), 900);
	json_decref(j);
	two_kernels(&g);
	gt_writer_loss(g.w, GT_SCOPE_PROCESS, g.process, 1050, 1200, 3, &g.err);
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(part(j, "lost") == 100 && part(j, "compute") == 200);
	json_decref(j);
}

static void span(struct gpus *g, uint32_t track, const char *name, unsigned layer, int64_t from,
	int64_t to, uint64_t first)
{
	struct gt_field f = { gt_writer_string(g->w, "thread"), GT_F_U64, GT_R_NONE };
	struct gt_type type = { .name = gt_writer_string(g->w, name),
		.layer = (uint8_t)layer,
		.nfields = 1,
		.fields = &f };
	struct gt_row row = {
		.start = from, .end = to, .type = gt_writer_type(g->w, &type), .nargs = 1
	};

	gt_writer_row(g->w, GT_SPAN, track, &row, &first, &g->err);
}

/* The profiler holds up thread 100, and another one; the runtime's call is around the driver's; the
 * thread is off its processor. */
static void levels_of_a_thread(void)
{
	struct gpus g;
	json_t *j;

	two_kernels(&g);
	span(&g, g.process, "CUPTI instrumentation", GT_LAYER_OVERHEAD, 1520, 1530, 100);
	span(&g, g.process, "CUPTI buffer flush", GT_LAYER_OVERHEAD, 1200, 1600, 101);
	span(&g, g.thread[0], "cudaLaunchKernel", GT_LAYER_RUNTIME, 1450, 1610, 0);
	span(&g, g.thread[0], "sleeps", GT_LAYER_SCHED, 1300, 1400, 0);
	j = report(gpus_end(&g), (const char *[]){ "budget", "gaps", NULL }, &plain);
	CHECK(part(j, "overhead") == 10 && part(j, "off_cpu") == 100 && part(j, "outside") == 250 &&
		part(j, "call") == 140);
	CHECK_EQ(num(row_named(j, "gaps", "what", "cudaLaunchKernel"), "total_ns"), 50);
	CHECK_EQ(num(row_named(j, "gaps", "what", "cuLaunchKernel"), "total_ns"), 90);
	json_decref(j);
}

static void off(struct gpus *g, struct gt_sched_types *types, enum gt_sched_state state,
	int64_t from, int64_t to)
{
	gt_sched_put(types, g->thread[0],
		&(struct gt_sched_row){ .state = state, .start = from, .end = to, .syscall = 202 },
		&g->err);
}

/* Spans that overlap, as a wrong file may have them, count no moment twice: the earlier one counts.
 * Spans before and after all calls of the thread have no effect. A state without a name is off the
 * processor. */
static void overlapping_states_count_once(void)
{
	struct gt_sched_types types;
	struct gpus g;
	json_t *j;

	two_kernels(&g);
	gt_sched_types_init(&types, g.w, &g.err);
	off(&g, &types, GT_SCHED_FUTEX, 0, 50);
	off(&g, &types, GT_SCHED_FUTEX, 1200, 1300);
	off(&g, &types, GT_SCHED_POLL, 1250, 1350);
	off(&g, &types, GT_SCHED_SLEEP, 1260, 1290);
	off(&g, &types, GT_SCHED_RUNNABLE, 1340, 1400);
	off(&g, &types, GT_SCHED_OTHER, 1400, 1410);
	span(&g, g.thread[0], "nv_sched", GT_LAYER_SCHED, 1410, 1420, 0);
	off(&g, &types, GT_SCHED_PREEMPTED, 1550, 1570);
	off(&g, &types, GT_SCHED_IO, 900000, 990000);
	j = report(gpus_end(&g), (const char *[]){ "budget", "gaps", NULL }, &plain);
	CHECK_EQ(part(j, "lock"), 100);
	CHECK_EQ(part(j, "io"), 40);
	CHECK_EQ(part(j, "asleep"), 0);
	CHECK_EQ(part(j, "runnable"), 60 + 20);
	CHECK_EQ(part(j, "off_cpu"), 20);
	CHECK_EQ(num(row_named(j, "gaps", "what", "other wait"), "total_ns"), 10);
	CHECK_EQ(num(row_named(j, "gaps", "what", "preempted"), "total_ns"), 20);
	CHECK_EQ(part(j, "idle") + part(j, "compute"), num(row(j, "budget", 0), "total_ns"));
	json_decref(j);
}

/* Its stream waits for an event behind the operation before; or did so earlier. */
static void a_stream_that_waits(void)
{
	for (int early = 0; early < 2; early++) {
		struct gt_gpu_work w;
		struct gpus g;
		json_t *j;

		two_kernels(&g);
		w = gpus_work(g.stream[0][0], early ? 800 : 1300, early ? 810 : 1310);
		gpus_wait(&g, &w, GT_GPU_WAIT_STREAM_EVENT, 3);
		w = gpus_work(g.stream[0][0], 1320, 1330);
		gpus_wait(&g, &w, GT_GPU_WAIT_STREAM, 0); /* the host's */
		j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
		CHECK(part(j, early ? "queued" : "waiting") == 400 &&
			part(j, early ? "waiting" : "queued") == 0);
		json_decref(j);
	}
}

/* The stream got the order to wait before each of twenty launches, long before the first of them
 * ran. */
static void a_stream_that_is_told_long_before(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	for (int i = 0; i < 20; i++) {
		struct gt_gpu_work w = gpus_work(g.stream[0][0], 100 + 20 * i, 105 + 20 * i);

		gpus_wait(&g, &w, GT_GPU_WAIT_STREAM_EVENT, 3);
		launched(&g, 0, 0, 110 + 20 * i, 5, 1000 + 200 * i, 1100 + 200 * i);
	}
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(part(j, "waiting") == 1900 && part(j, "queued") == 0);
	json_decref(j);
}

/* One thread for two GPUs. The first one's queue is full from launch 1022 on; there is no launch
 * before its first kernel begins, and then one launch for each kernel that begins. Meanwhile the
 * second GPU has no work. */
static void a_full_queue_holds_up_another_gpu(void)
{
	enum { US = 1000, BEGIN = 3000 * US, EACH = 100 * US, N = 1030 };
	int64_t at = 20 * US, held = 0;
	const json_t *r;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	launched(&g, 1, 0, 5 * US, US, 8 * US, 10 * US);
	for (int i = 0; i < N; i++) {
		int64_t room = i < 1022 ? 0 : BEGIN + (i - 1022) * EACH,
			end = room > at ? room : at + US;

		held += room > at ? room - at : 0;
		launched(
			&g, 0, 0, at, end - at, BEGIN + i * EACH, BEGIN + i * EACH + EACH - 2 * US);
		at = end + US;
	}
	launched(&g, 1, 0, at, US, at + 5 * US, at + 10 * US);
	j = report(gpus_end(&g), (const char *[]){ "budget", "gaps", NULL }, &plain);
	CHECK(held > 900 * US && part(j, "full_queue") == (double)held &&
		part(j, "call") == 1022 * US + US);
	r = row_named(j, "gaps", "key", "full_queue");
	CHECK(is(r, "what", "cuLaunchKernel") && num(r, "gaps") == 1 &&
		is(row(j, "longest_gaps", 0), "after", "add"));
	CHECK(is(row_named(j, "longest_gaps", "key", "full_queue"), "cause",
		"launching into a full queue"));
	json_decref(j);
}

/* The second device begins later, and has nothing to do at the end. */
static void a_device_that_comes_and_goes(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	two_kernels(&g);
	launched(&g, 1, 0, 1110, 10, 1200, 1300);
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(part(j, "start") == 200 && part(j, "end") == 800 &&
		num(row(j, "budget", 0), "total_ns") == 2200);
	r = row(j, "budget_gpus", 1);
	CHECK(num(r, "device") == 1 && num(r, "window_ns") == 1100 &&
		num(r, "compute_percent") == 9.09 && num(r, "idle_ns") == 1000);
	CHECK(is(r, "cause", "no further GPU work") &&
		noted(j, "budget", "of each GPU as processes see them"));
	json_decref(j);
}

/* Kernels from 1000 to `to` and from 2000 - (to - 1000) to 2000; to 2000: one that takes all of the
 * time. */
static json_t *two_ends(int64_t to)
{
	struct gpus g;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	launched(&g, 0, 0, 900, 10, 1000, to);
	if (to < 2000)
		launched(&g, 0, 0, 920, 10, 3000 - to, 2000);
	return report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
}

static bool bar_is(const json_t *j, const char *key, char mark, unsigned n, const char *rest)
{
	char want[64];

	memset(want, mark, n);
	strcpy(want + n, rest);
	return !strcmp(
		json_string_value(json_object_get(row_named(j, "budget", "key", key), "bar")),
		want);
}

/* A cell shows the cause that takes most of it. A cause that took no time has no mark, and every
 * cause that took time has a mark on its own line. */
static void bars_show_what_there_is(void)
{
	json_t *j = two_ends(2000);

	CHECK(bar_is(j, "all", '#', 40, "") && bar_is(j, "compute", '#', 40, ""));
	CHECK(bar_is(j, "communication", ' ', 0, "") && bar_is(j, "copies", ' ', 0, "") &&
		bar_is(j, "idle", ' ', 0, ""));
	json_decref(j);
	j = two_ends(1010); /* 20 ns of the 25 of a cell */
	CHECK(bar_is(j, "all", '#', 1, ".......................................") &&
		bar_is(j, "compute", '#', 1, ""));
	CHECK(bar_is(j, "idle", ' ', 1, ".......................................") &&
		bar_is(j, "copies", ' ', 0, ""));
	json_decref(j);
	j = two_ends(1001);
	CHECK(bar_is(j, "all", '.', 40, "") && bar_is(j, "compute", '#', 1, "") &&
		bar_is(j, "idle", '.', 40, ""));
	json_decref(j);
}

/* An operation of unknown cause, calls that were not recorded, options that leave rows out, an
 * empty trace. */
static void what_cannot_be_told(void)
{
	struct gt_analysis_options o = plain;
	struct trace t;
	struct gpus g;
	json_t *j;

	two_kernels(&g);
	gpus_plain(&g, 1, g.stream[0][0], 2500, 2600);
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(part(j, "unjoined") == 400 && noted(j, "budget", "1 operation is joined to no call"));
	json_decref(j);

	gpus_begin_bare(&g, "{\"events\":\"gpu\"}");
	for (int i = 0; i < 2; i++) {
		struct gt_gpu_work w = gpus_work(g.stream[0][0], 1000 + 1000 * i, 1100 + 1000 * i);

		w.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
			.track = g.thread[0],
			.start = 900 + 600 * i,
			.ns = 100 };
		gpus_kernel(&g, 0, &w);
	}
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(part(j, "unseen") == 500 && part(j, "outside") == 0 && part(j, "queued") == 400);
	json_decref(j);

	two_kernels(&g);
	o.filter.tid = 100;
	j = report(gpus_end(&g), (const char *[]){ "budget", "gaps", NULL }, &o);
	CHECK(rows(j, "budget") == 0 && noted(j, "budget", "cannot answer: --tid") &&
		noted(j, "gaps", "cannot answer: --tid"));
	json_decref(j);

	known(&t, true);
	j = report(end(&t), (const char *[]){ "budget", "gaps", NULL }, &plain);
	CHECK(rows(j, "gaps") == 0 &&
		noted(j, "gaps", "cannot answer: what GPUs did was not recorded") &&
		noted(j, "gaps", "pauses"));
	json_decref(j);
}

/* A gap in which a thread makes more calls than the report keeps: the unknown part is reported,
 * and the parts still add up. */
static void more_calls_than_are_kept(void)
{
	enum { CALLS = 3000000 };
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	launched(&g, 0, 0, 900, 10, 1000, 1100);
	for (int64_t i = 0; i < CALLS; i++) {
		struct gt_row row = {
			.start = 2000 + 10 * i, .end = 2005 + 10 * i, .type = g.launch
		};

		gt_writer_row(g.w, GT_CALL, g.thread[0], &row, NULL, &g.err);
		if (i % 100000 == 0)
			gt_writer_epoch(g.w, row.end, &g.err);
	}
	launched(&g, 0, 0, 2000 + 10 * CALLS, 10, 3000 + 10 * CALLS, 3100 + 10 * CALLS);
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(part(j, "call") >= 5.0 * GT_HOST_MOST * 0.9 && part(j, "call") < 5.0 * CALLS &&
		part(j, "too_much") > 0);
	CHECK(part(j, "idle") == 2000.0 + 10.0 * CALLS - 100 && part(j, "queued") == 990);
	json_decref(j);
}

/* Two recordings in one file: each has a window of its own. */
static void recordings_have_windows(void)
{
	int both = memfd_create("both", 0);
	struct gt_err err = GT_ERR_INIT;
	json_t *j;

	for (int i = 0; i < 2; i++) {
		struct gpus g;

		two_kernels(&g);
		CHECK(gpus_end_into(&g, both));
	}
	j = report(
		gt_reader_open_fd(both, &err), (const char *[]){ "budget", "gaps", NULL }, &plain);
	CHECK(rows(j, "budget_gpus") == 2 && num(row(j, "budget", 0), "total_ns") == 2200 &&
		part(j, "call") == 200);
	CHECK(rows(j, "longest_gaps") == 2 && rows(j, "gaps") == 3 &&
		num(row_named(j, "gaps", "key", "call"), "gaps") == 2);
	json_decref(j);
}

/* The part of the recording that is in no figure of gaps, and the places where the selected time
 * range leaves causes unknown. */
static void what_is_left_out_is_told(void)
{
	static const struct {
		int64_t from, to;
		bool whole;
		const char *outside;
		bool cut;
	} looks[] = {
		{ INT64_MIN, INT64_MAX, false,
			"not counted: 100 ns before the first GPU operation, 200 ns after the last GPU operation;",
			false },
		{ INT64_MIN, INT64_MAX, true, NULL, false },
		{ 950, INT64_MAX, false, "not counted: 200 ns after the last GPU operation;",
			false },
		{ INT64_MIN, 2250, false, "not counted: 100 ns before the first GPU operation;",
			true },
		{ 950, 1500, false, NULL, true },
		{ 950, 5000, false, NULL, false },
		{ 1200, 1300, false, NULL, true },
		{ 5000, 6000, false, NULL, false },
	};

	for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
		struct gt_analysis_options o = plain;
		struct gpus g;
		json_t *j;

		two_kernels(&g);
		gpus_call(&g, 0, g.launch, 2200, 2300);
		o.whole = looks[i].whole;
		o.filter = (struct gt_filter){ .ranged = looks[i].from != INT64_MIN ||
				looks[i].to != INT64_MAX,
			.from = looks[i].from,
			.to = looks[i].to };
		j = report(gpus_end(&g), (const char *[]){ "gaps", NULL }, &o);
		CHECK(looks[i].outside ? noted(j, "gaps", looks[i].outside)
				       : !noted(j, "gaps", "not counted"));
		CHECK(noted(j, "gaps", "the operation that ends a gap decides its cause") ==
			looks[i].cut);
		json_decref(j);
	}
}

/* ---- managed memory ---- */

/* Kernels in [1000, 3000) and [5000, 6000); migrations and faults overlap in [2500, 3500), and are
 * in [4000, 4100) of the gap and in the second kernel. */
static void migrations_are_parts(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin_with(&g, "{\"events\":\"api,gpu,um\"}", 1);
	gpus_plain(&g, 0, g.stream[0][0], 1000, 3000);
	migrate(&g, GT_GPU_MIGRATION_HTOD, 2500, 3200);
	migrate(&g, GT_GPU_FAULT, 3000, 3500);
	migrate(&g, GT_GPU_MIGRATION_DTOH, 4000, 4100);
	gpus_plain(&g, 0, g.stream[0][0], 5000, 6000);
	migrate(&g, GT_GPU_MIGRATION_HTOD, 5100, 5200);
	migrate(&g, GT_GPU_MIGRATION_HTOD, 7000, 8000); /* after the window */
	j = report(gpus_end(&g), (const char *[]){ "budget", "gaps", NULL }, &plain);
	CHECK(part(j, "compute") == 2400 && part(j, "compute_migrating") == 600);
	CHECK(part(j, "idle") == 2000 && part(j, "migration") == 600 &&
		part(j, "unjoined") == 1400);
	CHECK(shares(j) == 5000 && part(j, "all") == 5000);
	CHECK(num(row_named(j, "gaps", "key", "migration"), "total_ns") == 600);
	json_decref(j);
	gpus_begin_with(&g, "{}", 1);
	gpus_plain(&g, 0, g.stream[0][0], 1000, 3000);
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(!row_named(j, "budget", "key", "compute_migrating"));
	json_decref(j);
}

T_MAIN(T(migrations_are_parts), T(a_gap_in_slices), T(all_reports_have_one_window),
	T(short_gaps_are_one_line), T(lost_records_are_no_idle_time), T(levels_of_a_thread),
	T(overlapping_states_count_once), T(a_stream_that_waits),
	T(a_stream_that_is_told_long_before), T(a_full_queue_holds_up_another_gpu),
	T(a_device_that_comes_and_goes), T(bars_show_what_there_is), T(what_cannot_be_told),
	T(more_calls_than_are_kept), T(recordings_have_windows), T(what_is_left_out_is_told))
