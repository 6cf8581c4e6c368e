/* `gtanalyze diff A B`: reads both files and prints how B differs from A. */
#ifndef GT_COMPARE_TRACES_H
#define GT_COMPARE_TRACES_H
#include "analyze/cli/analyze_job.h"

/* Prints errors, and sets the job's status. */
void gt_compare_traces(struct gt_analyze_job *job, char *const files[2]);
#endif
