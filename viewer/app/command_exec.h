/* Commands as they are given in every view: what is typed behind a colon is done here, with what
 * all views share (the scene), by the view that is shown, or in the timeline, to which some turn.
 */
#ifndef GT_COMMAND_EXEC_H
#define GT_COMMAND_EXEC_H
#include "viewer/app/command_table.h"
#include "viewer/app/ui.h"

/* Does what stands there. NULL, or what there is to say about it. Negative err: the viewer cannot
 * go on. */
const char *gt_command_exec(struct gt_ui *s, const char *text, struct gt_err *err);
/* the trace's bookmarks, once; what is wrong with them is said */
void gt_command_load_bookmarks(struct gt_scene *s);
#endif
