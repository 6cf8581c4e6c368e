/* Lane cells: what a track did in each cell of a time range.
 *
 * A summary level whose buckets each lie within one cell (cell_window.h) gives exact sums of the
 * cells without opening a block. Buckets that contain an end of the window do not: only the blocks
 * with rows in the finest of them are read then. Otherwise the strip is first filled roughly from
 * the finest level. Then the blocks are read in order of their start, each through its own summary
 * if that is fine enough, else through its rows. The cells become exact from left to right.
 * gt_lane_cells_step does a part of this work, and the screen shows the intermediate result between
 * two steps.
 *
 * Exact cells are reused when the same strip is requested for another window or for a trace that
 * has grown. They are reused from the window's first cell up to the start of the first new row
 * (unchanged_until.h), and merged if cells consist of several of them now. Only the blocks behind
 * them are read. An old start of a new row reduces what can be reused.
 *
 * Calls that were open at the end of the recording are busy time too, but no summary has them.
 * They are few and are drawn over the cells (unfinished_calls.h). */
#ifndef GT_LANE_CELLS_H
#define GT_LANE_CELLS_H
#include "viewer/cells/cell_window.h"
#include "viewer/model/block_schedule.h"

/* Kernels of communication libraries are a category of their own. Summaries do not know it, so
 * cells of GPU work come from rows where there are such kernels, unless there are very many rows.
 */
#define GT_CELL_COMMUNICATION GT_GRID_COMMUNICATION
const char *gt_cell_category_word(unsigned category);

enum gt_cell_certainty {
	GT_CELL_EXACT,
	GT_CELL_ROUGH,   /* its part of a wider bucket */
	GT_CELL_UNKNOWN, /* nothing is known yet */
	GT_CELL_DAMAGED  /* a block with rows in this cell cannot be read */
};
struct gt_cell_sums {
	enum gt_cell_certainty sureness;
	uint64_t busy; /* ns covered by at least one row; at most the cell's width */
	/* of the rows that start in the cell; bytes of samples: the time they stand for, ns */
	uint64_t count, bytes;
	uint64_t longest; /* ns: longest of these rows */
	/* its start, segment's time; 0 if there is none or the cell is rough */
	int64_t longest_at;
	/* the category that covers most of the busy time, or GT_CELL_COMMUNICATION */
	uint8_t category;
	/* number of unfinished calls, in the cell where the recording ended */
	uint32_t open;
};

struct gt_lane_cells;
/* NULL: no memory. new: free it */
struct gt_lane_cells *gt_lane_cells_new(struct gt_archive *a);
void gt_lane_cells_free(struct gt_lane_cells *s);
/* detach: call before its archive is closed; the request ends. reopen: continues with a newer
 * archive of the same trace; the next request reuses the exact cells. */
void gt_lane_cells_detach(struct gt_lane_cells *s); /* NULL is fine */
void gt_lane_cells_reopen(struct gt_lane_cells *s, struct gt_archive *a);
/* Sets the request: these strips (copied) in this window. Cells that summaries give exactly are
 * known on return. 1; 0: the current request is the same, and goes on; negative: error. */
int gt_lane_cells_request(struct gt_lane_cells *s, const struct gt_cell_window *w,
	const struct gt_strip_key *of, size_t n, struct gt_err *err);
/* Whether later requests also count the rows that overlap the start of the window. Their blocks
 * must be read, so it takes longer. */
void gt_lane_cells_count_entering(struct gt_lane_cells *s, bool on);
/* The rows of strip i at a depth that start before the window and end in it or later: count, bytes,
 * longest. sureness GT_CELL_UNKNOWN: not known yet, or not requested. */
struct gt_cell_sums gt_lane_cells_entering(const struct gt_lane_cells *s, size_t i, unsigned depth);
/* of the current request; without one it has no cells */
const struct gt_cell_window *gt_lane_cells_window(const struct gt_lane_cells *s);
/* Works for at most `us` µs (0: until done). 1: there is more to do, 0: all cells are exact,
 * negative: error. */
int gt_lane_cells_step(struct gt_lane_cells *s, uint64_t us, struct gt_err *err);
/* of the blocks to read: 100 when done */
unsigned gt_lane_cells_percent(const struct gt_lane_cells *s);
/* Copies the window's cells of strip i at a depth to to[]. */
void gt_lane_cells_get(
	const struct gt_lane_cells *s, size_t i, unsigned depth, struct gt_cell_sums *to);
#endif
