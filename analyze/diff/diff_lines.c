#include "analyze/diff/diff_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

enum what { IDLE, HOST, KERNELS };
static const char *const what_words[] = { "GPU idle", "host time", "kernels" };

/* A line of one file. name: borrowed from its table. */
struct line {
	enum what what;
	unsigned side; /* 0: A */
	const char *name;
	size_t len;              /* of the name without ":LINE)" */
	long number;             /* 0: the name has none */
	double ns;               /* of a recording, or per step */
	double error;            /* ns: standard error; < 0: unknown */
	struct gt_sample sample; /* of kernels */
};
struct pair {
	const struct line *a, *b; /* one of them may be NULL */
	enum gt_verdict verdict;
};
struct lines {
	struct line *list;
	size_t n, cap;
	struct pair *pairs;
	size_t npairs, pairs_cap;
};

/* ---- reading the tables ---- */

/* The length of "step (app/train.py" in "step (app/train.py:88)", and its line. */
static void split_name(struct line *l)
{
	const char *colon = strrchr(l->name, ':');
	char *end = NULL;
	long number = colon && colon[1] >= '0' && colon[1] <= '9' ? strtol(colon + 1, &end, 10) : 0;

	l->len = number && !strcmp(end, ")") ? (size_t)(colon - l->name) : strlen(l->name);
	l->number = l->name[l->len] ? number : 0;
}

static int add_line(struct lines *l, struct line one, struct gt_err *err)
{
	if (*one.name == '(' || (one.ns <= 0 && !one.sample.count))
		return 0;
	split_name(&one);
	if (gt_grow(&l->list, &l->cap, l->n + 1, sizeof(*l->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (comparison of lines)");
	l->list[l->n++] = one;
	return 0;
}

static const struct gt_cell *cell(const struct gt_table *t, unsigned row, const char *key)
{
	return gt_table_cell(t, row, (unsigned)gt_table_column(t, key));
}

/* Half a 95 % interval is 1.96 standard errors. */
static int add_host(
	struct lines *l, const struct gt_side *s, unsigned side, double steps, struct gt_err *err)
{
	const struct gt_table *t = gt_side_table(s, "host");
	int rc = 0;

	for (unsigned i = 0; t && !rc && i < gt_table_rows(t); i++) {
		const struct gt_cell *error = cell(t, i, "error_ns");
		double host = (double)cell(t, i, "host_ns")->i,
		       samples = (double)cell(t, i, "host_samples")->i;
		struct line one = { .what = IDLE,
			.side = side,
			.name = cell(t, i, "caller")->s,
			.ns = (double)cell(t, i, "idle_ns")->i / steps,
			.error = error->absent ? -1 : (double)error->i / 1.96 / steps };

		rc = add_line(l, one, err);
		one.what = HOST;
		one.ns = host / steps;
		one.error = samples > 0 ? host / sqrt(samples) / steps : -1;
		if (!rc)
			rc = add_line(l, one, err);
	}
	return rc;
}

static int add_kernels(struct lines *l, const struct gt_side *s, unsigned side, struct gt_err *err)
{
	const struct gt_table *t = gt_side_table(s, "kernel_lines");
	int rc = 0;

	for (unsigned i = 0; t && !rc && i < gt_table_rows(t); i++) {
		const struct gt_cell *deviation = cell(t, i, "stddev_ns");
		double total = (double)cell(t, i, "total_ns")->i;
		struct line one = { .what = KERNELS,
			.side = side,
			.name = cell(t, i, "caller")->s,
			.ns = total,
			.error = -1,
			.sample = { .count = (uint64_t)cell(t, i, "count")->i,
				.scatters = !deviation->absent,
				.deviation = deviation->absent ? 0 : deviation->d } };

		one.sample.mean = total / (double)one.sample.count;
		rc = add_line(l, one, err);
	}
	return rc;
}

/* ---- pairs ---- */

static int compare_functions(const struct line *a, const struct line *b)
{
	size_t n = a->len < b->len ? a->len : b->len;

	return GT_COMPARE(a->what, b->what) ?:
		memcmp(a->name, b->name, n) ?:
		GT_COMPARE(a->len, b->len);
}

static int by_function(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return compare_functions(a, b) ?:
		GT_COMPARE(a->side, b->side) ?:
		GT_COMPARE(a->number, b->number);
}

static const struct line *find_number(const struct line *list, size_t n, long number)
{
	size_t at = GT_LOWER_BOUND(i, 0, n, list[i].number < number);

	return at < n && list[at].number == number ? &list[at] : NULL;
}

/* The time that a shift of the lines pairs. */
static double paired_ns(
	const struct line *a, size_t na, const struct line *b, size_t nb, long shift)
{
	double sum = 0;

	for (size_t i = 0; i < na; i++) {
		const struct line *other = find_number(b, nb, a[i].number + shift);

		sum += other ? fmin(a[i].ns, other->ns) : 0;
	}
	return sum;
}

#define SHIFTS 64u /* lines of a function in each file whose shifts are tried */

static long find_shift(const struct line *a, size_t na, const struct line *b, size_t nb)
{
	double most = paired_ns(a, na, b, nb, 0);
	long best = 0;

	for (size_t i = 0; i < na && i < SHIFTS; i++)
		for (size_t k = 0; k < nb && k < SHIFTS; k++) {
			long shift = b[k].number - a[i].number;
			double ns = paired_ns(a, na, b, nb, shift);

			if (ns > most) {
				most = ns;
				best = shift;
			}
		}
	return best;
}

static int add_pair(struct lines *l, const struct line *a, const struct line *b, struct gt_err *err)
{
	if (gt_grow(&l->pairs, &l->pairs_cap, l->npairs + 1, sizeof(*l->pairs)))
		return gt_err_set(err, -ENOMEM, "out of memory (comparison of lines)");
	l->pairs[l->npairs++] = (struct pair){ a, b, GT_VERDICT_SAME };
	return 0;
}

/* Pairs the lines of one function: `na` of A, then `nb` of B. */
static int pair_function(
	struct lines *l, const struct line *a, size_t na, size_t nb, struct gt_err *err)
{
	const struct line *b = a + na;
	long shift = find_shift(a, na, b, nb);
	int rc = 0;

	for (size_t i = 0; !rc && i < na; i++)
		rc = add_pair(l, &a[i], find_number(b, nb, a[i].number + shift), err);
	for (size_t i = 0; !rc && i < nb; i++)
		if (!find_number(a, na, b[i].number - shift))
			rc = add_pair(l, NULL, &b[i], err);
	return rc;
}

static int pair_lines(struct lines *l, struct gt_err *err)
{
	int rc = 0;

	GT_SORT(l->list, l->n, by_function);
	for (size_t i = 0, n; !rc && i < l->n; i += n) {
		size_t na = 0;

		for (n = 0; i + n < l->n && !compare_functions(&l->list[i], &l->list[i + n]); n++)
			na += !l->list[i + n].side;
		rc = pair_function(l, &l->list[i], na, n - na, err);
	}
	return rc;
}

/* ---- verdicts ---- */

static double ns_of(const struct line *l) { return l ? l->ns : 0; }

/* 3 standard errors; < 0: unknown. */
static double noise_of(const struct pair *p)
{
	double a = p->a ? p->a->error : -1, b = p->b ? p->b->error : -1;

	if (p->a && p->b && p->a->what == KERNELS)
		return gt_diff_noise(&p->a->sample, &p->b->sample);
	return a < 0 && b < 0 ? -1 : 3 * hypot(fmax(a, 0), fmax(b, 0));
}

static enum gt_verdict verdict_of(const struct pair *p)
{
	double difference = fabs(ns_of(p->b) - ns_of(p->a)), noise = noise_of(p);

	if (p->a && p->b && p->a->what == KERNELS)
		return gt_diff_verdict(&p->a->sample, &p->b->sample);
	if (noise >= 0 && difference <= noise)
		return p->a && p->b && difference <= GT_DIFF_FLOOR * p->a->ns ? GT_VERDICT_SAME
									      : GT_VERDICT_NOISE;
	if (!p->a || !p->b)
		return p->a ? GT_VERDICT_GONE : GT_VERDICT_ADDED;
	if (difference <= GT_DIFF_FLOOR * p->a->ns)
		return GT_VERDICT_SAME;
	return p->b->ns > p->a->ns ? GT_VERDICT_SLOWER : GT_VERDICT_FASTER;
}

static int by_difference(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;
	const struct line *x = a->b ? a->b : a->a, *y = b->b ? b->b : b->a;
	double da = fabs(ns_of(a->b) - ns_of(a->a)), db = fabs(ns_of(b->b) - ns_of(b->a));

	return GT_COMPARE(a->verdict == GT_VERDICT_SAME, b->verdict == GT_VERDICT_SAME) ?:
		GT_COMPARE(x->what, y->what) ?:
		GT_COMPARE(db, da) ?:
		strcmp(x->name, y->name);
}

/* ---- the table ---- */

static const struct gt_column columns[] = {
	{ "what", "Figure", GT_C_TEXT },
	{ "caller", "Line", GT_C_TEXT },
	{ "verdict", "Verdict", GT_C_WHOLE },
	{ "change_ns", "Change", GT_C_NS },
	{ "noise_ns", "Noise", GT_C_NS },
	{ "a_ns", "A", GT_C_NS },
	{ "b_ns", "B", GT_C_NS },
	{ "a_count", "Count A", GT_C_COUNT },
	{ "b_count", "Count B", GT_C_COUNT },
	{ "a_line", "Line in A", GT_C_COUNT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

/* Of kernels the mean. */
static struct gt_cell figure(const struct line *l)
{
	if (!l)
		return gt_cell_none();
	return gt_cell_i(llround(l->what == KERNELS ? l->sample.mean : l->ns));
}

static struct gt_cell count_of(const struct line *l)
{
	return l && l->what == KERNELS ? gt_cell_u(l->sample.count) : gt_cell_none();
}

static void add_row(struct gt_table *t, const struct pair *p)
{
	const struct line *l = p->b ? p->b : p->a;
	double noise = noise_of(p);
	bool moved = p->a && p->b && p->a->number != p->b->number;
	struct gt_cell change = gt_cell_i(llround(ns_of(p->b) - ns_of(p->a)));

	change.change = true;
	gt_table_add(t,
		(struct gt_cell[NCOLUMNS]){ gt_cell_text(what_words[l->what]),
			gt_cell_text(l->name), gt_diff_verdict_cell(p->verdict), change,
			noise >= 0 ? gt_cell_i(llround(noise)) : gt_cell_none(), figure(p->a),
			figure(p->b), count_of(p->a), count_of(p->b),
			gt_cell_known(moved, moved ? (uint64_t)p->a->number : 0) });
}

static void add_rows(struct gt_table *t, struct lines *l, unsigned top, bool per_step)
{
	size_t same = 0, n, shown;

	for (size_t i = 0; i < l->npairs; i++) {
		l->pairs[i].verdict = verdict_of(&l->pairs[i]);
		same += l->pairs[i].verdict == GT_VERDICT_SAME;
	}
	GT_SORT(l->pairs, l->npairs, by_difference);
	n = top ? l->npairs - same : l->npairs;
	shown = gt_rows_shown(n, top);
	for (size_t i = 0; i < shown; i++)
		add_row(t, &l->pairs[i]);
	gt_table_set_hideable(t, "a_line a_count b_count noise_ns a_ns b_ns");
	gt_table_note(t,
		"GPU idle: caused by the line; host time: of all its samples%s; kernels: A and B are means, Change is of the sum",
		per_step ? ", both a step" : "");
	gt_table_note(t,
		"noise: 3 standard errors, of samples or of the mean; without it the figure is exact");
	gt_table_note_cut(t, n, shown);
}

/* The number of steady steps, if the file has one loop; else 0. */
static double steps_of(const struct gt_side *s)
{
	const struct gt_table *t = s->steady ? gt_side_table(s, "steady") : NULL;

	return t && gt_table_rows(t) == 1 && !cell(t, 0, "steady")->absent
		? (double)cell(t, 0, "steady")->i
		: 0;
}

int gt_diff_lines(const struct gt_side *a, const struct gt_side *b, unsigned top,
	struct gt_table **table, struct gt_err *err)
{
	const struct gt_side *const sides[2] = { a, b };
	bool per_step = steps_of(a) > 0 && steps_of(b) > 0;
	struct lines l = { .n = 0 };
	int rc = 0;

	*table = NULL;
	for (unsigned i = 0; !rc && i < 2; i++) {
		rc = add_host(&l, sides[i], i, per_step ? steps_of(sides[i]) : 1, err);
		if (!rc)
			rc = add_kernels(&l, sides[i], i, err);
	}
	if (!rc)
		rc = pair_lines(&l, err);
	if (!rc && l.npairs) {
		*table = gt_table_new(
			"lines", "By line of the program, largest change first", columns, NCOLUMNS);
		rc = *table ? 0 : gt_err_set(err, -ENOMEM, "out of memory (comparison of lines)");
	}
	if (*table)
		add_rows(*table, &l, top, per_step);
	free(l.list);
	free(l.pairs);
	return rc;
}
