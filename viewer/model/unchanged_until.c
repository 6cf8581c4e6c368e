#include "viewer/model/unchanged_until.h"

#include <stdlib.h>
#include "formats/base/map.h"

/* Blocks of unfinished calls are written again in every epoch and are ignored here. */
static uint64_t sum_of(const struct gt_block *b)
{
	uint64_t h = gt_hash_u64(b->kind);

	h = gt_hash_u64(h ^ ((uint64_t)b->entry << 32 | b->number));
	h = gt_hash_u64(h ^ ((uint64_t)b->epoch << 32 | b->rows));
	return gt_hash_u64(gt_hash_u64(h ^ (uint64_t)b->start) ^ (uint64_t)b->end);
}

static void count(struct gt_unchanged_segment *s, const struct gt_block *b)
{
	s->blocks++;
	s->sum += sum_of(b);
}

static struct gt_unchanged_segment sum_up(const struct gt_archive *a, const struct gt_segment *seg)
{
	struct gt_unchanged_segment s = {
		.id = seg->id, .from = seg->min_start, .ntracks = seg->ntracks
	};
	struct gt_block_list list = gt_archive_all_blocks(a, seg->index);

	for (size_t i = 0; i < list.n; i++) {
		const struct gt_block *b = &list.blocks[i];

		if (b->kind == GT_OPEN)
			continue;
		count(&s, b);
		s.last = b->entry > s.last ? b->entry : s.last;
	}
	return s;
}

void gt_unchanged_until_release(struct gt_unchanged_until *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->segs[i].floor);
	free(s->segs);
	*s = (struct gt_unchanged_until){ .n = 0 };
}

void gt_unchanged_until_save(struct gt_unchanged_until *s, const struct gt_archive *a)
{
	struct gt_reader *r = gt_archive_reader(a);
	uint32_t n = gt_reader_segments(r);

	gt_unchanged_until_release(s);
	s->segs = calloc(n + 1ul, sizeof(*s->segs));
	for (; s->segs && s->n < n; s->n++)
		s->segs[s->n] = sum_up(a, gt_reader_segment(r, s->n));
}

/* ---- new blocks ---- */

static int64_t (*new_floors(uint64_t ntracks))[GT_KINDS]
{
	int64_t(*floor)[GT_KINDS] = malloc((ntracks + 1) * sizeof(*floor));

	for (uint64_t l = 0; floor && l <= ntracks; l++)
		for (unsigned k = 0; k < GT_KINDS; k++)
			floor[l][k] = INT64_MAX;
	return floor;
}

static void look_at(
	struct gt_unchanged_segment *s, const struct gt_archive *a, const struct gt_segment *seg)
{
	struct gt_unchanged_segment now = { .sum = 0 };

	s->floor = seg->id == s->id && s->blocks && seg->ntracks >= s->ntracks
		? new_floors(seg->ntracks)
		: NULL;
	for (uint64_t l = 0; s->floor && l <= seg->ntracks; l++) {
		/* 0: GT_NONE */
		struct gt_block_list list = gt_archive_blocks(a, seg->index, (uint32_t)(l - 1));

		for (size_t i = 0; i < list.n; i++) {
			const struct gt_block *b = &list.blocks[i];

			if (b->kind != GT_OPEN && b->entry <= s->last)
				count(&now, b);
			else if (b->start < s->floor[l][b->kind])
				s->floor[l][b->kind] = b->start;
		}
	}
	s->ntracks = seg->ntracks;
	if (!s->floor || (now.blocks == s->blocks && now.sum == s->sum))
		return;
	free(s->floor);
	s->floor = NULL;
}

void gt_unchanged_until_compare(struct gt_unchanged_until *s, const struct gt_archive *a)
{
	struct gt_reader *r = gt_archive_reader(a);

	for (uint32_t i = 0; i < s->n; i++) {
		free(s->segs[i].floor);
		s->segs[i].floor = NULL;
		if (i < gt_reader_segments(r))
			look_at(&s->segs[i], a, gt_reader_segment(r, i));
	}
}

int64_t gt_unchanged_until_time(
	const struct gt_unchanged_until *s, uint32_t segment, uint32_t track, uint32_t kinds)
{
	const struct gt_unchanged_segment *seg = &s->segs[segment];
	int64_t least = INT64_MAX;

	if (segment >= s->n || !seg->floor || (track != GT_NONE && track >= seg->ntracks))
		return INT64_MIN;
	for (unsigned k = 0; k < GT_KINDS; k++) {
		if (!(kinds & GT_BIT(k)))
			continue;
		least = seg->floor[0][k] < least ? seg->floor[0][k] : least;
		least = seg->floor[track + 1u][k] < least ? seg->floor[track + 1u][k] : least;
	}
	return least;
}

int64_t gt_unchanged_until_start(const struct gt_unchanged_until *s, uint32_t segment)
{
	return segment < s->n ? s->segs[segment].from : INT64_MAX;
}
