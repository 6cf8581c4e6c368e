/* Changes of the visible window: fit, show a range, zoom, pan.
 *
 * A requested range (--from and --to, the marked range, the whole run) is shown exactly. Zooming by
 * keys makes aligned windows (cell_window.h), whose cells are halved and doubled. */
#ifndef GT_WINDOW_H
#define GT_WINDOW_H
#include "viewer/cells/cell_window.h"

/* The whole trace: [from, to) in the viewer's time, from < to. */
struct gt_time_extent {
	int64_t from, to;
	unsigned widest; /* log2 of the widest cell of an aligned window in ns */
	unsigned finest; /* log2 of the finest buckets of all upper summaries; 0: there are none */
	uint64_t rows;   /* number of rows: with few, no summary is needed */
	bool grows;      /* the whole run is shown by an aligned window: its cells can be reused */
};

/* Except gt_window_resize(), these functions do not change w->cells (at least 1). Afterwards the
 * window either shows the whole trace, or lies inside the trace, as far as whole cells allow it. An
 * aligned cell is not wider than showing the whole trace needs, and not wider than e->widest. A
 * cell is not narrower than 1 ns. Columns count from 0; a column may lie outside the window. */
/* the whole extent */
void gt_window_fit(struct gt_cell_window *w, const struct gt_time_extent *e);
/* the narrowest aligned cells that show the whole extent */
void gt_window_fit_aligned(struct gt_cell_window *w, const struct gt_time_extent *e);
/* exactly [from, to), cut to the extent; more if that has less than w->cells ns */
void gt_window_show(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t from, int64_t to);
/* Divides the cell width by about 2^steps (negative: widens it). The time in `column` stays there
 * if the ends of the trace allow it. */
void gt_window_zoom(
	struct gt_cell_window *w, const struct gt_time_extent *e, int steps, int64_t column);
/* later, if positive */
void gt_window_pan(struct gt_cell_window *w, const struct gt_time_extent *e, int64_t cells);
/* moves time t to that column */
void gt_window_goto(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t t, int64_t column);
/* Changes the number of cells. A window that shows all still shows all; an aligned window keeps
 * its middle, another one its range. */
void gt_window_resize(struct gt_cell_window *w, const struct gt_time_extent *e, unsigned cells);

bool gt_window_shows_all(const struct gt_cell_window *w, const struct gt_time_extent *e);
#endif
