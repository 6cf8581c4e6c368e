/* Launches by kernel as the calls tell them, for traces in which nothing of the GPU was recorded,
 * and copies by direction. */
#ifndef GT_CALLED_H
#define GT_CALLED_H
#include "analyze/launch/call_copies.h"
#include "analyze/stats/name_interner.h"

struct gt_called {
	struct gt_report_state asked;
	struct gt_name_interner ids;
	struct gt_called_group *list;
	size_t n, cap;
	/* a call does not tell all of its copy; these are counted, with what the GPU copied for
	 * them */
	bool bare, again;
	struct gt_call_copies copies;
	/* of which that was found; by the order in the stream only */
	uint64_t as_copied, likely;
};

/* state: a zeroed gt_called. */
int gt_called_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
/* A run of GT_CALL rows, with their arguments: those that launch a kernel are counted. */
int gt_called_launches(struct gt_called *c, const struct gt_cols *cols, struct gt_err *err);
/* new; NULL with err filled in */
struct gt_table *gt_called_launches_table(struct gt_called *c, struct gt_err *err);
void gt_called_release(struct gt_called *c);
#endif
