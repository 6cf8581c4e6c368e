/* Idle time of GPUs by what the host did: the figures are those of the program. */
#define _GNU_SOURCE /* memfd_create */
#include "analyze/idle/host_shares.h"
#include "tests/unit/analyze/idle/host_program.h"
#include "tests/unit/analyze/stacks/by_stack_reports.h"

struct want {
	const char *caller;
	int idle, samples, inclusive, host;
};

static json_t *report_of(const char *report, bool samples, bool waits, const char *by)
{
	struct host_program h = { .p = { .fd = -1 } };

	host_begin(&h, samples, waits);
	host_gap(&h, samples, waits);
	return by_stack(stack_program_end(&h.p), report, by);
}

static json_t *host_of(bool samples, bool waits, const char *by)
{
	return report_of("host", samples, waits, by);
}

static void check_rows(json_t *j, const struct want *want, size_t n)
{
	double shares = 0;

	CHECK_EQ(rows(j, "host"), n);
	for (size_t i = 0; i < n; i++) {
		const json_t *r = row(j, "host", i);

		CHECK_STR(json_string_value(json_object_get(r, "caller")), want[i].caller);
		CHECK_EQ((long long)num(r, "idle_ns"), want[i].idle);
		CHECK_EQ((long long)num(r, "samples"), want[i].samples);
		CHECK_EQ((long long)num(r, "inclusive_ns"), want[i].inclusive);
		CHECK_EQ((long long)num(r, "host_ns"), want[i].host);
		CHECK(want[i].samples ? num(r, "error_percent") > 0 : absent(r, "error_percent"));
		CHECK(want[i].inclusive != want[i].idle ||
			num(r, "inclusive_percent") == num(r, "share_percent"));
		shares += num(r, "share_percent");
	}
	CHECK(shares > 99.995 && shares < 100.005);
	json_decref(j);
}
#define CHECK_ROWS(j, ...)                                                                         \
	check_rows(j, (const struct want[]){ __VA_ARGS__ },                                        \
		sizeof((const struct want[]){ __VA_ARGS__ }) / sizeof(struct want))

/* The thread runs 6000 ns with 5 samples: 1200 each. */
static void by_line(void)
{
	CHECK_ROWS(host_of(true, true, NULL),
		{ "load (app/data.py:12)", 2 * 1200 + 2000, 2, 4400, 2000 },
		{ "step (app/train.py:88)", 2 * 1200 + 1000 + 200 + 50, 2, 3650, 5000 },
		{ "(running, without a stack)", 1200, 1, 1200, 1000 },
		{ "(asleep)", 400, 0, 400, 0 }, { "(waiting for a lock)", 300, 0, 300, 0 },
		{ "(launched, not started)", 50, 0, 50, 0 },
		{ "main (app/train.py:9)", 0, 0, 8050, 7000 },
		{ "at::gemm<float> (libtorch.so)", 0, 0, 2450, 5000 },
		{ "pthread_cond_timedwait (libc.so.6)", 0, 0, 1000, 0 },
		{ "take_gil.lto_priv.0 (libpython3.11.so.1.0)", 0, 0, 1000, 0 },
		{ "PyThread_acquire_lock_timed (libpython3.11.so.1.0)", 0, 0, 200, 0 },
		{ "sem_clockwait (libc.so.6)", 0, 0, 200, 0 },
		{ "start_thread (libc.so.6)", 0, 0, 0, 1000 },
		{ "worker (libworker.so)", 0, 0, 0, 1000 });
}

static void by_thread(void)
{
	CHECK_ROWS(host_of(true, true, "thread"), { "main (TID 100)", 9950, 5, 9950, 8000 },
		{ "(launched, not started)", 50, 0, 50, 0 }, { "worker (TID 101)", 0, 0, 0, 1000 });
}

static void by_function_and_module(void)
{
	json_t *j = host_of(true, true, "function");

	CHECK(is(row(j, "host", 0), "caller", "load (app/data.py)") &&
		num(row(j, "host", 0), "idle_ns") == 4400);
	json_decref(j);
	j = host_of(true, true, "module");
	CHECK(is(row(j, "host", 0), "caller", "app/data.py") &&
		num(row_named(j, "host", "caller", "libtorch.so"), "inclusive_ns") == 2450);
	json_decref(j);
	j = host_of(true, true, "stack");
	CHECK(num(row_named(j, "host", "caller",
			  "load (app/data.py:12) < main (app/train.py:9) < main (app/train.py:9)"),
		      "idle_ns") == 4400);
	json_decref(j);
}

static void what_the_threads_did(void)
{
	static const struct {
		const char *key, *caller;
		int idle;
	} want[] = {
		{ "python", "load (app/data.py:12)", 2400 },
		{ "native", "step (app/train.py:88)", 2400 },
		{ "io", "load (app/data.py:12)", 2000 },
		{ "running", "(running, without a stack)", 1200 },
		{ "gil", "step (app/train.py:88)", 1000 },
		{ "asleep", "(asleep)", 400 },
		{ "lock", "(waiting for a lock)", 300 },
		{ "lock", "step (app/train.py:88)", 200 },
		{ "cuda", "step (app/train.py:88)", 50 },
		{ "nothing", "(launched, not started)", 50 },
	};
	json_t *j = host_of(true, true, NULL);

	CHECK_EQ(rows(j, "host_doing"), sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const json_t *r = row(j, "host_doing", i);

		CHECK_STR(json_string_value(json_object_get(r, "key")), want[i].key);
		CHECK_STR(json_string_value(json_object_get(r, "caller")), want[i].caller);
		CHECK_EQ((long long)num(r, "idle_ns"), want[i].idle);
	}
	CHECK(noted(j, "host", "by 5 samples in gaps") && noted(j, "host", "are exact"));
	json_decref(j);
}

/* A sample stands for 1000 ns then, and the thread may have waited in the rest of 9900 ns. */
static void without_thread_states(void)
{
	CHECK_ROWS(host_of(true, false, "thread"), { "main (TID 100)", 9950, 5, 9950, 8000 },
		{ "(launched, not started)", 50, 0, 50, 0 }, { "worker (TID 101)", 0, 0, 0, 1000 });
	json_t *j = host_of(true, false, NULL);

	CHECK(num(row_named(j, "host", "caller", "(outside CUDA, not sampled)"), "idle_ns") ==
		4900);
	CHECK(num(row_named(j, "host", "caller", "load (app/data.py:12)"), "idle_ns") == 2000);
	CHECK(noted(j, "host", "gtcollect -e sched"));
	json_decref(j);
}

static void without_samples(void)
{
	json_t *j = host_of(false, true, NULL);

	CHECK(num(row_named(j, "host", "caller", "(outside CUDA, not sampled)"), "idle_ns") ==
		6000);
	CHECK(num(row_named(j, "host", "caller", "load (app/data.py:12)"), "idle_ns") == 2000);
	CHECK(noted(j, "host", "gtcollect -e samples"));
	json_decref(j);
}

static void without_stacks_and_samples_there_is_no_answer(void)
{
	struct host_program h = { .p = { .fd = -1, .without_stacks = true } };
	json_t *j;

	host_begin(&h, false, false);
	stack_row(&h.p, GT_CALL, h.p.thread[0], h.p.launch, 30, 40, 0, (uint64_t[]){ 1 });
	stack_row(&h.p, GT_GPU, h.p.stream, h.p.kernel[0], 50, 60, 0,
		(uint64_t[]){ 1, 0, 30, 10, h.p.launch_name, GT_JOIN_CORRELATION });
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	CHECK(is(json_object_get(j, "host"), "state", "cannot answer"));
	CHECK(noted(j, "host", "gtcollect -e samples"));
	json_decref(j);
}

static void without_gpu_work_there_is_no_answer(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	json_t *j;

	host_begin(&h, true, false);
	for (int i = 0; i < 1000; i++)
		host_sample(&h, 0, BY_STEP, 1000 + i);
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	CHECK(is(json_object_get(j, "host"), "state", "cannot answer"));
	json_decref(j);
}

static void other_words_are_refused(void)
{
	struct gt_err err = GT_ERR_INIT;

	CHECK(!by_stack_text(stack_program(), "host", "name", 1, GT_JSON, &err));
	CHECK(err.code == -EINVAL && strstr(err.text, "function, module, stack, thread"));
}

/* In a block the waits of a thread follow all its calls. */
static void calls_and_waits_keep_their_stacks(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	json_t *j;

	host_begin(&h, true, true);
	for (int i = 0; i < 5000; i++) {
		if (i)
			host_wait(&h, h.io, BY_LOAD, i * 1000, i * 1000 + 300);
		stack_launch(&h.p, BY_STEP, 0, i * 1000 + 400, 100, i * 1000 + 500, 500);
	}
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	CHECK_EQ(num(row_named(j, "host", "caller", "load (app/data.py:12)"), "idle_ns"),
		4999 * 300);
	CHECK_EQ(num(row_named(j, "host", "caller", "step (app/train.py:88)"), "idle_ns"),
		4999 * 100);
	json_decref(j);
}

/* The block with the end of a wait over all epochs is read first, and has the last rows of other
 * threads, too. */
static void row_over_many_epochs(bool in_cuda)
{
	struct host_program h = { .p = { .fd = -1 } };
	struct stack_program *p = &h.p;
	json_t *j;

	host_begin(&h, true, true);
	for (int i = 0; i < 5; i++) {
		int at = i * 100000;

		if (i)
			gt_writer_epoch(p->w, at, &p->err);
		stack_launch(p, BY_STEP, 0, at + 900, 10, at + 1000, 100);
		if (in_cuda)
			stack_launch(p, BY_LOAD, 0, at + 2000, 90000, at + 93000, 100);
		else
			host_wait(&h, h.io, BY_LOAD, at + 2000, at + 92000);
	}
	if (in_cuda)
		stack_row(p, GT_CALL, p->thread[1], p->launch, 500, 492500, 0,
			(uint64_t[]){ 1, p->stack[BY_WORKER] });
	else
		stack_row(p, GT_SPAN, p->thread[1], h.io, 500, 492500, 0,
			(uint64_t[]){ 0, 0, (uint64_t)-1, p->stack[BY_WORKER] });
	j = by_stack(stack_program_end(p), "host", NULL);
	CHECK_EQ(num(row_named(j, "host", "caller", "load (app/data.py:12)"), "idle_ns"),
		in_cuda ? 5 * 90000 : 4 * 90000);
	json_decref(j);
}

static void waits_beside_a_wait_over_many_epochs(void) { row_over_many_epochs(false); }
static void calls_beside_a_call_over_many_epochs(void) { row_over_many_epochs(true); }

/* ---- budget ---- */

static void check_budget(bool samples, bool waits, const struct want *want, size_t n)
{
	json_t *of = report_of("budget", samples, waits, NULL);
	double shares = 0, ns = 0;

	for (size_t i = 0; i < rows(of, "budget"); i++) {
		const json_t *r = row(of, "budget", i);

		if (is(r, "key", "all") || is(r, "key", "idle"))
			continue;
		shares += num(r, "share_percent");
		ns += num(r, "total_ns");
	}
	CHECK(shares > 99.995 && shares < 100.005);
	CHECK_EQ(ns, 10200);
	CHECK_EQ(rows(of, "budget"), 5 + n);
	for (size_t i = 0; i < n; i++) {
		const json_t *r = row_named(of, "budget", "key", want[i].caller);

		CHECK_EQ(num(r, "total_ns"), want[i].idle);
		CHECK(want[i].samples ? num(r, "error_percent") > 0 : absent(r, "error_percent"));
	}
	CHECK(!samples || noted(of, "budget", "running: by 5 samples"));
	CHECK(samples || noted(of, "budget", "gtcollect -e samples"));
	CHECK_EQ(waits, noted(of, "budget", "GIL: held by thread 101 (worker) in 100 % of it"));
	CHECK(!samples ||
		noted(of, "budget", waits ? "other parts are exact" : "gtcollect -e sched"));
	json_decref(of);
}
#define CHECK_BUDGET(samples, waits, ...)                                                          \
	check_budget(samples, waits, (const struct want[]){ __VA_ARGS__ },                         \
		sizeof((const struct want[]){ __VA_ARGS__ }) / sizeof(struct want))

static void the_budget_divides_time_outside_cuda(void)
{
	CHECK_BUDGET(true, true, { "python", 2400, 2, 0, 0 }, { "native", 2400, 2, 0, 0 },
		{ "outside", 1200, 0, 0, 0 }, { "io", 2000, 0, 0, 0 }, { "gil", 1000, 0, 0, 0 },
		{ "lock", 500, 0, 0, 0 }, { "asleep", 400, 0, 0, 0 }, { "call", 50, 0, 0, 0 },
		{ "queued", 50, 0, 0, 0 });
	CHECK_BUDGET(true, false, { "python", 2000, 2, 0, 0 }, { "native", 2000, 2, 0, 0 },
		{ "outside", 5900, 0, 0, 0 }, { "call", 50, 0, 0, 0 }, { "queued", 50, 0, 0, 0 });
}

static void without_samples_the_budget_is_not_divided(void)
{
	CHECK_BUDGET(false, true, { "outside", 6000, 0, 0, 0 }, { "io", 2000, 0, 0, 0 },
		{ "gil", 1000, 0, 0, 0 }, { "lock", 500, 0, 0, 0 }, { "asleep", 400, 0, 0, 0 },
		{ "call", 50, 0, 0, 0 }, { "queued", 50, 0, 0, 0 });
}

/* ---- advice ---- */

static void advice_names_lines(void)
{
	json_t *j = report_of("advice", true, true, NULL);
	const json_t *host = row_named(j, "advice", "rule", "host-bound"),
		     *off = row_named(j, "advice", "rule", "off-processor");

	CHECK_STR(json_string_value(json_object_get(host, "evidence")),
		"the GPU waits 6.000 us for code outside CUDA, 6 times between calls: "
		"40 % in load (app/data.py:12), 40 % in step (app/train.py:88)");
	CHECK_STR(json_string_value(json_object_get(host, "detail")),
		"40 % in load (app/data.py:12)");
	CHECK_STR(json_string_value(json_object_get(off, "evidence")),
		"the GPU waits 3.900 us while the launching thread is off the processor: "
		"500 ns waiting for a lock, "
		"1.000 us waiting for the GIL held by thread 101 (worker) in 100 % of it, "
		"2.000 us waiting for input or output, 400 ns asleep; "
		"51 % waiting for input or output in load (app/data.py:12), "
		"26 % waiting for the GIL in step (app/train.py:88), "
		"5 % waiting for a lock in step (app/train.py:88)");
	json_decref(j);
}

static void without_samples_advice_names_none(void)
{
	json_t *j = report_of("advice", false, true, NULL);

	CHECK_STR(json_string_value(json_object_get(
			  row_named(j, "advice", "rule", "host-bound"), "evidence")),
		"the GPU waits 6.000 us for code outside CUDA, 6 times between calls");
	json_decref(j);
}

/* Most of the waiting time is for the GIL: the remedy is about it. */
static void advice_knows_the_gil(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	const json_t *off;
	json_t *j;

	host_begin(&h, true, true);
	stack_launch(&h.p, BY_STEP, 0, 900, 10, 1000, 100);
	host_sample(&h, 0, BY_STEP, 1500);
	host_gil_wait(&h, WORKER_TID, 2000, 8000);
	host_gil_wait(&h, 0, 8500, 9500);
	stack_launch(&h.p, BY_STEP, 0, 11000, 50, 11100, 100);
	j = by_stack(stack_program_end(&h.p), "advice", NULL);
	off = row_named(j, "advice", "rule", "off-processor");
	CHECK_STR(json_string_value(json_object_get(off, "detail")), "waiting for the GIL");
	CHECK(strstr(json_string_value(json_object_get(off, "remedy")), "hold the GIL less"));
	CHECK(strstr(json_string_value(json_object_get(off, "evidence")),
		"waiting for the GIL held by thread 101 (worker) in 86 % of it"));
	json_decref(j);
}

/* ---- gaps ---- */

/* Three samples of step, of which one is in the launch, and two of load. */
static void gaps_name_the_line_with_most_samples(void)
{
	json_t *j = report_of("gaps", true, true, NULL);
	const json_t *r = row(j, "longest_gaps", 0);

	CHECK(is(r, "sampled", "step (app/train.py:88)") &&
		is(r, "caller", "step (app/train.py:88)"));
	json_decref(j);
	j = report_of("gaps", false, true, NULL);
	CHECK(!json_object_get(row(j, "longest_gaps", 0), "sampled"));
	json_decref(j);
}

/* ---- shares ---- */

/* 1000 gaps of 1 ms each; in each the thread spends 30 % in load, 50 % in step and sleeps 20 %. A
 * sample comes every 0.83 ms of processor time, so that many gaps have none of a line. */
static void shares_are_those_of_the_program(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	int64_t ran = 0, next = 417000, at = 1000000;
	json_t *j;

	host_begin(&h, true, true);
	for (int i = 0; i < 1000; i++) {
		static const struct {
			int64_t ns;
			int by;
		} parts[] = { { 300000, BY_LOAD }, { 200000, -1 }, { 500000, BY_STEP } };
		int64_t from = at;

		for (int k = 0; k < 3; from += parts[k++].ns) {
			if (parts[k].by < 0) {
				host_wait(&h, h.sleep, BY_NONE, from, from + parts[k].ns);
				continue;
			}
			for (; next < ran + parts[k].ns; next += 833333)
				host_sample(&h, 0, parts[k].by, from + (next - ran));
			ran += parts[k].ns;
		}
		at += 1000000;
		stack_launch(&h.p, BY_STEP, 0, at, 100, at + 100, 1000);
		at += 1100;
	}
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	for (int k = 0; k < 2; k++) {
		const json_t *r = row_named(j, "host", "caller",
			k ? "load (app/data.py:12)" : "step (app/train.py:88)");
		double share = num(r, "share_percent"), wanted = k ? 30 : 50;

		CHECK(share > wanted - 1 && share < wanted + 1);
		CHECK(num(r, "error_percent") > 1 && num(r, "error_percent") < 4);
	}
	CHECK(num(row_named(j, "host", "caller", "(asleep)"), "share_percent") > 19.9 &&
		num(row_named(j, "host", "caller", "(asleep)"), "share_percent") < 20.1);
	json_decref(j);
}

/* ---- damaged files ---- */

static void stacks_that_do_not_exist_are_unknown(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	json_t *j;

	host_begin(&h, true, true);
	host_gap(&h, false, false);
	for (int i = 0; i < 10; i++)
		stack_row(&h.p, GT_INSTANT, h.p.thread[0], h.sample, 2000 + i, 2000 + i, 0,
			(uint64_t[]){ i ? UINT64_MAX : 0, (uint64_t)100 + (uint64_t)i });
	stack_row(&h.p, GT_SPAN, h.p.thread[0], h.io, 3000, 4000, 0,
		(uint64_t[]){ 0, 0, 0, UINT64_MAX - 1 });
	/* not of a thread */
	stack_row(&h.p, GT_INSTANT, h.p.stream, h.sample, 2000, 2000, 0, (uint64_t[]){ 1000, 0 });
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	CHECK_EQ((long long)num(
			 row_named(j, "host", "caller", "(running, without a stack)"), "idle_ns"),
		8900);
	CHECK(num(row_named(j, "host", "caller", "(waiting for input or output)"), "idle_ns") ==
		1000);
	json_decref(j);
}

/* All samples are while the GPU works, or of a thread that launches nothing. */
static void samples_outside_gaps_divide_nothing(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	json_t *j;

	host_begin(&h, true, true);
	host_gap(&h, false, false);
	for (int i = 0; i < 50; i++) {
		host_sample(&h, 0, BY_STEP, 1000 + i);
		host_sample(&h, 1, BY_WORKER, 2000 + i);
	}
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	CHECK(num(row_named(j, "host", "caller", "(outside CUDA, not sampled)"), "idle_ns") ==
		9900);
	CHECK(num(row_named(j, "host", "caller", "worker (libworker.so)"), "host_ns") ==
		50 * PERIOD);
	json_decref(j);
}

/* Rows of an epoch are sorted; those of a later epoch may be earlier. */
static void samples_out_of_order_are_counted(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	json_t *j;

	host_begin(&h, true, false);
	stack_launch(&h.p, BY_STEP, 0, 900, 10, 1000, 100);
	for (int i = 0; i < 100; i++)
		host_sample(&h, 0, BY_STEP, 5000 + i);
	gt_writer_epoch(h.p.w, 6000, &h.p.err);
	for (int i = 0; i < 100; i++)
		host_sample(&h, 0, BY_LOAD, 2000 + i);
	stack_launch(&h.p, BY_STEP, 0, 11000, 50, 11100, 100);
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	CHECK_EQ((long long)num(row(j, "host", 0), "samples"), 100);
	CHECK_EQ((long long)num(row(j, "host", 1), "samples"), 100);
	json_decref(j);
}

/* In one gap: the list of samples is in memory, 16 bytes each. */
static void a_million_samples_in_one_gap(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	json_t *j;

	host_begin(&h, true, false);
	stack_launch(&h.p, BY_STEP, 0, 900, 10, 1000, 100);
	for (int64_t i = 0; i < 1000000; i++)
		host_sample(&h, 0, i % 4 ? BY_STEP : BY_LOAD, 2000 + i * PERIOD);
	stack_launch(&h.p, BY_STEP, 0, 1000003000, 10, 1000003100, 100);
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	CHECK_EQ((long long)num(row(j, "host", 0), "idle_ns"), 750000010);
	CHECK_EQ((long long)num(row(j, "host", 1), "samples"), 250000);
	json_decref(j);
}

/* The end of a gap needs all of it: beyond the limit of memory samples are left out. */
static void samples_beyond_the_limit_are_counted(void)
{
	struct host_program h = { .p = { .fd = -1 } };
	json_t *j;

	host_begin(&h, true, false);
	stack_launch(&h.p, BY_STEP, 0, 900, 10, 1000, 100);
	for (int64_t i = 0; i < (5 << 19) + 1000; i++)
		host_sample(&h, 0, BY_STEP, 2000 + i * PERIOD);
	stack_launch(&h.p, BY_STEP, 0, 4000000000, 10, 4000000100, 100);
	j = by_stack(stack_program_end(&h.p), "host", NULL);
	CHECK(noted(j, "host", "samples are left out"));
	json_decref(j);
}

T_MAIN(T(by_line), T(by_thread), T(by_function_and_module), T(what_the_threads_did),
	T(without_thread_states), T(without_samples),
	T(without_stacks_and_samples_there_is_no_answer), T(without_gpu_work_there_is_no_answer),
	T(other_words_are_refused), T(calls_and_waits_keep_their_stacks),
	T(waits_beside_a_wait_over_many_epochs), T(calls_beside_a_call_over_many_epochs),
	T(the_budget_divides_time_outside_cuda), T(without_samples_the_budget_is_not_divided),
	T(advice_names_lines), T(without_samples_advice_names_none), T(advice_knows_the_gil),
	T(gaps_name_the_line_with_most_samples), T(shares_are_those_of_the_program),
	T(stacks_that_do_not_exist_are_unknown), T(samples_outside_gaps_divide_nothing),
	T(samples_out_of_order_are_counted), T(a_million_samples_in_one_gap),
	T(samples_beyond_the_limit_are_counted))
