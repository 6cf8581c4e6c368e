/* The events path: all rows of all tracks by start time.
 *
 * Blocks come in order of their earliest start, and a block is opened only when that time is
 * reached. A heap of the open blocks gives the next row. A block is closed after its last row. So
 * only the blocks that overlap the current time are in memory: about one per busy thread, in the
 * packed form of block_cursor.c.
 *
 * Input that is far out of order, or malicious, may have more blocks open at a time than fit into
 * memory. The heads show that before the first block is opened, and such a file is refused.
 *
 * Rows of one block often follow one another. So the heap gives a limit: up to it, the next row is
 * the next row of the top block.
 */
#include <stdlib.h>
#include <string.h>
#include "formats/base/heap.h"
#include "formats/trace/read/block_cursor.h"

#define OPEN_MAX_BLOCKS 100000u /* at one time; some 120 MiB */

struct entry { /* of the heap: a block and what its next row is compared by */
	int64_t start;
	uint64_t rest; /* depth, track, and the block's number as the last key */
	struct gt_block_cursor *walk;
};

struct gt_iter {
	struct gt_block_cursor *top; /* heap[0]'s; NULL: there is none */
	/* rows of the top block that start before this come before all others */
	int64_t limit;
	struct gt_block_plan plan;
	struct gt_plan_entry next; /* the next block to open, when there is one */
	bool more;
	uint32_t group; /* of the open blocks */
	struct entry *heap;
	size_t nheap, heap_cap;
	struct gt_cursor_shared walker;
};

static bool is_less(const void *arg, const int64_t *a, const int64_t *b) { return *a < *b; }

GT_HEAP(ends, int64_t, is_less)

/* Counts from the heads how many blocks overlap at most, to divide the memory among them. */
static int count_overlap(struct gt_iter *it, struct gt_err *err)
{
	int64_t *ends = NULL; /* of the blocks open at the entry's start; a heap */
	size_t n = 0, cap = 0;
	struct gt_plan_entry p;
	uint32_t group = GT_NONE;
	int more;

	while ((more = gt_block_plan_next(&it->plan, &p, err)) > 0) {
		/* segments that share no clock follow one another */
		n = p.group == group ? n : 0;
		group = p.group;
		while (n && ends[0] < p.start) {
			n--;
			ends_down(NULL, ends, n, 0, ends[n]);
		}
		if (gt_grow(&ends, &cap, n + 1, sizeof(*ends))) {
			more = gt_err_set(err, -ENOMEM, "out of memory");
			break;
		}
		ends_up(NULL, ends, n++, p.end);
		if (n > it->walker.most_open)
			it->walker.most_open = n;
		if (n > OPEN_MAX_BLOCKS) {
			more = gt_err_set(err, -E2BIG,
				"more than %u blocks overlap in time: too many to sort their rows",
				OPEN_MAX_BLOCKS);
			break;
		}
	}
	free(ends);
	gt_block_plan_rewind(&it->plan);
	return more;
}

static int next_entry(struct gt_iter *it, struct gt_err *err)
{
	int more = gt_block_plan_next(&it->plan, &it->next, err);

	it->more = more > 0;
	return more < 0 ? more : 0;
}

struct gt_iter *gt_iter_open(
	struct gt_reader *r, const struct gt_filter *filter, struct gt_err *err)
{
	struct gt_iter *it = calloc(1, sizeof(*it));
	int code = -ENOMEM;

	if (it) {
		it->walker.reader = r;
		code = gt_block_plan_open(&it->plan, r, filter, GT_BY_CLOCK);
		if (!code)
			gt_block_plan_begin_progress(&it->plan);
		if (!code)
			code = count_overlap(it, err);
		if (!code)
			code = next_entry(it, err);
	}
	if (!code)
		return it;
	gt_err_set(err, code, "out of memory"); /* keeps an earlier error */
	gt_iter_close(it);
	return NULL;
}

/* ---- the heap ---- */

/* One comparison of 128 bits: branches on which child comes first are mispredicted. */
static inline bool before(const void *arg, const struct entry *a, const struct entry *b)
{
	unsigned __int128 x = (unsigned __int128)((uint64_t)a->start ^ 1ull << 63) << 64 | a->rest;
	unsigned __int128 y = (unsigned __int128)((uint64_t)b->start ^ 1ull << 63) << 64 | b->rest;

	return x < y;
}

static struct entry entry_of(struct gt_block_cursor *w)
{
	uint32_t track = w->tracks ? *w->tracks : w->track;

	return (struct entry){ w->row->start,
		(uint64_t)w->row->depth << 56 | (uint64_t)track << 24 |
			(w->e.head.number & 0xffffff),
		w };
}

GT_HEAP(blocks, struct entry, before)

/* Puts e where heap[0] was. With many busy threads e ends up near the bottom. So this does not
 * compare e on the way down, as blocks_down would: it moves the free place to the bottom first, and
 * then e up from there. */
static void replace_top(struct gt_iter *it, struct entry e)
{
	size_t i = 0, kid;

	for (; (kid = 2 * i + 1) < it->nheap; i = kid) {
		kid += kid + 1 < it->nheap && before(NULL, &it->heap[kid + 1], &it->heap[kid]);
		it->heap[i] = it->heap[kid];
	}
	blocks_up(NULL, it->heap, i, e);
}

/* ---- blocks ---- */

static int open_next(struct gt_iter *it, struct gt_err *err)
{
	const struct gt_seg *seg = &it->walker.reader->segs[it->next.seg];
	struct gt_wire_entry e;
	struct gt_block_cursor *w;
	int more = gt_block_plan_entry(&it->plan, &it->next, &e, err);

	if (more)
		return more;
	if (gt_grow(&it->heap, &it->heap_cap, it->nheap + 1, sizeof(*it->heap)) ||
		!(w = gt_block_cursor_open(seg, &e, &it->plan.filters[it->next.seg])))
		return -ENOMEM;
	it->group = it->next.group;
	more = gt_block_cursor_fill(&it->walker, w);
	if (more > 0)
		blocks_up(NULL, it->heap, it->nheap++, entry_of(w));
	else
		gt_block_cursor_close(&it->walker, w);
	return more < 0 ? more : next_entry(it, err);
}

static bool same_group(const struct gt_iter *it) { return it->more && it->next.group == it->group; }

/* Must the next block be opened, because it may have the next row? */
static bool must_open(const struct gt_iter *it)
{
	if (!it->nheap)
		return it->more;
	return same_group(it) && it->next.start <= it->heap[0].start;
}

/* Moves the top block to its place by its next row, or closes it after its last row. */
static int advance_top(struct gt_iter *it)
{
	int more = it->top->row < it->top->end_row ? 1 : gt_block_cursor_fill(&it->walker, it->top);

	if (more > 0)
		replace_top(it, entry_of(it->top));
	if (more)
		return more;
	gt_block_cursor_close(&it->walker, it->top);
	it->top = NULL;
	it->nheap--;
	if (it->nheap)
		replace_top(it, it->heap[it->nheap]);
	return 0;
}

/* Finds the block that has the next row. 1, 0 at the end, or negative (-ENOMEM
 * without text in err). */
static __attribute__((noinline)) int find_top(struct gt_iter *it, struct gt_err *err)
{
	int code;

	if (it->top && (code = advance_top(it)) < 0)
		return code;
	while (must_open(it))
		if ((code = open_next(it, err)))
			return code;
	it->top = it->nheap ? it->heap[0].walk : NULL;
	it->limit = same_group(it) ? it->next.start : INT64_MAX;
	for (size_t kid = 1; kid < 3 && kid < it->nheap; kid++)
		if (it->heap[kid].start < it->limit)
			it->limit = it->heap[kid].start;
	return it->top != NULL;
}

int gt_iter_next(struct gt_iter *it, struct gt_event *ev, struct gt_err *err)
{
	struct gt_block_cursor *w = it->top;
	const struct gt_row *row;

	if (!w || w->row == w->end_row || w->row->start >= it->limit) {
		int code = find_top(it, err);

		if (code <= 0)
			return code ? gt_err_set(err, code, "out of memory") : 0;
		w = it->top;
	}
	row = w->row++;
	ev->seg = &w->seg->pub;
	ev->kind = w->kind;
	ev->track = w->tracks ? *w->tracks++ : w->track;
	ev->row = *row;
	ev->args = w->args;
	w->args += row->nargs;
	return 1;
}

void gt_iter_close(struct gt_iter *it)
{
	if (!it)
		return;
	while (it->nheap)
		gt_block_cursor_close(&it->walker, it->heap[--it->nheap].walk);
	gt_block_plan_release(&it->plan);
	gt_cursor_shared_release(&it->walker);
	free(it->heap);
	free(it);
}
