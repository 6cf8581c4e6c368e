#include "tests/unit/t.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include "formats/text/digits.h"

static bool is(char *end, const char *text, const char *want)
{
	*end = '\0';
	return !strcmp(text, want);
}

static void digits(void)
{
	static const uint64_t values[] = { 0, 1, 9, 10, 99, 100, 999, 1000, 4294967295u,
		4294967296u, 9999999999u, 10000000000u, 9999999999999999999u, 10000000000000000000u,
		UINT64_MAX, INT64_MAX, 1ull << 63 };
	char got[64], want[64];

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		snprintf(want, sizeof(want), "%" PRIu64, values[i]);
		CHECK(is(gt_put_u64(got, values[i]), got, want));
		snprintf(want, sizeof(want), "%" PRId64, (int64_t)values[i]);
		CHECK(is(gt_put_i64(got, (int64_t)values[i]), got, want));
		snprintf(want, sizeof(want), "%#" PRIx64, values[i]);
		CHECK(is(gt_put_hex(got, values[i]), got, values[i] ? want : "0x0"));
	}
	for (uint64_t v = 1; v < UINT64_MAX / 3; v = v * 3 + 1) {
		snprintf(want, sizeof(want), "%" PRIu64, v);
		CHECK(is(gt_put_u64(got, v), got, want));
	}
}

static void times(void)
{
	char got[64];

	CHECK(is(gt_put_us(got, 0), got, "0.000"));
	CHECK(is(gt_put_us(got, 1), got, "0.001"));
	CHECK(is(gt_put_us(got, 1234567), got, "1234.567"));
	CHECK(is(gt_put_us(got, -1500), got, "-1.500"));
	CHECK(is(gt_put_us(got, INT64_MIN), got, "-9223372036854775.808"));
	CHECK(is(gt_put_s(got, 1), got, "0.000000001"));
	CHECK(is(gt_put_s(got, 12000000034), got, "12.000000034"));
	CHECK(is(gt_put_s(got, -1), got, "-0.000000001"));
}

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed ^ seed >> 29;
}

/* Every length, also with zeros within, and no byte after the permitted length is written. */
static void any_number(void)
{
	char got[64], want[64];
	bool fine = true;

	for (int i = 0; i < 300000; i++) {
		uint64_t power = 1, v;
		char *end;

		for (uint64_t n = rnd() % 20; n; n--)
			power *= 10;
		v = i % 3 == 0       ? power - rnd() % 3
			: i % 3 == 1 ? rnd() % 1000 * power + rnd() % 1000
				     : rnd() >> rnd() % 64;
		memset(got, '~', sizeof(got));
		snprintf(want, sizeof(want), "%" PRIu64, v);
		end = gt_put_u64(got, v);
		fine &= end[GT_DIGITS_SPILL] == '~' && is(end, got, want);
		snprintf(want, sizeof(want), "%" PRId64, (int64_t)v);
		fine &= is(gt_put_i64(got, (int64_t)v), got, want);
	}
	CHECK(fine);
}

/* A double of any size, or one that is exactly between two decimals, or next to it. */
static double any_double(int i)
{
	double v = (double)(rnd() >> 11 >> rnd() % 53) / (double)(1 + (rnd() >> rnd() % 64));

	if (i % 4 == 1)
		v = (double)(rnd() % 1000000) / 1000 + 0.0005 * (double)(rnd() % 2);
	if (i % 4 == 2)
		v = (double)(rnd() % 4096000) / 4096;
	if (i % 4 == 3)
		v = 1 - (double)(rnd() % 16) * 0x1p-53;
	return v * (rnd() % 2 ? 1 : rnd() % 2 ? -1 : 1000);
}

static void fractions_are_as_printf_has_them(void)
{
	char got[64], want[64];
	bool fine = true;

	for (int i = 0; i < 300000; i++) {
		double v = any_double(i);
		unsigned decimals = (unsigned)(rnd() % 10);

		snprintf(want, sizeof(want), "%.15g", v);
		fine &= is(gt_put_general(got, v), got, want);
		if (v > -1e9 && v < 1e9) {
			snprintf(want, sizeof(want), "%.*f", (int)decimals, v);
			fine &= is(gt_put_fixed(got, v, decimals), got, want);
		}
	}
	CHECK(fine);
	CHECK(is(gt_put_general(got, 1e300), got, "1e+300") &&
		is(gt_put_general(got, -0.0), got, "-0"));
	CHECK(is(gt_put_general(got, 5e-324), got, "4.94065645841247e-324") &&
		is(gt_put_fixed(got, 5e-324, 2), got, "0.00"));
	CHECK(is(gt_put_fixed(got, -0.0, 1), got, "-0.0") &&
		is(gt_put_fixed(got, 0.125, 2), got, "0.12"));
}

static void hundredths(void)
{
	char got[64];

	CHECK(is(gt_put_hundredths(got, 0), got, "0.00") &&
		is(gt_put_hundredths(got, -5), got, "-0.05"));
	CHECK(is(gt_put_hundredths(got, 123456), got, "1234.56") &&
		is(gt_put_hundredths(got, -250), got, "-2.50"));
	CHECK(is(gt_put_hundredths(got, INT64_MIN), got, "-92233720368547758.08"));
}

T_MAIN(T(digits), T(times), T(any_number), T(fractions_are_as_printf_has_them), T(hundredths))
