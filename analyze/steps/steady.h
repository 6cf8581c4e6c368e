/* The steady steps of a run: the time range that the default screen and diff show, without start-up
 * and tail. Of the recordings of one clock, it begins and ends with a step of the main loop, that
 * of the GPU with the most operations, and lies within the steady steps of the other loops too. A
 * loop that shares less than half of this time with the main loop (programs that run one after the
 * other) does not narrow it. */
#ifndef GT_STEADY_H
#define GT_STEADY_H
#include "analyze/steps/loops.h"

struct gt_steady {
	struct gt_loops loops;
	struct gt_filter filter; /* selects the rows that were searched */
	struct gt_range *ranges; /* by recording; NULL: no steady steps */
	/* of the recording of the main loop: its first steady step in the range, from 0, and their
	 * number */
	const struct gt_loop *main;
	size_t first, steps;
	/* steady loops at another time, which do not narrow the range; their operations */
	size_t loops_elsewhere;
	uint64_t ops_elsewhere;
	const char *why; /* there are no steady steps: the reason */
};
/* Reads the trace. Steps outside opt's range are not steady. Release *s in any case. 0 or negative.
 */
int gt_steady_find(struct gt_steady *s, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
void gt_steady_release(struct gt_steady *s);
/* The loop of this GPU (a track of the segment); NULL: there is none. */
const struct gt_loop *gt_steady_loop(
	const struct gt_steady *s, const struct gt_segment *seg, uint32_t device);
/* The number of steady steps of a loop in the range; sets *first to the first one, from 0. */
size_t gt_steady_steps(const struct gt_steady *s, const struct gt_loop *l, size_t *first);
size_t gt_steady_all_steps(const struct gt_steady *s); /* of all GPUs; 0: none */
#endif
