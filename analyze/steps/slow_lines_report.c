#include "analyze/steps/slow_lines_report.h"

#include <math.h>
#include <stdlib.h>
#include "analyze/steps/slow_lines.h"

static const struct gt_column columns[] = {
	GT_WHERE_DEVICE,
	{ "caller", "Line", GT_C_TEXT },
	{ "doing", "What it did", GT_C_TEXT },
	{ "difference_ns", "Difference a step", GT_C_NS },
	{ "error_ns", "Error", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "slow_ns", "Slow steps", GT_C_NS },
	{ "usual_ns", "Usual steps", GT_C_NS },
	{ "slow_samples", "Samples", GT_C_COUNT },
	{ "usual_samples", "Usual", GT_C_COUNT },
	{ "key", NULL, GT_C_TEXT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static struct gt_cell cell_ns(double ns) { return gt_cell_i(llround(ns)); }

/* A row; doing: NULL if it is none of enum gt_host_doing. */
static void add_row(struct gt_table *t, const struct gt_slow_lines *l,
	const struct gt_slow_line *one, const char *doing, const char *key)
{
	double all = l->slow - l->usual, difference = one->slow - one->usual;
	bool sampled = one->samples[0] || one->samples[1];
	struct gt_cell cells[NCOLUMNS];

	gt_where_device(cells, l->loop->seg, l->loop->device);
	cells[4] = gt_cell_text(one->name);
	cells[5] = gt_cell_text(doing);
	cells[6] = cell_ns(difference);
	cells[7] = one->error >= 0 ? cell_ns(one->error) : gt_cell_none();
	cells[8] = gt_cell_i(llround(1e4 * difference / all));
	cells[9] = cell_ns(one->slow);
	cells[10] = cell_ns(one->usual);
	cells[11] = gt_cell_known(sampled, one->samples[0]);
	cells[12] = gt_cell_known(sampled, one->samples[1]);
	cells[13] = gt_cell_text(key);
	gt_table_add(t, cells);
}

static void add_lines(struct gt_table *t, const struct gt_slow_lines *l)
{
	struct gt_slow_line all = { "all", l->slow, l->usual, -1, { 0, 0 }, 0 },
			    busy = { "(GPU busy)", l->busy[0], l->busy[1], -1, { 0, 0 }, 0 },
			    others = l->others;

	others.name = "(other lines)";
	add_row(t, l, &all, "", "all");
	add_row(t, l, &busy, "", "busy");
	for (size_t i = 0; i < l->n; i++)
		add_row(t, l, &l->list[i], gt_host_doing_words(l->list[i].doing),
			gt_host_doing_key(l->list[i].doing));
	add_row(t, l, &others, "", "others");
	gt_table_note(t,
		"%zu slow steps (longer than %s) beside %zu usual ones; time a step: the GPU is busy, or waits for the line",
		l->nslow, gt_scaled(GT_C_NS, (int64_t)l->loop->limit).text, l->nusual);
}

static void add_notes(
	const struct gt_steps *s, const struct gt_host_shares *shares, struct gt_table *t)
{
	const struct gt_host_share *rest = gt_host_shares_rest(&shares->list);

	if (rest)
		gt_table_note(t,
			"%s of idle time in steps that are not known, as more than %u pairs of thread and stack were found",
			gt_scaled(GT_C_NS, gt_clamp(rest->ns)).text, GT_HOST_SHARES_MOST);
	if (!gt_table_rows(t)) {
		gt_table_note(t, "no step after the warm-up is slow");
		return;
	}
	if (gt_has_samples(s->report.reader))
		gt_table_note(t,
			"Error: half of the 95 %% interval where the time is known by samples; differences within it are in (other lines)");
	else
		gt_table_note(t, "code outside CUDA by line: gtcollect -e samples");
}

static int on_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_idle_block(arg, cols, err);
}

static int read_idle(struct gt_idle *idle, const struct gt_steps *s, struct gt_err *err)
{
	struct gt_filter filter = s->report.opt->filter;
	int rc;

	filter.kinds = GT_IDLE_WANTS;
	filter.args = true;
	rc = gt_reread_trace(s->report.reader, &filter, GT_BY_TIME, on_run, idle, err);
	return rc ? rc : gt_idle_finish(idle, err);
}

static int add_loops(const struct gt_step_shares *shares, const struct gt_loops *loops,
	struct gt_table *t, struct gt_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < loops->n; i++) {
		struct gt_slow_lines lines;

		rc = gt_slow_lines_find(&lines, shares, i, err);
		if (!rc && lines.nslow && lines.nusual)
			add_lines(t, &lines);
		gt_slow_lines_release(&lines);
	}
	return rc;
}

int gt_slow_lines_fill(const struct gt_steps *s, struct gt_table *t, struct gt_err *err)
{
	struct gt_idle *idle = calloc(1, sizeof(*idle));
	struct gt_loops loops = { NULL };
	struct gt_step_shares shares = { .by_class = true };
	const char *cannot = NULL;
	int rc = idle ? gt_loops_of_steps(&loops, s, err)
		      : gt_err_set(err, -ENOMEM, "out of memory (slow steps)");

	if (!rc)
		rc = gt_idle_init(idle, s->report.reader, s->report.opt, err);
	if (!rc)
		gt_step_shares_init(&shares, idle, &loops, true);
	if (!rc)
		rc = read_idle(idle, s, err);
	if (!rc)
		cannot = gt_idle_why_unanswered(idle);
	if (cannot)
		gt_table_set_unanswered(t, "%s", cannot);
	else if (!rc)
		rc = add_loops(&shares, &loops, t, err);
	if (!rc && !cannot)
		add_notes(s, &shares.shares, t);
	gt_step_shares_release(&shares);
	gt_loops_release(&loops);
	if (idle)
		gt_idle_release(idle);
	free(idle);
	return rc;
}

struct gt_table *gt_slow_lines_table(const struct gt_steps *s, struct gt_err *err)
{
	return gt_report_table(&s->report, "slow_lines",
		"Slow steps beside usual ones, by line of the host", columns, NCOLUMNS,
		"process usual_samples slow_samples usual_ns slow_ns pid device error_ns share_percent",
		err);
}
