/* Numbers as text for people: counts, times and sizes in a suitable unit. */
#ifndef GT_FIGURES_H
#define GT_FIGURES_H
#include <endian.h>
#include "formats/text/digits.h"
#include "formats/table/table_internal.h"
#include "formats/table/text_cache.h"

#define GT_FIGURE_ROOM 64
/* Writes the number of a cell, at most GT_FIGURE_ROOM bytes. Returns its end. */
char *gt_put_figure(char *p, const struct gt_column *col, const struct gt_cell *c);

/* How to print times below a limit with four digits and a point. by: ns per unit of the last digit.
 * (times * ns >> 64) >> shift divides by it, exactly for ns below 2^40. */
struct gt_four {
	int64_t below;
	uint32_t by;
	uint8_t decimals, shift;
	uint64_t times;
	char unit[4];
	uint8_t len;
};
extern const struct gt_four gt_fours[];
#define GT_FOURS_END 999950000000 /* ns */

/* Up to 8 characters, as they are in memory. */
struct gt_time_text {
	uint64_t bytes;
	size_t len;
};

/* Four digits with a point before the last `decimals` ones, and the unit. */
static inline struct gt_time_text gt_four_(
	uint32_t digits, unsigned decimals, const char unit[4], unsigned len)
{
	uint32_t four;
	uint64_t head, word;

	memcpy(&four, gt_thousand[digits % 1000], 4);
	four = le32toh(four) << 8 | (uint32_t)('0' + digits / 1000);
	head = (1ull << (4 - decimals) * 8) - 1;
	word = (four & head) | (four & ~head) << 8 | (uint64_t)'.' << (4 - decimals) * 8;
	memcpy(&four, unit, 4);
	return (struct gt_time_text){ htole64(word | (uint64_t)le32toh(four) << 40), 5 + len };
}

/* Of 1 us or more. len 0: use gt_put_time_plain_. */
static inline struct gt_time_text gt_long_time_(int64_t v)
{
	const struct gt_four *f = gt_fours;
	uint64_t digits, rest;

	if (v < 10000)
		return gt_four_((uint32_t)v, 3, " us", 3);
	if (v >= GT_FOURS_END)
		return (struct gt_time_text){ 0, 0 };
	while (v >= f->below)
		f++;
	digits = (uint64_t)((unsigned __int128)f->times * (uint64_t)v >> 64) >> f->shift;
	rest = (uint64_t)v - digits * f->by;
	/* how printf rounds this depends on the error of the quotient */
	if (rest * 2 == f->by)
		return (struct gt_time_text){ 0, 0 };
	return gt_four_((uint32_t)(digits + (rest * 2 > f->by)), f->decimals, f->unit, f->len);
}

/* The same for any v that is not negative. */
static inline struct gt_time_text gt_time_text_(int64_t v)
{
	uint32_t digits, shift;

	if (v >= 1000)
		return gt_long_time_(v);
	memcpy(&digits, gt_thousand[v], 4);
	shift = gt_thousand[v][3];
	digits = (le32toh(digits) & 0xffffff) >> shift;
	/* " ns" */
	return (struct gt_time_text){
		htole64((uint64_t)digits | (uint64_t)0x736e20 << (24 - shift)), 6 - shift / 8
	};
}

char *gt_put_time_plain_(char *p, int64_t v); /* any v, slower */

static inline char *gt_put_time_(char *p, int64_t v)
{
	struct gt_time_text text = v < 0 ? (struct gt_time_text){ 0, 0 } : gt_time_text_(v);

	if (!text.len)
		return gt_put_time_plain_(p, v);
	memcpy(p, &text.bytes, sizeof(text.bytes));
	return p + text.len;
}

/* Writes a duration that ends at p. False: it is wider, or another function must write it. May
 * overwrite up to 8 bytes after p. */
static inline bool gt_put_plain_time(char *p, size_t width, const struct gt_cell *c)
{
	struct gt_time_text text;

	if (c->absent || c->change || c->i < 0)
		return false;
	text = gt_time_text_(c->i);
	if (text.len - 1 >= width)
		return false;
	memcpy(p - text.len, &text.bytes, sizeof(text.bytes));
	return true;
}

/* The digits of a second and the point, which consecutive times share. from: in ns. bytes: as they
 * are in memory. len: above 8 if they are too many. */
struct gt_second {
	uint64_t from, bytes;
	size_t len;
};
struct gt_second gt_second_of(int64_t ns); /* 0 or more */

/* The same for a time in seconds. *s: the second of an earlier time; becomes the second of this
 * one. */
static inline bool gt_put_plain_seconds(
	char *p, size_t width, const struct gt_cell *c, struct gt_second *s)
{
	uint64_t ns = (uint64_t)c->i - s->from;

	if (c->absent || c->change || c->i < 0)
		return false;
	if (ns >= 1000000000) {
		*s = gt_second_of(c->i);
		ns = (uint64_t)c->i - s->from;
	}
	if (s->len + 9 > width || s->len > sizeof(s->bytes))
		return false;
	memcpy(p - 9 - s->len, &s->bytes,
		sizeof(s->bytes)); /* the nine digits overwrite the rest */
	gt_put_9_digits(p - 9, (uint32_t)ns);
	return true;
}

/* The same for a whole number. */
static inline bool gt_put_plain_count(char *p, size_t width, const struct gt_cell *c)
{
	size_t n = gt_digits((uint64_t)c->i);

	if (c->absent || c->change || c->i < 0 || n > width)
		return false;
	gt_put_u64(p - n, (uint64_t)c->i);
	return true;
}

/* Writes a number of any kind, which ends at p + width. False: it is wider. May overwrite up to
 * GT_PIECE bytes more. */
bool gt_put_figure_right(
	char *p, size_t width, const struct gt_column *col, const struct gt_cell *c);
#endif
