/* The events path: all rows of all tracks by start time.
 *
 * Blocks are taken in order of their earliest start, and one is opened only when that moment has come; a heap of the open
 * blocks gives the next row. A block goes when its last row is through. What is in memory is thus what overlaps the moment:
 * about one block a busy thread, each as small as walk.c can hold it.
 *
 * Rows of one block often follow one another, so the heap says up to when: until then the next row is the block's next row.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/walk.h"

struct place { const struct gt_seg *seg; const struct gt_wire_entry *e; uint32_t group; };	/* group: of segments that share a clock */
struct entry {			/* of the heap: a block and what its next row is compared by */
	int64_t start;
	uint64_t rest;		/* depth, track, and the block's number to settle it */
	struct gt_walk *walk;
};

struct gt_iter {
	struct gt_walk *top;		/* heap[0]'s; NULL: there is none */
	int64_t limit;			/* rows of it that start before this come before all others */
	struct gt_filter filter;
	struct gt_wanted *wanted;
	struct place *places;		/* blocks by group of segments, then by earliest start */
	size_t nplaces, places_cap, next_place;
	uint32_t group;			/* of the open blocks */
	struct entry *heap;
	size_t nheap, heap_cap;
	struct gt_walker walker;
};

/* Segments of one boot share a clock; others follow one another. The group is the first segment of its kind. */
static uint32_t group_of(const struct gt_reader *r, const struct gt_seg *seg)
{
	for (size_t i = 0; i < r->nsegs && seg->boot[0]; i++)
		if (!strcmp(r->segs[i].boot, seg->boot) && !strcmp(r->segs[i].host, seg->host))
			return (uint32_t)i;
	return seg->pub.index;
}

static int by_group_and_start(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->e->head.min_start != y->e->head.min_start)
		return x->e->head.min_start < y->e->head.min_start ? -1 : 1;
	return x->seg != y->seg ? (x->seg < y->seg ? -1 : 1) : x->e->at < y->e->at ? -1 : 1;
}

static int find_places(struct gt_iter *it)
{
	struct gt_reader *r = it->walker.reader;

	for (size_t s = 0; s < r->nsegs; s++) {
		uint32_t group = group_of(r, &r->segs[s]);

		for (size_t i = 0; i < r->segs[s].nentries; i++) {
			if (!gt_wants_block(&it->wanted[s], &r->segs[s], &r->segs[s].entries[i]))
				continue;
			if (gt_grow(&it->places, &it->places_cap, it->nplaces + 1, sizeof(*it->places)))
				return -ENOMEM;
			it->places[it->nplaces++] = (struct place){ &r->segs[s], &r->segs[s].entries[i], group };
		}
	}
	if (it->nplaces > 1)
		qsort(it->places, it->nplaces, sizeof(*it->places), by_group_and_start);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many blocks overlap at most (or more, where segments follow one another): their heads tell, so memory can be shared out. */
static int count_overlap(struct gt_iter *it)
{
	int64_t *starts = malloc((2 * it->nplaces + 1) * sizeof(*starts)), *ends = starts + it->nplaces;

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < it->nplaces; i++) {
		starts[i] = it->places[i].e->head.min_start;
		ends[i] = it->places[i].e->head.max_end;
	}
	if (it->nplaces) {
		qsort(starts, it->nplaces, sizeof(*starts), by_time);
		qsort(ends, it->nplaces, sizeof(*ends), by_time);
	}
	for (size_t begun = 0, ended = 0; begun < it->nplaces; begun++) {
		while (ends[ended] < starts[begun])
			ended++;
		if (begun + 1 - ended > it->walker.most_open)
			it->walker.most_open = begun + 1 - ended;
	}
	free(starts);
	return 0;
}

struct gt_iter *gt_iter_open(struct gt_reader *r, const struct gt_filter *filter, struct gt_err *err)
{
	struct gt_iter *it = calloc(1, sizeof(*it));
	int code = -ENOMEM;

	if (it) {
		it->walker.reader = r;
		it->filter = *filter;
		it->wanted = calloc(r->nsegs, sizeof(*it->wanted));
		code = it->wanted ? 0 : -ENOMEM;
		for (size_t i = 0; !code && i < r->nsegs; i++)
			code = gt_wanted_init(&it->wanted[i], &r->segs[i].pub, &it->filter);
		if (!code)
			code = find_places(it);
		if (!code)
			code = count_overlap(it);
	}
	if (!code)
		return it;
	gt_err_set(err, code, "out of memory");
	gt_iter_close(it);
	return NULL;
}

/* ---- the heap ---- */

/* One comparison of 128 bits: which child of a heap comes first is anybody's guess, the processor's too. */
static inline bool before(const struct entry *a, const struct entry *b)
{
	unsigned __int128 x = (unsigned __int128)((uint64_t)a->start ^ 1ull << 63) << 64 | a->rest;
	unsigned __int128 y = (unsigned __int128)((uint64_t)b->start ^ 1ull << 63) << 64 | b->rest;

	return x < y;
}

static struct entry entry_of(struct gt_walk *w)
{
	uint32_t track = w->tracks ? *w->tracks : w->track;

	return (struct entry){ w->row->start, (uint64_t)w->row->depth << 56 | (uint64_t)track << 24 | (w->e->head.number & 0xffffff), w };
}

/* Puts e into the hole at i or above it. */
static void rise(struct gt_iter *it, size_t i, struct entry e)
{
	for (; i && before(&e, &it->heap[(i - 1) / 2]); i = (i - 1) / 2)
		it->heap[i] = it->heap[(i - 1) / 2];
	it->heap[i] = e;
}

/* Puts e where heap[0] was. With many threads at work it will come close to the bottom, so the hole goes there first. */
static void replace_top(struct gt_iter *it, struct entry e)
{
	size_t i = 0, kid;

	for (; (kid = 2 * i + 1) < it->nheap; i = kid) {
		kid += kid + 1 < it->nheap && before(&it->heap[kid + 1], &it->heap[kid]);
		it->heap[i] = it->heap[kid];
	}
	rise(it, i, e);
}

/* ---- blocks ---- */

static int open_next(struct gt_iter *it)
{
	const struct place *p = &it->places[it->next_place++];
	struct gt_walk *w;
	int more;

	if (gt_grow(&it->heap, &it->heap_cap, it->nheap + 1, sizeof(*it->heap)) ||
	    !(w = gt_walk_open(&it->walker, p->seg, p->e, &it->wanted[p->seg->pub.index])))
		return -ENOMEM;
	it->group = p->group;
	more = gt_walk_fill(&it->walker, w);
	if (more > 0)
		rise(it, it->nheap++, entry_of(w));
	else
		gt_walk_close(&it->walker, w);
	return more < 0 ? more : 0;
}

static bool same_group(const struct gt_iter *it) { return it->next_place < it->nplaces && it->places[it->next_place].group == it->group; }

/* The next block that could have the next row, if it is not open yet. */
static bool must_open(const struct gt_iter *it)
{
	if (!it->nheap)
		return it->next_place < it->nplaces;
	return same_group(it) && it->places[it->next_place].e->head.min_start <= it->heap[0].start;
}

/* The rows of the top up to here were taken. */
static int settle_top(struct gt_iter *it)
{
	int more = it->top->row < it->top->end_row ? 1 : gt_walk_fill(&it->walker, it->top);

	if (more > 0)
		replace_top(it, entry_of(it->top));
	if (more)
		return more;
	gt_walk_close(&it->walker, it->top);
	it->top = NULL;
	it->nheap--;
	if (it->nheap)
		replace_top(it, it->heap[it->nheap]);
	return 0;
}

/* Finds the block that has the next row. 1, 0 at the end, or -ENOMEM. */
static __attribute__((noinline)) int find_top(struct gt_iter *it)
{
	int code;

	if (it->top && (code = settle_top(it)) < 0)
		return code;
	while (must_open(it))
		if ((code = open_next(it)))
			return code;
	it->top = it->nheap ? it->heap[0].walk : NULL;
	it->limit = same_group(it) ? it->places[it->next_place].e->head.min_start : INT64_MAX;
	for (size_t kid = 1; kid < 3 && kid < it->nheap; kid++)
		if (it->heap[kid].start < it->limit)
			it->limit = it->heap[kid].start;
	return it->top != NULL;
}

int gt_iter_next(struct gt_iter *it, struct gt_event *ev, struct gt_err *err)
{
	struct gt_walk *w = it->top;
	const struct gt_row *row;

	if (!w || w->row == w->end_row || w->row->start >= it->limit) {
		int code = find_top(it);

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
		gt_walk_close(&it->walker, it->heap[--it->nheap].walk);
	for (size_t i = 0; it->wanted && i < it->walker.reader->nsegs; i++)
		gt_wanted_release(&it->wanted[i]);
	gt_walker_release(&it->walker);
	free(it->wanted);
	free(it->places);
	free(it->heap);
	free(it);
}
