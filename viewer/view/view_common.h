/* What reports and flame graphs have in common. */
#ifndef GT_VIEW_COMMON_H
#define GT_VIEW_COMMON_H
#include "viewer/view/view.h"

/* Gives the window as many cells as in the timeline, so that all views show the same time. */
void gt_view_common_arrange(struct gt_scene *s, unsigned width, unsigned height);
/* Handles keys that change the visible range or the format of times. */
void gt_view_common_act(struct gt_scene *s, const struct gt_binding *b);
const char *gt_view_common_answer(struct gt_scene *s, enum gt_action asked, const char *text);
/* Draws the first line: "kernels  5.5s to 6.5s  train.zst". */
void gt_view_common_draw_top(const struct gt_scene *s, const char *what, struct gt_screen *to);
#endif
