/* Decides whether a difference of two means is more than noise.
 *
 * One trace shows its own scatter: the mean of n durations with the standard deviation s has a
 * standard error of s / sqrt(n). A change of the mean counts if it exceeds what chance produces
 * in 1 of 370 comparisons. With many durations this is 3 standard errors of the difference. With
 * few, the deviation itself is uncertain: Student's t gives the number of standard errors with
 * the same confidence, for example 19 for three durations compared with a well-known mean.
 *
 * Consecutive durations are often alike (a rising clock, a cache that warms up); n of them then
 * carry less information than n independent ones. So the time of the recording is divided into
 * slices. The means of the slices give a second standard error, which includes the drift between
 * slices. The larger of the two is used.
 *
 * This is the noise within a recording. Another run of the same program may differ by more,
 * because of clocks, other processes or temperature. Only another run can show that. */
#include <math.h>
#include "analyze/diff/diff.h"

/* The quantile at which both tails of Student's t have 0.27 %, by degrees of freedom. */
static double student(double freedom)
{
	static const struct {
		double freedom, t;
	} table[] = {
		{ 1, 235.801 },
		{ 2, 19.207 },
		{ 3, 9.219 },
		{ 4, 6.620 },
		{ 5, 5.507 },
		{ 6, 4.904 },
		{ 7, 4.530 },
		{ 8, 4.277 },
		{ 9, 4.094 },
		{ 10, 3.957 },
		{ 12, 3.764 },
		{ 14, 3.636 },
		{ 17, 3.507 },
		{ 20, 3.422 },
		{ 25, 3.330 },
		{ 30, 3.270 },
		{ 40, 3.199 },
		{ 60, 3.130 },
		{ 120, 3.064 },
		{ 250, 3.030 },
		{ 1000, 3.008 },
	};
	double t = table[0].t;

	for (unsigned i = 0; i < sizeof(table) / sizeof(*table) && table[i].freedom <= freedom; i++)
		/* of the next lower row: overestimates the noise rather than underestimates it */
		t = table[i].t;
	return t;
}

#define FEWEST_SLICES 4.0 /* with fewer, their means are not used */

struct error {
	double square, freedom;
}; /* of a mean */

static struct error error_of(const struct gt_sample *s)
{
	double deviation = s->deviation > GT_CLOCK_STEP ? s->deviation : GT_CLOCK_STEP;
	struct error plain = { deviation * deviation / (double)s->count, (double)(s->count - 1) };
	struct error drift = { s->drift * s->drift, s->slices - 1 };

	return s->slices >= FEWEST_SLICES && drift.square > plain.square ? drift : plain;
}

double gt_diff_noise(const struct gt_sample *a, const struct gt_sample *b)
{
	struct error ea, eb;
	double sum;

	if (a->count < 2 || b->count < 2 || !a->scatters || !b->scatters)
		return -1;
	ea = error_of(a);
	eb = error_of(b);
	sum = ea.square + eb.square;
	return student(sum * sum /
		       (ea.square * ea.square / ea.freedom + eb.square * eb.square / eb.freedom)) *
		sqrt(sum);
}

static bool by_more_than_floor(double a, double b) { return fabs(b - a) > GT_DIFF_FLOOR * a; }

enum gt_verdict gt_diff_verdict(const struct gt_sample *a, const struct gt_sample *b)
{
	double noise = gt_diff_noise(a, b);
	bool changed = by_more_than_floor(a->mean, b->mean),
	     real = noise >= 0 && fabs(b->mean - a->mean) > noise;

	if (changed && real)
		return b->mean > a->mean ? GT_VERDICT_SLOWER : GT_VERDICT_FASTER;
	if (by_more_than_floor((double)a->count, (double)b->count))
		return b->count > a->count ? GT_VERDICT_MORE : GT_VERDICT_FEWER;
	return !changed ? GT_VERDICT_SAME : noise < 0 ? GT_VERDICT_UNKNOWN : GT_VERDICT_NOISE;
}
