/* Reports of gtanalyze for the viewer: a thread makes them while the screen stays alive. It reads
 * the file by a reader of its own, one report at a time. What was made is kept, so that who comes
 * back to it has it at once. */
#ifndef GT_REPORT_JOB_H
#define GT_REPORT_JOB_H
#include "analyze/core/run.h"
#include "viewer/model/archive.h"

struct gt_report_job;
/* Tables of a report of a stretch of time; held until it is released as often as it was taken. */
struct gt_report_result {
	struct gt_table *tables[GT_RUN_TABLES];
	unsigned n;
	/* by segment: what times in the tables count from, segment's time */
	int64_t *origins;
	uint64_t cells; /* of all tables */
	unsigned held;
	char why[200]; /* not empty: it could not be made, and there are no tables */
};
#define GT_REPORTED_CELLS 2000000u /* kept at most, beside what is held: some 50 MiB */

/* The archive is borrowed and must live longer. NULL: no memory. new: free it. */
struct gt_report_job *gt_report_job_new(struct gt_archive *a);
/* ends what it is at; may take until a block is unpacked. NULL is fine */
void gt_report_job_free(struct gt_report_job *p);

/* The report of [from, to), the viewer's time; all of the trace: INT64_MIN, INT64_MAX. If it is
 * made it is taken and *to set; else it is what is made from now on, and what was being made for
 * others is given up. 1: it is there, 0: not yet, negative. */
int gt_report_job_take(struct gt_report_job *p, const struct gt_analysis *what,
	struct gt_range range, struct gt_report_result **to, struct gt_err *err);
/* NULL is fine */
void gt_report_job_release(struct gt_report_job *p, struct gt_report_result *r);
/* nobody wants what it is at any more */
void gt_report_job_leave(struct gt_report_job *p);
/* and its thread has ended, until something is wanted again */
void gt_report_job_rest(struct gt_report_job *p);
/* Waits for some us at most (0: until it is there). 1: there is more to wait for. */
int gt_report_job_wait(struct gt_report_job *p, uint64_t us);
unsigned gt_report_job_percent(const struct gt_report_job *p); /* of what it is at */
#endif
