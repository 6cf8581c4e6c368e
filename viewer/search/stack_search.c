#include "viewer/search/stack_search.h"

#include <stdio.h>
#include <stdlib.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/names/stack_names.h"
#include "viewer/util/deadline.h"

struct gt_stack_search {
	struct gt_archive *archive;
	const struct gt_segment *seg;
	enum gt_kind kind;
	uint8_t *same; /* by stack of the segment */
	uint32_t n;    /* of these */
	char name[200];
	size_t at; /* the next block to count */
	uint64_t count;
};

/* ---- which stacks ---- */

static bool is_same_frame(const struct gt_segment *seg, uint32_t a, uint32_t b)
{
	const struct gt_frame *x = a == b ? NULL : gt_segment_frame(seg, a),
			      *y = x ? gt_segment_frame(seg, b) : NULL;

	return a == b ||
		(y && x->function != GT_NONE && x->kind == y->kind && x->function == y->function &&
			x->file == y->file && x->line == y->line && x->module == y->module);
}

static bool is_same_stack(const struct gt_segment *seg, uint64_t a, uint64_t b)
{
	const struct gt_stack *x = &seg->stacks[a], *y = &seg->stacks[b];

	if (x->n != y->n)
		return false;
	for (uint32_t i = x->n; i-- > 0;)
		if (!is_same_frame(seg, x->frames[i], y->frames[i]))
			return false;
	return true;
}

static void put_name(struct gt_stack_search *s, uint64_t stack)
{
	uint32_t frame = gt_stack_caller(s->seg, stack);
	struct gt_buf name = { 0 };

	if (frame != GT_NONE)
		gt_frame_name(&name, s->seg, frame, GT_STACK_LINE);
	gt_buf_byte(&name, 0);
	snprintf(s->name, sizeof(s->name), "%s",
		name.failed || frame == GT_NONE ? "this stack" : (const char *)name.data);
	gt_buf_release(&name);
}

/* ---- open and free ---- */

struct gt_stack_search *gt_stack_search_new(
	struct gt_archive *a, const struct gt_event_ref *row, uint64_t stack, struct gt_err *err)
{
	struct gt_stack_search *s = calloc(1, sizeof(*s));

	if (s) {
		s->archive = a;
		s->seg = gt_reader_segment(gt_archive_reader(a), row->lane.strip.segment);
		s->kind = row->kind;
		s->n = s->seg->nstacks;
		s->same = calloc(s->n + 1ul, 1);
	}
	if (!s || !s->same) {
		gt_stack_search_free(s);
		gt_err_set(err, -ENOMEM, "out of memory (search)");
		return NULL;
	}
	for (uint32_t i = 0; i < s->n; i++)
		s->same[i] = is_same_stack(s->seg, stack, i);
	put_name(s, stack);
	return s;
}

void gt_stack_search_free(struct gt_stack_search *s)
{
	if (s)
		free(s->same);
	free(s);
}

bool gt_stack_search_is_of(
	const struct gt_stack_search *s, const struct gt_event_ref *row, uint64_t stack)
{
	return row->kind == s->kind && row->lane.strip.segment == s->seg->index && stack < s->n &&
		s->same[stack];
}

/* ---- rows ---- */

int gt_stack_search_each(const struct gt_stack_search *s, const struct gt_cols *c,
	int (*fn)(void *arg, const struct gt_cols *c, uint32_t row), void *arg)
{
	int rc = 0;

	for (uint32_t code = 0; !rc && c->kind == s->kind && code < c->ntypes; code++) {
		struct gt_column_cursor p;
		uint64_t stack;

		if (!gt_cols_type(c, code))
			continue;
		gt_column_cursor_start(&p, c, code, GT_R_STACK, GT_R_NONE);
		while (!rc && gt_column_cursor_next(&p))
			if (gt_column_cursor_value(&p, 0, &stack) && stack < s->n && s->same[stack])
				rc = fn(arg, c, p.row);
	}
	return rc;
}

enum gt_kind gt_stack_search_kind(const struct gt_stack_search *s) { return s->kind; }
uint32_t gt_stack_search_segment(const struct gt_stack_search *s) { return s->seg->index; }
const char *gt_stack_search_name(const struct gt_stack_search *s) { return s->name; }

static int count_row(void *arg, const struct gt_cols *c, uint32_t row)
{
	((struct gt_stack_search *)arg)->count++;
	return 0;
}

static int count(void *arg, unsigned worker, const struct gt_cols *c)
{
	return gt_stack_search_each(arg, c, count_row, arg);
}

int gt_stack_search_step(struct gt_stack_search *s, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	struct gt_block_list l = gt_archive_all_blocks(s->archive, s->seg->index);
	int rc = 0;

	while (!rc && s->at < l.n && !gt_deadline_is_over(deadline)) {
		const struct gt_block *block = &l.blocks[s->at++];

		if (block->kind == (uint32_t)s->kind)
			rc = gt_archive_scan(s->archive, s->seg->index, block, true, count, s, err);
	}
	return rc ? rc : s->at < l.n;
}

uint64_t gt_stack_search_count(const struct gt_stack_search *s, bool *complete)
{
	*complete = s->at >= gt_archive_all_blocks(s->archive, s->seg->index).n;
	return s->count;
}
