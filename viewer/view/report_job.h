/* Reports of gtanalyze for the viewer: a thread makes them while the screen stays alive. It reads the file by a reader of its own, one
 * report at a time. What was made is kept, so that who comes back to it has it at once. */
#ifndef GT_REPORTER_H
#define GT_REPORTER_H
#include "analyze/core/run.h"
#include "viewer/model/archive.h"

struct gt_reporter;
/* Tables of a report of a stretch of time; held until it is released as often as it was taken. */
struct gt_reported {
	struct gt_table *tables[GT_RUN_TABLES];
	unsigned n;
	int64_t *origins;	/* by segment: what times in the tables count from, segment's time */
	uint64_t cells;		/* of all tables */
	unsigned held;
	char why[200];		/* not empty: it could not be made, and there are no tables */
};
#define GT_REPORTED_CELLS 2000000u	/* kept at most, beside what is held: some 50 MiB */

/* The archive is borrowed and must live longer. NULL: no memory. new: free it. */
struct gt_reporter *gt_reporter_new(struct gt_archive *a);
void gt_reporter_free(struct gt_reporter *p);		/* ends what it is at; may take until a block is unpacked. NULL is fine */

/* The report of [from, to), the viewer's time; all of the trace: INT64_MIN, INT64_MAX. If it is made it is taken and *to set; else it is
 * what is made from now on, and what was being made for others is given up. 1: it is there, 0: not yet, negative. */
int gt_reporter_take(struct gt_reporter *p, const struct gt_analysis *what, struct gt_range range, struct gt_reported **to,
		     struct gt_err *err);
void gt_reporter_release(struct gt_reporter *p, struct gt_reported *r);	/* NULL is fine */
void gt_reporter_leave(struct gt_reporter *p);		/* nobody wants what it is at any more */
void gt_reporter_rest(struct gt_reporter *p);		/* and its thread has ended, until something is wanted again */
/* Waits for some us at most (0: until it is there). 1: there is more to wait for. */
int gt_reporter_wait(struct gt_reporter *p, uint64_t us);
unsigned gt_reporter_percent(const struct gt_reporter *p);	/* of what it is at */
#endif
