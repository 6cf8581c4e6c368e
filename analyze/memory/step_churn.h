/* Repeated allocations per step: allocations after a free of the same size, in the steps of a
 * program. */
#ifndef GT_STEP_CHURN_H
#define GT_STEP_CHURN_H
#include "analyze/memory/alloc_sites.h"

/* Finds the steps of the programs (steps.h), if there are repeated allocations, and reads the trace
 * again to count those in steps. Fills in `in_steps` and `steps` of the groups. 0 or negative. */
int gt_churn_per_step(struct gt_alloc_groups *g, const struct gt_report_state *a,
	const struct gt_process_slots *where, struct gt_err *err);
#endif
