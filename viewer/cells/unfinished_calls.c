/* Unfinished calls last until the recording ended, so the calls of a lane cover one range from
 * the start of the first of them. Cells within the range are busy. In the cell where the range
 * starts, earlier calls that had returned add busy time if the lane is one depth of one thread.
 * In a union the two may overlap, so that cell is rough until the busy time before the range is
 * measured (unfinished_edges.h). */
#include "viewer/cells/unfinished_calls.h"
#include "formats/base/sorted.h"

struct stretch {
	int64_t from, to; /* the viewer's time */
	int64_t end;      /* no call returned after it */
	uint8_t category; /* of the call with the earliest start */
	bool nests;       /* no call that returned overlaps it */
};

/* The first call of this or a later track. */
static size_t first_of(
	const struct gt_unfinished_call *calls, size_t n, uint32_t segment, uint32_t track)
{
	return GT_LOWER_BOUND(i, 0, n,
		calls[i].segment < segment ||
			(calls[i].segment == segment && calls[i].track < track));
}

static bool is_shown(
	const struct gt_unfinished_call *c, const struct gt_strip_key *of, unsigned depth)
{
	unsigned at;

	if ((of->derived ? c->above : c->track) != of->track ||
		!gt_strip_shows(of, c->aspect, c->depth, &at))
		return false;
	return (at < GT_SUMMARY_DEPTHS ? at : GT_SUMMARY_DEPTHS - 1) == depth;
}

static struct gt_cell_sums *cell_at(
	const struct gt_cell_window *w, struct gt_cell_sums *cells, int64_t t)
{
	int64_t i = gt_window_column(w, t);

	return i >= 0 && i < (int64_t)w->cells ? &cells[i] : NULL;
}

/* Notes single calls: the cell of their start and the cell of their end. */
static void note_call(const struct gt_cell_window *w, struct gt_cell_sums *cells,
	const struct gt_unfinished_call *c, int64_t offset)
{
	int64_t start = c->start - offset, end = c->end - offset;
	struct gt_cell_sums *first = cell_at(w, cells, start),
			    *last = cell_at(w, cells, end > start ? end - 1 : end);

	if (first && first->sureness != GT_CELL_UNKNOWN) {
		first->count++;
		if ((uint64_t)(end - start) > first->longest || first->count == 1) {
			first->longest = (uint64_t)(end - start);
			first->longest_at = c->start;
		}
	}
	if (last)
		last->open++;
}

/* Adds the part of a cell that the range covers. all: no other call is in the cell. */
static void cover_cell(
	const struct stretch *s, uint64_t part, bool all, uint64_t width, struct gt_cell_sums *c)
{
	uint64_t other = all ? 0 : c->busy;

	if (c->sureness == GT_CELL_UNKNOWN)
		return;
	if (other && !s->nests && c->sureness == GT_CELL_EXACT)
		c->sureness = GT_CELL_ROUGH;
	if (part >= other)
		c->category = s->category;
	c->busy = other + part < width ? other + part : width;
}

static void cover(
	const struct gt_cell_window *w, const struct stretch *s, struct gt_cell_sums *cells)
{
	int64_t first = gt_window_column(w, s->from), last = gt_window_column(w, s->to - 1);

	for (int64_t i = first < 0 ? 0 : first; i <= last && i < (int64_t)w->cells; i++) {
		int64_t begin = gt_cell_start(w, i), end = gt_cell_start(w, i + 1), from = begin,
			to = end;

		from = s->from > from ? s->from : from;
		to = s->to < to ? s->to : to;
		cover_cell(s, (uint64_t)(to - from), from == begin && (to == end || to >= s->end),
			(uint64_t)(end - begin), &cells[i]);
	}
}

/* True if rows of the lane never overlap in time. Rows deeper than the last depth count in that
 * depth, so they may overlap. In a recording that was not closed, a call may be listed both as
 * unfinished and as returned. */
static bool nests(const struct gt_archive *a, const struct gt_segment *seg,
	const struct gt_strip_key *of, unsigned depth)
{
	return seg->closed &&
		(of->derived ? gt_archive_only_caller(a, of->segment, of->track) != GT_NONE
			     : depth + 1 < GT_SUMMARY_DEPTHS);
}

/* The range of the unfinished calls in a strip at a depth; from == to: there are none. cells:
 * where single calls are noted, or NULL. */
static struct stretch stretch_of(const struct gt_archive *a, const struct gt_strip_key *of,
	unsigned depth, const struct gt_cell_window *w, struct gt_cell_sums *cells)
{
	const struct gt_segment *seg =
		gt_reader_segment(gt_archive_reader((struct gt_archive *)a), of->segment);
	int64_t offset = gt_archive_offset(a, of->segment);
	struct stretch s = { .from = INT64_MAX,
		.to = INT64_MIN,
		.end = gt_archive_calls_end(a, of->segment) - offset };
	size_t n;
	const struct gt_unfinished_call *calls = gt_archive_unfinished_calls(a, &n);

	for (size_t i = first_of(calls, n, of->segment, of->derived ? 0 : of->track);
		i < n && calls[i].segment == of->segment; i++) {
		if (!of->derived && calls[i].track != of->track)
			break;
		if (!is_shown(&calls[i], of, depth))
			continue;
		if (cells)
			note_call(w, cells, &calls[i], offset);
		if (calls[i].end <= calls[i].start)
			continue;
		if (calls[i].start - offset < s.from)
			s.category = seg->types[calls[i].type].category;
		s.from = calls[i].start - offset < s.from ? calls[i].start - offset : s.from;
		s.to = calls[i].end - offset > s.to ? calls[i].end - offset : s.to;
	}
	if (s.from >= s.to)
		s.from = s.to = 0;
	s.nests = s.from < s.to && nests(a, seg, of, depth);
	return s;
}

void gt_unfinished_calls_cover(const struct gt_archive *a, const struct gt_cell_window *w,
	const struct gt_strip_key *of, unsigned depth, struct gt_cell_sums *cells)
{
	struct stretch s = stretch_of(a, of, depth, w, cells);

	if (s.from < s.to)
		cover(w, &s, cells);
}

bool gt_unfinished_calls_first_start(
	const struct gt_archive *a, const struct gt_strip_key *of, unsigned depth, int64_t *from)
{
	struct stretch s = stretch_of(a, of, depth, NULL, NULL);

	*from = s.from;
	return s.from < s.to && !s.nests;
}

/* If the recording ended in the same cell, calls that returned after the start cannot be separated:
 * the cell stays rough. */
void gt_unfinished_calls_finish(const struct gt_archive *a, const struct gt_cell_window *w,
	const struct gt_strip_key *of, unsigned depth, uint64_t before, struct gt_cell_sums *cells)
{
	struct stretch s = stretch_of(a, of, depth, NULL, NULL);
	struct gt_cell_sums *c = s.from < s.to ? cell_at(w, cells, s.from) : NULL;
	int64_t end = gt_cell_start(w, gt_window_column(w, s.from) + 1);

	if (!c || c->sureness != GT_CELL_ROUGH || (s.to < end && s.to < s.end))
		return;
	end = s.to < end ? s.to : end;
	c->busy = before + (uint64_t)(end - s.from);
	c->category = (uint64_t)(end - s.from) >= before ? s.category : c->category;
	c->sureness = GT_CELL_EXACT;
}

/* ---- order ---- */

/* True if a is before b: the longest first, then by place, the outermost first. */
static bool is_before(const struct gt_unfinished_call *a, const struct gt_unfinished_call *b)
{
	int64_t had = a->end - a->start, has = b->end - b->start;

	return had != has ? had > has : a < b;
}

const struct gt_unfinished_call *gt_unfinished_calls_next(
	const struct gt_archive *a, const struct gt_unfinished_call *last)
{
	const struct gt_unfinished_call *first = NULL, *next = NULL;
	size_t n;
	const struct gt_unfinished_call *calls = gt_archive_unfinished_calls(a, &n);

	for (size_t i = 0; i < n; i++) {
		if (!first || is_before(&calls[i], first))
			first = &calls[i];
		if (last && is_before(last, &calls[i]) && (!next || is_before(&calls[i], next)))
			next = &calls[i];
	}
	return next ? next : first;
}
