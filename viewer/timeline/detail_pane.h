/* The detail pane: shows all that is known about the selection as lines of a name and a value.
 * It is right of the lanes on a wide terminal, else below them. It is not shown if the terminal is
 * too small. */
#ifndef GT_DETAIL_PANE_H
#define GT_DETAIL_PANE_H
#include "viewer/timeline/selection.h"
#include "viewer/model/display_name.h"
#include "viewer/timeline/timeline_draw.h"
#include "formats/names/kernel_names.h"

struct gt_detail_pane { /* zero-initialised is empty */
	char title[GT_SHORT_MAX + 60];
	struct gt_detail_line {
		char name[24];
		char *value;
		uint8_t ink;
	} * lines;
	size_t n, cap;
	size_t top;  /* the first line to draw */
	bool failed; /* memory ran out: lines are missing */
};
/* borrowed */
struct gt_detail_source {
	const struct gt_scene *scene;
	const struct gt_lanes *lanes;
	struct gt_display_name *spell;
};
/* Replaces the content with a description of the selection. 0 or negative. */
int gt_detail_pane_fill(struct gt_detail_pane *d, const struct gt_detail_source *from,
	const struct gt_selection *p, struct gt_err *err);
void gt_detail_pane_release(struct gt_detail_pane *d);

enum gt_pane_size { GT_PANE_NONE, GT_PANE_USUAL, GT_PANE_TALL, GT_PANE_SIZES };
struct gt_pane {
	int x, y;
	unsigned width, height;
}; /* height 0: it is not shown */
/* Takes columns or lines for the pane from the layout, if there are enough. */
struct gt_pane gt_pane_place(struct gt_layout *at, enum gt_pane_size size);
void gt_pane_draw(const struct gt_pane *p, const struct gt_detail_pane *d, struct gt_screen *to);
#endif
