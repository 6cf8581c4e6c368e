/* Private to this folder: the state of the timeline, whose view is view_timeline.c and whose keys
 * and mouse are timeline_keys.c. */
#ifndef GT_VIEW_TIMELINE_INTERNAL_H
#define GT_VIEW_TIMELINE_INTERNAL_H
#include "viewer/lanes/idle_streams.h"
#include "viewer/lanes/stale_cells.h"
#include "viewer/lanes/unfinished_edges.h"
#include "viewer/timeline/overview_bar.h"
#include "viewer/timeline/timeline_interaction.h"
#include "viewer/view/counter_lanes.h"
#include "viewer/view/view.h"

struct timeline {
	struct gt_lanes lanes;
	struct gt_lane_cells *strips;
	struct gt_overview_bar map;
	struct gt_counter_lanes gauges;
	struct gt_unfinished_edges heads;
	struct gt_idle_streams idle;
	uint32_t *strip_of; /* of each line that is shown: number of its strip */
	size_t strip_of_cap;
	struct gt_layout at;
	struct gt_lane_line cursor_line; /* the line of the cursor */
	size_t top, cursor;
	unsigned column;
	/* the target of the last jump; valid while it is in the cursor's cell */
	int64_t moment;
	unsigned width, height; /* of the last timeline_arrange */
	enum gt_height heights;
	struct gt_cell_sums *cells, *entering;
	struct gt_counter_cell *gauge_cells;
	size_t cells_cap, entering_cap, gauge_cells_cap;
	bool arranged; /* once at least */
	/* relist: lanes changed; touched: the user folded or moved some */
	bool relist, touched;
	bool grown; /* the trace has changed since lanes were unfolded */
	/* this trace replaces an earlier one: visible lanes are not folded automatically */
	bool again;
	struct gt_stale_cells before;               /* previous cells, until all are known */
	bool learned;                               /* the list has all lanes found so far */
	enum { NOTHING, MAP, AXIS, CELLS } grabbed; /* the part that the mouse drags */
	int dragged;                                /* last column of the mouse */
	unsigned grip;                              /* the cell where it was pressed */
	bool drawn;                                 /* it has moved to another cell since */
	struct gt_timeline_interaction desk;
};

/* The cursor goes to this time, which moves to the middle. */
void gt_timeline_go_to(struct gt_view *v, int64_t time);
/* Moves to the selection: its lane, and its start if none of it is visible. */
void gt_timeline_follow_selection(struct gt_view *v);
void gt_timeline_act(struct gt_view *v, const struct gt_binding *b, struct gt_key k);
/* Moves the cursor to the first visible GPU unless its lane shows GPU work. */
void gt_timeline_move_to_gpu(struct timeline *t);
/* The cursor stays on the screen, and the screen on the list. */
void gt_timeline_scroll(struct timeline *t);
struct gt_timeline_cursor gt_timeline_cursor(const struct gt_view *v);
size_t gt_timeline_shown_lines(const struct timeline *t);
/* The target of the last jump if it is in the cursor's cell: a wide cell starts long before it. */
int64_t gt_timeline_cursor_time(const struct gt_view *v);
/* Moves the cursor to the column of this time. */
void gt_timeline_put_cursor(struct gt_view *v, int64_t time);
#endif
