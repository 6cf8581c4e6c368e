/* A histogram of durations or sizes that can be merged. Each value below 128 ns has its own
 * bucket. Above that, each power of two is divided into 64 buckets: a bucket is at most 1/64 of
 * its lower bound wide, and its middle is within 0.8 % of all its values. A bucket stores its
 * value while it has only one: the median of a hundred copies of one size is exactly that size.
 * Counts are exact, merging is addition, and only octaves with values take memory (1 KiB each).
 * Zero-initialised: empty and valid. */
#ifndef GT_HIST_H
#define GT_HIST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_HIST_OCTAVE 64  /* buckets in one octave */
#define GT_HIST_OCTAVES 58 /* enough for INT64_MAX */
#define GT_HIST_BUCKETS (GT_HIST_OCTAVE * GT_HIST_OCTAVES)

#define GT_HIST_MIXED (-1)
/* only: its single value, if count > 0; GT_HIST_MIXED: several */
struct gt_hist_bucket {
	uint64_t count;
	int64_t only;
};
#define GT_HIST_OCTAVE_BYTES (GT_HIST_OCTAVE * sizeof(struct gt_hist_bucket))

struct gt_hist {
	struct gt_hist_bucket *octave[GT_HIST_OCTAVES];
}; /* NULL: no values */

/* The bucket of a duration, v >= 0. */
static inline unsigned gt_hist_bucket(int64_t v)
{
	/* the xor cancels the one inside clz */
	unsigned shift = (63u ^ (unsigned)__builtin_clzll((uint64_t)v | GT_HIST_OCTAVE)) - 6;

	return (shift << 6) + (unsigned)(v >> shift);
}
/* The range [low, high) of a bucket. */
static inline uint64_t gt_hist_low(unsigned bucket)
{
	unsigned shift = bucket < 2 * GT_HIST_OCTAVE ? 0 : (bucket >> 6) - 1;

	return (uint64_t)(bucket - (shift << 6)) << shift;
}
static inline uint64_t gt_hist_high(unsigned bucket)
{
	return gt_hist_low(bucket) +
		(1ULL << (bucket < 2 * GT_HIST_OCTAVE ? 0 : (bucket >> 6) - 1));
}

static inline void gt_hist_count_in(struct gt_hist_bucket *b, int64_t v)
{
	b->only = b->count && b->only != v ? GT_HIST_MIXED : v;
	b->count++;
}

/* that octave, allocated if needed; NULL: no memory */
struct gt_hist_bucket *gt_hist_grow(struct gt_hist *h, unsigned octave);
int gt_hist_add(struct gt_hist *h, int64_t v); /* 0 or -ENOMEM */
/* Allocates an octave, and the histogram itself (*h NULL), unless *hist_bytes, the bytes of several
 * histograms, would exceed the limit. false: it would, or there is no memory. */
bool gt_hist_grow_limited(struct gt_hist **h, unsigned octave, size_t *hist_bytes, size_t limit);
/* Adds a value in that way. */
static inline bool gt_hist_add_limited(
	struct gt_hist **h, int64_t v, size_t *hist_bytes, size_t limit)
{
	unsigned bucket = gt_hist_bucket(v), octave = bucket / GT_HIST_OCTAVE;

	if ((!*h || !(*h)->octave[octave]) && !gt_hist_grow_limited(h, octave, hist_bytes, limit))
		return false;
	gt_hist_count_in(&(*h)->octave[octave][bucket % GT_HIST_OCTAVE], v);
	return true;
}
int gt_hist_merge(struct gt_hist *into, const struct gt_hist *from);
uint64_t gt_hist_count(const struct gt_hist *h);
/* The smallest value v such that at least q (0..1) of all values are <= v. It is exact if its
 * bucket has one value only, else within 0.8 %. 0 if there are no values. Never below `min` or
 * above `max`: the smallest and largest value. */
int64_t gt_hist_quantile(const struct gt_hist *h, double q, int64_t min, int64_t max);
void gt_hist_release(struct gt_hist *h);
#endif
