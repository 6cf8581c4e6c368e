/* Reports by call stack: "top" and "kernels" with --by, and the report "stacks".
 *
 * Calls are those of the CUDA driver: a call of the runtime contains one. Durations count whole, as
 * in "top" and "kernels". */
#include "analyze/stacks/by_stack.h"

#include <stdlib.h>
#include "analyze/core/durations.h"

struct stacks {
	struct gt_report_state report;
	struct gt_stack_sums sums;
	/* the rows that count */
	bool calls, kernels, other_work;
	unsigned by;             /* enum gt_stack_by, or GT_STACK_WHOLE */
	enum gt_stack_side side; /* by which rows are sorted */
};
struct settings {
	enum gt_by_stack_rows rows;
	unsigned by;
};

const char *gt_why_no_stacks(struct gt_reader *r)
{
	return gt_has_stacks(r)     ? NULL
		: gt_is_imported(r) ? "the file has no call stacks"
				    : "no call stacks were recorded (gtcollect --stacks)";
}

int gt_by_stack_read(const char *text, struct gt_err *err)
{
	static const char *const words[] = { "line", "function", "module", "stack" };

	for (int i = 0; i < 4; i++)
		if (!strcmp(text, words[i]))
			return i;
	return gt_err_set(
		err, -EINVAL, "--by: '%s' is none of line, function, module, stack", text);
}

/* ---- rows ---- */

static int block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct stacks *s = state;
	int rc = 0;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		bool kernel = type && type->category == GT_CAT_KERNEL;

		if (cols->kind == GT_CALL && s->calls && type && type->layer == GT_LAYER_API)
			rc = gt_stack_sums_add(&s->sums, cols, c, GT_STACK_CALLS, err);
		if (cols->kind == GT_GPU && (kernel ? s->kernels : s->other_work))
			rc = gt_stack_sums_add(&s->sums, cols, c, GT_STACK_GPU, err);
	}
	return rc;
}

static int merge(void *into, void *from, struct gt_err *err)
{
	return gt_stack_sums_merge(
		&((struct stacks *)into)->sums, &((struct stacks *)from)->sums, err);
}

static void release(void *state) { gt_stack_sums_release(&((struct stacks *)state)->sums); }

/* ---- tables ---- */

#define FIGURES(count)                                                                             \
	{ "count", count, GT_C_COUNT }, { "failed", "Failed", GT_C_COUNT },                        \
		{ "total_ns", "Total", GT_C_NS }, { "mean_ns", "Mean", GT_C_NS },                  \
		{ "max_ns", "Max", GT_C_NS },                                                      \
	{                                                                                          \
		"share_percent", "Share %", GT_C_PERCENT                                           \
	}
#define BY_CALLER(title, count)                                                                    \
	{                                                                                          \
		{ "caller", title, GT_C_TEXT }, FIGURES(count),                                    \
			{ "inclusive_ns", "Inclusive", GT_C_NS },                                  \
			{ "inclusive_percent", "Inclusive %", GT_C_PERCENT },                      \
		{                                                                                  \
			"inclusive_count", NULL, GT_C_COUNT                                        \
		}                                                                                  \
	}
#define NCALLER 10
#define BY_STACK(count)                                                                            \
	{                                                                                          \
		FIGURES(count), { "caller", "Stack, innermost frame first", GT_C_WHOLE }           \
	}
#define NSTACK 7
static const struct gt_column caller_columns[2][3][NCALLER] = {
	{ BY_CALLER("Line", "Calls"), BY_CALLER("Function", "Calls"),
		BY_CALLER("Module", "Calls") },
	{ BY_CALLER("Line", "Count"), BY_CALLER("Function", "Count"),
		BY_CALLER("Module", "Count") },
};
static const struct gt_column stack_columns[2][NSTACK] = { BY_STACK("Calls"), BY_STACK("Count") };

/* ---- top and kernels ---- */

static void add_caller(const struct stacks *s, struct gt_table *t,
	const struct gt_caller_sums *sums, const struct gt_caller_sum *one, uint64_t all,
	int64_t share)
{
	const struct gt_stack_figures *f = &one->self[s->side], *in = &one->inclusive[s->side];
	bool whole = s->by == GT_STACK_WHOLE;
	struct gt_cell name = gt_cell_text(gt_caller_name(sums, one)),
		       cells[NCALLER] = { name, gt_cell_u(f->count), gt_cell_faults(f->failed),
			       gt_cell_u(f->total), gt_cell_mean(f->total, f->count),
			       gt_cell_known(f->count, f->largest), gt_cell_i(share),
			       gt_cell_u(in->total), gt_cell_share(in->total, all),
			       gt_cell_u(in->count) };

	if (whole)
		cells[NSTACK] = name;
	gt_table_add(t, cells + whole);
}

static int caller_rows(
	struct stacks *s, struct gt_table *t, struct gt_caller_sums *sums, struct gt_err *err)
{
	size_t shown = gt_rows_shown(sums->n, s->report.opt->top);
	uint64_t all = 0;
	int64_t *shares;

	gt_caller_sums_sort(sums, s->side);
	shares = GT_NEW_SHARES(sums->list, sums->n, self[s->side].total, err);
	if (!shares)
		return err->code;
	for (size_t i = 0; i < sums->n; i++)
		all = gt_sat_add(all, sums->list[i].self[s->side].total);
	for (size_t i = 0; i < shown; i++)
		add_caller(s, t, sums, &sums->list[i], all, shares[i]);
	gt_table_note_cut(t, sums->n, shown);
	if (s->by != GT_STACK_WHOLE)
		gt_table_note(t,
			"a row has the %s whose innermost Python frame (without Python: innermost function outside CUDA's libraries) it is; inclusive: all whose stack contains it",
			s->side == GT_STACK_GPU ? "kernels" : "calls");
	free(shares);
	return 0;
}

static struct gt_table *caller_table(const struct stacks *s, struct gt_err *err)
{
	static const char *const names[2] = { "top_by", "kernels_by" },
				 *const titles[2][4] = {
					 { "Calls by line of the program",
						 "Calls by function of the program",
						 "Calls by module of the program",
						 "Calls by call stack" },
					 { "Kernels by the line that launched them",
						 "Kernels by the function that launched them",
						 "Kernels by the module that launched them",
						 "Kernels by the call stack that launched them" },
				 };
	bool whole = s->by == GT_STACK_WHOLE;

	return gt_report_table(&s->report, names[s->side], titles[s->side][s->by],
		whole ? stack_columns[s->side] : caller_columns[s->side][s->by],
		whole ? NSTACK : NCALLER, "failed max_ns mean_ns inclusive_ns share_percent", err);
}

static int callers_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct stacks *s = state;
	struct gt_caller_sums sums = { .list = NULL };
	const char *why = gt_why_no_stacks(s->report.reader);
	int rc = 0;

	tables[0] = caller_table(s, err);
	if (!tables[0])
		return err->code;
	if (why) {
		gt_table_set_unanswered(tables[0], "%s", why);
		return 1;
	}
	rc = gt_caller_sums_collect(&sums, &s->sums, s->report.reader, s->by, err);
	if (!rc)
		rc = caller_rows(s, tables[0], &sums, err);
	gt_caller_sums_release(&sums);
	return rc ? rc : 1;
}

static int init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, const char *report)
{
	const struct settings *settings = gt_report_option(opt, report);
	struct stacks *s = state;

	s->report = (struct gt_report_state){ r, opt };
	s->by = settings->by;
	s->calls = settings->rows == GT_BY_STACK_CALLS;
	s->kernels = !s->calls;
	s->side = s->calls ? GT_STACK_CALLS : GT_STACK_GPU;
	gt_stack_sums_init(&s->sums);
	return 0;
}

static int top_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return init(state, r, opt, "top");
}

static int kernels_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return init(state, r, opt, "kernels");
}

int gt_by_stack_configure(struct gt_configured_report *c, const struct gt_analysis_options *opt,
	enum gt_by_stack_rows rows, struct gt_err *err)
{
	const char *text = gt_report_option(opt, "by");
	struct settings *settings;
	int by = text ? gt_by_stack_read(text, err) : 0;

	if (!text || by < 0)
		return by;
	settings = malloc(sizeof(*settings));
	if (!settings)
		return gt_err_set(err, -ENOMEM, "out of memory (options)");
	*settings = (struct settings){ rows, (unsigned)by };
	c->settings = settings;
	c->report.free_settings = free;
	c->report.wants = rows == GT_BY_STACK_CALLS ? GT_BIT(GT_CALL) : GT_BIT(GT_GPU);
	c->report.needs = rows == GT_BY_STACK_CALLS ? GT_BIT(GT_LAYER_API) : GT_BIT(GT_LAYER_GPU);
	c->report.wants_args = true;
	c->report.aggregates = 0;
	c->report.order = GT_ANY_ORDER;
	c->report.splits = GT_BY_BLOCK;
	c->report.state_size = sizeof(struct stacks);
	c->report.init = rows == GT_BY_STACK_CALLS ? top_init : kernels_init;
	c->report.block = block;
	c->report.merge = merge;
	c->report.finish = callers_finish;
	c->report.release = release;
	return 0;
}

/* ---- the report "stacks" ---- */

static const struct gt_column columns[] = {
	{ "calls", "Calls", GT_C_COUNT },
	{ "failed", "Failed", GT_C_COUNT },
	{ "calls_ns", "In calls", GT_C_NS },
	{ "operations", "GPU operations", GT_C_COUNT },
	{ "gpu_ns", "GPU time", GT_C_NS },
	{ "stack", "Stack, innermost frame first", GT_C_WHOLE },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static int stacks_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct stacks *s = state;

	s->report = (struct gt_report_state){ r, opt };
	s->by = GT_STACK_WHOLE;
	s->calls = s->kernels = s->other_work = true;
	gt_stack_sums_init(&s->sums);
	return 0;
}

static void stack_rows(const struct stacks *s, struct gt_table *t, struct gt_caller_sums *sums)
{
	size_t shown = gt_rows_shown(sums->n, s->report.opt->top);

	gt_caller_sums_sort_by_count(sums, GT_STACK_CALLS);
	for (size_t i = 0; i < shown; i++) {
		const struct gt_stack_figures *f = sums->list[i].self;

		gt_table_add(t,
			(struct gt_cell[NCOLUMNS]){ gt_cell_u(f[GT_STACK_CALLS].count),
				gt_cell_faults(f[GT_STACK_CALLS].failed),
				gt_cell_u(f[GT_STACK_CALLS].total),
				gt_cell_u(f[GT_STACK_GPU].count), gt_cell_u(f[GT_STACK_GPU].total),
				gt_cell_text(gt_caller_name(sums, &sums->list[i])) });
	}
	gt_table_note_cut(t, sums->n, shown);
}

static int stacks_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct stacks *s = state;
	struct gt_caller_sums sums = { .list = NULL };
	const char *why = gt_why_no_stacks(s->report.reader);
	int rc = 0;

	tables[0] = gt_report_table(&s->report, "stacks", "Call stacks, the most frequent first",
		columns, NCOLUMNS, "failed operations calls_ns", err);
	if (!tables[0])
		return err->code;
	if (why)
		gt_table_set_unanswered(tables[0], "%s", why);
	else
		rc = gt_caller_sums_collect(&sums, &s->sums, s->report.reader, s->by, err);
	if (!rc && !why)
		stack_rows(s, tables[0], &sums);
	gt_caller_sums_release(&sums);
	return rc ? rc : 1;
}

const struct gt_analysis gt_stacks_report = {
	.name = "stacks",
	.help = "call stacks: calls, their time, and the GPU time of the work that they launched",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_API) | GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct stacks),
	.init = stacks_init,
	.block = block,
	.merge = merge,
	.finish = stacks_finish,
	.release = release,
};
