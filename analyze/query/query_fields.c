/* The fields of queries, and the kinds of rows that a query needs. Kinds for which the
 * expression is always false are not even decoded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/gpu_time.h"
#include "analyze/query/query.h"
#include "formats/cmdline/did_you_mean.h"
#include "formats/base/buf.h"

#define X(e, w) #w,
static const char *const kind_words[] = { GT_QUERY_KINDS(X) NULL };
static const char *const category_words[] = { GT_CATEGORIES(X) NULL };
#undef X
static const char *const layer_words[] = { "api", "ioctl", "scheduler", "gpu", "user", "runtime",
	"overhead", "syscall", NULL };
static const char *const direction_words[] = { "unknown", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP",
	NULL };
_Static_assert(
	sizeof(layer_words) / sizeof(*layer_words) == GT_LAYER_COUNT + 1, "as gt_layer_word");

static const char *const *const words_of[GT_QUERY_FIELD_COUNT] = {
	[GT_Q_KIND] = kind_words,
	[GT_Q_CATEGORY] = category_words,
	[GT_Q_LAYER] = layer_words,
	[GT_Q_DIRECTION] = direction_words,
};

const struct gt_query_field *gt_query_field(enum gt_query_id id)
{
#define X(e, name, title, class, level, flags)                                                     \
	{ #name, title, GT_Q_##class, GT_Q_OF_##level, flags },
	static const struct gt_query_field fields[GT_QUERY_FIELD_COUNT] = { GT_QUERY_FIELDS(X) };
#undef X

	return &fields[id];
}

const char *const *gt_query_words(enum gt_query_id id) { return words_of[id]; }

/* ---- kinds ---- */

static enum gt_query_kind kind_of_span(const struct gt_type *type)
{
	if (type->layer == GT_LAYER_USER)
		return GT_Q_KIND_RANGE;
	if (type->layer == GT_LAYER_OVERHEAD)
		return GT_Q_KIND_OVERHEAD;
	return type->layer == GT_LAYER_GPU && type->category == GT_CAT_SYNC ? GT_Q_KIND_WAIT
									    : GT_Q_KIND_SPAN;
}

static enum gt_query_kind kind_of_work(const struct gt_type *type)
{
	static const enum gt_query_kind of[] = { [GT_GPU_KERNEL] = GT_Q_KIND_KERNEL,
		[GT_GPU_COPY] = GT_Q_KIND_COPY,
		[GT_GPU_SET] = GT_Q_KIND_SET,
		[GT_GPU_OTHER] = GT_Q_KIND_GRAPH };

	return of[gt_gpu_what(type)];
}

enum gt_query_kind gt_query_kind_of(enum gt_kind kind, const struct gt_type *type)
{
	switch (kind) {
	case GT_CALL:
		return !type || type->layer != GT_LAYER_IOCTL
			? type && type->layer == GT_LAYER_USER ? GT_Q_KIND_RANGE : GT_Q_KIND_CALL
			: GT_Q_KIND_IOCTL;
	case GT_OPEN: return GT_Q_KIND_OPEN;
	case GT_SPAN: return type ? kind_of_span(type) : GT_Q_KIND_SPAN;
	case GT_GPU: return kind_of_work(type);
	case GT_INSTANT: return GT_Q_KIND_INSTANT;
	case GT_COUNTER: return GT_Q_KIND_COUNTER;
	default: return GT_Q_KIND_LOST;
	}
}

static uint32_t kinds_of(unsigned kind)
{
	static const uint32_t of[GT_KINDS] = {
		[GT_CALL] =
			GT_BIT(GT_Q_KIND_CALL) | GT_BIT(GT_Q_KIND_IOCTL) | GT_BIT(GT_Q_KIND_RANGE),
		[GT_OPEN] = GT_BIT(GT_Q_KIND_OPEN),
		[GT_SPAN] = GT_BIT(GT_Q_KIND_RANGE) | GT_BIT(GT_Q_KIND_OVERHEAD) |
			GT_BIT(GT_Q_KIND_WAIT) | GT_BIT(GT_Q_KIND_SPAN),
		[GT_GPU] = GT_BIT(GT_Q_KIND_KERNEL) | GT_BIT(GT_Q_KIND_COPY) |
			GT_BIT(GT_Q_KIND_SET) | GT_BIT(GT_Q_KIND_GRAPH),
		[GT_INSTANT] = GT_BIT(GT_Q_KIND_INSTANT),
		[GT_COUNTER] = GT_BIT(GT_Q_KIND_COUNTER),
		/* begins and ends without a partner (GT_UNMATCHED) are in no report */
		[GT_LOST] = GT_BIT(GT_Q_KIND_LOST),
	};

	return of[kind];
}

/* The possible results of an expression for a row of this kind: bit 0 false, bit 1 true. */
static unsigned possible_results(const struct gt_query *q, unsigned node, enum gt_query_kind kind)
{
	static const unsigned swapped[] = { 0, 2, 1, 3 };
	const struct gt_query_node *n = &q->nodes[node];
	unsigned a, b;

	if (n->op == GT_Q_TEST)
		return q->uses[n->use].id == GT_Q_KIND && n->test == GT_Q_WORDS
			? 1u << (n->words >> kind & 1)
			: 3;
	a = possible_results(q, n->left, kind);
	if (n->op == GT_Q_NOT)
		return swapped[a];
	b = possible_results(q, n->right, kind);
	return n->op == GT_Q_AND ? ((a | b) & 1) | (a & b & 2) : (a & b & 1) | ((a | b) & 2);
}

uint32_t gt_query_kinds(const struct gt_query *q)
{
	uint32_t kinds = 0;

	for (unsigned k = 0; k < GT_Q_KINDS; k++)
		if (!q->where || possible_results(q, q->root, (enum gt_query_kind)k) & 2)
			kinds |= GT_BIT(k);
	return kinds;
}

void gt_query_configure(const struct gt_query *q, struct gt_analysis *report)
{
	report->wants = 0;
	for (unsigned kind = GT_CALL; kind < GT_KINDS; kind++)
		if (kinds_of(kind) & gt_query_kinds(q))
			report->wants |= GT_BIT(kind);
	report->wants_args = false;
	for (unsigned i = 0; i < q->nuses; i++)
		report->wants_args |= gt_query_field(q->uses[i].id)->flags & GT_Q_ARGS;
	for (unsigned i = 0; i < q->naggs; i++) {
		if (q->aggs[i].fn == GT_Q_FN_UNION)
			report->order = GT_BY_TIME;
		if (q->aggs[i].fn == GT_Q_FN_UNION || q->aggs[i].fn == GT_Q_FN_DISTINCT)
			/* each thread would need its own set, and the limit would depend on the
			 * number of threads */
			report->splits = 0;
	}
}

/* ---- by name ---- */

static int unknown_field(const char *name, unsigned column, struct gt_err *err)
{
#define X(e, word, title, class, level, flags) #word,
	static const char *const all[] = { GT_QUERY_FIELDS(X) NULL };
#undef X
	const char *meant = gt_nearest_of(name, all);

	if (meant)
		return gt_err_at(err, column, -EINVAL,
			"there is no field '%.40s'; did you mean '%s'?", name, meant);
	return gt_err_at(err, column, -EINVAL,
		"there is no field '%.40s'; the fields are kind name dur bytes stream tid ..., "
		"see Queries in gtanalyze(1)",
		name);
}

static int find_field(const char *name)
{
	for (unsigned i = 0; i < GT_QUERY_FIELD_COUNT; i++)
		if (i != GT_Q_ARG && !strcmp(gt_query_field((enum gt_query_id)i)->name, name))
			return (int)i;
	return !strncmp(name, "arg.", 4) && name[4] ? GT_Q_ARG : -1;
}

static int add_use(struct gt_query *q, enum gt_query_id id, const char *arg, unsigned column,
	struct gt_err *err)
{
	char *copy = NULL;

	for (unsigned i = 0; i < q->nuses; i++)
		if (q->uses[i].id == id && (!arg || !strcmp(q->uses[i].arg, arg)))
			return (int)i;
	if (q->nuses == GT_QUERY_USES)
		return gt_err_at(
			err, column, -EINVAL, "more than %u different fields", GT_QUERY_USES);
	if (arg && !(copy = strdup(arg)))
		return gt_err_set(err, -ENOMEM, "out of memory (query)");
	q->uses[q->nuses] = (struct gt_query_use){ id, copy };
	return (int)q->nuses++;
}

int gt_query_use(
	struct gt_query *q, const char *name, size_t len, unsigned column, struct gt_err *err)
{
	char word[100];
	int id;

	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word)), name);
	id = len < sizeof(word) ? find_field(word) : -1;
	if (id < 0)
		return unknown_field(word, column, err);
	return add_use(q, (enum gt_query_id)id, id == GT_Q_ARG ? word + 4 : NULL, column, err);
}
