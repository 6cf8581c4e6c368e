/* Processes that preempt threads, by the time for which the threads then do not run
 * (formats/trace/write/sched_rows.h). */
#ifndef GT_PREEMPTIONS_H
#define GT_PREEMPTIONS_H
#include "formats/trace/read/reader.h"

#define GT_PREEMPTIONS_MAX 256u /* processes; further ones are not counted */

struct gt_preemptions { /* zeroed: empty */
	struct gt_preemption {
		uint64_t pid, ns;
	} list[GT_PREEMPTIONS_MAX];
	unsigned n;
	uint64_t ns; /* of all processes */
};

/* Adds the rows of a run; with arguments. */
void gt_preemptions_run(struct gt_preemptions *p, const struct gt_cols *cols);
/* The process with the most time. NULL: there is none. */
const struct gt_preemption *gt_preemptions_most(const struct gt_preemptions *p);
#endif
