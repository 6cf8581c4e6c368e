/* GPU work without a session. A tracer that attaches to one of the guest's probes (perf, bpftrace)
 * sees the GPU work of a program that gtcollect does not record. CUPTI slows the program, so it is
 * in use only while a tracer is attached: a thread checks the probes every 80 ms, starts CUPTI when
 * one is attached, and ends CUPTI after some rounds without one.
 *
 * If CUPTI is not installed, or another client uses it, the thread tries again after RETRY_ROUNDS
 * rounds, or as soon as a tracer attaches again. */
#include "collect/guest/cupti/guest_cupti_on_attach.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/cupti/guest_cupti_activity.h"
#include "collect/guest/cupti/guest_cupti_callbacks.h"
#include "collect/guest/cupti/guest_cupti_sharing.h"
#include "collect/guest/cupti/guest_usdt.h"

#define IDLE_ROUNDS_MAX 3u /* rounds without a tracer after which CUPTI ends */
#define RETRY_ROUNDS 100u  /* rounds until the next attempt after a failed start */

/* Used by the guest's thread only. */
static uint32_t idle_rounds;    /* rounds without a tracer */
static uint32_t rounds_to_skip; /* rounds until the next attempt */
static bool ends_with_program;

static void attach(void)
{
	if (rounds_to_skip && rounds_to_skip--)
		return;
	if (!gt_gpu_load_cupti()) {
		gt_debug("probes: there is no", GT_CUPTI_LIBRARY, 0);
	} else if (gt_gpu_change_use(GT_USE_IDLE, GT_USE_YIELDED)) {
		/* first, so that the launch of each kernel is reported */
		gt_callbacks_follow_probe();
		gt_cupti_run_if_unused(gt_gpu_start_cupti);
	}
	/* the start has failed */
	if (gt_gpu_change_use(GT_USE_YIELDED, GT_USE_IDLE) ||
		gt_gpu_change_use(GT_USE_IDLE, GT_USE_IDLE)) {
		gt_callbacks_stop_probe();
		rounds_to_skip = RETRY_ROUNDS;
	} else if (!ends_with_program) {
		ends_with_program = true;
		gt_gpu_register_exit();
	}
}

static void detach(void)
{
	if (!gt_gpu_yield("no tracer is attached any more"))
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
