/* A screen in memory: what views draw on, and what is then shown by a terminal (term.h) or printed as text (gtview --render). It
 * knows no terminal, so a frame can be compared, saved and tested. A spot holds one character of one column; wide, combining and
 * control characters of names become '?', so that what is drawn is where it was put, whatever a terminal thinks of its width. */
#ifndef GT_SCREEN_H
#define GT_SCREEN_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/out.h"
#include "viewer/palette.h"

struct gt_spot { uint32_t ch; struct gt_look look; };	/* ch: Unicode, of those that gt_one_column (glyphs.h) knows */

struct gt_screen {
	unsigned width, height;		/* columns and lines; 1 at least, GT_SCREEN_MOST at most */
	bool ascii;			/* blocks and lines become characters of ASCII when they are put */
	struct gt_spot *spots;		/* height lines of width; NULL: no screen yet, nothing is put and nothing printed */
};
#define GT_SCREEN_MOST 1024u

/* All spaces. A screen that is zero-initialised but for ascii is valid here and in release. Sizes beyond the limits become the
 * nearest within. 0, or -ENOMEM with the screen as it was. */
int gt_screen_resize(struct gt_screen *s, unsigned width, unsigned height);
void gt_screen_clear(struct gt_screen *s);
void gt_screen_release(struct gt_screen *s);

/* Everything that puts is cut at the edges; negative x and y are outside. */
void gt_screen_put(struct gt_screen *s, int x, int y, uint32_t ch, struct gt_look look);
/* Text in UTF-8, `width` columns at most (-1: to the edge), the last of which is '~' (or U+2026) where it was cut. Each byte
 * that is no UTF-8 is a '?'. Returns how many columns it takes, those left of the screen among them; 0 right of it. */
int gt_screen_text(struct gt_screen *s, int x, int y, int width, const char *text, struct gt_look look);
int gt_screen_printf(struct gt_screen *s, int x, int y, int width, struct gt_look look, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
void gt_screen_fill(struct gt_screen *s, int x, int y, int width, int height, uint32_t ch, struct gt_look look);
/* Gives what is there more styles, or another paper, and keeps the characters: a cursor's line, a selection. */
void gt_screen_style(struct gt_screen *s, int x, int y, int width, int height, uint8_t style);
void gt_screen_paper(struct gt_screen *s, int x, int y, int width, int height, uint8_t paper);

/* Eighths of a block, 0 to 8: from below (height) or from the left (width). In ASCII one of " .:-=+*#@" */
uint32_t gt_block_up(unsigned eighths);
uint32_t gt_block_right(unsigned eighths);

/* Prints the screen: lines without trailing spaces; with colours, each with the ANSI sequences of this depth, and plain at its
 * end. GT_MONO is text without sequences, so without styles. 0, or negative: what failed in `to` (which gt_out_close says
 * too). */
int gt_screen_print(const struct gt_screen *s, enum gt_colours colours, struct gt_out *to);
/* The same as a picture, an SVG document, on dark paper. */
int gt_screen_svg(const struct gt_screen *s, struct gt_out *to);
#endif
