/* Width and colours of a terminal. */
#ifndef GT_TERMINAL_H
#define GT_TERMINAL_H
#include <stdbool.h>
#include <stddef.h>

/* Columns: COLUMNS, or the window's width. SIZE_MAX: fd is not a terminal. */
size_t gt_terminal_width(int fd);

/* The standard output goes to a pager on a terminal of this width, and counts as this terminal. */
void gt_terminal_set_paged(size_t width);

enum gt_colour_when { GT_COLOUR_AUTO, GT_COLOUR_ALWAYS, GT_COLOUR_NEVER };
/* Whether to print colours. AUTO: on a terminal with colours (TERM is set, and not "dumb"), unless
 * NO_COLOR is set and not empty. */
bool gt_terminal_colours(int fd, enum gt_colour_when when);
#endif
