#include "viewer/term/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "viewer/term/glyphs.h"

#define SPACE ((struct gt_spot){ .ch = ' ' })

static unsigned within(unsigned n) { return n < 1 ? 1 : n > GT_SCREEN_MOST ? GT_SCREEN_MOST : n; }

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
	*s = (struct gt_screen){ .ascii = s->ascii, .mono = s->mono };
}

/* ---- putting ---- */

static uint32_t fit(const struct gt_screen *s, uint32_t ch, unsigned columns)
{
	ch = gt_glyph_columns(ch) == columns ? ch : '?';
	return s->ascii ? gt_glyph_ascii(ch) : ch;
}

static struct gt_spot *at(struct gt_screen *s, int64_t x, int64_t y)
{
	return x >= 0 && y >= 0 && x < s->width && y < s->height && s->spots
		? &s->spots[(size_t)y * s->width + (size_t)x]
		: NULL;
}

static void make_blank(struct gt_spot *spot)
{
	spot->ch = ' ';
	memset(spot->marks, 0, sizeof(spot->marks));
}

/* Before columns [from, end) of a line are drawn over: wide characters that are partly in them
 * lose their other half. */
static void uncover(struct gt_screen *s, int64_t from, int64_t end, int64_t y)
{
	struct gt_spot *first = at(s, from, y), *behind = at(s, end, y);

	if (first && first->ch == GT_RIGHT_HALF)
		make_blank(first - 1);
	if (behind && behind->ch == GT_RIGHT_HALF)
		make_blank(behind);
}

static void put_spot(struct gt_screen *s, int64_t x, int64_t y, struct gt_spot with)
{
	struct gt_spot *spot = at(s, x, y);

	if (spot)
		*spot = with;
}

/* Puts a letter or its replacement of the same width. A wide letter at the edge becomes a space. */
static void put_letter(
	struct gt_screen *s, int64_t x, int64_t y, const struct gt_letter *l, struct gt_look look)
{
	struct gt_spot spot = { .ch = fit(s, l->ch, l->columns), .look = look };
	bool wide = l->columns > 1;

	uncover(s, x, x + l->columns, y);
	if (spot.ch == l->ch && !s->ascii)
		memcpy(spot.marks, l->marks, sizeof(spot.marks));
	if (wide && !(at(s, x, y) && at(s, x + 1, y)))
		spot = (struct gt_spot){ .ch = ' ', .look = look };
	put_spot(s, x, y, spot);
	if (wide)
		put_spot(s, x + 1, y,
			(struct gt_spot){
				.ch = gt_utf8_columns(spot.ch) > 1 ? GT_RIGHT_HALF : spot.ch,
				.look = look });
}

void gt_screen_put(struct gt_screen *s, int x, int y, uint32_t ch, struct gt_look look)
{
	unsigned columns = gt_glyph_columns(ch);

	put_letter(s, x, y, &(struct gt_letter){ .ch = ch, .columns = columns > 1 ? 2 : 1 }, look);
}

/* Puts text up to `end`; NULL: all of it. */
static int put_text(struct gt_screen *s, int x, int y, int64_t width, const char *text,
	const char *end, struct gt_look look)
{
	const struct gt_letter cut = { .ch = 0x2026, .columns = 1 };
	int64_t most = (int64_t)s->width - x;
	struct gt_letter l;
	int n = 0;

	most = width >= 0 && width < most ? width : most;
	for (bool more = *text; more && n < most; n += l.columns) {
		text = gt_letter_next(text, &l);
		more = *text && text != end;
		if (n + l.columns + more > most) {
			l = cut;
			more = false;
		}
		put_letter(s, (int64_t)x + n, y, &l, look);
	}
	return n;
}

int gt_screen_text(
	struct gt_screen *s, int x, int y, int width, const char *text, struct gt_look look)
{
	return put_text(s, x, y, width, text, NULL, look);
}

/* End of the first line of a text: at its last blank, which the next line leaves out; else within a
 * word. */
static const char *line_end(const char *text, unsigned width)
{
	struct gt_letter l;
	const char *end = gt_utf8_most(text, width), *blank = end;

	if (end == text)
		return gt_letter_next(text, &l); /* at least one letter */
	while (*end && blank > text && *blank != ' ')
		blank--;
	return *end && blank > text ? blank : end;
}

static const char *after_blank(const char *text) { return text + (*text == ' '); }

unsigned gt_screen_count_lines(const char *text, unsigned width)
{
	unsigned n = 1;

	while (*(text = after_blank(line_end(text, width))))
		n++;
	return n;
}

void gt_screen_put_lines(struct gt_screen *s, int x, int y, unsigned width, unsigned lines,
	const char *text, struct gt_look look)
{
	for (const char *end; lines && *text; text = after_blank(end), y++) {
		end = --lines ? line_end(text, width) : text + strlen(text);
		put_text(s, x, y, width, text, end, look);
	}
}

int gt_screen_printf(
	struct gt_screen *s, int x, int y, int width, struct gt_look look, const char *fmt, ...)
{
	char text[16 * GT_SCREEN_MOST]; /* enough for a line, except with many combining marks */
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n < 0 ? 0 : gt_screen_text(s, x, y, width, text, look);
}

/* The part of a rectangle that is on the screen. */
struct box {
	int64_t x0, y0, x1, y1;
};
static struct box cut(const struct gt_screen *s, int x, int y, int width, int height)
{
	struct box b = { x > 0 ? x : 0, y > 0 ? y : 0, (int64_t)x + width, (int64_t)y + height };

	b.x1 = b.x1 < s->width ? b.x1 : s->width;
	b.y1 = s->spots ? b.y1 < s->height ? b.y1 : s->height : 0;
	return b;
}

bool gt_screen_is_blank(const struct gt_screen *s, int x, int y)
{
	const struct gt_spot *spot = at((struct gt_screen *)s, x, y);

	return spot && spot->ch == ' ';
}

void gt_screen_fill(
	struct gt_screen *s, int x, int y, int width, int height, uint32_t ch, struct gt_look look)
{
	struct gt_spot with = { .ch = fit(s, ch, 1), .look = look };
	struct box b = cut(s, x, y, width, height);

	for (int64_t line = b.y0; b.x0 < b.x1 && line < b.y1; line++) {
		uncover(s, b.x0, b.x1, line);
		for (int64_t i = b.x0; i < b.x1; i++)
			s->spots[line * s->width + i] = with;
	}
}

/* paper: NULL: unchanged. */
static void change_look(struct gt_screen *s, struct box b, uint8_t style, const uint8_t *paper)
{
	for (int64_t y = b.y0; b.x0 < b.x1 && y < b.y1; y++) {
		struct gt_spot *line = s->spots + y * s->width;
		int64_t x = b.x0 - (line[b.x0].ch == GT_RIGHT_HALF),
			end = b.x1 + (b.x1 < s->width && line[b.x1].ch == GT_RIGHT_HALF);

		for (; x < end; x++) {
			line[x].look.style |= style;
			line[x].look.paper = paper ? *paper : line[x].look.paper;
		}
	}
}

void gt_screen_add_style(struct gt_screen *s, int x, int y, int width, int height, uint8_t style)
{
	change_look(s, cut(s, x, y, width, height), style, NULL);
}

void gt_screen_set_paper(struct gt_screen *s, int x, int y, int width, int height, uint8_t paper)
{
	change_look(s, cut(s, x, y, width, height), 0, &paper);
}

uint32_t gt_block_glyph(unsigned eighths)
{
	return eighths ? 0x2580 + (eighths < 8 ? eighths : 8) : ' ';
}

/* ---- printing ---- */

size_t gt_spot_utf8(const struct gt_spot *spot, char to[GT_SPOT_UTF8])
{
	size_t n = spot->ch == GT_RIGHT_HALF ? 0 : gt_utf8_put(to, spot->ch);

	for (size_t i = 0; i < GT_LETTER_MARKS && spot->marks[i]; i++)
		n += gt_utf8_put(to + n, spot->marks[i]);
	return n;
}

static size_t put_colour(
	char *to, size_t room, enum gt_colours depth, int32_t colour, unsigned base)
{
	if (colour == GT_COLOUR_DEFAULT)
		return 0;
	if (depth == GT_COLOURS_8)
		return (size_t)snprintf(to, room, ";%u", base + (unsigned)colour);
	if (depth == GT_COLOURS_256)
		return (size_t)snprintf(to, room, ";%u;5;%d", base + 8, colour);
	return (size_t)snprintf(to, room, ";%u;2;%d;%d;%d", base + 8, colour >> 16,
		colour >> 8 & 255, colour & 255);
}

/* Writes the sequence that sets this look whatever the current look is. */
static void put_look(struct gt_out *to, struct gt_resolved_look shown, enum gt_colours depth)
{
	static const struct {
		uint8_t style;
		char code;
	} codes[] = {
		{ GT_BOLD, '1' },
		{ GT_DIM, '2' },
		{ GT_UNDERLINE, '4' },
		{ GT_REVERSE, '7' },
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

static bool same_look(struct gt_resolved_look a, struct gt_resolved_look b)
{
	return a.ink == b.ink && a.paper == b.paper && a.style == b.style;
}

/* True if the spot is invisible. */
static bool is_invisible(const struct gt_spot *spot, enum gt_colours depth)
{
	struct gt_resolved_look shown;

	if (spot->ch != ' ')
		return false;
	if (depth == GT_MONO || !(spot->look.paper | spot->look.style | spot->look.ink))
		return true;
	shown = gt_look_resolve(spot->look, depth);
	return shown.paper == GT_COLOUR_DEFAULT && !(shown.style & (GT_REVERSE | GT_UNDERLINE));
}

static void print_line(
	const struct gt_spot *spots, unsigned width, enum gt_colours depth, struct gt_out *to)
{
	const struct gt_resolved_look plain = { GT_COLOUR_DEFAULT, GT_COLOUR_DEFAULT, 0 };
	struct gt_resolved_look now = plain, next = plain;
	char utf8[GT_SPOT_UTF8];

	while (width && is_invisible(&spots[width - 1], depth))
		width--;
	for (unsigned x = 0; x < width; x++) {
		if (depth != GT_MONO &&
			(!x || memcmp(&spots[x].look, &spots[x - 1].look, sizeof(spots->look))))
			next = gt_look_resolve(spots[x].look, depth);
		if (!same_look(now, next))
			put_look(to, next, depth);
		now = next;
		gt_out_add(to, utf8, gt_spot_utf8(&spots[x], utf8));
	}
	gt_out_str(to, same_look(now, plain) ? "\n" : "\x1b[0m\n");
}

int gt_screen_print(const struct gt_screen *s, enum gt_colours colours, struct gt_out *to)
{
	for (unsigned y = 0; y < s->height; y++)
		print_line(s->spots + (size_t)y * s->width, s->width, colours, to);
	return to->failed;
}
