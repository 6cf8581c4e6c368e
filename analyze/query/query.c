/* The report `query`: groups the rows that match an expression, and computes figures per group.
 * Rows come in runs, are matched in chunks (query_match.c) and added to their groups
 * (query_groups.c). Only union(dur) needs rows in order of time; all other figures are
 * independent of the order, so several threads may compute them. */
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/query/query_report.h"
#include "formats/base/sorted.h"

int gt_query_init(struct gt_query_state *s, const struct gt_query *q, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err)
{
	s->report = (struct gt_report_state){ r, opt };
	s->q = q;
	if (!q)
		return 0;
	s->rows = gt_query_rows_new(q, r, opt, err);
	if (!s->rows)
		return err->code;
	for (unsigned i = 0; i < q->naggs; i++)
		s->unions |= q->aggs[i].fn == GT_Q_FN_UNION;
	return gt_query_groups_init(&s->groups, q, s->rows, r, err);
}

/* ---- options ---- */

const struct gt_option_row gt_where_option = {
	.opt = { .name = "where",
		.kind = GT_OPT_STR,
		.arg = "EXPR",
		.help = "only rows for which EXPR is true: 'kind==kernel && dur>1ms && name~/gemm/'" },
	.heading = GT_QUERY_HEADING,
	.report = "query",
};
static const struct gt_option_row agg_option = {
	.opt = { .name = "agg",
		.kind = GT_OPT_STR,
		.arg = "FIGURES",
		.help = "figures of each row: 'count,sum(dur),p99(dur)'; default: count,sum(dur)" },
	.heading = GT_QUERY_HEADING,
	.report = "query",
};
static const struct gt_option_row order_option = {
	.opt = { .name = "order-by",
		.kind = GT_OPT_STR,
		.arg = "FIGURE",
		.help = "sort by this figure, largest first" },
	.heading = GT_QUERY_HEADING,
	.report = "query",
};

int gt_query_apply(struct gt_configured_report *c, struct gt_query *q, const struct gt_err *err)
{
	c->settings = q;
	if (!q)
		return err->code;
	gt_query_configure(q, &c->report);
	return 0;
}

static int query_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct gt_query *q = gt_query_new(gt_report_option(opt, "where"),
		gt_report_option(opt, "by"), gt_report_option(opt, "agg"),
		gt_report_option(opt, "order-by"), &c->option, &c->text, err);

	return gt_query_apply(c, q, err);
}

void gt_query_free_settings(void *query) { gt_query_free(query); }

static int query_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return gt_query_init(state, gt_report_option(opt, "query"), r, opt, err);
}

/* ---- rows ---- */

static int add_to_union(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_query_state *s = arg;

	struct gt_query_group *group = gt_query_group_of(&s->groups, m->what);

	gt_union_add(&group->busy, m->at, m->end);
	group->ran = true;
	return 0;
}

/* The current segment is complete: times of the next one are unrelated. */
static int flush(struct gt_query_state *s, struct gt_err *err)
{
	int rc = gt_time_merge_flush(&s->line, add_to_union, s, err);

	s->late += s->line.late;
	gt_time_merge_release(&s->line);
	for (size_t i = 0; i < s->groups.table.n; i++) {
		struct gt_union *busy = &gt_query_group_of(&s->groups, i)->busy;

		*busy = (struct gt_union){ .ns = busy->ns };
	}
	return rc;
}

static int begin_block(struct gt_query_state *s, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = s->seg && s->seg != cols->seg ? flush(s, err) : 0;

	if (!rc && (s->seg != cols->seg || s->block != cols->block))
		rc = gt_time_merge_advance(&s->line, cols->floor, add_to_union, s, err);
	s->seg = cols->seg;
	s->block = cols->block;
	return rc;
}

/* The rows just added to their groups, cut to the selected range. */
static int add_moments(struct gt_query_state *s, const struct gt_cols *cols, const uint32_t *rows,
	uint32_t n, struct gt_err *err)
{
	struct gt_range in = gt_range_of(&s->report.opt->filter, cols->seg);
	struct gt_moment *to;

	if (!(GT_BIT(cols->kind) &
		    (GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU) |
			    GT_BIT(GT_LOST))))
		return 0;
	to = gt_time_merge_reserve(&s->line, n, err);
	if (!to)
		return err->code;
	for (uint32_t i = 0; i < n; i++) {
		int64_t start = cols->start[rows[i]], end = start + cols->dur[rows[i]];

		to[i] = (struct gt_moment){ .at = start < in.from ? in.from : start,
			.end = end > in.to ? in.to : end,
			.what = s->groups.at[i] };
	}
	gt_time_merge_commit(&s->line, n);
	return 0;
}

/* Too many groups are not an error: other reports continue, and this one says at the end that it
 * cannot answer. */
static int unless_full(const struct gt_query_state *s, int rc, struct gt_err *err)
{
	if (!rc || !s->groups.full)
		return rc;
	*err = (struct gt_err)GT_ERR_INIT;
	return 0;
}

bool gt_query_note_unanswered(const struct gt_query_state *s, struct gt_table *t)
{
	if (s->groups.full)
		gt_table_set_unanswered(t,
			"more than %zu groups: use fewer fields in --by, or select fewer rows with --where",
			s->groups.full);
	return s->groups.full;
}

int gt_query_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_query_state *s = state;
	int64_t origin = gt_origin(s->report.opt, s->report.reader, cols->seg);
	int rc = s->q ? gt_query_run(s->rows, cols, err) : 0;

	if (!s->q || s->groups.full)
		return 0;
	if (!rc)
		rc = gt_query_groups_run(&s->groups, cols, err);
	if (!rc && s->unions)
		rc = begin_block(s, cols, err);
	for (uint32_t from = 0; !rc && from < cols->n; from += GT_QUERY_CHUNK) {
		const uint32_t *rows;
		int n = gt_query_match(s->rows, from, &rows, err);

		if (n <= 0) {
			rc = n;
			continue;
		}
		s->matched += (uint64_t)n;
		rc = gt_query_groups_add(&s->groups, cols, rows, (uint32_t)n, origin, err);
		if (!rc && s->unions)
			rc = add_moments(s, cols, rows, (uint32_t)n, err);
	}
	return unless_full(s, rc, err);
}

int gt_query_merge(void *into, void *from, struct gt_err *err)
{
	struct gt_query_state *to = into, *s = from;

	if (!s->q)
		return 0;
	to->matched += s->matched;
	gt_query_rows_merge(to->rows, s->rows);
	return unless_full(to, gt_query_groups_merge(&to->groups, &s->groups, err), err);
}

/* ---- the table ---- */

static int by_order(const void *pa, const void *pb)
{
	const struct gt_query_sorted *a = pa, *b = pb;
	int order = a->cell.absent - b->cell.absent;

	if (!order && !a->cell.absent)
		order = a->real ? (a->cell.d < b->cell.d) - (a->cell.d > b->cell.d)
				: (a->cell.i < b->cell.i) - (a->cell.i > b->cell.i);
	return order ? order : gt_query_compare_keys(a->groups, a->group, b->group);
}

struct gt_query_sorted *gt_query_in_order(const struct gt_query_groups *g)
{
	struct gt_query_sorted *list = calloc(g->table.n + 1, sizeof(*list));
	bool real = g->q->columns[g->q->nby + g->q->order].kind == GT_C_REAL;

	for (size_t i = 0; list && i < g->table.n; i++)
		list[i] = (struct gt_query_sorted){ g, gt_query_agg_cell(g, i, g->q->order), i,
			real };
	if (list)
		GT_SORT(list, g->table.n, by_order);
	return list;
}

static void add_row(const struct gt_query_groups *g, struct gt_table *t, size_t group)
{
	struct gt_cell cells[GT_QUERY_BY + GT_QUERY_AGGS];

	for (unsigned i = 0; i < g->q->nby; i++)
		cells[i] = gt_query_key_cell(g, group, i);
	for (unsigned i = 0; i < g->q->naggs; i++)
		cells[g->q->nby + i] = gt_query_agg_cell(g, group, i);
	gt_table_add(t, cells);
}

static void note_matched(const struct gt_query_state *s, struct gt_table *t)
{
	const struct gt_query *q = s->q;

	if (q->nby)
		gt_note_plural(t, s->matched, "%llu {row|rows} in %zu group%s, largest %s first",
			(unsigned long long)s->matched, s->groups.table.n,
			gt_plural(s->groups.table.n, "s"), q->aggs[q->order].text);
}

/* Over all groups. Did another figure of the same field already note it? */
static bool is_known(const struct gt_query_groups *g, const uint64_t *have, unsigned f)
{
	for (unsigned i = 0; i < f; i++)
		if (g->fields[i].use == g->fields[f].use && have[i] == have[f])
			return true;
	return false;
}

void gt_query_note_sums(const struct gt_query_state *s, struct gt_table *t)
{
	const struct gt_query *q = s->q;
	uint64_t have[GT_QUERY_AGGS];
	bool coarse = false;

	for (unsigned f = 0; f < s->groups.nfields; f++) {
		const struct gt_query_use *use = &q->uses[s->groups.fields[f].use];
		uint64_t n = 0;

		for (size_t i = 0; i < s->groups.table.n; i++) {
			n += gt_query_sums_of(&s->groups, i, f)->n;
			coarse |= gt_query_sums_of(&s->groups, i, f)->coarse;
		}
		have[f] = n;
		if (is_known(&s->groups, have, f))
			continue;
		if (!n && s->matched)
			gt_table_note(t, "no row has %s%s",
				use->arg ? "arg." : gt_query_field(use->id)->name,
				use->arg ? use->arg : "");
		else if (n < s->matched)
			gt_note_plural(t, s->matched - n,
				"%llu of %llu rows {has|have} no %s%s and {is|are} in no figure of it",
				(unsigned long long)(s->matched - n),
				(unsigned long long)s->matched,
				use->arg ? "arg." : gt_query_field(use->id)->name,
				use->arg ? use->arg : "");
	}
	if (s->groups.distinct.full)
		gt_table_set_unanswered(t,
			"there are more than %u different values: select fewer rows with --where, or use fewer fields in --by",
			GT_DISTINCT_MOST);
	if (coarse)
		gt_table_note(t, "too many groups: some have no quantiles");
	gt_note_unordered(t, s->late, "union(dur)");
}

unsigned gt_query_unrecorded_layer(const struct gt_query_state *s)
{
	static const struct {
		uint32_t kinds;
		unsigned layer;
	} of[] = {
		{ GT_BIT(GT_Q_KIND_KERNEL) | GT_BIT(GT_Q_KIND_COPY) | GT_BIT(GT_Q_KIND_SET) |
				GT_BIT(GT_Q_KIND_GRAPH) | GT_BIT(GT_Q_KIND_WAIT),
			GT_LAYER_GPU },
		{ GT_BIT(GT_Q_KIND_IOCTL), GT_LAYER_IOCTL },
		{ GT_BIT(GT_Q_KIND_RANGE), GT_LAYER_USER },
	};
	uint32_t kinds = gt_query_kinds(s->q);

	for (unsigned i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (!s->matched && kinds && !(kinds & ~of[i].kinds) &&
			gt_why_unrecorded(s->report.reader, GT_BIT(of[i].layer)))
			return of[i].layer;
	return GT_LAYER_COUNT;
}

static int query_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_query_state *s = state;
	const struct gt_query *q = s->q;
	struct gt_query_sorted *list;
	size_t shown = gt_rows_shown(s->groups.table.n, s->report.opt->top);
	unsigned layer = q ? gt_query_unrecorded_layer(s) : GT_LAYER_COUNT;
	int rc = flush(s, err);

	if (!q)
		return rc;
	tables[0] = gt_table_new("query", q->title, q->columns, q->nby + q->naggs);
	list = gt_query_in_order(&s->groups);
	if (rc || !tables[0] || !list) {
		free(list);
		return rc ? rc : gt_err_set(err, -ENOMEM, "out of memory (table)");
	}
	gt_table_set_hideable(tables[0], q->hideable_keys);
	if (gt_query_note_unanswered(s, tables[0])) {
		free(list);
		return 1;
	}
	for (size_t i = 0; i < shown && layer == GT_LAYER_COUNT; i++)
		add_row(&s->groups, tables[0], list[i].group);
	free(list);
	note_matched(s, tables[0]);
	gt_table_note_cut(tables[0], s->groups.table.n, shown);
	gt_query_note_sums(s, tables[0]);
	gt_query_note_absent(s->rows, tables[0]);
	if (layer != GT_LAYER_COUNT)
		gt_note_unrecorded(tables[0], s->report.reader, GT_BIT(layer));
	return 1;
}

void gt_query_release(void *state)
{
	struct gt_query_state *s = state;

	gt_query_groups_release(&s->groups);
	gt_query_rows_free(s->rows);
	gt_time_merge_release(&s->line);
}

const struct gt_analysis gt_query_report = {
	.name = "query",
	.help = "rows that match --where, grouped --by fields, with the figures of --agg",
	/* gt_query_configure reduces this to what the query needs, and sets arguments and order */
	.wants = (GT_BIT(GT_KINDS) - 1) & ~GT_BIT(GT_UNMATCHED),
	.wants_args = true,
	.order = GT_ANY_ORDER,
	.splits = GT_BY_BLOCK,
	.options = (const struct gt_option_row *const[]){ &gt_where_option, &gt_by_option,
		&agg_option, &order_option, NULL },
	.configure = query_configure,
	.free_settings = gt_query_free_settings,
	.state_size = sizeof(struct gt_query_state),
	.init = query_init,
	.block = gt_query_block,
	.merge = gt_query_merge,
	.finish = query_finish,
	.release = gt_query_release,
};
