/* Idle time while a thread synchronises (idle.h), by the call and by its target: a stream, or the
 * kind of target. */
#ifndef GT_SYNC_TARGETS_H
#define GT_SYNC_TARGETS_H
#include "analyze/idle/idle.h"

struct gt_sync_targets { /* zeroed: empty */
	/* hash table by thread and start; stream: 1 + its number, or 0: a free slot */
	struct gt_sync_call {
		uint32_t thread, stream;
		int64_t start;
	} * calls;
	struct gt_sync_target_sum {
		const char *call; /* its name, borrowed */
		/* its number over all segments; GT_NONE: unknown, or the target is no stream */
		uint32_t stream;
		uint64_t ns, gaps;
		int64_t longest; /* the largest sum in one gap */
		uint32_t device; /* the current gap, and its sum in it */
		uint64_t gap;
		int64_t now;
	} * list;
	size_t n, cap, last;
	bool no_memory;
};

/* Adds the rows of a run that have the stream for which a call waits. */
void gt_sync_targets_rows(
	struct gt_sync_targets *a, const struct gt_idle *s, const struct gt_cols *cols);
void gt_sync_targets_slice(
	struct gt_sync_targets *a, const struct gt_idle *s, const struct gt_idle_slice *slice);
void gt_sync_targets_reset(struct gt_sync_targets *a); /* discards the slices */
/* NULL: err. The caller frees it. */
struct gt_table *gt_sync_targets_table(
	struct gt_sync_targets *a, const struct gt_idle *s, struct gt_err *err);
void gt_sync_targets_release(struct gt_sync_targets *a);
#endif
