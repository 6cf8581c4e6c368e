/* The options of the command line, applied to one open trace: which of its rows reports analyze. */
#ifndef GT_TRACE_OPTIONS_H
#define GT_TRACE_OPTIONS_H
#include "analyze/cli/program_options.h"
#include "analyze/cli/time_range_option.h"
#include "analyze/steps/steady.h"
#include "formats/base/buf.h"
#include "formats/names/name_patterns.h"

struct gt_trace_options {
	struct gt_analysis_options analysis; /* borrows from the members below */
	struct gt_buf restrictions;
	struct gt_time_ranges range;
	struct gt_name_patterns match;
	struct gt_steady steady;
};
/* file: in messages. origins: of times (gt_time_ranges_set), or NULL. steady_by_default: only the
 * steady steps, if the trace has some and no option says otherwise. Returns 0 or negative. Release
 * in both cases. */
int gt_trace_options_set(struct gt_trace_options *t, const struct gt_program_options *o,
	struct gt_reader *r, const char *file, const int64_t *origins, bool steady_by_default,
	struct gt_err *err);
void gt_trace_options_release(struct gt_trace_options *t);
#endif
