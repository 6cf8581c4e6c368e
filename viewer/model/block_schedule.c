#include <stdlib.h>

#include "viewer/model/block_schedule.h"
#include "formats/base/sorted.h"

static const uint32_t kinds_of[GT_ASPECTS] = {
	[GT_ASPECT_CALLS] = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN),
	[GT_ASPECT_IOCTLS] = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN),
	[GT_ASPECT_RANGES] = GT_BIT(GT_SPAN),
	[GT_ASPECT_OTHERS] = GT_BIT(GT_SPAN),
	[GT_ASPECT_WORK] = GT_BIT(GT_GPU),
	[GT_ASPECT_HTOD] = GT_BIT(GT_GPU),
	[GT_ASPECT_DTOH] = GT_BIT(GT_GPU),
	[GT_ASPECT_COPIES] = GT_BIT(GT_GPU),
	[GT_ASPECT_STATES] = GT_BIT(GT_SPAN),
	[GT_ASPECT_SAMPLES] = GT_BIT(GT_INSTANT),
	[GT_ASPECT_INSTANTS] = GT_BIT(GT_INSTANT),
};

uint32_t gt_strip_kinds(const struct gt_strip_key *of) { return kinds_of[of->aspect]; }

bool gt_strip_shows(
	const struct gt_strip_key *of, unsigned aspect, unsigned row_depth, unsigned *depth)
{
	unsigned own = gt_aspect_is_copies(aspect) ? GT_ASPECT_WORK : aspect;
	enum gt_aspect wanted = of->aspect;

	*depth = gt_aspect_depth(wanted, row_depth);
	if (wanted == GT_ASPECT_CALLS)
		return (aspect == GT_ASPECT_CALLS || aspect == GT_ASPECT_IOCTLS) &&
			!(of->derived && row_depth);
	return gt_aspect_is_copies(wanted) ? aspect == wanted : own == wanted;
}

/* ---- targets ---- */

static int add_target(
	struct gt_block_schedule *v, uint32_t track, const struct gt_strip_key *of, uint32_t strip)
{
	if (gt_grow(&v->targets, &v->targets_cap, v->ntargets + 1, sizeof(*v->targets)))
		return -ENOMEM;
	v->targets[v->ntargets++] = (struct gt_row_target){ track, strip,
		gt_strip_kinds(of) & ~v->without, of->derived, INT64_MIN };
	return 0;
}

int gt_block_schedule_add(struct gt_block_schedule *v, const struct gt_archive *a,
	const struct gt_strip_key *of, uint32_t strip)
{
	uint32_t ntracks =
		of->derived ? gt_reader_segment(gt_archive_reader(a), of->segment)->ntracks : 0;
	int code = of->derived ? 0 : add_target(v, of->track, of, strip);

	for (uint32_t t = 0; !code && t < ntracks; t++)
		if (gt_archive_joins(a, of->segment, t, of->track))
			code = add_target(v, t, of, strip);
	return code;
}

static int by_track(const void *pa, const void *pb)
{
	const struct gt_row_target *a = pa, *b = pb;

	return GT_COMPARE(a->track, b->track) ?: GT_COMPARE(a->strip, b->strip);
}

const struct gt_row_target *gt_row_targets_of(const struct gt_block_schedule *v, uint32_t track)
{
	return v->targets + GT_LOWER_BOUND(i, 0, v->ntargets, v->targets[i].track < track);
}

/* ---- blocks ---- */

/* Adds the blocks of a list with rows of these kinds in the range. by_rows: kinds for which
 * summaries do not suffice. */
static int add_list(struct gt_block_schedule *v, struct gt_block_list list, uint32_t track,
	uint32_t kinds, uint32_t by_rows, struct gt_range range)
{
	int64_t reach[GT_KINDS]; /* of the blocks of a kind so far */
	size_t last[GT_KINDS];   /* the last one of a kind, in todo */

	for (unsigned k = 0; k < GT_KINDS; k++)
		reach[k] = INT64_MIN, last[k] = SIZE_MAX;
	for (size_t i = gt_blocks_from(list, range.from);
		i < list.n && list.blocks[i].start < range.to; i++) {
		const struct gt_block *b = &list.blocks[i];
		struct gt_planned_block one = { b, track,
			track != GT_NONE && b->rows >= GT_SUMMARY_ROWS &&
				!(by_rows & GT_BIT(b->kind)) };

		if (!(kinds & GT_BIT(b->kind)) || (b->end <= range.from && b->start < range.from))
			continue;
		if (gt_grow(&v->todo, &v->todo_cap, v->ntodo + 1, sizeof(*v->todo)))
			return -ENOMEM;
		if (b->kind != GT_CALL && b->start < reach[b->kind])
			one.summed = v->todo[last[b->kind]].summed = false;
		reach[b->kind] = b->end > reach[b->kind] ? b->end : reach[b->kind];
		last[b->kind] = v->ntodo;
		v->todo[v->ntodo++] = one;
	}
	return 0;
}

static int by_start(const void *pa, const void *pb)
{
	const struct gt_planned_block *a = pa, *b = pb;

	return GT_COMPARE(a->block->start, b->block->start)
		?: GT_COMPARE(a->block->entry, b->block->entry);
}

/* Rows that may overlap on their track may also overlap with rows in a block of several tracks:
 * then summaries do not suffice. */
static void look_at_shared(struct gt_block_schedule *v)
{
	int64_t reach[GT_KINDS], next[GT_KINDS];

	for (unsigned k = 0; k < GT_KINDS; k++)
		reach[k] = INT64_MIN, next[k] = INT64_MAX;
	for (size_t i = 0; i < v->ntodo; i++) {
		const struct gt_block *b = v->todo[i].block;

		if (v->todo[i].track == GT_NONE)
			reach[b->kind] = b->end > reach[b->kind] ? b->end : reach[b->kind];
		else if (b->kind != GT_CALL && b->start < reach[b->kind])
			v->todo[i].summed = false;
	}
	for (size_t i = v->ntodo; i-- > 0;) {
		const struct gt_block *b = v->todo[i].block;

		if (v->todo[i].track == GT_NONE)
			next[b->kind] = b->start;
		else if (b->kind != GT_CALL && b->end > next[b->kind])
			v->todo[i].summed = false;
	}
}

static struct gt_range behind(struct gt_range range, int64_t from)
{
	return (struct gt_range){ from > range.from ? from : range.from, range.to };
}

int gt_block_schedule_find(struct gt_block_schedule *v, const struct gt_archive *a,
	uint32_t segment, struct gt_range range)
{
	uint32_t all = 0, kinds, by_rows;
	int64_t first = INT64_MAX;
	int code = 0;

	v->ntodo = 0;
	if (v->ntargets)
		qsort(v->targets, v->ntargets, sizeof(*v->targets), by_track);
	for (size_t i = 0, next; !code && i < v->ntargets; i = next) {
		uint32_t track = v->targets[i].track;
		int64_t from = INT64_MAX;

		kinds = by_rows = 0;
		for (next = i; next < v->ntargets && v->targets[next].track == track; next++) {
			kinds |= v->targets[next].kinds;
			by_rows |= v->targets[next].derived ? v->targets[next].kinds : 0;
			from = v->targets[next].from < from ? v->targets[next].from : from;
		}
		all |= kinds;
		first = from < first ? from : first;
		code = add_list(v, gt_archive_blocks(a, segment, track), track, kinds, by_rows,
			behind(range, from));
	}
	if (!code)
		code = add_list(v, gt_archive_blocks(a, segment, GT_NONE), GT_NONE, all, all,
			behind(range, first));
	if (v->ntodo)
		qsort(v->todo, v->ntodo, sizeof(*v->todo), by_start);
	look_at_shared(v);
	return code;
}

void gt_block_schedule_clear(struct gt_block_schedule *v) { v->ntargets = v->ntodo = 0; }

void gt_block_schedule_release(struct gt_block_schedule *v)
{
	free(v->targets);
	free(v->todo);
}
