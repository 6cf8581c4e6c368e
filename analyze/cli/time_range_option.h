/* The origin of printed times, and the meaning of --from and --to for a trace. */
#ifndef GT_TIME_RANGE_OPTION_H
#define GT_TIME_RANGE_OPTION_H
#include "analyze/core/analysis.h"

/* Reads a time as of gt_parse_ns; NULL leaves *ns as it is. Returns 0 or -EINVAL. */
int gt_read_time(const char *text, int64_t *ns, struct gt_err *err);

/* by recording; ranges NULL: no range */
struct gt_time_ranges {
	int64_t *origins;
	struct gt_range *ranges;
};
/* Sets the origins and the range of o->filter. from, to: as for gt_parse_ns, or NULL. as:
 * origins of another reader of the same recordings, or NULL. Returns 0 or negative. Release in
 * both cases, after the last use of *o. */
int gt_time_ranges_set(struct gt_time_ranges *a, struct gt_analysis_options *o, struct gt_reader *r,
	const char *from, const char *to, const int64_t *as, struct gt_err *err);
void gt_time_ranges_release(struct gt_time_ranges *a);
#endif
