/* Numbers as decimal digits, without printf, for code that prints many numbers.
 *
 * Numbers are divided by 1000 repeatedly, and a table has the three digits of each remainder: 12
 * digits are four look-ups. The table also says by how many bits to shift the first three digits,
 * to drop leading zeros: no code branches on single digits.
 *
 * Each function writes digits at p and returns the end of the last one. It may overwrite up to
 * GT_DIGITS_SPILL bytes more. */
#ifndef GT_DIGITS_H
#define GT_DIGITS_H
#include <endian.h>
#include <stdint.h>
#include <string.h>

#define GT_DIGITS_SPILL 4

/* three digits, and the shift in bits that drops their leading zeros */
extern const uint8_t gt_thousand[1000][4];

/* Three digits of v, which is below 1000. */
static inline char *gt_put_3_digits(char *p, uint32_t v)
{
	memcpy(p, gt_thousand[v], 4);
	return p + 3;
}

/* Nine digits of v, which is below 10^9. */
static inline char *gt_put_9_digits(char *p, uint32_t v)
{
	uint32_t thousands = v / 1000, millions = v / 1000000;

	gt_put_3_digits(p, millions);
	gt_put_3_digits(p + 3, thousands - millions * 1000);
	return gt_put_3_digits(p + 6, v - thousands * 1000);
}

/* v, which is below 1000, without leading zeros. */
static inline char *gt_put_lead_(char *p, uint32_t v)
{
	uint32_t digits, shift = gt_thousand[v][3];

	memcpy(&digits, gt_thousand[v], 4);
	digits = htole32(le32toh(digits) >> shift);
	memcpy(p, &digits, 4);
	return p + 3 - shift / 8;
}

char *gt_put_long_(char *p, uint64_t v); /* from 10^12 on */

static inline char *gt_put_u64(char *p, uint64_t v)
{
	uint64_t thousands = v / 1000, millions = v / 1000000;

	if (v < 1000)
		return gt_put_lead_(p, (uint32_t)v);
	if (v < 1000000) {
		p = gt_put_lead_(p, (uint32_t)thousands);
	} else if (v < 1000000000) {
		p = gt_put_lead_(p, (uint32_t)millions);
		p = gt_put_3_digits(p, (uint32_t)(thousands - millions * 1000));
	} else if (v < 1000000000000) {
		p = gt_put_lead_(p, (uint32_t)(v / 1000000000));
		p = gt_put_3_digits(p, (uint32_t)(millions % 1000));
		p = gt_put_3_digits(p, (uint32_t)(thousands - millions * 1000));
	} else {
		return gt_put_long_(p, v);
	}
	return gt_put_3_digits(p, (uint32_t)(v - thousands * 1000));
}

/* How many digits gt_put_u64 writes. */
static inline unsigned gt_digits(uint64_t v)
{
	unsigned n = 3;

	for (; v >= 1000; v /= 1000)
		n += 3;
	return n - gt_thousand[v][3] / 8u;
}

static inline uint64_t gt_put_sign_(char **p, int64_t v)
{
	**p = '-';
	*p += v < 0;
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static inline char *gt_put_i64(char *p, int64_t v)
{
	uint64_t u = gt_put_sign_(&p, v);

	return gt_put_u64(p, u);
}

char *gt_put_hex(char *p, uint64_t v); /* 0x... */
/* v / 10^decimals with exactly that many decimals: 0 to 18. */
char *gt_put_parts(char *p, uint64_t v, unsigned decimals);
char *gt_put_hundredths(char *p, int64_t v); /* with exactly 2 decimals: 12.34 */
char *gt_put_us(char *p, int64_t ns);        /* microseconds with exactly 3 decimals: 1234.567 */
char *gt_put_s(char *p, int64_t ns);         /* seconds with exactly 9 decimals */
/* As printf's "%.*f", to the last digit: v, an exact binary fraction, is rounded half to even.
 * decimals: 0 to 9; |v| * 10^decimals must be below 2^63. */
char *gt_put_fixed(char *p, double v, unsigned decimals);
/* As printf's "%.15g". Any v; at most 32 bytes. */
char *gt_put_general(char *p, double v);
#endif
