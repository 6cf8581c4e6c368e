/* The report "memory" with --by: the call stacks that hold the memory at the peak of a process. */
#ifndef GT_MEMORY_BY_STACK_H
#define GT_MEMORY_BY_STACK_H
#include "analyze/memory/alloc_sites.h"

/* The groups must have stacks (gt_memory_tracker.by_stack). by: enum gt_stack_by or
 * GT_STACK_WHOLE. The caller owns the table; NULL: err. */
struct gt_table *gt_memory_by_stack_table(const struct gt_alloc_groups *g,
	const struct gt_report_state *a, const struct gt_process_slots *where, unsigned by,
	struct gt_err *err);
#endif
