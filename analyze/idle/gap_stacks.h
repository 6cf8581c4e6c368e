/* The call stack of the call that ended a gap. GPU work has the stack of its launch, except work of
 * a graph, which has that of the call that created its node: then the row of the graph launch has
 * it. A hash table by thread and start of the call finds this row; each slot holds the last row
 * only, since a gap needs a recent one. */
#ifndef GT_GAP_STACKS_H
#define GT_GAP_STACKS_H
#include "analyze/idle/idle.h"

struct gt_gap_stacks { /* zero-initialised: empty */
	struct gt_gap_launch {
		int64_t start;
		uint32_t thread, stack; /* stack: plus 1; 0: an empty slot */
	} * calls;
	bool no_memory; /* stacks of graph launches are missing */
};
/* Rows in the order of the file. */
void gt_gap_stacks_rows(
	struct gt_gap_stacks *g, const struct gt_idle *s, const struct gt_cols *cols);
/* The stack id in the segment of the call that launched the operation; GT_NONE: unknown. */
uint32_t gt_gap_stacks_of(const struct gt_gap_stacks *g, const struct gt_idle_op *op);
void gt_gap_stacks_release(struct gt_gap_stacks *g);
#endif
