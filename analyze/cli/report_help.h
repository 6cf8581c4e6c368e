/* Explains one report: REPORT --help. */
#ifndef GT_REPORT_HELP_H
#define GT_REPORT_HELP_H
#include "analyze/cli/report_options.h"

/* Prints, to the standard output, the question that the report answers, its options, its tables
 * with their columns and units, when it cannot answer, and examples. report: as configured, or as
 * in gt_analyses; options: what gt_report_options_table() collected, and the values that were
 * given. The tables are those that the report makes of an empty trace, so no second list of them
 * exists. 0 or negative. */
int gt_report_help(const struct gt_analysis *report, const struct gt_report_options *options,
	bool colours, struct gt_err *err);
#endif
