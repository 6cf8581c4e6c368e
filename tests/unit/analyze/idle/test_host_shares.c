/* Beyond the limit of shares, sums stay those of all samples and of all idle time. */
#define _GNU_SOURCE /* memfd_create */
#include "analyze/idle/host_lines.h"
#include "tests/unit/analyze/idle/host_program.h"
#include "tests/unit/analyze/stacks/by_stack_reports.h"

#define MANY 4
static const int by[MANY] = { BY_STEP, BY_LOAD, BY_WORKER, BY_GIL };

struct sums {
	uint64_t idle, idle_samples, host, host_samples;
};

static void add_lines(
	struct sums *to, struct gt_reader *r, const struct gt_host_shares *shares, unsigned by_what)
{
	uint32_t first[2] = { 0 };
	const struct gt_idle idle = { .report = { .reader = r }, .order = { .tracks = first } };
	struct gt_caller_sums lines = { .list = NULL };
	struct gt_err err = GT_ERR_INIT;

	CHECK_EQ(gt_host_lines_collect(&lines, &idle, by_what,
			 &(struct gt_host_selection){ .shares = shares }, &err),
		0);
	for (size_t i = 0; i < lines.n; i++) {
		const struct gt_caller_sum *one = &lines.list[i];

		to->idle += one->self[GT_HOST_IDLE].total;
		to->idle_samples += one->self[GT_HOST_IDLE].count;
		to->host += one->self[GT_HOST_TIME].total;
		to->host_samples += one->self[GT_HOST_TIME].count;
	}
	gt_caller_sums_release(&lines);
}

/* 100 samples of 10 ns of each stack; in a gap of 1000 ns the thread runs, with one sample of each
 * stack, and then waits in each stack for 50 ns. */
static void add_rows(
	struct gt_host_shares *h, const struct gt_segment *seg, const struct host_program *p)
{
	struct gt_idle_stack samples[MANY], waits[MANY];
	struct gt_host_activity activity = { .samples = { samples, MANY, MANY },
		.waits = { waits, MANY, MANY } };
	struct gt_idle_slice slice = { .seg = seg,
		.thread = p->p.thread[0],
		.cause = GT_IDLE_OUTSIDE,
		.from = 0,
		.to = 1000 };
	struct gt_err err = GT_ERR_INIT;

	for (int i = 0; i < MANY; i++) {
		samples[i] = (struct gt_idle_stack){ 100 * i, host_stack(p, by[i]), { 10 } };
		waits[i] = (struct gt_idle_stack){ 2000 + 100 * i, samples[i].stack, { 0 } };
		for (int k = 0; k < 100; k++)
			CHECK_EQ(gt_host_shares_add_sample(
					 h, seg, p->p.thread[0], &samples[i], &err),
				0);
	}
	CHECK_EQ(gt_host_shares_add_slice(h, &slice, &activity, &err), 0);
	slice.cause = GT_IDLE_IO;
	for (int i = 0; i < MANY; i++) {
		slice.from = slice.call = waits[i].at;
		slice.to = slice.from + 50;
		CHECK_EQ(gt_host_shares_add_slice(h, &slice, &activity, &err), 0);
	}
}

static void check_limit(uint32_t most, bool states, bool by_thread)
{
	struct host_program p = { .p = { .fd = -1 } };
	struct gt_host_shares h = { .wanted = true, .all = true, .by_thread = by_thread };
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;
	struct sums sums = { 0 };

	host_begin(&p, true, true);
	host_gap(&p, true, true);
	r = stack_program_end(&p.p);
	gt_host_shares_init(&h);
	h.list.most = h.processor.most = most;
	add_rows(&h, gt_reader_segment(r, 0), &p);
	CHECK_EQ(gt_host_shares_finish(&h, r, states, &err), 0);
	add_lines(&sums, r, &h, by_thread ? GT_HOST_BY_THREAD : (unsigned)GT_STACK_LINE);
	CHECK_EQ(sums.idle, 1000 + MANY * 50);
	CHECK_EQ(sums.idle_samples, MANY);
	CHECK_EQ(sums.host, MANY * 1000);
	CHECK_EQ(sums.host_samples, MANY * 100);
	CHECK_EQ(h.sum.unknown, states ? 0 : 1000 - MANY * 10);
	if (most < MANY) {
		const struct gt_host_share *rest = gt_host_shares_rest(&h.list);

		CHECK_EQ(rest->ns, (states ? 500 : 20) + MANY * 50);
		CHECK_EQ(rest->samples, 2);
	}
	CHECK_EQ(!gt_host_shares_rest(&h.processor), by_thread || most >= MANY);
	gt_host_shares_release(&h);
	gt_reader_close(r);
}

static void sums_below_the_limit(void) { check_limit(100, true, false); }
static void sums_beyond_the_limit(void)
{
	check_limit(2, true, false);
	check_limit(2, false, false);
}
static void processor_time_of_a_thread_needs_one_share(void) { check_limit(2, true, true); }

/* ---- reports ---- */

#define THREADS 70u
#define STACKS_OF_THREAD 4000u

/* Each thread has one sample with each stack. */
static struct gt_reader *many_shares(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	static uint32_t stacks[STACKS_OF_THREAD];
	uint32_t process;
	char text[40];

	host_begin(&h, true, true);
	host_gap(&h, true, true);
	for (uint32_t i = 0; i < STACKS_OF_THREAD; i++) {
		snprintf(text, sizeof(text), "f (app/many.py:%u)", i + 1);
		stacks[i] = gt_writer_stack(h.p.w,
			(uint32_t[]){ python_frame(&h.p, text, "f", "app/many.py", i + 1) }, 1);
	}
	process = stack_track(&h.p, GT_NONE, "loader", GT_TRACK_PROCESS, 999);
	for (uint32_t t = 0; t < THREADS; t++) {
		uint32_t thread = stack_track(&h.p, process, NULL, GT_TRACK_THREAD, 1000 + t);

		for (uint32_t i = 0; i < STACKS_OF_THREAD; i++)
			stack_row(&h.p, GT_INSTANT, thread, h.sample, 12000 + i, 12000 + i, 0,
				(uint64_t[]){ PERIOD, stacks[i] });
	}
	return stack_program_end(&h.p);
}

static void host_time(const char *by_what, bool has_rest, double *to)
{
	json_t *few = NULL, *many = by_stack(many_shares(), "host", by_what);
	struct host_program h = { .p = { .fd = -1 } };
	double ns = 0, idle = 0;

	host_begin(&h, true, true);
	host_gap(&h, true, true);
	few = by_stack(stack_program_end(&h.p), "host", by_what);
	for (size_t i = 0; i < rows(many, "host"); i++) {
		ns += num(row(many, "host", i), "host_ns");
		idle += num(row(many, "host", i), "idle_ns");
	}
	for (size_t i = 0; i < rows(few, "host"); i++) {
		ns -= num(row(few, "host", i), "host_ns");
		idle -= num(row(few, "host", i), "idle_ns");
	}
	CHECK_EQ((long long)idle, 0);
	CHECK_EQ(noted(many, "host", "in the row (further stacks): 0 ns of idle time and "),
		has_rest);
	json_decref(few);
	json_decref(many);
	*to = ns;
}

static void reports_have_all_processor_time(void)
{
	double ns = 0;

	host_time("module", true, &ns);
	CHECK_EQ((long long)ns, THREADS * STACKS_OF_THREAD * PERIOD);
	host_time("thread", false, &ns);
	CHECK_EQ((long long)ns, THREADS * STACKS_OF_THREAD * PERIOD);
}

T_MAIN(T(sums_below_the_limit), T(sums_beyond_the_limit),
	T(processor_time_of_a_thread_needs_one_share), T(reports_have_all_processor_time))
