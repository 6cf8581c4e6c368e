/* Enables the kinds of activity records: GPU work, and the driver calls that make it.
 *
 * The synchronization kind is not enabled. On an H200 (driver 580, CUPTI 13.0) it switched on
 * CUPTI's tracing of the runtime API. With that, a driver call inside a runtime call has no
 * record of its own, and its work has the number of the runtime call: without the kind 100 % of
 * the work of all programs was joined, with it none of a runtime program's. CUPTI's record of a
 * wait also says no more than the recorded call, from which the recorder makes the wait. */
#include "collect/guest/cupti/guest_cupti_activity_internal.h"

#include "collect/guest/cupti/guest_cupti_callbacks.h"
#include "formats/cuda/cuda_api_cbid.h"

bool gt_cupti_refused(struct gt_cupti_refusal *r, const char *what, int code)
{
	if (code)
		*r = (struct gt_cupti_refusal){ what, code };
	return code;
}

/* more: the bit of enum gt_gpu_more that enables the kind; 0: required, CUPTI is not used without
 * it */
static const struct kind {
	int kind;
	uint32_t more;
	const char *what;
} kinds[] = {
	{ GT_CUPTI_KERNEL, 0, "cuptiActivityEnable" },
	{ GT_CUPTI_MEMCPY, 0, "cuptiActivityEnable" },
	{ GT_CUPTI_MEMCPY_PEER, 0, "cuptiActivityEnable" },
	{ GT_CUPTI_MEMSET, 0, "cuptiActivityEnable" },
	{ GT_CUPTI_RUNTIME, GT_GPU_MORE_RUNTIME, "calls of the CUDA runtime: cuptiActivityEnable" },
	{ GT_CUPTI_MANAGED, GT_GPU_MORE_MANAGED, "unified memory: cuptiActivityEnable" },
	{ GT_CUPTI_OVERHEAD, GT_GPU_MORE_OVERHEAD, "overhead: cuptiActivityEnable" },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* Probes alone need kernels only. */
static bool is_kind_needed(const struct kind *k)
{
	return gt_cupti_needs_gpu() ? !k->more || (gt_shared->gpu_more & k->more)
				    : k->kind == GT_CUPTI_KERNEL;
}

/* Counters of managed memory must be configured first. An older CUPTI does not know them all, and
 * a machine may lack some. */
static bool choose_counters(struct gt_cupti_refusal *r)
{
	struct gt_cupti_counter c = { .scope = GT_CUPTI_ALL_DEVICES, .enable = 1 };
	int code = 0, first = 0;
	bool any = false;

	if (!gt_cupti.counters)
		return !gt_cupti_refused(r,
			"unified memory: cuptiActivityConfigureUnifiedMemoryCounter",
			GT_CUPTI_NOT_SUPPORTED);
	for (c.kind = 1; c.kind < GT_CUPTI_COUNTERS; c.kind++) {
		code = gt_cupti.counters(&c, 1);
		any |= !code;
		first = first ? first : code;
	}
	return any ||
		!gt_cupti_refused(
			r, "unified memory: cuptiActivityConfigureUnifiedMemoryCounter", first);
}

static bool enable_kind(const struct kind *k, struct gt_cupti_refusal *r)
{
	return (k->kind != GT_CUPTI_MANAGED || choose_counters(r)) &&
		!gt_cupti_refused(r, k->what, gt_cupti.enable(k->kind));
}

static bool needs_all_calls(void) { return gt_cupti_is_recording() && !gt_shared->inject; }
static bool needs_calls(void) { return needs_all_calls() || gt_callbacks_refused_since(); }

static bool needs_call(uint32_t cbid)
{
	return needs_all_calls() ? gt_cuda_driver_name(cbid) != NULL
				 : needs_calls() && gt_launch_name(cbid);
}

/* Single driver calls can be selected only from the start, and only if CUPTI has the function. */
static bool can_select_calls(void)
{
	return gt_cupti.enable_driver_call && !gt_cupti_session->late_start;
}

/* CUPTI refuses callback ids that it does not know. */
static bool enable_selected_calls(void)
{
	bool any = false;

	for (uint32_t cbid = 1; cbid < GT_CBID_MAX; cbid++)
		any |= needs_call(cbid) && !gt_cupti.enable_driver_call(cbid, 1);
	return any;
}

/* Enables the kind for all driver calls and disables the unneeded ones if CUPTI can. With this
 * kind a driver call inside a runtime call has no record, and its work has the number of the
 * runtime call. So records of runtime calls are enabled, too (tests/gpu/cupti_late.c shows this).
 */
static void enable_all_calls(void)
{
	if (gt_cupti.enable(GT_CUPTI_DRIVER))
		return; /* the recorder then matches by the order of launches */
	for (uint32_t cbid = 1; gt_cupti.enable_driver_call && cbid < GT_CBID_MAX; cbid++)
		if (!needs_call(cbid))
			gt_cupti.enable_driver_call(cbid, 0);
	gt_cupti.enable(GT_CUPTI_RUNTIME);
}

static void enable_calls(void)
{
	if (can_select_calls() && !enable_selected_calls())
		gt_cupti.enable_driver_call = NULL;
	if (!can_select_calls())
		enable_all_calls();
}

bool gt_cupti_enable_kinds(struct gt_cupti_refusal *r)
{
	if (needs_calls())
		enable_calls();
	for (size_t i = 0; i < KINDS; i++)
		if (is_kind_needed(&kinds[i]) && !enable_kind(&kinds[i], r)) {
			if (!kinds[i].more)
				return false;
			gt_cupti_put_state(GT_GPU_PARTIAL, r->what, r->code);
		}
	return true;
}

void gt_cupti_disable_kinds(void)
{
	for (size_t i = 0; i < KINDS; i++)
		if (is_kind_needed(&kinds[i]))
			gt_cupti.disable(kinds[i].kind);
	gt_cupti.disable(GT_CUPTI_DRIVER);
	if (!can_select_calls())
		gt_cupti.disable(GT_CUPTI_RUNTIME);
}
