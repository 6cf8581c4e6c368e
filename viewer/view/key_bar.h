/* The key bar: the last line of the screen names the most used keys of a view. */
#ifndef GT_KEY_BAR_H
#define GT_KEY_BAR_H
#include "viewer/term/keys.h"
#include "viewer/term/screen.h"

struct gt_key_hint {
	const char *key, *label; /* label NULL: the end of the list */
	struct gt_key press;     /* the key that a click presses; GT_KEY_NONE: none */
	uint8_t rank; /* of hints that do not fit, those with the highest rank are left out */
};
/* the character of a hint is the key that a click presses */
#define GT_KEY_HINT(c, label, rank)                                                                \
	{                                                                                          \
		(const char[]){ c, 0 }, label, { .key = c }, rank                                  \
	}
/* Draws the hints that fit in a line of this width. */
void gt_key_bar_draw(const struct gt_key_hint *hints, int y, struct gt_screen *to);
/* The key of the hint at a column, or GT_KEY_NONE. */
struct gt_key gt_key_bar_at(const struct gt_key_hint *hints, unsigned width, int x);
#endif
