/* The steady steps of programs whose steps are planted, and the phases of their runs. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/loop_program.h"
#include "tests/unit/reports.h"

static const char *const both[] = { "steady", "phases", NULL };

static double phase_ns(const json_t *j, const char *key)
{
	const json_t *r = row_named(j, "phases", "key", key);

	return r ? num(r, "duration_ns") : 0;
}

/* Two other operations, 3 slow steps, 17 usual ones of 100 ns, and one operation much later. The
 * last step is not whole: its end is unknown. */
static void warm_up_and_tail(void)
{
	static struct loop l;
	const json_t *r;
	json_t *j;

	loop_begin(&l);
	loop_op(&l, 2, 1000, 10);
	loop_op(&l, 2, 1200, 10);
	l.at = 2000;
	for (int i = 0; i < 20; i++)
		loop_step(&l, i < 3 ? 500 : 100, 0);
	loop_op(&l, 2, 9000, 10);
	j = report(gpus_end(&l.g), both, &plain);
	r = row(j, "steady", 0);
	CHECK(rows(j, "steady") == 1 && is(r, "found_by", "sequence") && num(r, "steps") == 19 &&
		num(r, "warm_up") == 3 && num(r, "first") == 4 && num(r, "steady") == 16);
	/* times count from the first call, 50 ns before the first operation */
	CHECK(num(r, "p50_ns") == 100 && num(r, "from_ns") == 2550 &&
		num(r, "duration_ns") == 1600);
	CHECK(phase_ns(j, "start_up") == 1050 && phase_ns(j, "warm_up") == 1500 &&
		phase_ns(j, "steady") == 1600 && phase_ns(j, "gpu_work") == 3910);
	/* 6 calls of 2 ns: the first step has launched 4 operations when its first one begins */
	CHECK(phase_ns(j, "calls") == 12 && phase_ns(j, "outside") == 1038);
	json_decref(j);
}

/* The second GPU begins later and ends earlier: the common time consists of whole steps of the GPU
 * with more operations. */
static void two_gpus(void)
{
	static struct loop l;
	int64_t begin;
	json_t *j;

	loop_begin(&l);
	begin = l.at;
	for (int i = 0; i < 40; i++)
		loop_step(&l, 100, 0);
	l.device = 1;
	l.at = begin + 530;
	for (int i = 0; i < 30; i++)
		loop_step(&l, 100, 0);
	j = report(gpus_end(&l.g), both, &plain);
	CHECK(rows(j, "steady") == 2);
	CHECK(num(row(j, "steady", 0), "first") == 7 && num(row(j, "steady", 0), "steady") == 28);
	CHECK(num(row(j, "steady", 0), "from_ns") == 650 &&
		num(row(j, "steady", 0), "duration_ns") == 2800);
	/* of its own steps, those that lie in this time */
	CHECK(num(row(j, "steady", 1), "first") == 2 && num(row(j, "steady", 1), "steady") == 27);
	json_decref(j);
	/* the second GPU works after the first one: it does not narrow the time */
	loop_begin(&l);
	for (int i = 0; i < 40; i++)
		loop_step(&l, 100, 0);
	l.device = 1;
	l.at = begin + 10000;
	for (int i = 0; i < 30; i++)
		loop_step(&l, 100, 0);
	j = report(gpus_end(&l.g), both, &plain);
	CHECK(num(row(j, "steady", 0), "steady") == 39 && num(row(j, "steady", 1), "steady") == 0);
	CHECK(noted(j, "steady", "1 steady loop runs at another time"));
	json_decref(j);
}

/* Steps of equal sequences are steady in spite of different durations: every third step is long. */
static void unequal_durations(void)
{
	static struct loop l;
	json_t *j;

	loop_begin(&l);
	for (int i = 0; i < 12; i++)
		loop_step(&l, i % 3 ? 100 : 5000, 0);
	j = report(gpus_end(&l.g), both, &plain);
	CHECK(num(row(j, "steady", 0), "steady") >= 8);
	json_decref(j);
}

/* A step that compiles after quick steps is not steady. Later steps are. */
static void long_steps(void)
{
	static struct loop l;
	json_t *j;

	for (int late = 0; late < 2; late++) {
		loop_begin(&l);
		for (int i = 0; i < 41; i++)
			loop_step(&l, i == (late ? 30 : 8) ? 50000 : 100, 0);
		j = report(gpus_end(&l.g), both, &plain);
		CHECK(num(row(j, "steady", 0), "steps") == 40 &&
			num(row(j, "steady", 0), "warm_up") == (late ? 0 : 9) &&
			num(row(j, "steady", 0), "steady") == (late ? 40 : 31));
		json_decref(j);
	}
}

/* Why there are no steady steps. */
static void not_steady(void)
{
	static struct loop l;
	json_t *j;

	loop_begin(&l);
	for (int i = 0; i < 3; i++)
		loop_op(&l, i, 1000 + 100 * i, 10);
	j = report(gpus_end(&l.g), both, &plain);
	CHECK(num(row(j, "steady", 0), "steady") == 0 && !is(row(j, "steady", 0), "why", ""));
	CHECK(noted(j, "steady", "cannot answer: there are no steady steps: "));
	CHECK(phase_ns(j, "steady") == 0 && phase_ns(j, "gpu_work") > 0);
	json_decref(j);
}

static const char *const parts[] = { "parts", NULL };

/* 60 steps of 100 ns, then 40 of 300 ns, in which the GPU works for the same 50 ns. */
static void parts_differ(void)
{
	static struct loop l;
	json_t *j;

	loop_begin(&l);
	for (int i = 0; i <= 100; i++)
		loop_step(&l, i < 60 ? 100 : 300, 0);
	j = report(gpus_end(&l.g), parts, &plain);
	CHECK(rows(j, "parts") == 2);
	for (int i = 0; i < 2; i++) {
		const json_t *r = row(j, "parts", i);

		CHECK(num(r, "part") == i + 1 && num(r, "first") == (i ? 61 : 1) &&
			num(r, "steps") == (i ? 40 : 60) && num(r, "p50_ns") == (i ? 300 : 100));
		CHECK(num(r, "duration_ns") == (i ? 12000 : 6000) &&
			num(r, "busy_percent") == (i ? 16.67 : 50) &&
			num(r, "operations_per_step") == 5 &&
			num(r, "per_operation_ns") == (i ? 60 : 20) && num(r, "at_once") == 1 &&
			num(r, "graph_percent") == 0);
	}
	json_decref(j);
}

/* Alternating steps, and single slow ones, are no phases. */
static void parts_that_are_none(void)
{
	for (int seldom = 0; seldom < 2; seldom++) {
		static struct loop l;
		json_t *j;

		loop_begin(&l);
		for (int i = 0; i <= 100; i++)
			loop_step(&l, i % (seldom ? 20 : 2) ? 100 : 300, 0);
		j = report(gpus_end(&l.g), parts, &plain);
		CHECK(rows(j, "parts") == 1 && num(row(j, "parts", 0), "steps") >= 80);
		json_decref(j);
	}
}

T_MAIN(T(parts_differ), T(parts_that_are_none), T(warm_up_and_tail), T(two_gpus),
	T(unequal_durations), T(long_steps), T(not_steady))
