/* Between idle.c (moments into windows, devices and gaps), idle_rows.c (rows into moments and
 * lines) and idle_causes.c (a gap into causes). */
#ifndef GT_IDLE_INSIDE_H
#define GT_IDLE_INSIDE_H
#include "analyze/idle/idle.h"

#define GT_IDLE_SPAN UINT64_MAX /* addr of a moment that is no operation */
/* the record of an operation that waits for its turn */
struct gt_idle_launch {
	int64_t start, end;
	uint32_t track;
};

/* Takes a run of the block at hand, whose types have been looked at. 0 or negative. */
int gt_idle_rows(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err);
/* The gap [from, to) of a device, which `next` ends (NULL: nothing does). Adds it to the figures.
 */
int gt_idle_close_gap(struct gt_idle *s, struct gt_idle_device *d, int64_t from, int64_t to,
	const struct gt_idle_op *next, struct gt_err *err);
/* On what level rows of this type are, of a thread or of its process; GT_HOST_LEVELS: on none. */
unsigned gt_idle_level(const struct gt_type *type, enum gt_kind kind);
#endif
