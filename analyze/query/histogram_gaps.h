/* What a histogram of gaps is asked: `gtanalyze histogram --of gap --by device,cause`. */
#ifndef GT_HISTOGRAM_GAPS_H
#define GT_HISTOGRAM_GAPS_H
#include "analyze/query/histogram_draw.h"

enum gt_gap_field { GT_GAP_RECORDING, GT_GAP_PID, GT_GAP_DEVICE, GT_GAP_CAUSE, GT_GAP_FIELDS };
struct gt_gap_by {
	uint8_t list[GT_GAP_FIELDS];
	unsigned n;
	bool told;			/* in the user's own words; else the first, the recording, is left out where there is one only */
	struct gt_column columns[GT_GAP_FIELDS + GT_HISTOGRAM_COLUMNS];
	char title[100];
};
/* by: --by, or NULL. 0, or -EINVAL with err->offset the byte at which it is wrong. */
int gt_gap_by_read(struct gt_gap_by *b, const char *by, struct gt_err *err);
extern const struct gt_analysis gt_histogram_gaps_report;	/* "histogram" of opt->gaps_by; not in gt_analyses */
#endif
