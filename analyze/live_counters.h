/* What a program held on each device, as its recorder counted it: peaks and ends of the counters live_*_bytes. */
#ifndef GT_LIVE_COUNTERS_H
#define GT_LIVE_COUNTERS_H
#include "analyze/report.h"

struct gt_live_counters {		/* zero-initialised is empty */
	struct gt_live_counter {
		const struct gt_segment *seg;
		uint32_t track, type;
		uint64_t peak, last;
		int64_t peak_at, last_at;
		bool uncertain;
	} *list;
	size_t n, cap;
	uint32_t hint;			/* the one met last */
};
int gt_live_counters_run(struct gt_live_counters *c, const struct gt_cols *cols, struct gt_err *err);	/* of GT_COUNTER, with arguments */
struct gt_table *gt_live_counters_table(struct gt_live_counters *c, const struct gt_asked *a);	/* new, or NULL: no memory */
void gt_live_counters_release(struct gt_live_counters *c);
#endif
