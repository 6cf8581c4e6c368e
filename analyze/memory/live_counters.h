/* What a program held on each device, as its recorder counted it: peaks and ends of the counters
 * live_*_bytes. */
#ifndef GT_LIVE_COUNTERS_H
#define GT_LIVE_COUNTERS_H
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"

struct gt_live_counters { /* zero-initialised is empty */
	struct gt_live_counter {
		const struct gt_segment *seg;
		uint32_t track, type;
		/* before: the value that the last one took the place of */
		uint64_t peak, last, before;
		int64_t peak_at, last_at;
		bool changed; /* there was one before */
		bool uncertain;
	} * list;
	size_t n, cap;
	uint32_t hint; /* the one met last */
};
/* of GT_COUNTER, with arguments */
int gt_live_counters_run(
	struct gt_live_counters *c, const struct gt_cols *cols, struct gt_err *err);
/* new, or NULL: no memory. ended: by place, when the last call of the process that changes what is
 * allocated was over. */
struct gt_table *gt_live_counters_table(struct gt_live_counters *c, const struct gt_report_state *a,
	const struct gt_process_slots *where, const int64_t *ended);
void gt_live_counters_release(struct gt_live_counters *c);
#endif
