/* What threads waited for while a GPU was idle because of that: idle time whose cause is a call
 * that synchronises (idle.h), by the call and by the stream, or the kind of thing, that it waits
 * for. */
#ifndef GT_AWAITED_H
#define GT_AWAITED_H
#include "analyze/idle/idle.h"

struct gt_awaited { /* zero-initialised is empty */
	/* by thread and start; stream: 1 + its number, or 0: the place is free */
	struct gt_awaited_call {
		uint32_t thread, stream;
		int64_t start;
	} * calls;
	struct gt_awaited_sum {
		const char *call; /* its name, borrowed */
		/* its number over all segments; GT_NONE: it is not known, or it waits for none */
		uint32_t stream;
		uint64_t ns, gaps;
		int64_t longest; /* of all its time in one gap */
		uint32_t device; /* the gap at hand, and how much of that it has */
		uint64_t gap;
		int64_t now;
	} * list;
	size_t n, cap, last;
	bool no_memory;
};

/* A run of rows of the idle time's recording: those that tell which stream a call waits for. */
void gt_awaited_rows(struct gt_awaited *a, const struct gt_idle *s, const struct gt_cols *cols);
void gt_awaited_slice(
	struct gt_awaited *a, const struct gt_idle *s, const struct gt_idle_slice *slice);
void gt_awaited_again(struct gt_awaited *a); /* forgets the slices */
/* new; NULL: err */
struct gt_table *gt_awaited_table(
	struct gt_awaited *a, const struct gt_idle *s, struct gt_err *err);
void gt_awaited_release(struct gt_awaited *a);
#endif
