#include <stdlib.h>
#include <string.h>

#include "viewer/model/archive_internal.h"
#include "analyze/gpu/work_kind.h"
#include "formats/base/sorted.h"

/* ---- lists of blocks ---- */

static int count_block(void *arg, const struct gt_block_info *f)
{
	struct gt_archive *a = arg;
	struct gt_archive_seg *s = &a->segs[f->segment];

	s->uppers |= f->upper;
	if (!f->kind && !f->upper) {
		if (gt_grow(&s->sums, &s->sums_cap, s->nsums + 1, sizeof(*s->sums)))
			return -ENOMEM;
		s->sums[s->nsums++] = (struct gt_epoch_sums){ f->epoch, f->entry, f->number };
	} else if (f->kind) {
		s->first[f->track + 1u + 1]++; /* moves the start of the next list */
		s->nblocks++;
	}
	return 0;
}

/* Fills each list from its start. first[] is the next free entry until make_lists() resets it. */
static int file_block(void *arg, const struct gt_block_info *f)
{
	struct gt_archive *a = arg;
	struct gt_archive_seg *s = &a->segs[f->segment];

	if (f->kind)
		s->blocks[s->first[f->track + 1u]++] = (struct gt_block){ .start = f->start,
			.end = f->end,
			.entry = f->entry,
			.number = f->number,
			.epoch = f->epoch,
			.rows = f->rows,
			.kind = f->kind };
	return 0;
}

static int by_start(const void *pa, const void *pb)
{
	const struct gt_block *a = pa, *b = pb;

	return GT_COMPARE(a->start, b->start) ?: GT_COMPARE(a->entry, b->entry);
}

static void order_list(struct gt_block *b, size_t n)
{
	bool sorted = true;

	for (size_t i = 1; sorted && i < n; i++)
		sorted = b[i - 1].start <= b[i].start;
	if (!sorted)
		qsort(b, n, sizeof(*b), by_start);
	for (size_t i = 0; i < n; i++)
		b[i].reach = i && b[i - 1].reach > b[i].end ? b[i - 1].reach : b[i].end;
}

static int make_lists(struct gt_archive *a, struct gt_err *err)
{
	int code = gt_each_block(a->reader, count_block, a, err);

	for (uint32_t i = 0; !code && i < a->nsegs; i++) {
		struct gt_archive_seg *s = &a->segs[i];

		for (size_t t = 1; t <= s->pub->ntracks + 1ul; t++)
			s->first[t] += s->first[t - 1];
		if (!(s->blocks = malloc((s->nblocks + 1) * sizeof(*s->blocks))))
			return -ENOMEM;
	}
	if (!code)
		code = gt_each_block(a->reader, file_block, a, err);
	for (uint32_t i = 0; !code && i < a->nsegs; i++) {
		struct gt_archive_seg *s = &a->segs[i];

		memmove(s->first + 1, s->first, (s->pub->ntracks + 1ul) * sizeof(*s->first));
		s->first[0] = 0;
		for (size_t t = 0; t <= s->pub->ntracks; t++)
			order_list(s->blocks + s->first[t], s->first[t + 1] - s->first[t]);
	}
	return code;
}

/* ---- one time for all segments ---- */

/* The first segment of its clock. */
static uint32_t clock_of(const struct gt_archive *a, uint32_t segment)
{
	for (uint32_t i = 0; i < segment; i++)
		if (gt_same_clock(a->segs[i].pub, a->segs[segment].pub))
			return i;
	return segment;
}

static bool is_empty(const struct gt_archive_seg *s) { return s->pub->min_start > s->pub->max_end; }

/* For each clock, at the index of its first segment: the extent of all its segments. */
static void find_extents(const struct gt_archive *a, struct gt_range *clocks, uint32_t *clock)
{
	for (uint32_t i = 0; i < a->nsegs; i++) {
		const struct gt_segment *seg = a->segs[i].pub;
		struct gt_range *r = &clocks[clock[i] = clock_of(a, i)];

		if (clock[i] == i)
			*r = (struct gt_range){ INT64_MAX, INT64_MIN };
		if (is_empty(&a->segs[i]))
			continue;
		r->from = seg->min_start < r->from ? seg->min_start : r->from;
		r->to = seg->max_end > r->to ? seg->max_end : r->to;
	}
}

static void place_segments(
	struct gt_archive *a, const struct gt_range *clocks, const uint32_t *clock)
{
	uint64_t longest = 1;
	int64_t first = 0;
	bool found = false;

	for (uint32_t i = 0; i < a->nsegs; i++)
		if (clock[i] == i && clocks[i].from <= clocks[i].to &&
			(uint64_t)(clocks[i].to - clocks[i].from) > longest)
			longest = (uint64_t)(clocks[i].to - clocks[i].from);
	while (a->widest < 58 && longest >> a->widest >= 32)
		a->widest++;
	a->from = INT64_MAX;
	a->to = INT64_MIN;
	for (uint32_t i = 0; i < a->nsegs; i++) {
		const struct gt_range *r = &clocks[clock[i]];
		struct gt_archive_seg *s = &a->segs[i];

		if (r->from > r->to)
			continue;
		if (!found)
			first = r->from;
		found = true;
		s->offset = (int64_t)((uint64_t)((r->from >> a->widest) - (first >> a->widest))
			<< a->widest);
		if (clock[i] == clock[0])
			s->offset = 0;
		if (is_empty(s))
			continue;
		a->from = s->pub->min_start - s->offset < a->from ? s->pub->min_start - s->offset
								  : a->from;
		a->to = s->pub->max_end - s->offset > a->to ? s->pub->max_end - s->offset : a->to;
	}
	if (!found)
		a->from = a->to = 0;
}

static int find_offsets(struct gt_archive *a)
{
	struct gt_range *clocks = calloc(a->nsegs + 1ul, sizeof(*clocks));
	uint32_t *clock = calloc(a->nsegs + 1ul, sizeof(*clock));
	int code = clocks && clock ? 0 : -ENOMEM;

	if (!code) {
		find_extents(a, clocks, clock);
		place_segments(a, clocks, clock);
	}
	free(clocks);
	free(clock);
	return code;
}

/* ---- open and close ---- */

static int make_segments(struct gt_archive *a)
{
	a->nsegs = gt_reader_segments(a->reader);
	a->segs = calloc(a->nsegs + 1ul, sizeof(*a->segs));
	for (uint32_t i = 0; a->segs && i < a->nsegs; i++) {
		struct gt_archive_seg *s = &a->segs[i];

		s->pub = gt_reader_segment(a->reader, i);
		s->first = calloc(s->pub->ntracks + 3ul, sizeof(*s->first));
		s->depths = calloc(s->pub->ntracks + 1ul, sizeof(*s->depths));
		if (!s->first || !s->depths)
			return -ENOMEM;
	}
	return a->segs ? 0 : -ENOMEM;
}

static int find_communication(struct gt_archive_seg *s)
{
	for (uint32_t t = 0; s->pub->rows[GT_GPU] && t < s->pub->ntypes; t++) {
		if (s->pub->types[t].layer != GT_LAYER_GPU ||
			gt_work_kind(s->pub, &s->pub->types[t]) != GT_WORK_COMMUNICATION)
			continue;
		if (!s->communication &&
			!(s->communication = calloc(s->pub->ntypes, sizeof(*s->communication))))
			return -ENOMEM;
		s->communication[t] = true;
	}
	return 0;
}

struct gt_archive *gt_archive_open(struct gt_reader *r, struct gt_err *err)
{
	struct gt_archive *a = calloc(1, sizeof(*a));
	int code;

	if (!a) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	a->reader = r;
	code = make_segments(a);
	if (!code)
		code = find_offsets(a);
	for (uint32_t i = 0; !code && i < a->nsegs; i++)
		code = find_communication(&a->segs[i]);
	if (!code)
		code = make_lists(a, err);
	if (!code)
		code = gt_archive_read_uppers(a, err);
	if (!code)
		code = gt_archive_read_unfinished(a, err);
	if (!code)
		return a;
	gt_err_set(err, code, "out of memory");
	gt_archive_close(a);
	return NULL;
}

void gt_archive_close(struct gt_archive *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; a->segs && i < a->nsegs; i++) {
		free(a->segs[i].blocks);
		free(a->segs[i].first);
		free(a->segs[i].sums);
		free(a->segs[i].depths);
		free(a->segs[i].communication);
	}
	free(a->segs);
	free(a->open_calls);
	gt_archive_release_sums(a);
	gt_archive_release_rows(a);
	free(a);
}

/* ---- access ---- */

struct gt_reader *gt_archive_reader(const struct gt_archive *a) { return a->reader; }

bool gt_archive_is_communication(const struct gt_archive *a, uint32_t segment, uint32_t type)
{
	const struct gt_archive_seg *s = &a->segs[segment];

	return s->communication && type < s->pub->ntypes && s->communication[type];
}

bool gt_archive_has_communication(const struct gt_archive *a, uint32_t segment)
{
	return a->segs[segment].communication;
}

int64_t gt_archive_offset(const struct gt_archive *a, uint32_t segment)
{
	return a->segs[segment].offset;
}

int gt_archive_limit(const struct gt_archive *a, struct gt_range to, struct gt_filter *f,
	struct gt_range **ranges, struct gt_err *err)
{
	struct gt_range *r;

	*ranges = NULL;
	if (to.from == INT64_MIN && to.to == INT64_MAX)
		return 0;
	*ranges = r = calloc(a->nsegs + 1ul, sizeof(*r));
	if (!r)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < a->nsegs; i++)
		r[i] = (struct gt_range){ to.from + a->segs[i].offset, to.to + a->segs[i].offset };
	f->ranged = true;
	f->from = a->nsegs ? r[0].from : to.from;
	f->to = a->nsegs ? r[0].to : to.to;
	f->ranges = r;
	return 0;
}

unsigned gt_archive_widest_cell(const struct gt_archive *a) { return a->widest; }
bool gt_archive_has_uppers(const struct gt_archive *a, uint32_t segment)
{
	return a->segs[segment].uppers;
}

void gt_archive_extent(const struct gt_archive *a, int64_t *from, int64_t *to)
{
	*from = a->from;
	*to = a->to;
}

struct gt_block_list gt_archive_blocks(const struct gt_archive *a, uint32_t segment, uint32_t track)
{
	const struct gt_archive_seg *s = &a->segs[segment];
	size_t from = s->first[track + 1u]; /* GT_NONE + 1 is 0 */

	return (struct gt_block_list){ s->blocks + from, s->first[track + 1u + 1] - from };
}

struct gt_block_list gt_archive_all_blocks(const struct gt_archive *a, uint32_t segment)
{
	return (struct gt_block_list){ a->segs[segment].blocks, a->segs[segment].nblocks };
}

int gt_archive_scan(const struct gt_archive *a, uint32_t segment, const struct gt_block *block,
	bool args, gt_scan_fn *fn, void *arg, struct gt_err *err)
{
	const struct gt_filter one = {
		.segment = segment + 1, .entries = &block->entry, .nentries = 1, .args = args
	};

	return gt_scan(a->reader, &one, GT_ANY_ORDER, 1, fn, arg, err);
}

size_t gt_blocks_from(struct gt_block_list l, int64_t from)
{
	return GT_LOWER_BOUND(i, 0, l.n, l.blocks[i].reach <= from && l.blocks[i].start < from);
}

const struct gt_block *gt_archive_same_block(
	const struct gt_archive *a, uint32_t segment, uint32_t track, const struct gt_block *was)
{
	const uint32_t lists[] = { track, GT_NONE };

	for (unsigned k = 0; k < 2; k++) {
		struct gt_block_list l = gt_archive_blocks(a, segment, lists[k]);

		for (size_t i = gt_blocks_from(l, was->start);
			i < l.n && l.blocks[i].start <= was->start; i++)
			if (l.blocks[i].number == was->number && l.blocks[i].epoch == was->epoch &&
				l.blocks[i].kind == was->kind)
				return &l.blocks[i];
	}
	return NULL;
}

uint32_t gt_archive_above(const struct gt_archive *a, uint32_t segment, uint32_t track)
{
	return gt_summary_above(a->segs[segment].pub, track);
}

bool gt_archive_joins(const struct gt_archive *a, uint32_t segment, uint32_t track, uint32_t in)
{
	return gt_summary_joins(a->segs[segment].pub, track, in);
}

void gt_archive_note_depth(struct gt_archive *a, uint32_t segment, uint32_t track,
	enum gt_aspect aspect, unsigned depth)
{
	a->segs[segment].depths[track][aspect] |=
		(uint8_t)(1u << (depth < GT_SUMMARY_DEPTHS ? depth : GT_SUMMARY_DEPTHS - 1));
}

unsigned gt_archive_depths(
	const struct gt_archive *a, uint32_t segment, uint32_t track, enum gt_aspect aspect)
{
	return a->segs[segment].depths[track][aspect];
}

#define SHARED_BLOCKS 64u /* of instants of several tracks, that are opened */

/* Opening a block notes the depths of its rows: the first one of each track is enough. */
int gt_archive_find_instants(struct gt_archive *a, struct gt_err *err)
{
	for (uint32_t i = 0; i < a->nsegs; i++) {
		const struct gt_segment *seg = a->segs[i].pub;

		if (!seg->rows[GT_INSTANT])
			continue;
		for (uint32_t t = 0; t <= seg->ntracks; t++) {
			bool shared = t == seg->ntracks;
			struct gt_block_list l = gt_archive_blocks(a, i, shared ? GT_NONE : t);
			unsigned left = shared ? SHARED_BLOCKS : 1;

			for (size_t k = 0; left && k < l.n; k++)
				if (l.blocks[k].kind == GT_INSTANT && left-- &&
					!gt_archive_rows(a, i, &l.blocks[k], err))
					return -ENOMEM;
		}
	}
	return 0;
}

void gt_archive_take_depths(struct gt_archive *a, struct gt_depths *to)
{
	gt_depths_release(to);
	to->of = calloc(a->nsegs + 1ul, sizeof(*to->of));
	for (; to->of && to->n < a->nsegs; to->n++) {
		struct gt_archive_seg *s = &a->segs[to->n];

		to->of[to->n] = (struct gt_depths_of){ s->depths, s->pub->ntracks };
		s->depths = NULL;
	}
}

void gt_archive_add_depths(struct gt_archive *a, const struct gt_depths *from)
{
	for (uint32_t i = 0; i < from->n && i < a->nsegs; i++)
		for (uint32_t t = 0; !a->segs[i].uppers && t < from->of[i].ntracks &&
			t < a->segs[i].pub->ntracks;
			t++)
			for (unsigned k = 0; k < GT_ASPECTS; k++)
				a->segs[i].depths[t][k] |= from->of[i].bits[t][k];
}

void gt_depths_release(struct gt_depths *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		free(d->of[i].bits);
	free(d->of);
	*d = (struct gt_depths){ .n = 0 };
}
