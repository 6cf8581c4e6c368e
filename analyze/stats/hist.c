#include "analyze/stats/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gt_hist_bucket *gt_hist_grow(struct gt_hist *h, unsigned octave)
{
	if (!h->octave[octave])
		h->octave[octave] = calloc(1, GT_HIST_OCTAVE_BYTES);
	return h->octave[octave];
}

bool gt_hist_grow_limited(struct gt_hist **h, unsigned octave, size_t *hist_bytes, size_t limit)
{
	size_t need = (*h ? 0 : sizeof(**h)) + GT_HIST_OCTAVE_BYTES;

	if (*hist_bytes + need > limit)
		return false;
	*hist_bytes += need;
	if (!*h)
		*h = calloc(1, sizeof(**h));
	return *h && gt_hist_grow(*h, octave);
}

int gt_hist_add(struct gt_hist *h, int64_t v)
{
	unsigned b = gt_hist_bucket(v);
	struct gt_hist_bucket *octave = gt_hist_grow(h, b / GT_HIST_OCTAVE);

	if (!octave)
		return -ENOMEM;
	gt_hist_count_in(&octave[b % GT_HIST_OCTAVE], v);
	return 0;
}

static void merge_bucket(struct gt_hist_bucket *into, const struct gt_hist_bucket *from)
{
	if (!from->count)
		return;
	into->only = into->count && into->only != from->only ? GT_HIST_MIXED : from->only;
	into->count += from->count;
}

int gt_hist_merge(struct gt_hist *into, const struct gt_hist *from)
{
	for (unsigned o = 0; o < GT_HIST_OCTAVES; o++) {
		if (!from->octave[o])
			continue;
		if (!gt_hist_grow(into, o))
			return -ENOMEM;
		for (unsigned i = 0; i < GT_HIST_OCTAVE; i++)
			merge_bucket(&into->octave[o][i], &from->octave[o][i]);
	}
	return 0;
}

uint64_t gt_hist_count(const struct gt_hist *h)
{
	uint64_t n = 0;

	for (unsigned o = 0; o < GT_HIST_OCTAVES; o++)
		for (unsigned i = 0; h->octave[o] && i < GT_HIST_OCTAVE; i++)
			n += h->octave[o][i].count;
	return n;
}

/* The value that represents a bucket. */
static int64_t value_of(const struct gt_hist_bucket *b, unsigned number)
{
	if (b->only != GT_HIST_MIXED)
		return b->only;
	return (int64_t)(gt_hist_low(number) + (gt_hist_high(number) - gt_hist_low(number)) / 2);
}

int64_t gt_hist_quantile(const struct gt_hist *h, double q, int64_t min, int64_t max)
{
	uint64_t n = gt_hist_count(h), rank = (uint64_t)ceil(q * (double)n), seen = 0;

	if (n && rank >= n)
		return max; /* the largest value */
	if (n && rank <= 1)
		return min; /* the smallest value */
	for (unsigned b = 0; b < GT_HIST_BUCKETS; b++) {
		const struct gt_hist_bucket *octave = h->octave[b / GT_HIST_OCTAVE];
		int64_t v;

		if (!octave || (seen += octave[b % GT_HIST_OCTAVE].count) < rank)
			continue;
		v = value_of(&octave[b % GT_HIST_OCTAVE], b);
		return v < min ? min : v > max ? max : v;
	}
	return 0;
}

void gt_hist_release(struct gt_hist *h)
{
	for (unsigned o = 0; o < GT_HIST_OCTAVES; o++)
		free(h->octave[o]);
	memset(h, 0, sizeof(*h));
}
