/* The standard deviation of durations from their count, sum and sum of squares: exact up to the last division, so that nothing
 * cancels where durations are long and much alike. */
#ifndef GT_STDDEV_H
#define GT_STDDEV_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_squares { unsigned __int128 sum; bool wild; /* it would be beyond 128 bits */ };

static inline void gt_squares_add(struct gt_squares *s, uint64_t ns)
{
	s->wild |= __builtin_add_overflow(s->sum, (unsigned __int128)ns * ns, &s->sum);
}

static inline void gt_squares_merge(struct gt_squares *s, const struct gt_squares *from)
{
	s->wild |= from->wild | __builtin_add_overflow(s->sum, from->sum, &s->sum);
}

/* ns, of the sample (n - 1), as other profilers have it. false: not known, as there are fewer than two or the sums are beyond bounds. */
static inline bool gt_deviation(uint64_t count, unsigned __int128 total, const struct gt_squares *s, long double *ns)
{
	unsigned __int128 square, all;

	if (count < 2 || total == UINT64_MAX || s->wild || __builtin_mul_overflow(total, total, &square) ||
	    __builtin_mul_overflow(s->sum, (unsigned __int128)count, &all))
		return false;
	*ns = sqrtl((long double)(all - square) / ((long double)count * (long double)(count - 1)));
	return true;
}
#endif
