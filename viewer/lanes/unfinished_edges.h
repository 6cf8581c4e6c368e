/* The cells in which begins what is open at the end, in lanes whose cells alone cannot say how busy these were (unfinished_calls.h): how long
 * the lane was busy in the cell before then is measured, when there is nothing more urgent, and they are exact. */
#ifndef GT_UNFINISHED_EDGES_H
#define GT_UNFINISHED_EDGES_H
#include "viewer/model/event_lookup.h"
#include "viewer/cells/measure.h"

struct gt_unfinished_edges {			/* zero-initialised: none */
	struct gt_archive *archive;
	struct gt_cell_window window;
	struct gt_unfinished_edge { struct gt_lane_key lane; int64_t from; struct gt_measured before; } *heads; /* from: the viewer's time */
	size_t n, cap, done;		/* before is known of the first `done` */
	struct gt_measure *measure;	/* of the next one */
};
/* What is wanted from now on: of these lanes (those with an aspect; copied) in this window. What is known of them already stays. 0 or
 * negative. */
int gt_unfinished_edges_request(struct gt_unfinished_edges *h, struct gt_archive *a, const struct gt_cell_window *w, const struct gt_lane_key *lanes, size_t n,
		       struct gt_err *err);
/* Goes on for some us (0: to its end). 1: there is more to do, 0, negative. */
int gt_unfinished_edges_step(struct gt_unfinished_edges *h, uint64_t us, struct gt_err *err);
/* Makes such a cell of a lane exact, if that is known. Cells of strips that have nothing more to do. */
void gt_unfinished_edges_fill(const struct gt_unfinished_edges *h, const struct gt_lane_key *lane, struct gt_cell_sums *cells);
void gt_unfinished_edges_release(struct gt_unfinished_edges *h);
#endif
