/* The loops of a run, for reports that count per step or look at the steady steps only: of each GPU
 * as one process sees it, when its steps begin (steps.h), and whether they are steady.
 *
 * The warm-up is that of the report steps (steps_statistics.c), and in the first quarter of the
 * steps all up to the last one that is longer than GT_STEADY_LONG times the median.
 *
 * Steps are steady if at least GT_STEADY_LEAST follow the warm-up, and if the program marks them.
 * Those found by repetition are steady if they have half of the GPU's operations, and of those
 * after the warm-up four fifths are in sequences that occur more than once; or half of them, and
 * most of the time is in steps of at most twice the median.
 */
#ifndef GT_LOOPS_H
#define GT_LOOPS_H
#include "analyze/core/analysis.h"
#include "analyze/steps/loop_parts.h"

#define GT_STEADY_LEAST 3u
#define GT_LOOPS_MOST 64u
#define GT_STEADY_LONG 10u /* times the median: such a step belongs to the warm-up */

struct gt_loop {
	const struct gt_segment *seg;
	uint32_t process, device;  /* tracks of the segment; process may be GT_NONE */
	uint64_t ops;              /* GPU operations in the selected range */
	int64_t first_op, last_op; /* start of the first, end of the last of them */
	size_t steps, warm;        /* all steps; the first ones that are warm-up */
	const char *mark; /* name of the first range that marks a step; NULL: by sequence */
	/* steps + 1 times each, the last one is the end of the last step: start of the first
	 * operation on the GPU; start of the call that launched it. NULL: no steps */
	int64_t *at, *host;
	uint64_t median;            /* ns: of the steps after the warm-up */
	double limit;               /* ns: a longer step is slow; 0: unknown */
	struct gt_loop_parts parts; /* of the steps after the warm-up */
	bool steady;
	const char *why; /* not steady: the reason. Static or borrowed from the trace */
};
struct gt_loops {
	struct gt_loop *list; /* of GPUs with operations; `steps` may be 0 */
	size_t n;
	bool crowded;      /* too many different operations: there are no loops */
	uint32_t left_out; /* GPUs beyond GT_LOOPS_MOST */
};
/* Reads the trace. --match and --tid of opt do not apply, because they may leave out steps. Release
 * *l in any case. 0 or negative. */
int gt_loops_find(struct gt_loops *l, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
/* The same of steps that were found. */
struct gt_steps;
int gt_loops_of_steps(struct gt_loops *l, const struct gt_steps *s, struct gt_err *err);
void gt_loops_release(struct gt_loops *l);
/* The loop with steps of the GPU with the most operations of a process. NULL: it has none. */
const struct gt_loop *gt_loop_of_process(
	const struct gt_loops *l, const struct gt_segment *seg, uint32_t process);
/* The number of the step that runs at this time of the GPU, from 1; 0: none. */
size_t gt_loop_step_at(const struct gt_loop *l, int64_t at);
#endif
