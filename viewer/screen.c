#include "viewer/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "viewer/glyphs.h"

#define SPACE ((struct gt_spot){ .ch = ' ' })

static unsigned within(unsigned n)
{
	return n < 1 ? 1 : n > GT_SCREEN_MOST ? GT_SCREEN_MOST : n;
}

int gt_screen_resize(struct gt_screen *s, unsigned width, unsigned height)
{
	struct gt_spot *spots;

	width = within(width);
	height = within(height);
	spots = realloc(s->spots, (size_t)width * height * sizeof(*spots));
	if (!spots)
		return -ENOMEM;
	s->spots = spots;
	s->width = width;
	s->height = height;
	gt_screen_clear(s);
	return 0;
}

void gt_screen_clear(struct gt_screen *s)
{
	for (size_t i = 0; s->spots && i < (size_t)s->width * s->height; i++)
		s->spots[i] = SPACE;
}

void gt_screen_release(struct gt_screen *s)
{
	free(s->spots);
	*s = (struct gt_screen){ .ascii = s->ascii };
}

/* ---- putting ---- */

static uint32_t fit(const struct gt_screen *s, uint32_t ch)
{
	ch = gt_one_column(ch) ? ch : '?';
	return s->ascii ? gt_in_ascii(ch) : ch;
}

static struct gt_spot *at(struct gt_screen *s, int64_t x, int64_t y)
{
	return x >= 0 && y >= 0 && x < s->width && y < s->height && s->spots ? &s->spots[(size_t)y * s->width + (size_t)x] : NULL;
}

void gt_screen_put(struct gt_screen *s, int x, int y, uint32_t ch, struct gt_look look)
{
	struct gt_spot *spot = at(s, x, y);

	if (spot)
		*spot = (struct gt_spot){ fit(s, ch), look };
}

int gt_screen_text(struct gt_screen *s, int x, int y, int width, const char *text, struct gt_look look)
{
	int64_t most = (int64_t)s->width - x;
	int n = 0;

	if (width >= 0 && width < most)
		most = width;
	for (uint32_t ch; *text && n < most; n++) {
		struct gt_spot *spot = at(s, (int64_t)x + n, y);

		/* a terminating zero is no continuation, so looking four bytes ahead ends there */
		text += gt_utf8_get(text, strnlen(text, 4), &ch);
		if (*text && n + 1 == most)
			ch = s->ascii ? '~' : 0x2026;
		if (spot)
			*spot = (struct gt_spot){ fit(s, ch), look };
	}
	return n;
}

int gt_screen_printf(struct gt_screen *s, int x, int y, int width, struct gt_look look, const char *fmt, ...)
{
	char text[4 * GT_SCREEN_MOST];	/* more than fits: what fit puts takes three bytes at most */
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n < 0 ? 0 : gt_screen_text(s, x, y, width, text, look);
}

/* What of a rectangle is on the screen. */
struct box { int64_t x0, y0, x1, y1; };
static struct box cut(const struct gt_screen *s, int x, int y, int width, int height)
{
	struct box b = { x > 0 ? x : 0, y > 0 ? y : 0, (int64_t)x + width, (int64_t)y + height };

	b.x1 = b.x1 < s->width ? b.x1 : s->width;
	b.y1 = s->spots ? b.y1 < s->height ? b.y1 : s->height : 0;
	return b;
}

#define EACH_SPOT(spot, s, b) \
	for (int64_t y_ = (b).y0, x_; y_ < (b).y1; y_++) \
		for (struct gt_spot *spot = (s)->spots + y_ * (s)->width + (x_ = (b).x0); x_ < (b).x1; x_++, spot++)

void gt_screen_fill(struct gt_screen *s, int x, int y, int width, int height, uint32_t ch, struct gt_look look)
{
	struct gt_spot with = { fit(s, ch), look };
	struct box b = cut(s, x, y, width, height);

	EACH_SPOT(spot, s, b)
		*spot = with;
}

void gt_screen_style(struct gt_screen *s, int x, int y, int width, int height, uint8_t style)
{
	struct box b = cut(s, x, y, width, height);

	EACH_SPOT(spot, s, b)
		spot->look.style |= style;
}

void gt_screen_paper(struct gt_screen *s, int x, int y, int width, int height, uint8_t paper)
{
	struct box b = cut(s, x, y, width, height);

	EACH_SPOT(spot, s, b)
		spot->look.paper = paper;
}

uint32_t gt_block_up(unsigned eighths)
{
	return eighths ? 0x2580 + (eighths < 8 ? eighths : 8) : ' ';
}

uint32_t gt_block_right(unsigned eighths)
{
	return eighths ? 0x2590 - (eighths < 8 ? eighths : 8) : ' ';
}

/* ---- printing ---- */

static size_t put_colour(char *to, size_t room, enum gt_colours depth, int32_t colour, unsigned base)
{
	if (colour == GT_OWN)
		return 0;
	if (depth == GT_COLOURS_8)
		return (size_t)snprintf(to, room, ";%u", base + (unsigned)colour);
	if (depth == GT_COLOURS_256)
		return (size_t)snprintf(to, room, ";%u;5;%d", base + 8, colour);
	return (size_t)snprintf(to, room, ";%u;2;%d;%d;%d", base + 8, colour >> 16, colour >> 8 & 255, colour & 255);
}

/* The sequence that gets there from anywhere. */
static void put_look(struct gt_out *to, struct gt_shown shown, enum gt_colours depth)
{
	static const struct { uint8_t style; char code; } codes[] = {
		{ GT_BOLD, '1' }, { GT_DIM, '2' }, { GT_UNDERLINE, '4' }, { GT_REVERSE, '7' },
	};
	char text[80] = "\x1b[0";
	size_t n = strlen(text);

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (shown.style & codes[i].style)
			n += (size_t)snprintf(text + n, sizeof(text) - n, ";%c", codes[i].code);
	n += put_colour(text + n, sizeof(text) - n, depth, shown.ink, 30);
	n += put_colour(text + n, sizeof(text) - n, depth, shown.paper, 40);
	text[n++] = 'm';
	gt_out_add(to, text, n);
}

static bool same_look(struct gt_shown a, struct gt_shown b)
{
	return a.ink == b.ink && a.paper == b.paper && a.style == b.style;
}

/* A space that looks like no space at all. */
static bool blank(const struct gt_spot *spot, enum gt_colours depth)
{
	struct gt_shown shown;

	if (spot->ch != ' ')
		return false;
	if (depth == GT_MONO || !(spot->look.paper | spot->look.style | spot->look.ink))
		return true;
	shown = gt_look_shown(spot->look, depth);
	return shown.paper == GT_OWN && !(shown.style & (GT_REVERSE | GT_UNDERLINE));
}

static void print_line(const struct gt_spot *spots, unsigned width, enum gt_colours depth, struct gt_out *to)
{
	const struct gt_shown plain = { GT_OWN, GT_OWN, 0 };
	struct gt_shown now = plain, next = plain;
	char utf8[4];

	while (width && blank(&spots[width - 1], depth))
		width--;
	for (unsigned x = 0; x < width; x++) {
		if (depth != GT_MONO && (!x || memcmp(&spots[x].look, &spots[x - 1].look, sizeof(spots->look))))
			next = gt_look_shown(spots[x].look, depth);
		if (!same_look(now, next))
			put_look(to, next, depth);
		now = next;
		gt_out_add(to, utf8, gt_utf8_put(utf8, spots[x].ch));
	}
	gt_out_str(to, same_look(now, plain) ? "\n" : "\x1b[0m\n");
}

int gt_screen_print(const struct gt_screen *s, enum gt_colours colours, struct gt_out *to)
{
	for (unsigned y = 0; y < s->height; y++)
		print_line(s->spots + (size_t)y * s->width, s->width, colours, to);
	return to->failed;
}
