/* What times are counted from, and what --from and --to mean for a trace. */
#ifndef GT_TIME_RANGE_OPTION_H
#define GT_TIME_RANGE_OPTION_H
#include "analyze/core/analysis.h"

struct gt_time_ranges { int64_t *origins; struct gt_range *ranges; };	/* by recording; ranges NULL: there are none */
/* Sets origins and the range of o->filter. from, to: what gt_parse_ns takes, or NULL. as: origins to take over (another reader's of the same
 * recordings), or NULL. 0 or negative; to be released in both cases, when *o is not used any more. */
int gt_time_ranges_set(struct gt_time_ranges *a, struct gt_analysis_options *o, struct gt_reader *r, const char *from, const char *to,
		 const int64_t *as, struct gt_err *err);
void gt_time_ranges_release(struct gt_time_ranges *a);
#endif
