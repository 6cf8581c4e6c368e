/* What happened between two moments, to the nanosecond: how long strips were busy, how many rows began, how many bytes they had. */
#ifndef GT_MEASURE_H
#define GT_MEASURE_H
#include "viewer/cells/lane_cells.h"

struct gt_measured {
	uint64_t busy;		/* ns of [from, to) covered by at least one row */
	uint64_t count, bytes;	/* of the rows that start in it */
	uint64_t longest;	/* ns: of these */
	bool rough;		/* how much of it was busy is not known exactly */
	bool holes;		/* some of it cannot be read: the figures are those of the rest */
};
struct gt_measure;
/* Between two moments of the viewer's time, in either order. Strips are copied. new: free it; NULL: no memory. */
struct gt_measure *gt_measure_new(struct gt_archive *a, const struct gt_strip_key *of, size_t n, int64_t one, int64_t other, struct gt_err *err);
void gt_measure_free(struct gt_measure *m);			/* NULL is fine */
/* Goes on for some us at most (0: until it is done). 1: there is more to do, 0: figures are exact, negative. */
int gt_measure_step(struct gt_measure *m, uint64_t us, struct gt_err *err);
struct gt_measured gt_measure_of(const struct gt_measure *m, size_t i, unsigned depth);	/* so far: strip i at a depth */
#endif
