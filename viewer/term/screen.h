/* A screen in memory: what views draw on, and what is then shown by a terminal (term.h) or printed
 * as text (gtview --render). It knows no terminal, so a frame can be compared, saved and tested. A
 * spot holds one character of one column and the marks on it, or the left half of a wide one, whose
 * right half is the spot behind it. What no terminal can be relied on for, control characters and
 * all that is not written in single letters from the left (glyphs.h), becomes '?', so that what is
 * drawn is where it was put. */
#ifndef GT_SCREEN_H
#define GT_SCREEN_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/text/utf8.h"
#include "formats/io/stream_out.h"
#include "viewer/term/palette.h"

struct gt_spot {
	/* Unicode, of those whose gt_sure_columns (glyphs.h) are 1 or 2; GT_RIGHT_HALF */
	uint32_t ch;
	uint16_t marks[GT_LETTER_MARKS]; /* 0 behind the last */
	struct gt_look look;             /* of a right half: as the left one's */
};
#define GT_RIGHT_HALF 0u /* of the wide character in the spot before it, always */
#define GT_SPOT_UTF8 (4 + 3 * GT_LETTER_MARKS)
/* how many bytes; none of a right half */
size_t gt_spot_utf8(const struct gt_spot *spot, char to[GT_SPOT_UTF8]);

struct gt_screen {
	unsigned width, height; /* columns and lines; 1 at least, GT_SCREEN_MOST at most */
	/* what is put becomes characters of ASCII, as many as it has columns */
	bool ascii;
	/* height lines of width; NULL: no screen yet, nothing is put and nothing printed */
	struct gt_spot *spots;
};
#define GT_SCREEN_MOST 1024u

/* All spaces. A screen that is zero-initialised but for ascii is valid here and in release. Sizes
 * beyond the limits become the nearest within. 0, or -ENOMEM with the screen as it was. */
int gt_screen_resize(struct gt_screen *s, unsigned width, unsigned height);
void gt_screen_clear(struct gt_screen *s);
void gt_screen_release(struct gt_screen *s);

/* Everything that puts is cut at the edges; negative x and y are outside. A wide character that is
 * put or covered in half, there or by what is put over it, is blank in the other half. */
void gt_screen_put(struct gt_screen *s, int x, int y, uint32_t ch, struct gt_look look);
/* Text in UTF-8, `width` columns at most (-1: to the edge), the last of which is '~' (or U+2026)
 * where it was cut; or the one before, where half a wide character would have been left. Each byte
 * that is no UTF-8 is a '?'. Returns how many columns it takes, those left of the screen among
 * them; 0 right of it. */
int gt_screen_text(
	struct gt_screen *s, int x, int y, int width, const char *text, struct gt_look look);
int gt_screen_printf(struct gt_screen *s, int x, int y, int width, struct gt_look look,
	const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* The same in lines of this width (1 at least), so many at most, of which only the last one is cut;
 * and how many it takes, 1 at least. */
void gt_screen_lines(struct gt_screen *s, int x, int y, unsigned width, unsigned lines,
	const char *text, struct gt_look look);
unsigned gt_screen_lines_of(const char *text, unsigned width);
bool gt_screen_is_blank(const struct gt_screen *s, int x, int y); /* false outside */
void gt_screen_fill(
	struct gt_screen *s, int x, int y, int width, int height, uint32_t ch, struct gt_look look);
/* Gives what is there more styles, or another paper, and keeps the characters: a cursor's line, a
 * selection. Wide ones get it whole. */
void gt_screen_style(struct gt_screen *s, int x, int y, int width, int height, uint8_t style);
void gt_screen_paper(struct gt_screen *s, int x, int y, int width, int height, uint8_t paper);

/* Eighths of a block, 0 to 8: from below (height) or from the left (width). In ASCII one of "
 * .:-=+*#@" */
uint32_t gt_block_up(unsigned eighths);
uint32_t gt_block_right(unsigned eighths);

/* Prints the screen: lines without trailing spaces; with colours, each with the ANSI sequences of
 * this depth, and plain at its end. GT_MONO is text without sequences, so without styles. 0, or
 * negative: what failed in `to` (which gt_out_close says too). */
int gt_screen_print(const struct gt_screen *s, enum gt_colours colours, struct gt_out *to);
/* The same as a picture, an SVG document, on dark paper. */
int gt_screen_svg(const struct gt_screen *s, struct gt_out *to);
#endif
