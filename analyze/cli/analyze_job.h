/* What the command line asks gtanalyze to do, and the exit status so far. */
#ifndef GT_ANALYZE_JOB_H
#define GT_ANALYZE_JOB_H
#include "analyze/cli/program_options.h"
#include "analyze/cli/report_selection.h"
#include "analyze/core/exit_status.h"

struct gt_analyze_job {
	const struct gt_program_options *opt;
	const struct gt_report_selection *selection;
	struct gt_out *out;
	struct gt_out *page; /* --html: its documents (page_tables.h), in memory; else NULL */
	enum gt_exit status;
};
static inline void gt_analyze_job_add_status(struct gt_analyze_job *job, enum gt_exit status)
{
	job->status = gt_exit_worse(job->status, status);
}
#endif
