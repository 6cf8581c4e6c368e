/* The idle time of GPUs by what the launching threads did (host_shares.h), by step, or by class of
 * step. A step is the time on the GPU from its first operation to that of the next step. A moment
 * counts for the loop of the process whose thread launched the operation that ends the gap. */
#ifndef GT_STEP_SHARES_H
#define GT_STEP_SHARES_H
#include "analyze/idle/idle.h"
#include "analyze/steps/loops.h"

/* Slow: after the warm-up, and above the limit of the loop. A loop without a limit has none. */
enum gt_step_class { GT_STEP_WARM_UP, GT_STEP_USUAL, GT_STEP_SLOW, GT_STEP_CLASSES };
enum gt_step_class gt_step_class(const struct gt_loop *l, size_t step); /* step: from 0 */

struct gt_step_shares {
	struct gt_host_shares shares; /* complete after gt_idle_finish() */
	/* private */
	const struct gt_loops *loops; /* borrowed */
	const struct gt_idle *idle;
	bool by_class;
	uint32_t first[GT_LOOPS_MOST + 1]; /* by loop: its first group */
	struct {
		uint32_t device, thread, loop; /* of the last moment; loop: UINT32_MAX: none */
	} last;
};
#define GT_STEP_OUTSIDE (UINT32_MAX - 1) /* the group of time in no step of the selected range */

/* After the engine's init, before the first row. Release it in any case. */
void gt_step_shares_init(struct gt_step_shares *s, struct gt_idle *idle,
	const struct gt_loops *loops, bool by_class);
void gt_step_shares_release(struct gt_step_shares *s);
/* Is the step (from 0) in the selected range? */
bool gt_step_is_selected(const struct gt_step_shares *s, const struct gt_loop *l, size_t step);
/* The groups of a loop: its steps, or its classes. */
static inline uint32_t gt_step_group(const struct gt_step_shares *s, size_t loop, size_t i)
{
	return s->first[loop] + (uint32_t)i;
}
#endif
