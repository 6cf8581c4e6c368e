#include "viewer/timeline/link_arrow.h"

#define DOWN 0x2502
#define ACROSS 0x2500
#define HEAD_UP 0x25b2
#define HEAD_DOWN 0x25bc

static const struct gt_look look = { GT_INK_WARN, GT_INK_NONE, GT_BOLD };

/* Where the arrow turns towards the work: from above or below, to the left or right. */
static uint32_t corner(bool up, bool right, bool first)
{
	if (first)
		return up ? (right ? 0x256d : 0x256e) : (right ? 0x2570 : 0x256f);
	return up ? (right ? 0x256f : 0x2570) : (right ? 0x256e : 0x256d);
}

void gt_link_arrow_draw(const struct gt_link_arrow *a, struct gt_screen *to)
{
	bool up = a->to_y<a->from_y, right = a->to_x> a->from_x;
	int step = up ? -1 : 1, turn = a->to_y - step, left = right ? a->from_x : a->to_x,
	    width = (right ? a->to_x - a->from_x : a->from_x - a->to_x) - 1;

	if (a->to_y == a->from_y || turn == a->from_y)
		return;
	if (a->from_x != a->to_x && turn - step != a->from_y)
		turn -= step; /* the head has a line of its own */
	for (int y = a->from_y + step; y != turn; y += step)
		gt_screen_put(to, a->from_x, y, DOWN, look);
	if (a->from_x != a->to_x) {
		gt_screen_put(to, a->from_x, turn, corner(up, right, true), look);
		gt_screen_fill(to, left + 1, turn, width, 1, ACROSS, look);
		gt_screen_put(to, a->to_x, turn, corner(up, right, false), look);
	}
	gt_screen_put(to, a->to_x, a->to_y - step, up ? HEAD_UP : HEAD_DOWN, look);
}
