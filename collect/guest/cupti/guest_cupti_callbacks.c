/* CUPTI's callbacks. CUPTI allows one subscriber in a process. So the guest subscribes only in
 * these cases, and unsubscribes when another client subscribes:
 *
 *   - While a tracer is attached to parcagpu:cuda_correlation, which fires on the launching
 *     thread (guest_usdt.c). The driver API's callbacks cover all launches: a runtime launch
 *     makes a driver call, which has the number that the kernel's record will have. If another
 *     client has subscribed, the probe fires late and on CUPTI's thread, from call records.
 *   - In a program that has loaded the guest library by injection (guest_inject.c): callbacks
 * report the calls.
 *   - For a moment, to end CUPTI: cuptiFinalize is safe only in a callback at the end of a call.
 *     The guest makes that call itself. */
#define _GNU_SOURCE
#include "collect/guest/cupti/guest_cupti_callbacks.h"

#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_session.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/cupti/guest_usdt.h"
#include "formats/cuda/cuda_api.h"
#include "formats/cuda/cuda_api_cbid.h"

#define NOT_INITIALIZED 15   /* CUPTI_ERROR_NOT_INITIALIZED */
#define DRIVER_GET_VERSION 2 /* callback id of a call that has no effect */

typedef void callback(void *user, int domain, uint32_t cbid, const void *data);
static struct subscriptions {
	int (*subscribe)(void **subscriber, callback *to, void *user);
	int (*unsubscribe)(void *subscriber);
	int (*enable)(uint32_t on, void *subscriber, int domain, uint32_t cbid);
	int (*finalize)(void);
} cupti;
static void *subscriber; /* exchanged atomically: another thread may unsubscribe */
/* callbacks fire the probe; that was tried for the current tracer */
static bool launches_on, launches_tried;
static uint64_t refused_since;             /* ns; since when CUPTI refuses; 0: it does not */
static gt_driver_callback *calls_callback; /* receives all calls; NULL: none */
static int32_t ending_tid;                 /* the thread whose next call ends CUPTI */
static bool cupti_ended;

/* NULL, or the name if the function launches a kernel or a graph. */
static const char *if_launch(const char *name)
{
	unsigned op = name ? gt_api_guess(name).op : GT_OP_NONE;

	return op == GT_OP_LAUNCH || op == GT_OP_GRAPH_LAUNCH ? name : NULL;
}

const char *gt_launch_name(uint32_t cbid) { return if_launch(gt_cuda_driver_name(cbid)); }
const char *gt_runtime_launch_name(uint32_t cbid) { return if_launch(gt_cuda_runtime_name(cbid)); }

static void report_call(uint32_t cbid, const struct gt_cupti_call *c)
{
	gt_driver_callback *to;

	gt_session_enter();
	to = __atomic_load_n(&calls_callback, __ATOMIC_SEQ_CST);
	if (to)
		to(cbid, c);
	gt_session_leave();
}

static void called_back(void *user, int domain, uint32_t cbid, const void *data)
{
	const struct gt_cupti_call *c = data;
	int saved = errno;

	(void)user;
	if (domain != GT_CUPTI_DRIVER_CALLS)
		return;
	report_call(cbid, c);
	if (c->site == GT_CUPTI_EXIT && launches_on && gt_probes_need_calls() &&
		gt_launch_name(cbid))
		gt_probes_fire_call(
			c->correlation, -(int32_t)cbid, c->symbol ? c->symbol : c->function);
	if (c->site == GT_CUPTI_EXIT && gt_unlikely(ending_tid) && ending_tid == gt_own_tid()) {
		ending_tid = 0;
		cupti_ended = !cupti.finalize();
	}
	errno = saved;
}

static bool find_functions(void)
{
	static const struct gt_function_row functions[] = {
		{ "cuptiSubscribe", offsetof(struct subscriptions, subscribe), true },
		{ "cuptiUnsubscribe", offsetof(struct subscriptions, unsubscribe), true },
		{ "cuptiEnableCallback", offsetof(struct subscriptions, enable), true },
		{ "cuptiFinalize", offsetof(struct subscriptions, finalize), true },
	};

	return gt_find_functions(
		GT_CUPTI_LIBRARY, functions, sizeof(functions) / sizeof(*functions), &cupti);
}

static void *now_subscribed(void) { return __atomic_load_n(&subscriber, __ATOMIC_ACQUIRE); }

static int subscribe(void)
{
	void *s = NULL;
	int code;

	if (now_subscribed())
		return 0;
	if (!find_functions())
		return NOT_INITIALIZED;
	code = cupti.subscribe(&s, called_back, NULL);
	if (!code)
		__atomic_store_n(&subscriber, s, __ATOMIC_RELEASE);
	return code;
}

static void unsubscribe(void)
{
	void *s = __atomic_exchange_n(&subscriber, NULL, __ATOMIC_ACQ_REL);

	if (s)
		cupti.unsubscribe(s);
}

/* ---- launches, for the probe ---- */

static void enable_launches(bool on)
{
	void *s = now_subscribed();

	launches_on = on;
	for (uint32_t cbid = 1; s && !calls_callback && cbid < GT_CBID_MAX; cbid++)
		if (gt_launch_name(cbid))
			cupti.enable(on, s, GT_CUPTI_DRIVER_CALLS, cbid);
}

void gt_callbacks_stop_probe(void)
{
	enable_launches(false);
	launches_tried = false;
	refused_since = 0;
	if (!calls_callback)
		unsubscribe();
}

bool gt_callbacks_follow_probe(void)
{
	bool want = gt_probes_need_calls(), before = refused_since;

	if (want && !launches_tried) {
		launches_tried = true;
		if (!subscribe())
			enable_launches(true);
		else
			__atomic_store_n(&refused_since, gt_monotonic(), __ATOMIC_RELEASE);
	} else if (!want && launches_tried) {
		gt_callbacks_stop_probe();
	}
	return refused_since && !before;
}

uint64_t gt_callbacks_refused_since(void)
{
	return __atomic_load_n(&refused_since, __ATOMIC_ACQUIRE);
}

void gt_callbacks_unsubscribe(void)
{
	if (calls_callback || !now_subscribed())
		return;
	if (launches_on)
		__atomic_store_n(&refused_since, gt_monotonic(), __ATOMIC_RELEASE);
	launches_on = false;
	unsubscribe();
}

/* ---- all calls ---- */

int gt_callbacks_subscribe_calls(gt_driver_callback *to, bool (*wanted)(uint32_t cbid))
{
	int code = subscribe();

	if (code)
		return code;
	__atomic_store_n(&calls_callback, to, __ATOMIC_SEQ_CST);
	for (uint32_t cbid = 1; cbid < GT_CBID_MAX; cbid++)
		if (wanted(cbid))
			cupti.enable(1, subscriber, GT_CUPTI_DRIVER_CALLS, cbid);
	return 0;
}

void gt_callbacks_stop_calls(void) { __atomic_store_n(&calls_callback, NULL, __ATOMIC_SEQ_CST); }

/* ---- the end of CUPTI ---- */

bool gt_callbacks_finalize_cupti(void)
{
	int (*call)(int *) = gt_find_driver_function("cuDriverGetVersion");
	int version;

	if (!call || subscribe())
		return false; /* another client uses CUPTI */
	enable_launches(false);
	launches_tried = cupti_ended = false;
	refused_since = 0;
	cupti.enable(1, subscriber, GT_CUPTI_DRIVER_CALLS, DRIVER_GET_VERSION);
	ending_tid = gt_own_tid();
	call(&version);
	ending_tid = 0;
	if (cupti_ended)
		__atomic_store_n(&subscriber, NULL, __ATOMIC_RELEASE); /* CUPTI has removed it */
	else
		unsubscribe();
	return cupti_ended;
}
