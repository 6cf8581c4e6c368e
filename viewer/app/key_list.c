#include "viewer/app/key_list.h"

#include <string.h>
#include "viewer/view/bindings.h"

#define COLUMN 40u /* width of a column */
#define KEYS 12    /* width of the keys in it */
#define COLOUR 18u /* width of a colour with its word */

static const uint8_t colours[] = {
	GT_INK_CATEGORY + GT_CAT_KERNEL, GT_INK_COMM, GT_INK_CATEGORY + GT_CAT_COPY,
	GT_INK_CATEGORY + GT_CAT_SYNC, GT_INK_CATEGORY + GT_CAT_LAUNCH,
#define X(NAME, name) GT_INK_CATEGORY + GT_CAT_##NAME,
	GT_CATEGORIES(X)
#undef X
};
#define COLOURS (sizeof(colours) / sizeof(*colours))

static unsigned columns(unsigned width) { return width >= 2 * COLUMN ? 2 : 1; }

/* Each section of the table names its column. Returns the lines of a column. */
static unsigned lines_of(unsigned column, unsigned width)
{
	unsigned n = 0, at = 0;

	for (size_t i = 0; i < gt_nbindings; i++) {
		at = gt_bindings[i].keys ? at : (unsigned)gt_bindings[i].arg;
		n += gt_bindings[i].brief && (columns(width) == 1 || at == column);
	}
	return n;
}

/* The first colours are listed once. */
static bool is_repeated(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (colours[k] == colours[i])
			return true;
	return false;
}

static unsigned key_lines(unsigned width)
{
	unsigned a = lines_of(0, width), b = columns(width) == 2 ? lines_of(1, width) : 0;

	return a > b ? a : b;
}

/* Draws the colours from line `y` on if `to` is not NULL. Returns the number of lines. */
static unsigned draw_colours(unsigned width, int y, unsigned height, struct gt_screen *to)
{
	unsigned x = 0, lines = 0;

	for (size_t i = 0; i < COLOURS; i++) {
		int at = y + (int)lines;

		if (is_repeated(i))
			continue;
		if (to && at >= 0 && at < (int)height) {
			char letter = gt_state_letter(colours[i] - GT_INK_CATEGORY);

			gt_screen_fill(to, (int)x, at, 2, 1,
				to->mono && letter ? (uint32_t)letter : 0x2588,
				(struct gt_look){ colours[i], GT_INK_NONE, 0 });
			gt_screen_text(to, (int)x + 3, at, (int)COLOUR - 3,
				gt_inks[colours[i]].word, gt_look_plain);
		}
		x += COLOUR;
		if (x + COLOUR > width && i + 1 < COLOURS) {
			x = 0;
			lines++;
		}
	}
	return lines + (x > 0);
}

unsigned gt_key_list_lines(unsigned width)
{
	return key_lines(width) + draw_colours(width, 0, 0, NULL);
}

static void draw_row(const struct gt_binding *b, int x, int y, struct gt_screen *to)
{
	const char *tab = strchr(b->brief, '\t');

	if (!tab) {
		gt_screen_text(to, x, y, (int)COLUMN - 1, b->brief, gt_look_heading);
		return;
	}
	gt_screen_printf(
		to, x + 1, y, KEYS, gt_look_title, "%.*s", (int)(tab - b->brief), b->brief);
	gt_screen_text(to, x + 1 + KEYS, y, (int)COLUMN - KEYS - 2, tab + 1, gt_look_plain);
}

void gt_key_list_draw(unsigned top, unsigned height, struct gt_screen *to)
{
	unsigned column = 0, line[2] = { 0 };

	gt_screen_clear(to);
	for (size_t i = 0; i < gt_nbindings; i++) {
		const struct gt_binding *b = &gt_bindings[i];
		int y;

		if (!b->keys && columns(to->width) == 2)
			column = (unsigned)b->arg;
		if (!b->brief)
			continue;
		y = (int)line[column]++ - (int)top;
		if (y >= 0 && y < (int)height)
			draw_row(b, (int)(column * COLUMN), y, to);
	}
	draw_colours(to->width, (int)key_lines(to->width) - (int)top, height, to);
}
