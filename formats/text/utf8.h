/* Characters of texts, and how many columns of a terminal they take: the same on every machine,
 * whatever its locale. */
#ifndef GT_UTF8_H
#define GT_UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at s, which has n bytes, 1 at least: how many bytes it takes. What is no UTF-8
 * takes one, and is UINT32_MAX. */
size_t gt_utf8_get(const char *s, size_t n, uint32_t *ch);
size_t gt_utf8_put(char to[4], uint32_t ch); /* how many bytes */

/* 2: a wide one. 0: what belongs to the character before it: a mark on it, the rest of a Korean
 * syllable, a skin. 1: all others, and what is no character. */
unsigned gt_utf8_columns(uint32_t ch);
/* Is it no character to be seen, but tells a terminal something (C0, C1), turns the direction of
 * what follows, or hides? */
bool gt_utf8_is_control(uint32_t ch);

/* A character with what belongs to it. */
#define GT_LETTER_MARKS 2u /* of as many as are stacked by somebody who means to */
struct gt_letter {
	/* UINT32_MAX: no UTF-8, or a mark without a character; U+2026: the text is cut within its
	 * last */
	uint32_t ch;
	/* the first ones that go on it; 0 behind the last. Not what only says how it is to look */
	uint16_t marks[GT_LETTER_MARKS];
	uint8_t columns; /* 1 or 2 */
};
/* Where the next one begins: as s, if there is no more (then ch is 0). */
const char *gt_letter_next(const char *s, struct gt_letter *l);

/* Of a text: its columns; the end of as much of it as takes that many at most; and the end of as
 * little as takes that many at least (the end of all of it if it has fewer). None of them is within
 * a letter. */
size_t gt_utf8_width(const char *s);
const char *gt_utf8_most(const char *s, size_t columns);
const char *gt_utf8_least(const char *s, size_t columns);
#endif
