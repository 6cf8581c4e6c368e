/* Unfinished calls: calls that had not returned when the recording ended. These functions add
 * them to lane cells and list them in order. */
#ifndef GT_UNFINISHED_CALLS_H
#define GT_UNFINISHED_CALLS_H
#include "viewer/cells/lane_cells.h"

/* Adds the unfinished calls that a strip shows at a depth to its cells. */
void gt_unfinished_calls_cover(const struct gt_archive *a, const struct gt_cell_window *w,
	const struct gt_strip_key *of, unsigned depth, struct gt_cell_sums *cells);
/* Start of the first of these calls (viewer's time) if gt_unfinished_calls_cover makes its cell
 * rough because other rows may cover the same time; else false. */
bool gt_unfinished_calls_first_start(
	const struct gt_archive *a, const struct gt_strip_key *of, unsigned depth, int64_t *from);
/* Makes that cell exact. before: ns that the strip was busy in the cell before the call. All
 * other cells must be exact and covered. */
void gt_unfinished_calls_finish(const struct gt_archive *a, const struct gt_cell_window *w,
	const struct gt_strip_key *of, unsigned depth, uint64_t before, struct gt_cell_sums *cells);
/* The next unfinished call after `last`, from the longest and outermost on. NULL or the last one
 * as `last`: the first. NULL: there are none. */
const struct gt_unfinished_call *gt_unfinished_calls_next(
	const struct gt_archive *a, const struct gt_unfinished_call *last);
#endif
