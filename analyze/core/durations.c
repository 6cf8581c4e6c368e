#include "analyze/core/durations.h"

#include <stdlib.h>

/* Allocates an octave of the histogram, and the histogram itself for its first value. */
static bool make_room(struct gt_durations *d, unsigned octave, size_t *held)
{
	size_t need = (d->hist ? 0 : sizeof(*d->hist)) + GT_HIST_OCTAVE_BYTES;

	if (d->coarse || *held + need > GT_DURATIONS_HISTS)
		return false;
	*held += need;
	if (!d->hist)
		d->hist = calloc(1, sizeof(*d->hist));
	return d->hist && gt_hist_grow(d->hist, octave);
}

static void add_to_hist(struct gt_durations *d, int64_t v, size_t *held)
{
	unsigned bucket = gt_hist_bucket(v), octave = bucket / GT_HIST_OCTAVE;

	if ((!d->hist || !d->hist->octave[octave]) && !make_room(d, octave, held))
		d->coarse = true;
	else
		gt_hist_count_in(&d->hist->octave[octave][bucket % GT_HIST_OCTAVE], v);
}

void gt_durations_add(struct gt_durations *d, uint64_t v, size_t *held)
{
	d->shortest = !d->count || v < d->shortest ? v : d->shortest;
	d->longest = v > d->longest ? v : d->longest;
	d->count++;
	d->total = gt_sat_add(d->total, v);
	gt_squares_add(&d->squares, v);
	add_to_hist(d, gt_clamp(v), held);
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
