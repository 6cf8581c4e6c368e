/* What the views beside the timeline have in common. */
#ifndef GT_VIEW_COMMON_H
#define GT_VIEW_COMMON_H
#include "viewer/view/view.h"

/* The window has as many cells as in the timeline, so that the same time is seen in all views. */
void gt_view_common_arrange(struct gt_scene *s, unsigned width, unsigned height);
/* Keys that change what is seen of time, or how it is told. */
enum gt_view_result gt_view_common_act(struct gt_scene *s, const struct gt_binding *b);
const char *gt_view_common_answer(struct gt_scene *s, enum gt_action asked, const char *text);
/* The first line: "kernels  5.5s to 6.5s  train.zst". what: is shown. */
void gt_view_common_draw_top(const struct gt_scene *s, const char *what, struct gt_screen *to);
#endif
