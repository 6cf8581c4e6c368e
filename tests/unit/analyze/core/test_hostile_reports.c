/* Every report over traces that are well-formed and extreme (hostile_shapes.h): no report fails,
 * and none has an impossible figure. If a bound leaves rows out, a note says so, and the totals
 * still count all rows. */
#define _GNU_SOURCE
#include <sys/sendfile.h>
#include <sys/wait.h>
#include "analyze/order/concurrency_sweep.h"
#include "tests/unit/analyze/core/hostile_shapes.h"
#include "tests/unit/reports.h"

static struct hs h;

static struct gt_reader *shape(const char *name, uint32_t n)
{
	for (size_t i = 0; i < HS_SHAPES; i++)
		if (!strcmp(hs_shapes[i].name, name))
			return hs_make(&h, &hs_shapes[i], n);
	return NULL;
}

static json_t *one(const char *of, uint32_t n, const char *name)
{
	const char *const names[] = { name, NULL };
	struct gt_reader *r = shape(of, n);

	return r ? report(r, names, &plain) : NULL;
}

/* ---- all reports over all shapes ---- */

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Times, counts and numbers of bytes are not negative, and percentages are at most 100. Times
 * since the start, drifts and changes may be negative. */
static bool may_be(const char *key, const json_t *v)
{
	bool signs = strstr(key, "drift") || strstr(key, "change") || strstr(key, "difference") ||
		strstr(key, "start") || strstr(key, "_at_ns") || strstr(key, "from") ||
		strstr(key, "to_ns") || strstr(key, "first") || strstr(key, "last") ||
		!strcmp(key, "min") || !strcmp(key, "max") || !strcmp(key, "mean") ||
		strstr(key, "code") || !strcmp(key, "error") || !strcmp(key, "at_ns") ||
		!strcmp(key, "result");

	if (!json_is_number(v) || signs)
		return true;
	return json_number_value(v) >= 0 &&
		(!ends_with(key, "_percent") || json_number_value(v) <= 100);
}

static const char *first_that_cannot_be(json_t *all)
{
	const char *table, *key;
	json_t *t, *one_row, *v;
	size_t i;

	json_object_foreach(all, table, t) json_array_foreach(json_object_get(t, "rows"), i,
		one_row) json_object_foreach(one_row, key, v) if (!may_be(key, v))
	{
		printf("  %s.%s of row %zu: %g\n", table, key, i, json_number_value(v));
		return key;
	}
	return NULL;
}

static json_t *all_reports(const struct hs_shape *s, uint32_t n)
{
	struct gt_reader *r = hs_make(&h, s, n);

	return r ? report(r, NULL, &plain) : NULL;
}

static void no_report_fails_or_says_what_cannot_be(void)
{
	static const uint32_t sizes[] = { 3, 300 };

	for (size_t i = 0; i < HS_SHAPES; i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			json_t *all;
			const char *wrong;

			if (T_SANITIZED && k != i % 2)
				continue;
			all = all_reports(&hs_shapes[i], sizes[k]);
			wrong = all ? first_that_cannot_be(all) : "no answer";
			json_decref(all);
			if (wrong)
				printf("  shape %s of %u: %s\n", hs_shapes[i].name, sizes[k],
					wrong);
			CHECK(!wrong);
		}
}

/* ---- empty reports ---- */

static void what_has_no_gpu_is_no_answer(void)
{
	static const char *const of_gpus[] = { "gpu", "budget", "gaps", "host", "critical",
		"advice", "kernels", "copies", "streams", "steps", "overlap", "queues", "patterns",
		"cuda_gpu_sum", "cuda_gpu_kern_sum", "cuda_gpu_trace", "cuda_kern_exec_sum",
		"nvtx_gpu_proj_sum" };

	for (size_t i = 0; i < sizeof(of_gpus) / sizeof(*of_gpus); i++) {
		const struct gt_analysis *a = gt_analysis_find(of_gpus[i]);
		struct gt_analysis_options o = plain;
		struct gt_table *tables[GT_RUN_TABLES];
		struct gt_err err = GT_ERR_INIT;
		struct trace t;
		struct gt_reader *r;
		bool cannot = false;
		int n;

		known(&t, true);
		CHECK((r = end(&t)));
		n = gt_run(r, &a, 1, &o, 1, tables, &err);
		for (int k = 0; k < n; k++)
			cannot |= gt_table_answer(tables[k]) == GT_UNANSWERED;
		for (unsigned k = 0; k < GT_RUN_TABLES; k++)
			gt_table_free(tables[k]);
		gt_reader_close(r);
		CHECK(n > 0 && cannot);
	}
}

/* ---- too much ---- */

static void names_beyond_the_bound_are_counted_together(void)
{
	json_t *j = one("kernels", 70000, "kernels");
	double count = 0;

	CHECK(rows(j, "kernels") == 65537 &&
		noted(j, "kernels", "more than 65536 different kernels"));
	for (size_t i = 0; i < rows(j, "kernels"); i++)
		count += num(row(j, "kernels", i), "count");
	CHECK(count == 70000 &&
		num(row_named(j, "kernels", "kernel", "(all others)"), "count") == 70000 - 65536);
	CHECK(num(row_named(j, "kernels", "kernel", "(all others)"), "total_ns") ==
		300.0 * (70000 - 65536));
	json_decref(j);
	j = one("launched_names", 70000, "launches");
	CHECK(rows(j, "launches") == 65537 &&
		num(row_named(j, "launches", "kernel", "(all others)"), "launches") ==
			70000 - 65536);
	json_decref(j);
}

/* Each sample and each wait has a stack of its own: beyond the bound they are one row. */
static void stacks_of_samples_beyond_the_bound_are_one(void)
{
	json_t *j = one("samples", 340000, "host");

	CHECK(num(row_named(j, "host", "caller", "(further stacks)"), "idle_ns") > 0);
	json_decref(j);
}

static void names_by_gpu_beyond_the_bound_have_no_busy_time(void)
{
	json_t *j = one("kernels_by_device", 525000, "kernels");

	CHECK(noted(j, "kernels", "more than 524288 pairs of name and GPU") &&
		absent(row(j, "kernels", 0), "busy_ns"));
	CHECK(absent(row(j, "kernels", 0), "busy_percent") &&
		num(row_named(j, "kernels", "kernel", "kernel_0"), "count") == 725);
	json_decref(j);
	j = one("kernels_by_device", 100, "kernels");
	CHECK(rows(j, "kernels") == 10 && num(row(j, "kernels", 0), "busy_ns") == 3000);
	json_decref(j);
}

/* The state for each GPU and stream would exceed its limit: the report has no answer, rather
 * than an answer for some of them. */
static void idle_time_of_too_many_gpus_is_no_answer(void)
{
	static const struct {
		const char *shape;
		uint32_t n;
		bool cannot;
	} all[] = { { "streams", 65536 - 4, false }, { "streams", 65536 - 3, true },
		{ "devices", 2 * (16384 - 2), false }, { "devices", 2 * (16384 - 1), true } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		json_t *j = one(all[i].shape, all[i].n, "budget");

		CHECK(noted(j, "budget", "cannot answer: there are more than 16,384 GPUs") ==
			all[i].cannot);
		CHECK((rows(j, "budget_gpus") == 0) == all[i].cannot);
		json_decref(j);
	}
}

static void what_is_beyond_the_bound_is_in_no_figure(void)
{
	json_t *j = one("devices", 2 * 32768, "copies");

	CHECK(!noted(j, "copies", "more than"));
	json_decref(j);
	j = one("devices", 2 * 32769, "copies");
	CHECK(noted(j, "copies", "hidden times are unknown: there are more than 32768 GPUs"));
	json_decref(j);
	j = one("counters", 100100, "counters");
	CHECK(rows(j, "counters") == 100000 &&
		noted(j, "counters", "more than 100000 counters: 100 samples"));
	json_decref(j);
}

static void streams_beyond_the_bound_are_reported(void)
{
	json_t *j = one("streams", 70000, "queues");

	CHECK(rows(j, "queues") == 65536 && noted(j, "queues", "more than 65536 streams and GPUs"));
	CHECK(is(row(j, "queues", 0), "stream", "all") || absent(row(j, "queues", 0), "stream"));
	/* all of the device are present */
	CHECK_EQ(num(row(j, "queues", 0), "launches"), 70000);
	CHECK(rows(j, "queue_pictures") == 16384 &&
		noted(j, "queue_pictures", "only the first 16384"));
	json_decref(j);
	j = one("streams", 70000, "patterns");
	CHECK(rows(j, "launching_streams") == 65536 &&
		noted(j, "launching_streams", "4464 operations on further ones"));
	json_decref(j);
	j = one("threads", 40000, "timeline");
	CHECK(rows(j, "timeline") == 32768 && noted(j, "timeline", "they made 7232 calls"));
	json_decref(j);
}

static void a_table_holds_so_many_rows_and_says_so(void)
{
	json_t *j = one("functions", 100007, "top");

	/* a launch, a kernel */
	CHECK(rows(j, "top") == 100000 &&
		noted(j, "top", "9 more rows left out: a table holds 100000 at most"));
	json_decref(j);
}

static void what_is_nested_too_deep_is_no_answer(void)
{
	json_t *j = one("nested_ranges", 3000, "nvtx_gpu_proj_sum");

	CHECK(!rows(j, "nvtx_gpu_proj_sum") &&
		noted(j, "nvtx_gpu_proj_sum",
			"cannot answer: ranges are nested more than a thousand deep"));
	json_decref(j);
	j = one("nested_ranges", 3000, "nvtx_kern_sum"); /* which needs the innermost only */
	CHECK(rows(j, "nvtx_kern_sum") == 1 && num(row(j, "nvtx_kern_sum", 0), "kern_inst") == 1);
	json_decref(j);
	j = one("nested_calls", 3000, "driver");
	CHECK(!rows(j, "driver") &&
		noted(j, "driver", "cannot answer: calls are nested more than a thousand deep"));
	json_decref(j);
	j = one("nested_ranges", 500, "nvtx_gpu_proj_sum");
	CHECK(rows(j, "nvtx_gpu_proj_sum") == 1 &&
		num(row(j, "nvtx_gpu_proj_sum", 0), "total_gpu_ops") == 500);
	json_decref(j);
}

static void times_that_no_clock_says_are_no_answer(void)
{
	json_t *j = one("extremes", 1, "budget");

	CHECK(!rows(j, "budget") &&
		noted(j, "budget", "cannot answer: the recording lasts for more than four years"));
	json_decref(j);
}

/* ---- concurrency by name ---- */

struct naive {
	int64_t end[300];
	uint32_t name[300], kind[300];
	int n;
	bool wrong;
};

static void on_stretch(void *arg, const struct gt_sweep *s, int64_t from, int64_t to)
{
	struct naive *v = arg;
	uint32_t distinct = 0, active[GT_SWEEP_KINDS] = { 0 };
	uint64_t ids = 0;

	for (int i = 0; i < v->n; i++) {
		bool met = v->end[i] <= from;

		active[v->kind[i]] += !met;

		for (int k = 0; k < i && !met; k++)
			met = v->end[k] > from && v->name[k] == v->name[i];
		distinct += !met;
		ids += met ? 0 : v->name[i];
	}
	v->wrong |= distinct != s->distinct || ids != s->ids ||
		memcmp(active, s->active, sizeof(active));
}

static void a_sweep_knows_which_names_run(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(200); seed++) {
		struct gt_sweep s = { .at = 0 };
		struct gt_err err = GT_ERR_INIT;
		struct naive v = { .n = 0 };
		int64_t at = 0;

		srand(seed);
		for (int i = 0; i < 300; i++) {
			/* sometimes many with the same place in the hash table */
			uint32_t name = (uint32_t)(rand() % 40) * (seed % 3 ? 1 : 128);

			at += i % 50 ? rand() % 5 : 100; /* by then nothing runs */
			gt_sweep_advance(&s, at, on_stretch, &v);
			v.end[v.n] = at + rand() % 60;
			v.name[v.n] = name;
			v.kind[v.n] = (uint32_t)rand() % GT_SWEEP_KINDS;
			CHECK(!gt_sweep_add(&s, v.end[v.n], v.kind[v.n], name, &err));
			v.n++;
		}
		gt_sweep_finish(&s, on_stretch, &v);
		gt_sweep_release(&s);
		CHECK(!v.wrong);
	}
}

static const struct t_case cases[] = {
	T(no_report_fails_or_says_what_cannot_be),
	T(what_has_no_gpu_is_no_answer),
	T(names_beyond_the_bound_are_counted_together),
	T(stacks_of_samples_beyond_the_bound_are_one),
	T(names_by_gpu_beyond_the_bound_have_no_busy_time),
	T(idle_time_of_too_many_gpus_is_no_answer),
	T(what_is_beyond_the_bound_is_in_no_figure),
	T(streams_beyond_the_bound_are_reported),
	T(a_table_holds_so_many_rows_and_says_so),
	T(what_is_nested_too_deep_is_no_answer),
	T(times_that_no_clock_says_are_no_answer),
	T(a_sweep_knows_which_names_run),
};

/* For tests/cli and for measurements of memory: SHAPE N FILE writes such a trace. */
static int write_shape(const char *name, const char *n, const char *path)
{
	struct gt_reader *r = shape(name, (uint32_t)strtoul(n, NULL, 10));
	int to = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
	off_t len = r ? lseek(h.g.fd, 0, SEEK_END) : 0, at = 0;

	while (to >= 0 && at < len && sendfile(to, h.g.fd, &at, (size_t)(len - at)) > 0)
		;
	gt_reader_close(r);
	return !len || at < len || close(to);
}

int main(int argc, char **argv)
{
	return argc == 4 ? write_shape(argv[1], argv[2], argv[3])
			 : t_main(__FILE__, cases, sizeof(cases) / sizeof(*cases));
}
