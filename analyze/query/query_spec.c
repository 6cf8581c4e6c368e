#define _GNU_SOURCE /* asprintf */
/* Parses --by, --agg and --order-by, and makes the columns of the table. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/query/query.h"
#include "formats/cmdline/did_you_mean.h"
#include "formats/base/buf.h"

#define NO_USE 255

/* ---- lists ---- */

struct part {
	const char *s;
	unsigned column, len;
}; /* of a comma-separated list, without
    * surrounding blanks */

/* The part that begins at *at; *at moves behind the comma. Commas within parentheses do not
 * separate. */
static struct part next_part(const char *list, unsigned *at)
{
	struct part part;
	unsigned end = *at;

	for (unsigned open = 0; list[end] && (list[end] != ',' || open); end++)
		open += list[end] == '(' ? 1 : list[end] == ')' && open ? -1u : 0;
	part.column = *at;
	while (part.column < end && isspace((unsigned char)list[part.column]))
		part.column++;
	*at = end + !!list[end];
	while (end > part.column && isspace((unsigned char)list[end - 1]))
		end--;
	part.s = list + part.column;
	part.len = end - part.column;
	return part;
}

static int read_by(struct gt_query *q, const char *by, struct gt_err *err)
{
	for (unsigned at = 0; by[at] || !at;) {
		struct part part = next_part(by, &at);
		int use = part.len ? gt_query_use(q, part.s, part.len, part.column, err)
				   : gt_err_at(err, part.column, -EINVAL, "expected a field");

		if (use < 0)
			return use;
		if (!(gt_query_field(q->uses[use].id)->flags & GT_Q_BY))
			return gt_err_at(err, part.column, -EINVAL,
				"%s has too many values to group by",
				gt_query_field(q->uses[use].id)->name);
		if (q->nby == GT_QUERY_BY)
			return gt_err_at(err, part.column, -EINVAL,
				"more than %u fields to group by", GT_QUERY_BY);
		for (unsigned i = 0; i < q->nby; i++)
			if (q->by[i] == use)
				return gt_err_at(
					err, part.column, -EINVAL, "this field occurs twice");
		q->by[q->nby++] = (uint8_t)use;
		if (!by[at])
			break;
	}
	return 0;
}

/* ---- aggregates ---- */

static const char *const functions[] = { "count", "sum", "min", "max", "mean", "stddev", "p50",
	"union", "first", "last", "distinct", NULL };

/* Parses p50 or p99.9 as a quantile. */
static bool is_quantile(const char *name, double *q)
{
	char *end;

	if (name[0] != 'p' || !isdigit((unsigned char)name[1]))
		return false;
	*q = strtod(name + 1, &end) / 100;
	return !*end && *q >= 0 && *q <= 1;
}

static int read_function(
	const char *name, unsigned column, struct gt_query_agg *agg, struct gt_err *err)
{
	const char *meant = gt_nearest_of(name, functions);

	if (is_quantile(name, &agg->q)) {
		agg->fn = GT_Q_FN_QUANTILE;
		return 0;
	}
	for (unsigned i = 0; functions[i]; i++)
		if (!strcmp(functions[i], name)) {
			agg->fn = (enum gt_query_fn)i;
			return 0;
		}
	if (meant)
		return gt_err_at(err, column, -EINVAL,
			"unknown function '%.30s'; did you mean '%s'?", name, meant);
	return gt_err_at(err, column, -EINVAL,
		"unknown function '%.30s'; use count sum min max mean stddev p50 (any pNN) union first last distinct",
		name);
}

/* Does the function support that field? */
static int check_field(const struct gt_query *q, const struct gt_query_agg *agg, unsigned column,
	struct gt_err *err)
{
	const struct gt_query_field *f = gt_query_field(q->uses[agg->use].id);

	if (agg->fn == GT_Q_FN_DISTINCT)
		return 0; /* any field */
	if (agg->fn == GT_Q_FN_UNION && q->uses[agg->use].id != GT_Q_DUR)
		return gt_err_at(err, column, -EINVAL,
			"union takes dur only: the time in which at least one row was running");
	if (agg->fn == GT_Q_FN_QUANTILE && !(f->flags & GT_Q_HIST))
		return gt_err_at(err, column, -EINVAL,
			"quantiles are of dur queue launch_dur bytes grid block registers shared depth");
	if (!(f->flags & GT_Q_SUM))
		return gt_err_at(err, column, -EINVAL,
			"%s is not a quantity: dur queue launch_dur bytes grid block registers shared depth failed "
			"value arg.NAME are",
			f->name);
	return 0;
}

/* Parses FUNCTION(FIELD), or count, first, last. */
static int read_agg(
	struct gt_query *q, const struct part *part, struct gt_query_agg *agg, struct gt_err *err)
{
	unsigned n = 0, from, to = part->len;
	char name[40];
	int rc;

	*agg = (struct gt_query_agg){ .use = NO_USE };
	while (n < part->len && part->s[n] != '(')
		n++;
	from = n + 1;
	for (rc = (int)n; rc && isspace((unsigned char)part->s[rc - 1]); rc--)
		;
	snprintf(name, sizeof(name), "%.*s", rc, part->s);
	rc = read_function(name, part->column, agg, err);
	if (rc)
		return rc;
	if (agg->fn == GT_Q_FN_COUNT || agg->fn == GT_Q_FN_FIRST || agg->fn == GT_Q_FN_LAST)
		return n == part->len
			? 0
			: gt_err_at(err, part->column + n, -EINVAL, "%s takes no field", name);
	if (n == part->len || part->s[part->len - 1] != ')')
		return gt_err_at(err, part->column + part->len, -EINVAL,
			n == part->len ? "%s takes a field, such as %s(dur)" : "expected )", name,
			name);
	for (to--; to > from && isspace((unsigned char)part->s[to - 1]); to--)
		;
	while (from < to && isspace((unsigned char)part->s[from]))
		from++;
	rc = gt_query_use(q, part->s + from, to - from, part->column + from, err);
	if (rc < 0)
		return rc;
	agg->use = (uint8_t)rc;
	return check_field(q, agg, part->column + from, err);
}

static bool same_agg(const struct gt_query_agg *a, const struct gt_query_agg *b)
{
	return a->fn == b->fn && a->use == b->use && a->q == b->q;
}

/* The aggregate as text: "p99(dur)". The caller frees it. */
static char *agg_text(const struct gt_query *q, const struct gt_query_agg *agg)
{
	const struct gt_query_use *use = agg->use == NO_USE ? NULL : &q->uses[agg->use];
	char name[32], *text = NULL;

	snprintf(name, sizeof(name), "%s", functions[agg->fn]);
	if (agg->fn == GT_Q_FN_QUANTILE)
		snprintf(name, sizeof(name), "p%.6g", agg->q * 100);
	if (!use)
		return strdup(name);
	if (asprintf(&text, "%s(%s%s)", name, use->arg ? "arg." : gt_query_field(use->id)->name,
		    use->arg ? use->arg : "") < 0)
		return NULL;
	return text;
}

static int read_aggs(struct gt_query *q, const char *aggs, struct gt_err *err)
{
	for (unsigned at = 0; aggs[at] || !at;) {
		struct part part = next_part(aggs, &at);
		struct gt_query_agg agg;
		int rc = read_agg(q, &part, &agg, err);

		for (unsigned i = 0; !rc && i < q->naggs; i++)
			if (same_agg(&q->aggs[i], &agg))
				rc = gt_err_at(
					err, part.column, -EINVAL, "this aggregate occurs twice");
		if (!rc && q->naggs == GT_QUERY_AGGS)
			rc = gt_err_at(err, part.column, -EINVAL, "more than %u aggregates",
				GT_QUERY_AGGS);
		if (!rc && !(agg.text = agg_text(q, &agg)))
			rc = gt_err_set(err, -ENOMEM, "out of memory (query)");
		if (rc)
			return rc;
		q->aggs[q->naggs++] = agg;
		if (!aggs[at])
			break;
	}
	return 0;
}

/* Rows are sorted by the sum of their durations by default, as in other reports, or else by the
 * first aggregate. */
static int read_order(struct gt_query *q, const char *order, struct gt_err *err)
{
	struct gt_query_agg want;
	unsigned at = 0;
	struct part part;
	int rc;

	for (unsigned i = q->naggs; !order && i-- > 0;)
		if (q->aggs[i].fn == GT_Q_FN_SUM && q->uses[q->aggs[i].use].id == GT_Q_DUR)
			q->order = i;
	if (!order)
		return 0;
	part = next_part(order, &at);
	rc = read_agg(q, &part, &want, err);
	for (unsigned i = 0; !rc && i < q->naggs; i++)
		if (same_agg(&q->aggs[i], &want)) {
			q->order = i;
			return order[at]
				? gt_err_at(err, at, -EINVAL, "rows are sorted by one aggregate")
				: 0;
		}
	return rc ? rc
		  : gt_err_at(err, part.column, -EINVAL,
			    "rows are sorted by one of the aggregates of --agg");
}

/* ---- columns ---- */

static enum gt_cell_kind cell_kind(enum gt_query_class class)
{
	static const enum gt_cell_kind kinds[] = {
		[GT_Q_TIME] = GT_C_NS,
		[GT_Q_MOMENT] = GT_C_TIME,
		[GT_Q_BYTES] = GT_C_BYTES,
		[GT_Q_COUNT] = GT_C_COUNT,
		[GT_Q_REAL] = GT_C_REAL,
		[GT_Q_TEXT] = GT_C_TEXT,
		[GT_Q_WORD] = GT_C_TEXT,
		[GT_Q_YES] = GT_C_COUNT,
		[GT_Q_ANY] = GT_C_TEXT,
	};

	return kinds[class];
}

static enum gt_cell_kind cell_of_agg(const struct gt_query *q, const struct gt_query_agg *agg)
{
	enum gt_cell_kind kind = agg->use == NO_USE
		? GT_C_COUNT
		: cell_kind(gt_query_field(q->uses[agg->use].id)->class);

	if (agg->fn == GT_Q_FN_FIRST || agg->fn == GT_Q_FN_LAST)
		return GT_C_TIME;
	if (agg->fn == GT_Q_FN_DISTINCT)
		return GT_C_COUNT;
	if (kind == GT_C_TEXT ||
		(kind == GT_C_COUNT && (agg->fn == GT_Q_FN_MEAN || agg->fn == GT_Q_FN_STDDEV)))
		return GT_C_REAL; /* a mean of registers has decimals, one of ns does not */
	return kind;
}

/* "p99_dur_ns", "sum_bytes", "distinct_dur", "count": the key contains the unit, for programs.
 * The caller frees it. */
static char *key_of_agg(const struct gt_query *q, const struct gt_query_agg *agg)
{
	enum gt_cell_kind kind = cell_of_agg(q, agg);
	const char *unit = kind == GT_C_NS || kind == GT_C_TIME ? "_ns"
		: kind == GT_C_BYTES                            ? "_bytes"
								: "";
	size_t n = strcspn(agg->text, "("), len = strlen(agg->text);
	char *key = NULL;

	if (n == len)
		return asprintf(&key, "%s%s", agg->text, unit) < 0 ? NULL : key;
	if (agg->use != NO_USE && q->uses[agg->use].id == GT_Q_SIZE && agg->fn == GT_Q_FN_DISTINCT)
		return strdup("distinct_sizes"); /* a number of sizes is not a size */
	if (agg->use != NO_USE && q->uses[agg->use].id == GT_Q_SIZE)
		unit = ""; /* the field's name is the unit */
	return asprintf(&key, "%.*s_%.*s%s", (int)n, agg->text, (int)(len - n - 2),
		       agg->text + n + 1, unit) < 0
		? NULL
		: key;
}

/* The groups of a histogram are called names, in whatever form. */
static char *key_of_use(const struct gt_query *q, const struct gt_query_use *use)
{
	char *key = NULL;

	if (!use->arg)
		return strdup(q->hist && q->nby == 1 && use->id == GT_Q_GROUPNAME
				? gt_query_field(GT_Q_NAME)->name
				: gt_query_field(use->id)->name);
	return asprintf(&key, "arg.%s", use->arg) < 0 ? NULL : key;
}

/* On a narrow terminal aggregates are left out, the last one first; not the one that rows are
 * sorted by. */
static void list_hideable_keys(struct gt_query *q, struct gt_buf *b)
{
	for (unsigned i = q->naggs; i-- > 0;)
		if (i != q->order)
			gt_buf_printf(b, "%s%s", b->len ? " " : "", q->keys[q->nby + i]);
	gt_buf_byte(b, 0);
}

static bool columns_by(struct gt_query *q)
{
	bool failed = false;

	for (unsigned i = 0; i < q->nby; i++) {
		const struct gt_query_use *use = &q->uses[q->by[i]];
		const struct gt_query_field *f = gt_query_field(use->id);

		q->keys[i] = key_of_use(q, use);
		q->columns[i] = (struct gt_column){ q->keys[i], use->arg ? use->arg : f->title,
			cell_kind(f->class) };
		failed |= !q->keys[i];
	}
	return failed;
}

static bool columns_of_aggs(struct gt_query *q)
{
	bool failed = false;

	for (unsigned i = 0; i < q->naggs; i++) {
		q->keys[q->nby + i] = key_of_agg(q, &q->aggs[i]);
		q->columns[q->nby + i] = (struct gt_column){ q->keys[q->nby + i], q->aggs[i].text,
			cell_of_agg(q, &q->aggs[i]) };
		failed |= !q->keys[q->nby + i];
	}
	return failed;
}

/* Columns of a range of values and the number of values. */
static void columns_of_hist(struct gt_query *q)
{
	enum gt_cell_kind kind =
		cell_kind(gt_query_field(q->uses[q->aggs[q->naggs - 1].use].id)->class);
	const char *from = kind == GT_C_NS ? "from_ns" : kind == GT_C_BYTES ? "from_bytes" : "from";
	const char *to = kind == GT_C_NS ? "to_ns" : kind == GT_C_BYTES ? "to_bytes" : "to";
	const struct gt_column columns[] = { { from, "From", kind }, { to, "Below", kind },
		{ "count", "Count", GT_C_COUNT }, { "share_percent", "Share %", GT_C_PERCENT } };

	memcpy(q->columns + q->nby, columns, sizeof(columns));
}

static int make_columns(struct gt_query *q, struct gt_err *err)
{
	struct gt_buf b = { 0 };
	bool failed = columns_by(q) | (!q->hist && columns_of_aggs(q));

	if (q->hist)
		columns_of_hist(q);
	else if (!failed)
		list_hideable_keys(q, &b);
	q->hideable_keys = (char *)b.data;
	return failed || b.failed ? gt_err_set(err, -ENOMEM, "out of memory (query)") : 0;
}

/* "Rows where kind==kernel, by name, stream", on one line. `what` replaces "Rows". */
static int make_title(struct gt_query *q, const char *what, bool where, struct gt_err *err)
{
	struct gt_buf b = { 0 };

	gt_buf_printf(&b, "%s%s%s",
		what            ? what
			: where ? "Rows"
				: "All rows",
		where ? " where " : "", where ? q->where : "");
	for (unsigned i = 0; i < q->nby; i++)
		gt_buf_printf(&b, "%s%s", i ? ", " : where ? ", by " : " by ", q->keys[i]);
	for (size_t i = 0; i < b.len; i++)
		if (b.data[i] < 0x20 || b.data[i] == 0x7f)
			b.data[i] = ' ';
	gt_buf_byte(&b, 0);
	q->title = (char *)b.data;
	return b.failed ? gt_err_set(err, -ENOMEM, "out of memory (query)") : 0;
}

/* ---- all of it ---- */

void gt_query_free(struct gt_query *q)
{
	if (!q)
		return;
	for (unsigned i = 0; i < q->nnodes; i++)
		gt_query_release_node(&q->nodes[i]);
	for (unsigned i = 0; i < q->nuses; i++)
		free(q->uses[i].arg);
	for (unsigned i = 0; i < q->naggs; i++)
		free(q->aggs[i].text);
	for (unsigned i = 0; i < q->nby + q->naggs; i++)
		free(q->keys[i]);
	free(q->hideable_keys);
	free(q->title);
	free(q->where);
	free(q);
}

typedef int read_fn(struct gt_query *q, const char *text, struct gt_err *err);
struct spec {
	const char *option, *text;
	read_fn *read;
};

/* Parses the options in their order. The caller frees the result. */
static struct gt_query *read_all(const struct spec *specs, unsigned n, const char **option,
	const char **wrong, struct gt_err *err)
{
	struct gt_query *q = calloc(1, sizeof(*q));
	int rc = q ? 0 : gt_err_set(err, -ENOMEM, "out of memory (query)");

	for (unsigned i = 0; !rc && i < n; i++) {
		*option = specs[i].option;
		*wrong = specs[i].text;
		if (specs[i].text || specs[i].read == read_order)
			rc = specs[i].read(q, specs[i].text, err);
	}
	if (!rc)
		return q;
	gt_query_free(q);
	return NULL;
}

static int read_where(struct gt_query *q, const char *where, struct gt_err *err)
{
	q->where = strdup(where);
	return q->where ? gt_query_where(q, where, err)
			: gt_err_set(err, -ENOMEM, "out of memory (query)");
}

static int read_of(struct gt_query *q, const char *of, struct gt_err *err)
{
	int use = gt_query_use(q, of, strlen(of), 0, err);
	char aggs[200];

	if (use < 0)
		return use;
	if (!(gt_query_field(q->uses[use].id)->flags & GT_Q_HIST))
		return gt_err_at(err, 0, -EINVAL,
			"histograms are of dur queue launch_dur bytes grid block registers shared depth, and of gap");
	snprintf(aggs, sizeof(aggs), "sum(%s),p50(%s)", of, of);
	q->hist = true;
	return read_aggs(q, aggs, err);
}

/* Makes columns and title. Returns q, or NULL. */
static struct gt_query *complete(
	struct gt_query *q, const char *what, bool where, struct gt_err *err)
{
	if (q && !make_columns(q, err) && !make_title(q, what, where, err))
		return q;
	gt_query_free(q);
	return NULL;
}

struct gt_query *gt_query_new(const char *where, const char *by, const char *agg,
	const char *order_by, const char **option, const char **wrong, struct gt_err *err)
{
	const struct spec specs[] = { { "--where", where, read_where }, { "--by", by, read_by },
		{ "--agg", agg ? agg : "count,sum(dur)", read_aggs },
		{ "--order-by", order_by, read_order } };

	return complete(read_all(specs, 4, option, wrong, err), NULL, where != NULL, err);
}

struct gt_query *gt_query_new_hist(const char *where, const char *by, const char *of,
	const char **option, const char **wrong, struct gt_err *err)
{
	const struct spec specs[] = {
		{ "--where", where ? where : "kind!~/open|lost|instant|counter/", read_where },
		{ "--by", by ? by : "name", read_by }, { "--of", of ? of : "dur", read_of }
	};
	char what[80];

	snprintf(what, sizeof(what), "Histogram of %.50s", of ? of : "dur");
	return complete(read_all(specs, 3, option, wrong, err), what, where != NULL, err);
}
