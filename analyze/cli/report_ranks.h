/* Reports on several files as ranks of one run (ranks.h). */
#ifndef GT_REPORT_RANKS_H
#define GT_REPORT_RANKS_H
#include "analyze/cli/analyze_job.h"

/* Prints errors, and sets the job's status: the reports cover the files that can be read. */
void gt_report_ranks(struct gt_analyze_job *job, char **files, int n);
#endif
