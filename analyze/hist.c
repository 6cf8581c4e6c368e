#include "analyze/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t *gt_hist_grow(struct gt_hist *h, unsigned octave)
{
	if (!h->octave[octave])
		h->octave[octave] = calloc(GT_HIST_OCTAVE, sizeof(uint64_t));
	return h->octave[octave];
}

int gt_hist_add(struct gt_hist *h, int64_t v)
{
	unsigned b = gt_hist_bucket(v);
	uint64_t *octave = gt_hist_grow(h, b / GT_HIST_OCTAVE);

	if (!octave)
		return -ENOMEM;
	octave[b % GT_HIST_OCTAVE]++;
	return 0;
}

int gt_hist_merge(struct gt_hist *into, const struct gt_hist *from)
{
	for (unsigned o = 0; o < GT_HIST_OCTAVES; o++) {
		if (!from->octave[o])
			continue;
		if (!gt_hist_grow(into, o))
			return -ENOMEM;
		for (unsigned i = 0; i < GT_HIST_OCTAVE; i++)
			into->octave[o][i] += from->octave[o][i];
	}
	return 0;
}

uint64_t gt_hist_count(const struct gt_hist *h)
{
	uint64_t n = 0;

	for (unsigned o = 0; o < GT_HIST_OCTAVES; o++)
		for (unsigned i = 0; h->octave[o] && i < GT_HIST_OCTAVE; i++)
			n += h->octave[o][i];
	return n;
}

int64_t gt_hist_quantile(const struct gt_hist *h, double q, int64_t max)
{
	uint64_t n = gt_hist_count(h), rank = (uint64_t)ceil(q * (double)n), seen = 0;

	if (n && rank >= n)
		return max;	/* the last of all */
	if (!rank)
		rank = 1;
	for (unsigned b = 0; b < GT_HIST_BUCKETS; b++) {
		const uint64_t *octave = h->octave[b / GT_HIST_OCTAVE];
		int64_t middle;

		if (!octave || (seen += octave[b % GT_HIST_OCTAVE]) < rank)
			continue;
		middle = (int64_t)(gt_hist_low(b) + (gt_hist_high(b) - gt_hist_low(b)) / 2);
		return middle < max ? middle : max;
	}
	return 0;
}

void gt_hist_release(struct gt_hist *h)
{
	for (unsigned o = 0; o < GT_HIST_OCTAVES; o++)
		free(h->octave[o]);
	memset(h, 0, sizeof(*h));
}
