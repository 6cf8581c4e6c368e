/* Gauges: what a counter stood at in each cell of a window. A value holds from its sample until the next one of its type on its track;
 * what it was before the first sample is not known. */
#ifndef GT_COUNTER_CELLS_H
#define GT_COUNTER_CELLS_H
#include "viewer/cells/lane_cells.h"

struct gt_counter_key { uint32_t segment, track, type; };
struct gt_counter_cell {
	bool known;		/* was there a sample in it or before it? The rest counts only then */
	double low, high, last;	/* the least and the most that it stood at in the cell; at the cell's end */
	bool some, likely;	/* it may have been more; it is so likely, not certainly: never of a counter */
};
/* The gauges of a trace by segment, track and type: those that the first and the last samples of each track are of; GT_COUNTERS_MAX of
 * them at most. *list: new: free it. 0 or negative. */
int gt_list_counters(struct gt_archive *a, struct gt_counter_key **list, size_t *n, struct gt_err *err);
#define GT_COUNTERS_MAX 1024u

struct gt_counter_cells;
struct gt_counter_cells *gt_counter_cells_new(struct gt_archive *a);		/* NULL: no memory. new: free it */
void gt_counter_cells_free(struct gt_counter_cells *g);			/* NULL is fine */
/* Its archive is about to be closed: nothing is wanted then. It goes on with another one of the same trace, with more in it: cells before the
 * first sample that has come (unchanged_until.h) are what they were, and are not worked out again if all was known. */
void gt_counter_cells_detach(struct gt_counter_cells *g);			/* NULL is fine */
void gt_counter_cells_reopen(struct gt_counter_cells *g, struct gt_archive *a);
/* What is wanted from now on (copied). 0 or negative. */
int gt_counter_cells_request(struct gt_counter_cells *g, const struct gt_cell_window *w, const struct gt_counter_key *of, size_t n, struct gt_err *err);
/* Goes on for some us at most (0: until it is done). 1: there is more to do and cells may still change, 0, negative. */
int gt_counter_cells_step(struct gt_counter_cells *g, uint64_t us, struct gt_err *err);
void gt_counter_cells_get(const struct gt_counter_cells *g, size_t i, struct gt_counter_cell *to);	/* the window's, of gauge i */
#endif
