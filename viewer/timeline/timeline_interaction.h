/* Timeline interaction: what the user selected, marked and searched on the timeline, the pane
 * that describes it, and the jumps from it. The timeline passes the cursor's position and asks
 * afterwards where to move it. */
#ifndef GT_TIMELINE_INTERACTION_H
#define GT_TIMELINE_INTERACTION_H
#include "viewer/view/bindings.h"
#include "viewer/lanes/event_boxes.h"
#include "viewer/timeline/detail_pane.h"
#include "viewer/search/name_search.h"
#include "viewer/view/scene.h"

struct gt_timeline_interaction {
	struct gt_scene *scene; /* borrowed, like lanes */
	struct gt_lanes *lanes;
	struct gt_display_name spell;
	struct gt_selection pick;
	struct gt_detail_pane detail;
	enum gt_pane_size size;
	/* the user asked for a pane: a status text says if it does not fit */
	bool pane_requested;
	bool opens_pane; /* the result of the current search opens it */
	struct gt_pane pane;
	struct gt_name_search *name_search;   /* NULL: there is no search */
	struct gt_stack_search *stack_search; /* NULL: there is none; at most one of both */
	char *looked_for;             /* the search expression between two archives, or NULL */
	struct gt_event_boxes *boxes; /* of the visible lines */
	bool is_described;            /* the detail pane describes the selection */
	struct gt_err err;            /* error of a key; gt_interaction_arrange returns it */
};

/* The position of the cursor. */
struct gt_timeline_cursor {
	const struct gt_lane_line *line;  /* NULL: there are no lanes */
	const struct gt_cell_sums *cells; /* its cells in the window */
	unsigned column;
	/* the time in the cell that a jump went to, else the cell's start */
	int64_t time;
};
/* release it in any case */
int gt_interaction_init(struct gt_timeline_interaction *d, struct gt_scene *scene,
	struct gt_lanes *lanes, struct gt_err *err);
void gt_interaction_release(struct gt_timeline_interaction *d);
/* detach: call before the scene's archive is closed; then only gt_interaction_release or _reopen
 * may follow. reopen: continues with the scene's newer archive of the same trace; selection,
 * marks and search stay. 0 or negative. */
void gt_interaction_detach(struct gt_timeline_interaction *d);
int gt_interaction_reopen(struct gt_timeline_interaction *d, struct gt_err *err);
/* false: it does not handle this action */
bool gt_interaction_act(struct gt_timeline_interaction *d, const struct gt_binding *b,
	const struct gt_timeline_cursor *at);
/* The mouse is dragged over cells: the marks are at both ends. drop: the button is released, and
 * the marks move to the edges of the events in these two cells of the lane. */
void gt_interaction_drag(struct gt_timeline_interaction *d, unsigned from, unsigned to);
void gt_interaction_drop(
	struct gt_timeline_interaction *d, const struct gt_timeline_cursor *at, unsigned from);
/* The marked range, else the selection, in the viewer's time. false: neither exists; the status
 * text says so. */
bool gt_interaction_range(struct gt_timeline_interaction *d, int64_t *from, int64_t *to);
/* Starts a name search; "": ends it. NULL, or the reason of a failure. */
const char *gt_interaction_search(struct gt_timeline_interaction *d, const char *expression,
	const struct gt_timeline_cursor *at);
/* selects it and requests a jump to it */
void gt_interaction_select(struct gt_timeline_interaction *d, const struct gt_scene_row *row);
/* Where a selection begins from the cursor. False: the line has no rows. */
bool gt_interaction_place(const struct gt_timeline_interaction *d,
	const struct gt_timeline_cursor *at, struct gt_selection_origin *to);
/* Returns a line that shows the row: the line where it was selected, its own lane, or a lane
 * that includes it. NULL: none does. */
const struct gt_lane_line *gt_interaction_line_of(
	const struct gt_timeline_interaction *d, const struct gt_event_ref *row);
/* the cursor's position, the viewer's time */
int64_t gt_interaction_time(
	const struct gt_timeline_interaction *d, const struct gt_timeline_cursor *at);
/* Takes the pending jump: a lane and a range of the viewer's time. false: there is none. Call it
 * once after each action. */
bool gt_interaction_take_jump(struct gt_timeline_interaction *d, const struct gt_lane_line *cursor,
	struct gt_lane_line *line, int64_t *from, int64_t *to);
/* Takes the pane's area from the layout. 0 or negative. */
int gt_interaction_arrange(
	struct gt_timeline_interaction *d, struct gt_layout *layout, struct gt_err *err);
/* Sets the visible lines: nlines from `top` on with the numbers of their strips, and the
 * cursor's line. 0 or negative. */
int gt_interaction_show(struct gt_timeline_interaction *d, size_t top, size_t nlines, size_t cursor,
	const struct gt_lane_cells *strips, const uint32_t *strip_of, struct gt_err *err);
/* Work that may come last: names, marks and the count of the search. 1: there is more to do, 0:
 * done, negative: error. */
int gt_interaction_step_last(struct gt_timeline_interaction *d, uint64_t us, struct gt_err *err);
/* draws over the timeline */
void gt_interaction_draw(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to);
#endif
