/* The reader lists damage by its position in the file, and a lane's blocks are known by their
 * times. A block of the lane with the times and the number of rows of a damage is the damaged
 * block. */
#include "viewer/lanes/damaged_ranges.h"

#include <stdlib.h>
#include "formats/base/sorted.h"
#include "formats/base/buf.h"

/* the viewer's time */
struct piece {
	int64_t from, to;
	uint64_t rows;
	struct gt_damaged_block block;
};
struct pieces {
	struct piece *list;
	size_t n, cap;
};

/* The block of the list that is damaged, or NULL. */
static const struct gt_block *block_of(
	struct gt_block_list l, uint32_t kinds, const struct gt_damage *d)
{
	for (size_t i = gt_blocks_from(l, d->min_start);
		i < l.n && l.blocks[i].start <= d->min_start; i++)
		if (l.blocks[i].start == d->min_start && l.blocks[i].end == d->max_end &&
			l.blocks[i].rows == d->rows && kinds & GT_BIT(l.blocks[i].kind))
			return &l.blocks[i];
	return NULL;
}

/* The damaged block if it has rows of one of the tracks. Blocks of several tracks count as blocks
 * of each. */
static const struct gt_block *find_block(struct gt_archive *a, const struct gt_block_schedule *v,
	const struct gt_damage *d, bool *shared)
{
	const struct gt_block *b = NULL;
	uint32_t kinds = 0;

	for (size_t i = 0; !b && i < v->ntargets; i++) {
		kinds |= v->targets[i].kinds;
		b = block_of(gt_archive_blocks(a, d->segment, v->targets[i].track),
			v->targets[i].kinds, d);
	}
	*shared = !b;
	return b ? b : block_of(gt_archive_blocks(a, d->segment, GT_NONE), kinds, d);
}

static int find_pieces(struct gt_archive *a, const struct gt_strip_key *of, struct pieces *p)
{
	size_t n;
	const struct gt_damage *damage = gt_reader_damage(gt_archive_reader(a), &n);
	int64_t offset = gt_archive_offset(a, of->segment);
	struct gt_block_schedule v = { .without = GT_BIT(GT_OPEN) }; /* as lane cells do */
	int code = gt_block_schedule_add(&v, a, of, 0);

	for (size_t i = 0; !code && i < n; i++) {
		bool shared;
		const struct gt_block *b = damage[i].segment == of->segment
			? find_block(a, &v, &damage[i], &shared)
			: NULL;

		if (!b)
			continue;
		code = gt_grow(&p->list, &p->cap, p->n + 1, sizeof(*p->list)) ? -ENOMEM : 0;
		if (!code)
			p->list[p->n++] =
				(struct piece){ b->start - offset, b->end - offset + 1, b->rows,
					{ (uint32_t)i, b->number, (enum gt_kind)b->kind, shared } };
	}
	gt_block_schedule_release(&v);
	return code;
}

static int by_start(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	return GT_COMPARE(a->from, b->from) ?: GT_COMPARE(a->block.number, b->block.number);
}

static void begin(struct gt_damaged_range *h, const struct piece *p, int64_t apart)
{
	*h = (struct gt_damaged_range){ .from = p->from, .to = p->to, .apart = apart };
}

static void add(struct gt_damaged_range *h, const struct piece *p)
{
	h->to = p->to > h->to ? p->to : h->to;
	h->blocks++;
	h->rows += p->rows;
	if (h->n < GT_DAMAGED_BLOCKS)
		h->list[h->n++] = p->block;
}

int gt_damaged_range_at(struct gt_archive *a, const struct gt_strip_key *of, int64_t from,
	int64_t to, int64_t apart, struct gt_damaged_range *hole, struct gt_err *err)
{
	struct pieces p = { .n = 0 };
	int code = find_pieces(a, of, &p);
	bool found = false;

	if (p.n)
		qsort(p.list, p.n, sizeof(*p.list), by_start);
	for (size_t i = 0; !code && i < p.n; i++) {
		if (!i || p.list[i].from > hole->to + apart) {
			if (found)
				break;
			begin(hole, &p.list[i], apart);
		}
		add(hole, &p.list[i]);
		found |= p.list[i].from < to && p.list[i].to > from;
	}
	free(p.list);
	return code ? gt_err_set(err, code, "out of memory") : found;
}
