#include "viewer/view/key_bar.h"

#include <string.h>

static unsigned width_of(const struct gt_key_hint *h)
{
	return (unsigned)(strlen(h->key) + 1 + strlen(h->label) + 2);
}

/* The highest rank at which all hints up to it fit. */
static unsigned highest_rank(const struct gt_key_hint *hints, unsigned width)
{
	unsigned rank = 0;

	for (unsigned r = 1; r < 16; r++) {
		unsigned sum = 0;

		for (const struct gt_key_hint *h = hints; h->label; h++)
			sum += h->rank <= r ? width_of(h) : 0;
		if (sum > width + 2) /* the last one needs no space after it */
			break;
		rank = r;
	}
	return rank;
}

void gt_key_bar_draw(const struct gt_key_hint *hints, int y, struct gt_screen *to)
{
	const struct gt_look key = { GT_INK_TITLE, GT_INK_NONE, GT_BOLD },
			     label = { GT_INK_TEXT, GT_INK_SELECTED, 0 };
	unsigned rank = highest_rank(hints, to->width);
	int x = 0;

	gt_screen_fill(to, 0, y, (int)to->width, 1, ' ', gt_look_plain);
	for (const struct gt_key_hint *h = hints; h->label; h++) {
		if (h->rank > rank)
			continue;
		gt_screen_text(to, x, y, -1, h->key, key);
		gt_screen_text(to, x + (int)strlen(h->key) + 1, y, -1, h->label, label);
		x += (int)width_of(h);
	}
}

struct gt_key gt_key_bar_at(const struct gt_key_hint *hints, unsigned width, int x)
{
	unsigned rank = highest_rank(hints, width);
	int from = 0;

	for (const struct gt_key_hint *h = hints; h->label; h++) {
		int to = from + (int)width_of(h);

		if (h->rank > rank)
			continue;
		if (x >= from && x < to - 2)
			return h->press;
		from = to;
	}
	return (struct gt_key){ .key = GT_KEY_NONE };
}
