/* A program does not know whether its terminal is dark or light, so each ink must be readable on
 * black and on white: its luminance is between 0.10 and 0.30, a contrast of at least 3 to 1 to
 * both. So inks differ mostly in hue. The four most frequent ones are kernels (blue), copies
 * (bluish green), communication (orange) and synchronization (pink). They were chosen from the 216
 * colours of a 256-colour terminal for the largest distance between any two, for normal vision and
 * for the three kinds of colour blindness. A test computes these distances. Calls that start work
 * have similar hues (launches and graphs are bluish), memory is olive, and preparation is nearly
 * grey. Papers are light, so all inks are readable on them.
 *
 * With 8 colours the terminal defines the colours; the hues are similar. Selections and cursors are
 * then styles, because any of the eight may be the user's background. Without colours everything
 * is a style. */
#include "viewer/term/palette.h"

#include <math.h>
#include <stdbool.h>

#define INK(rgb, of_256, of_8, style)                                                              \
	(rgb) >> 16, (rgb) >> 8 & 255, (rgb)&255, of_256, of_8, GT_MONO, style
#define PAPER(rgb, of_256, style)                                                                  \
	(rgb) >> 16, (rgb) >> 8 & 255, (rgb)&255, of_256, 0, GT_COLOURS_8, style
#define GREY(rgb, of_256) (rgb) >> 16, (rgb) >> 8 & 255, (rgb)&255, of_256, 0, GT_COLOURS_8, GT_DIM
#define OWN(style) 0, 0, 0, 0, 0, GT_COLOURS_TRUE, style
#define CATEGORY(c) [GT_INK_CATEGORY + GT_CAT_##c]

const struct gt_ink_look gt_inks[GT_INKS] = {
	[GT_INK_NONE] = { "none", OWN(0) },
	[GT_INK_TEXT] = { "text", OWN(0) },
	[GT_INK_FAINT] = { "faint", GREY(0x808080, 244) },
	[GT_INK_TITLE] = { "title", OWN(GT_BOLD) },
	[GT_INK_AXIS] = { "axis", GREY(0x767676, 243) },
	[GT_INK_CURSOR] = { "cursor", PAPER(0xffd75f, 221, GT_REVERSE) },
	[GT_INK_SELECTED] = { "selected", PAPER(0xafd7ff, 153, GT_UNDERLINE) },
	[GT_INK_MARK] = { "mark", PAPER(0xd7afff, 183, GT_BOLD | GT_REVERSE) },
	[GT_INK_FOUND] = { "found", PAPER(0xffff5f, 227, GT_UNDERLINE | GT_REVERSE) },
	[GT_INK_ERROR] = { "error", INK(0xd70000, 160, 1, GT_BOLD) },
	[GT_INK_WARN] = { "warning", INK(0xaf8700, 136, 3, GT_UNDERLINE) },
	[GT_INK_HOLE] = { "hole", INK(0xd7005f, 161, 1, GT_DIM) },
	[GT_INK_COMM] = { "communication", INK(0xd75f00, 166, 3, GT_BOLD) },
	CATEGORY(KERNEL) = { "kernel", INK(0x005fff, 27, 4, 0) },
	CATEGORY(COPY) = { "copy", INK(0x00875f, 29, 6, GT_UNDERLINE) },
	CATEGORY(SYNC) = { "sync", INK(0xd75fd7, 170, 5, GT_DIM) },
	CATEGORY(LAUNCH) = { "launch", INK(0x5f87d7, 68, 4, 0) },
	CATEGORY(GRAPH) = { "graph", INK(0x5f5fff, 63, 4, 0) },
	CATEGORY(MEMORY) = { "memory", INK(0x878700, 100, 2, 0) },
	CATEGORY(USER) = { "user", INK(0x5f8700, 64, 2, 0) },
	CATEGORY(IOCTL) = { "ioctl", INK(0xaf5f5f, 131, 1, 0) },
	CATEGORY(SCHEDULER) = { "scheduler", INK(0x87875f, 101, 3, 0) },
	CATEGORY(LOCK) = { "lock", INK(0xd75f87, 168, 5, 0) },
	CATEGORY(GIL) = { "gil", INK(0xaf00af, 127, 5, GT_BOLD) },
	CATEGORY(IO) = { "io", INK(0x008787, 30, 6, 0) },
	CATEGORY(SLEEP) = { "sleep", GREY(0x767676, 243) },
	CATEGORY(FAULT) = { "fault", INK(0xd70087, 162, 1, 0) },
	CATEGORY(WAIT) = { "wait", INK(0x5f875f, 65, 2, 0) },
	CATEGORY(RUNNABLE) = { "runnable", INK(0xaf5f00, 130, 3, 0) },
	CATEGORY(FILE) = { "file", INK(0x5f8787, 66, 6, 0) },
	CATEGORY(STREAM) = { "stream", INK(0x8787af, 103, 5, 0) },
	CATEGORY(INTEROP) = { "interop", INK(0x875faf, 97, 5, 0) },
	CATEGORY(MODULE) = { "module", INK(0x875f5f, 95, 1, 0) },
	CATEGORY(CONTEXT) = { "context", INK(0x875f87, 96, 5, 0) },
	CATEGORY(INIT) = { "init", INK(0x6c6c6c, 242, 2, 0) },
	CATEGORY(QUERY) = { "query", GREY(0x808080, 244) },
	CATEGORY(OTHER) = { "other", GREY(0x767676, 243) },
};

static double linear(uint8_t c) /* sRGB to linear light */
{
	double v = c / 255.0;

	return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(const struct gt_ink_look *k)
{
	return 0.2126 * linear(k->r) + 0.7152 * linear(k->g) + 0.0722 * linear(k->b);
}

static int32_t colour_of(const struct gt_ink_look *k, enum gt_colours depth)
{
	if (depth <= (enum gt_colours)k->own)
		return GT_COLOUR_DEFAULT;
	if (depth == GT_COLOURS_TRUE)
		return k->r << 16 | k->g << 8 | k->b;
	return depth == GT_COLOURS_256 ? k->of_256 : k->of_8;
}

/* Users may change the first sixteen of 256 colours, so these two are from the others. */
static int32_t black_or_white(bool white, enum gt_colours depth)
{
	if (depth == GT_COLOURS_TRUE)
		return white ? 0xffffff : 0x000000;
	if (depth == GT_COLOURS_256)
		return white ? 231 : 16;
	return white ? 7 : 0;
}

#define CONTRAST_LEAST 1.6 /* below it, ink and paper are hard to distinguish */

static bool dark_of_8(int32_t colour) /* by default: black, red, blue, magenta */
{
	return colour == 0 || colour == 1 || colour == 4 || colour == 5;
}

static int32_t readable(const struct gt_ink_look *ink, const struct gt_ink_look *paper, int32_t on,
	enum gt_colours depth)
{
	int32_t colour = colour_of(ink, depth);
	double a = luminance(ink) + 0.05, b = luminance(paper) + 0.05;

	if (on == GT_COLOUR_DEFAULT)
		return colour;
	if (depth == GT_COLOURS_8)
		return colour != GT_COLOUR_DEFAULT && dark_of_8(colour) != dark_of_8(on)
			? colour
			: black_or_white(dark_of_8(on), depth);
	if (colour != GT_COLOUR_DEFAULT && (a > b ? a / b : b / a) >= CONTRAST_LEAST)
		return colour;
	return black_or_white(1.05 / b > b / 0.05, depth);
}

/* The styles of an ink and a paper. A paper without a colour is reversed, except the four that are
 * mostly used as paper: their own styles distinguish them. */
static uint8_t style_of(struct gt_look look, enum gt_colours depth)
{
	const struct gt_ink_look *ink = &gt_inks[look.ink], *paper = &gt_inks[look.paper];
	uint8_t style = look.style;
	bool has_style = look.paper >= GT_INK_CURSOR && look.paper <= GT_INK_FOUND;

	if (depth <= (enum gt_colours)ink->own)
		style |= ink->style;
	if (look.paper > GT_INK_TEXT && depth <= (enum gt_colours)paper->own)
		style |= paper->style | (has_style ? 0 : GT_REVERSE);
	return style;
}

struct gt_resolved_look gt_look_resolve(struct gt_look look, enum gt_colours depth)
{
	int32_t paper;

	look.ink = look.ink < GT_INKS ? look.ink : GT_INK_NONE;
	look.paper = look.paper < GT_INKS ? look.paper : GT_INK_NONE;
	paper = colour_of(&gt_inks[look.paper], depth);
	return (struct gt_resolved_look){ .ink = readable(&gt_inks[look.ink], &gt_inks[look.paper],
						  paper, depth),
		.paper = paper,
		.style = style_of(look, depth) };
}

char gt_state_letter(unsigned category)
{
	static const char letters[GT_CATEGORY_COUNT + 1] = { [GT_CAT_LOCK] = 'L',
		[GT_CAT_GIL] = 'G',
		[GT_CAT_IO] = 'I',
		[GT_CAT_SLEEP] = 'S',
		[GT_CAT_FAULT] = 'F',
		[GT_CAT_RUNNABLE] = 'R',
		[GT_CAT_WAIT] = 'W' };

	return category < sizeof(letters) ? letters[category] : 0;
}
