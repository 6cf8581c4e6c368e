/* The launches that wait for a GPU, per stream and device, over time: what they are is said here
 * and nowhere else, for the report (queue_depth.c) and for who draws them (queue_cells.h).
 *
 * A launch waits on its stream from the return of its call to the start of its work on the GPU. It
 * counts once, whatever it launches (a graph: on the stream on which its first node starts), and
 * not at all where its work began before the call returned. Copies and sets are launches like
 * kernels: they wait in the same queue. The depth of a device is that of its streams, added.
 *
 * A launch begins to wait long before its row, which is that of the work, comes by. So each launch
 * makes three moments (the call begins, the call returns, the work starts), and a timeline puts
 * them in order; it holds those of the last 130,000 launches, and what was launched still earlier
 * comes late: it is counted. Of work that starts behind a range the launches wait before it. */
#ifndef GT_QUEUES_H
#define GT_QUEUES_H
#include "analyze/launch/launch_grouping.h"

#define GT_QUEUES_MOST 65536u /* streams and devices: 5 MiB */

struct gt_queue { /* of a stream, or of a device */
	const struct gt_segment *seg;
	uint32_t track, device; /* of the segment */
	/* launches that wait; launching calls on it that have not returned */
	uint64_t depth, calling;
	/* a device: its streams that are full; and are so while one is calling */
	uint64_t nfull, nblocked;
	/* what it is now it has been since then; at first INT64_MIN */
	int64_t since;
};
static inline bool gt_queue_is_device(const struct gt_queue *l) { return l->device == l->track; }

struct gt_queues { /* the head of its owner's state: gt_launched is its head */
	struct gt_launched gpu;
	struct gt_queue *list;
	size_t n, cap;
	/* by track, numbered over all segments: 1 + index in the list; NULL: there is none so far
	 */
	uint32_t *number;
	/* The owner's. A queue stood as it says in [from, to): for each queue in order of time,
	 * without gaps, the first time from INT64_MIN on, never for no time. Behind the last one it
	 * is empty. */
	void (*stood)(struct gt_queues *q, const struct gt_queue *l, int64_t from, int64_t to);
	/* A piece of work, in order of its start: its queue (that of its device, where there are
	 * too many streams) and its device's, by their numbers in the list. 0 or negative. */
	int (*work)(struct gt_queues *q, const struct gt_launched_op *op, size_t queue,
		size_t device, struct gt_err *err);
	uint64_t late;   /* moments that came too late */
	uint64_t beyond; /* work of devices that have no queue any more */
	/* there are streams that have none: they count in their device's */
	bool streams_beyond;
	struct gt_moment *fed[3]; /* calls that begin, calls that return, work that starts */
	size_t nfed[3];
	const struct gt_segment *seg; /* of those */
	struct gt_time_merge line;
};

/* stood and work are set before. 0 or negative; to be released in both cases. */
int gt_queues_init(struct gt_queues *q, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
/* A run of GT_GPU rows, scanned by time and with their arguments. */
int gt_queues_run(struct gt_queues *q, const struct gt_cols *cols, struct gt_err *err);
int gt_queues_finish(struct gt_queues *q, struct gt_err *err); /* no more rows */
void gt_queues_release(struct gt_queues *q);
#endif
