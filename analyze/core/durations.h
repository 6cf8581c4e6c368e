/* What a table says of many durations: how many, total, mean, shortest, longest, deviation and quantiles. Sizes are counted the same
 * way. Everything is exact but quantiles, which come from a histogram (hist.h) and are within 1 %. */
#ifndef GT_DURATIONS_H
#define GT_DURATIONS_H
#include "analyze/stats/stddev.h"
#include "analyze/stats/hist.h"
#include "analyze/core/report.h"

#define GT_DURATIONS_HISTS (16u << 20)	/* bytes of histograms that a report may hold */

struct gt_durations {			/* zero-initialised is empty */
	uint64_t count, total;		/* the total stops at UINT64_MAX instead of wrapping; ns, or bytes */
	uint64_t shortest, longest;	/* of count > 0 */
	struct gt_squares squares;
	bool coarse;			/* the histogram misses some */
	struct gt_hist *hist;
};

/* *held: the bytes of histograms held so far, over all of a report's; beyond GT_DURATIONS_HISTS there are no quantiles. */
void gt_durations_add(struct gt_durations *d, uint64_t v, size_t *held);
void gt_durations_release(struct gt_durations *d);

/* Cells; absent where there is no such figure. */
struct gt_cell gt_durations_quantile(const struct gt_durations *d, double q);
struct gt_cell gt_durations_deviation(const struct gt_durations *d);		/* of the sample: n - 1 */
static inline struct gt_cell gt_cell_mean(uint64_t sum, uint64_t n) { return gt_cell_known(n, n ? sum / n : 0); }
#endif
