/* Times and sizes have four digits and a suitable unit. One multiplication computes them for most
 * times (figures.h). Other numbers, and those exactly between two results, are divided as doubles,
 * so that they are rounded as by printf. */
#include "formats/table/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* by: the size of the unit. The unit is used from `from` on, which rounds to 1.000 of it: 999.96 us
 * is 1.000 ms and never "1000 us". */
struct scale {
	double from;
	uint64_t by;
	char unit[4];
	uint8_t len;
};
static const struct scale times[] = { { 999950000.0, 1000000000, "s", 1 },
	{ 999950.0, 1000000, "ms", 2 }, { 1e3, 1000, "us", 2 }, { 0, 1, "ns", 2 } };
static const struct scale sizes[] = { { 0x1p50, 1ull << 50, "PiB", 3 },
	{ 0x1p40, 1ull << 40, "TiB", 3 }, { 0x1p30, 1ull << 30, "GiB", 3 },
	{ 0x1p20, 1ull << 20, "MiB", 3 }, { 0x1p10, 1ull << 10, "KiB", 3 }, { 0, 1, "B", 1 } };

/* v / by, as printf prints the quotient of the two as doubles. Integer arithmetic rounds to the
 * same result, except exactly between two results. */
static char *put_quotient(char *p, int64_t v, uint64_t by, unsigned decimals)
{
	static const unsigned tens[] = { 1, 10, 100, 1000 };
	uint64_t parts = (v < 0 ? -(uint64_t)v : (uint64_t)v) * tens[decimals], rest = parts % by;

	if (v >= 1ll << 53 || v <= -(1ll << 53) || rest * 2 == by)
		return gt_put_fixed(p, (double)v / (double)by, decimals);
	*p = '-';
	return gt_put_parts(p + (v < 0), parts / by + (rest * 2 > by), decimals);
}

/* Four significant digits: 1.234, 12.34, 123.4; but at most three decimals, and none for bytes and
 * ns.
 */
static char *put_unit(char *p, int64_t v, const struct scale *scale)
{
	double a = fabs((double)v);

	if (v >= 0 && v < 1024 && scale == sizes) { /* the usual case */
		p = gt_put_u64(p, (uint64_t)v);
		memcpy(p, " B", 2);
		return p + 2;
	}
	while (a < scale->from)
		scale++;
	a /= (double)scale->by;
	p = put_quotient(p, v, scale->by,
		scale->by == 1       ? 0
			: a < 9.9995 ? 3
			: a < 99.995 ? 2
			: a < 999.95 ? 1
				     : 0);
	*p++ = ' ';
	memcpy(p, scale->unit, sizeof(scale->unit));
	return p + scale->len;
}

#define FOUR(below, by, decimals, shift, unit)                                                     \
	{                                                                                          \
		below, by, decimals, shift,                                                        \
			(uint64_t)((((unsigned __int128)1 << (64 + (shift))) + (by)-1) / (by)),    \
			unit, sizeof(unit) - 1                                                     \
	}
const struct gt_four gt_fours[] = { FOUR(99995, 10, 2, 3, " us"), FOUR(999950, 100, 1, 6, " us"),
	FOUR(9999500, 1000, 3, 9, " ms"), FOUR(99995000, 10000, 2, 13, " ms"),
	FOUR(999950000, 100000, 1, 16, " ms"), FOUR(9999500000, 1000000, 3, 19, " s"),
	FOUR(99995000000, 10000000, 2, 23, " s"), FOUR(GT_FOURS_END, 100000000, 1, 26, " s") };

struct gt_second gt_second_of(int64_t ns)
{
	uint64_t whole = (uint64_t)ns / 1000000000;
	struct gt_second s = { .from = whole * 1000000000 };
	char text[24];
	char *end = gt_put_u64(text, whole);

	*end++ = '.';
	s.len = (size_t)(end - text);
	memcpy(&s.bytes, text, sizeof(s.bytes));
	return s;
}

char *gt_put_time_plain_(char *p, int64_t v) { return put_unit(p, v, times); }

void gt_put_scaled(char *to, size_t size, enum gt_cell_kind kind, int64_t v)
{
	char text[64];

	*(kind == GT_C_NS                    ? gt_put_time_(text, v)
			: kind == GT_C_BYTES ? put_unit(text, v, sizes)
					     : gt_put_i64(text, v)) = '\0';
	snprintf(to, size, "%s", text);
}

struct gt_scaled gt_scaled(enum gt_cell_kind kind, int64_t v)
{
	struct gt_scaled s;

	gt_put_scaled(s.text, sizeof(s.text), kind, v);
	return s;
}

/* Four significant digits, but whole numbers, and numbers from 999.95 on, without decimals. */
static char *put_real(char *p, double v)
{
	double a = fabs(v);

	if (!isfinite(v))
		return stpcpy(p, "-");
	if (a < 1e15 && (a >= 999.95 || a == floor(a)))
		return gt_put_fixed(p, v, 0);
	return p + sprintf(p, a < 1e15 ? "%#.4g" : "%.4g", v);
}

static char *put_kind(char *p, enum gt_cell_kind kind, const struct gt_cell *c)
{
	switch (kind) {
	case GT_C_NS: return gt_put_time_(p, c->i);
	case GT_C_TIME: return gt_put_s(p, c->i);
	case GT_C_BYTES: return put_unit(p, c->i, sizes);
	case GT_C_PERCENT: return gt_put_hundredths(p, c->i);
	case GT_C_REAL: return put_real(p, c->d);
	default: return gt_put_i64(p, c->i);
	}
}

char *gt_put_figure(char *p, const struct gt_column *col, const struct gt_cell *c)
{
	enum gt_cell_kind kind = gt_kind_of(col, c);

	if (c->change && (kind == GT_C_REAL ? c->d > 0 && isfinite(c->d) : c->i > 0))
		*p++ = '+';
	p = put_kind(p, kind, c);
	/* the title does not say so */
	return col->kind == GT_C_FIGURE && kind == GT_C_PERCENT ? stpcpy(p, " %") : p;
}

bool gt_put_figure_right(
	char *p, size_t width, const struct gt_column *col, const struct gt_cell *c)
{
	char figure[GT_FIGURE_ROOM + GT_PIECE];
	size_t n = (size_t)(gt_put_figure(figure, col, c) - figure);

	if (n <= width)
		gt_put_pieces(p + width - n, figure, n);
	return n <= width;
}
