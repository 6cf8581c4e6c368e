/* Each rule finds its problem, reports "clean" if there is none, and "unknown" if the trace
 * lacks the data. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "formats/trace/write/sched_rows.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static const json_t *rule(const json_t *j, const char *name)
{
	return row_named(j, "advice", "rule", name);
}
static bool says(const json_t *j, const char *name, const char *state)
{
	return is(rule(j, name), "state", state);
}

/* The answer of all rules together. */
static bool answers(const json_t *j, const char *state)
{
	return is(json_object_get(j, "advice"), "state", state);
}

static json_t *advice(struct gpus *g)
{
	return report(gpus_end(g), (const char *[]){ "advice", NULL }, &plain);
}

static uint32_t call_type(struct gpus *g, const char *name, unsigned category, unsigned op)
{
	return gt_writer_type(g->w,
		&(struct gt_type){ .name = gt_writer_string(g->w, name),
			.category = (uint8_t)category,
			.op = (uint8_t)op });
}

/* 100 rounds of 1000 ns: the GPU works for `busy`, a call of `type` (or none) begins when it is
 * done and ends 50 before the next launch. */
static void rounds(struct gpus *g, uint32_t type, int busy, int from)
{
	for (int i = 0; i < 100; i++) {
		int64_t at = 10000 + 1000 * i;
		struct gt_gpu_work w = gpus_work(g->stream[0][0], at + 20, at + 20 + busy);

		gpus_launched(g, &w, 0, at, 20, GT_JOIN_CORRELATION);
		gpus_kernel(g, 0, &w);
		if (type != GT_NONE && i >= from)
			gpus_call(g, 0, type, at + 20 + busy, at + 950);
	}
}

static void nothing_to_be_won(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	rounds(&g, GT_NONE, 970, 0);
	j = advice(&g);
	CHECK(rows(j, "advice") == 21 && noted(j, "advice", "0 of 21 rules found something") &&
		answers(j, "answered"));
	for (size_t i = 0; i < rows(j, "advice"); i++)
		CHECK(is(row(j, "advice", i), "state",
			      is(row(j, "advice", i), "rule", "throttled-clocks") ||
					      is(row(j, "advice", i), "rule", "off-processor")
				      ? "cannot answer"
				      : "clean") &&
			absent(row(j, "advice", i), "gain_ns"));
	json_decref(j);
}

static void the_host_is_slow(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	rounds(&g, GT_NONE, 400, 0);
	j = advice(&g);
	CHECK(says(j, "host-bound", "found") &&
		num(rule(j, "host-bound"), "gain_ns") == 99 * 580.0);
	CHECK(num(rule(j, "host-bound"), "duration_ns") == 580 &&
		num(rule(j, "host-bound"), "tid") == 100);
	CHECK(is(row(j, "advice", 0), "rule", "host-bound") && says(j, "sync-in-loop", "clean") &&
		says(j, "launch-bound", "clean"));
	json_decref(j);
	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	rounds(&g, GT_NONE, 900, 0);
	j = advice(&g); /* one finding is one */
	CHECK(says(j, "host-bound", "found") && noted(j, "advice", "1 of 21 rules") &&
		answers(j, "found"));
	json_decref(j);
}

/* One pause that costs more than all others: the advice differs from that for a repeated loss. */
static void one_event_is_no_habit(void)
{
	for (int once = 0; once < 2; once++) {
		int64_t at = once ? 310000 : 130000;
		struct gt_gpu_work w;
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		rounds(&g, GT_NONE, 400, 0);
		w = gpus_work(g.stream[0][0], at + 20, at + 40);
		gpus_launched(&g, &w, 0, at, 20, GT_JOIN_CORRELATION);
		gpus_kernel(&g, 0, &w);
		j = advice(&g);
		CHECK(says(j, "host-bound", "found"));
		CHECK(once ==
			!strncmp(
				json_string_value(json_object_get(rule(j, "host-bound"), "remedy")),
				"look at this moment first", 25));
		json_decref(j);
	}
}

/* The actions of a thread from the end of the GPU's work to 50 ns before the next launch. */
static void causes_have_rules(void)
{
	static const struct {
		const char *call, *rule;
		unsigned category, op;
	} all[] = {
		{ "cuStreamSynchronize", "sync-in-loop", GT_CAT_SYNC, GT_OP_SYNC },
		{ "cuMemAlloc_v2", "alloc-in-loop", GT_CAT_MEMORY, GT_OP_ALLOC },
		{ "cuModuleLoadData", "module-loading-in-loop", GT_CAT_MODULE, GT_OP_NONE },
		{ "cuLaunchKernel", "launch-bound", GT_CAT_LAUNCH, GT_OP_LAUNCH },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		rounds(&g, call_type(&g, all[i].call, all[i].category, all[i].op), 500, 0);
		j = advice(&g);
		CHECK(says(j, all[i].rule, "found") && noted(j, "advice", "2 of 21") &&
			says(j, "low-utilisation", "found"));
		CHECK(num(rule(j, all[i].rule), "cost_ns") ==
			99 * (strcmp(all[i].rule, "launch-bound") ? 430.0 : 450.0));
		json_decref(j);
	}
}

/* The launching thread does not run from the end of the GPU's work to 50 ns before the next launch:
 * half of it in `state`, half of it runnable or not. */
static void off_the_processor(void)
{
	static const struct {
		enum gt_sched_state state;
		bool runnable;
		const char *detail, *text;
	} all[] = {
		{ GT_SCHED_FUTEX, false, "waiting for a lock", "us waiting for a lock" },
		{ GT_SCHED_POLL, false, "waiting for input or output", "us waiting for input" },
		{ GT_SCHED_SLEEP, false, "asleep", "us asleep" },
		{ GT_SCHED_FAULT, false, "in a page fault", "us in a page fault" },
		{ GT_SCHED_CHILD, false, "off the processor", "us off the processor" },
		{ GT_SCHED_RUNNABLE, false, "runnable but not running", "us runnable" },
		{ GT_SCHED_PREEMPTED, true, "runnable but not running",
			"process 4711 (loader) preempts threads most, for 20.79 us of 20.79 us" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gt_sched_types types;
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu,scheduler\"}");
		gt_sched_types_init(&types, g.w, &g.err);
		gpus_track(&g, GT_NONE, "loader", GT_TRACK_PROCESS, 4711);
		rounds(&g, GT_NONE, 500, 0);
		for (int k = 0; k < 99; k++) {
			int64_t from = 10000 + 1000 * k + 520, half = from + 210;
			struct gt_sched_row row = { .state = all[i].state,
				.start = from,
				.end = half,
				.pid = 4711,
				.tid = 4712 };

			gt_sched_put(&types, g.thread[0], &row, &g.err);
			row.state = GT_SCHED_RUNNABLE;
			row.start = half;
			row.end = half + 210;
			if (all[i].runnable)
				gt_sched_put(&types, g.thread[0], &row, &g.err);
		}
		j = advice(&g);
		CHECK(says(j, "off-processor", "found"));
		CHECK_EQ(num(rule(j, "off-processor"), "cost_ns"),
			99 * (all[i].runnable ? 420.0 : 210.0));
		CHECK_STR(json_string_value(json_object_get(rule(j, "off-processor"), "detail")),
			all[i].detail);
		CHECK(strstr(
			json_string_value(json_object_get(rule(j, "off-processor"), "evidence")),
			all[i].text));
		json_decref(j);
	}
}

/* In each call that synchronises, the thread is runnable for a while: a call counts once. */
static void a_call_in_parts_is_one_call(void)
{
	struct gt_sched_types types;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu,scheduler\"}");
	gt_sched_types_init(&types, g.w, &g.err);
	rounds(&g, call_type(&g, "cuStreamSynchronize", GT_CAT_SYNC, GT_OP_SYNC), 500, 0);
	for (int k = 0; k < 100; k++)
		gt_sched_put(&types, g.thread[0],
			&(struct gt_sched_row){ .state = GT_SCHED_RUNNABLE,
				.start = 10000 + 1000 * k + 600,
				.end = 10000 + 1000 * k + 650 },
			&g.err);
	j = advice(&g);
	CHECK_EQ(num(rule(j, "sync-in-loop"), "cost_ns"), 99 * 380.0);
	CHECK(strstr(json_string_value(json_object_get(rule(j, "sync-in-loop"), "evidence")),
		"in 99 of 100 calls"));
	json_decref(j);
}

/* An allocation before the loop is no problem; an allocation after the loop has run for a while
 * is one. */
static void warming_up_is_no_fault(void)
{
	for (int late = 0; late < 2; late++) {
		struct gpus g;
		uint32_t alloc;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		alloc = call_type(&g, "cuMemAlloc_v2", GT_CAT_MEMORY, GT_OP_ALLOC);
		rounds(&g, late ? alloc : GT_NONE, 600, 40);
		if (!late)
			for (int i = 0; i < 30; i++)
				gpus_call(&g, 0, alloc, 10620 + 1000 * i, 10950 + 1000 * i);
		j = advice(&g);
		CHECK(says(j, "alloc-in-loop", late ? "found" : "clean"));
		json_decref(j);
	}
}

static void copies_of_all_kinds(void)
{
	static const char *const names[] = { "pageable-copy", "small-copies", "blocking-copy",
		"blocking-set" };

	for (int kind = 0; kind < 4; kind++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		rounds(&g, GT_NONE, 500, 0);
		for (int i = 0; i < 120; i++) {
			struct gt_gpu_work w =
				gpus_work(g.stream[0][1], 10030 + 800 * i, 10130 + 800 * i);
			struct gt_gpu_copy c = { .direction = GT_DIR_HTOD,
				.src = kind ? GT_GPU_MEM_PINNED : GT_GPU_MEM_PAGEABLE,
				.dst = GT_GPU_MEM_DEVICE,
				.async = kind != 2,
				.bytes = kind == 1 ? 100 : 1 << 20 };

			gpus_launched(&g, &w, 1, w.start - 5, 3, GT_JOIN_CORRELATION);
			if (kind < 3)
				gt_gpu_put_copy(&g.types, &w, &c, &g.err);
			else
				gpus_set(&g, &w, 640);
		}
		j = advice(&g);
		for (int k = 0; k < 4; k++)
			CHECK(says(j, names[k], k == kind ? "found" : "clean") ||
				!printf("# kind %d, %s\n", kind, names[k]));
		json_decref(j);
	}
}

/* n copies (or sets) that hold the calling thread, or are small, as far as the GPU works anyway. */
static void put_copies(struct gpus *g, int from, int n, bool set, bool blocks, uint64_t bytes)
{
	for (int i = from; i < from + n; i++) {
		struct gt_gpu_work w = gpus_work(g->stream[0][1], 10030 + 400 * i, 10130 + 400 * i);

		gpus_launched(g, &w, 1, w.start - 5, 3, GT_JOIN_CORRELATION);
		if (set)
			gt_gpu_put_set(&g->types, &w,
				&(struct gt_gpu_set){ .memory = GT_GPU_MEM_DEVICE,
					.bytes = bytes,
					.async = !blocks },
				&g->err);
		else
			gt_gpu_put_copy(&g->types, &w,
				&(struct gt_gpu_copy){ .direction = GT_DIR_HTOD,
					.src = GT_GPU_MEM_PINNED,
					.dst = GT_GPU_MEM_DEVICE,
					.async = !blocks,
					.bytes = bytes },
				&g->err);
	}
}

/* The threshold is 100 occurrences; 99 are not reported. A small copy has less than 64 KiB, and
 * half of all copies must be small. */
static void habits_begin_at_a_hundred(void)
{
	static const struct {
		const char *rule;
		int n, large;
		bool set, blocks, found;
		uint64_t bytes;
	} all[] = {
		{ "blocking-copy", 99, 0, false, true, false, 1 << 20 },
		{ "blocking-copy", 100, 0, false, true, true, 1 << 20 },
		{ "blocking-set", 99, 0, true, true, false, 1 << 20 },
		{ "blocking-set", 100, 0, true, true, true, 1 << 20 },
		{ "small-copies", 99, 0, false, false, false, 100 },
		{ "small-copies", 100, 0, false, false, true, 100 },
		{ "small-copies", 100, 100, false, false, true, 65535 },
		{ "small-copies", 100, 101, false, false, false, 65535 },
		{ "small-copies", 120, 0, false, false, false, 65536 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		rounds(&g, GT_NONE, 500, 0);
		put_copies(&g, 0, all[i].n, all[i].set, all[i].blocks, all[i].bytes);
		put_copies(&g, all[i].n, all[i].large, all[i].set, all[i].blocks, 1 << 20);
		j = advice(&g);
		CHECK(says(j, all[i].rule, all[i].found ? "found" : "clean") ||
			!printf("# case %zu\n", i));
		json_decref(j);
	}
}

/* Ten waits make a loop. */
static void loops_begin_at_ten(void)
{
	for (int waits = 9; waits <= 10; waits++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		rounds(&g, call_type(&g, "cuStreamSynchronize", GT_CAT_SYNC, GT_OP_SYNC), 500,
			99 - waits);
		j = advice(&g);
		CHECK(says(j, "sync-in-loop", waits == 10 ? "found" : "clean"));
		json_decref(j);
	}
}

/* Most allocations are before the loop's second half: those in the second half are saved, and as
 * many again for its first half. */
static void a_loop_is_twice_its_second_half(void)
{
	struct gpus g;
	uint32_t alloc;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	alloc = call_type(&g, "cuMemAlloc_v2", GT_CAT_MEMORY, GT_OP_ALLOC);
	rounds(&g, GT_NONE, 600, 0);
	for (int i = 0; i < 70; i++)
		if (i < 30 || i >= 60)
			gpus_call(&g, 0, alloc, 10620 + 1000 * i, 10950 + 1000 * i);
	j = advice(&g);
	CHECK(num(rule(j, "alloc-in-loop"), "cost_ns") == 40 * 330.0 &&
		num(rule(j, "alloc-in-loop"), "gain_ns") == 20 * 330.0);
	json_decref(j);
}

/* Launches whose work starts 300 ns after their return: the GPU takes that long, or, with a
 * stream wait, it waits for an event. */
static void work_that_does_not_start(void)
{
	for (int told = 0; told < 2; told++) {
		const char *is_found = told ? "waits-elsewhere" : "launch-bound",
			   *is_clean = told ? "launch-bound" : "waits-elsewhere";
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		for (int i = 0; i < 100; i++) {
			int64_t at = 10000 + 1000 * i;
			struct gt_gpu_work w = gpus_work(g.stream[0][0], at - 5, at - 3);

			if (told)
				gpus_wait(&g, &w, GT_GPU_WAIT_STREAM_EVENT, 3);
			w = gpus_work(g.stream[0][0], at + 320, at + 980);
			gpus_launched(&g, &w, 0, at, 20, GT_JOIN_CORRELATION);
			gpus_kernel(&g, 0, &w);
		}
		j = advice(&g);
		CHECK(says(j, is_found, "found") && says(j, is_clean, "clean") &&
			says(j, "host-bound", "clean"));
		CHECK(num(rule(j, is_found), "cost_ns") == 99 * (told ? 300.0 : 320.0) &&
			num(rule(j, is_found), "gain_ns") == 99 * (told ? 300.0 : 320.0));
		json_decref(j);
	}
}

/* The work of one launch starts 300 us after its return; before each other launch the GPU waits 20
 * ns in the call. The advice is about that one moment, although calls that launch took time, too.
 */
static void one_work_that_starts_late(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	for (int i = 0; i < 100; i++) {
		int64_t at = 10000 + 1000 * i, start = i < 99 ? at + 20 : at + 300020;
		struct gt_gpu_work w = gpus_work(g.stream[0][0], start, start + 980);

		gpus_launched(&g, &w, 0, at, 20, GT_JOIN_CORRELATION);
		gpus_kernel(&g, 0, &w);
	}
	j = advice(&g);
	CHECK(says(j, "launch-bound", "found"));
	CHECK(!strcmp(json_string_value(json_object_get(rule(j, "launch-bound"), "remedy")),
		"look at this moment first"));
	CHECK(num(rule(j, "launch-bound"), "duration_ns") > 298000);
	json_decref(j);
}

/* The first GPU works for 97,000 ns of 99,970: a tenth of that is 9,997. */
static void a_tenth_unbalances(void)
{
	for (int less = 9996; less <= 9997; less++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		rounds(&g, GT_NONE, 970, 0);
		gpus_plain(&g, 1, g.stream[1][0], 10020, 10020 + 97000 - less);
		j = advice(&g);
		CHECK(says(j, "unbalanced-gpus", less == 9997 ? "found" : "clean"));
		json_decref(j);
	}
}

/* The second GPU does nothing but communicate: three pieces on two streams, two of which touch, and
 * one of which computing hides. */
static void unbalanced_program(struct gpus *g)
{
	gpus_begin(g, "{\"events\":\"api,gpu\"}");
	rounds(g, GT_NONE, 970, 0);
	gpus_plain(g, 1, g->stream[1][1], 70000, 76000);
	g->kernel[0] = gt_writer_string(g->w, "ncclDevKernel_AllReduce");
	gpus_plain(g, 0, g->stream[1][0], 10020, 30000);
	gpus_plain(g, 0, g->stream[1][1], 25000, 40000);
	gpus_plain(g, 0, g->stream[1][0], 40000, 50000);
	gpus_plain(g, 0, g->stream[1][0], 60000, 76000);
}

static void several_gpus(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;
	char *text;

	unbalanced_program(&g);
	j = advice(&g);
	CHECK(says(j, "unbalanced-gpus", "found") &&
		num(rule(j, "unbalanced-gpus"), "cost_ns") == 91000);
	CHECK(says(j, "exposed-communication", "found") &&
		num(rule(j, "exposed-communication"), "gain_ns") == 49980);
	for (int i = 0; i < 2; i++) {
		r = rule(j, i ? "unbalanced-gpus" : "exposed-communication");
		CHECK(num(r, "at_ns") == 20 && num(r, "duration_ns") == 39980 &&
			num(r, "device") == 1 && num(r, "pid") == 100 && absent(r, "tid"));
	}
	json_decref(j);
	/* it names the process of the place if there are several */
	for (int several = 0; several < 2; several++) {
		unbalanced_program(&g);
		if (several)
			gpus_track(&g, GT_NONE, "other", GT_TRACK_PROCESS, 200);
		text = report_text(
			gpus_end(&g), (const char *[]){ "advice", NULL }, &plain, 1, GT_TEXT);
		CHECK(text && strstr(text, "see: gtview --at 0.000000s+40us trace  (GPU 1") &&
			strstr(text, several ? "(GPU 1 of process 100" : "(GPU 1, 80 % of it)\n"));
		free(text);
	}
}

/* "Not recorded" differs from "clean". */
static void unknown_is_reported(void)
{
	struct trace t;
	struct gpus g;
	json_t *j;

	known(&t, true);
	j = report(end(&t), (const char *[]){ "advice", NULL }, &plain);
	for (size_t i = 0; i < rows(j, "advice"); i++)
		CHECK(is(row(j, "advice", i), "rule", "leak")
				? is(row(j, "advice", i), "state", "clean")
				: is(row(j, "advice", i), "state", "cannot answer") &&
					strstr(json_string_value(json_object_get(
						       row(j, "advice", i), "evidence")),
						"was not recorded"));
	CHECK_EQ(rows(j, "advice"), 21);
	json_decref(j);

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	for (int i = 0; i < 10; i++)
		gpus_plain(&g, 0, g.stream[0][0], 1000 + 1000 * i, 1900 + 1000 * i);
	j = advice(&g);
	CHECK(says(j, "host-bound", "cannot answer") && says(j, "small-copies", "clean"));
	CHECK(strstr(json_string_value(json_object_get(rule(j, "host-bound"), "evidence")),
		"the activity of the host is unknown"));
	CHECK(says(j, "low-utilisation", "clean") && answers(j, "cannot answer") &&
		noted(j, "advice", "nothing was found, but 11 of 21 rules cannot answer"));
	json_decref(j);
}

T_MAIN(T(nothing_to_be_won), T(the_host_is_slow), T(one_event_is_no_habit), T(causes_have_rules),
	T(off_the_processor), T(a_call_in_parts_is_one_call), T(warming_up_is_no_fault),
	T(copies_of_all_kinds), T(habits_begin_at_a_hundred), T(loops_begin_at_ten),
	T(a_loop_is_twice_its_second_half), T(work_that_does_not_start),
	T(one_work_that_starts_late), T(a_tenth_unbalances), T(several_gpus),
	T(unknown_is_reported))
