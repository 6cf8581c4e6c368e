/* --report: gtanalyze's default report of the trace, after the program has ended. */
#ifndef GT_FINAL_REPORT_H
#define GT_FINAL_REPORT_H
#include "formats/base/err.h"

/* Runs the gtanalyze beside gtcollect, and waits for it. Its messages are its own, and its exit
 * status is ignored. 0, or negative if it cannot be run. */
int gt_final_report_print(const char *trace, struct gt_err *err);
#endif
