/* Runs any number of analyses over one trace. The file is decoded once for all of them. */
#ifndef GT_RUN_H
#define GT_RUN_H
#include "analyze/core/analysis.h"

#define GT_RUN_REPORTS 96   /* limit of reports in one run: more than exist */
#define GT_RUN_TABLES 192   /* capacity of `tables` */
#define GT_REPORT_TABLES 16 /* limit of tables of one report */

/* opt->filter selects rows (kinds and args are filled in here); the rest as in analysis.h. Each
 * block is unpacked once. Analyses whose state splits see it on any thread, others see one block
 * after the other. Figures do not depend on the number of threads.
 * Returns the number of tables, or a negative number. The caller frees the tables in both cases;
 * they may be NULL after an error. */
int gt_run(struct gt_reader *r, const struct gt_analysis *const *chosen, unsigned n,
	struct gt_analysis_options *opt, unsigned threads, struct gt_table *tables[GT_RUN_TABLES],
	struct gt_err *err);
const struct gt_analysis *gt_analysis_find(const char *name); /* NULL: no such report */
#endif
