/* The lines of the timeline that show what something stood at: counters of the trace, and how many launches wait for its GPUs. */
#ifndef GT_COUNTER_LANES_H
#define GT_COUNTER_LANES_H
#include "viewer/view/queue_lanes.h"
#include "viewer/view/scene.h"

struct gt_counter_lanes {		/* zero-initialised: to be released, and nothing else */
	struct gt_scene *scene;
	struct gt_counter_cells *gauges;
	struct gt_queue_lanes *queues;
	struct gt_counter_key *counters;	/* that the trace has */
	size_t ncounters;
	struct gt_cell_window window;	/* that is asked for: */
	struct gt_lane_line *lines;	/* no others */
	size_t n, cap;
	bool more;			/* of counters */
	bool beyond;			/* so much is to be read for the queues that no frame waits for them */
};

int gt_counter_lanes_init(struct gt_counter_lanes *g, struct gt_scene *s, struct gt_err *err);	/* 0 or negative; to be released in both cases */
void gt_counter_lanes_release(struct gt_counter_lanes *g);
/* The scene's archive is about to be closed; it goes on with another one of the same trace, with more in it. As gt_counter_lanes_init. */
void gt_counter_lanes_detach(struct gt_counter_lanes *g);
int gt_counter_lanes_reopen(struct gt_counter_lanes *g, struct gt_err *err);
void gt_counter_lanes_describe(const struct gt_counter_lanes *g, struct gt_lanes_known *known);	/* fills in what lanes ask of them; borrowed */
/* What is wanted from now on: those among these lines, in the scene's window. 0 or negative. */
int gt_counter_lanes_request(struct gt_counter_lanes *g, const struct gt_lane_line *lines, size_t n, struct gt_err *err);
/* Goes on with counters for some us at most (0: until it is done). 1: there is more to do, 0, negative. */
int gt_counter_lanes_step(struct gt_counter_lanes *g, uint64_t us, struct gt_err *err);
/* Likewise waits for the thread that counts launches. *found: now it is known, or known anew, which queues there are, so the list of lanes may
 * be another. */
int gt_counter_lanes_wait(struct gt_counter_lanes *g, uint64_t us, bool *found, struct gt_err *err);
void gt_counter_lanes_pause(struct gt_counter_lanes *g);		/* they are not looked at for now */
void gt_counter_lanes_stop(struct gt_counter_lanes *g);		/* and no thread is at work for them until a step */
unsigned gt_counter_lanes_percent(const struct gt_counter_lanes *g);	/* 100: all that will be is known */
/* The window's cells of a line that was wanted. */
void gt_counter_lanes_get(const struct gt_counter_lanes *g, const struct gt_lane_line *line, struct gt_counter_cell *to);
#endif
