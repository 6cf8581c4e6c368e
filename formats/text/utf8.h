/* UTF-8 characters, and how many terminal columns they take: the same on every machine, independent
 * of its locale. */
#ifndef GT_UTF8_H
#define GT_UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at s, of n bytes (1 or more). Returns its length. A byte that is not UTF-8
 * has length 1, and *ch is UINT32_MAX. */
size_t gt_utf8_get(const char *s, size_t n, uint32_t *ch);
size_t gt_utf8_put(char to[4], uint32_t ch); /* encodes; returns the length in bytes */

/* 2: a wide character. 0: one that combines with the character before it: a mark, the rest of a
 * Korean syllable, a skin tone. 1: all others, and UINT32_MAX. */
unsigned gt_utf8_columns(uint32_t ch);
/* Is it invisible and changes how a terminal shows text: a control character (C0, C1), a change of
 * the writing direction, or a hidden character? */
bool gt_utf8_is_control(uint32_t ch);

/* A character with its combining marks. */
#define GT_LETTER_MARKS 2u /* more are dropped */
struct gt_letter {
	/* UINT32_MAX: not UTF-8, or a mark without a character. U+2026: the text ends within a
	 * character */
	uint32_t ch;
	/* the first marks; 0 after the last. Variation selectors and joiners are dropped */
	uint16_t marks[GT_LETTER_MARKS];
	uint8_t columns; /* 1 or 2 */
};
/* Decodes the letter at s and returns where the next one begins. At the end of the text that is s,
 * and ch is 0. */
const char *gt_letter_next(const char *s, struct gt_letter *l);

/* Columns of a text. */
size_t gt_utf8_width(const char *s);
/* The end of the longest part of s that takes at most so many columns. */
const char *gt_utf8_most(const char *s, size_t columns);
/* The end of the shortest part of s that takes at least so many columns, or of all of s. */
const char *gt_utf8_least(const char *s, size_t columns);
#endif
