/* Figures as people read them: cells of a table that are there and are no texts. */
#ifndef GT_FIGURES_H
#define GT_FIGURES_H
#include <endian.h>
#include "formats/digits.h"
#include "formats/table_inside.h"
#include "formats/table_words.h"

#define GT_FIGURE_ROOM 64
char *gt_put_figure(char *p, const struct gt_column *col, const struct gt_cell *c);	/* that many bytes at most. Returns the byte behind it */

/* Most times have four digits and a point: how much one of the last digit is, for times below some limit, as what to multiply by and how far to
 * shift, which is exact below 2^40. */
struct gt_four { int64_t below; uint32_t by; uint8_t decimals, shift; uint64_t times; char unit[4]; uint8_t len; };
extern const struct gt_four gt_fours[];
#define GT_FOURS_END 999950000000	/* ns */

/* Its digits, a point before the last ones, and the unit: at most 8 bytes, and so many are written. */
static inline char *gt_put_four_(char *p, uint32_t digits, unsigned decimals, const char unit[4], unsigned len)
{
	uint32_t four;
	uint64_t head, word;

	memcpy(&four, gt_thousand[digits % 1000], 4);
	four = le32toh(four) << 8 | (uint32_t)('0' + digits / 1000);
	head = (1ull << (4 - decimals) * 8) - 1;
	word = (four & head) | (four & ~head) << 8 | (uint64_t)'.' << (4 - decimals) * 8;
	memcpy(&four, unit, 4);
	word = htole64(word | (uint64_t)le32toh(four) << 40);
	memcpy(p, &word, sizeof(word));
	return p + 5 + len;
}

char *gt_put_time_plain_(char *p, int64_t v);	/* any, slowly */

/* Of 1 us or more. */
static inline char *gt_put_long_time_(char *p, int64_t v)
{
	const struct gt_four *f = gt_fours;
	uint64_t digits, rest;

	if (v < 10000)
		return gt_put_four_(p, (uint32_t)v, 3, " us", 3);
	if (v >= GT_FOURS_END)
		return gt_put_time_plain_(p, v);
	while (v >= f->below)
		f++;
	digits = (uint64_t)((unsigned __int128)f->times * (uint64_t)v >> 64) >> f->shift;
	rest = (uint64_t)v - digits * f->by;
	if (rest * 2 == f->by)		/* which way it is rounded depends on how printf has the quotient */
		return gt_put_time_plain_(p, v);
	return gt_put_four_(p, (uint32_t)(digits + (rest * 2 > f->by)), f->decimals, f->unit, f->len);
}

static inline char *gt_put_time_(char *p, int64_t v)
{
	if (v < 0)
		return gt_put_time_plain_(p, v);
	if (v >= 1000)
		return gt_put_long_time_(p, v);
	p = gt_put_lead_(p, (uint32_t)v);
	memcpy(p, " ns", 4);
	return p + 3;
}

/* How many bytes of it there are. 0: that is not seen without putting it. */
static inline size_t gt_time_length_(int64_t v)
{
	return v < 1000 ? gt_digits((uint64_t)v) + 3 : v < 999950000 ? 8 : v < GT_FOURS_END ? 7 : 0;
}

static inline size_t gt_put_seconds_right_(char *p, size_t width, uint64_t ns)
{
	uint64_t whole = ns / 1000000000;
	size_t n = gt_digits(whole) + 10;

	if (n > width)
		return n;
	gt_put_u64(p + width - n, whole);
	p[width - 10] = '.';
	gt_put_nine(p + width - 9, (uint32_t)(ns - whole * 1000000000));
	return n;
}

/* Where it is told how many digits there are they go where they belong, if there is room; returns how many bytes that takes, 0: it is not told. */
static inline size_t gt_put_right_(char *p, size_t width, enum gt_cell_kind kind, const struct gt_cell *c)
{
	size_t n = 0;

	if (c->change || c->i < 0)
		return 0;
	if (kind == GT_C_NS) {
		n = gt_time_length_(c->i);
		if (n && n <= width)
			gt_put_time_(p + width - n, c->i);
	} else if (kind == GT_C_TIME) {
		n = gt_put_seconds_right_(p, width, (uint64_t)c->i);
	} else if (kind == GT_C_COUNT || (kind == GT_C_BYTES && c->i < 1024)) {
		size_t unit = kind == GT_C_BYTES ? 2 : 0;

		n = gt_digits((uint64_t)c->i) + unit;
		if (n <= width)
			memcpy(gt_put_u64(p + width - n, (uint64_t)c->i), " B", 2);	/* or behind the column */
	}
	return n;
}

bool gt_put_other_right_(char *p, size_t width, const struct gt_column *col, const struct gt_cell *c);
/* A figure that ends at p + width; false: it is wider. Up to GT_PIECE bytes behind that are overwritten. */
static inline bool gt_put_figure_right(char *p, size_t width, const struct gt_column *col, const struct gt_cell *c)
{
	size_t n = gt_put_right_(p, width, col->kind, c);

	return n ? n <= width : gt_put_other_right_(p, width, col, c);
}
#endif
