/* What the rules of advice.c are about, gathered in one pass over the rows: idle time by cause with an example of each, and what
 * copies, sets, waits and allocations there were. "Late" is what happened when more than half of the GPU operations of the
 * recording had begun, and all of a range that was asked for: a program that repeats itself
 * has long begun to do so then. */
#ifndef GT_ADVICE_FACTS_H
#define GT_ADVICE_FACTS_H
#include "analyze/idle.h"

#define GT_SMALL_COPY 65536u		/* bytes: below that a copy's own time is mostly the way to it */

struct gt_example { const struct gt_segment *seg; int64_t from, to; uint32_t thread, type, device; };	/* seg NULL: there is none */
struct gt_cause_facts { uint64_t ns, late_ns, slices, late_slices; struct gt_example longest, latest_longest; };
struct gt_copy_facts { uint64_t n, ns, bytes; struct gt_example longest; };

struct gt_advice_facts {
	struct gt_idle idle;		/* first */
	struct gt_cause_facts causes[GT_IDLE_CAUSE_COUNT];
	struct gt_cause_facts launching;	/* of GT_IDLE_CALL, the calls that launch */
	struct gt_copy_facts copies, small, pageable, pageable_async, blocking, sets_blocking;
	uint64_t syncs;				/* calls that synchronise */
};

int gt_advice_facts_init(struct gt_advice_facts *f, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err);
int gt_advice_facts_block(struct gt_advice_facts *f, const struct gt_cols *cols, struct gt_err *err);
void gt_advice_facts_release(struct gt_advice_facts *f);
#endif
