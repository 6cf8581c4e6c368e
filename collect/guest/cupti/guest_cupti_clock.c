/* CUPTI's clock. CUPTI reads it inside each launch, on the program's thread, and once more for
 * the record of the call. It is CLOCK_MONOTONIC at the cost of reading the tick counter, if the
 * recorder trusts that counter, too. For the first 0.25 s, until the rate is known, and after a
 * long time without an update it reads the kernel's clock. */
#include "collect/guest/cupti/guest_cupti_clock.h"
#include "collect/guest/core/guest_session.h"

static struct gt_tick_clock ticking;

uint64_t gt_clock_read_for_cupti(void)
{
	uint64_t ns;

	/* retries, as an update may be in progress */
	for (int i = 0; i < 4 && __atomic_load_n(&ticking.stale, __ATOMIC_RELAXED); i++)
		if (gt_tick_clock_at(&ticking, gt_ticks(), &ns))
			return ns;
	return gt_monotonic();
}

void gt_clock_update(void)
{
	uint64_t best = UINT64_MAX, before, ns, after, ticks = 0, at = 0;

	if (!gt_shared || !gt_shared->ticks)
		return;
	for (int i = 0; i < 5; i++) {
		before = gt_ticks();
		ns = gt_monotonic();
		after = gt_ticks();
		if (after - before >= best)
			continue;
		best = after - before;
		ticks = before + best / 2;
		at = ns;
	}
	gt_tick_clock_update(&ticking, ticks, at);
}
