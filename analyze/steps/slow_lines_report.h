/* The table "slow_lines" of the report "steps". */
#ifndef GT_SLOW_LINES_REPORT_H
#define GT_SLOW_LINES_REPORT_H
#include "analyze/steps/steps.h"

/* The caller owns it. NULL with err filled in. */
struct gt_table *gt_slow_lines_table(const struct gt_steps *s, struct gt_err *err);
/* Reads the trace once more. s: the steps of all lanes. 0 or negative. */
int gt_slow_lines_fill(const struct gt_steps *s, struct gt_table *t, struct gt_err *err);
#endif
