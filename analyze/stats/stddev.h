/* The standard deviation of durations from their count, sum and sum of squares. The arithmetic
 * is exact up to the last division: long durations that hardly differ lose no precision. */
#ifndef GT_STDDEV_H
#define GT_STDDEV_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_squares {
	unsigned __int128 sum;
	bool overflow; /* the sum exceeds 128 bits */
};

static inline void gt_squares_add(struct gt_squares *s, uint64_t ns)
{
	s->overflow |= __builtin_add_overflow(s->sum, (unsigned __int128)ns * ns, &s->sum);
}

static inline void gt_squares_merge(struct gt_squares *s, const struct gt_squares *from)
{
	s->overflow |= from->overflow | __builtin_add_overflow(s->sum, from->sum, &s->sum);
}

/* ns, of the sample (n - 1), as in other profilers. false: unknown, because there are fewer than
 * two durations, or a sum overflowed. */
static inline bool gt_deviation(
	uint64_t count, unsigned __int128 total, const struct gt_squares *s, long double *ns)
{
	unsigned __int128 square, all;

	if (count < 2 || total == UINT64_MAX || s->overflow ||
		__builtin_mul_overflow(total, total, &square) ||
		__builtin_mul_overflow(s->sum, (unsigned __int128)count, &all))
		return false;
	*ns = sqrtl((long double)(all - square) / ((long double)count * (long double)(count - 1)));
	return true;
}
#endif
