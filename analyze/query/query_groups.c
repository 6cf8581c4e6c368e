/* Finds the group of each row. The key of a group is an array of 64-bit words: one that says which
 * fields of --by its rows have, and one for the value of each field. Texts are numbered in the
 * order of their occurrence, so keys of different threads differ, and merging renumbers them.
 *
 * If no field of --by differs between rows of one type on one track, the group of a code is
 * looked up once per run, and a row costs one table access. Otherwise a row adds its own fields
 * to the key of its code.
 *
 * Memory is bounded. More groups than GT_QUERY_GROUPS (fewer if they are large) make the query
 * unanswerable, because a table without some groups would be wrong. Histograms beyond HISTS_MAX
 * have no quantiles. */
#include "analyze/stats/stddev.h"
#include "analyze/query/query_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define HISTS_MAX (16u << 20) /* bytes */
#define SUMS_MAX (32u << 20)
#define NO_FIELD 255

/* ---- texts ---- */

static bool same_text(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !strcmp(((const struct gt_query_groups *)arg)->texts[value], key);
}

/* The index of a text; GT_NONE with err filled in. */
static uint32_t number_of(struct gt_query_groups *g, const char *text, struct gt_err *err)
{
	uint64_t hash = gt_hash(text, strlen(text));
	uint32_t i = gt_map_get(&g->text_map, hash, same_text, g, text, 0);

	if (i != GT_NONE)
		return i;
	if (gt_grow(&g->texts, &g->texts_cap, g->ntexts + 1, sizeof(*g->texts)) ||
		!(g->texts[g->ntexts] = strdup(text)))
		return gt_err_set(err, -ENOMEM, "out of memory (groups)"), GT_NONE;
	g->ntexts++;
	if (gt_map_add(&g->text_map, hash, (uint32_t)g->ntexts - 1))
		return gt_err_set(err, -ENOMEM, "out of memory (groups)"), GT_NONE;
	return (uint32_t)g->ntexts - 1;
}

static uint32_t number_of_string(
	struct gt_query_groups *g, const struct gt_segment *seg, uint64_t id, struct gt_err *err)
{
	uint32_t **known = &g->of_string[seg->index], one;

	if (!*known && !(*known = calloc(seg->nstrings + 1ul, sizeof(**known))))
		return gt_err_set(err, -ENOMEM, "out of memory (groups)"), GT_NONE;
	if ((*known)[id])
		return (*known)[id] - 1;
	one = number_of(g, seg->strings[id].ptr, err);
	(*known)[id] = one + 1; /* GT_NONE + 1 is 0: unknown */
	return one;
}

/* A number among texts: an argument can be either. */
static uint32_t number_of_digits(
	struct gt_query_groups *g, const struct gt_query_value *v, struct gt_err *err)
{
	char digits[40];

	if (v->is == GT_Q_DOUBLE)
		snprintf(digits, sizeof(digits), "%.15g", v->d);
	else if (v->is == GT_Q_INT)
		snprintf(digits, sizeof(digits), "%lld", (long long)v->i);
	else
		snprintf(digits, sizeof(digits), v->hex ? "0x%llx" : "%llu",
			(unsigned long long)v->u);
	return number_of(g, digits, err);
}

/* ---- keys ---- */

static bool is_text(const struct gt_query *q, unsigned use)
{
	enum gt_query_class class = gt_query_field(q->uses[use].id)->class;

	return class == GT_Q_TEXT || class == GT_Q_ANY;
}

/* The index of the name of a type, or of a stack. A cache compares addresses first. */
static uint32_t number_of_name(struct gt_query_groups *g, const char *name, struct gt_err *err)
{
	struct gt_query_recent *r =
		&g->recent[gt_hash_u64((uintptr_t)name) % (sizeof(g->recent) / sizeof(*g->recent))];

	if (r->s != name)
		*r = (struct gt_query_recent){ name, number_of(g, name, err) };
	return r->text;
}

/* Writes field `i` of --by into a key. */
static int put_field(struct gt_query_groups *g, const struct gt_segment *seg, uint32_t row,
	unsigned i, uint64_t *key, struct gt_err *err)
{
	struct gt_query_value v = gt_query_get(g->rows, g->q->by[i], row);
	uint32_t text;

	if (v.is == GT_Q_ABSENT)
		return 0;
	key[0] |= 1ull << i;
	key[1 + i] = v.u;
	if (!is_text(g->q, g->q->by[i]))
		return 0;
	text = v.is == GT_Q_STRING   ? number_of_string(g, seg, v.u, err)
		: v.is == GT_Q_CHARS ? number_of_name(g, v.s, err)
				     : number_of_digits(g, &v, err);
	key[1 + i] = text;
	return text == GT_NONE ? err->code : 0;
}

static int put_fields(struct gt_query_groups *g, const struct gt_segment *seg, uint32_t row,
	const struct gt_query_places *which, uint64_t *key, struct gt_err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < which->n; i++)
		rc = put_field(g, seg, row, which->list[i], key, err);
	return rc;
}

static size_t most_groups(const struct gt_query_groups *g)
{
	return SUMS_MAX / g->table.size < GT_QUERY_GROUPS ? SUMS_MAX / g->table.size
							  : GT_QUERY_GROUPS;
}

/* The index of the group of a key; GT_NONE with err filled in. */
static uint32_t find_group(struct gt_query_groups *g, const uint64_t *key, struct gt_err *err)
{
	size_t n = g->table.n;
	uint32_t i = gt_group_table_find(&g->table, key, err);

	if (i == g->table.most) {
		g->full = g->table.most;
		gt_err_set(err, -EOVERFLOW, "more than %zu groups", g->full);
		return GT_NONE;
	}
	if (g->table.n > n) {
		gt_query_group_of(g, i)->first = INT64_MAX;
		gt_query_group_of(g, i)->last = INT64_MIN;
	}
	return i;
}

/* Computes what all rows of a code share, at the first row: part of their key, or the whole key and
 * the group. */
static struct gt_query_known *prepare_code(
	struct gt_query_groups *g, const struct gt_cols *cols, uint32_t row, struct gt_err *err)
{
	uint32_t code = cols->code ? cols->code[row] : 0;
	struct gt_query_known *known = &g->known[code];
	uint64_t *key = &g->code_keys[(size_t)code * g->width];

	if (known->when == g->when)
		return known;
	memset(key, 0, g->width * sizeof(*key));
	if (put_fields(g, cols->seg, row, &g->by_code, key, err))
		return NULL;
	known->group = g->by_row.n ? 0 : find_group(g, key, err);
	if (known->group == GT_NONE)
		return NULL;
	known->when = g->when;
	return known;
}

/* The groups of rows if the key depends on type and track only. */
static int find_by_code(struct gt_query_groups *g, const struct gt_cols *cols, const uint32_t *rows,
	uint32_t n, struct gt_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_query_known *known = prepare_code(g, cols, rows[i], err);

		if (!known)
			return err->code;
		g->at[i] = known->group;
	}
	return 0;
}

static int find_by_row(struct gt_query_groups *g, const struct gt_cols *cols, const uint32_t *rows,
	uint32_t n, struct gt_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		struct gt_query_known *known = prepare_code(g, cols, rows[i], err);
		uint64_t key[1 + GT_QUERY_BY];

		if (!known)
			return err->code;
		memcpy(key, &g->code_keys[(size_t)(known - g->known) * g->width],
			g->width * sizeof(*key));
		if (put_fields(g, cols->seg, rows[i], &g->by_row, key, err))
			return err->code;
		/* most rows have the same key as the previous row of their code */
		if (known->group >= g->table.n ||
			memcmp(gt_group_table_at(&g->table, known->group), key, g->table.key))
			known->group = find_group(g, key, err);
		if (known->group == GT_NONE)
			return err->code;
		g->at[i] = known->group;
	}
	return 0;
}

int gt_query_groups_run(struct gt_query_groups *g, const struct gt_cols *cols, struct gt_err *err)
{
	bool same = g->seg == cols->seg && g->block == cols->block && g->kind == cols->kind &&
		!g->of_tracks;

	if (cols->ntypes > g->known_cap) {
		free(g->known);
		free(g->code_keys);
		g->known_cap = cols->ntypes + cols->ntypes / 2;
		g->known = calloc(g->known_cap, sizeof(*g->known));
		g->code_keys = calloc(g->known_cap, g->width * sizeof(*g->code_keys));
		if (!g->known || !g->code_keys)
			return gt_err_set(err, -ENOMEM, "out of memory (types of a block)");
	}
	g->when += !same;
	g->seg = cols->seg;
	g->block = cols->block;
	g->kind = cols->kind;
	return 0;
}

/* ---- sums ---- */

static void square(struct gt_query_sums *s, int64_t v)
{
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	s->overflow |= __builtin_add_overflow(
		s->squares.whole, (unsigned __int128)u * u, &s->squares.whole);
}

static inline void add_whole(
	struct gt_query_groups *g, const struct gt_query_sum *f, struct gt_query_sums *s, int64_t v)
{
	s->min.whole = s->n && s->min.whole < v ? s->min.whole : v;
	s->max.whole = s->n && s->max.whole > v ? s->max.whole : v;
	s->n++;
	s->sum.whole += v;
	if (f->squares)
		square(s, v);
	if (f->hist)
		s->coarse |=
			!gt_hist_add_limited(&s->hist, v < 0 ? 0 : v, &g->hist_bytes, HISTS_MAX);
}

static void add_real(struct gt_query_sums *s, double v)
{
	s->min.real = s->n && s->min.real < v ? s->min.real : v;
	s->max.real = s->n && s->max.real > v ? s->max.real : v;
	s->n++;
	s->sum.real += v;
	s->squares.real += (long double)v * v;
}

static void add_value(struct gt_query_groups *g, const struct gt_query_sum *f,
	struct gt_query_sums *s, const struct gt_query_value *v)
{
	bool number = v->is == GT_Q_INT || v->is == GT_Q_UINT || v->is == GT_Q_DOUBLE;

	if (!number)
		return;
	if (f->real)
		add_real(s,
			v->is == GT_Q_DOUBLE        ? v->d
				: v->is == GT_Q_INT ? (double)v->i
						    : (double)v->u);
	else
		add_whole(g, f, s, v->is == GT_Q_INT ? v->i : gt_clamp(v->u));
}

static int add_different(struct gt_query_groups *g, unsigned field, const struct gt_cols *cols,
	const uint32_t *rows, uint32_t n, struct gt_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		struct gt_query_value v = gt_query_get(g->rows, g->fields[field].use, rows[i]);
		struct gt_query_sums *to = gt_query_sums_of(g, g->at[i], field);
		struct gt_distinct_value one = { .value = v.u, .kind = GT_DISTINCT_NUMBER };
		int new;

		if (v.is == GT_Q_ABSENT)
			continue;
		if (v.is == GT_Q_STRING || v.is == GT_Q_CHARS) {
			one.kind = GT_DISTINCT_TEXT;
			one.value = v.is == GT_Q_STRING ? number_of_string(g, cols->seg, v.u, err)
							: number_of_name(g, v.s, err);
			if (one.value == GT_NONE)
				return err->code;
		} else if (v.is != GT_Q_UINT) {
			one = v.is == GT_Q_INT ? gt_distinct_whole(v.i) : gt_distinct_real(v.d);
		}
		one.group = g->at[i];
		one.field = (uint8_t)field;
		new = gt_distinct_add(&g->distinct, &one);
		if (new < 0)
			return gt_err_set(err, new, "out of memory (different values)");
		to->n++;
		to->values += (unsigned)new;
	}
	return 0;
}

static void add_durations(struct gt_query_groups *g, unsigned field, const struct gt_cols *cols,
	const uint32_t *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add_whole(g, &g->fields[field], gt_query_sums_of(g, g->at[i], field),
			cols->dur[rows[i]]);
}

static int add_field(struct gt_query_groups *g, unsigned field, const struct gt_cols *cols,
	const uint32_t *rows, uint32_t n, struct gt_err *err)
{
	const struct gt_query_sum *f = &g->fields[field];
	uint32_t spans = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU);

	if (f->distinct)
		return add_different(g, field, cols, rows, n, err);
	if (g->q->uses[f->use].id == GT_Q_DUR && spans & GT_BIT(cols->kind)) {
		add_durations(g, field, cols, rows, n);
		return 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct gt_query_value v = gt_query_get(g->rows, f->use, rows[i]);

		add_value(g, f, gt_query_sums_of(g, g->at[i], field), &v);
	}
	return 0;
}

int gt_query_groups_add(struct gt_query_groups *g, const struct gt_cols *cols, const uint32_t *rows,
	uint32_t n, int64_t origin, struct gt_err *err)
{
	int rc = g->by_row.n ? find_by_row(g, cols, rows, n, err)
			     : find_by_code(g, cols, rows, n, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		struct gt_query_group *to = gt_query_group_of(g, g->at[i]);
		int64_t start = cols->start[rows[i]] - origin, end = start + cols->dur[rows[i]];

		to->count++;
		to->first = start < to->first ? start : to->first;
		to->last = end > to->last ? end : to->last;
	}
	for (unsigned f = 0; !rc && f < g->nfields; f++)
		rc = add_field(g, f, cols, rows, n, err);
	return rc;
}

/* ---- merging ---- */

static int merge_hist(
	struct gt_query_sums *to, const struct gt_query_sums *from, struct gt_err *err)
{
	if (!from->hist)
		return 0;
	if (!to->hist)
		to->hist = calloc(1, sizeof(*to->hist));
	return to->hist && !gt_hist_merge(to->hist, from->hist)
		? 0
		: gt_err_set(err, -ENOMEM, "out of memory (groups)");
}

static int merge_sums(const struct gt_query_sum *f, struct gt_query_sums *to,
	const struct gt_query_sums *from, struct gt_err *err)
{
	if (!from->n)
		return 0;
	if (f->real) {
		to->min.real =
			to->n && to->min.real < from->min.real ? to->min.real : from->min.real;
		to->max.real =
			to->n && to->max.real > from->max.real ? to->max.real : from->max.real;
		to->sum.real += from->sum.real;
		to->squares.real += from->squares.real;
	} else {
		to->min.whole =
			to->n && to->min.whole < from->min.whole ? to->min.whole : from->min.whole;
		to->max.whole =
			to->n && to->max.whole > from->max.whole ? to->max.whole : from->max.whole;
		to->sum.whole += from->sum.whole;
		to->overflow |= __builtin_add_overflow(to->squares.whole, from->squares.whole,
					&to->squares.whole) ||
			from->overflow;
	}
	to->n += from->n;
	to->coarse |= from->coarse;
	return merge_hist(to, from, err);
}

static int merge_group(struct gt_query_groups *into, const struct gt_query_groups *from, size_t i,
	struct gt_err *err)
{
	uint64_t key[1 + GT_QUERY_BY];
	const struct gt_query_group *f = gt_query_group_of(from, i);
	struct gt_query_group *to_group;
	uint32_t to;
	int rc = 0;

	memcpy(key, gt_group_table_at(&from->table, i), from->table.key);
	for (unsigned b = 0; b < from->q->nby; b++) {
		uint32_t text;

		if (!(key[0] >> b & 1) || !is_text(from->q, from->q->by[b]))
			continue;
		text = number_of(into, from->texts[key[1 + b]], err);
		if (text == GT_NONE)
			return err->code;
		key[1 + b] = text;
	}
	to = find_group(into, key, err);
	if (to == GT_NONE)
		return err->code;
	to_group = gt_query_group_of(into, to);
	to_group->count += f->count;
	to_group->first = f->first < to_group->first ? f->first : to_group->first;
	to_group->last = f->last > to_group->last ? f->last : to_group->last;
	for (unsigned s = 0; !rc && s < into->nfields; s++)
		rc = merge_sums(&into->fields[s], gt_query_sums_of(into, to, s),
			gt_query_sums_of(from, i, s), err);
	return rc;
}

int gt_query_groups_merge(
	struct gt_query_groups *into, const struct gt_query_groups *from, struct gt_err *err)
{
	int rc = 0;

	into->full = into->full ? into->full : from->full;
	if (into->full)
		return gt_err_set(err, -EOVERFLOW, "more than %zu groups", into->full);
	for (size_t i = 0; !rc && i < from->table.n; i++)
		rc = merge_group(into, from, i, err);
	return rc;
}

/* ---- figures ---- */

/* Can the numbers be negative? */
static bool is_signed(const struct gt_query_field *f, enum gt_query_id id)
{
	return f->level == GT_Q_OF_TRACK || id == GT_Q_RET || id == GT_Q_LAUNCH_TID;
}

struct gt_cell gt_query_key_cell(const struct gt_query_groups *g, size_t group, unsigned i)
{
	const uint64_t *key = gt_group_table_at(&g->table, group);
	enum gt_query_id id = g->q->uses[g->q->by[i]].id;
	const struct gt_query_field *f = gt_query_field(id);

	if (!(key[0] >> i & 1))
		return gt_cell_none();
	if (is_text(g->q, g->q->by[i]))
		return gt_cell_text(g->texts[key[1 + i]]);
	if (f->class == GT_Q_WORD)
		return gt_cell_text(gt_query_words(id)[key[1 + i]]);
	return is_signed(f, id) ? gt_cell_i((int64_t)key[1 + i]) : gt_cell_u(key[1 + i]);
}

int gt_query_compare_keys(const struct gt_query_groups *g, size_t a, size_t b)
{
	for (unsigned i = 0; i < g->q->nby; i++) {
		struct gt_cell x = gt_query_key_cell(g, a, i), y = gt_query_key_cell(g, b, i);
		int order = x.absent - y.absent;

		if (!order && !x.absent)
			order = x.s ? strcmp(x.s, y.s) : (x.i > y.i) - (x.i < y.i);
		if (order)
			return order;
	}
	return 0;
}

static struct gt_cell real(long double v) { return (struct gt_cell){ .d = (double)v }; }

static struct gt_cell clamped(__int128 v)
{
	return gt_cell_i(v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v);
}

static struct gt_cell quantile(const struct gt_query_sums *s, double q)
{
	if (s->coarse || !s->hist)
		return gt_cell_none();
	return gt_cell_i(gt_hist_quantile(s->hist, q, s->min.whole, s->max.whole));
}

static struct gt_cell real_deviation(const struct gt_query_sums *s, bool is_real)
{
	long double sum = is_real ? s->sum.real : (long double)s->sum.whole;
	long double squares = is_real ? s->squares.real : (long double)s->squares.whole,
		    n = (long double)s->n;
	long double all = squares - sum * sum / n;

	return s->n < 2 || s->overflow ? gt_cell_none() : real(all > 0 ? sqrtl(all / (n - 1)) : 0);
}

/* For integers. `decimals`: means are not rounded. */
static struct gt_cell whole_cell(
	const struct gt_query_sums *s, const struct gt_query_agg *agg, bool decimals)
{
	long double v;

	switch (agg->fn) {
	case GT_Q_FN_SUM: return clamped(s->sum.whole);
	case GT_Q_FN_MIN: return gt_cell_i(s->min.whole);
	case GT_Q_FN_MAX: return gt_cell_i(s->max.whole);
	case GT_Q_FN_MEAN:
		return decimals ? real((long double)s->sum.whole / (long double)s->n)
				: clamped(s->sum.whole / (__int128)s->n);
	case GT_Q_FN_QUANTILE: return quantile(s, agg->q);
	default: break;
	}
	if (decimals)
		return real_deviation(s, false);
	return gt_deviation(s->n, (unsigned __int128)s->sum.whole,
		       &(struct gt_squares){ s->squares.whole, s->overflow }, &v)
		? gt_cell_u((uint64_t)(v + 0.5L))
		: gt_cell_none();
}

static struct gt_cell real_cell(const struct gt_query_sums *s, const struct gt_query_agg *agg)
{
	switch (agg->fn) {
	case GT_Q_FN_SUM: return real(s->sum.real);
	case GT_Q_FN_MIN: return real(s->min.real);
	case GT_Q_FN_MAX: return real(s->max.real);
	case GT_Q_FN_MEAN: return real(s->sum.real / (long double)s->n);
	default: return real_deviation(s, true);
	}
}

struct gt_cell gt_query_agg_cell(const struct gt_query_groups *g, size_t group, unsigned i)
{
	const struct gt_query_agg *agg = &g->q->aggs[i];
	const struct gt_query_group *one = gt_query_group_of(g, group);
	unsigned f = 0;

	if (agg->fn == GT_Q_FN_COUNT)
		return gt_cell_u(one->count);
	if (agg->fn == GT_Q_FN_FIRST || agg->fn == GT_Q_FN_LAST)
		return one->count ? gt_cell_i(agg->fn == GT_Q_FN_FIRST ? one->first : one->last)
				  : gt_cell_none();
	if (agg->fn == GT_Q_FN_UNION)
		return gt_cell_known(one->ran, one->busy.ns);
	while (g->fields[f].use != agg->use ||
		g->fields[f].distinct != (agg->fn == GT_Q_FN_DISTINCT))
		f++;
	if (!gt_query_sums_of(g, group, f)->n)
		return gt_cell_none();
	if (g->fields[f].distinct)
		return gt_cell_known(!g->distinct.full, gt_query_sums_of(g, group, f)->values);
	if (g->fields[f].real)
		return real_cell(gt_query_sums_of(g, group, f), agg);
	return whole_cell(
		gt_query_sums_of(g, group, f), agg, g->q->columns[g->q->nby + i].kind == GT_C_REAL);
}

/* ---- life ---- */

static void add_sum(struct gt_query_groups *g, const struct gt_query_agg *agg)
{
	bool distinct = agg->fn == GT_Q_FN_DISTINCT;
	enum gt_query_class class;
	unsigned i = 0;

	if (agg->use == NO_FIELD || agg->fn == GT_Q_FN_UNION)
		return;
	while (i < g->nfields &&
		(g->fields[i].use != agg->use || g->fields[i].distinct != distinct))
		i++;
	class = gt_query_field(g->q->uses[agg->use].id)->class;
	g->nfields += i == g->nfields;
	g->fields[i].use = agg->use;
	g->fields[i].distinct = distinct;
	g->fields[i].real = class == GT_Q_REAL || class == GT_Q_ANY;
	g->fields[i].hist |= agg->fn == GT_Q_FN_QUANTILE;
	g->fields[i].squares |= agg->fn == GT_Q_FN_STDDEV;
}

int gt_query_groups_init(struct gt_query_groups *g, const struct gt_query *q,
	struct gt_query_rows *rows, struct gt_reader *r, struct gt_err *err)
{
	const uint64_t empty[1] = { 0 };

	*g = (struct gt_query_groups){
		.q = q, .rows = rows, .width = 1 + q->nby, .nsegs = gt_reader_segments(r)
	};
	g->of_string = calloc(g->nsegs + 1ul, sizeof(*g->of_string));
	if (!g->of_string)
		return gt_err_set(err, -ENOMEM, "out of memory (groups)");
	for (unsigned i = 0; i < q->naggs; i++)
		add_sum(g, &q->aggs[i]);
	gt_group_table_init(&g->table,
		GT_QUERY_ALIGNED(g->width * sizeof(uint64_t)) +
			GT_QUERY_ALIGNED(sizeof(struct gt_query_group)) +
			g->nfields * sizeof(struct gt_query_sums),
		g->width * sizeof(uint64_t), 0);
	g->table.most = (uint32_t)most_groups(g);
	for (unsigned i = 0; i < q->nby; i++) {
		enum gt_query_level level = gt_query_field(q->uses[q->by[i]].id)->level;
		struct gt_query_places *to = level == GT_Q_OF_ROW ? &g->by_row : &g->by_code;

		to->list[to->n++] = (uint8_t)i;
		g->of_tracks |= level == GT_Q_OF_TRACK;
	}
	/* all rows form one group, which exists without rows too */
	return !q->nby && find_group(g, empty, err) == GT_NONE ? err->code : 0;
}

void gt_query_groups_release(struct gt_query_groups *g)
{
	for (size_t i = 0; i < g->table.n; i++)
		for (unsigned f = 0; f < g->nfields; f++) {
			struct gt_query_sums *s = gt_query_sums_of(g, i, f);

			if (s->hist)
				gt_hist_release(s->hist);
			free(s->hist);
		}
	for (size_t i = 0; i < g->ntexts; i++)
		free(g->texts[i]);
	for (uint32_t i = 0; g->of_string && i < g->nsegs; i++)
		free(g->of_string[i]);
	free(g->of_string);
	free(g->texts);
	free(g->known);
	free(g->code_keys);
	gt_group_table_release(&g->table);
	gt_map_release(&g->text_map);
	gt_distinct_release(&g->distinct);
}
