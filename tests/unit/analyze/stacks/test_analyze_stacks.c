/* Reports by call stack: their figures are those of the program. */
#define _GNU_SOURCE /* memfd_create */
#include "analyze/stacks/by_stack.h"
#include "tests/unit/analyze/query/queries.h"
#include "tests/unit/analyze/stacks/by_stack_reports.h"

struct want {
	const char *caller;
	int count, total, longest, inclusive;
};

static void check_rows(const char *report, const char *by, const struct want *want, size_t n)
{
	json_t *j = by_stack(stack_program(), report, by);
	char table[20];
	double shares = 0;

	snprintf(table, sizeof(table), "%s_by", report);
	CHECK_EQ(rows(j, table), n);
	for (size_t i = 0; i < n; i++) {
		const json_t *r = row(j, table, i);

		CHECK_STR(json_string_value(json_object_get(r, "caller")), want[i].caller);
		CHECK_EQ((long long)num(r, "count"), want[i].count);
		CHECK_EQ((long long)num(r, "total_ns"), want[i].total);
		if (want[i].count)
			CHECK_EQ((long long)num(r, "max_ns"), want[i].longest);
		if (strcmp(by, "stack"))
			CHECK_EQ((long long)num(r, "inclusive_ns"), want[i].inclusive);
		shares += num(r, "share_percent");
	}
	CHECK(shares > 99.995 && shares < 100.005);
	json_decref(j);
}
#define CHECK_ROWS(report, by, ...)                                                                \
	check_rows(report, by, (const struct want[]){ __VA_ARGS__ },                               \
		sizeof((const struct want[]){ __VA_ARGS__ }) / sizeof(struct want))

static void kernels_by_line(void)
{
	CHECK_ROWS("kernels", "line", { "load (app/data.py:12)", 2, 2000, 1000, 2000 },
		{ "step (app/train.py:88)", 3, 300, 100, 300 },
		{ "worker (libworker.so)", 1, 50, 50, 50 }, { "(no stack recorded)", 1, 7, 7, 7 },
		{ "main (app/train.py:9)", 0, 0, 0, 2300 },
		{ "at::gemm<float> (libtorch.so)", 0, 0, 0, 300 },
		{ "start_thread (libc.so.6)", 0, 0, 0, 50 });
}

static void kernels_by_module(void)
{
	CHECK_ROWS("kernels", "module", { "app/data.py", 2, 2000, 1000, 2000 },
		{ "app/train.py", 3, 300, 100, 2300 }, { "libworker.so", 1, 50, 50, 50 },
		{ "(no stack recorded)", 1, 7, 7, 7 }, { "libtorch.so", 0, 0, 0, 300 },
		{ "libc.so.6", 0, 0, 0, 50 });
}

static void calls_by_function(void)
{
	CHECK_ROWS("top", "function", { "load (app/data.py)", 2, 40, 20, 40 },
		{ "step (app/train.py)", 3, 30, 10, 30 },
		{ "worker (libworker.so)", 1, 30, 30, 30 }, { "(no stack recorded)", 2, 9, 5, 9 },
		{ "main (app/train.py)", 0, 0, 0, 70 },
		{ "at::gemm<float> (libtorch.so)", 0, 0, 0, 30 },
		{ "start_thread (libc.so.6)", 0, 0, 0, 30 });
}

#define STEP "at::gemm<float> (libtorch.so) < step (app/train.py:88) < main (app/train.py:9)"
#define LOAD "load (app/data.py:12) < main (app/train.py:9) < main (app/train.py:9)"
#define WORKER "worker (libworker.so) < start_thread (libc.so.6) < (truncated)"

static void calls_by_stack(void)
{
	CHECK_ROWS("top", "stack", { LOAD, 2, 40, 20, 0 }, { STEP, 3, 30, 10, 0 },
		{ WORKER, 1, 30, 30, 0 }, { "(no stack recorded)", 2, 9, 5, 0 });
}

static void stacks_are_listed_by_number(void)
{
	static const struct {
		const char *stack;
		int calls, ns, operations, gpu;
	} want[] = { { STEP, 3, 30, 3, 300 }, { LOAD, 2, 40, 2, 2000 },
		{ "(no stack recorded)", 2, 9, 1, 7 }, { WORKER, 1, 30, 1, 50 } };
	json_t *j = by_stack(stack_program(), "stacks", NULL);

	CHECK_EQ(rows(j, "stacks"), 4);
	for (size_t i = 0; i < 4; i++) {
		const json_t *r = row(j, "stacks", i);

		CHECK_STR(json_string_value(json_object_get(r, "stack")), want[i].stack);
		CHECK_EQ((long long)num(r, "calls"), want[i].calls);
		CHECK_EQ((long long)num(r, "calls_ns"), want[i].ns);
		CHECK_EQ((long long)num(r, "operations"), want[i].operations);
		CHECK_EQ((long long)num(r, "gpu_ns"), want[i].gpu);
	}
	json_decref(j);
}

static struct gt_reader *memory_program(void)
{
	struct stack_program p = { .fd = -1 };

	stack_program_begin_at(&p, memfd_create("trace", 0));
	stack_program_rows(&p);
	stack_program_memory(&p);
	return stack_program_end(&p);
}

static void memory_at_the_peak_by_line(void)
{
	static const struct {
		const char *caller;
		int blocks, bytes, inclusive;
	} want[] = { { "load (app/data.py:12)", 2, 5500, 5500 },
		{ "step (app/train.py:88)", 2, 4000, 4000 }, { "(no stack recorded)", 1, 64, 64 },
		{ "main (app/train.py:9)", 0, 0, 9500 },
		{ "at::gemm<float> (libtorch.so)", 0, 0, 4000 } };
	json_t *j = by_stack(memory_program(), "memory", "line");
	double shares = 0;

	CHECK_EQ(rows(j, "memory_by"), 5);
	for (size_t i = 0; i < 5; i++) {
		const json_t *r = row(j, "memory_by", i);

		CHECK_STR(json_string_value(json_object_get(r, "caller")), want[i].caller);
		CHECK_EQ((long long)num(r, "count"), want[i].blocks);
		CHECK_EQ((long long)num(r, "bytes"), want[i].bytes);
		CHECK_EQ((long long)num(r, "inclusive_bytes"), want[i].inclusive);
		shares += num(r, "share_percent");
	}
	CHECK(shares > 99.995 && shares < 100.005);
	json_decref(j);
	j = by_stack(memory_program(), "memory", "stack");
	CHECK(rows(j, "memory_by") == 3 && is(row(j, "memory_by", 0), "caller", LOAD) &&
		num(row(j, "memory_by", 0), "bytes") == 5500);
	json_decref(j);
	/* without --by stacks change nothing */
	j = by_stack(memory_program(), "memory", NULL);
	CHECK(rows(j, "memory_peak") == 5 && !json_object_get(j, "memory_by"));
	json_decref(j);
}

/* The gap of this start. */
static const char *caller_at(const json_t *j, int64_t start)
{
	for (size_t i = 0; i < rows(j, "longest_gaps"); i++)
		if (num(row(j, "longest_gaps", i), "start_ns") == (double)start)
			return json_string_value(
				json_object_get(row(j, "longest_gaps", i), "caller"));
	return NULL;
}

static void gaps_have_the_line_that_ended_them(void)
{
	struct stack_program p = { .fd = -1 };
	json_t *j;

	stack_program_begin_at(&p, memfd_create("trace", 0));
	stack_launch(&p, BY_STEP, 0, 0, 10, 1000, 100);
	stack_launch(&p, BY_LOAD, 0, 50000, 10, 60000, 100);
	stack_graph(&p, BY_STEP, BY_LOAD, 100000, 10, 110000, 100);
	stack_graph(&p, BY_NONE, BY_LOAD, 150000, 10, 160000, 100);
	stack_launch(&p, BY_WORKER, 0, 200000, 10, 210000, 100);
	stack_launch(&p, BY_NONE, 0, 250000, 10, 260000, 100);
	j = by_stack(stack_program_end(&p), "gaps", NULL);
	CHECK_EQ(rows(j, "longest_gaps"), 5);
	CHECK_STR(caller_at(j, 1100), "load (app/data.py:12)");
	/* not the line that created the node */
	CHECK_STR(caller_at(j, 60100), "step (app/train.py:88)");
	CHECK(!caller_at(j, 110100));
	CHECK_STR(caller_at(j, 160100), "worker (libworker.so)");
	CHECK(!caller_at(j, 210100));
	json_decref(j);
}

/* Thousands of rows in many blocks and tracks: figures do not depend on the number of threads. */
static void a_split_run_equals_the_whole(void)
{
	static const char *const reports[][2] = { { "kernels", "line" }, { "top", "function" },
		{ "top", "stack" }, { "stacks", NULL } };

	for (size_t i = 0; i < 4; i++) {
		char *text[2];

		for (unsigned k = 0; k < 2; k++) {
			struct stack_program p = { .fd = -1 };
			struct gt_err err = GT_ERR_INIT;

			stack_program_begin_at(&p, memfd_create("trace", 0));
			for (int n = 0; n < 100000; n++)
				stack_launch(&p, n * 7 % 5 % 4, n % 2, n * 100, n % 17 + 1,
					n * 100 + 20, n % 71);
			text[k] = by_stack_text(stack_program_end(&p), reports[i][0], reports[i][1],
				k ? 4 : 1, GT_JSON, &err);
		}
		CHECK(text[0] && strlen(text[0]) > 500);
		CHECK_STR(text[0], text[1]);
		free(text[0]);
		free(text[1]);
	}
}

static void without_stacks_there_is_no_answer(void)
{
	static const char *const reports[][2] = { { "kernels", "line" }, { "top", "stack" },
		{ "stacks", NULL }, { "memory", "line" } };
	static const char *const tables[] = { "kernels_by", "top_by", "stacks", "memory_by" };

	for (size_t i = 0; i < 4; i++) {
		struct stack_program p = { .without_stacks = true };
		json_t *j;

		stack_program_begin_at(&p, memfd_create("trace", 0));
		stack_row(&p, GT_CALL, p.thread[0], p.plain, 10, 20, 0, NULL);
		stack_row(&p, GT_CALL, p.thread[0], p.launch, 30, 40, 0, (uint64_t[]){ 1 });
		stack_row(&p, GT_GPU, p.stream, p.kernel[0], 50, 60, 0,
			(uint64_t[]){ 1, 0, 30, 10, p.launch_name, GT_JOIN_CORRELATION });
		j = by_stack(stack_program_end(&p), reports[i][0], reports[i][1]);
		CHECK(is(json_object_get(j, tables[i]), "state", "cannot answer"));
		CHECK(noted(j, tables[i], "gtcollect --stacks"));
		json_decref(j);
	}
}

/* A damaged file may have any number there. */
static void stacks_that_do_not_exist_are_unknown(void)
{
	struct stack_program p = { .fd = -1 };
	json_t *j;

	stack_program_begin_at(&p, memfd_create("trace", 0));
	stack_row(&p, GT_CALL, p.thread[0], p.launch, 30, 40, 0, (uint64_t[]){ 1, 3 });
	stack_row(&p, GT_CALL, p.thread[0], p.launch, 50, 60, 0, (uint64_t[]){ 1, UINT64_MAX });
	j = by_stack(stack_program_end(&p), "top", "line");
	CHECK(rows(j, "top_by") == 1 && num(row(j, "top_by", 0), "count") == 2);
	json_decref(j);
}

static void other_words_are_refused(void)
{
	static const char *const reports[] = { "top", "kernels", "memory" };

	for (size_t i = 0; i < 3; i++) {
		struct gt_err err = GT_ERR_INIT;

		CHECK(!by_stack_text(stack_program(), reports[i], "name", 1, GT_JSON, &err));
		CHECK(err.code == -EINVAL && strstr(err.text, "'name' is none of line, function"));
	}
}

/* Queries select and group by the line, function, module and stack of calls and GPU work. */
static void queries_of_stacks(void)
{
	json_t *j = ask(stack_program(), "kind==kernel", "line", "count,sum(dur)", &plain);

	CHECK_EQ(rows(j, "query"), 4);
	CHECK(is(row(j, "query", 0), "line", "load (app/data.py:12)") &&
		num(row(j, "query", 0), "sum_dur_ns") == 2000);
	CHECK(is(row(j, "query", 1), "line", "step (app/train.py:88)") &&
		num(row(j, "query", 1), "count") == 3);
	CHECK(absent(row(j, "query", 3), "line")); /* without a stack */
	json_decref(j);
	j = ask(stack_program(), "stack~/gemm.*main/ && function!='load (app/data.py)'",
		"kind,module,function", "count,distinct(stack)", &plain);
	CHECK_EQ(rows(j, "query"), 2);
	CHECK(is(row(j, "query", 0), "module", "app/train.py") &&
		is(row(j, "query", 0), "function", "step (app/train.py)") &&
		num(row(j, "query", 0), "distinct_stack") == 1);
	json_decref(j);
	j = ask(stack_program(), "line~'worker*' && kind==call", "stack", "count", &plain);
	CHECK(is(row(j, "query", 0), "stack",
		      "worker (libworker.so) < start_thread (libc.so.6) < (truncated)") &&
		num(row(j, "query", 0), "count") == 1);
	json_decref(j);
}

T_MAIN(T(queries_of_stacks), T(kernels_by_line), T(kernels_by_module), T(calls_by_function),
	T(calls_by_stack), T(stacks_are_listed_by_number), T(memory_at_the_peak_by_line),
	T(gaps_have_the_line_that_ended_them), T(a_split_run_equals_the_whole),
	T(without_stacks_there_is_no_answer), T(stacks_that_do_not_exist_are_unknown),
	T(other_words_are_refused))
