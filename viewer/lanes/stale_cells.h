/* Stale cells: the cells on the screen before the trace grew. They are shown as a rough value
 * until the new cells are known: new data changes little except at the end. */
#ifndef GT_STALE_CELLS_H
#define GT_STALE_CELLS_H
#include "viewer/lanes/lanes.h"
#include "viewer/cells/lane_cells.h"

struct gt_stale_cells { /* zero-initialised: empty */
	struct gt_cell_window window;
	struct gt_lane_line *lines;
	struct gt_cell_sums *cells;     /* window.cells for each line */
	struct gt_counter_cell *gauges; /* the same for lines of counters */
	unsigned end;                   /* number of cells before the end of the trace */
	size_t n;
};
/* Copies the cells of the lines, of a trace that ends at `end`; they replace the previous copy.
 * Without memory it is empty. */
void gt_stale_cells_save(struct gt_stale_cells *b, const struct gt_cell_window *w, int64_t end,
	const struct gt_lane_line *lines, size_t n, const struct gt_cell_sums *cells,
	const struct gt_counter_cell *gauges);
void gt_stale_cells_release(struct gt_stale_cells *b);
/* Fills unknown and rough cells of a line with their previous values, as rough ones. */
void gt_stale_cells_fill(const struct gt_stale_cells *b, const struct gt_cell_window *w,
	const struct gt_lane_line *line, struct gt_cell_sums *cells);
void gt_stale_cells_fill_counter(const struct gt_stale_cells *b, const struct gt_cell_window *w,
	const struct gt_lane_line *line, struct gt_counter_cell *cells);
#endif
