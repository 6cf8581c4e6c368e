/* Characters of a terminal: how many columns they take everywhere, and what stands for them where
 * there is only ASCII. */
#ifndef GT_GLYPHS_H
#define GT_GLYPHS_H
#include <stdint.h>

/* 1: scripts written from the left in single letters, and symbols. 2: wide characters. 0: what
 * cannot be relied on: it controls, is written from the right or in shapes that hang together, is a
 * sign in one terminal and an emoji in the next, or a mark that has no letter. */
unsigned gt_sure_columns(uint32_t ch);
/* what looks like it in ASCII, 0x20 to 0x7e; '?': nothing does */
uint32_t gt_in_ascii(uint32_t ch);
#endif
