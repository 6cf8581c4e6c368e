#include "analyze/host/host_steps.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

struct step_row {
	size_t loop, step;
	uint64_t idle, host, samples;
};
struct step_rows {
	struct step_row *list;
	size_t n, cap;
	struct step_row outside; /* time in no step */
	struct step_row further; /* time beyond GT_HOST_SHARES_MOST: steps are not known */
};

/* ---- sums ---- */

/* Indices of the next items, which are sorted by group. */
struct next {
	size_t share, processor, thread;
};

static void sum_group(
	const struct gt_host_steps *h, uint32_t group, struct next *next, struct step_row *to)
{
	const struct gt_host_shares *s = &h->shares.shares;

	for (; next->share < s->list.n; next->share++) {
		const struct gt_host_share *one = gt_group_table_at(&s->list, next->share);

		if (one->group > group)
			break;
		to->idle = gt_sat_add(to->idle, one->ns);
		to->samples += one->samples;
	}
	for (; next->processor < s->processor.n; next->processor++) {
		const struct gt_host_share *one = gt_group_table_at(&s->processor, next->processor);

		if (one->group > group)
			break;
		to->host = gt_sat_add(to->host, one->ns);
	}
	for (; next->thread < s->threads.n; next->thread++) {
		const struct gt_idle_thread *t = gt_group_table_at(&s->threads, next->thread);

		if (t->group > group)
			break;
		to->idle = gt_sat_add(to->idle, t->unknown);
	}
}

static int add_steps(struct gt_host_steps *h, struct step_rows *rows, struct gt_err *err)
{
	struct next next = { 0 };

	for (size_t i = 0; i < h->loops.n; i++)
		for (size_t k = 0; k < h->loops.list[i].steps; k++) {
			struct step_row row = { .loop = i, .step = k };

			sum_group(h, gt_step_group(&h->shares, i, k), &next, &row);
			if (!gt_step_is_selected(&h->shares, &h->loops.list[i], k))
				continue;
			if (gt_grow(&rows->list, &rows->cap, rows->n + 1, sizeof(row)))
				return gt_err_set(err, -ENOMEM, "out of memory (steps)");
			rows->list[rows->n++] = row;
		}
	sum_group(h, GT_STEP_OUTSIDE, &next, &rows->outside);
	sum_group(h, UINT32_MAX, &next, &rows->further);
	return 0;
}

/* ---- the table ---- */

static const struct gt_column columns[] = {
	GT_WHERE_DEVICE,
	{ "step", "Step", GT_C_COUNT },
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "idle_ns", "GPU idle", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "samples", "Samples", GT_C_COUNT },
	{ "host_ns", "Host time", GT_C_NS },
	{ "caller", "First line", GT_C_TEXT },
	{ "caller_ns", "Of it", GT_C_NS },
	{ "note", "Note", GT_C_TEXT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

static int by_idle(const void *pa, const void *pb)
{
	const struct step_row *a = pa, *b = pb;

	return GT_COMPARE(b->idle, a->idle) ?:
		GT_COMPARE(a->loop, b->loop) ?:
		GT_COMPARE(a->step, b->step);
}

static const char *note_of(const struct gt_loop *l, size_t step)
{
	static const char *const notes[] = {
		[GT_STEP_WARM_UP] = "warm-up", [GT_STEP_USUAL] = "", [GT_STEP_SLOW] = "slow"
	};

	return notes[gt_step_class(l, step)];
}

/* The line with most of the idle time of the group. */
static int first_line(const struct gt_host_steps *h, uint32_t group, struct gt_caller_sums *sums,
	struct gt_cell cells[2], struct gt_err *err)
{
	const struct gt_host_selection of = { .shares = &h->shares.shares, .group = group };
	int rc = gt_host_lines_collect(sums, h->idle, GT_STACK_LINE, &of, err);

	cells[0] = cells[1] = gt_cell_none();
	if (rc || !sums->n)
		return rc;
	gt_caller_sums_sort(sums, GT_HOST_IDLE);
	if (!sums->list[0].self[GT_HOST_IDLE].total)
		return 0;
	cells[0] = gt_cell_text(gt_caller_name(sums, &sums->list[0]));
	cells[1] = gt_cell_u(sums->list[0].self[GT_HOST_IDLE].total);
	return 0;
}

static int add_row(const struct gt_host_steps *h, struct gt_table *t, const struct step_row *row,
	int64_t share, struct gt_err *err)
{
	const struct gt_loop *l = &h->loops.list[row->loop];
	struct gt_caller_sums sums = { .list = NULL };
	struct gt_cell cells[NCOLUMNS];
	int rc;

	gt_where_device(cells, l->seg, l->device);
	cells[4] = gt_cell_u(row->step + 1);
	cells[5] = gt_cell_time(&h->idle->report, l->seg, l->at[row->step]);
	cells[6] = gt_cell_u((uint64_t)(l->at[row->step + 1] - l->at[row->step]));
	cells[7] = gt_cell_u(row->idle);
	cells[8] = gt_cell_i(share);
	cells[9] = gt_cell_u(row->samples);
	cells[10] = gt_cell_u(row->host);
	rc = first_line(h, gt_step_group(&h->shares, row->loop, row->step), &sums, cells + 11, err);
	cells[13] = gt_cell_text(note_of(l, row->step));
	if (!rc)
		gt_table_add(t, cells);
	gt_caller_sums_release(&sums);
	return rc;
}

static void add_notes(
	const struct gt_host_steps *h, struct gt_table *t, const struct step_rows *rows)
{
	gt_idle_note_gaps(h->idle, t);
	gt_table_note(t,
		"a step is the time on the GPU from its first operation to that of the next step: gaps before its first operation count for the step before");
	if (rows->outside.idle)
		gt_table_note(t, "%s of idle time in no step",
			gt_scaled(GT_C_NS, gt_clamp(rows->outside.idle)).text);
	if (rows->further.idle || rows->further.host)
		gt_table_note(t,
			"%s of idle time and %s of host time in steps that are not known, as more than %u steps, each with its threads and stacks, were found",
			gt_scaled(GT_C_NS, gt_clamp(rows->further.idle)).text,
			gt_scaled(GT_C_NS, gt_clamp(rows->further.host)).text, GT_HOST_SHARES_MOST);
	if (!gt_has_samples(h->idle->report.reader))
		gt_table_note(t, "code outside CUDA by line: gtcollect -e samples");
}

static int fill(
	struct gt_host_steps *h, struct gt_table *t, struct step_rows *rows, struct gt_err *err)
{
	size_t shown = gt_rows_shown(rows->n, h->idle->report.opt->top);
	int64_t *shares;
	int rc = 0;

	GT_SORT(rows->list, rows->n, by_idle);
	/* the time in no row has the last shares */
	if (gt_grow(&rows->list, &rows->cap, rows->n + 2, sizeof(*rows->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	rows->list[rows->n] = rows->outside;
	rows->list[rows->n + 1] = rows->further;
	shares = GT_NEW_SHARES(rows->list, rows->n + 2, idle, err);
	for (size_t i = 0; shares && !rc && i < shown; i++)
		rc = add_row(h, t, &rows->list[i], shares[i], err);
	gt_table_note_cut(t, rows->n, shown);
	free(shares);
	if (!rc)
		add_notes(h, t, rows);
	return shares ? rc : err->code;
}

int gt_host_steps_finish(
	struct gt_host_steps *h, struct gt_table **table, const char *cannot, struct gt_err *err)
{
	struct step_rows rows = { .n = 0 };
	int rc;

	*table = gt_report_table(&h->idle->report, "host_steps",
		"Idle time of GPUs by step, the longest first", columns, NCOLUMNS,
		"process host_ns samples caller_ns pid start_ns device note", err);
	if (!*table)
		return err->code;
	rc = cannot ? 0 : add_steps(h, &rows, err);
	if (!rc && !cannot && !rows.n)
		cannot = h->loops.n ? h->loops.list[0].why : "there are no steps";
	if (cannot)
		gt_table_set_unanswered(*table, "%s", cannot);
	else if (!rc)
		rc = fill(h, *table, &rows, err);
	free(rows.list);
	return rc ? rc : 1;
}

int gt_host_steps_init(struct gt_host_steps *h, struct gt_idle *idle, struct gt_err *err)
{
	int rc = gt_loops_find(&h->loops, idle->report.reader, idle->report.opt, err);

	h->idle = idle;
	if (!rc)
		gt_step_shares_init(&h->shares, idle, &h->loops, false);
	return rc;
}

void gt_host_steps_release(struct gt_host_steps *h)
{
	gt_step_shares_release(&h->shares);
	gt_loops_release(&h->loops);
}
