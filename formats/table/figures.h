/* Figures as people read them: cells of a table that are there and are no texts. */
#ifndef GT_FIGURES_H
#define GT_FIGURES_H
#include <endian.h>
#include "formats/text/digits.h"
#include "formats/table/table_internal.h"
#include "formats/table/text_cache.h"

#define GT_FIGURE_ROOM 64
/* that many bytes at most. Returns the byte behind it */
char *gt_put_figure(char *p, const struct gt_column *col, const struct gt_cell *c);

/* Most times have four digits and a point: how much one of the last digit is, for times below some
 * limit, as what to multiply by and how far to shift, which is exact below 2^40. */
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

/* bytes: as they are in memory; 8 at most */
struct gt_time_text {
	uint64_t bytes;
	size_t len;
};

/* Its digits, a point before the last ones, and the unit. */
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

/* Of 1 us or more. len 0: another way must be taken. */
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
	/* which way it is rounded depends on how printf has the quotient */
	if (rest * 2 == f->by)
		return (struct gt_time_text){ 0, 0 };
	return gt_four_((uint32_t)(digits + (rest * 2 > f->by)), f->decimals, f->unit, f->len);
}

/* v is not below 0. Likewise. */
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

char *gt_put_time_plain_(char *p, int64_t v); /* any, slowly */

static inline char *gt_put_time_(char *p, int64_t v)
{
	struct gt_time_text text = v < 0 ? (struct gt_time_text){ 0, 0 } : gt_time_text_(v);

	if (!text.len)
		return gt_put_time_plain_(p, v);
	memcpy(p, &text.bytes, sizeof(text.bytes));
	return p + text.len;
}

/* A duration that ends at p. False: it is wider, or it must be put another way. Up to 8 bytes
 * behind that are overwritten. */
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

/* A second, in which one time after the other lies: its digits and the point are the same for all.
 */
/* from: ns; bytes: as they are in memory; len: above 8 where these are too many */
struct gt_second {
	uint64_t from, bytes;
	size_t len;
};
struct gt_second gt_second_of(int64_t ns); /* 0 or more */

/* Likewise a time, in seconds; *s: that of another one, becomes its own. */
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
	memcpy(p - 9 - s->len, &s->bytes, sizeof(s->bytes)); /* or over what comes next */
	gt_put_nine(p - 9, (uint32_t)ns);
	return true;
}

/* Likewise a whole number. */
static inline bool gt_put_plain_count(char *p, size_t width, const struct gt_cell *c)
{
	size_t n = gt_digits((uint64_t)c->i);

	if (c->absent || c->change || c->i < 0 || n > width)
		return false;
	gt_put_u64(p - n, (uint64_t)c->i);
	return true;
}

/* A figure of any kind, which ends at p + width; false: it is wider. Up to GT_PIECE bytes behind
 * that are overwritten. */
bool gt_put_figure_right(
	char *p, size_t width, const struct gt_column *col, const struct gt_cell *c);
#endif
