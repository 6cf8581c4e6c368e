/* The report "host" by step: of each step the idle time of the GPU, and its first line. */
#ifndef GT_HOST_STEPS_H
#define GT_HOST_STEPS_H
#include "analyze/idle/host_lines.h"
#include "analyze/steps/step_shares.h"

#define GT_HOST_BY_STEP (GT_HOST_BY_THREAD + 1u) /* `by` of the report */

struct gt_host_steps { /* zero-initialised */
	struct gt_idle *idle;
	struct gt_loops loops;
	struct gt_step_shares shares;
};
/* Reads the trace to find its steps; before the first row. 0 or negative. */
int gt_host_steps_init(struct gt_host_steps *h, struct gt_idle *idle, struct gt_err *err);
/* Makes the table; cannot: why there is no answer, or NULL. Returns 1 or negative. */
int gt_host_steps_finish(
	struct gt_host_steps *h, struct gt_table **table, const char *cannot, struct gt_err *err);
void gt_host_steps_release(struct gt_host_steps *h);
#endif
