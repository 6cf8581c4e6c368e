/* Report "steady": the loops of the run, and which of their steps are steady (loops.h, steady.h).
 * In the default report its text names the steps that are shown. */
#include <stdio.h>
#include "analyze/core/report.h"
#include "analyze/steps/steady.h"

struct steady_report {
	struct gt_report_state report;
	struct gt_steady own; /* found here if the run is not narrowed to steady steps */
};

static const struct gt_column columns[] = {
	GT_WHERE_DEVICE,
	{ "found_by", "Found by", GT_C_TEXT },
	{ "steps", "Steps", GT_C_COUNT },
	{ "warm_up", "Warm-up", GT_C_COUNT },
	{ "first", "First steady", GT_C_COUNT },
	{ "steady", "Steady", GT_C_COUNT },
	{ "p50_ns", "Median", GT_C_NS },
	{ "from_ns", "From", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "why", "Why not", GT_C_TEXT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static void add_loop(const struct steady_report *s, const struct gt_steady *all, struct gt_table *t,
	const struct gt_loop *l)
{
	struct gt_cell cells[NCOLUMNS];
	size_t first, n = all->ranges && l->steady ? gt_steady_steps(all, l, &first) : 0;

	gt_where_device(cells, l->seg, l->device);
	for (size_t i = 4; i < NCOLUMNS; i++)
		cells[i] = gt_cell_none();
	cells[5] = gt_cell_u(l->steps);
	if (l->steps) {
		cells[4] = gt_cell_text(l->mark ? "marks" : "sequence");
		cells[6] = gt_cell_u(l->warm);
		cells[9] = gt_cell_u(l->median);
	}
	cells[8] = gt_cell_u(n);
	if (n) {
		cells[7] = gt_cell_u(first + 1);
		cells[10] = gt_cell_time(&s->report, l->seg, l->at[first]);
		cells[11] = gt_cell_i(l->at[first + n] - l->at[first]);
	}
	cells[12] = gt_cell_text(l->why ? l->why : "");
	gt_table_add(t, cells);
}

/* "Shown: the 218 steady steps (of 219, ...)" */
static void put_line(const struct steady_report *s, const struct gt_steady *all, struct gt_table *t)
{
	const struct gt_loop *l = all->main;
	char mark[80] = "repetition", of[160] = "";

	gt_table_set_tone(t, GT_TONE_HEADING);
	if (!all->ranges) {
		gt_table_add_line(
			t, "Shown: the whole run, because it has no steady steps: %s", all->why);
		return;
	}
	if (l->mark)
		snprintf(mark, sizeof(mark), "ranges '%.50s'", l->mark);
	if (all->loops.n > 1)
		snprintf(of, sizeof(of), " of %s",
			gt_gpu_label_of(&s->report, l->seg, l->device).text);
	gt_table_add_line(t,
		"Shown: the %zu steady steps%s (of %zu, by %s): %s of %s, from %.3f s on; --whole-run: all",
		all->steps, of, l->steps, mark,
		gt_scaled(GT_C_NS, l->at[all->first + all->steps] - l->at[all->first]).text,
		gt_scaled(GT_C_NS, l->seg->max_end - l->seg->min_start).text,
		(double)gt_time_since_origin(&s->report, l->seg, l->at[all->first]) / 1e9);
}

static int steady_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct steady_report *s = state;
	const struct gt_analysis_options *opt = s->report.opt;
	const struct gt_steady *all = opt->steady;
	struct gt_table *t;

	if (opt->in_default_report && !all)
		return 0;
	if (!all && gt_steady_find(&s->own, s->report.reader, opt, err))
		return err->code;
	all = all ? all : &s->own;
	t = tables[0] = gt_report_table(&s->report, "steady",
		opt->in_default_report ? NULL : "Steady steps", columns, NCOLUMNS,
		"process found_by warm_up from_ns duration_ns why steps pid first", err);
	if (!t)
		return err->code;
	for (size_t i = 0; i < all->loops.n; i++)
		add_loop(s, all, t, &all->loops.list[i]);
	if (opt->in_default_report)
		put_line(s, all, t);
	if (!all->ranges && !opt->in_default_report)
		gt_table_set_unanswered(t, "there are no steady steps: %s", all->why);
	if (all->ranges && all->loops_elsewhere)
		gt_table_note(t,
			"%zu steady loop%s at another time than most work: not shown by the default report",
			all->loops_elsewhere, all->loops_elsewhere == 1 ? " runs" : "s run");
	if (all->loops.left_out)
		gt_table_note(t, "more than %u GPUs: those with the least work are left out",
			GT_LOOPS_MOST);
	return 1;
}

static void steady_release(void *state)
{
	gt_steady_release(&((struct steady_report *)state)->own);
}

const struct gt_analysis gt_steady_report = {
	.name = "steady",
	.help = "loops of the run and their steady steps, which the default report shows",
	.needs = GT_BIT(GT_LAYER_GPU),
	.in_default = GT_DEFAULT_GPU,
	.state_size = sizeof(struct steady_report),
	.init = gt_report_state_init,
	.finish = steady_finish,
	.release = steady_release,
};
