/* Strips: what a track did in each cell of a stretch of time.
 *
 * Cells are 2^shift ns wide and lie on the grid of the summaries, so a cell is a whole number of buckets or a bucket a whole number of
 * cells. Where there is an upper level whose buckets are no wider than a cell, its sums are the cells' figures, exactly, and no block is
 * opened. Else the strip is first filled from the finest level there is, roughly; then blocks are gone through by start, each by its own
 * summary where that is fine enough, or by its rows, and cells become exact from the left to the right. That takes as long as it takes:
 * gt_lane_cells_step does some of it, and between two steps the screen shows what there is.
 *
 * What is certain of a strip is not worked out again when it is wanted once more, of another stretch of time or of a trace that has grown: as
 * far as nothing has come that begins before (unchanged_until.h), the cells from the window's first one on are taken over, put together where cells
 * are wider now, and only what lies behind is gone through. A row may have come that began long ago; then so much is gone through.
 *
 * Calls that were still open at the end are busy time, too, which no summary knows of: they are few, and are put over the cells
 * (unfinished_calls.h). */
#ifndef GT_LANE_CELLS_H
#define GT_LANE_CELLS_H
#include "viewer/model/block_schedule.h"

struct gt_cell_window { int64_t first; unsigned shift, cells; };	/* cell i: [(first + i) << shift, ...) of the viewer's time */
static inline int64_t gt_cell_start(const struct gt_cell_window *w, int64_t cell) { return (int64_t)((uint64_t)(w->first + cell) << w->shift); }

enum gt_cell_certainty {
	GT_CELL_EXACT,
	GT_CELL_ROUGH,		/* its share of a wider bucket */
	GT_CELL_UNKNOWN,	/* nothing is known yet */
	GT_CELL_DAMAGED		/* a block that has some of it cannot be read */
};
struct gt_cell_sums {
	enum gt_cell_certainty sureness;
	uint64_t busy;		/* ns covered by at least one row, at most the cell's width */
	uint64_t count, bytes;	/* of the rows that start in it */
	uint64_t longest;	/* ns: of these */
	int64_t longest_at;	/* where it starts, segment's time; where there is none, or roughly: 0 */
	uint8_t category;	/* that covers most of it */
	uint32_t open;		/* calls that were still open when the recording ended, which was in this cell */
};

struct gt_lane_cells;
struct gt_lane_cells *gt_lane_cells_new(struct gt_archive *a);		/* NULL: no memory. new: free it */
void gt_lane_cells_free(struct gt_lane_cells *s);
/* Its archive is about to be closed: nothing is wanted then. It goes on with another one of the same trace, with more in it, and what is
 * wanted next begins with what was certain. */
void gt_lane_cells_detach(struct gt_lane_cells *s);			/* NULL is fine */
void gt_lane_cells_reopen(struct gt_lane_cells *s, struct gt_archive *a);
/* What is wanted from now on: these strips (copied) in this window. What is exact at once is there at once. 0 or negative. */
int gt_lane_cells_request(struct gt_lane_cells *s, const struct gt_cell_window *w, const struct gt_strip_key *of, size_t n, struct gt_err *err);
/* Goes on for some us of time at most (0: until it is done). 1: there is more to do, 0: all is exact, negative. */
int gt_lane_cells_step(struct gt_lane_cells *s, uint64_t us, struct gt_err *err);
unsigned gt_lane_cells_percent(const struct gt_lane_cells *s);		/* of what is to be gone through: 100 when done */
/* Strip i at a depth: the window's cells, to[] of them. */
void gt_lane_cells_get(const struct gt_lane_cells *s, size_t i, unsigned depth, struct gt_cell_sums *to);
#endif
