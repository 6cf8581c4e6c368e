/* Lines of Python instructions: tables written by hand from the descriptions of the formats
 * (Objects/lnotab_notes.txt, Objects/locations.md). tests/cli/collect/python_frames.sh compares
 * the tables of real interpreters. */
#include "collect/recorder/python_lines.h"
#include "tests/unit/t.h"

#define TABLE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define STARTED_NOT ((uint32_t)-1)

/* Pairs: difference of addresses, signed difference of lines. Long differences take several. */
static void lnotab_of_3_9(void)
{
	size_t n;

#define GET(offset) gt_python_line(0x0309, 10, t, n, offset)
	static const uint8_t t[] = { 0, 1, 6, 2, 8, 0xfe, 255, 0, 1, 127, 0, 73 };
	n = 12;
	CHECK_EQ(GET(STARTED_NOT), 10);
	CHECK_EQ(GET(0), 11);
	CHECK_EQ(GET(4), 11);
	CHECK_EQ(GET(6), 13);
	CHECK_EQ(GET(12), 13);
	CHECK_EQ(GET(14), 11);
	CHECK_EQ(GET(268), 11);
	CHECK_EQ(GET(270), 211);
	CHECK_EQ(GET(5000), 211);
	n = 0;
	CHECK_EQ(GET(20), 10);
#undef GET
}

/* Pairs: length of the range, signed difference of lines; -128: no line. */
static void linetable_of_3_10(void)
{
	size_t n;

#define GET(offset) gt_python_line(0x030a, 10, t, n, offset)
	static const uint8_t t[] = { 4, 1, 6, 0x80, 2, 2, 0, 127, 0, 127, 8, 1, 254, 0xfb, 2, 0 };
	n = 16;
	CHECK_EQ(GET(STARTED_NOT), 10);
	CHECK_EQ(GET(0), 11);
	CHECK_EQ(GET(2), 11);
	CHECK_EQ(GET(4), -1);
	CHECK_EQ(GET(8), -1);
	CHECK_EQ(GET(10), 13);
	CHECK_EQ(GET(12), 268);
	CHECK_EQ(GET(18), 268);
	CHECK_EQ(GET(20), 263);
	CHECK_EQ(GET(274), 263);
	CHECK_EQ(GET(276), -1);
	n = 3;
	CHECK_EQ(GET(2), 11);
	CHECK_EQ(GET(4), -1);
#undef GET
}

/* Entries: 0x80 | kind << 3 | units - 1, then what the kind has. */
static void locations_of_3_11(void)
{
	size_t n;

#define ENTRY(kind, units) (0x80 | (kind) << 3 | ((units)-1))
#define GET(offset) gt_python_line(version, 10, t, n, offset)
	static const uint8_t t[] = { ENTRY(13, 1), 2,  /* +1 */
		ENTRY(0, 2), 0x12,                     /* the same line, columns 1 to 3 */
		ENTRY(11, 3), 4, 9,                    /* +1 */
		ENTRY(15, 1),                          /* none */
		ENTRY(14, 8), 0x40 | 8, 0x0a, 0, 5, 6, /* +(8 + 10 * 64) / 2 */
		ENTRY(13, 1), 5,                       /* -2 */
		ENTRY(12, 1), 0, 1, ENTRY(10, 1), 0, 1, ENTRY(9, 1), 0x7f };

	for (uint32_t version = 0x030b; version <= 0x030e; version++) {
		n = sizeof(t);
		CHECK_EQ(GET(STARTED_NOT), 10);
		CHECK_EQ(GET((uint32_t)-2), 10);
		CHECK_EQ(GET(0), 11);
		CHECK_EQ(GET(2), 11);
		CHECK_EQ(GET(4), 11);
		CHECK_EQ(GET(6), 12);
		CHECK_EQ(GET(10), 12);
		CHECK_EQ(GET(12), -1);
		CHECK_EQ(GET(14), 336);
		CHECK_EQ(GET(28), 336);
		CHECK_EQ(GET(30), 334);
		CHECK_EQ(GET(32), 336);
		CHECK_EQ(GET(34), 336);
		CHECK_EQ(GET(36), 336);
		CHECK_EQ(GET(38), -1);
		CHECK_EQ(GET(1000000), -1);
		n = 10; /* in the middle of a number */
		CHECK_EQ(GET(12), -1);
		CHECK_EQ(GET(14), -1);
	}
	CHECK_EQ(gt_python_line(0x030f, 10, t, sizeof(t), 0), -1);
	CHECK_EQ(gt_python_line(0x0308, 10, t, sizeof(t), 0), -1);
#undef GET
}

static void lines_beyond_all_numbers_are_none(void)
{
	CHECK_EQ(gt_python_line(0x0309, 1, TABLE(0, 0x80), 4), -1);
	CHECK_EQ(gt_python_line(0x030b, 1, TABLE(ENTRY(13, 1), 0x41, 1), 0), -1);
	CHECK_EQ(gt_python_line(
			 0x030b, 1, TABLE(ENTRY(13, 1), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 1), 0),
		-1);
	CHECK_EQ(gt_python_line(0x030b, 0x7fffffff, TABLE(ENTRY(13, 1), 2), 0), -1);
	CHECK_EQ(gt_python_line(0x030b, 0xffffffff, TABLE(ENTRY(13, 1), 2), 0), -1);
	CHECK_EQ(gt_python_line(0x030b, 7, TABLE(1, 2, 3), 0), -1);
	CHECK_EQ(gt_python_line(0x030b, 7, NULL, 0, 0), -1);
}

/* A sanitizer sees reads outside of the table. */
static void any_table_ends(void)
{
	uint64_t random = 88172645463325252u;

	for (int round = 0; round < 20000; round++) {
		uint8_t *table;
		size_t n;

		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		n = random % 40;
		table = malloc(n + !n);
		for (size_t i = 0; i < n; i++)
			table[i] = (uint8_t)(random >> i % 57);
		for (uint32_t version = 0x0309; version <= 0x030e; version++)
			gt_python_line(version, (uint32_t)random, table, n,
				(uint32_t)(random >> 40) % 300);
		free(table);
	}
}

T_MAIN(T(lnotab_of_3_9), T(linetable_of_3_10), T(locations_of_3_11),
	T(lines_beyond_all_numbers_are_none), T(any_table_ends))
