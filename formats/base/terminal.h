/* What a descriptor can show. */
#ifndef GT_TERMINAL_H
#define GT_TERMINAL_H
#include <stddef.h>

size_t gt_terminal_width(int fd);	/* in columns: COLUMNS, or the window's; SIZE_MAX: it is no terminal */
#endif
