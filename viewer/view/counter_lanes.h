/* Counter lanes: the lanes that show values over time: counters of the trace, and the number of
 * launches that wait for its GPUs. */
#ifndef GT_COUNTER_LANES_H
#define GT_COUNTER_LANES_H
#include "viewer/view/queue_lanes.h"
#include "viewer/view/scene.h"

/* zero-initialised: only gt_counter_lanes_release may follow */
struct gt_counter_lanes {
	struct gt_scene *scene;
	struct gt_counter_cells *gauges;
	struct gt_queue_lanes *queues;
	struct gt_counter_key *counters; /* the counters of the trace */
	size_t ncounters;
	/* the queues need so much reading that no frame waits for them */
	bool is_too_large;
};

/* 0 or negative; to be released in both cases */
int gt_counter_lanes_init(struct gt_counter_lanes *g, struct gt_scene *s, struct gt_err *err);
void gt_counter_lanes_release(struct gt_counter_lanes *g);
/* detach: call before the scene's archive is closed. reopen: continues with a newer archive of
 * the same trace; returns like gt_counter_lanes_init. */
void gt_counter_lanes_detach(struct gt_counter_lanes *g);
int gt_counter_lanes_reopen(struct gt_counter_lanes *g, struct gt_err *err);
/* fills in the callbacks for lanes; borrowed */
void gt_counter_lanes_describe(const struct gt_counter_lanes *g, struct gt_lanes_callbacks *known);
/* Sets the request: the counter lanes among these lines, in the scene's window. 0 or negative. */
int gt_counter_lanes_request(
	struct gt_counter_lanes *g, const struct gt_lane_line *lines, size_t n, struct gt_err *err);
/* Works for at most `us` µs (0: until done) on the numbers of waiting launches; for counters there
 * is gt_counter_cells_step. *found: the set of queues became known or changed, so the list of lanes
 * may change. 1: there is more to do, 0: done, negative: error. */
int gt_counter_lanes_wait(struct gt_counter_lanes *g, uint64_t us, bool *found, struct gt_err *err);
/* Copies the window's cells of a requested line. */
void gt_counter_lanes_get(const struct gt_counter_lanes *g, const struct gt_lane_line *line,
	struct gt_counter_cell *to);
#endif
