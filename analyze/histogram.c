/* How a quantity is spread: for each group of rows a bar for each power of two, or finer where all values are close together.
 *
 * It is a query (query.h) that is told in another way: any duration or size, of any rows, by any fields. The longest bar of a group
 * has the full width; p50, p90 and p99 stand beside the bars that they are in, with their values under the group's name. Three empty
 * lines and more are one. Programs get ranges and counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/bars.h"
#include "analyze/query_report.h"
#include "formats/base/buf.h"
#include "formats/clip.h"

#define LINES 16u	/* of a group, where values are close together */
/* Columns of a line: the least value of a step with what stands before and behind it, a share, a bar, the marks behind it. */
#define FROM_WIDTH 16u
#define SHARE_WIDTH 10u
#define NARROWEST 4u
#define NARROW 12u	/* shares give way to bars that are not as wide */
#define WIDEST 60u
#define MARKS_WIDTH 12u

static const struct { const char *name; double q; } marks[] = { { "p50", 0.50 }, { "p90", 0.90 }, { "p99", 0.99 } };
#define NMARKS 3

struct drawn {			/* a group */
	const struct gt_query_groups *groups;
	size_t group;
	const struct gt_query_sums *sums;
	enum gt_cell_kind kind;
	struct gt_steps steps;
	int64_t at[NMARKS];	/* quantiles */
};

static int histogram_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return gt_query_init(state, opt->histogram, r, opt, err);
}

static bool begin_group(struct drawn *d, const struct gt_query_groups *g, size_t group)
{
	*d = (struct drawn){ .groups = g, .group = group, .sums = gt_query_sums_of(g, group, 0), .kind = g->q->columns[g->q->nby].kind };
	if (!d->sums->hist || d->sums->coarse)
		return false;
	gt_steps_make(&d->steps, d->sums->hist, LINES);
	for (unsigned i = 0; i < NMARKS; i++) {
		int64_t about = gt_hist_quantile(d->sums->hist, marks[i].q, d->sums->max.whole);

		d->at[i] = about < d->sums->min.whole ? d->sums->min.whole : about;
	}
	return true;
}

/* ---- for programs ---- */

static int add_rows(struct gt_table *t, const struct drawn *d, struct gt_err *err)
{
	const struct gt_query *q = d->groups->q;
	struct gt_cell cells[GT_QUERY_BY + 4];
	int64_t shares[GT_STEPS_MAX];
	int rc = gt_shares(d->steps.counts, d->steps.n, shares, err);

	for (unsigned i = 0; i < q->nby; i++)
		cells[i] = gt_query_key_cell(d->groups, d->group, i);
	for (unsigned i = 0; !rc && i < d->steps.n; i++) {
		struct gt_cell *c = cells + q->nby;

		if (!d->steps.counts[i])
			continue;
		c[0] = gt_cell_u(gt_step_low(&d->steps, d->steps.first + i));
		c[1] = gt_cell_u(gt_step_low(&d->steps, d->steps.first + i + 1));
		c[2] = gt_cell_u(d->steps.counts[i]);
		c[3] = gt_cell_i(shares[i]);
		gt_table_add(t, cells);
	}
	return rc;
}

/* ---- for people ---- */

struct layout { unsigned count, cells; bool share, utf8; };	/* digits of a count, columns of a bar; are shares shown? */

static struct layout layout_of(size_t width, uint64_t most)
{
	struct layout l = { .count = (unsigned)snprintf(NULL, 0, "%llu", (unsigned long long)most), .utf8 = gt_bars_utf8() };
	unsigned beside = FROM_WIDTH + l.count + 2 + MARKS_WIDTH;

	l.share = width >= beside + SHARE_WIDTH + NARROW;
	beside += l.share ? SHARE_WIDTH : 0;
	l.cells = width < beside + NARROWEST ? NARROWEST : width < beside + WIDEST ? (unsigned)width - beside : WIDEST;
	return l;
}

/* What a group is of: new; NULL: no memory. */
static char *label_of(const struct gt_query_groups *g, size_t group)
{
	struct gt_buf b = { 0 };

	for (unsigned i = 0; i < g->q->nby; i++) {
		struct gt_cell c = gt_query_key_cell(g, group, i);

		gt_buf_str(&b, i ? ", " : "");
		if (c.absent || c.s)
			gt_buf_str(&b, c.absent ? "-" : c.s);
		else
			gt_buf_printf(&b, "%s %lld", g->q->columns[i].title, (long long)c.i);
	}
	gt_buf_byte(&b, 0);
	if (!b.failed)
		return (char *)b.data;
	gt_buf_release(&b);
	return NULL;
}

static void free_labels(char **labels, size_t n)
{
	for (size_t i = 0; labels && i < n; i++)
		free(labels[i]);
	free(labels);
}

/* Of n groups, and none wider than the terminal. new. */
static char **labels_of(const struct gt_query_groups *g, const struct gt_query_sorted *list, size_t n, size_t width, struct gt_err *err)
{
	char **labels = calloc(n + 1, sizeof(*labels));
	bool failed = !labels;

	for (size_t i = 0; !failed && i < n; i++)
		failed = !(labels[i] = label_of(g, list[i].group));
	if (!failed && width < SIZE_MAX)
		failed = gt_clip(labels, 1, n, width > GT_CLIP_MIN + 2 ? width - 2 : GT_CLIP_MIN);
	if (!failed)
		return labels;
	free_labels(labels, n);
	return gt_err_set(err, -ENOMEM, "no memory for the names"), NULL;
}

/* How many rows, and where the quantiles are. */
static void say_figures(struct gt_table *t, const struct drawn *d)
{
	char values[NMARKS + 1][40];

	for (unsigned i = 0; i < NMARKS; i++)
		gt_put_scaled(values[i], sizeof(values[i]), d->kind, d->at[i]);
	gt_put_scaled(values[NMARKS], sizeof(*values), d->kind, d->sums->max.whole);
	gt_table_say(t, "    %llu row%s, p50 %s, p90 %s, p99 %s, max %s", (unsigned long long)d->steps.total, d->steps.total == 1 ? "" : "s",
		     values[0], values[1], values[2], values[3]);
}

static void say_bar(struct gt_table *t, const struct drawn *d, const struct layout *l, unsigned i, int64_t share)
{
	char bar[WIDEST * 3 + 1], from[40], percent[20] = "", behind[MARKS_WIDTH + 1] = "";
	unsigned step = d->steps.first + i;

	gt_bar(bar, d->steps.counts[i], d->steps.most, l->cells, l->utf8);
	gt_put_scaled(from, sizeof(from), d->kind, gt_clamp(gt_step_low(&d->steps, step)));
	if (l->share)
		snprintf(percent, sizeof(percent), "%5d.%02d %%", (int)(share / 100), (int)(share % 100));
	for (unsigned m = 0; m < NMARKS; m++)
		if (gt_step_of(&d->steps, (uint64_t)d->at[m]) == step)
			sprintf(behind + strlen(behind), " %s", marks[m].name);
	gt_table_say(t, "    %*s  %*llu%s%s%s%s", (int)FROM_WIDTH - 6, from, (int)l->count, (unsigned long long)d->steps.counts[i], percent,
		     *bar ? "  " : "", bar, behind);
}

static unsigned empty_from(const struct gt_steps *s, unsigned i)
{
	unsigned n = 0;

	while (i + n < s->n && !s->counts[i + n])
		n++;
	return n;
}

static int draw(struct gt_table *t, const struct drawn *d, const struct layout *l, const char *label, struct gt_err *err)
{
	int64_t shares[GT_STEPS_MAX];
	int rc = gt_shares(d->steps.counts, d->steps.n, shares, err);

	if (rc)
		return rc;
	gt_table_say(t, "  %s", label);
	say_figures(t, d);
	for (unsigned i = 0; i < d->steps.n; i++) {
		unsigned empty = empty_from(&d->steps, i);

		if (empty >= 3) {
			gt_table_say(t, "    %*s", (int)FROM_WIDTH - 6, "..");
			i += empty - 1;
		} else {
			say_bar(t, d, l, i, shares[i]);
		}
	}
	return 0;
}

/* ---- the table ---- */

static uint64_t most_rows(const struct gt_query_groups *g, const struct gt_query_sorted *list, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		if (gt_query_sums_of(g, list[i].group, 0)->n > most)
			most = gt_query_sums_of(g, list[i].group, 0)->n;
	return most;
}

static int add_groups(struct gt_query_state *s, struct gt_table *t, const struct gt_query_sorted *list, size_t shown, struct gt_err *err)
{
	size_t width = s->asked.opt->width;	/* 0: no text is printed */
	struct layout l = layout_of(width, most_rows(&s->groups, list, shown));
	char **labels = width ? labels_of(&s->groups, list, shown, width, err) : NULL;
	int rc = width && !labels ? err->code : 0;

	for (size_t i = 0; !rc && i < shown; i++) {
		struct drawn d;

		if (!begin_group(&d, &s->groups, list[i].group))
			continue;
		rc = add_rows(t, &d, err);
		if (!rc && labels) {
			if (i)
				gt_table_say(t, "%s", "");
			rc = draw(t, &d, &l, labels[i], err);
		}
	}
	free_labels(labels, shown);
	return rc;
}

static int histogram_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_query_state *s = state;
	const struct gt_query *q = s->q;
	struct gt_query_sorted *list;
	size_t n = 0, shown;
	unsigned layer;
	int rc;

	if (!q)
		return 0;
	layer = gt_query_unrecorded(s);
	tables[0] = gt_table_new("histogram", q->title, q->columns, q->nby + 4);
	list = gt_query_in_order(&s->groups);
	while (list && n < s->groups.n && !list[n].cell.absent)	/* those without a value stand last */
		n++;
	shown = gt_shown(n, s->asked.opt->top);
	rc = tables[0] && list ? add_groups(s, tables[0], list, shown, err) : gt_err_set(err, -ENOMEM, "no memory for a table");
	free(list);
	if (rc)
		return rc;
	if (n > shown)
		gt_table_note(tables[0], "%zu more below --top %zu left out", n - shown, shown);
	gt_query_note_sums(s, tables[0]);
	gt_query_note_absent(s->rows, tables[0]);
	if (layer != GT_LAYER_COUNT)
		gt_note_unrecorded(tables[0], s->asked.reader, layer);
	return 1;
}

const struct gt_analysis gt_histogram_report = {
	.name       = "histogram",
	.help       = "how durations, or what --of says, are spread, as bars: by name, or what --by says",
	.wants      = (GT_BIT(GT_KINDS) - 1) & ~GT_BIT(GT_UNMATCHED),	/* gt_query_fit says what of it is needed, of arguments and of order */
	.wants_args = true,
	.order      = GT_ANY_ORDER,
	.splits     = GT_BY_BLOCK,
	.state_size = sizeof(struct gt_query_state),
	.init       = histogram_init,
	.block      = gt_query_block,
	.merge      = gt_query_merge,
	.finish     = histogram_finish,
	.release    = gt_query_release,
};
