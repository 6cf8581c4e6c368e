/* Live memory by device, by the counters of the recorder or of a file of another tool: peaks and
 * last values of the counters live_*_bytes. */
#ifndef GT_LIVE_COUNTERS_H
#define GT_LIVE_COUNTERS_H
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"

struct gt_live_counters { /* zeroed: empty */
	struct gt_live_counter {
		const struct gt_segment *seg;
		uint32_t track, type;
		/* before: the value before the last one */
		uint64_t peak, last, before;
		int64_t peak_at, last_at;
		bool changed; /* `before` is valid */
		bool uncertain;
	} * list;
	size_t n, cap;
	uint32_t hint; /* index of the last counter used */
};
/* runs of GT_COUNTER, with arguments */
int gt_live_counters_run(
	struct gt_live_counters *c, const struct gt_cols *cols, struct gt_err *err);
/* NULL: err. ended: by process slot, the end of the last call that allocates or frees. */
struct gt_table *gt_live_counters_table(struct gt_live_counters *c, const struct gt_report_state *a,
	const struct gt_process_slots *where, const int64_t *ended, struct gt_err *err);
void gt_live_counters_release(struct gt_live_counters *c);
#endif
