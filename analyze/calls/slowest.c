/* Lists of single calls: the slowest ones, those still open at the end, and launches without a
 * GPU record. Each list keeps the best rows by a score; the first two have the same columns. */
#include <string.h>
#include "analyze/core/call_list.h"
#include "analyze/columns/column_cursor.h"
#include "formats/names/kernel_names.h"

struct calls {
	struct gt_report_state report; /* must be first: gt_report_state_init fills it */
	struct gt_top_n keep;
};

static int calls_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct calls *c = state;

	c->report = (struct gt_report_state){ r, opt };
	gt_top_n_init(&c->keep, opt->top);
	return 0;
}

static int calls_merge(void *into, void *from, struct gt_err *err)
{
	return gt_top_n_merge(&((struct calls *)into)->keep, &((struct calls *)from)->keep, err);
}

static void calls_release(void *state) { gt_top_n_release(&((struct calls *)state)->keep); }

/* A state of a thread off the processor is no call; offcpu lists them. */
static bool is_state(const struct gt_cols *cols, uint32_t row)
{
	const struct gt_type *type = gt_cols_type(cols, cols->code ? cols->code[row] : 0);

	return type && type->op == GT_OP_OFF_CPU;
}

static int longest_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_top_n *k = &((struct calls *)state)->keep;

	for (uint32_t i = 0; i < cols->n; i++) {
		struct gt_top_entry one;

		if (cols->kind == GT_SPAN && is_state(cols, i))
			continue;
		if (!gt_top_n_offer(k, cols->dur[i]))
			continue;
		one = gt_top_entry_of_row(cols, i, cols->dur[i]);
		if (gt_top_n_add(k, &one, err))
			return -ENOMEM;
	}
	return 0;
}

#define NEVER_ENDED (-1) /* score of a begin without an end: below all calls with a known time */

/* Open calls, and begins without an end: ranges that the program did not close, calls of a
 * foreign file. */
static int open_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_top_n *k = &((struct calls *)state)->keep;

	if (cols->kind == GT_OPEN)
		return longest_block(state, cols, err);
	for (uint32_t i = 0; i < cols->n; i++) {
		struct gt_top_entry one = gt_top_entry_of_row(cols, i, NEVER_ENDED);

		if (!one.ret && gt_top_n_offer(k, NEVER_ENDED) && gt_top_n_add(k, &one, err))
			return -ENOMEM;
	}
	return 0;
}

static const struct gt_column columns[] = { GT_CALL_LIST_COLUMNS };

static void add(
	const struct calls *c, struct gt_table *t, const struct gt_top_entry *one, bool open)
{
	struct gt_cell cells[GT_CALL_LIST_CELLS];

	gt_call_list_cells(cells, &c->report, one);
	if (open && one->score == NEVER_ENDED)
		cells[6] = gt_cell_none();
	if (open)
		cells[9] = gt_cell_none();
	gt_table_add(t, cells);
}

static int finish(struct calls *c, const char *name, const char *title, bool open,
	struct gt_table **tables, struct gt_err *err)
{
	tables[0] = gt_report_table(&c->report, name, title, columns, GT_CALL_LIST_CELLS,
		"process depth thread result tid pid", err);
	if (!tables[0])
		return err->code;
	gt_top_n_sort(&c->keep);
	for (size_t i = 0; i < c->keep.n; i++)
		add(c, tables[0], &c->keep.list[i], open);
	gt_note_top_n(tables[0], &c->keep);
	if (open && c->keep.n && c->keep.list[c->keep.n - 1].score == NEVER_ENDED)
		gt_table_note(
			tables[0], "rows without a duration have a begin, but no recorded end");
	for (uint32_t i = 0; open && i < gt_reader_segments(c->report.reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(c->report.reader, i);

		if (!seg->closed && seg->max_end > seg->complete_to)
			gt_table_note(tables[0],
				"as of %.6f s: the file continues after that, and listed calls may have ended since",
				(double)gt_complete_since_origin(&c->report, seg) / 1e9);
	}
	return 1;
}

static int slowest_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	return finish(state, "slowest", "Slowest calls", false, tables, err);
}

static int open_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	const struct calls *m = state;

	if (m->report.opt->in_default_report && !m->keep.n)
		return 0;
	return finish(state, "open", "Calls still open at the end", true, tables, err);
}

/* ---- launches, copies and sets without a GPU record, earliest first ---- */

static int unseen_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_top_n *keep = &((struct calls *)state)->keep;
	struct gt_column_cursor p;

	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (!type || type->layer != GT_LAYER_GPU)
			continue;
		for (gt_column_cursor_start(&p, cols, c, GT_R_KERNEL, GT_R_NONE);
			gt_column_cursor_next(&p);) {
			struct gt_top_entry one;

			if (!gt_top_n_offer(keep, ~cols->start[p.row])) /* earlier is better */
				continue;
			one = gt_top_entry_of_row(cols, p.row, ~cols->start[p.row]);
			one.a = GT_NONE;
			gt_column_cursor_value(&p, 0, &one.a);
			if (gt_top_n_add(keep, &one, err))
				return -ENOMEM;
		}
	}
	return 0;
}

static const struct gt_column unseen_columns[] = {
	GT_WHERE_PROCESS,
	GT_WHERE_THREAD,
	{ "start_ns", "Start", GT_C_TIME },
	{ "operation", "Operation", GT_C_TEXT },
	{ "kernel", "Kernel", GT_C_TEXT },
};

static void add_unseen(const struct calls *m, struct gt_table *t, const struct gt_top_entry *one,
	struct gt_kernel_names *names)
{
	const char *what = gt_type_name(one->seg, one->type), *colon = strstr(what, ": ");
	const char *kernel = one->a < one->seg->nstrings
		? gt_kernel_names_get(names, one->seg->strings[one->a].ptr)
		: NULL;
	struct gt_cell cells[8];

	gt_where_process(cells, one->seg, gt_track_process(one->seg, one->track));
	gt_where_thread(cells + 3, one->seg, one->track);
	cells[5] = gt_cell_time(&m->report, one->seg, one->start);
	cells[6] = gt_cell_text(colon ? colon + 2 : what);
	cells[7] = kernel ? gt_cell_text(kernel) : gt_cell_none();
	gt_table_add(t, cells);
}

static int unseen_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct calls *m = state;
	struct gt_kernel_names *names = gt_kernel_names_of(m->report.reader, m->report.opt->names);

	tables[0] = gt_report_table(&m->report, "unseen",
		"Launches, copies and sets without a GPU record", unseen_columns, 8,
		"process thread tid pid", err);
	if (tables[0] && names) {
		gt_top_n_sort(&m->keep);
		for (size_t i = 0; i < m->keep.n; i++)
			add_unseen(m, tables[0], &m->keep.list[i], names);
		gt_note_top_n(tables[0], &m->keep);
	}
	gt_kernel_names_free(names);
	return tables[0] && names ? 1 : gt_err_set(err, -ENOMEM, "out of memory (table)");
}

const struct gt_analysis gt_slowest_report = {
	.name = "slowest",
	.help = "the slowest single calls",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU),
	.needs = ~0u,
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct calls),
	.init = calls_init,
	.block = longest_block,
	.merge = calls_merge,
	.finish = slowest_finish,
	.release = calls_release,
};

const struct gt_analysis gt_open_report = {
	.name = "open",
	.help = "calls that had not returned when the recording ended, and for how long",
	.wants = GT_BIT(GT_OPEN) | GT_BIT(GT_UNMATCHED),
	.needs = GT_LAYERS_OF_CALLS | GT_BIT(GT_LAYER_IOCTL) | GT_BIT(GT_LAYER_USER) |
		GT_BIT(GT_LAYER_SYSCALL),
	.splits = GT_BY_BLOCK,
	.in_default = GT_DEFAULT_ALWAYS,
	.state_size = sizeof(struct calls),
	.init = calls_init,
	.block = open_block,
	.merge = calls_merge,
	.finish = open_finish,
	.release = calls_release,
};

const struct gt_analysis gt_unseen_report = {
	.name = "unseen",
	.per_recording = true,
	.help = "launches, copies and sets without a GPU record",
	.wants = GT_BIT(GT_INSTANT),
	.needs = GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct calls),
	.init = calls_init,
	.block = unseen_block,
	.merge = calls_merge,
	.finish = unseen_finish,
	.release = calls_release,
};
