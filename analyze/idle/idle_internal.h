/* Shared by idle_input.c (reads rows, builds operations and host activity), idle.c (builds windows,
 * devices and gaps from operations) and idle_causes.c (splits a gap into causes). */
#ifndef GT_IDLE_INTERNAL_H
#define GT_IDLE_INTERNAL_H
#include "analyze/idle/idle.h"

#define GT_IDLE_SPAN UINT64_MAX /* gt_moment.addr of a wait of a stream */
/* the launching call of an operation that is not sorted yet */
struct gt_idle_launch {
	int64_t start, end;
	uint32_t track, stack; /* stack: plus 1; 0: none */
};

/* Adds a run of the current block. 0 or negative. */
int gt_idle_rows(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err);
/* Adds the gap [from, to) of a device to the figures. next: the operation that ends it, or NULL. */
int gt_idle_close_gap(struct gt_idle *s, struct gt_idle_device *d, int64_t from, int64_t to,
	const struct gt_idle_op *next, struct gt_err *err);
/* The level of host activity of a type's rows; GT_HOST_LEVELS: none. */
unsigned gt_idle_level(const struct gt_segment *seg, const struct gt_type *type, enum gt_kind kind);
#endif
