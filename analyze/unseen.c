/* Launches, copies and sets that the recorder has no GPU record of: when, by whom, what. Earliest first. */
#include <stdio.h>
#include <string.h>
#include "analyze/keep.h"
#include "analyze/pick.h"
#include "analyze/report.h"
#include "formats/demangle.h"

struct unseen {
	struct gt_asked asked;	/* first: gt_asked_init fills it */
	struct gt_keep keep;
};

static int unseen_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct unseen *m = state;

	m->asked = (struct gt_asked){ r, opt };
	gt_keep_init(&m->keep, opt->top);
	return 0;
}

static int unseen_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_keep *keep = &((struct unseen *)state)->keep;
	struct gt_pick p;

	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (!type || type->layer != GT_LAYER_GPU)
			continue;
		for (gt_pick_start(&p, cols, c, GT_R_KERNEL, GT_R_NONE); gt_pick_next(&p); ) {
			struct gt_kept one;

			if (!gt_keep_wants(keep, ~cols->start[p.row]))	/* the earlier the better */
				continue;
			one = gt_kept_row(cols, p.row, ~cols->start[p.row]);
			one.a = GT_NONE;
			gt_pick_value(&p, 0, &one.a);
			if (gt_keep_add(keep, &one, err))
				return -ENOMEM;
		}
	}
	return 0;
}

static int unseen_merge(void *into, void *from, struct gt_err *err)
{
	return gt_keep_merge(&((struct unseen *)into)->keep, &((struct unseen *)from)->keep, err);
}

static const struct gt_column columns[] = {
	GT_WHERE_PROCESS, GT_WHERE_THREAD, { "start_ns", "Start", GT_C_TIME }, { "operation", "Operation", GT_C_TEXT },
	{ "kernel", "Kernel", GT_C_TEXT },
};

static void add(const struct unseen *m, struct gt_table *t, const struct gt_kept *one, struct gt_kernel_names *names)
{
	const char *what = one->type < one->seg->ntypes ? gt_type_name(one->seg, one->type) : "?", *colon = strstr(what, ": ");
	const char *kernel = one->a < one->seg->nstrings ? gt_kernel_names_get(names, one->seg->strings[one->a].ptr) : NULL;
	struct gt_cell cells[8];

	gt_where_process(cells, one->seg, gt_track_process(one->seg, one->track));
	gt_where_thread(cells + 3, one->seg, one->track);
	cells[5] = gt_cell_i(gt_since(m->asked.opt, m->asked.reader, one->seg, one->start));
	cells[6] = gt_cell_text(colon ? colon + 2 : what);
	cells[7] = kernel ? gt_cell_text(kernel) : gt_cell_none();
	gt_table_add(t, cells + gt_where_skip(m->asked.reader));
}

static int unseen_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct unseen *m = state;
	unsigned skip = gt_where_skip(m->asked.reader);
	struct gt_kernel_names *names = gt_kernel_names_new();

	tables[0] = gt_table_new("unseen", "Launches, copies and sets without a GPU record", columns + skip, 8 - skip);
	if (tables[0] && names) {
		gt_table_gives_way(tables[0], "process thread pid tid");
		gt_keep_sort(&m->keep);
		for (size_t i = 0; i < m->keep.n; i++)
			add(m, tables[0], &m->keep.list[i], names);
		gt_note_kept(tables[0], &m->keep);
	}
	gt_kernel_names_free(names);
	return tables[0] && names ? 1 : gt_err_set(err, -ENOMEM, "no memory for a table");
}

static void unseen_release(void *state) { gt_keep_release(&((struct unseen *)state)->keep); }

const struct gt_analysis gt_unseen_report = {
	.name       = "unseen",
	.help       = "launches, copies and sets of which no GPU record came",
	.wants      = GT_BIT(GT_INSTANT),
	.wants_args = true,
	.splits     = GT_BY_BLOCK | GT_BY_TRACK,
	.state_size = sizeof(struct unseen),
	.init       = unseen_init,
	.block      = unseen_block,
	.merge      = unseen_merge,
	.finish     = unseen_finish,
	.release    = unseen_release,
};
