/* Evaluates an expression for the rows of a chunk.
 *
 * A mask has a byte per row of the chunk: 1 if the row may still match. A test clears the rows
 * for which it is false. The right side of && gets the rows that its left side left, the right
 * side of
 * those that its left side cleared. So a row meets exactly the tests that it would meet if it
 * were evaluated alone from left to right, and "has no such field" is counted for those tests
 * only.
 *
 * Tests that depend on a row's type only (kind, name, category, layer) are evaluated once per
 * code of a block, and names once per type: a row then costs one table access. Texts in columns
 * are ids, and are evaluated once per id, those of call stacks once per stack. A regular expression
 * never runs for a row. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/query/query_rows.h"

#define CHUNK GT_QUERY_CHUNK

/* ---- a value ---- */

bool gt_query_text_matches(const struct gt_query_node *n, const char *text)
{
	if (n->test == GT_Q_REGEX)
		return !regexec(n->regex, text, 0, NULL, 0);
	return n->test == GT_Q_GLOB ? !fnmatch(n->text, text, 0) : !strcmp(n->text, text);
}

static bool in_range(const struct gt_query_node *n, const struct gt_query_value *v)
{
	if (v->is == GT_Q_INT)
		return v->i >= n->ilow && v->i <= n->ihigh;
	if (v->is == GT_Q_UINT)
		return v->u >= n->ulow && v->u <= n->uhigh;
	return (n->low_open ? v->d > n->low : v->d >= n->low) &&
		(n->high_open ? v->d < n->high : v->d <= n->high);
}

static bool string_fits(struct gt_query_rows *e, unsigned node, uint64_t id)
{
	uint8_t **known = &e->seg->of_string[node], *one;
	const struct gt_segment *seg = e->seg->seg;
	const struct gt_query_node *n = &e->q->nodes[node];

	if (!*known && !(*known = calloc(seg->nstrings + 1ul, 1))) {
		e->no_memory = true;
		return false;
	}
	one = &(*known)[id];
	if (!*one)
		*one = 1 +
			(n->test == GT_Q_THERE ? seg->strings[id].len > 0
					       : gt_query_text_matches(n, seg->strings[id].ptr));
	return *one == 2;
}

static bool stack_fits(struct gt_query_rows *e, unsigned node, const struct gt_query_value *v)
{
	uint8_t **known = &e->seg->of_stack[node], *one;
	const struct gt_query_node *n = &e->q->nodes[node];

	if (!*known && !(*known = calloc(e->seg->seg->nstacks + 1ul, 1))) {
		e->no_memory = true;
		return false;
	}
	one = &(*known)[v->stack];
	if (!*one)
		*one = 1 + (n->test == GT_Q_THERE || gt_query_text_matches(n, v->s));
	return *one == 2;
}

static bool fits(struct gt_query_rows *e, unsigned node, const struct gt_query_value *v)
{
	const struct gt_query_node *n = &e->q->nodes[node];

	if (v->is == GT_Q_STRING)
		return n->test != GT_Q_RANGE && string_fits(e, node, v->u);
	if (v->is == GT_Q_CHARS && v->stack)
		return stack_fits(e, node, v);
	if (v->is == GT_Q_CHARS)
		return n->test == GT_Q_THERE ? *v->s : gt_query_text_matches(n, v->s);
	if (n->test == GT_Q_THERE)
		return gt_query_field(e->q->uses[n->use].id)->class == GT_Q_WORD ||
			(v->is == GT_Q_DOUBLE ? v->d != 0 : v->u != 0);
	if (n->test == GT_Q_WORDS)
		return v->u < 32 && n->words >> v->u & 1;
	return n->has_number && in_range(n, v);
}

static unsigned holds(struct gt_query_rows *e, unsigned node, const struct gt_query_value *v)
{
	if (v->is == GT_Q_ABSENT)
		return GT_Q_UNKNOWN;
	return fits(e, node, v) != e->q->nodes[node].negated ? GT_Q_HOLDS : GT_Q_NO;
}

/* ---- a block's codes ---- */

/* Evaluates an expression for a name once per type. */
static unsigned name_holds(
	struct gt_query_rows *e, unsigned node, uint32_t type, const struct gt_query_value *v)
{
	uint8_t **known = &e->seg->of_type[node];

	if (v->is != GT_Q_CHARS)
		return holds(e, node, v);
	if (!*known && !(*known = calloc(e->seg->seg->ntypes + 1ul, 1))) {
		e->no_memory = true;
		return GT_Q_NO;
	}
	if (!(*known)[type])
		(*known)[type] = (uint8_t)(1 + holds(e, node, v));
	return (*known)[type] - 1u;
}

static int grow_codes(struct gt_query_rows *e, uint32_t ncodes, struct gt_err *err)
{
	unsigned nuses = e->q->nuses + 1, nnodes = e->q->nnodes + 1;

	if (ncodes <= e->cap)
		return 0;
	free(e->sources);
	free(e->counted);
	free(e->of_code);
	e->cap = ncodes + ncodes / 2;
	e->sources = calloc((size_t)e->cap * nuses, sizeof(*e->sources));
	e->counted = calloc(e->cap, sizeof(*e->counted));
	e->of_code = calloc((size_t)e->cap * nnodes, 1);
	return e->sources && e->counted && e->of_code
		? 0
		: gt_err_set(err, -ENOMEM, "out of memory (types of a block)");
}

static void prepare_codes(struct gt_query_rows *e)
{
	const struct gt_cols *c = e->cols;

	for (unsigned i = 0; i < e->q->nnodes; i++) {
		const struct gt_query_node *n = &e->q->nodes[i];
		enum gt_query_id id = e->q->uses[n->use].id;

		if (n->op != GT_Q_TEST || gt_query_field(id)->level != GT_Q_OF_TYPE)
			continue;
		for (uint32_t code = 0; code < c->ntypes; code++) {
			struct gt_query_value v = gt_query_of_type(e, id, c->types[code], c->kind);

			e->of_code[(size_t)i * e->cap + code] =
				(uint8_t)name_holds(e, i, c->types[code], &v);
		}
	}
	e->block_seg = c->seg;
	e->block = c->block;
	e->block_kind = c->kind;
}

int gt_query_run(struct gt_query_rows *e, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t cap = e->cap;

	e->cols = cols;
	e->seg = &e->segs[cols->seg->index];
	if (grow_codes(e, cols->ntypes, err))
		return err->code;
	gt_query_begin_run(e);
	if (cap != e->cap || e->block_seg != cols->seg || e->block != cols->block ||
		e->block_kind != cols->kind)
		prepare_codes(e);
	return 0;
}

/* ---- a chunk's rows ---- */

static bool any(const uint8_t *mask, uint32_t n) { return memchr(mask, 1, n) != NULL; }

/* out = in, for rows whose code matches. */
static void test_codes(struct gt_query_rows *e, unsigned node, const uint8_t *in, uint8_t *out)
{
	const uint8_t *of = &e->of_code[(size_t)node * e->cap];
	const uint16_t *code = e->cols->code ? e->cols->code + e->from : NULL;
	uint64_t absent = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		uint8_t come = of[code ? code[i] : 0], was = in[i];

		out[i] = was & come & 1;
		absent += was & come >> 1;
	}
	e->absent[node] += absent;
}

static void test_track(struct gt_query_rows *e, unsigned node, const uint8_t *in, uint8_t *out)
{
	unsigned come = holds(e, node, &e->of_track[e->q->nodes[node].use]);

	for (uint32_t i = 0; i < e->n && come == GT_Q_UNKNOWN; i++)
		e->absent[node] += in[i];
	for (uint32_t i = 0; i < e->n; i++)
		out[i] = come == GT_Q_HOLDS ? in[i] : 0;
}

/* Tests durations, the most frequent test, which every row has. */
static void test_durations(
	struct gt_query_rows *e, const struct gt_query_node *n, const uint8_t *in, uint8_t *out)
{
	const int64_t *dur = e->cols->dur + e->from, low = n->ilow, high = n->ihigh;

	for (uint32_t i = 0; i < e->n; i++)
		out[i] = in[i] & (uint8_t)(((dur[i] >= low) & (dur[i] <= high)) ^ n->negated);
}

static void test_rows(struct gt_query_rows *e, unsigned node, const uint8_t *in, uint8_t *out)
{
	uint64_t absent = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		struct gt_query_value v;
		unsigned come;

		if (!in[i]) {
			out[i] = 0;
			continue;
		}
		v = gt_query_get(e, e->q->nodes[node].use, e->from + i);
		come = holds(e, node, &v);
		out[i] = come == GT_Q_HOLDS;
		absent += come == GT_Q_UNKNOWN;
	}
	e->absent[node] += absent;
}

static void test(struct gt_query_rows *e, unsigned node, const uint8_t *in, uint8_t *out)
{
	const struct gt_query_node *n = &e->q->nodes[node];
	const struct gt_query_use *use = &e->q->uses[n->use];
	enum gt_query_level level = gt_query_field(use->id)->level;
	uint32_t spans = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU);

	if (level == GT_Q_OF_TYPE)
		test_codes(e, node, in, out);
	else if (level == GT_Q_OF_TRACK)
		test_track(e, node, in, out);
	else if (use->id == GT_Q_DUR && n->test == GT_Q_RANGE && spans & GT_BIT(e->cols->kind))
		test_durations(e, n, in, out);
	else
		test_rows(e, node, in, out);
}

/* out = in, for rows that match the node. out and in may be the same. */
static void evaluate(struct gt_query_rows *e, unsigned node, const uint8_t *in, uint8_t *out)
{
	const struct gt_query_node *n = &e->q->nodes[node];
	uint8_t here[CHUNK];

	if (n->op == GT_Q_TEST) {
		test(e, node, in, out);
		return;
	}
	if (n->op == GT_Q_AND) {
		evaluate(e, n->left, in, out);
		if (any(out, e->n))
			evaluate(e, n->right, out, out);
		return;
	}
	evaluate(e, n->left, in, here);
	if (n->op == GT_Q_NOT) {
		for (uint32_t i = 0; i < e->n; i++)
			out[i] = in[i] & ~here[i];
		return;
	}
	uint8_t rest[CHUNK];

	for (uint32_t i = 0; i < e->n; i++)
		rest[i] = in[i] & ~here[i];
	if (any(rest, e->n))
		evaluate(e, n->right, rest, rest);
	for (uint32_t i = 0; i < e->n; i++)
		out[i] = here[i] | rest[i];
}

int gt_query_match(
	struct gt_query_rows *e, uint32_t from, const uint32_t **rows, struct gt_err *err)
{
	uint8_t mask[CHUNK];
	uint32_t n = 0;

	e->from = from;
	e->n = e->cols->n - from < CHUNK ? e->cols->n - from : CHUNK;
	e->has_ranks = false;
	memset(mask, 1, e->n);
	if (e->q->where)
		evaluate(e, e->q->root, mask, mask);
	for (uint32_t i = 0; i < e->n; i++) {
		e->rows[n] = from + i;
		n += mask[i];
	}
	*rows = e->rows;
	return e->no_memory ? gt_err_set(err, -ENOMEM, "out of memory (query)") : (int)n;
}

/* ---- missing fields ---- */

void gt_query_rows_merge(struct gt_query_rows *into, const struct gt_query_rows *from)
{
	for (unsigned i = 0; i < into->q->nnodes; i++)
		into->absent[i] += from->absent[i];
}

void gt_query_note_absent(const struct gt_query_rows *e, struct gt_table *t)
{
	for (unsigned i = 0; i < e->q->nnodes; i++) {
		const struct gt_query_node *n = &e->q->nodes[i];
		const struct gt_query_use *use = &e->q->uses[n->use];

		if (n->op == GT_Q_TEST && n->test != GT_Q_THERE)
			gt_note_plural(t, e->absent[i],
				"%llu {row|rows} tested with %.*s {has|have} no %s%s: the test is false for {it|them}",
				(unsigned long long)e->absent[i], (int)n->length,
				e->q->where + n->column,
				use->arg ? "arg." : gt_query_field(use->id)->name,
				use->arg ? use->arg : "");
	}
}
