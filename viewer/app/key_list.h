/* The list of keys and colours on the screen: two columns, which fit into 80x24; one column on a
 * narrow screen. */
#ifndef GT_KEY_LIST_H
#define GT_KEY_LIST_H
#include "viewer/term/screen.h"

/* number of lines on a screen of this width */
unsigned gt_key_list_lines(unsigned width);
/* Draws the lines from `top` on into the first `height` lines. */
void gt_key_list_draw(unsigned top, unsigned height, struct gt_screen *to);
#endif
