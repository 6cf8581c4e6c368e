/* How many of the allocations that ask again for what was given back a program makes in each of its
 * steps. */
#ifndef GT_STEP_CHURN_H
#define GT_STEP_CHURN_H
#include "analyze/memory/alloc_sites.h"

/* Looks for the steps of the programs (steps.h), where anything was asked for again, and reads the
 * trace once more for what of it was in them. Fills in `in_steps` and `steps` of the groups. 0 or
 * negative. */
int gt_churn_per_step(struct gt_alloc_groups *g, const struct gt_report_state *a,
	const struct gt_process_slots *where, struct gt_err *err);
#endif
