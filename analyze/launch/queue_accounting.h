/* The number of launches that wait for a GPU, per stream and device, over time. The report
 * (queue_depth.c) and the viewer (queue_cells.h) share it.
 *
 * A launch waits on its stream from the return of its call to the start of its work on the GPU. It
 * counts once, whatever it launches (a graph: on the stream of its first node), and not at all if
 * its work began before the call returned. Copies and sets are launches like kernels: they wait in
 * the same queue. The depth of a device is the sum over its streams.
 *
 * A launch begins to wait long before the row of its work. So each launch becomes three moments
 * (the call begins, the call returns, the work starts), which gt_time_merge sorts. It holds the
 * moments of the last 130,000 launches; earlier ones come too late and are counted. A launch waits
 * in a range also if its work starts after the range. */
#ifndef GT_QUEUES_H
#define GT_QUEUES_H
#include "analyze/launch/launch_grouping.h"

#define GT_QUEUES_MOST 65536u /* streams and devices: 5 MiB */

struct gt_queue { /* of a stream, or of a device */
	const struct gt_segment *seg;
	uint32_t track, device; /* of the segment */
	/* launches that wait; launching calls on it that have not returned */
	uint64_t depth, calling;
	/* of a device: its full streams; those of them with a call that has not returned */
	uint64_t nfull, nblocked;
	/* the time from which these values are valid; at first INT64_MIN */
	int64_t since;
};
static inline bool gt_queue_is_device(const struct gt_queue *l) { return l->device == l->track; }

struct gt_queues { /* the first member of its owner's state; begins with gt_launched */
	struct gt_launch_grouping gpu;
	struct gt_queue *list;
	size_t n, cap;
	/* by track number: 1 + index in the list; NULL: empty so far */
	uint32_t *number;
	/* Callback of the owner: the values of the queue were valid in [from, to). For each queue
	 * in order of time without gaps; the first time from INT64_MIN on; from < to. After the
	 * last call the queue is empty. */
	void (*on_values)(struct gt_queues *q, const struct gt_queue *l, int64_t from, int64_t to);
	/* Callback of the owner: an operation, in order of start, with the indices of its queue (of
	 * its device if there are too many streams) and of its device. 0 or negative. */
	int (*work)(struct gt_queues *q, const struct gt_grouped_op *op, size_t queue,
		size_t device, struct gt_err *err);
	uint64_t late;   /* moments that came too late */
	uint64_t beyond; /* operations of devices beyond GT_QUEUES_MOST */
	/* streams beyond GT_QUEUES_MOST: they count for their device only */
	bool streams_beyond;
	struct gt_moment *fed[3]; /* calls that begin, calls that return, work that starts */
	size_t nfed[3];
	const struct gt_segment *seg; /* of those */
	struct gt_time_merge line;
};

/* Set stood and work before. 0 or negative; release it in both cases. */
int gt_queues_init(struct gt_queues *q, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
/* A run of GT_GPU rows, GT_BY_TIME and with arguments. */
int gt_queues_run(struct gt_queues *q, const struct gt_cols *cols, struct gt_err *err);
int gt_queues_finish(struct gt_queues *q, struct gt_err *err); /* after the last row */
void gt_queues_release(struct gt_queues *q);
#endif
