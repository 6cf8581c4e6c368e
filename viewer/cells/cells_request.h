/* What strips were asked for, so that they are asked again only for something else. */
#ifndef GT_CELLS_REQUEST_H
#define GT_CELLS_REQUEST_H
#include "viewer/cells/lane_cells.h"

struct gt_cells_request {			/* zero-initialised: nothing */
	struct gt_cell_window window;
	struct gt_strip_key *of;
	size_t n, cap;
};
void gt_cells_request_release(struct gt_cells_request *a);		/* nothing was asked */
/* 1: something else is asked now; 0: it is the same; negative. */
int gt_cells_request_update(struct gt_lane_cells *s, struct gt_cells_request *a, const struct gt_cell_window *w, const struct gt_strip_key *of, size_t n, struct gt_err *err);
bool gt_same_strip(const struct gt_strip_key *a, const struct gt_strip_key *b);
bool gt_same_window(const struct gt_cell_window *a, const struct gt_cell_window *b);
#endif
