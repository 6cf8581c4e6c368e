/* What is typed behind a colon: one table of commands, and what completes them. */
#ifndef GT_COMMAND_TABLE_H
#define GT_COMMAND_TABLE_H
#include "viewer/app/export_job.h"

enum gt_command_kind {
	GT_COMMAND_NONE,
	GT_COMMAND_GOTO,
	GT_COMMAND_FILTER,
	GT_COMMAND_FIND,
	GT_COMMAND_FIT,
	GT_COMMAND_MARK,
	GT_COMMAND_BOOKMARK,
	GT_COMMAND_JUMP,
	GT_COMMAND_FORGET,
	GT_COMMAND_VIEW,
	GT_COMMAND_OPEN,
	GT_COMMAND_EXPORT,
	GT_COMMAND_QUIT
};
/* What it is, by its name or as much of it as only one has; *rest: what stands behind it. *force:
 * with a '!'. NONE: why not in err, or nothing is there. */
enum gt_command_kind gt_command_parse(
	const char *text, const char **rest, bool *force, struct gt_err *err);
/* Lines that what is typed may become: so many, `most` at most. */
#define GT_COMMAND_WORD 100
size_t gt_command_words(
	const char *typed, const struct gt_bookmarks *b, char to[][GT_COMMAND_WORD], size_t most);
/* "FORMAT FILE [FROM TO]": what of it stands there. A name with spaces is quoted. 0 or negative. */
int gt_command_export(const struct gt_scene *s, const char *rest, struct gt_export_request *to,
	struct gt_err *err);
#endif
