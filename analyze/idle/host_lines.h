/* The shares of host_shares.h by line, function, module, stack or thread of the program. */
#ifndef GT_HOST_LINES_H
#define GT_HOST_LINES_H
#include "analyze/idle/idle.h"
#include "analyze/stacks/stack_sums.h"

/* `by` of gt_host_lines_collect, besides enum gt_stack_by and GT_STACK_WHOLE */
#define GT_HOST_BY_THREAD (GT_STACK_WHOLE + 1u)
/* Sides of the sums. Totals are ns; counts are samples: of idle time, those outside CUDA. */
#define GT_HOST_IDLE GT_STACK_CALLS
#define GT_HOST_TIME GT_STACK_GPU /* all processor time, not only in gaps */

struct gt_host_selection {
	const struct gt_host_shares *shares; /* NULL: those of the engine */
	uint32_t group;
	/* bits of enum gt_host_doing: only their idle time, without the processor time; 0: all */
	uint32_t doings;
};
/* Time without a stack has a row in parentheses. `to` is zero-initialised; release it either way. 0
 * or negative. */
int gt_host_lines_collect(struct gt_caller_sums *to, const struct gt_idle *s, unsigned by,
	const struct gt_host_selection *of, struct gt_err *err);
/* Why there are no shares, or NULL. */
const char *gt_host_why_unanswered(const struct gt_idle *s);
/* Notes which shares are statistical, and how much time is beyond their limit. */
void gt_host_note_samples(const struct gt_idle *s, struct gt_table *t);
#endif
