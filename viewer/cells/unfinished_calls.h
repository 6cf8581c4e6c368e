/* Calls that had not returned when the recording ended: what of the lanes they cover, and which one comes after which. */
#ifndef GT_UNFINISHED_CALLS_H
#define GT_UNFINISHED_CALLS_H
#include "viewer/cells/lane_cells.h"

/* Puts those that a strip shows at a depth over its cells of the window. */
void gt_unfinished_calls_cover(const struct gt_archive *a, const struct gt_cell_window *w, const struct gt_strip_key *of, unsigned depth,
			 struct gt_cell_sums *cells);
/* When the first of these began, if gt_unfinished_calls_cover makes that cell rough: others may cover the same time. The viewer's time. */
bool gt_unfinished_calls_first_start(const struct gt_archive *a, const struct gt_strip_key *of, unsigned depth, int64_t *from);
/* Makes that cell exact: it is known by now how long the strip was busy in it before then. Cells are otherwise exact, and covered. */
void gt_unfinished_calls_finish(const struct gt_archive *a, const struct gt_cell_window *w, const struct gt_strip_key *of, unsigned depth,
			  uint64_t before, struct gt_cell_sums *cells);
/* The one that was open longest, the outermost of these; or the next one after `last`, and after the last one the first. NULL: there is none. */
const struct gt_unfinished_call *gt_unfinished_calls_next(const struct gt_archive *a, const struct gt_unfinished_call *last);
#endif
