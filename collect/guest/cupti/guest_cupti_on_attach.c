/* Without a trace. Who attaches to one of our probes (perf, bpftrace) sees what the GPU did in a program that nobody records. CUPTI costs the
 * program something, so it is in use only while somebody is attached: a thread of ours looks some times a second, asks for CUPTI's
 * records when somebody is there, and ends CUPTI when for some looks nobody was.
 *
 * It may be that CUPTI cannot be had, because it is not installed or another has it. Then some looks pass before it is tried again, unless
 * whoever was attached went away meanwhile. */
#include "collect/guest/cupti/guest_cupti_on_attach.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/cupti/guest_cupti_activity.h"
#include "collect/guest/cupti/guest_cupti_callbacks.h"
#include "collect/guest/cupti/guest_cupti_sharing.h"
#include "collect/guest/cupti/guest_usdt.h"

#define IDLE_ROUNDS_MAX 3u			/* so many looks found nobody: CUPTI may go */
#define RETRY_ROUNDS 100u			/* looks to let pass after CUPTI could not be had */

/* Of our thread alone. */
static uint32_t idle_rounds, rounds_to_skip;	/* looks in which nobody was attached; that are still to pass */
static bool ends_with_program;

static void attach(void)
{
	if (rounds_to_skip && rounds_to_skip--)
		return;
	if (!gt_gpu_load_cupti()) {
		gt_debug("probes: there is no", GT_CUPTI_LIBRARY, 0);
	} else if (gt_gpu_change_use(GT_USE_IDLE, GT_USE_YIELDED)) {
		gt_callbacks_follow_probe();		/* first, so that every kernel's launch is told */
		gt_cupti_run_if_unused(gt_gpu_start_cupti);
	}
	if (gt_gpu_change_use(GT_USE_YIELDED, GT_USE_IDLE) || gt_gpu_change_use(GT_USE_IDLE, GT_USE_IDLE)) {	/* it is not ours */
		gt_callbacks_stop_probe();
		rounds_to_skip = RETRY_ROUNDS;
	} else if (!ends_with_program) {
		ends_with_program = true;
		gt_gpu_register_exit();
	}
}

static void detach(void)
{
	if (!gt_gpu_yield("nobody is attached any more"))
		return;
	gt_debug("CUPTI has ended:", "", gt_callbacks_finalize_cupti());
	gt_gpu_change_use(GT_USE_YIELDED, GT_USE_IDLE);
}

void gt_probes_poll(uint32_t use)
{
	bool want = gt_probes_need_calls() || gt_probes_need_work();

	idle_rounds = want ? 0 : idle_rounds + 1;
	if (use == GT_USE_IDLE && want)
		attach();
	else if (use == GT_USE_ON && idle_rounds >= IDLE_ROUNDS_MAX)
		detach();
	else if (!want)
		rounds_to_skip = 0;
}
