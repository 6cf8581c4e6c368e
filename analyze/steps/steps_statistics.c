/* Statistics of the steps of a lane: sequences by frequency, warm-up, drift, and the slowest steps.
 *
 * Warm-up: the steps before the first three settled steps in a row. If the first half has no such
 * three, it is another phase of the program, and there is no warm-up. A step is settled if its
 * sequence occurs in the second half, and its duration does not exceed the median of the second
 * half by more than 10 % and three times the usual deviation (median absolute deviation,
 * times 1.4826).
 *
 * Drift: the median of the slopes between all pairs of up to DRIFT_SAMPLE steps (Theil-Sen), which
 * a few slow steps do not change. It is noise if its 95 % interval (Kendall's) contains 0. */
#include "analyze/steps/steps.h"

#include <math.h>
#include <stdlib.h>
#include "formats/base/sorted.h"

#define DRIFT_SAMPLE 201u
#define DRIFT_LEAST 8u
#define SAMPLE_MAX 121u /* sampled steps of a lane, for the medians of names */

static int compare_u64(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return GT_COMPARE(a, b);
}

static int compare_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return GT_COMPARE(a, b);
}

uint64_t gt_steps_quantile(const uint64_t *sorted, size_t n, double q)
{
	size_t i = (size_t)ceil(q * (double)n);

	return sorted[i ? i - 1 : 0];
}

uint64_t gt_steps_median(uint64_t *values, size_t n)
{
	GT_SORT(values, n, compare_u64);
	return gt_steps_quantile(values, n, 0.5);
}

struct sequence {
	uint64_t signature;
	uint64_t count;
	size_t first;
};

static int by_signature(const void *pa, const void *pb)
{
	const struct sequence *a = pa, *b = pb;

	return GT_COMPARE(a->signature, b->signature) ?: GT_COMPARE(a->first, b->first);
}

static int by_frequency(const void *pa, const void *pb)
{
	const struct sequence *a = pa, *b = pb;

	return GT_COMPARE(b->count, a->count) ?: GT_COMPARE(a->first, b->first);
}

static void number_sequences(struct gt_steps_lane *l, struct sequence *list, uint32_t *rank_of)
{
	size_t n = 0;

	l->alike_ops = 0;
	for (size_t i = 0; i < l->n; i++)
		list[i] = (struct sequence){ l->steps[i].signature, 1, i };
	GT_SORT(list, l->n, by_signature);
	for (size_t i = 0; i < l->n; i++) {
		l->steps[list[i].first].sequence =
			(uint32_t)(n && list[n - 1].signature == list[i].signature ? n - 1 : n);
		if (n && list[n - 1].signature == list[i].signature)
			list[n - 1].count++;
		else
			list[n++] = list[i];
	}
	for (size_t i = 0; i < n; i++)
		list[i].signature = i;
	GT_SORT(list, n, by_frequency);
	for (size_t i = 0; i < n; i++)
		rank_of[list[i].signature] = (uint32_t)i;
	for (size_t i = 0; i < l->n; i++) {
		l->steps[i].sequence = rank_of[l->steps[i].sequence];
		l->alike_ops += list[l->steps[i].sequence].count > 1 ? l->steps[i].ops : 0;
	}
	l->sequences = (uint32_t)n;
}

/* Numbers sequences by their frequency. */
static int find_sequences(struct gt_steps_lane *l, struct gt_err *err)
{
	struct sequence *list = malloc((l->n + 1) * sizeof(*list));
	uint32_t *rank_of = malloc((l->n + 1) * sizeof(*rank_of));

	if (list && rank_of)
		number_sequences(l, list, rank_of);
	free(rank_of);
	free(list);
	return list && rank_of ? 0 : gt_err_set(err, -ENOMEM, "out of memory (steps)");
}

/* The limit for the duration of a settled step. */
static double longest_settled(const struct gt_steps_lane *l, uint64_t *scratch)
{
	size_t half = l->n / 2, n = l->n - half;
	uint64_t middle;

	for (size_t i = 0; i < n; i++)
		scratch[i] = gt_step_ns(&l->steps[half + i]);
	middle = gt_steps_median(scratch, n);
	for (size_t i = 0; i < n; i++)
		scratch[i] = scratch[i] > middle ? scratch[i] - middle : middle - scratch[i];
	return 1.1 * (double)middle + 3 * 1.4826 * (double)gt_steps_median(scratch, n);
}

static int find_warm_up(struct gt_steps_lane *l, struct gt_err *err)
{
	uint64_t *scratch = malloc((l->n + 1) * sizeof(*scratch));
	bool *late = calloc(l->sequences + 1ul, sizeof(*late));
	size_t half = l->n / 2, row = 0;

	if (!scratch || !late) {
		free(scratch);
		free(late);
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	}
	l->warm = 0;
	if (l->n >= GT_STEPS_WARM_LEAST)
		l->limit = longest_settled(l, scratch);
	for (size_t i = half; i < l->n; i++)
		late[l->steps[i].sequence] = true;
	for (size_t i = 0; l->n >= GT_STEPS_WARM_LEAST && i < half + 2 && row < 3; i++) {
		row = late[l->steps[i].sequence] && (double)gt_step_ns(&l->steps[i]) <= l->limit
			? row + 1
			: 0;
		l->warm = row == 3 ? i - 2 : 0;
	}
	free(scratch);
	free(late);
	return 0;
}

int gt_steps_find_drift(
	const struct gt_step *steps, size_t n, struct gt_steps_drift *d, struct gt_err *err)
{
	size_t m = n < DRIFT_SAMPLE ? n : DRIFT_SAMPLE, pairs = m * (m - (m > 0)) / 2, k = 0;
	double *slopes, spread;

	*d = (struct gt_steps_drift){ 0 };
	if (n < DRIFT_LEAST)
		return 0;
	slopes = malloc(pairs * sizeof(*slopes));
	if (!slopes)
		return gt_err_set(err, -ENOMEM, "out of memory (drift)");
	for (size_t b = 1; b < m; b++)
		for (size_t a = 0; a < b; a++) {
			size_t x = a * n / m, y = b * n / m;

			slopes[k++] =
				((double)gt_step_ns(&steps[y]) - (double)gt_step_ns(&steps[x])) /
				(double)(y - x);
		}
	GT_SORT(slopes, pairs, compare_double);
	spread = 1.96 * sqrt((double)m * (double)(m - 1) * (2.0 * (double)m + 5) / 18);
	d->known = true;
	d->per_step = slopes[(pairs - 1) / 2];
	k = (double)pairs > spread ? (size_t)(((double)pairs - spread) / 2) : 0;
	d->noise = slopes[k] <= 0 && slopes[pairs - 1 - k] >= 0;
	free(slopes);
	return 0;
}

/* ---- slow steps ---- */

/* Lists at most `most` of the slowest steps from `first` on, the slowest first, then the earlier
 * one. Returns their number. */
static size_t slowest_of(const struct gt_steps_lane *l, size_t first, size_t *list, size_t most)
{
	size_t n = 0;

	for (size_t i = first; i < l->n; i++) {
		uint64_t ns = gt_step_ns(&l->steps[i]);
		size_t k = n;

		for (; k && gt_step_ns(&l->steps[list[k - 1]]) < ns; k--)
			if (k < most)
				list[k] = list[k - 1];
		if (k < most)
			list[k] = i;
		n += n < most;
	}
	return n;
}

static void pick(struct gt_steps *s, struct gt_step *step)
{
	if (!step->picked)
		step->picked = ++s->npicked;
}

/* Picks the steps whose time is computed by name: a sample of all, and the slowest. The warm-up is
 * not known yet. */
static void pick_steps(struct gt_steps *s, struct gt_steps_lane *l)
{
	size_t most = SAMPLE_MAX / s->nlanes, slow[16],
	       n = slowest_of(l, 0, slow, s->nlanes > 8 ? GT_STEPS_SLOWEST + 1 : 16);

	l->sampled = most < 9 ? 9 : most;
	l->sampled = l->n < l->sampled ? l->n : l->sampled;
	for (size_t i = 0; i < l->sampled; i++)
		pick(s, &l->steps[i * l->n / l->sampled]);
	for (size_t i = 0; i < n; i++)
		pick(s, &l->steps[slow[i]]);
}

/* Repeated copies, as when a model is loaded, are not steps. */
static void drop_copy_loops(struct gt_steps_lane *l)
{
	uint64_t kernels = 0;

	for (size_t i = 0; i < l->n; i++)
		kernels += l->steps[i].kernels;
	if (kernels || !l->n || l->mark)
		return;
	l->n = l->sampled = 0;
	l->why = "only copies and sets repeat";
}

/* Computes the figures of each step. */
static int fill(struct gt_steps *s, struct gt_err *err)
{
	int rc;

	free(s->times);
	s->times = calloc(s->npicked * (GT_STEPS_NAMES + 1ul) + 1, sizeof(*s->times));
	if (!s->times)
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	rc = gt_steps_fill(s, err);
	for (uint32_t i = 0; !rc && i < s->nlanes; i++) {
		drop_copy_loops(&s->lanes[i]);
		rc = find_sequences(&s->lanes[i], err);
		if (!rc)
			rc = find_warm_up(&s->lanes[i], err);
		s->lanes[i].nslowest = rc ? 0
					  : slowest_of(&s->lanes[i], s->lanes[i].warm,
						    s->lanes[i].slowest, GT_STEPS_SLOWEST);
	}
	return rc;
}

int gt_steps_find_all(struct gt_steps *s, struct gt_err *err)
{
	int rc = gt_steps_find(s, err);
	uint32_t before;

	for (uint32_t i = 0; !rc && !s->gpu_only && i < s->nlanes; i++)
		pick_steps(s, &s->lanes[i]);
	before = s->npicked;
	if (!rc && s->nsteps)
		rc = fill(s, err);
	for (uint32_t i = 0; !rc && !s->gpu_only && i < s->nlanes; i++)
		for (size_t k = 0; k < s->lanes[i].nslowest; k++)
			pick(s, &s->lanes[i].steps[s->lanes[i].slowest[k]]);
	if (!rc && s->npicked > before) /* the warm-up contained the slowest */
		rc = fill(s, err);
	return rc;
}
