/* Deadlines of work that is done in steps. */
#ifndef GT_DEADLINE_H
#define GT_DEADLINE_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/trace/clock.h"

static inline uint64_t gt_now_us(void) { return (uint64_t)gt_clock_monotonic() / 1000; }
/* The time `us` µs from now; 0: never. */
static inline uint64_t gt_deadline(uint64_t us) { return us ? gt_now_us() + us : UINT64_MAX; }
static inline bool gt_deadline_is_over(uint64_t deadline)
{
	return deadline != UINT64_MAX && gt_now_us() >= deadline;
}
/* Time left, at least 1 µs; 0: the deadline is never. */
static inline uint64_t gt_left_us(uint64_t deadline)
{
	uint64_t now = gt_now_us();

	return deadline == UINT64_MAX ? 0 : deadline > now ? deadline - now : 1;
}
#endif
