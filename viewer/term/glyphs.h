/* The width of characters on terminals, and an ASCII replacement for each. */
#ifndef GT_GLYPHS_H
#define GT_GLYPHS_H
#include <stdint.h>

/* The number of columns that every terminal uses for a character. 1: left-to-right scripts of
 * separate letters, and symbols. 2: wide characters. 0: terminals differ: control characters,
 * right-to-left and joined scripts, symbols that some terminals show as an emoji, and combining
 * marks. */
unsigned gt_glyph_columns(uint32_t ch);
/* The most similar ASCII character (0x20 to 0x7e), or '?'. */
uint32_t gt_glyph_ascii(uint32_t ch);
#endif
