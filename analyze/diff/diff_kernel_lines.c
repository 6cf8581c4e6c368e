/* "kernel_lines": kernels by the line that launched them, with the scatter of their durations. */
#include <math.h>
#include "analyze/core/report.h"
#include "analyze/diff/diff.h"
#include "analyze/stacks/stack_sums.h"
#include "formats/names/stack_names.h"

struct kernel_lines {
	struct gt_report_state report;
	struct gt_stack_sums sums;
};

static int init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct kernel_lines *k = state;

	k->report = (struct gt_report_state){ r, opt };
	gt_stack_sums_init(&k->sums);
	return 0;
}

static int block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct kernel_lines *k = state;
	int rc = 0;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (type && type->category == GT_CAT_KERNEL)
			rc = gt_stack_sums_add(&k->sums, cols, c, GT_STACK_GPU, err);
	}
	return rc;
}

static int merge(void *into, void *from, struct gt_err *err)
{
	return gt_stack_sums_merge(
		&((struct kernel_lines *)into)->sums, &((struct kernel_lines *)from)->sums, err);
}

static const struct gt_column columns[] = {
	{ "caller", "Line", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "stddev_ns", "Std dev", GT_C_REAL },
};

static void add_row(struct gt_table *t, const char *name, const struct gt_stack_figures *f)
{
	double n = (double)f->count, total = (double)f->total,
	       variance = n > 1 ? (f->squares - total * total / n) / (n - 1) : 0;

	if (f->count)
		gt_table_add(t,
			(struct gt_cell[]){ gt_cell_text(name), gt_cell_u(f->count),
				gt_cell_u(f->total),
				{ .absent = f->count<2, .d = variance> 0 ? sqrt(variance) : 0 } });
}

static int finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct kernel_lines *k = state;
	struct gt_caller_sums sums = { .list = NULL };
	int rc = 0;

	tables[0] = gt_table_new("kernel_lines", NULL, columns, sizeof(columns) / sizeof(*columns));
	if (!tables[0])
		return gt_err_set(err, -ENOMEM, "out of memory (lines)");
	if (gt_has_stacks(k->report.reader))
		rc = gt_caller_sums_collect(&sums, &k->sums, k->report.reader, GT_STACK_LINE, err);
	for (size_t i = 0; !rc && i < sums.n && i < GT_TOP_N_MAX; i++)
		add_row(tables[0], gt_caller_name(&sums, &sums.list[i]),
			&sums.list[i].self[GT_STACK_GPU]);
	gt_caller_sums_release(&sums);
	return rc ? rc : 1;
}

static void release(void *state) { gt_stack_sums_release(&((struct kernel_lines *)state)->sums); }

const struct gt_analysis gt_diff_kernel_lines_report = {
	.name = "kernel_lines",
	.help = "kernels by the line that launched them, with the scatter of their durations",
	.wants = GT_BIT(GT_GPU),
	.wants_args = true,
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct kernel_lines),
	.init = init,
	.block = block,
	.merge = merge,
	.finish = finish,
	.release = release,
};
