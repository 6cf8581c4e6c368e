#include "viewer/lanes/window.h"

/* Rows of a range whose blocks are read, so that cells of any width are exact: always, and if
 * buckets of summaries are wider than an eighth of a cell. 8 million rows take less than half a
 * second. */
#define FEW_ROWS 2000000u
#define MANY_ROWS 8000000u
#define PART 3u /* log2: parts of a cell, each one bucket wide or wider */

/* ---- aligned windows ---- */

/* The number of grid cells that overlap [from, to). */
static int64_t cells_of(int64_t from, int64_t to, unsigned shift)
{
	return ((to - 1) >> shift) - (from >> shift) + 1;
}

static unsigned narrowest(int64_t from, int64_t to, unsigned cells, unsigned widest)
{
	unsigned shift = 0;

	while (shift < widest && cells_of(from, to, shift) > cells)
		shift++;
	return shift;
}

/* Makes it an aligned window that begins at cell `at` of the grid, or as near as the extent allows.
 */
static void align(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t at, unsigned shift)
{
	int64_t first = e->from >> shift, last = (e->to - 1) >> shift;

	if (at > last - w->cells + 1)
		at = last - w->cells + 1;
	if (at < first) /* also if the trace is shorter than the window */
		at = first;
	*w = gt_aligned_window(at, shift, w->cells);
}

void gt_window_fit_aligned(struct gt_cell_window *w, const struct gt_time_extent *e)
{
	align(w, e, INT64_MIN / 2, narrowest(e->from, e->to, w->cells, e->widest));
}

/* ---- exact ranges ---- */

static bool has_fewer_rows(const struct gt_time_extent *e, uint64_t span, uint64_t rows)
{
	uint64_t whole = (uint64_t)e->to - (uint64_t)e->from;

	return (double)e->rows * (double)span <= (double)rows * (double)whole;
}

/* The multiples on which cells of `width` ns begin: 0, anywhere; or the width of the finest buckets
 * of summaries, which then give their sums. Where no bucket fits into a cell, its rows are read in
 * any case. */
static unsigned choose_shift(const struct gt_time_extent *e, uint64_t span, uint64_t width)
{
	unsigned log = width > 1 ? 63u ^ (unsigned)__builtin_clzll(width) : 0;
	bool wide = e->finest + PART > log;

	if (!e->finest || e->finest > log || has_fewer_rows(e, span, wide ? MANY_ROWS : FEW_ROWS))
		return 0;
	return e->finest < e->widest ? e->finest : e->widest;
}

/* Shows [from, to); from < to. */
static void show(struct gt_cell_window *w, const struct gt_time_extent *e, int64_t from, int64_t to)
{
	uint64_t span = (uint64_t)to - (uint64_t)from;

	if (span < w->cells) { /* 1 ns each */
		align(w, e, from - (int64_t)(w->cells - span) / 2, 0);
		return;
	}
	*w = (struct gt_cell_window){ .from = from,
		.to = to,
		.cells = w->cells,
		.shift = choose_shift(e, span, span / w->cells) };
}

/* Moves a window into the extent. */
static void keep_inside(struct gt_cell_window *w, const struct gt_time_extent *e)
{
	uint64_t span = (uint64_t)w->to - (uint64_t)w->from;

	if (span >= (uint64_t)e->to - (uint64_t)e->from) {
		w->from = e->from;
	} else {
		if (w->to > e->to)
			w->from = e->to - (int64_t)span;
		if (w->from < e->from)
			w->from = e->from;
	}
	w->to = w->from + (int64_t)span;
}

void gt_window_fit(struct gt_cell_window *w, const struct gt_time_extent *e)
{
	if (e->grows)
		gt_window_fit_aligned(w, e);
	else
		show(w, e, e->from, e->to);
}

void gt_window_show(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t from, int64_t to)
{
	from = from < e->from ? e->from : from;
	to = to > e->to ? e->to : to;
	if (to <= from)
		to = from + 1;
	if (e->grows && from <= e->from && to >= e->to)
		gt_window_fit(w, e);
	else
		show(w, e, from, to);
}

void gt_window_zoom(
	struct gt_cell_window *w, const struct gt_time_extent *e, int steps, int64_t column)
{
	unsigned widest = narrowest(e->from, e->to, w->cells, e->widest);
	bool aligned = gt_window_is_aligned(w);
	int64_t shift = (int64_t)(aligned ? w->shift : gt_window_log2(w)) - steps,
		t = gt_cell_start(w, column);

	if (steps < 0 && shift >= (int64_t)widest) {
		gt_window_fit(w, e);
		return;
	}
	shift = shift < 0 ? 0 : shift > (int64_t)widest ? (int64_t)widest : shift;
	align(w, e, (t >> shift) - column, (unsigned)shift);
}

void gt_window_pan(struct gt_cell_window *w, const struct gt_time_extent *e, int64_t cells)
{
	__int128 by = (__int128)((uint64_t)w->to - (uint64_t)w->from) * cells / w->cells,
		 from = w->from + by;
	int64_t first;

	if (gt_window_is_aligned(w)) {
		if (__builtin_add_overflow(w->from >> w->shift, cells, &first))
			first = cells < 0 ? e->from >> w->shift : e->to >> w->shift;
		align(w, e, first, w->shift);
		return;
	}
	if (by < e->from - w->from || from > e->to)
		from = by < 0 ? e->from : e->to;
	w->to = (int64_t)from + (w->to - w->from);
	w->from = (int64_t)from;
	keep_inside(w, e);
}

void gt_window_goto(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t t, int64_t column)
{
	if (gt_window_is_aligned(w)) {
		align(w, e, (t >> w->shift) - column, w->shift);
		return;
	}
	/* where starts of cells are rounded, t is in the middle of the column */
	w->to -= w->from;
	w->from = t -
		(int64_t)((__int128)w->to * (2 * column + !!w->shift) / (2 * (int64_t)w->cells));
	w->to += w->from;
	keep_inside(w, e);
}

void gt_window_resize(struct gt_cell_window *w, const struct gt_time_extent *e, unsigned cells)
{
	bool all = gt_window_shows_all(w, e), aligned = gt_window_is_aligned(w);
	int64_t middle = (w->from >> w->shift) + w->cells / 2;

	w->cells = cells;
	if (all || (aligned && w->shift > narrowest(e->from, e->to, cells, e->widest)))
		gt_window_fit(w, e);
	else if (aligned)
		align(w, e, middle - cells / 2, w->shift);
	else
		show(w, e, w->from, w->to);
}

bool gt_window_shows_all(const struct gt_cell_window *w, const struct gt_time_extent *e)
{
	return w->from <= e->from && w->to >= e->to;
}
