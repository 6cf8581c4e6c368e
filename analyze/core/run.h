/* Runs any number of analyses over one trace: the file is decoded once for all of them. */
#ifndef GT_RUN_H
#define GT_RUN_H
#include "analyze/core/analysis.h"

#define GT_RUN_REPORTS 96	/* that may be asked for at once: more than there are */
#define GT_RUN_TABLES 192	/* room that `tables` must have */
#define GT_REPORT_TABLES 16	/* most that one report makes */

/* opt->filter says what rows to look at (kinds and args are filled in here), the rest as in analysis.h. Each block is unpacked
 * once for all: analyses whose state splits see it on any thread, and each of the others one block after the other. Figures are the same
 * for any number of threads.
 * Returns how many tables were made, the caller's to free also when it is negative (then NULL or not). */
int gt_run(struct gt_reader *r, const struct gt_analysis *const *chosen, unsigned n, struct gt_analysis_options *opt, unsigned threads,
	   struct gt_table *tables[GT_RUN_TABLES], struct gt_err *err);
const struct gt_analysis *gt_analysis_find(const char *name);	/* NULL: no such report */
#endif
