/* The minimap: what the run looks like as a whole, in one line above the lanes. It is the mean of what its GPUs did, or without any of what its
 * processes called, or else of what stands at the top. Of a large trace that is not closed only its first streams, or threads, are soon
 * known: then it is the mean of these. */
#ifndef GT_OVERVIEW_BAR_H
#define GT_OVERVIEW_BAR_H
#include "viewer/cells/cells_request.h"
#include "viewer/lanes/lanes.h"
#include "viewer/lanes/window.h"

struct gt_overview_bar {			/* zero-initialised but for the strips */
	struct gt_archive *archive;	/* borrowed */
	struct gt_lane_cells *strips;
	struct gt_cells_request asked;
	struct gt_cell_sums *cells;	/* asked.window.cells; NULL: nothing is known */
	size_t cap;
	unsigned columns;		/* that it was asked for */
	bool more;			/* its strips know more after a step */
};
/* 0 or -ENOMEM; to be released in both cases. */
int gt_overview_bar_init(struct gt_overview_bar *m, struct gt_archive *a);
void gt_overview_bar_release(struct gt_overview_bar *m);
/* Its archive is about to be closed; it goes on with another one of the same trace, with more in it, and keeps what is certain. */
void gt_overview_bar_detach(struct gt_overview_bar *m);
void gt_overview_bar_reopen(struct gt_overview_bar *m, struct gt_archive *a);
/* For so many columns of the screen (0: it is not shown) of that extent. 0 or negative. */
int gt_overview_bar_request(struct gt_overview_bar *m, const struct gt_time_extent *e, const struct gt_lanes *lanes, unsigned columns, struct gt_err *err);
/* 1: there is more to do, 0, negative. */
int gt_overview_bar_step(struct gt_overview_bar *m, uint64_t us, struct gt_err *err);
int gt_overview_bar_refresh(struct gt_overview_bar *m);		/* takes over what its strips know by now. 0 or -ENOMEM */
#endif
