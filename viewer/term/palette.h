/* What colours mean. Views name a meaning; how it looks with 16 million, 256 or 8 colours or none
 * is said in one table (palette.c). Without colours what must be told apart differs in style or
 * character. */
#ifndef GT_PALETTE_H
#define GT_PALETTE_H
#include <stdint.h>
#include "formats/trace/record.h"

/* enum, truecolour RGB, of 256, of 8, word */
enum gt_ink {
	GT_INK_NONE, /* the terminal's own */
	GT_INK_TEXT,
	GT_INK_FAINT,
	GT_INK_TITLE,
	GT_INK_AXIS,
	GT_INK_CURSOR,
	GT_INK_SELECTED,
	GT_INK_MARK,
	GT_INK_FOUND, /* papers, mostly */
	/* holes: damage, losses, tails that are not read */
	GT_INK_ERROR,
	GT_INK_WARN,
	GT_INK_HOLE,
	/* communication: NCCL and its like */
	GT_INK_COMM,
	GT_INK_CATEGORY, /* + enum gt_category */
	GT_INKS = GT_INK_CATEGORY + GT_CATEGORY_COUNT
};
enum gt_colours { GT_MONO, GT_COLOURS_8, GT_COLOURS_256, GT_COLOURS_TRUE };
enum { GT_BOLD = 1, GT_DIM = 2, GT_REVERSE = 4, GT_UNDERLINE = 8 };

/* Up to the depth `own` the terminal's own colour stands in, and the style tells what it is; above,
 * the colour does. */
struct gt_ink_look {
	const char *word;
	uint8_t r, g, b, of_256, of_8, own /* enum gt_colours */, style /* GT_BOLD | ... */;
};
extern const struct gt_ink_look gt_inks[GT_INKS];

/* How something is drawn: enum gt_ink, enum gt_ink, GT_BOLD | ... */
struct gt_look {
	uint8_t ink, paper, style;
};
/* How that is shown: colours are 0 to 7, 0 to 255 or 0xRRGGBB, GT_OWN the terminal's. What could
 * not be read on its paper (the terminal's own colour among it) is black or white there. */
struct gt_shown {
	int32_t ink, paper;
	uint8_t style;
};
#define GT_OWN (-1)
struct gt_shown gt_look_shown(struct gt_look look, enum gt_colours depth);
#endif
