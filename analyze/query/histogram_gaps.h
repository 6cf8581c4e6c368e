/* Options of a histogram of gaps: `gtanalyze histogram --of gap --by device,cause`. */
#ifndef GT_HISTOGRAM_GAPS_H
#define GT_HISTOGRAM_GAPS_H
#include "analyze/query/histogram_draw.h"

enum gt_gap_field { GT_GAP_RECORDING, GT_GAP_PID, GT_GAP_DEVICE, GT_GAP_CAUSE, GT_GAP_FIELDS };
struct gt_gap_by {
	uint8_t list[GT_GAP_FIELDS];
	unsigned n;
	/* --by was given; otherwise the first field, the recording, is left out if there is one
	 * only */
	bool has_by;
	struct gt_column columns[GT_GAP_FIELDS + GT_HISTOGRAM_COLUMNS];
	char title[100];
};
/* gt_analysis.configure of `histogram --of gap`: replaces the report by that of gaps. */
int gt_histogram_gaps_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err);
/* by: --by, or NULL. Returns 0, or -EINVAL with the byte of the mistake in err->offset. */
int gt_gap_by_read(struct gt_gap_by *b, const char *by, struct gt_err *err);
/* "histogram" of gaps, whose settings are a struct gt_gap_by; not in gt_analyses */
extern const struct gt_analysis gt_histogram_gaps_report;
#endif
