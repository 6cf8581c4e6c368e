/* A screen as an SVG image. All columns have the same width in any font: each run of one look sets
 * the length of its text, wide characters are separate runs, and block characters are drawn as
 * rectangles. */
#include <string.h>
#include "viewer/term/glyphs.h"
#include "viewer/term/screen.h"

/* in the image's units */
#define WIDE 8u  /* width of a column */
#define HIGH 17u /* height of a line */
#define BASE 13u /* from the top of a line to its baseline */
#define MARGIN 10u
/* the default colours */
#define PAPER 0x16181d
#define INK 0xd3d7de

/* With the default colours of the image in place of the terminal's; reversed if the style says so.
 * paper GT_COLOUR_DEFAULT: that of the image. */
static struct gt_resolved_look colours_of(struct gt_look look)
{
	struct gt_resolved_look c = gt_look_resolve(look, GT_COLOURS_TRUE);
	int32_t paper = c.paper == GT_COLOUR_DEFAULT ? PAPER : c.paper;

	c.ink = c.ink == GT_COLOUR_DEFAULT ? INK : c.ink;
	if (c.style & GT_REVERSE) {
		c.paper = c.ink;
		c.ink = paper;
	}
	return c;
}

static void put_rectangle(
	struct gt_out *to, unsigned x, unsigned y, double w, double h, double down, int32_t colour)
{
	gt_out_printf(to, "<rect x=\"%u\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%06x\"/>\n",
		x, y + down, w, h, (unsigned)colour);
}

static bool is_block(uint32_t ch) { return ch >= 0x2581 && ch <= 0x258f; }

/* U+2581 to U+2588 are 1 to 8 eighths from below, U+2589 to U+258F 7 to 1 from the left. */
static void put_block(struct gt_out *to, uint32_t ch, unsigned x, unsigned y, int32_t colour)
{
	double h = HIGH * (ch - 0x2580) / 8.0;

	if (ch <= 0x2588)
		put_rectangle(to, x, y, WIDE, h, HIGH - h, colour);
	else
		put_rectangle(to, x, y, WIDE * (0x2590 - ch) / 8.0, HIGH, 0, colour);
}

static void put_character(struct gt_out *to, const struct gt_spot *spot)
{
	const char *entity = spot->ch == '<' ? "&lt;"
		: spot->ch == '>'            ? "&gt;"
		: spot->ch == '&'            ? "&amp;"
					     : "";
	char utf8[GT_SPOT_UTF8];
	size_t n = gt_spot_utf8(spot, utf8), instead = *entity ? 1 : 0;

	gt_out_str(to, entity);
	gt_out_add(to, utf8 + instead, n - instead);
}

/* Puts the letters from x to end, without spaces at both ends. */
static void put_letters(
	const struct gt_screen *s, struct gt_out *to, unsigned x, unsigned end, unsigned line)
{
	const struct gt_spot *spots = s->spots + (size_t)line * s->width;
	struct gt_look look = spots[x].look;

	while (x < end && spots[x].ch == ' ')
		x++;
	while (x < end && spots[end - 1].ch == ' ')
		end--;
	if (x == end)
		return;
	gt_out_printf(to, "<text x=\"%u\" y=\"%u\" textLength=\"%u\" fill=\"#%06x\"%s%s%s>",
		MARGIN + x * WIDE, MARGIN + line * HIGH + BASE, (end - x) * WIDE,
		(unsigned)colours_of(look).ink, look.style & GT_BOLD ? " font-weight=\"bold\"" : "",
		look.style & GT_DIM ? " opacity=\"0.6\"" : "",
		look.style & GT_UNDERLINE ? " text-decoration=\"underline\"" : "");
	for (; x < end; x++)
		put_character(to, &spots[x]);
	gt_out_str(to, "</text>\n");
}

enum kind { LETTERS, WIDE_LETTERS, BLOCKS };
static enum kind kind_of(uint32_t ch)
{
	return is_block(ch)                                       ? BLOCKS
		: ch == GT_RIGHT_HALF || gt_glyph_columns(ch) > 1 ? WIDE_LETTERS
								  : LETTERS;
}

/* Puts a run of one look and one kind and returns its end. */
static unsigned put_run(const struct gt_screen *s, struct gt_out *to, unsigned x, unsigned line)
{
	const struct gt_spot *spots = s->spots + (size_t)line * s->width;
	struct gt_resolved_look c = colours_of(spots[x].look);
	enum kind kind = kind_of(spots[x].ch);
	unsigned end = x, top = MARGIN + line * HIGH;

	while (end < s->width && !memcmp(&spots[end].look, &spots[x].look, sizeof(spots->look)) &&
		kind_of(spots[end].ch) == kind)
		end++;
	if (c.paper != GT_COLOUR_DEFAULT)
		put_rectangle(to, MARGIN + x * WIDE, top, (end - x) * WIDE, HIGH, 0, c.paper);
	if (kind != BLOCKS)
		put_letters(s, to, x, end, line);
	for (unsigned i = x; kind == BLOCKS && i < end; i++)
		put_block(to, spots[i].ch, MARGIN + i * WIDE, top, c.ink);
	return end;
}

int gt_screen_svg(const struct gt_screen *s, struct gt_out *to)
{
	unsigned width = s->width * WIDE + 2 * MARGIN, height = s->height * HIGH + 2 * MARGIN;

	gt_out_printf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
		"font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\" xml:space=\"preserve\">\n",
		width, height, width, height);
	gt_out_printf(to, "<rect width=\"%u\" height=\"%u\" rx=\"6\" fill=\"#%06x\"/>\n", width,
		height, PAPER);
	for (unsigned line = 0; s->spots && line < s->height; line++)
		for (unsigned x = 0; x < s->width;)
			x = put_run(s, to, x, line);
	gt_out_str(to, "</svg>\n");
	return to->failed;
}
