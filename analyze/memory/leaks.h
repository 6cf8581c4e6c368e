/* Memory that a program asks for again and again and does not give back. Allocations of one size by
 * one function in one process are one (alloc_groups.h). At each eighth of the window it is known
 * how many of them are there for good: the fewest that are alive at any time from then on, up to
 * the end of what was recorded. That they are alive at the end is no leak, programs end so; but
 * where that number grew in six of the eight parts, and by ten, the program holds more and more. */
#ifndef GT_LEAKS_H
#define GT_LEAKS_H
#include "analyze/core/evidence.h"
#include "analyze/memory/memory_tracker.h"
#include "analyze/idle/idle.h"

#define GT_LEAK_PARTS 8u
#define GT_LEAK_GROWS 6u   /* parts at least in which it does */
#define GT_LEAK_BLOCKS 10u /* by so many at least */

struct gt_leaks {
	const struct gt_idle *idle;
	struct gt_memory_tracker held;
	struct gt_leak *list; /* by group */
	size_t n, cap;
};
struct gt_leaks_sum {
	uint64_t groups, blocks, bytes; /* that grow; by how much; saturating */
	/* the one with the most bytes; NULL: there is none. Borrowed */
	const struct gt_alloc_group *most;
	const struct gt_segment *seg; /* its */
	uint64_t most_blocks, window; /* of that; window: ns */
	unsigned parts;               /* in which it grew */
	/* the call that allocated the last of them; its type is GT_NONE */
	struct gt_evidence last;
	/* allocations; of known size and address; not followed; losses of any rows */
	uint64_t allocs, tracked, not_followed, lost;
};

/* After gt_idle_finish; s is borrowed. All return 0 or negative. */
int gt_leaks_init(struct gt_leaks *l, const struct gt_idle *s, struct gt_err *err);
bool gt_leaks_want(const struct gt_type *type);
/* as gt_held_run */
int gt_leaks_run(struct gt_leaks *l, const struct gt_cols *cols, struct gt_err *err);
int gt_leaks_finish(struct gt_leaks *l, struct gt_leaks_sum *to, struct gt_err *err);
void gt_leaks_release(struct gt_leaks *l);
#endif
