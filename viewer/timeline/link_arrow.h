/* The arrow from a call to the GPU work that it launched, across the lanes between them. */
#ifndef GT_LINK_ARROW_H
#define GT_LINK_ARROW_H
#include "viewer/term/screen.h"

struct gt_link_arrow {
	int from_x, from_y; /* the cell of the call */
	int to_x, to_y;     /* the cell of the work */
};
/* Draws between the two lines: from the call to the line beside the work, along that line, and to
 * the work. Lines that are next to each other have no space for it. */
void gt_link_arrow_draw(const struct gt_link_arrow *a, struct gt_screen *to);
#endif
