/* The last request for lane cells. The cells are requested again only if the window or the
 * strips differ. */
#ifndef GT_CELLS_REQUEST_H
#define GT_CELLS_REQUEST_H
#include "viewer/cells/lane_cells.h"

struct gt_cells_request { /* zero-initialised: empty */
	struct gt_cell_window window;
	struct gt_strip_key *of;
	size_t n, cap;
};
/* frees it; it is then empty */
void gt_cells_request_release(struct gt_cells_request *a);
/* Requests the cells if the request differs from the last one. 1: it differs; 0: it is the same;
 * negative: error. */
int gt_cells_request_update(struct gt_lane_cells *s, struct gt_cells_request *a,
	const struct gt_cell_window *w, const struct gt_strip_key *of, size_t n,
	struct gt_err *err);
bool gt_same_window(const struct gt_cell_window *a, const struct gt_cell_window *b);
#endif
