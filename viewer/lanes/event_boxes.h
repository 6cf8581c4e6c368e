/* Event boxes: rows that are wide enough in the window for their names. Their times are exact
 * and come from the rows. */
#ifndef GT_EVENT_BOXES_H
#define GT_EVENT_BOXES_H
#include "viewer/model/event_lookup.h"
#include "viewer/model/display_name.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/lanes/window.h"

#define GT_EVENT_BOX_CELLS 4u /* minimum number of cells that a row covers in full */
struct gt_event_box {
	int64_t start, end; /* the viewer's time */
	uint32_t segment, type;
	const char *name; /* borrowed from the display names */
	bool failed;      /* a call that returned an error */
	/* an unfinished call; its end is the end of the recording */
	bool open;
};
struct gt_event_boxes;
/* Archive and names are borrowed. most: limit of blocks to read per lane; above it, only blocks
 * with rows of that length are read. NULL: no memory. new: free it. */
#define GT_EVENT_BOX_BLOCKS 8u
struct gt_event_boxes *gt_event_boxes_new(
	struct gt_archive *a, struct gt_display_name *spell, size_t most);
void gt_event_boxes_free(struct gt_event_boxes *b); /* NULL is fine */
/* Lanes (copied; aspect 0: no events) and their cells: strip_of[i] is the number of lane i's
 * strip in `strips`. Borrowed until the next request. The lane cells must be of the same window
 * and complete before gt_event_boxes_step. */
struct gt_event_box_lanes {
	const struct gt_lane_key *lanes;
	const struct gt_lane_cells *strips;
	const uint32_t *strip_of;
};
/* Sets the request: n lanes in this window. 0 or -ENOMEM. */
int gt_event_boxes_request(struct gt_event_boxes *b, const struct gt_cell_window *w,
	const struct gt_event_box_lanes *what, size_t n, struct gt_err *err);
/* Works for at most `us` µs (0: until done). 1: there is more to do, 0: done, negative: error. */
int gt_event_boxes_step(struct gt_event_boxes *b, uint64_t us, struct gt_err *err);
/* by start; those found so far */
const struct gt_event_box *gt_event_boxes_get(
	const struct gt_event_boxes *b, size_t lane, size_t *n);
/* The cells that the box covers in full: the first, and the one after the last. Both lie within
 * the window. */
void gt_event_box_cells(const struct gt_event_box *box, const struct gt_cell_window *w,
	unsigned *from, unsigned *to);
#endif
