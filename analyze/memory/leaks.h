/* Leaks: memory that a program allocates repeatedly and never frees. Allocations of one size by one
 * function in one process are one group (alloc_sites.h). For each eighth of the window, the
 * permanent blocks of a group are the smallest number of live blocks at any time from its start to
 * the end of the recording. Blocks that are live at the end are no leak by themselves: programs may
 * end without frees. But if the number of permanent blocks grows in six of the eight parts, and by
 * ten in total, the group is a leak. */
#ifndef GT_LEAKS_H
#define GT_LEAKS_H
#include "analyze/core/evidence.h"
#include "analyze/memory/memory_tracker.h"
#include "analyze/idle/idle.h"

#define GT_LEAK_PARTS 8u
#define GT_LEAK_GROWS 6u   /* smallest number of parts in which it grows */
#define GT_LEAK_BLOCKS 10u /* smallest growth in blocks */

struct gt_leaks {
	const struct gt_idle *idle;
	struct gt_memory_tracker tracker;
	struct gt_leak *list; /* by group */
	size_t n, cap;
};
struct gt_leaks_sum {
	uint64_t groups, blocks, bytes; /* groups that grow; their growth; saturating */
	/* the group with the most bytes; NULL: there is none. Borrowed */
	const struct gt_alloc_group *most;
	const struct gt_segment *seg; /* of this group, likewise the next two */
	uint64_t most_blocks, window; /* window: ns */
	unsigned parts;               /* in which it grew */
	/* the call of its last allocation; the type is GT_NONE */
	struct gt_evidence last;
	/* allocations; with known size and address; not tracked; lost rows of any kind */
	uint64_t allocs, tracked, not_followed, lost;
};

/* After gt_idle_finish; s is borrowed. All return 0 or negative. */
int gt_leaks_init(struct gt_leaks *l, const struct gt_idle *s, struct gt_err *err);
bool gt_leaks_needs(const struct gt_type *type);
/* as gt_held_run */
int gt_leaks_run(struct gt_leaks *l, const struct gt_cols *cols, struct gt_err *err);
int gt_leaks_finish(struct gt_leaks *l, struct gt_leaks_sum *to, struct gt_err *err);
void gt_leaks_release(struct gt_leaks *l);
#endif
