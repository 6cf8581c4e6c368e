/* The host's lines by step, and what slow steps did differently: a loop whose figures are known. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/analyze/idle/host_program.h"
#include "tests/unit/analyze/stacks/by_stack_reports.h"

/* 67 steps, each of a kernel "mul" of 1000 ns and ten of "add" of 1000 ns without a gap; before mul
 * the GPU is idle: 3000 ns, in which the thread runs step (2 samples), and 50 ns in the launch and
 * 50 ns after it. Before every eleventh step, it runs load for 6000 ns longer (6 samples) and reads
 * there for 2000 ns. Times of a step: 11,000 busy and 3100 idle, or 11,100 idle. */
#define STEPS 67
#define IS_SLOW(i) ((i) && (i) % 11 == 0)
static void slow_every_eleventh(struct host_program *h)
{
	int64_t at = 1000000;

	host_begin(h, true, true);
	for (int i = 0; i < STEPS; i++) {
		for (int k = 0; k < 2; k++)
			host_sample(h, 0, BY_STEP, at + 100 + 1500 * k);
		at += 3000;
		for (int k = 0; IS_SLOW(i) && k < 6; k++)
			host_sample(h, 0, BY_LOAD, at + 100 + 1000 * k);
		at += IS_SLOW(i) ? 6000 : 0;
		if (IS_SLOW(i))
			host_wait(h, h->io, BY_LOAD, at, at + 2000);
		at += IS_SLOW(i) ? 2000 : 0;
		stack_launch(&h->p, BY_STEP, 1, at, 50, at + 100, 1000);
		for (int k = 0; k < 10; k++)
			stack_launch(
				&h->p, BY_STEP, 0, at + 60 + 5 * k, 4, at + 1100 + 1000 * k, 1000);
		at += 11100;
	}
}

static double sum_of(const json_t *j, const char *table, const char *key)
{
	double sum = 0;

	for (size_t i = 0; i < rows(j, table); i++)
		sum += num(row(j, table, i), key);
	return sum;
}

/* The gap before the first operation of a step counts for the step before. */
static void by_step(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	const json_t *r;
	json_t *j;

	slow_every_eleventh(&h);
	j = by_stack(stack_program_end(&h.p), "host", "step");
	CHECK_EQ(rows(j, "host_steps"), STEPS - 1);
	CHECK_EQ(sum_of(j, "host_steps", "idle_ns"), (STEPS - 1) * 3100 + 6 * 8000);
	CHECK(sum_of(j, "host_steps", "share_percent") > 99.9 &&
		sum_of(j, "host_steps", "share_percent") < 100.1);
	r = row(j, "host_steps", 0);
	CHECK_EQ(num(r, "step"), 11);
	CHECK_EQ(num(r, "duration_ns"), 11000 + 11100);
	CHECK_EQ(num(r, "idle_ns"), 11100);
	CHECK_EQ(num(r, "samples"), 8);
	CHECK_EQ(num(r, "host_ns"), 8 * PERIOD);
	CHECK(is(r, "note", "slow") && is(r, "caller", "load (app/data.py:12)"));
	CHECK_EQ(num(r, "caller_ns"), 9000 * 6 / 8 + 2000);
	r = row(j, "host_steps", 6);
	CHECK(num(r, "idle_ns") == 3100 && is(r, "caller", "step (app/train.py:88)") &&
		num(r, "caller_ns") == 3050);
	json_decref(j);
}

static void without_steps_there_is_no_answer(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	json_t *j;

	host_begin(&h, true, true);
	host_gap(&h, true, true);
	j = by_stack(stack_program_end(&h.p), "host", "step");
	CHECK(is(json_object_get(j, "host_steps"), "state", "cannot answer"));
	json_decref(j);
}

static void slow_steps_name_the_line(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	const json_t *r;
	json_t *j;

	slow_every_eleventh(&h);
	j = by_stack(stack_program_end(&h.p), "steps", NULL);
	r = row_named(j, "slow_lines", "caller", "load (app/data.py:12)");
	CHECK(r && is(r, "key", "python") && num(r, "usual_ns") == 0);
	CHECK_EQ(num(r, "slow_ns"), 9000 * 6 / 8 + 2000);
	CHECK_EQ(num(r, "difference_ns"), 9000 * 6 / 8 + 2000);
	CHECK_EQ(num(r, "slow_samples"), 36);
	CHECK(num(r, "error_ns") > 500 && num(r, "error_ns") < 2000);
	CHECK(num(row_named(j, "slow_lines", "key", "all"), "difference_ns") == 8000 &&
		num(row_named(j, "slow_lines", "key", "busy"), "difference_ns") == 0);
	/* all lines and the busy time are the whole */
	CHECK_EQ(sum_of(j, "slow_lines", "difference_ns"), 2 * 8000);
	CHECK_EQ(sum_of(j, "slow_lines", "slow_ns"), 2 * (11000 + 11100));
	CHECK(noted(j, "slow_lines", "6 slow steps") && noted(j, "slow_lines", "usual ones"));
	json_decref(j);
}

/* One step is longer, and one of its ten samples is in load: that may be by chance. */
static void differences_within_the_error_are_not_named(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	int64_t at = 1000000;
	json_t *j;

	host_begin(&h, true, true);
	for (int i = 0; i < 45; i++) {
		bool slow = i == 30;

		for (int k = 0; k < 10; k++)
			host_sample(&h, 0, slow && k == 5 ? BY_LOAD : BY_STEP, at + 100 + k);
		at += slow ? 30000 : 10000;
		stack_launch(&h.p, BY_STEP, 1, at, 50, at + 100, 1000);
		stack_launch(&h.p, BY_STEP, 0, at + 60, 4, at + 1100, 1000);
		at += 2100;
	}
	j = by_stack(stack_program_end(&h.p), "steps", NULL);
	CHECK(row_named(j, "slow_lines", "key", "all"));
	CHECK(!row_named(j, "slow_lines", "caller", "load (app/data.py:12)"));
	CHECK_EQ(sum_of(j, "slow_lines", "difference_ns"), 2 * 20000);
	json_decref(j);
}

static void without_samples_waits_are_compared(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	int64_t at = 1000000;
	const json_t *r;
	json_t *j;

	host_begin(&h, false, true);
	for (int i = 0; i < 45; i++) {
		host_wait(&h, h.io, BY_LOAD, at + 10, at + 110 + (i % 11 == 7 ? 9000 : 0));
		at += i % 11 == 7 ? 10000 : 1000;
		stack_launch(&h.p, BY_STEP, 1, at, 50, at + 100, 1000);
		stack_launch(&h.p, BY_STEP, 0, at + 60, 4, at + 1100, 1000);
		at += 2100;
	}
	j = by_stack(stack_program_end(&h.p), "steps", NULL);
	r = row_named(j, "slow_lines", "caller", "load (app/data.py:12)");
	CHECK(r && num(r, "difference_ns") == 9000 && absent(r, "error_ns") && is(r, "key", "io"));
	CHECK(noted(j, "slow_lines", "gtcollect -e samples"));
	json_decref(j);
}

T_MAIN(T(by_step), T(without_steps_there_is_no_answer), T(slow_steps_name_the_line),
	T(differences_within_the_error_are_not_named), T(without_samples_waits_are_compared))
