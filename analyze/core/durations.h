/* The figures that tables show for many durations: count, total, mean, minimum, maximum,
 * deviation and quantiles. Sizes are counted the same way. All are exact but quantiles, which
 * come from a histogram (hist.h) and are within 1 %. */
#ifndef GT_DURATIONS_H
#define GT_DURATIONS_H
#include "analyze/stats/stddev.h"
#include "analyze/stats/hist.h"
#include "analyze/core/report.h"

#define GT_DURATIONS_HISTS (16u << 20) /* bytes that the histograms of a report may take */

struct gt_durations {          /* zero-initialised: empty */
	uint64_t count, total; /* ns or bytes; the total stays at UINT64_MAX instead of wrapping */
	uint64_t shortest, longest; /* valid if count > 0 */
	struct gt_squares squares;
	bool coarse; /* the histogram lacks values */
	struct gt_hist *hist;
};

/* *hist_bytes: bytes of all histograms of the report so far. Beyond GT_DURATIONS_HISTS values are
 * not added, and there are no quantiles. */
void gt_durations_add(struct gt_durations *d, uint64_t v, size_t *hist_bytes);
void gt_durations_release(struct gt_durations *d);

/* Cells; absent if the figure is unknown. */
struct gt_cell gt_durations_quantile(const struct gt_durations *d, double q);
struct gt_cell gt_durations_deviation(const struct gt_durations *d); /* of the sample: n - 1 */
static inline struct gt_cell gt_cell_mean(uint64_t sum, uint64_t n)
{
	return gt_cell_known(n, n ? sum / n : 0);
}
#endif
