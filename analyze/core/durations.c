#include "analyze/core/durations.h"

#include <stdlib.h>

void gt_durations_add(struct gt_durations *d, uint64_t v, size_t *hist_bytes)
{
	d->shortest = !d->count || v < d->shortest ? v : d->shortest;
	d->longest = v > d->longest ? v : d->longest;
	d->count++;
	d->total = gt_sat_add(d->total, v);
	gt_squares_add(&d->squares, v);
	d->coarse = d->coarse ||
		!gt_hist_add_limited(&d->hist, gt_clamp(v), hist_bytes, GT_DURATIONS_HISTS);
}

struct gt_cell gt_durations_quantile(const struct gt_durations *d, double q)
{
	if (d->coarse || !d->hist)
		return gt_cell_none();
	return gt_cell_i(gt_hist_quantile(d->hist, q, gt_clamp(d->shortest), gt_clamp(d->longest)));
}

struct gt_cell gt_durations_deviation(const struct gt_durations *d)
{
	long double ns;

	return gt_deviation(d->count, d->total, &d->squares, &ns) ? gt_cell_u((uint64_t)(ns + 0.5L))
								  : gt_cell_none();
}

void gt_durations_release(struct gt_durations *d)
{
	if (d->hist)
		gt_hist_release(d->hist);
	free(d->hist);
	d->hist = NULL;
}
