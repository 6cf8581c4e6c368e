/* What is typed behind a colon: one table of commands, and what completes them. */
#ifndef GT_COMMANDS_H
#define GT_COMMANDS_H
#include "viewer/app/export_job.h"

enum gt_order_of { GT_ORDER_NONE, GT_ORDER_GOTO, GT_ORDER_FILTER, GT_ORDER_FIND, GT_ORDER_FIT, GT_ORDER_MARK, GT_ORDER_BOOKMARK,
		   GT_ORDER_JUMP, GT_ORDER_FORGET, GT_ORDER_VIEW, GT_ORDER_OPEN, GT_ORDER_EXPORT, GT_ORDER_QUIT };
/* What it is, by its name or as much of it as only one has; *rest: what stands behind it. *force: with a '!'. NONE: why not in err, or
 * nothing is there. */
enum gt_order_of gt_command_parse(const char *text, const char **rest, bool *force, struct gt_err *err);
/* Lines that what is typed may become: so many, `most` at most. */
#define GT_COMMAND_WORD 100
size_t gt_command_words(const char *typed, const struct gt_bookmarks *b, char to[][GT_COMMAND_WORD], size_t most);
/* "FORMAT FILE [FROM TO]": what of it stands there. A name with spaces is quoted. 0 or negative. */
int gt_command_export(const struct gt_scene *s, const char *rest, struct gt_export_order *to, struct gt_err *err);
#endif
