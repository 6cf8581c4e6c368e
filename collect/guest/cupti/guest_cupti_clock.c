/* The clock that CUPTI gets of us. It reads it in the middle of each launch, on the program's thread, and once more for the record of
 * the call: CLOCK_MONOTONIC, but for what reading the counter of ticks costs, where the recorder trusts that, too. Until the rate is
 * known, a quarter of a second, and whenever nobody has looked at both clocks for long, the kernel's own is read. */
#include "collect/guest/cupti/guest_cupti_clock.h"
#include "collect/guest/core/guest_session.h"

static struct gt_tick_clock ticking;

uint64_t gt_clock_read_for_cupti(void)
{
	uint64_t ns;

	for (int i = 0; i < 4 && __atomic_load_n(&ticking.stale, __ATOMIC_RELAXED); i++)	/* it may be being written */
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
