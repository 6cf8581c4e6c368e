/* Stretches in which a GPU has nothing queued: it has done all it was given, and waits for the next
 * launch. How much of that is the launching itself and how much the program's own time, the causes
 * of idle time tell (idle.h), which advice calls launch-bound and host-bound.
 *
 * Per device, over all its streams. A gap is a time in which the device does nothing, between two
 * pieces of work. It is unqueued when the call that launched the next piece returned only after the
 * gap had begun, the piece then started within GT_PROMPT_NS of that return (or before it), and the
 * gap is no longer than GT_LATE_NS: in a longer one the program does not launch slowly, it does
 * something else. An unqueued gap has three parts: before the call began, within the call, and from
 * its return to the start on the GPU. Where several pieces end a gap together, the call that
 * returned first counts; nodes of a graph but the first wait for no launch.
 *
 * A stretch is a longest sequence of unqueued gaps between which every piece of work starts within
 * GT_PROMPT_NS of the return of its call, which is to say that nothing queues, and no gap is longer
 * than GT_LATE_NS. It lasts from the start of its first gap to the end of its last one, and its
 * launches are the calls whose work starts in it: the one that ends a gap is in it. What is busy in
 * it is all but its gaps, unqueued or not. */
#ifndef GT_STRETCHES_H
#define GT_STRETCHES_H
#include "analyze/launch/launch_grouping.h"

#define GT_PROMPT_NS 10000 /* H200: 1 to 5 us, rarely more */
#define GT_LATE_NS 1000000

struct gt_stretches {
	struct gt_launched *launched;  /* borrowed */
	struct gt_stretch_lane *lanes; /* one per device */
	size_t nlanes, cap;
	/* by device, numbered as tracks over all segments: 1 + index; NULL: none so far */
	uint32_t *lane;
	struct gt_top_n longest; /* those with the most time in unqueued gaps */
};
void gt_stretches_init(struct gt_stretches *s, struct gt_launched *l);
/* in order of start */
int gt_stretches_op(struct gt_stretches *s, const struct gt_launched_op *op, struct gt_err *err);
/* No more work: two tables, "unqueued" and "stretches". Returns 2 or negative. */
int gt_stretches_tables(struct gt_stretches *s, struct gt_table **tables, struct gt_err *err);
void gt_stretches_release(struct gt_stretches *s);
#endif
