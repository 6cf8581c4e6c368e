#define _GNU_SOURCE /* qsort_r */
#include "analyze/stacks/stack_sums.h"

#include <stddef.h>
#include <stdlib.h>
#include "formats/base/numbers.h"
#include "formats/base/sorted.h"

/* names of rows that have no caller */
#define NO_STACK "(no stack recorded)"
#define NO_FUNCTION "(a stack without functions)"
#define FURTHER "(further stacks)"
#define CALLERS_MOST (1u << 20) /* frames with different texts */

static const size_t key_size = offsetof(struct gt_stack_sum, side);

void gt_stack_sums_init(struct gt_stack_sums *s)
{
	gt_group_table_init(&s->groups, sizeof(struct gt_stack_sum), key_size, GT_STACKS_MOST);
}

static void add_figures(struct gt_stack_figures *to, const struct gt_stack_figures *from)
{
	to->count += from->count;
	to->failed += from->failed;
	to->total = gt_sat_add(to->total, from->total);
	to->squares += from->squares;
	to->largest = from->largest > to->largest ? from->largest : to->largest;
}

static void add_sides(struct gt_stack_figures *to, const struct gt_stack_figures *from)
{
	for (unsigned i = 0; i < GT_STACK_SIDES; i++)
		add_figures(&to[i], &from[i]);
}

int gt_stack_sums_add(struct gt_stack_sums *s, const struct gt_cols *cols, uint32_t code,
	enum gt_stack_side side, struct gt_err *err)
{
	struct gt_stack_sum key = { .segment = cols->seg->index };
	struct gt_column_cursor p;
	uint32_t group = GT_GROUP_TABLE_NONE;

	gt_column_cursor_start(&p, cols, code, GT_R_STACK, GT_R_NONE);
	while (gt_column_cursor_next(&p)) {
		uint64_t v, ns = (uint64_t)cols->dur[p.row];
		uint32_t stack = gt_column_cursor_value(&p, 0, &v) && v < cols->seg->nstacks
			? (uint32_t)v
			: GT_NONE;

		if (group == GT_GROUP_TABLE_NONE || stack != key.stack) {
			key.stack = stack;
			group = gt_group_table_find(&s->groups, &key, err);
			if (group == GT_GROUP_TABLE_NONE)
				return err->code;
		}
		add_figures(
			&((struct gt_stack_sum *)gt_group_table_at(&s->groups, group))->side[side],
			&(struct gt_stack_figures){
				1, p.ret != 0, ns, ns, (double)ns * (double)ns });
	}
	return 0;
}

int gt_stack_sums_add_figures(struct gt_stack_sums *s, const struct gt_segment *seg, uint32_t stack,
	enum gt_stack_side side, const struct gt_stack_figures *f, struct gt_err *err)
{
	struct gt_stack_sum key = { .segment = seg->index, .stack = stack };
	uint32_t group = gt_group_table_find(&s->groups, &key, err);

	if (group == GT_GROUP_TABLE_NONE)
		return err->code;
	add_figures(&((struct gt_stack_sum *)gt_group_table_at(&s->groups, group))->side[side], f);
	return 0;
}

int gt_stack_sums_merge(
	struct gt_stack_sums *into, const struct gt_stack_sums *from, struct gt_err *err)
{
	for (size_t i = 0; i < from->groups.n; i++) {
		const struct gt_stack_sum *one = gt_group_table_at(&from->groups, i);
		uint32_t group = gt_group_table_find(&into->groups, one, err);

		if (group == GT_GROUP_TABLE_NONE)
			return err->code;
		add_sides(((struct gt_stack_sum *)gt_group_table_at(&into->groups, group))->side,
			one->side);
	}
	return 0;
}

void gt_stack_sums_release(struct gt_stack_sums *s) { gt_group_table_release(&s->groups); }

/* ---- by caller ---- */

static bool same_name(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_caller_sums *c = arg;

	return !strcmp(gt_caller_name(c, &c->list[value]), key);
}

/* The index of the name that was appended at `at`, or GT_NONE with err filled in. A known name is
 * removed from the text. */
static uint32_t find_name(struct gt_caller_sums *c, size_t at, struct gt_err *err)
{
	const char *name;
	uint64_t hash;
	uint32_t i;

	gt_buf_byte(&c->text, 0);
	if (c->text.failed)
		return gt_err_set(err, -ENOMEM, "out of memory (stacks)"), GT_NONE;
	name = (const char *)c->text.data + at;
	hash = gt_hash(name, strlen(name));
	i = gt_map_get(&c->map, hash, same_name, c, name, 0);
	if (i != UINT32_MAX) {
		c->text.len = at;
		return i;
	}
	if (gt_grow(&c->list, &c->cap, c->n + 1, sizeof(*c->list)) ||
		gt_map_add(&c->map, hash, (uint32_t)c->n))
		return gt_err_set(err, -ENOMEM, "out of memory (stacks)"), GT_NONE;
	c->list[c->n] = (struct gt_caller_sum){ .text = at };
	return (uint32_t)c->n++;
}

struct frame_caller {
	uint32_t segment, text; /* the key */
	uint32_t caller;        /* plus 1; 0: not known yet */
};

/* The caller that a frame is; each frame is named once. */
static uint32_t caller_of_frame(struct gt_caller_sums *c, const struct gt_segment *seg,
	uint32_t text, enum gt_stack_by by, struct gt_err *err)
{
	struct frame_caller key = { seg->index, text, 0 }, *known;
	uint32_t i = gt_group_table_find(&c->by_frame, &key, err);

	if (i == GT_GROUP_TABLE_NONE)
		return GT_NONE;
	known = gt_group_table_at(&c->by_frame, i);
	if (!known->caller || gt_group_table_is_rest(&c->by_frame, known)) {
		size_t at = c->text.len;

		gt_stack_row_name(&c->text, seg, text, by);
		known->caller = find_name(c, at, err) + 1;
	}
	return known->caller - 1;
}

static uint32_t caller_of_text(struct gt_caller_sums *c, const char *text, struct gt_err *err)
{
	size_t at = c->text.len;

	gt_buf_str(&c->text, text);
	return find_name(c, at, err);
}

static uint32_t caller_of_stack(
	struct gt_caller_sums *c, const struct gt_segment *seg, uint32_t stack, struct gt_err *err)
{
	size_t at = c->text.len;

	gt_stack_text(&c->text, seg, stack, GT_STACK_LINE);
	return find_name(c, at, err);
}

/* Counts the rows of a stack once for each line (function, module) in it. */
static int add_inclusive(struct gt_caller_sums *c, const struct gt_segment *seg,
	const struct gt_stack_sum *sum, size_t stamp, unsigned by, struct gt_err *err)
{
	const struct gt_stack *s = &seg->stacks[sum->stack];

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t at;

		if (!gt_frame_is_function(seg, s->frames[i]))
			continue;
		at = caller_of_frame(c, seg, s->frames[i], (enum gt_stack_by)by, err);
		if (at == GT_NONE)
			return err->code;
		if (c->list[at].last == stamp)
			continue;
		c->list[at].last = stamp;
		add_sides(c->list[at].inclusive, sum->side);
	}
	return 0;
}

/* stamp: differs for each stack, and is not 0. */
static int add_stack(struct gt_caller_sums *c, struct gt_reader *r, const struct gt_stack_sum *sum,
	size_t stamp, unsigned by, struct gt_err *err)
{
	const struct gt_segment *seg =
		sum->stack == GT_NONE ? NULL : gt_reader_segment(r, sum->segment);
	uint32_t frame = seg ? gt_stack_caller(seg, sum->stack) : GT_NONE, at;

	if (frame == GT_NONE)
		at = caller_of_text(c,
			seg                               ? NO_FUNCTION
				: sum->segment == GT_NONE ? FURTHER
							  : NO_STACK,
			err);
	else if (by == GT_STACK_WHOLE)
		at = caller_of_stack(c, seg, sum->stack, err);
	else
		at = caller_of_frame(c, seg, frame, (enum gt_stack_by)by, err);
	if (at == GT_NONE)
		return err->code;
	add_sides(c->list[at].self, sum->side);
	if (frame == GT_NONE || by == GT_STACK_WHOLE || !gt_frame_is_function(seg, frame))
		add_sides(c->list[at].inclusive, sum->side);
	if (frame == GT_NONE || by == GT_STACK_WHOLE)
		return 0;
	return add_inclusive(c, seg, sum, stamp, by, err);
}

int gt_caller_sums_collect(struct gt_caller_sums *c, const struct gt_stack_sums *s,
	struct gt_reader *r, unsigned by, struct gt_err *err)
{
	int rc = 0;

	gt_group_table_init(&c->by_frame, sizeof(struct frame_caller),
		offsetof(struct frame_caller, caller), CALLERS_MOST);
	for (size_t i = 0; !rc && i < s->groups.n; i++)
		rc = add_stack(c, r, gt_group_table_at(&s->groups, i), i + 1, by, err);
	return rc;
}

int gt_caller_sums_add(struct gt_caller_sums *c, const char *name, enum gt_stack_side side,
	const struct gt_stack_figures *f, struct gt_err *err)
{
	uint32_t at = caller_of_text(c, name, err);

	if (at == GT_NONE)
		return err->code;
	add_figures(&c->list[at].self[side], f);
	add_figures(&c->list[at].inclusive[side], f);
	return 0;
}

struct ordering {
	const struct gt_caller_sums *sums;
	enum gt_stack_side side;
};

static int by_total(const void *pa, const void *pb, void *arg)
{
	const struct ordering *o = arg;
	const struct gt_caller_sum *a = pa, *b = pb;
	const struct gt_stack_figures *x = &a->self[o->side], *y = &b->self[o->side];

	return GT_COMPARE(y->total, x->total)
		?: GT_COMPARE(b->inclusive[o->side].total, a->inclusive[o->side].total)
		?: GT_COMPARE(y->count, x->count)
		?: strcmp(gt_caller_name(o->sums, a), gt_caller_name(o->sums, b));
}

static int by_count(const void *pa, const void *pb, void *arg)
{
	const struct ordering *o = arg;
	const struct gt_caller_sum *a = pa, *b = pb;

	return GT_COMPARE(b->self[o->side].count, a->self[o->side].count) ?: by_total(pa, pb, arg);
}

void gt_caller_sums_sort(struct gt_caller_sums *c, enum gt_stack_side side)
{
	if (c->n)
		qsort_r(c->list, c->n, sizeof(*c->list), by_total, &(struct ordering){ c, side });
}

void gt_caller_sums_sort_by_count(struct gt_caller_sums *c, enum gt_stack_side side)
{
	if (c->n)
		qsort_r(c->list, c->n, sizeof(*c->list), by_count, &(struct ordering){ c, side });
}

void gt_caller_sums_release(struct gt_caller_sums *c)
{
	free(c->list);
	gt_buf_release(&c->text);
	gt_map_release(&c->map);
	gt_group_table_release(&c->by_frame);
	*c = (struct gt_caller_sums){ .list = NULL };
}
