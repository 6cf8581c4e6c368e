/* The error of shares that samples estimate. */
#ifndef GT_SAMPLE_ERROR_H
#define GT_SAMPLE_ERROR_H
#include <math.h>

/* Of n samples, x are of one kind: half the width of the 95 % confidence interval of its share, as
 * a fraction of 1 (the interval of Agresti and Coull). It takes samples as independent: a loop that
 * is as long as the time between two samples breaks this. n: above 0. */
static inline double gt_sample_error(double x, double n)
{
	const double z = 1.959964, trials = n + z * z, p = (x + z * z / 2) / trials;

	return z * sqrt(p * (1 - p) / trials);
}
#endif
