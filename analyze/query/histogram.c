/* The distribution of a quantity: for each group of rows a bar per power of two, or finer steps
 * if all values are close together. It is a query (query.h) with another output: any duration or
 * size, of any rows, grouped by any fields. histogram_draw.c draws it. Gaps of a GPU are not
 * rows; see histogram_gaps.c. */
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/query/histogram_gaps.h"
#include "analyze/query/query_report.h"
#include "formats/base/buf.h"

/* ---- options ---- */

static const struct gt_option_row of_option = {
	.opt = { .name = "of",
		.kind = GT_OPT_STR,
		.arg = "FIELD",
		.help = "field of histogram, which also takes --where and --by: dur (default), queue, bytes ...; or gap: GPU idle time by gap length" },
	.heading = GT_QUERY_HEADING,
	.report = "histogram",
};

static int histogram_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err)
{
	const char *of = gt_report_option(opt, "of"), *by = gt_report_option(opt, "by");
	struct gt_query *q;

	if (of && !strcmp(of, "gap"))
		return gt_histogram_gaps_configure(c, opt, err);
	if (!by && !gt_report_option(opt, "by-id"))
		by = "groupname";
	q = gt_query_new_hist(gt_report_option(opt, "where"), by, of, &c->option, &c->text, err);
	return gt_query_apply(c, q, err);
}

static int histogram_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return gt_query_init(state, gt_report_option(opt, "histogram"), r, opt, err);
}

static bool begin_group(struct gt_histogram *d, const struct gt_query_groups *g, size_t group)
{
	const struct gt_query_sums *sums = gt_query_sums_of(g, group, 0);

	*d = (struct gt_histogram){ .of = "row", .kind = g->q->columns[g->q->nby].kind };
	if (!sums->hist || sums->coarse)
		return false;
	gt_histogram_make(d, sums->hist, sums->min.whole, sums->max.whole);
	return true;
}

static int add_rows(struct gt_table *t, const struct gt_query_groups *g, size_t group,
	const struct gt_histogram *d, struct gt_err *err)
{
	struct gt_cell cells[GT_QUERY_BY + GT_HISTOGRAM_COLUMNS];

	for (unsigned i = 0; i < g->q->nby; i++)
		cells[i] = gt_query_key_cell(g, group, i);
	return gt_histogram_add_rows(t, d, cells, g->q->nby, err);
}

/* ---- labels ---- */

/* The label of a group. The caller frees it. NULL: no memory. */
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

/* The labels of n groups. The caller frees them. */
static char **labels_of(const struct gt_query_groups *g, const struct gt_query_sorted *list,
	size_t n, size_t width, struct gt_err *err)
{
	char **labels = calloc(n + 1, sizeof(*labels));
	bool failed = !labels;

	for (size_t i = 0; !failed && i < n; i++)
		failed = !(labels[i] = label_of(g, list[i].group));
	if (!failed && !gt_histogram_clip_labels(labels, n, width))
		return labels;
	free_labels(labels, n);
	return gt_err_set(err, -ENOMEM, "out of memory (names)"), NULL;
}

/* ---- the table ---- */

static uint64_t most_rows(
	const struct gt_query_groups *g, const struct gt_query_sorted *list, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		if (gt_query_sums_of(g, list[i].group, 0)->n > most)
			most = gt_query_sums_of(g, list[i].group, 0)->n;
	return most;
}

static int add_groups(struct gt_query_state *s, struct gt_table *t,
	const struct gt_query_sorted *list, size_t shown, struct gt_err *err)
{
	size_t width = s->report.opt->width; /* 0: the output is not text */
	struct gt_histogram_layout l =
		gt_histogram_layout(width, most_rows(&s->groups, list, shown), false);
	char **labels = width ? labels_of(&s->groups, list, shown, width, err) : NULL;
	int rc = width && !labels ? err->code : 0;

	for (size_t i = 0; !rc && i < shown; i++) {
		struct gt_histogram d;

		if (!begin_group(&d, &s->groups, list[i].group))
			continue;
		rc = add_rows(t, &s->groups, list[i].group, &d, err);
		if (!rc && labels) {
			if (i)
				gt_table_add_line(t, "%s", "");
			rc = gt_histogram_draw(t, &d, &l, labels[i], err);
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
	layer = gt_query_unrecorded_layer(s);
	tables[0] = gt_table_new("histogram", q->title, q->columns, q->nby + 4);
	if (tables[0] && gt_query_note_unanswered(s, tables[0]))
		return 1;
	list = gt_query_in_order(&s->groups);
	/* groups without a value come last */
	while (list && n < s->groups.table.n && !list[n].cell.absent)
		n++;
	shown = gt_rows_shown(n, s->report.opt->top);
	rc = tables[0] && list ? add_groups(s, tables[0], list, shown, err)
			       : gt_err_set(err, -ENOMEM, "out of memory (table)");
	free(list);
	if (rc)
		return rc;
	if (n > shown) {
		gt_table_set_incomplete(tables[0]);
		gt_note_plural(tables[0], n - shown,
			"%zu more: --top 0 or --top %zu shows {it|them}", n - shown, n);
	}
	gt_query_note_sums(s, tables[0]);
	gt_query_note_absent(s->rows, tables[0]);
	if (layer != GT_LAYER_COUNT)
		gt_note_unrecorded(tables[0], s->report.reader, GT_BIT(layer));
	return 1;
}

const struct gt_analysis gt_histogram_report = {
	.name = "histogram",
	.help = "the distribution of durations, or of the field of --of, as bars: by name, or by the fields of --by",
	/* gt_query_configure reduces this to what the query needs, and sets arguments and order */
	.wants = (GT_BIT(GT_KINDS) - 1) & ~GT_BIT(GT_UNMATCHED),
	.wants_args = true,
	.order = GT_ANY_ORDER,
	.splits = GT_BY_BLOCK,
	.options = (const struct gt_option_row *const[]){ &gt_where_option, &gt_by_option,
		&of_option, &gt_by_id_option, NULL },
	.configure = histogram_configure,
	.free_settings = gt_query_free_settings,
	.state_size = sizeof(struct gt_query_state),
	.init = histogram_init,
	.block = gt_query_block,
	.merge = gt_query_merge,
	.finish = histogram_finish,
	.release = gt_query_release,
};
