/* Shared by the tests of strips: cells that are counted from every row of a trace. */
#ifndef COUNTED_CELLS_H
#define COUNTED_CELLS_H
#include "tests/unit/viewer/view_program.h"
#include "viewer/cells/measure.h"
#include "viewer/lanes/window.h"

#define MOST_CELLS 300u

struct seen_row {
	uint32_t segment, track;
	enum gt_kind kind;
	uint32_t type;
	int64_t start, end;
	unsigned depth;
	uint64_t bytes;
	unsigned aspect;
};

static struct seen_row *rows;
static size_t nrows, rows_cap;

static inline void read_rows(struct gt_reader *r)
{
	struct gt_filter all = { .kinds = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) |
			GT_BIT(GT_GPU) };
	struct gt_err err = GT_ERR_INIT;
	struct gt_iter *it = gt_iter_open(r, &all, &err);
	struct gt_event ev;

	nrows = 0;
	while (it && gt_iter_next(it, &ev, &err) > 0) {
		const struct gt_type *t = &ev.seg->types[ev.row.type];
		struct seen_row row = { ev.seg->index, ev.track, ev.kind, ev.row.type, ev.row.start,
			ev.row.end, ev.row.depth, 0, 0 };

		for (unsigned f = 0; f < t->nfields; f++) {
			row.bytes = t->fields[f].role == GT_R_BYTES ? ev.args[f] : row.bytes;
			if (t->fields[f].role == GT_R_DIRECTION && t->op == GT_OP_COPY)
				row.aspect = ev.args[f] == GT_DIR_HTOD ? GT_ASPECT_HTOD
					: ev.args[f] == GT_DIR_DTOH    ? GT_ASPECT_DTOH
								       : GT_ASPECT_COPIES;
		}
		CHECK(!gt_grow(&rows, &rows_cap, nrows + 1, sizeof(*rows)));
		rows[nrows++] = row;
	}
	gt_iter_close(it);
	CHECK(!err.code && nrows > 1000);
}

static inline bool below_track(const struct gt_segment *seg, uint32_t t, uint32_t top)
{
	for (; t != GT_NONE; t = seg->tracks[t].parent)
		if (t == top)
			return true;
	return false;
}

/* The depth at which a strip shows a row; -1: it does not. */
static inline int depth_in(
	const struct gt_reader *r, const struct seen_row *row, const struct gt_strip_key *of)
{
	const struct gt_segment *seg = gt_reader_segment(r, of->segment);
	const struct gt_type *t = &seg->types[row->type];
	/* the last depth also counts deeper ones */
	int own = row->depth < 7 ? (int)row->depth : 7;
	bool shows, call = row->kind == GT_CALL || row->kind == GT_OPEN;

	if (row->segment != of->segment ||
		(of->derived ? !below_track(seg, row->track, of->track) : row->track != of->track))
		return -1;
	switch (of->aspect) {
	case GT_ASPECT_CALLS: return call && !(of->derived && own) ? own : -1;
	case GT_ASPECT_RANGES: return row->kind == GT_SPAN && t->layer == GT_LAYER_USER ? own : -1;
	case GT_ASPECT_IOCTLS: shows = call && t->layer == GT_LAYER_IOCTL; break;
	case GT_ASPECT_OTHERS:
		shows = row->kind == GT_SPAN && t->layer != GT_LAYER_USER && t->op != GT_OP_OFF_CPU;
		break;
	case GT_ASPECT_STATES: shows = row->kind == GT_SPAN && t->op == GT_OP_OFF_CPU; break;
	case GT_ASPECT_WORK: shows = row->kind == GT_GPU; break;
	default: shows = row->kind == GT_GPU && row->aspect == of->aspect;
	}
	return shows ? 0 : -1;
}

static inline int64_t first_cell(const struct gt_cell_window *w, int64_t at)
{
	int64_t c = gt_window_column(w, at);

	return c < 0 ? 0 : c;
}

/* One row's part in a period of time, of which the part from `from` on is not covered yet. */
static inline void count_row(struct gt_cell_sums *c, const struct seen_row *row, int64_t start,
	int64_t end, int64_t from, int64_t low, int64_t high)
{
	int64_t f = from > low ? from : low, t = end < high ? end : high;

	c->busy += t > f ? (uint64_t)(t - f) : 0;
	if (start < low || start >= high)
		return;
	c->count++;
	c->bytes += row->bytes;
	if ((uint64_t)(end - start) > c->longest)
		c->longest = (uint64_t)(end - start);
}

/* The time from which a row covers new time: rows are sorted by start, so the covered time only
 * grows. */
static inline int64_t uncovered(
	const struct seen_row *row, int64_t start, int64_t end, int depth, int64_t *covered)
{
	int64_t from = start > *covered ? start : *covered;

	if (row->depth > 7 && depth == 7) /* within one of depth 7 */
		return end;
	*covered = end > *covered ? end : *covered;
	return from;
}

#define DEPTHS 8

static inline void count_cells(const struct gt_archive *a, struct gt_reader *r,
	const struct gt_cell_window *w, const struct gt_strip_key *of,
	struct gt_cell_sums to[DEPTHS][MOST_CELLS])
{
	int64_t covered[DEPTHS], offset = gt_archive_offset(a, of->segment);

	for (unsigned d = 0; d < DEPTHS; d++)
		covered[d] = INT64_MIN;
	memset(to, 0, DEPTHS * sizeof(to[0]));
	for (size_t i = 0; i < nrows; i++) {
		int64_t start = rows[i].start - offset, end = rows[i].end - offset, from;
		int d = depth_in(r, &rows[i], of);

		if (d < 0)
			continue;
		from = uncovered(&rows[i], start, end, d, &covered[d]);
		for (int64_t c = first_cell(w, start); c < w->cells && gt_cell_start(w, c) <= end;
			c++)
			count_row(&to[d][c], &rows[i], start, end, from, gt_cell_start(w, c),
				gt_cell_start(w, c + 1));
	}
}

static inline bool has_union(const struct gt_segment *seg, uint32_t t, unsigned aspect)
{
	switch (seg->tracks[t].kind) {
	case GT_TRACK_PROCESS: return aspect == GT_ASPECT_CALLS;
	case GT_TRACK_DEVICE: return aspect == GT_ASPECT_WORK || aspect >= GT_ASPECT_HTOD;
	default: return seg->tracks[t].kind == GT_TRACK_CONTEXT && aspect == GT_ASPECT_WORK;
	}
}

/* If no union is requested, blocks are represented by their summaries. */
static inline size_t list_strips(const struct gt_reader *r, struct gt_strip_key *of, bool unions)
{
	size_t n = 0;

	for (uint32_t s = 0; s < gt_reader_segments(r); s++)
		for (uint32_t t = 0; t < gt_reader_segment(r, s)->ntracks; t++)
			for (unsigned a = 1; a < GT_ASPECTS; a++) {
				if (!gt_aspect_is_copies(a))
					of[n++] = (struct gt_strip_key){ s, t, a, false };
				if (unions && has_union(gt_reader_segment(r, s), t, a))
					of[n++] = (struct gt_strip_key){ s, t, a, true };
			}
	return n;
}

static inline bool is_counted(const struct gt_cell_sums *got, const struct gt_cell_sums *want)
{
	return got->count == want->count && got->bytes == want->bytes &&
		got->longest == want->longest;
}
#endif
