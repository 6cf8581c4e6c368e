/* Periods with an empty queue: a GPU has finished all launched work and waits for the next launch.
 * The causes of idle time (idle.h) tell how much of it is launching and how much is code outside
 * CUDA; advice calls these launch-bound and host-bound.
 *
 * Figures are per device, over all its streams. A gap is a time between two operations in which the
 * device is idle. A gap is unqueued if the call that launched the next operation returned after the
 * gap began, the operation then started within GT_PROMPT_NS of this return (or before it), and the
 * gap is at most GT_LATE_NS long: in a longer gap the program does other work. An unqueued gap has
 * three parts: before the call, in the call, and from its return to the start on the GPU. If
 * several operations end a gap together, the call that returned first counts; graph nodes after the
 * first wait for no launch.
 *
 * A stretch is a longest sequence of unqueued gaps in which every operation starts within
 * GT_PROMPT_NS of the return of its call (so nothing queues) and no gap is longer than GT_LATE_NS.
 * It lasts from the start of its first gap to the end of its last gap. Its launches are the calls
 * whose work starts in it, including the one that ends a gap. Its busy time is all time outside
 * gaps, unqueued or not. */
#ifndef GT_STARVATION_H
#define GT_STARVATION_H
#include "analyze/launch/launch_grouping.h"

#define GT_PROMPT_NS 10000 /* H200: 1 to 5 us, rarely more */
#define GT_LATE_NS 1000000

struct gt_starvation {
	struct gt_launch_grouping *grouping; /* borrowed */
	struct gt_starvation_device *lanes;  /* one per device */
	size_t nlanes, cap;
	/* by device, numbered as tracks over all segments: 1 + index; NULL: none so far */
	uint32_t *lane;
	struct gt_top_n longest; /* the stretches with the most time in unqueued gaps */
};
void gt_starvation_init(struct gt_starvation *s, struct gt_launch_grouping *l);
/* in order of start */
int gt_starvation_op(struct gt_starvation *s, const struct gt_grouped_op *op, struct gt_err *err);
/* After the last operation: makes two tables, "unqueued" and "stretches". Returns 2 or negative. */
int gt_starvation_tables(struct gt_starvation *s, struct gt_table **tables, struct gt_err *err);
void gt_starvation_release(struct gt_starvation *s);
#endif
