/* Slower, or only by chance? One trace tells of its own scatter: n durations of one name with the standard deviation s have a
 * mean that is itself uncertain by s / sqrt(n), its standard error. A change of the mean counts when it is larger than what
 * chance does in 1 of 370 comparisons, 3 standard errors of the difference where there are many durations. Of few durations the
 * deviation is uncertain, too: Student's t tells how many standard errors mean the same certainty then, 19 for three durations
 * beside one that is known well.
 *
 * Durations that follow one another are alike more often than not (a clock that rises, a cache that warms up), and then n of
 * them are worth less than n. So the time of the recording is cut into slices, and the means of these tell the standard error
 * once more, with whatever drifts from slice to slice in it. The larger of the two counts.
 *
 * That is the noise within a recording. Another run of the same program may differ by more: other clocks, other neighbours,
 * another temperature. Only another run can tell that.
 */
#include <math.h>
#include "analyze/diff/diff.h"

/* Where the two tails of Student's t hold 0.27 %, by degrees of freedom. */
static double student(double freedom)
{
	static const struct { double freedom, t; } table[] = {
		{ 1, 235.801 }, { 2, 19.207 }, { 3, 9.219 }, { 4, 6.620 }, { 5, 5.507 }, { 6, 4.904 }, { 7, 4.530 }, { 8, 4.277 },
		{ 9, 4.094 }, { 10, 3.957 }, { 12, 3.764 }, { 14, 3.636 }, { 17, 3.507 }, { 20, 3.422 }, { 25, 3.330 }, { 30, 3.270 },
		{ 40, 3.199 }, { 60, 3.130 }, { 120, 3.064 }, { 250, 3.030 }, { 1000, 3.008 },
	};
	double t = table[0].t;

	for (unsigned i = 0; i < sizeof(table) / sizeof(*table) && table[i].freedom <= freedom; i++)
		t = table[i].t;		/* of the next lower row: rather too much noise than too little */
	return t;
}

#define FEWEST_SLICES 4.0	/* of fewer the means tell too little */

struct error { double square, freedom; };	/* of a mean */

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
	return student(sum * sum / (ea.square * ea.square / ea.freedom + eb.square * eb.square / eb.freedom)) * sqrt(sum);
}

static bool by_more_than_floor(double a, double b)
{
	return fabs(b - a) > GT_DIFF_FLOOR * a;
}

enum gt_verdict gt_diff_verdict(const struct gt_sample *a, const struct gt_sample *b)
{
	double noise = gt_diff_noise(a, b);
	bool changed = by_more_than_floor(a->mean, b->mean), real = noise >= 0 && fabs(b->mean - a->mean) > noise;

	if (changed && real)
		return b->mean > a->mean ? GT_VERDICT_SLOWER : GT_VERDICT_FASTER;
	if (by_more_than_floor((double)a->count, (double)b->count))
		return b->count > a->count ? GT_VERDICT_MORE : GT_VERDICT_FEWER;
	return !changed ? GT_VERDICT_SAME : noise < 0 ? GT_VERDICT_UNKNOWN : GT_VERDICT_NOISE;
}
