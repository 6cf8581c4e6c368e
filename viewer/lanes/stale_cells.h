/* What was seen of a trace before it grew. Until the same is known of what it is now, it is a good guess: what has come changes little but
 * the end. */
#ifndef GT_STALE_CELLS_H
#define GT_STALE_CELLS_H
#include "viewer/lanes/lanes.h"
#include "viewer/cells/lane_cells.h"

struct gt_stale_cells {			/* zero-initialised: nothing */
	struct gt_cell_window window;
	struct gt_lane_line *lines;
	struct gt_cell_sums *cells;	/* window.cells for each line */
	struct gt_counter_cell *gauges;	/* likewise, of lines of counters */
	unsigned end;			/* so many of them lay before the end of the trace */
	size_t n;
};
/* Copies what lines show of a trace that ends there, in place of what it has; without memory it has nothing. */
void gt_stale_cells_save(struct gt_stale_cells *b, const struct gt_cell_window *w, int64_t end, const struct gt_lane_line *lines, size_t n,
		    const struct gt_cell_sums *cells, const struct gt_counter_cell *gauges);
void gt_stale_cells_release(struct gt_stale_cells *b);
/* Cells of a line that are not known yet, or roughly, are what they were, roughly. */
void gt_stale_cells_fill(const struct gt_stale_cells *b, const struct gt_cell_window *w, const struct gt_lane_line *line, struct gt_cell_sums *cells);
void gt_stale_cells_fill_counter(const struct gt_stale_cells *b, const struct gt_cell_window *w, const struct gt_lane_line *line, struct gt_counter_cell *cells);
#endif
