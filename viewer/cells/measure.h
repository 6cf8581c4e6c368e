/* Measures a time range to the nanosecond: the busy time of a strip, and the number, bytes and
 * longest of the rows that start in it. */
#ifndef GT_MEASURE_H
#define GT_MEASURE_H
#include "viewer/cells/lane_cells.h"

struct gt_measured {
	uint64_t busy;         /* ns of [from, to) covered by at least one row */
	uint64_t count, bytes; /* of the rows that start in the range */
	uint64_t longest;      /* ns: longest of these rows */
	bool rough;            /* the busy time is not exact */
	bool holes;            /* a block cannot be read: the figures do not include it */
};
struct gt_measure;
/* Between two times of the viewer, in either order. new: free it; NULL: no
 * memory. */
struct gt_measure *gt_measure_new(struct gt_archive *a, const struct gt_strip_key *of, int64_t one,
	int64_t other, struct gt_err *err);
void gt_measure_free(struct gt_measure *m); /* NULL is fine */
/* Works for at most `us` µs (0: until done). 1: there is more to do, 0: figures are exact,
 * negative: error. */
int gt_measure_step(struct gt_measure *m, uint64_t us, struct gt_err *err);
/* at a depth, as far as measured */
struct gt_measured gt_measure_of(const struct gt_measure *m, unsigned depth);
#endif
