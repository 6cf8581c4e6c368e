/* The overview bar: one line above the lanes that shows the whole run. It is the mean of its
 * GPUs; without GPUs the mean of its processes' calls, else of the top lanes. Of a large trace
 * that is still being recorded, only the first streams or threads are known soon; then it is
 * their mean. */
#ifndef GT_OVERVIEW_BAR_H
#define GT_OVERVIEW_BAR_H
#include "viewer/cells/lane_cells.h"
#include "viewer/lanes/lanes.h"
#include "viewer/lanes/window.h"

struct gt_overview_bar {            /* zero-initialised except `strips` */
	struct gt_archive *archive; /* borrowed */
	struct gt_lane_cells *strips;
	struct gt_cell_window window; /* the request: */
	size_t n;                     /* its number of strips */
	struct gt_cell_sums *cells;   /* window.cells of them; NULL: none is known */
	size_t cap;
	unsigned columns; /* the number of the last request */
	bool more;        /* its lane cells changed in a step */
};
/* 0 or -ENOMEM; to be released in both cases. */
int gt_overview_bar_init(struct gt_overview_bar *m, struct gt_archive *a);
void gt_overview_bar_release(struct gt_overview_bar *m);
/* detach: call before the archive is closed. reopen: continues with a newer archive of the same
 * trace and keeps the exact cells. */
void gt_overview_bar_detach(struct gt_overview_bar *m);
void gt_overview_bar_reopen(struct gt_overview_bar *m, struct gt_archive *a);
/* Sets the request: so many columns of the screen (0: not shown) for that extent. 0 or negative. */
int gt_overview_bar_request(struct gt_overview_bar *m, const struct gt_time_extent *e,
	const struct gt_lanes *lanes, unsigned columns, struct gt_err *err);
/* 1: there is more to do, 0, negative. */
int gt_overview_bar_step(struct gt_overview_bar *m, uint64_t us, struct gt_err *err);
/* copies the known cells of its lane cells. 0 or -ENOMEM */
int gt_overview_bar_refresh(struct gt_overview_bar *m);
#endif
