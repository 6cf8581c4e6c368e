/* Parts of a loop: where its steps change for good, as when a program switches from single launches
 * to graphs, or from training to validation. Two neighbouring parts differ by more than a quarter
 * in the median duration of their steps or in the median number of their operations, and nine
 * tenths of the steps are nearer to the median of their own part. Each part has about a tenth of
 * the steps that are divided, or more. */
#ifndef GT_LOOP_PARTS_H
#define GT_LOOP_PARTS_H
#include "analyze/steps/steps.h"

#define GT_LOOP_PARTS_MOST 4u

struct gt_loop_part {
	size_t first, steps; /* of the loop's steps, from 0 */
	uint64_t median;     /* ns */
	uint64_t ops;        /* GPU operations; of a single part 0 */
};
struct gt_loop_parts {
	struct gt_loop_part list[GT_LOOP_PARTS_MOST];
	unsigned n; /* 1: the steps do not change; 0: there are no steps */
};
/* The parts of the steps [from, to); median: of all of them, ns. 0 or -ENOMEM. */
int gt_loop_parts_find(struct gt_loop_parts *parts, const struct gt_step *steps, size_t from,
	size_t to, uint64_t median, struct gt_err *err);
#endif
