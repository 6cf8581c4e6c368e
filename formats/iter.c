/* The events path: all rows of all tracks by start time.
 *
 * Blocks are taken in order of their earliest start, and one is opened only when that moment has come; a heap of cursors, one
 * per run of every open block, gives the next row. A block goes when its last cursor is through. What is in memory is thus
 * what overlaps the moment: about one block a busy thread.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/reader_in.h"

struct open_block {
	struct gt_loader loader;
	struct gt_unpacked u;
	const struct gt_seg *seg;
	uint32_t group;			/* of segments that share a clock */
	uint64_t **values;		/* by code, NULL until wanted */
	uint16_t *nth;			/* by row: how many rows of its code come before it in the block */
	uint32_t cursors;		/* of it that are still in the heap */
	struct open_block *next;	/* in the list of spare ones */
};
struct cursor {
	struct open_block *b;
	int64_t start;			/* of its next row, for the heap */
	uint32_t row, end, ret;		/* next row, end of run, next entry of u.ret_row; all within the block */
	uint32_t track;
	uint8_t depth;
};
struct place { const struct gt_seg *seg; const struct gt_wire_entry *e; uint32_t group; };

struct gt_iter {
	struct gt_reader *reader;
	struct gt_filter filter;
	struct gt_wanted *wanted;
	struct place *places;		/* blocks by group of segments, then by earliest start */
	size_t nplaces, places_cap, next_place;
	struct cursor *heap;
	size_t nheap, heap_cap;
	struct open_block *spare;
	uint64_t args[GT_FIELDS_MAX];
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
	struct gt_reader *r = it->reader;

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

struct gt_iter *gt_iter_open(struct gt_reader *r, const struct gt_filter *filter, struct gt_err *err)
{
	struct gt_iter *it = calloc(1, sizeof(*it));
	int code = -ENOMEM;

	if (it) {
		it->reader = r;
		it->filter = *filter;
		it->wanted = calloc(r->nsegs, sizeof(*it->wanted));
		code = it->wanted ? 0 : -ENOMEM;
		for (size_t i = 0; !code && i < r->nsegs; i++)
			code = gt_wanted_init(&it->wanted[i], &r->segs[i].pub, &it->filter);
		if (!code)
			code = find_places(it);
	}
	if (!code)
		return it;
	gt_err_set(err, code, "out of memory");
	gt_iter_close(it);
	return NULL;
}

/* ---- blocks ---- */

static void drop_values(struct open_block *b)
{
	for (uint32_t c = 0; b->values && c < b->u.ntypes; c++)
		free(b->values[c]);
	free(b->values);
	free(b->nth);
	b->values = NULL;
	b->nth = NULL;
}

static int number_rows(struct open_block *b)
{
	uint16_t *count;

	b->values = calloc(b->u.ntypes + 1u, sizeof(*b->values));
	b->nth = malloc(b->u.nrows * sizeof(*b->nth) + 1);
	count = calloc(b->u.ntypes + 1u, sizeof(*count));
	for (uint32_t i = 0; b->values && b->nth && count && i < b->u.nrows; i++)
		b->nth[i] = count[b->u.code ? b->u.code[i] : 0]++;
	free(count);
	return b->values && b->nth ? 0 : -ENOMEM;
}

static bool before(const struct cursor *a, const struct cursor *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->depth != b->depth)
		return a->depth < b->depth;
	return a->track != b->track ? a->track < b->track : a->row < b->row;
}

static void sift_down(struct gt_iter *it, size_t i)
{
	struct cursor c = it->heap[i];

	for (size_t kid; (kid = 2 * i + 1) < it->nheap; i = kid) {
		if (kid + 1 < it->nheap && before(&it->heap[kid + 1], &it->heap[kid]))
			kid++;
		if (!before(&it->heap[kid], &c))
			break;
		it->heap[i] = it->heap[kid];
	}
	it->heap[i] = c;
}

static int push(struct gt_iter *it, const struct cursor *c)
{
	size_t i = it->nheap;

	if (gt_grow(&it->heap, &it->heap_cap, it->nheap + 1, sizeof(*it->heap)))
		return -ENOMEM;
	it->nheap++;
	for (; i && before(c, &it->heap[(i - 1) / 2]); i = (i - 1) / 2)
		it->heap[i] = it->heap[(i - 1) / 2];
	it->heap[i] = *c;
	return 0;
}

/* Moves a cursor to its next wanted row; false when its run is through. */
static bool settle(const struct gt_iter *it, struct cursor *c)
{
	const struct gt_unpacked *u = &c->b->u;
	const struct gt_wanted *w = &it->wanted[c->b->seg->pub.index];

	for (; c->row < c->end; c->row++) {
		uint32_t type = u->types[u->code ? u->code[c->row] : 0];

		if (!gt_wants_row(w, type, u->start[c->row], u->start[c->row] + u->dur[c->row]))
			continue;
		c->start = u->start[c->row];
		c->depth = u->depth ? u->depth[c->row] : 0;
		return true;
	}
	return false;
}

static int push_runs(struct gt_iter *it, struct open_block *b)
{
	const struct gt_wanted *w = &it->wanted[b->seg->pub.index];

	for (uint32_t r = 0; r < b->u.nruns; r++) {
		const struct gt_run *run = &b->u.runs[r];
		struct cursor c = { .b = b, .row = run->first, .end = run->first + run->n, .track = run->track };

		if ((w->tracks && run->track != GT_NONE && !w->tracks[run->track]) || !settle(it, &c))
			continue;
		if (push(it, &c))
			return -ENOMEM;
		b->cursors++;
	}
	return 0;
}

static void put_away(struct gt_iter *it, struct open_block *b)
{
	drop_values(b);
	b->next = it->spare;
	it->spare = b;
}

static int open_next(struct gt_iter *it, struct gt_err *err)
{
	const struct place *p = &it->places[it->next_place++];
	struct open_block *b = it->spare;
	struct gt_err why = GT_ERR_INIT;
	struct gt_span content;
	int code;

	if (b)
		it->spare = b->next;
	else if (!(b = calloc(1, sizeof(*b))))
		return gt_err_set(err, -ENOMEM, "out of memory");
	b->seg = p->seg;
	b->group = p->group;
	b->cursors = 0;
	code = gt_load(it->reader, p->seg, p->e, &b->loader, &content, &why);
	if (!code)
		code = gt_block_unpack(&b->u, (enum gt_kind)p->e->head.sub, content, p->e->head.rows, &p->seg->pub, &why);
	if (!code)
		code = number_rows(b);
	if (!code)
		code = push_runs(it, b);
	if (code == -EBADMSG)
		gt_note_damage(it->reader, p->seg, p->e, &why);
	if (!b->cursors)
		put_away(it, b);
	return code && code != -EBADMSG ? gt_err_set(err, code, "out of memory") : 0;
}

/* ---- rows ---- */

static const uint64_t *row_args(struct gt_iter *it, struct open_block *b, uint32_t row, unsigned code, unsigned nargs)
{
	uint32_t n = b->u.per_code[code];

	if (!b->values[code]) {
		b->values[code] = calloc((size_t)nargs * n + 1, 8);
		if (!b->values[code] || gt_block_values(&b->u, &b->seg->pub, code, b->values[code]))
			return NULL;
	}
	for (unsigned f = 0; f < nargs; f++)
		it->args[f] = b->values[code][(size_t)f * n + b->nth[row]];
	return it->args;
}

static int take(struct gt_iter *it, struct cursor *c, struct gt_event *ev, struct gt_err *err)
{
	struct gt_unpacked *u = &c->b->u;
	unsigned code = u->code ? u->code[c->row] : 0;

	while (c->ret < u->nret && u->ret_row[c->ret] < c->row)
		c->ret++;
	ev->seg = &c->b->seg->pub;
	ev->kind = u->kind;
	ev->track = c->track;
	ev->row = (struct gt_row){ .start = u->start[c->row], .end = u->start[c->row] + u->dur[c->row], .type = u->types[code],
				   .ret = c->ret < u->nret && u->ret_row[c->ret] == c->row ? u->ret[c->ret] : 0, .depth = c->depth,
				   .nargs = (uint8_t)gt_block_fields(u, ev->seg, code) };
	ev->args = ev->row.nargs ? row_args(it, c->b, c->row, code, ev->row.nargs) : it->args;
	return ev->args ? 1 : gt_err_set(err, -EBADMSG, "the arguments of a block are damaged");
}

int gt_iter_next(struct gt_iter *it, struct gt_event *ev, struct gt_err *err)
{
	struct cursor *top;
	int code;

	while (it->next_place < it->nplaces) {
		const struct place *p = &it->places[it->next_place];

		if (it->nheap && (p->e->head.min_start > it->heap[0].start || p->group != it->heap[0].b->group))
			break;
		if ((code = open_next(it, err)))
			return code;
	}
	if (!it->nheap)
		return 0;
	top = &it->heap[0];
	code = take(it, top, ev, err);
	if (code < 0)
		return code;
	top->row++;
	if (!settle(it, top)) {
		struct open_block *b = top->b;

		it->heap[0] = it->heap[--it->nheap];
		if (!--b->cursors)
			put_away(it, b);
	}
	if (it->nheap)
		sift_down(it, 0);
	return 1;
}

static void free_block(struct open_block *b)
{
	drop_values(b);
	gt_loader_release(&b->loader);
	gt_unpacked_release(&b->u);
	free(b);
}

void gt_iter_close(struct gt_iter *it)
{
	if (!it)
		return;
	for (size_t i = 0; i < it->nheap; i++)
		if (!--it->heap[i].b->cursors)
			free_block(it->heap[i].b);
	for (struct open_block *b = it->spare, *next; b; b = next) {
		next = b->next;
		free_block(b);
	}
	for (size_t i = 0; it->wanted && i < it->reader->nsegs; i++)
		gt_wanted_release(&it->wanted[i]);
	free(it->wanted);
	free(it->places);
	free(it->heap);
	free(it);
}
