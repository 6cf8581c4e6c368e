/* What a descriptor can show. */
#ifndef GT_TERMINAL_H
#define GT_TERMINAL_H
#include <stdbool.h>
#include <stddef.h>

/* in columns: COLUMNS, or the window's; SIZE_MAX: it is no terminal */
size_t gt_terminal_width(int fd);

enum gt_colour_when { GT_COLOUR_AUTO, GT_COLOUR_ALWAYS, GT_COLOUR_NEVER };
/* auto: on a terminal that has colours (TERM is set, and not "dumb"), unless NO_COLOR is set to
 * something. */
bool gt_terminal_colours(int fd, enum gt_colour_when when);
#endif
