/* CPython has used three formats. All of them are lists of ranges of instructions in ascending
 * order; each range's line is a difference to the line of the range before.
 *
 * 3.9 (co_lnotab): pairs of bytes. The first one adds to the address at which the line changes,
 * the second one, signed, to the line.
 * 3.10 (co_linetable): pairs of bytes. The first one is the range's length in bytes, the second
 * one, signed, adds to the line; -128: the range has no line.
 * 3.11 (co_linetable): entries of variable length. A first byte has bit 7 set. Its bits 0 to 2
 * are the range's length in code units, less one; its bits 3 to 6 say what follows: the
 * difference of the lines and columns. Bytes of columns are skipped here. */
#include "collect/recorder/python_lines.h"

#include <stdbool.h>

#define UNIT 2         /* bytes of a code unit */
#define NO_LINE (-128) /* of 3.10 */

struct lines {
	const uint8_t *at, *end;
	int64_t line;
	bool none;   /* the range has no line */
	uint64_t to; /* end of the range, bytes */
};

static int32_t result(int64_t line) { return line >= 0 && line <= INT32_MAX ? (int32_t)line : -1; }

static int32_t line_3_9(struct lines *l, uint32_t offset)
{
	for (; l->end - l->at >= 2; l->at += 2) {
		l->to += l->at[0];
		if (l->to > offset)
			break;
		l->line += (int8_t)l->at[1];
	}
	return result(l->line);
}

static int32_t line_3_10(struct lines *l, uint32_t offset)
{
	for (; l->end - l->at >= 2; l->at += 2) {
		int8_t difference = (int8_t)l->at[1];

		if (difference != NO_LINE)
			l->line += difference;
		l->to += l->at[0];
		if (l->to > offset)
			return difference == NO_LINE ? -1 : result(l->line);
	}
	return -1;
}

/* Kinds of entries of 3.11, bits 3 to 6 of the first byte. */
enum location {
	SHORT_LAST = 9, /* 0 to 9: same line, one more byte */
	ONE_LINE = 10,  /* 10 to 12: 0 to 2 lines later, two more bytes */
	ONE_LINE_LAST = 12,
	NO_COLUMNS = 13,
	LONG = 14,
	NOTHING = 15, /* no line */
};

/* Numbers of six bits a byte, the lowest first; bit 6: more follow. The lowest bit of a signed one
 * is its sign. */
static bool read_signed(struct lines *l, int64_t *value)
{
	uint64_t u = 0;

	for (unsigned shift = 0; l->at < l->end && shift < 36; shift += 6) {
		uint8_t byte = *l->at++;

		u |= (uint64_t)(byte & 63) << shift;
		if (byte & 64)
			continue;
		*value = u & 1 ? -(int64_t)(u >> 1) : (int64_t)(u >> 1);
		return true;
	}
	return false;
}

/* One range. What follows its line is skipped: such bytes have bit 7 clear. */
static bool next_location(struct lines *l)
{
	uint8_t first;
	unsigned kind;
	int64_t difference = 0;

	if (l->at == l->end || !(*l->at & 0x80))
		return false;
	first = *l->at++;
	kind = first >> 3 & 15;
	l->to += UNIT * ((first & 7) + 1);
	l->none = kind == NOTHING;
	if (kind >= ONE_LINE && kind <= ONE_LINE_LAST)
		difference = kind - ONE_LINE;
	else if ((kind == NO_COLUMNS || kind == LONG) && !read_signed(l, &difference))
		return false;
	l->line += difference;
	while (l->at < l->end && !(*l->at & 0x80))
		l->at++;
	return true;
}

static int32_t line_3_11(struct lines *l, uint32_t offset)
{
	while (next_location(l))
		if (l->to > offset)
			return l->none ? -1 : result(l->line);
	return -1;
}

int32_t gt_python_line(
	uint32_t version, uint32_t first_line, const uint8_t *table, size_t n, uint32_t offset)
{
	struct lines l = { .at = table, .end = table + n, .line = first_line };

	if ((int32_t)offset < 0)
		return result(l.line);
	switch (version) {
	case 0x0309: return line_3_9(&l, offset);
	case 0x030a: return line_3_10(&l, offset);
	case 0x030b:
	case 0x030c:
	case 0x030d:
	case 0x030e: return line_3_11(&l, offset);
	}
	return -1;
}
