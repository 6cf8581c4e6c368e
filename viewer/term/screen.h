/* A screen in memory. Views draw on it; then a terminal shows it (term.h) or gtview --render prints
 * it. It does not depend on a terminal, so tests can compare frames. A spot is one column of one
 * line (a cell is a part of a lane's time). It holds one character with its combining marks. A
 * wide character takes two spots; the second is its right half. Characters whose width differs
 * between terminals (glyphs.h) become '?', so that all other characters are at their columns. */
#ifndef GT_SCREEN_H
#define GT_SCREEN_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/text/utf8.h"
#include "formats/io/stream_out.h"
#include "viewer/term/palette.h"

struct gt_spot {
	/* Unicode; gt_glyph_columns (glyphs.h) is 1 or 2. Or GT_RIGHT_HALF */
	uint32_t ch;
	uint16_t marks[GT_LETTER_MARKS]; /* 0 after the last */
	struct gt_look look;             /* a right half has the look of its left half */
};
#define GT_RIGHT_HALF 0u /* the right half of the wide character in the previous spot */
#define GT_SPOT_UTF8 (4 + 3 * GT_LETTER_MARKS)
/* Returns the number of bytes; 0 for a right half. */
size_t gt_spot_utf8(const struct gt_spot *spot, char to[GT_SPOT_UTF8]);

struct gt_screen {
	unsigned width, height; /* columns and lines, 1 to GT_SCREEN_MOST */
	bool ascii;             /* characters are replaced by ASCII ones of the same width */
	bool mono;              /* colours are not visible: views also use characters */
	/* height lines of width; NULL: drawing and printing do nothing */
	struct gt_spot *spots;
};
#define GT_SCREEN_MOST 1024u

/* Sets the size, limited to the allowed range, and clears the screen. A screen that is
 * zero-initialised except for ascii is valid here and in release. 0, or -ENOMEM: it is unchanged.
 */
int gt_screen_resize(struct gt_screen *s, unsigned width, unsigned height);
void gt_screen_clear(struct gt_screen *s);
void gt_screen_release(struct gt_screen *s);

/* All drawing is cut at the edges of the screen; negative x and y are outside. If half of a wide
 * character is cut off or drawn over, its other half becomes a space. */
void gt_screen_put(struct gt_screen *s, int x, int y, uint32_t ch, struct gt_look look);
/* Puts UTF-8 text of at most `width` columns (-1: up to the edge). Text that is cut ends with
 * U+2026 ('~' in ASCII). Each invalid byte is a '?'. Returns the number of columns, including those
 * left of the screen; 0 if x is right of it. */
int gt_screen_text(
	struct gt_screen *s, int x, int y, int width, const char *text, struct gt_look look);
int gt_screen_printf(struct gt_screen *s, int x, int y, int width, struct gt_look look,
	const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Puts text in at most `lines` lines of this width (at least 1), divided at blanks where there are
 * any; only the last one is cut.
 * gt_screen_count_lines returns the number of lines that the text needs, at least 1. */
void gt_screen_put_lines(struct gt_screen *s, int x, int y, unsigned width, unsigned lines,
	const char *text, struct gt_look look);
unsigned gt_screen_count_lines(const char *text, unsigned width);
bool gt_screen_is_blank(const struct gt_screen *s, int x, int y); /* false outside */
void gt_screen_fill(
	struct gt_screen *s, int x, int y, int width, int height, uint32_t ch, struct gt_look look);
/* Adds styles or sets the paper of an area and keeps its characters. A wide character that is
 * partly in the area gets them in both halves. */
void gt_screen_add_style(struct gt_screen *s, int x, int y, int width, int height, uint8_t style);
void gt_screen_set_paper(struct gt_screen *s, int x, int y, int width, int height, uint8_t paper);

/* A block of 0 to 8 eighths from below. */
uint32_t gt_block_glyph(unsigned eighths);

/* Prints the screen as lines without trailing spaces, with the ANSI sequences of this colour depth;
 * each line ends with the default look. GT_MONO: no sequences, so no styles either. 0 or the error
 * of `to`, which gt_out_close returns too. */
int gt_screen_print(const struct gt_screen *s, enum gt_colours colours, struct gt_out *to);
/* Prints the screen as an SVG document with a dark background. */
int gt_screen_svg(const struct gt_screen *s, struct gt_out *to);
#endif
