/* Boxes: rows that are wide enough in the window that their names can stand in them. They are exact, from the rows themselves. */
#ifndef GT_EVENT_BOXES_H
#define GT_EVENT_BOXES_H
#include "viewer/model/event_lookup.h"
#include "viewer/model/display_name.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/lanes/window.h"

#define GT_EVENT_BOX_CELLS 4u		/* that a row covers wholly, at least */
struct gt_event_box {
	int64_t start, end;		/* the viewer's time */
	uint32_t segment, type;
	const char *name;		/* borrowed from the spelling */
	bool failed;			/* a call that returned an error */
	bool open;			/* a call that had not returned when the recording ended, which is its end */
};
struct gt_event_boxes;
/* Borrowed. most: blocks of a lane that are gone through; of more only those that have rows of that length. NULL: no memory. new: free it */
#define GT_EVENT_BOX_BLOCKS 8u
struct gt_event_boxes *gt_event_boxes_new(struct gt_archive *a, struct gt_display_name *spell, size_t most);
void gt_event_boxes_free(struct gt_event_boxes *b);			/* NULL is fine */
/* Lanes (copied; aspect 0: of none), and what their cells say: strip_of[i] is the number of lane i's strip in strips. Borrowed until the next
 * time; strips are of the same window, and have nothing more to do when boxes are made a step. */
struct gt_event_box_lanes { const struct gt_lane_key *lanes; const struct gt_lane_cells *strips; const uint32_t *strip_of; };
/* What is wanted from now on: of so many lanes in this window. 0 or -ENOMEM. */
int gt_event_boxes_request(struct gt_event_boxes *b, const struct gt_cell_window *w, const struct gt_event_box_lanes *what, size_t n, struct gt_err *err);
/* Goes on for some us (0: to its end). 1: there is more to do, 0, negative. */
int gt_event_boxes_step(struct gt_event_boxes *b, uint64_t us, struct gt_err *err);
const struct gt_event_box *gt_event_boxes_get(const struct gt_event_boxes *b, size_t lane, size_t *n);	/* by start; so far */
/* The cells that it covers wholly: the first one, and behind the last; both within the window. */
void gt_event_box_cells(const struct gt_event_box *box, const struct gt_cell_window *w, unsigned *from, unsigned *to);
#endif
