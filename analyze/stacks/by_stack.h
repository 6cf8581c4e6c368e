/* The option --by line|function|module|stack of reports of calls and GPU work: with it, the report
 * has one row for each place in the program that made the calls. */
#ifndef GT_BY_STACK_H
#define GT_BY_STACK_H
#include "analyze/core/report.h"
#include "analyze/stacks/stack_sums.h"

enum gt_by_stack_rows { GT_BY_STACK_CALLS, GT_BY_STACK_KERNELS };
/* Adapts a report to --by, which it must list in its options: it then has one table, named after
 * the report with "_by" behind it. Without the option it stays as it is. */
int gt_by_stack_configure(struct gt_configured_report *c, const struct gt_analysis_options *opt,
	enum gt_by_stack_rows rows, struct gt_err *err);
/* Reads the text of --by. An enum gt_stack_by or GT_STACK_WHOLE; negative: err names the word. */
int gt_by_stack_read(const char *text, struct gt_err *err);
/* Why there is no stack at all, or NULL. */
const char *gt_why_no_stacks(struct gt_reader *r);
#endif
