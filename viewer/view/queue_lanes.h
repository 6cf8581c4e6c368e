/* Queue lanes: the number of launches that wait for the GPUs in each cell of a window, by the
 * accounting of the queues report (analyze/launch/queue_cells.h).
 *
 * A thread reads the GPUs' rows with its own reader. Its first job reads the whole trace: the
 * result has cells fine enough for a few zoom levels, and tells how far around a time later jobs
 * must read. At a closer zoom a job reads the window with a margin on both sides and finer
 * cells, so that the next keys find them. A job starts after the request has not changed for a
 * moment, and is cancelled when its result is no longer needed. The most recent results are
 * kept. Cells without a result are unknown.
 *
 * A growing trace is read again from time to time, and no frame waits for it. A running job
 * continues while the archive is replaced, and its result is shown up to the end of the trace at
 * the job's start. The thread then rests for a multiple of the job's duration. */
#ifndef GT_QUEUE_LANES_H
#define GT_QUEUE_LANES_H
#include "analyze/launch/queue_cells.h"
#include "viewer/cells/counter_cells.h"
#include "viewer/lanes/window.h"

struct gt_queue_lanes;
/* The archive is borrowed and must live longer. NULL: no memory. new: free it. */
struct gt_queue_lanes *gt_queue_lanes_new(struct gt_archive *a, const struct gt_time_extent *e);
void gt_queue_lanes_free(struct gt_queue_lanes *q); /* cancels its job; NULL is fine */
/* True if the segment has waiting launches, as far as is known. */
bool gt_queue_lanes_has_queue(const struct gt_queue_lanes *q, uint32_t segment);
/* number of complete reads; from the first one on the answer above is certain */
unsigned gt_queue_lanes_read_count(const struct gt_queue_lanes *q);
/* detach: call before its archive is closed; the request ends. reopen: continues with a newer
 * archive of the same trace; 0 or -ENOMEM. */
void gt_queue_lanes_detach(struct gt_queue_lanes *q); /* NULL is fine */
int gt_queue_lanes_reopen(
	struct gt_queue_lanes *q, struct gt_archive *a, const struct gt_time_extent *e);
/* Sets the request (copied): streams or devices; if it is the current one, that goes on. 0 or
 * negative. */
int gt_queue_lanes_request(struct gt_queue_lanes *q, const struct gt_cell_window *w,
	const struct gt_queue_id *of, size_t n, struct gt_err *err);
/* Waits for at most `us` µs (0: until all is known, also of new data). 1: a job is running, 0:
 * complete, negative: error. */
int gt_queue_lanes_step(struct gt_queue_lanes *q, uint64_t us, struct gt_err *err);
/* its result is not needed now; the next step continues. NULL is fine */
void gt_queue_lanes_pause(struct gt_queue_lanes *q);
/* also ends its thread until the next step; NULL is fine */
void gt_queue_lanes_stop(struct gt_queue_lanes *q);
/* of the running job; 100: there is none */
unsigned gt_queue_lanes_percent(const struct gt_queue_lanes *q);
/* Copies the window's cells of a requested stream or device. */
void gt_queue_lanes_get(
	const struct gt_queue_lanes *q, const struct gt_queue_id *of, struct gt_counter_cell *to);
#endif
