/* What colours mean. Views name a meaning; how it looks with 16 million, 256 or 8 colours or none is said in one table (palette.c).
 * Without colours what must be told apart differs in style or character. */
#ifndef GT_PALETTE_H
#define GT_PALETTE_H
#include <stdint.h>
#include "formats/record.h"

/* enum, truecolour RGB, of 256, of 8, word */
enum gt_ink {
	GT_INK_NONE,		/* the terminal's own */
	GT_INK_TEXT, GT_INK_FAINT, GT_INK_TITLE, GT_INK_AXIS,
	GT_INK_CURSOR, GT_INK_SELECTED, GT_INK_MARK, GT_INK_FOUND,	/* papers, mostly */
	GT_INK_ERROR, GT_INK_WARN, GT_INK_HOLE,			/* holes: damage, losses, tails that are not read */
	GT_INK_COMM,						/* communication: NCCL and its like */
	GT_INK_CATEGORY,					/* + enum gt_category */
	GT_INKS = GT_INK_CATEGORY + GT_CATEGORY_COUNT
};
enum gt_colours { GT_MONO, GT_COLOURS_8, GT_COLOURS_256, GT_COLOURS_TRUE };

struct gt_ink_look { const char *word; uint8_t r, g, b, of_256, of_8, style /* where there are no colours: GT_BOLD | ... */; };
extern const struct gt_ink_look gt_inks[GT_INKS];
#endif
