/* The comparison by line of the program: idle time of GPUs that a line caused, processor time, and
 * the kernels that it launched.
 *
 * A line is that of a function in a file. Code moves: lines of one function are paired by the one
 * shift that pairs most of their time, and no shift if that pairs as much. Lines without a pair are
 * gone or added. */
#ifndef GT_DIFF_LINES_H
#define GT_DIFF_LINES_H
#include "analyze/diff/diff.h"

/* Makes the table "lines", which the caller owns. *table NULL: neither file has call stacks or
 * samples. 0 or negative. */
int gt_diff_lines(const struct gt_side *a, const struct gt_side *b, unsigned top,
	struct gt_table **table, struct gt_err *err);
#endif
