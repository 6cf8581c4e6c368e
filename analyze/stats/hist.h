/* A mergeable histogram of durations, or of sizes. Values below 128 ns have a bucket each; above that every power of two is cut into
 * 64 buckets, so a bucket is at most 1/64 of its lower bound wide and its middle is within 0.8 % of every value in it. A bucket
 * also remembers its value as long as it has met no other: a hundred copies of one size have exactly that size as their median.
 * Counts are exact, merging is addition, and only the octaves that were met take memory (1 KiB each).
 * Zero-initialised is empty and valid. */
#ifndef GT_HIST_H
#define GT_HIST_H
#include <stdint.h>

#define GT_HIST_OCTAVE 64				/* buckets in one octave */
#define GT_HIST_OCTAVES 58				/* enough for INT64_MAX */
#define GT_HIST_BUCKETS (GT_HIST_OCTAVE * GT_HIST_OCTAVES)

#define GT_HIST_MIXED (-1)
struct gt_hist_bucket { uint64_t count; int64_t only; };	/* only: the one value in it, of count > 0; GT_HIST_MIXED: there are several */
#define GT_HIST_OCTAVE_BYTES (GT_HIST_OCTAVE * sizeof(struct gt_hist_bucket))

struct gt_hist { struct gt_hist_bucket *octave[GT_HIST_OCTAVES]; };	/* NULL: no value there */

/* The bucket of a duration, v >= 0. */
static inline unsigned gt_hist_bucket(int64_t v)
{
	unsigned shift = (63u ^ (unsigned)__builtin_clzll((uint64_t)v | GT_HIST_OCTAVE)) - 6;	/* the xor is one with what clz is made of */

	return (shift << 6) + (unsigned)(v >> shift);
}
/* The range [low, high) that falls into a bucket. */
static inline uint64_t gt_hist_low(unsigned bucket)
{
	unsigned shift = bucket < 2 * GT_HIST_OCTAVE ? 0 : (bucket >> 6) - 1;

	return (uint64_t)(bucket - (shift << 6)) << shift;
}
static inline uint64_t gt_hist_high(unsigned bucket)
{
	return gt_hist_low(bucket) + (1ULL << (bucket < 2 * GT_HIST_OCTAVE ? 0 : (bucket >> 6) - 1));
}

static inline void gt_hist_count_in(struct gt_hist_bucket *b, int64_t v)
{
	b->only = b->count && b->only != v ? GT_HIST_MIXED : v;
	b->count++;
}

struct gt_hist_bucket *gt_hist_grow(struct gt_hist *h, unsigned octave);	/* that octave, made if need be; NULL: no memory */
int gt_hist_add(struct gt_hist *h, int64_t v);			/* 0 or -ENOMEM */
int gt_hist_merge(struct gt_hist *into, const struct gt_hist *from);
uint64_t gt_hist_count(const struct gt_hist *h);
/* The smallest value v such that at least q (0..1) of all values are <= v: exact where its bucket has met one value only, else to
 * within 0.8 %; 0 of an empty one. Never below `min` or above `max`, the smallest and the largest value met. */
int64_t gt_hist_quantile(const struct gt_hist *h, double q, int64_t min, int64_t max);
void gt_hist_release(struct gt_hist *h);
#endif
