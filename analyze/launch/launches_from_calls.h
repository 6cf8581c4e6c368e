/* Launches by kernel from the calls alone, for traces without GPU records; and copies by direction.
 */
#ifndef GT_LAUNCHES_FROM_CALLS_H
#define GT_LAUNCHES_FROM_CALLS_H
#include "analyze/launch/call_copies.h"
#include "analyze/stats/name_interner.h"

struct gt_call_launches {
	struct gt_report_state report;
	struct gt_name_interner ids;
	struct gt_call_launches_group *list;
	size_t n, cap;
	/* the row of a call has no direction or size; such calls are counted in a second reading,
	 * with the GPU's copies */
	bool incomplete, second_reading;
	struct gt_call_copies copies;
	/* calls with a copy of the GPU; of these joined by the order in the stream */
	uint64_t from_copies, likely;
};

/* state: a zeroed gt_called. */
int gt_call_launches_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
/* Counts the kernel launches in a run of GT_CALL rows, with arguments. */
int gt_call_launches_run(
	struct gt_call_launches *c, const struct gt_cols *cols, struct gt_err *err);
/* NULL with err filled in. The caller frees it. */
struct gt_table *gt_call_launches_table(struct gt_call_launches *c, struct gt_err *err);
void gt_call_launches_release(struct gt_call_launches *c);
#endif
