/* --print and --live: a thread that reads the trace while it is written, and prints its rows to
 * standard output, or figures to standard error about once a second. A slow reader of its output
 * does not delay the recording. */
#ifndef GT_LIVE_VIEW_H
#define GT_LIVE_VIEW_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/base/err.h"

struct gt_live_view;
struct gt_live_view_options {
	const char *path;         /* of the trace; borrowed */
	bool rows, json, figures; /* json: rows are lines as of gtexport --jsonl */
	int64_t start;            /* ns: of the recording */
};
/* new: finish it. NULL: it could not be started. */
struct gt_live_view *gt_live_view_start(const struct gt_live_view_options *opt, struct gt_err *err);
/* Has the reader of standard output closed it? NULL is fine. */
bool gt_live_view_is_closed(const struct gt_live_view *v);
/* The trace is complete: prints the rest. 0, or negative if rows could not be printed. NULL is
 * fine.
 */
int gt_live_view_finish(struct gt_live_view *v, struct gt_err *err);
#endif
