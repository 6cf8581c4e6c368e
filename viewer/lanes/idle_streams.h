/* Idle streams: streams without GPU work in the visible range. One line below their GPU stands for
 * them. */
#ifndef GT_IDLE_STREAMS_H
#define GT_IDLE_STREAMS_H
#include "viewer/cells/cell_window.h"
#include "viewer/lanes/lanes.h"

struct gt_idle_streams { /* zero-initialised: no window yet */
	struct gt_cell_window window;
	struct gt_archive *archive; /* borrowed */
	struct gt_lane_line keep;
};
/* Finds the idle streams of the window and marks them in `l`, except the track of the line `keep`
 * (the cursor's; NULL: none). If there are very many streams, no stream counts as idle, and so
 * while the trace grows. 1: the list of lanes changes; 0; negative: error. */
int gt_idle_streams_update(struct gt_idle_streams *s, struct gt_archive *a,
	const struct gt_cell_window *w, const struct gt_lane_line *keep, struct gt_lanes *l,
	struct gt_err *err);
#endif
