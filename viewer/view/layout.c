#include "viewer/view/layout.h"

struct gt_layout gt_layout_of(unsigned width, unsigned height, unsigned with)
{
	struct gt_layout at = { .width = width,
		.height = height,
		.title = -1,
		.map = -1,
		.bracket = -1,
		.marks = -1,
		.troubles = -1,
		.detail = -1 };
	int y = 0, below = (int)height - 1;

	if (height >= 16)
		at.title = y++;
	if (height >= 6)
		at.map = y++;
	if (height >= 14)
		at.bracket = y++;
	at.axis = y++;
	if (with & GT_LAYOUT_MARKS && height >= 10)
		at.marks = y++;
	if (with & GT_LAYOUT_TROUBLES && height >= 5)
		at.troubles = y++;
	at.status = height >= 4 ? below-- : -1;
	if (height >= 8 && !(with & GT_LAYOUT_STATIC))
		at.detail = below--;
	at.lanes = y;
	at.nlanes = below >= y ? (unsigned)(below - y + 1) : 0;
	at.label = width >= 110 ? 30
		: width >= 70   ? 22
		: width >= 50   ? 14
		: width >= 36   ? 12
				: width / 3;
	at.figure = width >= 60 ? 6 : 0;
	at.left = width > 1 ? at.label + at.figure + 1 : 0;
	at.cells = width - at.left;
	return at;
}
