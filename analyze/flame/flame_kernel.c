/* Flame graph of kernel time: below each process the stacks that launched kernels, Python above
 * native functions, and at the end the kernels. Kernels that run at the same time count once each,
 * as in the report "kernels". */
#include "analyze/flame/stack_flame.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/stacks/by_stack.h"

static int init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	gt_flame_sums_init(state, r, opt);
	return 0;
}

static int add_kernels(
	struct gt_flame_sums *s, const struct gt_cols *cols, uint32_t code, struct gt_err *err)
{
	struct gt_range range = gt_range_of(&s->report.opt->filter, cols->seg);
	struct gt_flame_sum key = { .segment = cols->seg->index,
		.track = gt_track_process(cols->seg, cols->track),
		.last = cols->types[code] };
	struct gt_column_cursor p;
	int rc = 0;

	gt_column_cursor_start(&p, cols, code, GT_R_STACK, GT_R_NONE);
	while (!rc && gt_column_cursor_next(&p)) {
		int64_t start = cols->start[p.row];
		uint64_t v;

		key.stack = gt_column_cursor_value(&p, 0, &v) && v < cols->seg->nstacks
			? (uint32_t)v
			: GT_NONE;
		rc = gt_flame_sums_add(
			s, &key, gt_ns_in_range(range, start, start + cols->dur[p.row]), err);
	}
	return rc;
}

static int block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (type && type->category == GT_CAT_KERNEL)
			rc = add_kernels(state, cols, c, err);
	}
	return rc;
}

static int finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_flame_sums *s = state;
	const char *why = gt_why_no_stacks(s->report.reader);

	tables[0] = why ? gt_flame_unanswered(s, why, err)
			: gt_flame_sums_table(s, "Kernel time by the stack that launched, in ns",
				  "kernel time", err);
	return tables[0] ? 1 : err->code;
}

static void release(void *state) { gt_flame_sums_release(state); }

const struct gt_analysis gt_flame_kernel = {
	.name = "flame-kernel",
	.help = "kernel time by the stack that launched",
	.wants = GT_BIT(GT_GPU),
	.wants_args = true,
	.state_size = sizeof(struct gt_flame_sums),
	.init = init,
	.block = block,
	.finish = finish,
	.release = release,
};
