#include "formats/text/digits.h"

#include <math.h>
#include <stdio.h>

static const uint64_t tens[20] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
	1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
	1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
	10000000000000000000u };

#define ONE(a, b, c)                                                                               \
	{                                                                                          \
		'0' + (a), '0' + (b), '0' + (c), (a) ? 0 : (b) ? 8 : 16                            \
	}
#define TEN(a, b)                                                                                  \
	ONE(a, b, 0), ONE(a, b, 1), ONE(a, b, 2), ONE(a, b, 3), ONE(a, b, 4), ONE(a, b, 5),        \
		ONE(a, b, 6), ONE(a, b, 7), ONE(a, b, 8), ONE(a, b, 9)
#define HUNDRED(a)                                                                                 \
	TEN(a, 0), TEN(a, 1), TEN(a, 2), TEN(a, 3), TEN(a, 4), TEN(a, 5), TEN(a, 6), TEN(a, 7),    \
		TEN(a, 8), TEN(a, 9)
const uint8_t gt_thousand[1000][4] = { HUNDRED(0), HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4),
	HUNDRED(5), HUNDRED(6), HUNDRED(7), HUNDRED(8), HUNDRED(9) };

char *gt_put_long_(char *p, uint64_t v)
{
	const uint64_t million = 1000000;
	uint32_t low[2] = { (uint32_t)(v / million % million), (uint32_t)(v % million) };

	p = gt_put_u64(p, v / million / million);
	for (unsigned i = 0; i < 2; i++) {
		p = gt_put_3_digits(p, low[i] / 1000);
		p = gt_put_3_digits(p, low[i] % 1000);
	}
	return p;
}

/* Exactly n digits of v, with zeros in front. */
static inline char *put_padded(char *p, uint64_t v, unsigned n)
{
	unsigned left = n;

	for (; left >= 3; left -= 3, v /= 1000)
		memcpy(p + left - 3, gt_thousand[v % 1000], 3);
	memcpy(p, gt_thousand[v % 1000] + 3 - left, left);
	return p + n;
}

char *gt_put_hex(char *p, uint64_t v)
{
	unsigned n = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;

	*p++ = '0';
	*p++ = 'x';
	for (unsigned i = n; i--; v >>= 4)
		p[i] = "0123456789abcdef"[v & 15];
	return p + n;
}

char *gt_put_parts(char *p, uint64_t v, unsigned decimals)
{
	uint64_t whole = v / tens[decimals];
	uint32_t digits;

	p = gt_put_u64(p, whole);
	if (!decimals)
		return p;
	*p++ = '.';
	v -= whole * tens[decimals];
	if (decimals > 3)
		return put_padded(p, v, decimals);
	memcpy(&digits, gt_thousand[v], 4);
	digits = htole32(le32toh(digits) >> (3 - decimals) * 8);
	memcpy(p, &digits, 4);
	return p + decimals;
}

char *gt_put_hundredths(char *p, int64_t v)
{
	uint64_t u = gt_put_sign_(&p, v);

	return gt_put_parts(p, u, 2);
}

char *gt_put_us(char *p, int64_t ns)
{
	uint64_t u = gt_put_sign_(&p, ns);

	p = gt_put_u64(p, u / 1000);
	*p = '.';
	return gt_put_3_digits(p + 1, (uint32_t)(u % 1000));
}

char *gt_put_s(char *p, int64_t ns)
{
	uint64_t u = gt_put_sign_(&p, ns);

	p = gt_put_u64(p, u / 1000000000);
	*p = '.';
	return gt_put_9_digits(p + 1, (uint32_t)(u % 1000000000));
}

/* v * 10^decimals, which must be below 2^63, rounded as printf does. A double is a whole number of
 * 53 bits times a power of two, and 128 bits hold that number times any power of ten used here. So
 * the remainder is exact, too. */
static uint64_t scaled(double v, unsigned decimals)
{
	unsigned __int128 parts, rest, half;
	unsigned exponent, shift;
	uint64_t bits, n;

	if (v >= 0x1p52)
		return (uint64_t)v * tens[decimals];
	memcpy(&bits, &v, sizeof(bits));
	exponent = (unsigned)(bits >> 52);
	if (exponent < 1023 - 65) /* rounds to 0 */
		return 0;
	parts = (unsigned __int128)((bits & ((1ull << 52) - 1)) | 1ull << 52) * tens[decimals];
	shift = 1023 + 52 - exponent;
	n = (uint64_t)(parts >> shift);
	rest = parts - ((unsigned __int128)n << shift);
	half = (unsigned __int128)1 << (shift - 1);
	return n + (rest > half || (rest == half && n & 1));
}

char *gt_put_fixed(char *p, double v, unsigned decimals)
{
	uint64_t n = scaled(fabs(v), decimals);

	*p = '-';
	p += signbit(v) != 0;
	return gt_put_parts(p, n, decimals);
}

char *gt_put_general(char *p, double v)
{
	double a = fabs(v);
	unsigned decimals = 0;
	uint64_t n;

	if (!(a >= 1e-4 && a < 1e15)) /* printed with an exponent, or 0, or not finite */
		return p + sprintf(p, "%.15g", v);
	*p = '-';
	p += v < 0;
	while (a * (double)tens[decimals] < 1e14)
		decimals++;
	n = scaled(a, decimals);
	/* %g drops trailing zeros, and so the extra digit of a number that was rounded up */
	for (; decimals && n % 10 == 0; n /= 10)
		decimals--;
	return gt_put_parts(p, n, decimals);
}
