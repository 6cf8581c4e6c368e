/* Commands that the user types after a colon: one table, which executes and completes them. */
#ifndef GT_COMMANDS_H
#define GT_COMMANDS_H
#include "viewer/view/scene.h"

struct gt_ui;
/* Executes a command. NULL, or a message for the user. Negative err: the viewer cannot continue. */
const char *gt_command_exec(struct gt_ui *s, const char *text, struct gt_err *err);
/* loads the trace's bookmarks, once; reports problems in the status line */
void gt_command_load_bookmarks(struct gt_scene *s);
/* Completions of the input; returns their number, at most `most`. */
#define GT_COMMAND_WORD 100
size_t gt_command_words(
	const char *typed, const struct gt_bookmarks *b, char to[][GT_COMMAND_WORD], size_t most);
#endif
