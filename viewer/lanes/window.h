/* The visible window: a number of cells, one per column, of 2^shift ns, aligned to the grid of
 * the summaries. It moves by whole cells and is zoomed by powers of two, so its cells stay on
 * the grid. */
#ifndef GT_WINDOW_H
#define GT_WINDOW_H
#include "viewer/cells/lane_cells.h"

/* The whole trace: [from, to) in the viewer's time, from < to; widest: log2 of the widest cell
 * in ns. */
struct gt_time_extent {
	int64_t from, to;
	unsigned widest;
};

/* Except gt_window_resize(), these functions do not change w->cells (at least 1). Afterwards the
 * window either shows the whole trace, starting in the first cell, or lies inside the trace. A cell
 * is not wider than showing the whole trace needs, and not wider than e->widest. Columns count from
 * 0; a column may lie outside the window. */
/* the narrowest cells that show the whole extent */
void gt_window_fit(struct gt_cell_window *w, const struct gt_time_extent *e);
/* the narrowest cells that show all of [from, to) */
void gt_window_show(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t from, int64_t to);
/* Divides the cell width by 2^steps (negative: widens it). The time in `column` stays there if
 * the ends of the trace allow it. */
void gt_window_zoom(
	struct gt_cell_window *w, const struct gt_time_extent *e, int steps, int64_t column);
/* later, if positive */
void gt_window_pan(struct gt_cell_window *w, const struct gt_time_extent *e, int64_t cells);
/* moves time t to that column */
void gt_window_goto(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t t, int64_t column);
/* Changes the number of cells. A window that shows all still shows all; otherwise its middle
 * stays. */
void gt_window_resize(struct gt_cell_window *w, const struct gt_time_extent *e, unsigned cells);

bool gt_window_shows_all(const struct gt_cell_window *w, const struct gt_time_extent *e);
/* The column of a time: negative, or w->cells or more, if it is outside. */
static inline int64_t gt_window_column(const struct gt_cell_window *w, int64_t t)
{
	return (t >> w->shift) - w->first;
}
/* The first and the last visible column of [from, last]. false: no part of it is visible. */
static inline bool gt_window_columns(
	const struct gt_cell_window *w, int64_t from, int64_t last, unsigned *a, unsigned *b)
{
	int64_t x = gt_window_column(w, from), y = gt_window_column(w, last);

	*a = x > 0 ? (unsigned)x : 0;
	*b = y < (int64_t)w->cells ? (unsigned)y : w->cells - 1;
	return y >= 0 && x < (int64_t)w->cells;
}
static inline int64_t gt_window_end(const struct gt_cell_window *w)
{
	return gt_cell_start(w, w->cells);
}
#endif
