/* Palette: views name the meaning of a colour. One table (palette.c) maps each meaning to 16
 * million, 256, 8 or no colours. Without colours, meanings that must be distinguished differ in
 * style or character. Ink is the foreground and paper the background colour. */
#ifndef GT_PALETTE_H
#define GT_PALETTE_H
#include <stdint.h>
#include "formats/trace/record.h"

enum gt_ink {
	GT_INK_NONE, /* the terminal's default colour */
	GT_INK_TEXT,
	GT_INK_FAINT,
	GT_INK_TITLE,
	GT_INK_AXIS,
	/* the next four are mostly used as paper */
	GT_INK_CURSOR,
	GT_INK_SELECTED,
	GT_INK_MARK,
	GT_INK_FOUND,
	GT_INK_ERROR,
	GT_INK_WARN,
	GT_INK_HOLE,     /* missing data: damage, losses, an unread end of the file */
	GT_INK_COMM,     /* communication libraries such as NCCL */
	GT_INK_CATEGORY, /* + enum gt_category */
	GT_INKS = GT_INK_CATEGORY + GT_CATEGORY_COUNT
};
enum gt_colours { GT_MONO, GT_COLOURS_8, GT_COLOURS_256, GT_COLOURS_TRUE };
enum { GT_BOLD = 1, GT_DIM = 2, GT_REVERSE = 4, GT_UNDERLINE = 8 };

/* Up to the colour depth `own`, this meaning has the terminal's default colour and the style;
 * above it, the colour. */
struct gt_ink_look {
	const char *word;
	uint8_t r, g, b, of_256, of_8, own /* enum gt_colours */, style /* GT_BOLD | ... */;
};
extern const struct gt_ink_look gt_inks[GT_INKS];

/* Without colours, states of threads off the processor are letters. 0: the category is no state. */
char gt_state_letter(unsigned category);

/* How something is drawn: ink and paper are enum gt_ink; style: GT_BOLD | ... */
struct gt_look {
	uint8_t ink, paper, style;
};
/* The looks without a paper that most views use. */
static const struct gt_look gt_look_plain = { GT_INK_TEXT, GT_INK_NONE, 0 },
			    gt_look_faint = { GT_INK_FAINT, GT_INK_NONE, 0 },
			    gt_look_axis = { GT_INK_AXIS, GT_INK_NONE, 0 },
			    gt_look_title = { GT_INK_TITLE, GT_INK_NONE, 0 },
			    gt_look_heading = { GT_INK_TITLE, GT_INK_NONE, GT_BOLD },
			    gt_look_warn = { GT_INK_WARN, GT_INK_NONE, 0 },
			    gt_look_alert = { GT_INK_WARN, GT_INK_NONE, GT_BOLD };
/* A look on a terminal of some colour depth. Colours are 0 to 7, 0 to 255 or 0xRRGGBB, or
 * GT_COLOUR_DEFAULT. An ink with too little contrast to its paper (including the default colour)
 * becomes black or white. */
struct gt_resolved_look {
	int32_t ink, paper;
	uint8_t style;
};
#define GT_COLOUR_DEFAULT (-1)
struct gt_resolved_look gt_look_resolve(struct gt_look look, enum gt_colours depth);
#endif
