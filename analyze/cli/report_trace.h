/* Runs the selected reports on one open trace and prints their tables. */
#ifndef GT_REPORT_TRACE_H
#define GT_REPORT_TRACE_H
#include "analyze/cli/analyze_job.h"
#include "analyze/ranks/ranks.h"

/* One file, several files as one, or one of several files. */
struct gt_report_subject {
	const char *name; /* in messages */
	struct gt_reader *reader;
	const struct gt_ranks *ranks; /* several files read as one; NULL: one file */
	const int64_t *origins;       /* of times, shared with other files; NULL: the file's own */
	bool several;                 /* tables in csv and tsv have a line with the file name */
	bool no_header;               /* the header was printed before */
};
/* The job's status becomes worse if answers, gates or damage require it. Returns 0, or negative
 * with err filled in, which the caller prints. */
int gt_report_trace(
	struct gt_analyze_job *job, const struct gt_report_subject *s, struct gt_err *err);
#endif
