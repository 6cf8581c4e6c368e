/* The desk: what a user has laid out over the timeline. What is picked and the pane that tells of it, and what leads from there. The
 * timeline says where the cursor is, and asks afterwards where it is to go. */
#ifndef GT_TIMELINE_INTERACTION_H
#define GT_TIMELINE_INTERACTION_H
#include "viewer/view/bindings.h"
#include "viewer/lanes/event_boxes.h"
#include "viewer/timeline/detail_pane.h"
#include "viewer/search/name_search.h"
#include "viewer/view/scene.h"

struct gt_timeline_interaction {
	struct gt_scene *scene;		/* borrowed, as lanes are */
	struct gt_lanes *lanes;
	struct gt_display_name spell;
	struct gt_selection pick;
	struct gt_detail_pane detail;
	enum gt_pane_size size;
	bool asked;			/* for a pane, by a key: it is said if there is no room for one */
	struct gt_pane pane;
	struct gt_name_search *finds;		/* NULL: nothing is looked for */
	char *looked_for;		/* between two archives: the expression, or NULL */
	struct gt_event_boxes *boxes;		/* of the lines that are shown */
	bool told;			/* the detail is that of what is picked */
	struct gt_err err;		/* of a key; gt_interaction_arrange returns it */
};
static inline struct gt_lane_key gt_lane_of_line(const struct gt_lane_line *line)
{
	return (struct gt_lane_key){ { line->segment, line->track, (enum gt_aspect)line->aspect, line->derived }, line->depth };
}

/* Where the cursor is. */
struct gt_timeline_cursor {
	const struct gt_lane_line *line;	/* NULL: there are no lanes */
	const struct gt_cell_sums *cells;	/* of it: the window's */
	unsigned column;
	int64_t time;				/* the moment in it that was gone to, or where it begins */
};
int gt_interaction_init(struct gt_timeline_interaction *d, struct gt_scene *scene, struct gt_lanes *lanes, struct gt_err *err);	/* to be released in any case */
void gt_interaction_release(struct gt_timeline_interaction *d);
/* The scene's archive is about to be closed: nothing but gt_interaction_release or _again may come next. Again: with the scene's next one, of
 * the same trace with more in it; all that the user laid out lies there still. 0 or negative. */
void gt_interaction_detach(struct gt_timeline_interaction *d);
int gt_interaction_reopen(struct gt_timeline_interaction *d, struct gt_err *err);
bool gt_interaction_act(struct gt_timeline_interaction *d, const struct gt_binding *b, const struct gt_timeline_cursor *at);	/* false: it has no use for this */
/* The mouse is drawn over cells: the marks are at both ends. Drop: there it is let go, and the marks snap to edges of what is in these two
 * cells of the lane. */
void gt_interaction_drag(struct gt_timeline_interaction *d, unsigned from, unsigned to);
void gt_interaction_drop(struct gt_timeline_interaction *d, const struct gt_timeline_cursor *at, unsigned from);
/* What the user has laid hands on: between both marks, or else what is picked. The viewer's time; false, and it is said why: nothing. */
bool gt_interaction_range(struct gt_timeline_interaction *d, int64_t *from, int64_t *to);
/* Looks for what was asked for; "": for nothing any more. NULL, or why not. */
const char *gt_interaction_search(struct gt_timeline_interaction *d, const char *expression, const struct gt_timeline_cursor *at);
void gt_interaction_select(struct gt_timeline_interaction *d, const struct gt_scene_row *row);	/* selects it, and wants to go there */
int64_t gt_interaction_time(const struct gt_timeline_interaction *d, const struct gt_timeline_cursor *at);	/* where the cursor is, the viewer's time */
/* Where the cursor is to go now: a lane, and a stretch of the viewer's time. Asked once after each jump. */
bool gt_interaction_take_jump(struct gt_timeline_interaction *d, const struct gt_lane_line *cursor, struct gt_lane_line *line, int64_t *from, int64_t *to);
/* Takes from the layout what the pane needs. 0 or negative. */
int gt_interaction_arrange(struct gt_timeline_interaction *d, struct gt_layout *layout, struct gt_err *err);
/* Which lines are shown: nlines from `top` on, and which strips they are of; and the line of the cursor. 0 or negative. */
int gt_interaction_show(struct gt_timeline_interaction *d, size_t top, size_t nlines, size_t cursor, const struct gt_lane_cells *strips, const uint32_t *strip_of,
		 struct gt_err *err);
/* What the user waits for, and what may come last. 1: there is more to do, 0, negative. */
int gt_interaction_step(struct gt_timeline_interaction *d, uint64_t us, struct gt_err *err);
int gt_interaction_step_last(struct gt_timeline_interaction *d, uint64_t us, struct gt_err *err);
void gt_interaction_draw(const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to);	/* over the timeline */
#endif
