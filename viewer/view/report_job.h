/* Runs reports of gtanalyze in a background thread with a reader of its own, one at a time, and
 * keeps recent results. */
#ifndef GT_REPORT_JOB_H
#define GT_REPORT_JOB_H
#include "analyze/core/run.h"
#include "viewer/model/archive.h"

struct gt_report_job;
/* The tables of a report of a time range; valid until it is released as often as it was taken. */
struct gt_report_result {
	struct gt_table *tables[GT_RUN_TABLES];
	unsigned n;
	/* by segment: the zero of times in the tables, segment's time */
	int64_t *origins;
	uint64_t cells; /* number of cells of all tables */
	unsigned users;
	char why[200]; /* not empty: the report failed, and there are no tables */
};
#define GT_REPORT_CELLS_MOST 2000000u /* limit of cells of unused results: about 50 MiB */

/* excluded: the globs of names that the trace was copied without, or NULL. Reports that need all
 * names refuse then. Both arguments are borrowed and must live longer. NULL: no memory. new: free
 * it. */
struct gt_report_job *gt_report_job_new(struct gt_archive *a, const char *excluded);
/* Cancels the running report, which may take until a block is decompressed. NULL is fine. */
void gt_report_job_free(struct gt_report_job *p);

/* The report of [from, to), viewer's time; everything: INT64_MIN, INT64_MAX. If the result exists
 * it is taken into *to; else it becomes the next report to run, and the running one is cancelled.
 * 1: taken, 0: not yet, negative. */
int gt_report_job_take(struct gt_report_job *p, const struct gt_analysis *what,
	struct gt_range range, struct gt_report_result **to, struct gt_err *err);
/* NULL is fine */
void gt_report_job_release(struct gt_report_result *r);
/* cancels the running report */
void gt_report_job_cancel(struct gt_report_job *p);
/* also waits for its thread to end; the next take starts it again */
void gt_report_job_stop(struct gt_report_job *p);
/* Waits at most `us` µs (0: until the end). 1: it is still running. */
int gt_report_job_wait(struct gt_report_job *p, uint64_t us);
unsigned gt_report_job_percent(const struct gt_report_job *p); /* of the running report */
#endif
