/* The tables of each trace, and the pairing of their rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/diff/diff.h"
#include "analyze/core/report.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/stack_names.h"

/* ---- one file ---- */

bool gt_diff_request_report(struct gt_diff_request *request, const char *report)
{
	bool any = false;

	for (const struct gt_diff_rule *r = gt_diff_rules; r->table; r++)
		if (report ? r->report && !strcmp(r->report, report) : r->in_default) {
			gt_diff_request_table(request, r);
			request->names |= r->names;
			any = true;
		}
	request->lines |= !report || !strcmp(report, "host") || !strcmp(report, "kernels");
	return any;
}

static unsigned choose(const struct gt_analysis **chosen, unsigned n, const struct gt_analysis *a)
{
	for (unsigned i = 0; i < n; i++)
		if (chosen[i] == a)
			return n;
	chosen[n] = a;
	return n + 1;
}

int gt_side_read(struct gt_side *s, struct gt_reader *r, const struct gt_diff_request *request,
	struct gt_analysis_options *opt, unsigned threads, struct gt_err *err)
{
	/* the header, steady, names, two with lines, and at most one for each rule */
	const struct gt_analysis *chosen[5 + GT_DIFF_RULES_MOST];
	unsigned nchosen = choose(chosen, 0, gt_analysis_find("header"));
	int rc;

	s->steady = opt->only_steady;
	if (s->steady)
		nchosen = choose(chosen, nchosen, gt_analysis_find("steady"));
	if (request->lines && (gt_has_stacks(r) || gt_has_samples(r))) {
		nchosen = choose(chosen, nchosen, gt_analysis_find("host"));
		nchosen = choose(chosen, nchosen, &gt_diff_kernel_lines_report);
	}
	if (request->names)
		nchosen = choose(chosen, nchosen, &gt_diff_names_report);
	for (const struct gt_diff_rule *rule = gt_diff_rules; rule->table; rule++)
		if (gt_diff_is_requested(request, rule) && rule->report)
			nchosen = choose(chosen, nchosen, gt_diff_report(rule));
	opt->top = 0;
	opt->width = 0;
	opt->in_default_report = false;
	opt->one_page = false; /* gates and diff need all rows and tables */
	rc = gt_run(r, chosen, nchosen, opt, threads, s->tables, err);
	s->n = rc < 0 ? 0 : (unsigned)rc;
	s->filtered = gt_has_name_filter(r);
	s->nothing_selected = opt->nothing_selected;
	for (unsigned l = 0; l < GT_LAYER_COUNT; l++)
		s->layers |= gt_is_recorded(r, l) && !(l == GT_LAYER_GPU && gt_has_lost_work(r))
			? GT_BIT(l)
			: 0;
	return rc < 0 ? rc : 0;
}

const struct gt_table *gt_side_table(const struct gt_side *s, const char *name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(gt_table_name(s->tables[i]), name))
			return s->tables[i];
	return NULL;
}

bool gt_side_is_recorded(const struct gt_side *s, const struct gt_diff_rule *rule)
{
	return rule->layer == GT_LAYER_COUNT || s->layers & GT_BIT(rule->layer);
}

void gt_side_release(struct gt_side *s)
{
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(s->tables[i]);
	memset(s, 0, sizeof(*s));
}

/* ---- rows ---- */

static void put_cell(struct gt_buf *b, const struct gt_table *t, unsigned row, unsigned column)
{
	const struct gt_cell *c = gt_table_cell(t, row, column);
	unsigned n;
	enum gt_cell_kind kind = gt_table_columns(t, &n)[column].kind;

	if (!c->absent && kind <= GT_C_DATA)
		gt_buf_str(b, c->s ? c->s : "");
	else if (!c->absent)
		gt_buf_printf(b, "%lld", (long long)c->i);
}

/* The cells of these columns as text, with `between` after each but the last; for people only
 * between non-empty ones. without: a column that is ignored, or NULL. The caller frees it. NULL: no
 * memory. */
static char *join(const char *list, const char *without, const char *between, bool people,
	const struct gt_table *t, unsigned row)
{
	struct gt_buf b = { 0 };
	size_t len, owed = 0;

	for (const char *w = list; (w = gt_next_word(w, &len)); w += len) {
		char key[64];
		int column;

		snprintf(key, sizeof(key), "%.*s", (int)len, w);
		if (without && !strcmp(key, without))
			continue;
		column = gt_table_column(t, key);
		if (owed != b.len || !people)
			gt_buf_str(&b, between);
		owed = b.len;
		if (column >= 0)
			put_cell(&b, t, row, (unsigned)column);
	}
	b.len -= people && owed == b.len && b.len ? strlen(between) : 0;
	gt_buf_byte(&b, 0);
	if (!b.failed)
		return (char *)b.data;
	gt_buf_release(&b);
	return NULL;
}

char *gt_row_name(const struct gt_diff_rule *rule, const struct gt_table *t, unsigned row)
{
	char list[160];

	snprintf(list, sizeof(list), "rank %s",
		rule->label          ? rule->label
			: rule->keys ? rule->keys
				     : "");
	return join(list, NULL, " / ", true, t, row);
}

struct keyed {
	char *key;
	unsigned row;
};

static int by_key(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;

	return strcmp(a->key, b->key) ?: GT_COMPARE(a->row, b->row);
}

static void free_keys(struct keyed *list, unsigned n)
{
	for (unsigned i = 0; list && i < n; i++)
		free(list[i].key);
	free(list);
}

/* The rows with their keys. The caller frees them. NULL with err filled in. */
static struct keyed *keys_of(const char *columns, const char *without, const struct gt_table *t,
	unsigned n, struct gt_err *err)
{
	struct keyed *list = calloc(n + 1ul, sizeof(*list));
	bool failed = !list;

	for (unsigned i = 0; !failed && i < n; i++) {
		list[i] = (struct keyed){ join(columns, without, "\x1f", false, t, i), i };
		failed = !list[i].key;
	}
	if (!failed)
		GT_SORT(list, n, by_key);
	if (!failed)
		return list;
	free_keys(list, n);
	gt_err_set(err, -ENOMEM, "out of memory (comparison of %u rows)", n);
	return NULL;
}

static int in_order(const void *pa, const void *pb)
{
	const struct gt_row_pair *a = pa, *b = pb;

	if ((a->b < 0) != (b->b < 0))
		return a->b < 0 ? 1 : -1;
	return a->b < 0 ? a->a - b->a : a->b - b->b;
}

/* *common: the number of rows in both files. */
static int pair(const char *columns, const char *without, const struct gt_table *a,
	const struct gt_table *b, struct gt_row_pair *pairs, size_t *n, size_t *common,
	struct gt_err *err)
{
	unsigned na = a ? gt_table_rows(a) : 0, nb = b ? gt_table_rows(b) : 0, i = 0, j = 0;
	struct keyed *ka = keys_of(columns, without, a, na, err),
		     *kb = ka ? keys_of(columns, without, b, nb, err) : NULL;

	*n = *common = 0;
	while (kb && (i < na || j < nb)) {
		int order = i == na ? 1 : j == nb ? -1 : strcmp(ka[i].key, kb[j].key);

		pairs[(*n)++] = (struct gt_row_pair){ order <= 0 ? (int)ka[i].row : -1,
			order >= 0 ? (int)kb[j].row : -1 };
		*common += !order;
		i += order <= 0;
		j += order >= 0;
	}
	free_keys(ka, na);
	free_keys(kb, nb);
	return kb ? 0 : -ENOMEM;
}

int gt_pair_rows(const struct gt_diff_rule *rule, const struct gt_table *a,
	const struct gt_table *b, struct gt_row_pair **pairs, size_t *n, struct gt_err *err)
{
	const char *varies = rule->varies ? rule->varies : "process";
	size_t room = (a ? gt_table_rows(a) : 0ul) + (b ? gt_table_rows(b) : 0ul), common;
	int rc;

	*n = 0;
	*pairs = calloc(room + 1, sizeof(**pairs));
	if (!*pairs)
		return gt_err_set(err, -ENOMEM, "out of memory (comparison of %zu rows)", room);
	rc = pair(rule->keys, NULL, a, b, *pairs, n, &common, err);
	if (!rc && !common && gt_list_has(rule->keys, varies))
		rc = pair(rule->keys, varies, a, b, *pairs, n, &common, err);
	if (!rc)
		GT_SORT(*pairs, *n, in_order);
	return rc;
}

/* ---- figures ---- */

static bool is_clean(const struct gt_diff_rule *rule, const struct gt_table *t, unsigned row)
{
	int column = rule->state ? gt_table_column(t, rule->state) : -1;
	const struct gt_cell *state = column < 0 ? NULL : gt_table_cell(t, row, (unsigned)column);

	return state && !state->absent && state->s && !strcmp(state->s, "clean");
}

bool gt_figure(const struct gt_diff_rule *rule, const struct gt_table *t, unsigned row,
	unsigned column, long double *v)
{
	const struct gt_cell *c = gt_table_cell(t, row, column);
	unsigned n;
	enum gt_cell_kind kind = gt_table_columns(t, &n)[column].kind;

	*v = 0;
	if (c->absent)
		return is_clean(rule, t, row);
	if (kind <= GT_C_DATA || (kind == GT_C_REAL && !isfinite(c->d)))
		return false;
	*v = kind == GT_C_REAL         ? (long double)c->d
		: kind == GT_C_PERCENT ? (long double)c->i / 100
				       : (long double)c->i;
	return true;
}

long double gt_change(long double a, long double b)
{
	if (a == b)
		return 0;
	return a == 0 ? (b > 0 ? INFINITY : -INFINITY) : (b - a) / fabsl(a);
}
