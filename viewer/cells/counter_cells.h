/* Counter cells: the value of a counter in each cell of a window. A sample is valid until the
 * next one of the same type on the same track. Before the first sample the value is unknown. */
#ifndef GT_COUNTER_CELLS_H
#define GT_COUNTER_CELLS_H
#include "viewer/cells/lane_cells.h"

struct gt_counter_key {
	uint32_t segment, track, type;
};
struct gt_counter_cell {
	/* is there a sample in the cell or before it? If not, ignore the other members */
	bool known;
	/* smallest and largest value in the cell; value at the cell's end */
	double low, high, last;
	/* is_lower_bound: the value may have been larger. Both are false for
	 * counters of the trace */
	bool is_lower_bound, is_estimate;
};
/* Lists the counters of a trace by segment, track and type. Only the types of the first and last
 * samples of each track are found, GT_COUNTERS_MAX at most. *list: new: free it. 0 or negative. */
int gt_list_counters(
	struct gt_archive *a, struct gt_counter_key **list, size_t *n, struct gt_err *err);
#define GT_COUNTERS_MAX 1024u

struct gt_counter_cells;
/* NULL: no memory. new: free it */
struct gt_counter_cells *gt_counter_cells_new(struct gt_archive *a);
void gt_counter_cells_free(struct gt_counter_cells *g); /* NULL is fine */
/* detach: call before its archive is closed; the request ends. reopen: continues with a newer
 * archive of the same trace. If all cells were known, those before the first new sample
 * (unchanged_until.h) are reused. */
void gt_counter_cells_detach(struct gt_counter_cells *g); /* NULL is fine */
void gt_counter_cells_reopen(struct gt_counter_cells *g, struct gt_archive *a);
/* Sets the request (copied): these counters in this window; if it is the current one, that goes on.
 * 0 or negative. */
int gt_counter_cells_request(struct gt_counter_cells *g, const struct gt_cell_window *w,
	const struct gt_counter_key *of, size_t n, struct gt_err *err);
/* Works for at most `us` µs (0: until done). 1: there is more to do and cells may still change;
 * 0: done; negative: error. */
int gt_counter_cells_step(struct gt_counter_cells *g, uint64_t us, struct gt_err *err);
/* the window's cells of a requested counter */
void gt_counter_cells_get(const struct gt_counter_cells *g, const struct gt_counter_key *of,
	struct gt_counter_cell *to);
#endif
