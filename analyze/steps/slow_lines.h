/* What slow steps did differently: their time per step beside that of usual steps, by line of the
 * program. The time of a step is GPU busy time and idle time, and idle time is that of the lines
 * that caused it (host_shares.h), so the differences of all lines and of the busy time add up to
 * the difference of the durations. */
#ifndef GT_SLOW_LINES_H
#define GT_SLOW_LINES_H
#include "analyze/idle/host_lines.h"
#include "analyze/steps/step_shares.h"

struct gt_slow_line {
	const char *name;    /* in parentheses: time without a stack */
	double slow, usual;  /* ns a step */
	double error;        /* ns: half the 95 % interval of the difference; < 0: exact */
	uint64_t samples[2]; /* in slow steps, in usual ones */
	unsigned doing;      /* enum gt_host_doing: most of the time in slow steps */
};
struct gt_slow_lines {
	const struct gt_loop *loop;
	size_t nslow, nusual; /* steps; one of them is 0: the rest is empty */
	double slow, usual;   /* ns: mean durations */
	double busy[2];       /* ns a step in which the GPU works, likewise */
	/* lines whose difference is beyond its error and at least a twentieth of that of the
	 * durations, the largest first, 20 at most; and the sum of all others */
	struct gt_slow_line *list, others;
	size_t n;
	struct gt_caller_sums sums[2]; /* private: they own the names */
};
/* s: by class, after gt_idle_finish(). Release *l in any case. 0 or negative. */
int gt_slow_lines_find(
	struct gt_slow_lines *l, const struct gt_step_shares *s, size_t loop, struct gt_err *err);
void gt_slow_lines_release(struct gt_slow_lines *l);
/* The line that explains most of what slow steps take longer, by more than its error; NULL: no
 * single one does. */
const struct gt_slow_line *gt_slow_lines_main(const struct gt_slow_lines *l);
#endif
