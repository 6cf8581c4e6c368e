/* Calls that had not returned when the recording ended: what of the lanes they cover, and which one comes after which. */
#ifndef GT_OPEN_CALLS_H
#define GT_OPEN_CALLS_H
#include "viewer/cells/lane_cells.h"

/* Puts those that a strip shows at a depth over its cells of the window. */
void gt_open_calls_cover(const struct gt_archive *a, const struct gt_cell_window *w, const struct gt_strip_of *of, unsigned depth,
			 struct gt_cell_sums *cells);
/* When the first of these began, if gt_open_calls_cover makes that cell rough: others may cover the same time. The viewer's time. */
bool gt_open_calls_begin(const struct gt_archive *a, const struct gt_strip_of *of, unsigned depth, int64_t *from);
/* Makes that cell exact: it is known by now how long the strip was busy in it before then. Cells are otherwise exact, and covered. */
void gt_open_calls_settle(const struct gt_archive *a, const struct gt_cell_window *w, const struct gt_strip_of *of, unsigned depth,
			  uint64_t before, struct gt_cell_sums *cells);
/* The one that was open longest, the outermost of these; or the next one after `last`, and after the last one the first. NULL: there is none. */
const struct gt_open_call *gt_open_calls_next(const struct gt_archive *a, const struct gt_open_call *last);
#endif
