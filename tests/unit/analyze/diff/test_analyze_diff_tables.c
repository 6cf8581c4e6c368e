/* Every table that can be compared or gated, compared with the report on each file alone. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/diff/diff.h"
#include "tests/unit/analyze/diff/diffs.h"
#include "tests/unit/random_program.h"
#include "tests/unit/stack_program.h"

static struct rp p;

/* ---- random programs, and two of ranges ---- */

static void range(struct gpus *g, const char *name, int64_t from, int64_t to)
{
	struct gt_type type = { .name = gt_writer_string(g->w, name),
		.layer = GT_LAYER_USER,
		.category = GT_CAT_USER };
	struct gt_row row = { .start = from, .end = to };

	row.type = gt_writer_type(g->w, &type);
	gt_writer_row(g->w, GT_SPAN, g->thread[0], &row, NULL, &g->err);
}

/* The recorder's memory counter of the first GPU. */
static void live_bytes(struct gpus *g, int64_t at, uint64_t bytes)
{
	struct gt_field value = { gt_writer_string(g->w, "value"), GT_F_U64, GT_R_VALUE };
	struct gt_type type = { .name = gt_writer_string(g->w, "live_device_bytes"),
		.category = GT_CAT_MEMORY,
		.memkind = GT_MEM_DEVICE,
		.fields = &value,
		.nfields = 1 };
	struct gt_row row = { .start = at, .end = at, .nargs = 1 };

	row.type = gt_writer_type(g->w, &type);
	gt_writer_row(g->w, GT_COUNTER, g->device[0], &row, &bytes, &g->err);
}

/* Calls alone: kernels are launched, memory of one size is freed and allocated again, contexts are
 * switched. */
static struct gt_reader *calls_of(int rounds, int64_t ns)
{
	struct trace t;

	begin(&t, true);
	for (int i = 0; i < rounds; i++) {
		call(&t, 0, ALLOC, 1000 * i, 1000 * i + ns, 0, 0, 512, 0xa000);
		call(&t, 0, LAUNCH, 1000 * i + 300, 1000 * i + 300 + ns, 0, 0, str(&t, "_Z3addPf"),
			0);
		call(&t, 0, FREE, 1000 * i + 700, 1000 * i + 700 + ns / 2, 0, 0, 0xa000, 0);
		call(&t, 0, CONTEXT, 1000 * i + 900, 1000 * i + 900 + ns / 4, 0, 0,
			0x70 + (uint64_t)(i % 3 ? 1 : 2), 0);
	}
	return end(&t);
}

/* Ten steps of `step` ns in a range each, in which two kernels and a copy are launched; some ioctls
 * fail. */
static struct gt_reader *steps_of(int64_t step, int kernel, int fails)
{
	struct gpus g;
	struct gt_type type = {
		.category = GT_CAT_IOCTL, .op = GT_OP_IOCTL, .layer = GT_LAYER_IOCTL
	};
	struct gt_row ioctl = { 0 };

	gpus_begin(&g, "{\"events\":\"api,ioctl,gpu\"}");
	type.name = gt_writer_string(g.w, "ioctl RM_CONTROL");
	ioctl.type = gt_writer_type(g.w, &type);
	for (int i = 0; i < 10; i++) {
		int64_t at = 1000 + i * step;
		struct gt_gpu_work w = gpus_work(g.stream[0][0], at + 100, at + 100 + kernel);

		ioctl.start = at + 12, ioctl.end = at + 15;
		ioctl.ret = i < fails ? 86 : 0;
		ioctl.depth = 1;
		gt_writer_row(g.w, GT_CALL, g.thread[0], &ioctl, NULL, &g.err);
		gpus_launched(&g, &w, 0, at + 10, 40, GT_JOIN_CORRELATION);
		gpus_kernel(&g, 0, &w);
		w = gpus_work(g.stream[0][0], at + 110 + kernel, at + 150 + kernel);
		gpus_launched(&g, &w, 0, at + 60, 20, GT_JOIN_CORRELATION);
		gpus_kernel(&g, 1, &w);
		w = gpus_work(g.stream[0][1], at + 120, at + 220);
		gpus_copy(&g, &w, GT_DIR_HTOD, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE, 4096);
		range(&g, "step", at, at + step - 10);
		live_bytes(&g, at, (uint64_t)(kernel + i));
	}
	return gpus_end(&g);
}

static struct gt_reader *stacks_of(int kernels, int64_t ns)
{
	struct stack_program program = { .fd = -1 };

	stack_program_begin_at(&program, memfd_create("trace", 0));
	for (int i = 0; i < kernels; i++)
		stack_launch(&program, i % 4, 0, 1000 * i, 10, 1000 * i + 100, ns);
	return stack_program_end(&program);
}

/* The two files of a number. */
static struct gt_reader *file(unsigned seed, bool b)
{
	if (seed == 10)
		return b ? stacks_of(20, 70) : stacks_of(30, 50);
	if (seed == 9)
		return b ? calls_of(20, 70) : calls_of(30, 50);
	if (seed % 8)
		return rp_make(&p, b ? seed + 100 : seed);
	return b ? steps_of(2000, 700, 1) : steps_of(1500, 300, 4);
}

/* ---- the slow way ---- */

/* The column and its list: 'l' less, 'm' more, 'e' either, 't' tail, 'g' gates; 0: it is no
 * figure. */
static char list_of(const struct gt_diff_rule *r, const char *column)
{
	return gt_list_has(r->less, column)      ? 'l'
		: gt_list_has(r->more, column)   ? 'm'
		: gt_list_has(r->either, column) ? 'e'
		: gt_list_has(r->tail, column)   ? 't'
		: gt_list_has(r->gates, column)  ? 'g'
						 : 0;
}

static double sum_of(
	const json_t *report, const char *table, const char *column, double *most, int *numbers)
{
	double sum = 0;

	*most = -1e300;
	*numbers = 0;
	for (size_t i = 0; i < rows(report, table); i++) {
		const json_t *v = json_object_get(row(report, table, i), column);

		if (!json_is_number(v))
			continue;
		sum += json_number_value(v);
		*most = fmax(*most, json_number_value(v));
		++*numbers;
	}
	return sum;
}

static bool close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 0.05;
}

/* Does the verdict follow from a and b? Shares are compared unrounded; JSON has them rounded. */
static bool verdict_is_right(const json_t *f, char list, bool clean_is_0)
{
	const json_t *a = json_object_get(f, "a"), *b = json_object_get(f, "b");
	double from = json_number_value(a), to = json_number_value(b),
	       change = from != 0 ? (to - from) / fabs(from) : to != 0;

	if (!json_is_number(a) || !json_is_number(b))
		return clean_is_0 || is(f, "verdict", json_is_number(a) ? "gone" : "added") ||
			is(f, "verdict", "not recorded") || is(f, "verdict", "cannot tell");
	if (fabs(fabs(change) - 0.01) < 1e-4)
		return true;
	if (fabs(change) < 0.01)
		return is(f, "verdict", "same");
	return is(f, "verdict",
		list == 'e'                             ? "changed"
			: (change > 0) == (list == 'm') ? "better"
							: "worse");
}

/* All figures of a column, on either side, equal those of the report on the file alone: none is
 * lost, duplicated, or of another row. */
static bool column_agrees(const struct gt_diff_rule *r, const char *column, const json_t *diff,
	const json_t *const alone[2])
{
	char figure[100], list = list_of(r, column);
	double sums[2] = { 0 }, most;
	bool fine = true;
	int n;

	snprintf(figure, sizeof(figure), "%s.%s", r->table, column);
	for (size_t i = 0; i < rows(diff, "figures"); i++) {
		const json_t *f = row(diff, "figures", i);

		if (!is(f, "figure", figure))
			continue;
		sums[0] += json_number_value(json_object_get(f, "a"));
		sums[1] += json_number_value(json_object_get(f, "b"));
		fine &= verdict_is_right(f, list, r->state);
	}
	for (int side = 0; side < 2; side++)
		fine &= close_to(sums[side],
			list == 'g' ? 0 : sum_of(alone[side], r->table, column, &most, &n));
	if (!fine)
		printf("# %s: %g and %g, not %g and %g\n", figure, sums[0], sums[1],
			sum_of(alone[0], r->table, column, &most, &n),
			sum_of(alone[1], r->table, column, &most, &n));
	return fine;
}

static bool table_agrees(
	const struct gt_diff_rule *r, const json_t *diff, const json_t *const alone[2])
{
	const char *column;
	json_t *cell;
	bool fine = true;

	json_object_foreach((json_t *)row(alone[0], r->table, 0), column,
		cell) if (list_of(r, column) && list_of(r, column) != 't') fine &=
		column_agrees(r, column, diff, alone);
	return fine;
}

/* A figure of the comparison by name does not count for a row that is in one file only. */
static bool is_of_reports(const struct gt_diff_rule *r)
{
	return r->report && !r->names && strcmp(r->report, "header") && strcmp(r->report, "names");
}

static void figures_are_those_of_reports(void)
{
	unsigned unseen = 0;

	rp_scheduled = rp_functions = true;
	for (const struct gt_diff_rule *r = gt_diff_rules; r->table; r++) {
		const char *const reports[] = { r->report, NULL };
		bool any = false;

		for (unsigned seed = 0; is_of_reports(r) && seed < T_INPUTS(11u); seed++) {
			json_t *diff =
				compared(file(seed, false), file(seed, true), reports, NULL, NULL);
			const json_t *alone[2] = { report(file(seed, false), reports, &plain),
				report(file(seed, true), reports, &plain) };
			bool fine = diff && alone[0] && alone[1] && table_agrees(r, diff, alone);

			any |= rows(alone[0], r->table) > 0;
			json_decref(diff);
			json_decref((json_t *)alone[0]);
			json_decref((json_t *)alone[1]);
			CHECK(fine);
		}
		if (is_of_reports(r) && !any)
			printf("# no row of %s\n", r->table);
		unseen += is_of_reports(r) && !any;
	}
	rp_scheduled = rp_functions = false;
	CHECK(T_SANITIZED || !unseen); /* the few inputs do not have all tables */
}

/* ---- gates ---- */

/* The unit that a limit of this column is written in. */
static const char *unit_of(const char *column)
{
	size_t n = strlen(column);

	if (!strcmp(column, "bytes"))
		return "B";
	return n > 3 && !strcmp(column + n - 3, "_ns")         ? "ns"
		: n > 6 && !strcmp(column + n - 6, "_bytes")   ? "B"
		: n > 8 && !strcmp(column + n - 8, "_percent") ? "%"
							       : "";
}

static const char *gate_says(const char *report_name, const char *gate, unsigned seed)
{
	static char state[40];
	struct gt_opt_list texts = { .items = (const char **)&gate, .n = 1 };
	struct gt_diff_request asked = { .names = 0 };
	struct gt_err err = GT_ERR_INIT;
	struct gt_table *table = NULL;
	struct gt_gates g = { 0 };
	struct gt_side side;
	json_t *j = NULL;

	if (!gt_gates_parse(&g, &texts, false, &err)) {
		gt_gates_request(&g, &asked);
		if (read_side(&side, file(seed, false), &asked, 1) &&
			gt_gates_check(&g, NULL, &side, NULL, 0, &table, &err) >= 0)
			j = tables_as_json(&table, 1);
		gt_side_release(&side);
	} else
		gt_err_print("test", NULL, &err);
	snprintf(state, sizeof(state), "%s",
		j ? json_string_value(json_object_get(row(j, "gates", 0), "state")) : "?");
	json_decref(j);
	gt_table_free(table);
	gt_gates_release(&g);
	return state;
}

/* If a rule has no answer, it is unknown whether it exceeds a limit. */
static bool unknown(const json_t *alone, const char *table, const char *column)
{
	bool any = false;

	for (size_t i = 0; !strcmp(table, "advice") && i < rows(alone, table); i++)
		any |= absent(row(alone, table, i), column) &&
			is(row(alone, table, i), "state", "cannot answer");
	return any;
}

/* The largest value of a column is not above itself, and not below. */
static bool gates_hold(
	const struct gt_diff_rule *r, const char *column, const json_t *alone, unsigned seed)
{
	double most, sum = sum_of(alone, r->table, column, &most, &(int){ 0 });
	char above[160], reached[160];
	bool fine;

	if (most < 0 || sum != sum)
		return true; /* no value; or a limit would be read as a change */
	snprintf(above, sizeof(above), "%s.%s > %.2f%s", r->table, column, most + 0.01,
		unit_of(column));
	snprintf(reached, sizeof(reached), "%s.%s > %.2f%s", r->table, column,
		most - 0.01 > 0 ? most - 0.01 : 0, unit_of(column));
	fine = !strcmp(gate_says(r->report, above, seed),
		unknown(alone, r->table, column) ? "cannot answer" : "passed");
	fine &= !strcmp(gate_says(r->report, reached, seed), most > 0 ? "failed" : "passed");
	if (!fine)
		printf("# seed %u: %s or %s: %s\n", seed, above, reached,
			gate_says(r->report, reached, seed));
	return fine;
}

static void every_figure_can_be_gated(void)
{
	for (const struct gt_diff_rule *r = gt_diff_rules; r->table; r++)
		for (unsigned seed = 3; r->report && strcmp(r->report, "names") && seed <= 9;
			seed += 1 + seed % 2 * 4) {
			json_t *alone = report(file(seed, false),
				       (const char *[]){ r->report, NULL }, &plain),
			       *cell;
			const char *column;
			bool fine = true;

			json_object_foreach((json_t *)row(alone, r->table, 0), column, cell) fine &=
				!list_of(r, column) || gates_hold(r, column, alone, seed);
			json_decref(alone);
			CHECK(fine);
		}
}

/* ---- known changes ---- */

static bool says(const json_t *j, const char *figure, const char *of_row, double a, double b,
	const char *verdict)
{
	const json_t *f = figure_row(j, figure, of_row);

	if (f && num(f, "a") == a && num(f, "b") == b && is(f, "verdict", verdict))
		return true;
	printf("# %s of %s: %s, %g, %g\n", figure, of_row,
		f ? json_string_value(json_object_get(f, "verdict")) : "none", f ? num(f, "a") : 0,
		f ? num(f, "b") : 0);
	return false;
}

/* Steps of 2000 ns instead of 1500, kernels of 700 ns instead of 300, one failed ioctl of ten
 * instead of four. */
static void a_slower_program(void)
{
	static const char *const reports[] = { "cuda_gpu_kern_sum", "cuda_api_sum",
		"cuda_kern_exec_sum", "cuda_gpu_mem_size_sum", "nvtx_sum", "nvtx_kern_sum",
		"nvtx_gpu_proj_sum", "driver", "overlap", "critical", "steps", NULL };
	int status = -1;
	json_t *j = compared(steps_of(1500, 300, 4), steps_of(2000, 700, 1), reports,
		(const char *[]){ "cuda_gpu_kern_sum.avg[add*] > +100%", "steps.p50 > +600ns",
			"steps.p50 > +400ns", "overlap.exposed[*copies] > +1ns",
			"driver_failures.count > +0", "nvtx_sum.total > +10%",
			"critical.on_path[*compute] > +10%", NULL },
		&status);

	CHECK(says(j, "cuda_gpu_kern_sum.avg_ns", "add", 300, 700, "worse"));
	CHECK(says(j, "cuda_gpu_kern_sum.total_ns", "add", 3000, 7000, "worse"));
	CHECK(says(j, "cuda_gpu_kern_sum.instances", "add", 10, 10, "same") &&
		says(j, "cuda_gpu_kern_sum.avg_ns", "mul", 40, 40, "same"));
	CHECK(says(j, "cuda_api_sum.num_calls", "cuLaunchKernel", 20, 20, "same") &&
		says(j, "cuda_gpu_mem_size_sum.total_bytes", "[CUDA memcpy Host-to-Device]", 40960,
			40960, "same"));
	CHECK(says(j, "cuda_kern_exec_sum.kavg_ns", "cuLaunchKernel / add", 300, 700, "worse") &&
		says(j, "cuda_kern_exec_sum.qavg_ns", "cuLaunchKernel / add", 50, 50, "same"));
	CHECK(says(j, "nvtx_sum.avg_ns", "step", 1490, 1990, "worse"));
	CHECK(says(j, "nvtx_kern_sum.total_ns", "step / add", 3000, 7000, "worse"));
	CHECK(says(j, "nvtx_gpu_proj_sum.proj_avg_ns", "step", 350, 750, "worse"));
	CHECK(says(j, "driver_failures.count", "ioctl RM_CONTROL / 86 / NV_ERR_NOT_SUPPORTED", 4, 1,
		      "better") &&
		says(j, "driver.driver_ns", "", 30, 30, "same"));
	CHECK(says(j, "overlap.exposed_ns", "train / 0 / copies", 0, 0, "same"));
	CHECK(says(j, "overlap.ran_ns", "train / 0 / compute", 3400, 7400, "changed"));
	CHECK(says(j, "steps.p50_ns", "train / 0", 1500, 2000, "worse") &&
		figure_row(j, "critical.on_path_ns", "train / compute"));
	for (size_t i = 0; i < 6; i++)
		CHECK(is(row(j, "gates", i), "state",
			i == 0 || i == 2 || i == 5 ? "failed" : "passed"));
	CHECK_EQ(status, GT_EXIT_FOUND);
	json_decref(j);
}

/* Both traces were searched for steps; only one has steps. */
static void unknown_rows_are_not_removed(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,ioctl,gpu\"}");
	gpus_plain(&g, 0, g.stream[0][0], 100, 200);
	j = compared(steps_of(1500, 300, 0), gpus_end(&g), (const char *[]){ "steps", NULL }, NULL,
		NULL);
	CHECK(is(figure_row(j, "steps.p50_ns", "train / 0"), "verdict", "cannot tell") &&
		absent(figure_row(j, "steps.p50_ns", "train / 0"), "b"));
	json_decref(j);
}

T_MAIN(T(figures_are_those_of_reports), T(every_figure_can_be_gated), T(a_slower_program),
	T(unknown_rows_are_not_removed))
