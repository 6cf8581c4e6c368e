/* Tables as people read them: a title, what is said under it, then rows in a grid (table_grid.c) or one row as a list. On a terminal
 * (COLUMNS, or the window's width) lines end where it ends; into a file nothing is broken or cut. No line ends in spaces.
 */
#include "formats/table_inside.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/terminal.h"
#include "formats/clip.h"
#include "formats/table_words.h"

/* ---- cells ---- */

/* `by` is how much of it one unit is; it is used from `from` on, where rounding to four digits would reach it, so that 999.96 us is 1.000
 * ms and never "1000 us". */
struct scale { double from; uint64_t by; char unit[4]; uint8_t len; };
static const struct scale times[] = { { 999950000.0, 1000000000, "s", 1 }, { 999950.0, 1000000, "ms", 2 }, { 1e3, 1000, "us", 2 },
				      { 0, 1, "ns", 2 } };
static const struct scale sizes[] = { { 0x1p50, 1ull << 50, "PiB", 3 }, { 0x1p40, 1ull << 40, "TiB", 3 }, { 0x1p30, 1ull << 30, "GiB", 3 },
				      { 0x1p20, 1ull << 20, "MiB", 3 }, { 0x1p10, 1ull << 10, "KiB", 3 }, { 0, 1, "B", 1 } };

/* v / by as printf has that quotient of doubles. It is so near to the true one that rounding in whole numbers comes to the same, except
 * in the very middle between two. */
static char *put_quotient(char *p, int64_t v, uint64_t by, unsigned decimals)
{
	static const unsigned tens[] = { 1, 10, 100, 1000 };
	uint64_t parts = (v < 0 ? -(uint64_t)v : (uint64_t)v) * tens[decimals], rest = parts % by;

	if (v >= 1ll << 53 || v <= -(1ll << 53) || rest * 2 == by)
		return gt_put_fixed(p, (double)v / (double)by, decimals);
	*p = '-';
	return gt_put_parts(p + (v < 0), parts / by + (rest * 2 > by), decimals);
}

/* Four significant digits: 1.234, 12.34, 123.4; but never four digits of fraction, and whole things are whole. */
static char *put_unit(char *p, int64_t v, const struct scale *scale)
{
	double a = fabs((double)v);

	if (v >= 0 && v < 1024 && scale == sizes) {		/* most often */
		p = gt_put_u64(p, (uint64_t)v);
		memcpy(p, " B", 2);
		return p + 2;
	}
	while (a < scale->from)
		scale++;
	a /= (double)scale->by;
	p = put_quotient(p, v, scale->by, scale->by == 1 ? 0 : a < 9.9995 ? 3 : a < 99.995 ? 2 : a < 999.95 ? 1 : 0);
	*p++ = ' ';
	memcpy(p, scale->unit, sizeof(scale->unit));
	return p + scale->len;
}

/* Most times have four digits and a point: how much one of the last digit is, for times below some limit, as what to multiply by and how far to
 * shift, which is exact below 2^40. */
struct four { int64_t below; uint32_t by; uint8_t decimals, shift; uint64_t times; char unit[4]; uint8_t len; };
#define FOURS_END 999950000000
#define FOUR(below, by, decimals, shift, unit) \
	{ below, by, decimals, shift, (uint64_t)((((unsigned __int128)1 << (64 + (shift))) + (by) - 1) / (by)), unit, sizeof(unit) - 1 }
static const struct four fours[] = {
	FOUR(99995, 10, 2, 3, " us"), FOUR(999950, 100, 1, 6, " us"), FOUR(9999500, 1000, 3, 9, " ms"), FOUR(99995000, 10000, 2, 13, " ms"),
	FOUR(999950000, 100000, 1, 16, " ms"), FOUR(9999500000, 1000000, 3, 19, " s"), FOUR(99995000000, 10000000, 2, 23, " s"),
	FOUR(FOURS_END, 100000000, 1, 26, " s")
};

/* Its digits, a point before the last ones, and the unit: at most 8 bytes, and so many are written. */
static inline char *put_four(char *p, uint32_t digits, unsigned decimals, const char unit[4], unsigned len)
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

/* A time of 1 us or more. NULL: it is none of these, or in the middle between two. */
static inline char *put_four_of(char *p, int64_t v)
{
	const struct four *f = fours;
	uint64_t digits, rest;

	if (v < 10000)
		return put_four(p, (uint32_t)v, 3, " us", 3);
	if (v >= FOURS_END)
		return NULL;
	while (v >= f->below)
		f++;
	digits = (uint64_t)((unsigned __int128)f->times * (uint64_t)v >> 64) >> f->shift;
	rest = (uint64_t)v - digits * f->by;
	return rest * 2 == f->by ? NULL : put_four(p, (uint32_t)(digits + (rest * 2 > f->by)), f->decimals, f->unit, f->len);
}

static inline char *put_time(char *p, int64_t v)
{
	char *end = v >= 1000 ? put_four_of(p, v) : NULL;

	if (end)
		return end;
	if (v < 0 || v >= 1000)
		return put_unit(p, v, times);
	p = gt_put_lead_(p, (uint32_t)v);
	memcpy(p, " ns", 4);
	return p + 3;
}

void gt_put_scaled(char *to, size_t size, enum gt_cell_kind kind, int64_t v)
{
	char text[64];

	*(kind == GT_C_NS ? put_time(text, v) : kind == GT_C_BYTES ? put_unit(text, v, sizes) : gt_put_i64(text, v)) = '\0';
	snprintf(to, size, "%s", text);
}

struct gt_scaled gt_scaled(enum gt_cell_kind kind, int64_t v)
{
	struct gt_scaled s;

	gt_put_scaled(s.text, sizeof(s.text), kind, v);
	return s;
}

/* Control characters would break lines or speak to the terminal. */
static void replace_controls(char *s, size_t n)
{
	for (char *end = s + n; s < end; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

char *gt_printable(const char *s, unsigned indent)
{
	size_t n = strlen(s) + 1;
	char *copy = malloc(indent + n);

	if (!copy)
		return NULL;
	memset(copy, ' ', indent);
	memcpy(copy + indent, s, n);
	replace_controls(copy + indent, n - 1);
	return copy;
}

void gt_spell_printable(struct gt_out *to, const char *s)
{
	size_t n = strlen(s), at = to->len;

	gt_out_add(to, s, n);
	if (!to->failed)
		replace_controls(to->data + at, n);
}

/* Four significant digits, as of times and sizes; large numbers as the whole ones that they most often are, and whole ones as such. */
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
	case GT_C_NS:
		return put_time(p, c->i);
	case GT_C_TIME:
		return gt_put_s(p, c->i);
	case GT_C_BYTES:
		return put_unit(p, c->i, sizes);
	case GT_C_PERCENT:
		return gt_put_hundredths(p, c->i);
	case GT_C_REAL:
		return put_real(p, c->d);
	default:
		return gt_put_i64(p, c->i);
	}
}

char *gt_put_figure(char *p, const struct gt_column *col, const struct gt_cell *c)
{
	enum gt_cell_kind kind = gt_kind_of(col, c);

	if (c->change && (kind == GT_C_REAL ? c->d > 0 && isfinite(c->d) : c->i > 0))
		*p++ = '+';
	p = put_kind(p, kind, c);
	return col->kind == GT_C_FIGURE && kind == GT_C_PERCENT ? stpcpy(p, " %") : p;		/* no heading says so */
}

/* How many bytes put_time puts of a time of no less than 0. 0: that is not seen without doing it. */
static inline size_t length_of_time(int64_t v)
{
	return v < 1000 ? gt_digits((uint64_t)v) + 3 : v < 999950000 ? 8 : v < FOURS_END ? 7 : 0;
}

/* Where digits are told how many they are, they go where they belong: 0 where they are not. */
static inline size_t put_right(char *p, size_t width, const struct gt_column *col, const struct gt_cell *c)
{
	uint64_t v = (uint64_t)c->i, whole;
	size_t n;

	if (c->change || c->i < 0)
		return 0;
	switch (col->kind) {
	case GT_C_COUNT:
		n = gt_digits(v);
		if (n <= width)
			gt_put_u64(p + width - n, v);
		return n;
	case GT_C_TIME:
		whole = v / 1000000000;
		n = gt_digits(whole) + 10;
		if (n > width)
			return n;
		gt_put_u64(p + width - n, whole);
		p[width - 10] = '.';
		gt_put_nine(p + width - 9, (uint32_t)(v - whole * 1000000000));
		return n;
	case GT_C_NS:
		n = length_of_time(c->i);
		if (n && n <= width)
			put_time(p + width - n, c->i);
		return n;
	case GT_C_BYTES:
		n = v < 1024 ? gt_digits(v) + 2 : 0;
		if (n && n <= width)
			put_unit(p + width - n, c->i, sizes);
		return n;
	default:
		return 0;
	}
}

bool gt_put_figure_right(char *p, size_t width, const struct gt_column *col, const struct gt_cell *c)
{
	char figure[GT_FIGURE_ROOM + GT_PIECE];
	size_t n = put_right(p, width, col, c);

	if (!n) {
		n = (size_t)(gt_put_figure(figure, col, c) - figure);
		if (n <= width)
			gt_put_pieces(p + width - n, figure, n);
	}
	return n <= width;
}

/* ---- text ---- */

size_t gt_tables_width(struct gt_out *out) { return gt_terminal_width(out->sink ? gt_out_fd(out) : -1); }

void gt_put_spaces(struct gt_out *out, size_t n)
{
	while (n--)
		gt_out_str(out, " ");
}

/* How many bytes of s go into a line of `room` columns: up to a blank, which the break takes the place of; else up to where a path
 * or a list can be broken; else, in what has a letter or digit and so is no drawing, what there is room for. 0: it is not to be
 * broken. */
static size_t breaks_at(const char *s, size_t room)
{
	size_t blank = 0, mark = 0, i = strspn(s, " ");
	bool word = false;

	for (size_t n = i; s[i] && n <= room; n += ((unsigned char)s[++i] & 0xc0) != 0x80) {
		word |= isalnum((unsigned char)s[i]);
		if (s[i] == ' ')
			blank = i;
		else if (n < room && strchr("/,;", s[i]))
			mark = i + 1;
	}
	if (blank || mark)
		return blank ? blank : mark;
	return word ? (size_t)(gt_clip_character(s, room) - s) : 0;
}

void gt_put_words(struct gt_out *out, enum gt_tone tone, const char *s, size_t column, size_t indent, size_t limit)
{
	size_t room = limit > column ? limit - column : 0, at;

	while (limit < SIZE_MAX && gt_clip_width(s) > room && room > 12 && (at = breaks_at(s, room))) {
		gt_put_toned(out, tone, s, at);
		gt_out_str(out, "\n");
		gt_put_spaces(out, indent);
		s += at + (s[at] == ' ');
		room = limit > indent ? limit - indent : 0;
	}
	gt_put_toned(out, tone, s, strlen(s));
}

void gt_put_wrapped(struct gt_out *out, enum gt_tone tone, const char *s, size_t limit)
{
	gt_put_words(out, tone, s, 0, strspn(s, " ") + 2, limit);
	gt_out_str(out, "\n");
}

/* A list has room for the exact figure: "524288000 bytes (500.00 MiB)", "15.234 ms". NULL: no memory. */
static char *list_text(const struct gt_column *col, const struct gt_cell *c)
{
	char text[96];

	if (c->absent)
		return strdup(c->s ? c->s : "not recorded");
	if (gt_is_text(col))
		return gt_printable(c->s ? c->s : "", c->indent);
	if (col->kind == GT_C_BYTES)
		snprintf(text, sizeof(text), "%" PRId64 " bytes (%.2f MiB)", c->i, (double)c->i / 0x1p20);
	else if (col->kind == GT_C_NS)
		snprintf(text, sizeof(text), "%.3f ms", (double)c->i / 1e6);
	else
		*gt_put_figure(text, col, c) = '\0';
	return strdup(text);
}

static int print_list(struct gt_out *out, const struct gt_table *t, size_t limit)
{
	struct gt_buf b = { 0 };
	int rc;

	for (unsigned row = 0; row < t->nrows; row++)
		for (unsigned i = 0; i < gt_text_columns(t); i++) {
			const struct gt_cell *c = gt_table_cell(t, row, i);
			char *text = list_text(&t->columns[i], c);

			gt_buf_clear(&b);
			gt_buf_printf(&b, "  %s:%s%s%s", t->columns[i].title, text && *text ? " " : "", text ? text : "",
				      !c->absent && t->columns[i].kind == GT_C_PERCENT ? " %" : "");
			gt_buf_byte(&b, 0);
			b.failed |= !text;
			free(text);
			if (!b.failed)
				gt_put_wrapped(out, c->tone, (char *)b.data, limit);
		}
	rc = b.failed ? -ENOMEM : 0;
	gt_buf_release(&b);
	return rc;
}

static void print_line(struct gt_out *out, const char *before, const char *text, const char *after, enum gt_tone tone, size_t limit)
{
	struct gt_buf b = { 0 };
	char *line;

	gt_buf_printf(&b, "%s%s%s", before, text, after);
	gt_buf_byte(&b, 0);
	line = b.failed ? NULL : gt_printable((char *)b.data, 0);
	gt_put_wrapped(out, tone, line ? line : text, limit);
	free(line);
	gt_buf_release(&b);
}

/* A title may be of several lines. */
static void print_title(struct gt_out *out, const char *title, size_t limit)
{
	for (size_t n; title; title = title[n] ? title + n + 1 : NULL) {
		char *line = strndup(title, n = strcspn(title, "\n"));

		gt_put_wrapped(out, GT_TONE_HEADING, line ? line : "", limit);
		free(line);
	}
}

/* All that stands above the rows, or instead of them. */
static void print_head(struct gt_out *out, const struct gt_table *t, size_t limit)
{
	print_title(out, t->title, limit);
	for (size_t i = 0; i < t->nlines; i++)
		print_line(out, "", t->lines[i].text, "", t->lines[i].tone, limit);
	for (size_t i = 0; i < t->nnotes; i++)
		print_line(out, "  (", t->notes[i].text, ")", t->warns ? GT_TONE_DOUBT : GT_TONE_NOTE, limit);
}

int gt_print_text(struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err)
{
	size_t limit = gt_tables_width(out);
	bool told = false;
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		struct gt_table *t = tables[i];

		if (t->follows && !t->nrows)
			continue;
		if (i)
			gt_out_str(out, "\n");
		print_head(out, t, limit);
		if (t->nlines)
			continue;
		if (!t->nrows && t->answer < GT_CANNOT)	/* else nobody knows whether there is none */
			gt_out_str(out, "  none\n");
		else if (t->nrows)
			rc = t->list ? print_list(out, t, limit) : gt_print_grid(out, t, limit, &told, err);
	}
	return rc;
}
