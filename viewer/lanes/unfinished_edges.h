/* Unfinished edges: the cells in which an unfinished call starts, on lanes whose cells do not
 * say how busy they were before it (unfinished_calls.h). The busy time before the call is
 * measured when no other work is urgent. Then these cells are exact. */
#ifndef GT_UNFINISHED_EDGES_H
#define GT_UNFINISHED_EDGES_H
#include "viewer/model/event_lookup.h"
#include "viewer/cells/measure.h"

struct gt_unfinished_edges { /* zero-initialised: empty */
	struct gt_archive *archive;
	struct gt_cell_window window;
	/* from: the viewer's time */
	struct gt_unfinished_edge {
		struct gt_lane_key lane;
		int64_t from;
		struct gt_measured before;
	} * heads;
	size_t n, cap, done;        /* `before` is known for the first `done` entries */
	struct gt_measure *measure; /* of the next entry */
};
/* Sets the request: these lanes (copied; those without an aspect are ignored) in this window.
 * Known results are kept. 0 or negative. */
int gt_unfinished_edges_request(struct gt_unfinished_edges *h, struct gt_archive *a,
	const struct gt_cell_window *w, const struct gt_lane_key *lanes, size_t n,
	struct gt_err *err);
/* Works for at most `us` µs (0: until done). 1: there is more to do, 0: done, negative: error. */
int gt_unfinished_edges_step(struct gt_unfinished_edges *h, uint64_t us, struct gt_err *err);
/* Makes such a cell of a lane exact if its result is known. The lane cells must be complete. */
void gt_unfinished_edges_fill(const struct gt_unfinished_edges *h, const struct gt_lane_key *lane,
	struct gt_cell_sums *cells);
void gt_unfinished_edges_release(struct gt_unfinished_edges *h);
#endif
