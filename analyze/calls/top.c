/* Time by operation. Every row with a duration counts under its name, however it is nested. A
 * share is of the total of its side (calls, GPU operations, ...) in this table, not of the
 * elapsed time. ioctls and time off the processor have their own tables. */
#include <stdlib.h>
#include "analyze/stats/text_bars.h"
#include "analyze/core/name_totals.h"
#include "analyze/core/report.h"
#include "analyze/stacks/by_stack.h"
#include "formats/names/kernel_names.h"

#define OPERATION                                                                                  \
	{                                                                                          \
		"operation", "Operation", GT_C_TEXT                                                \
	}
#define CATEGORY                                                                                   \
	{                                                                                          \
		"category", "Category", GT_C_TEXT                                                  \
	}
static const struct gt_column columns[] = { OPERATION, CATEGORY, GT_OPERATION_COLUMNS };
static const struct gt_column spark_columns[] = { OPERATION, GT_SPARK_COLUMN, CATEGORY,
	GT_OPERATION_COLUMNS };
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

/* Draws the histogram of a name as a line. text NULL: only adds it to the scale. */
static int spark(const struct gt_name_totals *names, const struct gt_name_total *name,
	struct gt_spark_scale *scale, char *text, struct gt_err *err)
{
	struct gt_hist hist = { 0 };
	int rc = gt_name_totals_hist(names, name, &hist, err);

	if (!rc && text)
		gt_spark(text, scale, &hist, gt_bars_utf8());
	else if (!rc)
		gt_spark_scale_add(scale, &hist);
	gt_hist_release(&hist);
	return rc;
}

static int add_name(struct gt_table *t, const struct gt_name_totals *names,
	const struct gt_name_total *name, const char *text, int64_t share,
	struct gt_spark_scale *scale, struct gt_err *err)
{
	char line[3 * GT_SPARK_CELLS + 1] = "";
	struct gt_cell cells[NCOLUMNS + 1] = { gt_cell_text(text) };
	unsigned n = 1;
	int rc = scale ? spark(names, name, scale, line, err) : 0;

	if (scale)
		cells[n++] = gt_name_totals_sum(names, name).coarse ? gt_cell_none()
								    : gt_cell_text(line);
	cells[n++] = gt_cell_text(gt_category_word(name->category));
	if (!rc)
		rc = gt_name_totals_cells(names, name, share, cells + n, err);
	gt_table_add(t, cells);
	return rc;
}

static int list(struct gt_table *t, const struct gt_name_totals *names,
	const struct gt_report_state *a, struct gt_err *err)
{
	const struct gt_analysis_options *opt = a->opt;
	bool sparks = gt_report_option(opt, "spark");
	struct gt_spark_scale scale = { 0 };
	int64_t *shares = gt_name_totals_shares(names, err);
	size_t shown = gt_rows_shown(names->n, opt->top);
	struct gt_kernel_names *kernels = gt_kernel_names_of(a->reader, opt->names);
	bool coarse = false, sides = false;
	int rc = !shares  ? -ENOMEM
		: kernels ? 0
			  : gt_err_set(err, -ENOMEM, "out of memory (kernels)");

	for (size_t i = 0; sparks && !rc && i < shown; i++)
		rc = spark(names, &names->list[i], &scale, NULL, err);
	for (size_t i = 0; !rc && i < shown; i++) {
		const struct gt_name_total *name = &names->list[i];
		bool kernel = name->layer == GT_LAYER_GPU && name->category == GT_CAT_KERNEL;
		const char *shown_as =
			kernel ? gt_kernel_names_shown(kernels, name->text) : name->text;

		rc = add_name(t, names, name, shown_as, shares[i], sparks ? &scale : NULL, err);
		coarse |= gt_name_totals_sum(names, name).coarse;
	}
	for (size_t i = 1; i < names->n; i++)
		sides |= gt_name_side(&names->list[i]) != gt_name_side(&names->list[0]);
	if (sides && !opt->one_page)
		gt_table_note(t,
			"calls, runtime calls, GPU operations, waits and ranges overlap in time; each group has shares of its own");
	gt_table_note_cut(t, names->n, shown);
	gt_spark_note(t, &scale);
	if (coarse)
		gt_table_note(t, "too many operations: some have no p50 and p99");
	gt_kernel_names_free(kernels);
	free(shares);
	return rc;
}

static int finish(const struct gt_report_state *a, const char *name, const char *title,
	gt_name_totals_want *want, struct gt_table **tables, struct gt_err *err)
{
	bool sparks = gt_report_option(a->opt, "spark");
	struct gt_name_totals names = { 0 };
	enum gt_numbered numbered = gt_report_option(a->opt, "by-id") ? GT_NUMBERED_SEPARATE
		: a->opt->compared                                    ? GT_NUMBERED_ALWAYS
								      : GT_NUMBERED_AS_ONE;
	int rc = gt_name_totals_collect(&names, a->opt->aggregate, want, numbered, err);

	tables[0] =
		gt_report_table(a, name, title, sparks ? spark_columns : columns, NCOLUMNS + sparks,
			"p50_ns category mean_ns p99_ns max_ns failed share_percent spark", err);
	if (!tables[0])
		rc = err->code;
	if (!rc && a->opt->one_page) {
		gt_table_set_brief(tables[0]);
		gt_table_widen_names(tables[0]);
		gt_table_set_hideable(
			tables[0], "p99_ns max_ns share_percent p50_ns category mean_ns failed");
	}
	if (!rc)
		rc = list(tables[0], &names, a, err);
	gt_name_totals_release(&names);
	return rc ? rc : 1;
}

static bool no_ioctl(const struct gt_type *type)
{
	return type->layer != GT_LAYER_IOCTL && type->op != GT_OP_OFF_CPU;
}

/* A page has no ranges and waits: they contain other operations. */
static bool calls_and_operations(const struct gt_type *type)
{
	return no_ioctl(type) && type->layer != GT_LAYER_USER &&
		(type->layer != GT_LAYER_GPU || type->category != GT_CAT_SYNC);
}

static bool ioctl_only(const struct gt_type *type) { return type->layer == GT_LAYER_IOCTL; }

static int top_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	const struct gt_report_state *a = state;
	bool page = a->opt->one_page && gt_default_use_of(a->reader) == GT_DEFAULT_GPU;

	return finish(a, "top",
		page ? "Operations by total time (calls and GPU work overlap)"
		     : "Operations by total time",
		page ? calls_and_operations : no_ioctl, tables, err);
}

static int ioctls_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	return finish(state, "ioctls", "ioctls by total time", ioctl_only, tables, err);
}

static int top_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return gt_by_stack_configure(c, opt, GT_BY_STACK_CALLS, err);
}

#define TIMED (GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU))

const struct gt_analysis gt_top_report = {
	.name = "top",
	.help = "operations by total time: count, failed, total, mean, p50, p99, max, share",
	.wants = TIMED,
	.needs = ~GT_BIT(GT_LAYER_IOCTL),
	.aggregates = GT_AGGREGATE_TYPES,
	.splits = GT_BY_BLOCK,
	.in_default = GT_DEFAULT_ALWAYS,
	.options = (const struct gt_option_row *const[]){ &gt_spark_option, &gt_by_id_option,
		&gt_by_option, NULL },
	.configure = top_configure,
	.state_size = sizeof(struct gt_report_state),
	.init = gt_report_state_init,
	.finish = top_finish,
};

const struct gt_analysis gt_ioctls_report = {
	.name = "ioctls",
	.help = "time in the driver's ioctls by decoded name",
	.wants = TIMED,
	.needs = GT_BIT(GT_LAYER_IOCTL),
	.aggregates = GT_AGGREGATE_TYPES,
	.splits = GT_BY_BLOCK,
	.in_default = GT_DEFAULT_CALLS,
	.options = (const struct gt_option_row *const[]){ &gt_spark_option, NULL },
	.state_size = sizeof(struct gt_report_state),
	.init = gt_report_state_init,
	.finish = ioctls_finish,
};
