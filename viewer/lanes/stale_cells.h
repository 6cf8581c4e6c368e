/* What was seen of a trace before it grew. Until the same is known of what it is now, it is a good guess: what has come changes little but
 * the end. */
#ifndef GT_BEFORE_H
#define GT_BEFORE_H
#include "viewer/lanes/lanes.h"
#include "viewer/cells/lane_cells.h"

struct gt_before {			/* zero-initialised: nothing */
	struct gt_cell_window window;
	struct gt_lane_line *lines;
	struct gt_cell_sums *cells;	/* window.cells for each line */
	struct gt_gauge_cell *gauges;	/* likewise, of lines of counters */
	unsigned end;			/* so many of them lay before the end of the trace */
	size_t n;
};
/* Copies what lines show of a trace that ends there, in place of what it has; without memory it has nothing. */
void gt_before_keep(struct gt_before *b, const struct gt_cell_window *w, int64_t end, const struct gt_lane_line *lines, size_t n,
		    const struct gt_cell_sums *cells, const struct gt_gauge_cell *gauges);
void gt_before_release(struct gt_before *b);
/* Cells of a line that are not known yet, or roughly, are what they were, roughly. */
void gt_before_fill(const struct gt_before *b, const struct gt_cell_window *w, const struct gt_lane_line *line, struct gt_cell_sums *cells);
void gt_before_fill_gauge(const struct gt_before *b, const struct gt_cell_window *w, const struct gt_lane_line *line, struct gt_gauge_cell *cells);
#endif
