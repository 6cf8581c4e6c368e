/* The comparison by line: lines that move, appear and vanish, and what is within the noise. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/analyze/diff/diffs.h"
#include "tests/unit/analyze/idle/host_program.h"

struct version {
	int load_line;    /* of app/data.py */
	int64_t load_ns;  /* that it runs in each gap */
	int load_samples; /* in each gap */
	bool is_logged;   /* another line waits 1000 ns in each gap */
	int64_t kernel_ns;
};

static uint32_t stack_at(struct host_program *h, const char *function, int line)
{
	char text[80];

	snprintf(text, sizeof(text), "%s (app/data.py:%d)", function, line);
	return gt_writer_stack(h->p.w,
		(uint32_t[]){ python_frame(
			&h->p, text, function, "/home/u/app/data.py", (uint32_t)line) },
		1);
}

/* 100 gaps: load runs, then step launches a kernel in line 88, and one in the line behind load. */
static struct gt_reader *program(struct version v)
{
	struct host_program h = { .p = { .fd = -1 } };
	int64_t at = 1000000;
	uint32_t load, behind, logs;

	host_begin(&h, true, true);
	load = stack_at(&h, "load", v.load_line);
	behind = stack_at(&h, "load", v.load_line + 2);
	logs = stack_at(&h, "log", 50);
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < v.load_samples; k++)
			stack_row(&h.p, GT_INSTANT, h.p.thread[0], h.sample, at + 10 + k,
				at + 10 + k, 0, (uint64_t[]){ PERIOD, load });
		at += v.load_ns;
		if (v.is_logged)
			stack_row(&h.p, GT_SPAN, h.p.thread[0], h.io, at, at + 1000, 0,
				(uint64_t[]){ 0, 0, (uint64_t)-1, logs });
		at += v.is_logged ? 1000 : 0;
		stack_launch(&h.p, BY_STEP, 0, at, 50, at + 50, v.kernel_ns + i % 3);
		h.p.stack[BY_LOAD] = behind;
		stack_launch(&h.p, BY_LOAD, 1, at + 60, 50, at + 60 + v.kernel_ns, 500);
		at += v.kernel_ns + 1000;
	}
	return stack_program_end(&h.p);
}

static const struct version first = { 12, 4000, 4, false, 2000 };

static json_t *lines_of(struct version a, struct version b)
{
	static const char *const reports[] = { "host", "kernels", NULL };
	int status;

	return compared(program(a), program(b), reports, NULL, &status);
}

static const json_t *line(const json_t *j, const char *what, const char *caller)
{
	for (size_t i = 0; i < rows(j, "lines"); i++)
		if (is(row(j, "lines", i), "what", what) &&
			is(row(j, "lines", i), "caller", caller))
			return row(j, "lines", i);
	return NULL;
}

static void equal_files_have_equal_lines(void)
{
	json_t *j = lines_of(first, first);

	CHECK(rows(j, "lines") > 3);
	for (size_t i = 0; i < rows(j, "lines"); i++)
		CHECK(is(row(j, "lines", i), "verdict", "same"));
	json_decref(j);
}

static void lines_move_with_their_function(void)
{
	struct version moved = first;
	const json_t *r;
	json_t *j;

	moved.load_line = 30;
	j = lines_of(first, moved);
	r = line(j, "GPU idle", "load (app/data.py:30)");
	CHECK(r && is(r, "verdict", "same") && num(r, "a_line") == 12);
	r = line(j, "kernels", "load (app/data.py:32)");
	CHECK(r && is(r, "verdict", "same") && num(r, "a_line") == 14);
	r = line(j, "kernels", "step (app/train.py:88)");
	CHECK(r && absent(r, "a_line"));
	json_decref(j);
}

static void slower_lines_and_kernels(void)
{
	struct version slower = first;
	const json_t *r;
	json_t *j;

	slower.load_line = 13;
	slower.load_ns = 12000;
	slower.load_samples = 12;
	slower.kernel_ns = 3000;
	j = lines_of(first, slower);
	r = line(j, "GPU idle", "load (app/data.py:13)");
	CHECK(r && is(r, "verdict", "slower") && num(r, "a_line") == 12);
	CHECK(num(r, "change_ns") > 700000 && num(r, "noise_ns") > 1000);
	r = line(j, "host time", "load (app/data.py:13)");
	CHECK(r && is(r, "verdict", "slower") && num(r, "change_ns") == 800000);
	r = line(j, "kernels", "step (app/train.py:88)");
	CHECK(r && is(r, "verdict", "slower") && num(r, "b_ns") == 3001 &&
		num(r, "b_count") == 100);
	json_decref(j);
}

static void lines_appear_and_vanish(void)
{
	struct version logged = first;
	json_t *j;

	logged.is_logged = true;
	j = lines_of(first, logged);
	CHECK(is(line(j, "GPU idle", "log (app/data.py:50)"), "verdict", "added") &&
		num(line(j, "GPU idle", "log (app/data.py:50)"), "change_ns") == 99000);
	json_decref(j);
	j = lines_of(logged, first);
	CHECK(is(line(j, "GPU idle", "log (app/data.py:50)"), "verdict", "gone"));
	json_decref(j);
}

/* 400 samples have a standard error of 5 %. */
static void a_small_difference_is_noise(void)
{
	struct version longer = first;
	json_t *j;

	longer.load_ns = 4200;
	j = lines_of(first, longer);
	CHECK(is(line(j, "host time", "load (app/data.py:12)"), "verdict", "same"));
	json_decref(j);
	longer.load_ns = 4000;
	longer.load_samples = 5;
	j = lines_of(first, longer);
	CHECK(is(line(j, "host time", "load (app/data.py:12)"), "verdict", "slower"));
	json_decref(j);
}

T_MAIN(T(equal_files_have_equal_lines), T(lines_move_with_their_function),
	T(slower_lines_and_kernels), T(lines_appear_and_vanish), T(a_small_difference_is_noise))
