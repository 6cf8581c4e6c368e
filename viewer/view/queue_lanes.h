/* How many launches wait for the GPUs in each cell of a window, by the accounting of the queues report (analyze/launch/queue_cells.h).
 *
 * That takes reading the GPUs' rows, which a thread does, by a reader of its own. The first time it reads all of them: then the whole run
 * is known in cells fine enough for a few zoom levels, and how far it has to look around any time. Nearer it reads what lies around the
 * window, on either side of it and finer than it, so that the next keys find it there; it begins when nobody has asked for another
 * window for a moment, and is given up when it is of no use any more. What was made last is kept. Until a cell is known it says so.
 *
 * Of a trace that grows all is read again and again, and nobody waits for that: a thread that is at it goes on while the archive is another
 * one, and what it has made is shown, as far as the trace went when it began. Then it rests for some times as long as that took. */
#ifndef GT_QUEUE_LANES_H
#define GT_QUEUE_LANES_H
#include "analyze/launch/queue_cells.h"
#include "viewer/cells/counter_cells.h"
#include "viewer/lanes/window.h"

struct gt_queue_lanes;
/* The archive is borrowed and must live longer. NULL: no memory. new: free it. */
struct gt_queue_lanes *gt_queue_lanes_new(struct gt_archive *a, const struct gt_time_extent *e);
void gt_queue_lanes_free(struct gt_queue_lanes *q);		/* ends what it is at; NULL is fine */
/* Has the segment launches that wait? As far as is known by now: it may turn out that it has none. */
bool gt_queue_lanes_has_queue(const struct gt_queue_lanes *q, uint32_t segment);
unsigned gt_queue_lanes_read_count(const struct gt_queue_lanes *q);	/* how many times all was read. Once: then that is certain */
/* Its archive is about to be closed: nothing is wanted then. It goes on with another one of the same trace, with more in it. Again: 0 or
 * -ENOMEM. */
void gt_queue_lanes_detach(struct gt_queue_lanes *q);		/* NULL is fine */
int gt_queue_lanes_reopen(struct gt_queue_lanes *q, struct gt_archive *a, const struct gt_time_extent *e);
/* What is wanted from now on (copied): streams or devices. 0 or negative. */
int gt_queue_lanes_request(struct gt_queue_lanes *q, const struct gt_cell_window *w, const struct gt_queue_of *of, size_t n, struct gt_err *err);
/* Waits for some us at most (0: until all is known, of what has come, too). 1: it is at it, 0: all is known that will be, negative. */
int gt_queue_lanes_step(struct gt_queue_lanes *q, uint64_t us, struct gt_err *err);
void gt_queue_lanes_pause(struct gt_queue_lanes *q);		/* nobody waits for it now; a step begins again */
void gt_queue_lanes_stop(struct gt_queue_lanes *q);		/* and its thread has ended, until then */
unsigned gt_queue_lanes_percent(const struct gt_queue_lanes *q);	/* of what it is at; 100: of nothing */
/* The window's cells of one of those that were wanted. */
void gt_queue_lanes_get(const struct gt_queue_lanes *q, const struct gt_queue_of *of, struct gt_counter_cell *to);
#endif
