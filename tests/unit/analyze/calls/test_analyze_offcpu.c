/* Time of threads off the processor: small programs with known answers, and random programs
 * compared with a second count; and the effect of these rows on other reports. */
#define _GNU_SOURCE
#include "analyze/core/report.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static const char *const offcpu[] = { "offcpu", NULL };
static struct rp p;

static const json_t *row_of(const json_t *j, int tid, const char *reason)
{
	for (size_t i = 0; i < rows(j, "offcpu"); i++)
		if (num(row(j, "offcpu", i), "tid") == tid &&
			is(row(j, "offcpu", i), "reason", reason))
			return row(j, "offcpu", i);
	return NULL;
}

/* From the first to the last row of a thread. */
static int64_t life_of(int thread)
{
	int64_t from = INT64_MAX, to = INT64_MIN;

	for (int i = 0; i < p.ncalls; i++)
		if (p.calls[i].thread == thread) {
			from = p.calls[i].start < from ? p.calls[i].start : from;
			to = p.calls[i].end > to ? p.calls[i].end : to;
		}
	for (int i = 0; i < p.noffs; i++)
		if (p.offs[i].thread == thread) {
			from = p.offs[i].start < from ? p.offs[i].start : from;
			to = p.offs[i].end > to ? p.offs[i].end : to;
		}
	return to - from;
}

static bool agrees(const json_t *j, int thread, unsigned state)
{
	const json_t *r = row_of(j, 100 + thread, gt_sched_name(state));
	int64_t n = 0, total = 0, most = 0;

	for (int i = 0; i < p.noffs; i++)
		if (p.offs[i].thread == thread && p.offs[i].state == state) {
			int64_t ns = p.offs[i].end - p.offs[i].start;

			n++;
			total += ns;
			most = ns > most ? ns : most;
		}
	if (!r)
		return !n;
	return num(r, "count") == (double)n && num(r, "total_ns") == (double)total &&
		num(r, "max_ns") == (double)most && num(r, "life_ns") == (double)life_of(thread);
}

static void equals_a_second_count(void)
{
	rp_scheduled = true;
	for (unsigned seed = 1; seed <= 40; seed++) {
		struct gt_reader *r = rp_make(&p, seed);
		char *text = r ? report_text(r, offcpu, &plain, 1 + seed % 4, GT_JSON) : NULL;
		json_t *j = text ? json_loads(text, 0, NULL) : NULL;

		CHECK(j != NULL);
		CHECK(!noted(j, "offcpu", "more row"));
		for (int thread = 0; thread < 2; thread++)
			for (unsigned s = 0; s < GT_SCHED_STATE_COUNT; s++)
				CHECK(agrees(j, thread, s) ||
					!printf("# seed %u: thread %d, %s\n", seed, thread,
						gt_sched_name(s)));
		free(text);
		json_decref(j);
	}
	rp_scheduled = false;
}

/* The rows of the main thread, in a trace with a call at either end. */
static struct gt_sched_types types;
static void begin_states(struct gpus *g)
{
	gpus_begin(g, "{\"events\":\"api,scheduler,gpu\"}");
	gt_sched_types_init(&types, g->w, &g->err);
	gpus_call(g, 0, g->launch, 1000, 1010);
	gpus_call(g, 0, g->launch, 1990, 2000);
	gpus_track(g, GT_NONE, "loader", GT_TRACK_PROCESS, 4711);
}

static void state(struct gpus *g, enum gt_sched_state what, int64_t from, int64_t to, uint32_t pid,
	uint32_t tid)
{
	gt_sched_put(&types, g->thread[0],
		&(struct gt_sched_row){ what, from, to, pid, tid, 202, 0, 0 }, &g->err);
}

static void the_thread_that_woke_it_most(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	begin_states(&g);
	state(&g, GT_SCHED_FUTEX, 1100, 1200, 100, 101);
	state(&g, GT_SCHED_FUTEX, 1300, 1350, 100, 101);
	state(&g, GT_SCHED_FUTEX, 1400, 1700, 4711, 4712);
	state(&g, GT_SCHED_PREEMPTED, 1750, 1760, 4711, 4712);
	state(&g, GT_SCHED_IO, 1800, 1810, 0, 0); /* woken by an interrupt */
	j = report(gpus_end(&g), offcpu, &plain);
	r = row_of(j, 100, "futex");
	CHECK_EQ(num(r, "count"), 3);
	CHECK_EQ(num(r, "total_ns"), 450);
	CHECK_EQ(num(r, "share_percent"), 45.0);
	CHECK_EQ(num(r, "max_ns"), 300);
	CHECK(is(r, "by", "train 100/101") && num(r, "by_count") == 2 && num(r, "by_tid") == 101);
	CHECK(is(row_of(j, 100, "preempted"), "by", "loader 4711/4712"));
	CHECK(absent(row_of(j, 100, "io"), "by") && absent(row_of(j, 100, "io"), "by_pid"));
	r = row(j, "offcpu_longest", 0);
	CHECK(num(r, "duration_ns") == 300 && is(r, "reason", "futex") &&
		is(r, "by", "loader 4711/4712") && num(r, "syscall_number") == 202);
	CHECK_EQ(rows(j, "offcpu_longest"), 5);
	CHECK(absent(row_named(j, "offcpu_longest", "reason", "preempted"), "syscall"));
	json_decref(j);
}

/* The name of system call 202 in a recording with this metadata. */
static bool call_is(const char *meta, const char *name)
{
	struct gpus g;
	json_t *j;
	bool is_name;

	gpus_begin(&g, meta);
	gt_sched_types_init(&types, g.w, &g.err);
	gpus_call(&g, 0, g.launch, 1000, 1010);
	state(&g, GT_SCHED_FUTEX, 1100, 1200, 0, 0);
	j = report(gpus_end(&g), offcpu, &plain);
	is_name = is(row(j, "offcpu_longest", 0), "syscall", name);
	json_decref(j);
	return is_name;
}

static void calls_have_the_names_of_the_recordings_processor(void)
{
#if defined(__x86_64__)
	CHECK(call_is("{\"events\":\"scheduler\",\"architecture\":\"x86_64\"}", "futex"));
#endif
	CHECK(call_is("{\"events\":\"scheduler\",\"architecture\":\"aarch64\"}", "accept"));
	CHECK(call_is("{\"events\":\"scheduler\",\"architecture\":\"riscv64\"}", "202"));
	CHECK(call_is("{\"events\":\"scheduler\"}", "202"));
}

static void threads_without_rows_have_names(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g,
		"{\"events\":\"scheduler\",\"other_threads\":{\"15/15\":\"rcu_preempt\",\"1/68\":\"worker\"}}");
	gt_sched_types_init(&types, g.w, &g.err);
	gpus_call(&g, 0, g.launch, 1000, 1010);
	state(&g, GT_SCHED_PREEMPTED, 1100, 1400, 15, 15);
	state(&g, GT_SCHED_PREEMPTED, 1500, 1700, 1, 68);
	state(&g, GT_SCHED_PREEMPTED, 1800, 1900, 1, 69);
	j = report(gpus_end(&g), offcpu, &plain);
	CHECK(is(row(j, "offcpu_longest", 0), "by", "rcu_preempt 15/15"));
	CHECK(is(row(j, "offcpu_longest", 1), "by", "worker 1/68"));
	CHECK(is(row(j, "offcpu_longest", 2), "by", "1/69"));
	json_decref(j);
}

/* All reports leave out the threads of gt and CUPTI. */
static void threads_of_the_recorder_are_left_out(void)
{
	static const char *const names[] = { "offcpu", "header", "layers", NULL };
	struct gpus g;
	json_t *j;

	begin_states(&g);
	state(&g, GT_SCHED_FUTEX, 1100, 1200, 0, 0);
	state(&g, GT_SCHED_RUNNABLE, 1200, 1300, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t track = gpus_track(
			&g, g.process, i ? "[gt]" : "[CUPTI]", GT_TRACK_THREAD, 901 + (int)i);

		gt_sched_put(&types, track,
			&(struct gt_sched_row){ GT_SCHED_FUTEX, 1000, 1500, 0, 0, 202, 0, 0 },
			&g.err);
	}
	j = report(gpus_end(&g), names, &plain);
	CHECK_EQ(rows(j, "offcpu"), 2);
	CHECK_EQ(rows(j, "offcpu_longest"), 2);
	CHECK_EQ(num(row_named(j, "layers", "layer", "scheduler"), "count"), 2);
	CHECK(noted(j, "layers",
		"scheduler: 1 of these rows is a thread that was woken and waits for a processor; the others are switch-outs"));
	CHECK(noted(j, "offcpu", "2 threads of gt and CUPTI are left out"));
	CHECK_EQ(num(row(j, "header", 0), "threads"), 2);
	json_decref(j);
}

/* Rows that overlap, and rows far from the thread's calls: the thread's lifetime includes them
 * all, no percentage is above 100, and a note says that the times are uncertain. */
static void overlapping_rows_are_noted(void)
{
	struct gpus g;
	json_t *j;

	begin_states(&g);
	state(&g, GT_SCHED_FUTEX, 0, 5000, 0, 0);
	state(&g, GT_SCHED_FUTEX, 10, 4990, 0, 0);
	state(&g, GT_SCHED_SLEEP, 4000, 6000, 0, 0);
	j = report(gpus_end(&g), offcpu, &plain);
	CHECK_EQ(num(row_of(j, 100, "futex"), "life_ns"), 6000);
	CHECK_EQ(num(row_of(j, 100, "futex"), "share_percent"), 100.0);
	CHECK(noted(j, "offcpu", "intervals of 1 thread overlap: its times are uncertain"));
	json_decref(j);
}

static void a_range_cuts_them(void)
{
	struct gt_analysis_options o = plain;
	struct gpus g;
	json_t *j;

	begin_states(&g);
	state(&g, GT_SCHED_SLEEP, 1100, 1900, 0, 0);
	o.filter = (struct gt_filter){ .ranged = true, .from = 1500, .to = 1995 };
	j = report(gpus_end(&g), offcpu, &o);
	CHECK_EQ(num(row_of(j, 100, "sleep"), "total_ns"), 400);
	CHECK_EQ(num(row_of(j, 100, "sleep"), "life_ns"), 495);
	CHECK_EQ(num(row_of(j, 100, "sleep"), "max_at_ns"), 500);
	json_decref(j);
}

/* A switch-out counts as a call of the scheduler, a wake-up does not. States are no operations. */
static void other_reports(void)
{
	static const char *const names[] = { "summary", "layers", "top", "slowest", "categories",
		NULL };
	struct gpus g;
	json_t *j;

	begin_states(&g);
	state(&g, GT_SCHED_FUTEX, 1100, 1200, 0, 0);
	state(&g, GT_SCHED_RUNNABLE, 1200, 1230, 0, 0);
	state(&g, GT_SCHED_PREEMPTED, 1400, 1500, 0, 0);
	j = report(gpus_end(&g), names, &plain);
	CHECK_EQ(num(row(j, "kernel_space", 0), "scheduler_calls"), 2);
	CHECK_EQ(num(row_named(j, "layers", "layer", "scheduler"), "count"), 3);
	CHECK_EQ(num(row_named(j, "layers", "layer", "scheduler"), "time_ns"), 230);
	CHECK(rows(j, "top") == 1 && rows(j, "slowest") == 2 && rows(j, "categories") == 1);
	json_decref(j);
}

/* A block has the types of all its tracks: a thread has no row for the states of others. */
static void only_own_states_are_rows(void)
{
	struct gt_analysis_options o = plain;
	struct gpus g;
	json_t *j;

	begin_states(&g);
	state(&g, GT_SCHED_FUTEX, 1100, 1200, 0, 0);
	gt_sched_put(&types, g.thread[1],
		&(struct gt_sched_row){ .state = GT_SCHED_SLEEP, .start = 1100, .end = 1150 },
		&g.err);
	o.top = 2;
	j = report(gpus_end(&g), offcpu, &o);
	CHECK_EQ(rows(j, "offcpu"), 2);
	CHECK(!noted(j, "offcpu", "more row"));
	json_decref(j);
}

/* Without rows: an empty answer if switches were recorded, else the reason. */
static void no_rows(void)
{
	struct gt_type call = {
		.category = GT_CAT_SCHEDULER, .op = GT_OP_SCHED, .layer = GT_LAYER_SCHED
	};
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	gpus_call(&g, 0, g.launch, 1000, 1010);
	j = report(gpus_end(&g), offcpu, &plain);
	CHECK(noted(j, "offcpu", "switches of threads were not recorded (gtcollect -e sched)"));
	json_decref(j);

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	call.name = gt_writer_string(g.w, "nv_sched");
	gpus_call(&g, 0, gt_writer_type(g.w, &call), 1000, 1010);
	j = report(gpus_end(&g), offcpu, &plain);
	CHECK(noted(j, "offcpu", "but not when threads leave the processor"));
	json_decref(j);
}

T_MAIN(T(equals_a_second_count), T(the_thread_that_woke_it_most),
	T(calls_have_the_names_of_the_recordings_processor), T(threads_without_rows_have_names),
	T(threads_of_the_recorder_are_left_out), T(overlapping_rows_are_noted),
	T(a_range_cuts_them), T(other_reports), T(no_rows), T(only_own_states_are_rows))
