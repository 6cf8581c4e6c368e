/* Characters of a terminal: which of them take one column everywhere, and what stands for them where there is only ASCII. */
#ifndef GT_GLYPHS_H
#define GT_GLYPHS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Scripts written from the left in single letters, and symbols. Not: what is wide, combines, controls, is written from the right,
 * or is an emoji in one terminal and a sign in the next. */
bool gt_one_column(uint32_t ch);
uint32_t gt_in_ascii(uint32_t ch);	/* what looks like it in ASCII, 0x20 to 0x7e; '?': nothing does */

/* The character at s, which has n bytes, 1 at least: how many bytes it takes. What is no UTF-8 takes one, and is UINT32_MAX. */
size_t gt_utf8_get(const char *s, size_t n, uint32_t *ch);
size_t gt_utf8_put(char to[4], uint32_t ch);	/* how many bytes */
#endif
