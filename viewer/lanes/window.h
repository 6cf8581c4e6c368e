/* The stretch of time that is seen: a number of cells, one per column, of 2^shift ns on the grid of the summaries. It moves by whole
 * cells and is zoomed by powers of two, so that its cells are always cells of the grid. */
#ifndef GT_WINDOW_H
#define GT_WINDOW_H
#include "viewer/cells/lane_cells.h"

/* The whole trace: [from, to) in the viewer's time, from < to; widest: log2 of the widest cells there may be. */
struct gt_time_extent { int64_t from, to; unsigned widest; };

/* All of these keep w->cells (1 at least) unless told, and keep the window within what there is: it shows all of the extent, from its
 * first cell on, or begins and ends within it. Cells are never wider than what shows all, nor than the widest. Columns count from 0 and
 * may lie outside. */
void gt_window_fit(struct gt_cell_window *w, const struct gt_time_extent *e);	/* the narrowest cells that show all of it */
void gt_window_show(struct gt_cell_window *w, const struct gt_time_extent *e, int64_t from, int64_t to);	/* ... that show all of [from, to) */
/* Cells of 1 / 2^steps the width (wider, if negative); what is in this column stays there, where the ends of the trace allow. */
void gt_window_zoom(struct gt_cell_window *w, const struct gt_time_extent *e, int steps, int64_t column);
void gt_window_pan(struct gt_cell_window *w, const struct gt_time_extent *e, int64_t cells);	/* later, if positive */
void gt_window_goto(struct gt_cell_window *w, const struct gt_time_extent *e, int64_t t, int64_t column);	/* puts that moment into that column */
/* Another number of cells: a window that shows all still does, else its middle stays. */
void gt_window_resize(struct gt_cell_window *w, const struct gt_time_extent *e, unsigned cells);

bool gt_window_shows_all(const struct gt_cell_window *w, const struct gt_time_extent *e);
/* The column of a moment: negative, or w->cells and more, when it is outside. */
static inline int64_t gt_window_column(const struct gt_cell_window *w, int64_t t) { return (t >> w->shift) - w->first; }
static inline int64_t gt_window_end(const struct gt_cell_window *w) { return gt_cell_start(w, w->cells); }
#endif
