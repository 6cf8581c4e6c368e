/* CLOCK_MONOTONIC computed from the processor's tick counter, for CUPTI, which reads the time at
 * each launch.
 *
 * Between two updates, which read both clocks, the time advances with the counter at the rate of
 * the last span. At an update the time neither jumps nor goes back, as a CUPTI record may begin
 * before the update and end after it: the error is corrected within the next span. If the error is
 * large (the machine slept or was migrated), the counter is not used until the next update. */
#ifndef GT_GUEST_CUPTI_CLOCK_H
#define GT_GUEST_CUPTI_CLOCK_H
#include <stdbool.h>
#include <stdint.h>

uint64_t gt_clock_read_for_cupti(void); /* ns of CLOCK_MONOTONIC; cheaper than the kernel's clock */
void gt_clock_update(void);             /* updates it; called by one thread a few times a second */

#define GT_TICK_CLOCK_SPAN 50000000 /* ns; a shorter span gives no usable rate */
#define GT_TICK_CLOCK_FAR 20000     /* ns */
#define GT_TICK_CLOCK_STALE 4 /* spans without an update after which the counter is not used */

struct gt_tick_clock {
	uint32_t turn;      /* odd during an update */
	uint64_t ticks, ns; /* the same moment in both units */
	uint64_t rate;      /* ns per tick, times 2^32; 0: unknown */
	uint64_t stale;     /* ticks after which the counter is not used; 0: it is not used */
	uint64_t seen_ticks, seen_ns; /* the last update; used by its thread only */
};

static inline uint64_t gt_ticks_ns(uint64_t ticks, uint64_t rate)
{
	return (uint64_t)((unsigned __int128)ticks * rate >> 32);
}

/* Time at this tick count. False: it is unknown. */
static inline bool gt_tick_clock_at(const struct gt_tick_clock *c, uint64_t ticks, uint64_t *ns)
{
	uint32_t turn = __atomic_load_n(&c->turn, __ATOMIC_ACQUIRE);
	uint64_t since = ticks - __atomic_load_n(&c->ticks, __ATOMIC_RELAXED),
		 from = __atomic_load_n(&c->ns, __ATOMIC_RELAXED);
	uint64_t rate = __atomic_load_n(&c->rate, __ATOMIC_RELAXED),
		 stale = __atomic_load_n(&c->stale, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*ns = from + gt_ticks_ns(since, rate);
	return !(turn & 1) && turn == __atomic_load_n(&c->turn, __ATOMIC_RELAXED) && since < stale;
}

/* Updates from both clocks, read at the same moment. Called by one thread at a time. */
static inline void gt_tick_clock_update(struct gt_tick_clock *c, uint64_t ticks, uint64_t ns)
{
	uint64_t span = ticks - c->seen_ticks, rate, at = ns;
	int64_t off;

	if (c->seen_ticks && (ticks <= c->seen_ticks || ns - c->seen_ns < GT_TICK_CLOCK_SPAN))
		return;
	if (c->seen_ticks) {
		rate = (uint64_t)(((unsigned __int128)(ns - c->seen_ns) << 32) / span);
		off = (int64_t)(ns - c->ns - gt_ticks_ns(ticks - c->ticks, c->rate));
		if (c->rate && off > -GT_TICK_CLOCK_FAR && off < GT_TICK_CLOCK_FAR) {
			at = ns - (uint64_t)off;
			rate += (uint64_t)((__int128)off * ((__int128)1 << 32) / (__int128)span);
		} else if (c->rate) {
			rate = 0;
		}
		__atomic_store_n(&c->turn, c->turn + 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__atomic_store_n(&c->ticks, ticks, __ATOMIC_RELAXED);
		__atomic_store_n(&c->ns, at, __ATOMIC_RELAXED);
		__atomic_store_n(&c->rate, rate, __ATOMIC_RELAXED);
		__atomic_store_n(
			&c->stale, rate ? GT_TICK_CLOCK_STALE * span : 0, __ATOMIC_RELAXED);
		__atomic_store_n(&c->turn, c->turn + 1, __ATOMIC_RELEASE);
	}
	c->seen_ticks = ticks;
	c->seen_ns = ns;
}
#endif
