/* --inject. A CUDA driver loads the library that CUDA_INJECTION64_PATH names and calls
 * InitializeInjection inside cuInit. There the program's calls do not pass through the guest's
 * wrappers.
 *
 * With a session (gtcollect --inject) CUPTI's callbacks report the calls: at the begin and the
 * end of each call, on its own thread, with its parameters in a struct of the toolkit. So this
 * file writes the same records as a wrapper. A callback also has the correlation id of the call's
 * GPU work, so no match by time is needed. Not visible: calls before that moment and cuInit
 * itself, functions without a CUPTI number, and the driver's ioctl calls.
 *
 * Without gtcollect this file serves the probes (guest_usdt.c): a thread checks every 80 ms
 * whether a tracer is attached. Until then CUPTI is not loaded, and calls are not intercepted. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_args.h"

#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/cupti/guest_cupti_activity.h"
#include "collect/guest/cupti/guest_cupti_callbacks.h"
#include "collect/guest/cupti/guest_inject.h"

#define UNKNOWN 0xffffu           /* a function that is not in the table */
static uint16_t ids[GT_CBID_MAX]; /* by CUPTI's callback id: the table's id, or UNKNOWN */
#define WORDS_MAX 32

/* ---- parameters ---- */

/* Parameters follow each other in their own sizes, as C lays them out. Kinds: cuda_api.h. */
static uint64_t parameter(char kind, const uint8_t *at)
{
	float f;
	double d;

	switch (kind) {
	case 'i': return (uint64_t)(int32_t)gt_u32_at(at);
	case 'u': return gt_u32_at(at);
	case 'w': return gt_u16_at(at);
	case 'b': return *at;
	case 'f':
		memcpy(&f, at, 4);
		d = f;
		return gt_u64_at(&d);
	case 'X': return (uint64_t)(uintptr_t)at;
	}
	return gt_u64_at(at);
}

static size_t size_of(char kind)
{
	return kind == 'i' || kind == 'u' || kind == 'f' ? 4
		: kind == 'w'                            ? 2
		: kind == 'b'                            ? 1
		: kind == 'X'                            ? 64
							 : 8;
}

static size_t alignment_of(char kind) { return kind == 'X' ? 1 : kind == 'V' ? 4 : size_of(kind); }

static void read_parameters(const struct gt_api *api, const uint8_t *params, uint64_t *words)
{
	size_t at = 0, align;
	uint32_t n = 0;

	for (const char *p = api->params; *p && n < WORDS_MAX;
		p += strcspn(p, " "), p += *p == ' ') {
		align = alignment_of(*p);
		at = (at + align - 1) / align * align;
		words[n++] = parameter(*p, params + at);
		at += size_of(*p);
	}
}

/* ---- calls ---- */

/* CUPTI keeps one word for its client from a call's begin to its end. It holds the begin's time, or
 * 0 if the call is not recorded. */
static void call_begins(uint32_t id, const struct gt_cupti_call *c)
{
	uint64_t words[WORDS_MAX];
	struct gt_call call;

	*c->client_word = 0;
	if (!gt_call_enter(&call, id))
		return;
	if (call.t->args >= GT_ARGS_KEY) {
		read_parameters(&gt_api[id], c->params, words);
		gt_call_start(&call, gt_call_open_args(&call, words));
	} else {
		gt_call_start(&call, 0);
	}
	*c->client_word = call.start;
}

/* Finds the open call with this start. Inner calls that longjmp has left are closed with it. */
static bool find_open(struct gt_tcb *t, uint64_t start, uint32_t *depth)
{
	uint32_t d = t->depth & 255;

	while (d && t->ring->open[d - 1].start != start)
		d--;
	for (uint32_t k = t->depth & 255; d && k > d; k--) {
		gt_ring_count_abandoned(t);
		gt_ring_close_call(t, k - 1);
	}
	*depth = d - 1;
	return d;
}

/* The stack that the call was opened with; 0: none. */
static uint32_t stack_of_open(const struct gt_ring_open *o)
{
	return o->nargs & GT_REC_STACKED ? (uint32_t)o->args[(o->nargs & ~GT_REC_STACKED) - 1] : 0;
}

static void put_correlation(const struct gt_call *call, uint32_t cbid, uint32_t correlation)
{
	const struct gt_ev_call e = {
		.correlation = correlation, .cbid = cbid, .tid = call->t->tid
	};

	if (call->t->ring && gt_shared->gpu && gt_api_makes_work(gt_api[call->id].op))
		gt_ring_put_event(
			call->t, GT_EV_INJECTED_CALL, call->start, call->end, &e, sizeof(e));
}

static void call_ends(uint32_t id, uint32_t cbid, const struct gt_cupti_call *c)
{
	gt_after *after = gt_after_by_id[id];
	struct gt_call call = { .t = gt_self, .start = *c->client_word, .id = (uint16_t)id };
	bool recorded = call.start && call.t->ring && find_open(call.t, call.start, &call.depth);
	uint64_t words[WORDS_MAX];
	int32_t ret;

	if (!recorded && !after)
		return;
	memcpy(&ret, c->result, sizeof(ret));
	if (recorded) {
		call.stack = stack_of_open(&call.t->ring->open[call.depth]);
		gt_call_stop(&call);
	}
	read_parameters(&gt_api[id], c->params, words);
	/* only wrappers need the two hooks that are excluded */
	if (after && after != gt_after_get_proc && after != gt_after_init)
		after(ret, words, NULL);
	if (!recorded)
		return;
	if (call.t->args >= GT_ARGS_KEY)
		gt_call_record_args(&call, ret, words);
	else
		gt_call_record(&call, ret);
	put_correlation(&call, cbid, c->correlation);
}

static void on_driver_call(uint32_t cbid, const struct gt_cupti_call *c)
{
	uint32_t id = cbid < GT_CBID_MAX ? ids[cbid] : UNKNOWN;

	if (gt_inside)
		return;
	if (id == UNKNOWN && c->site == GT_CUPTI_ENTER)
		gt_record_unknown_function(c->function);
	else if (id != UNKNOWN && c->site == GT_CUPTI_ENTER)
		call_begins(id, c);
	else if (id != UNKNOWN)
		call_ends(id, cbid, c);
}

/* ---- the start ---- */

/* True: the call needs a callback. Calls that are never recorded get none, so they cost nothing. */
static bool needs_callback(uint32_t cbid)
{
	static int (*name_of)(int, uint32_t, const char **);
	const char *name = NULL;
	uint32_t id;

	if (!name_of)
		name_of = gt_find_in_library(GT_CUPTI_LIBRARY, "cuptiGetCallbackName");
	ids[cbid] = UNKNOWN;
	if (!name_of || name_of(GT_CUPTI_DRIVER_CALLS, cbid, &name) || !name)
		return false;
	id = gt_api_find(name);
	if (id != GT_NONE)
		ids[cbid] = (uint16_t)id;
	else if (!gt_api_is_cuda(name))
		return false;
	return id == GT_NONE || gt_after_by_id[id] || gt_shared->gate[id] != GT_GATE_OFF;
}

static bool needs_none(uint32_t cbid) { return (void)cbid, false; }

/* A running program may use CUPTI itself: there the guest takes CUPTI's records only if it can
 * subscribe. It enables them before the calls, so that each recorded call has its records. */
void gt_inject_start(void)
{
	int code = gt_attached && gt_gpu_load_cupti()
		? gt_callbacks_subscribe_calls(on_driver_call, needs_none)
		: 0;

	if (!code) {
		gt_gpu_start();
		code = gt_callbacks_subscribe_calls(on_driver_call, needs_callback);
	}
	if (code)
		gt_gpu_report_no_calls(code);
}

GT_EXPORT int InitializeInjection(void);
GT_EXPORT int InitializeInjection(void)
{
	static int32_t started; /* the process that has started it */
	int32_t pid = gt_own_pid();

	if (__atomic_exchange_n(&started, pid, __ATOMIC_ACQ_REL) == pid)
		return 1;
	if (!gt_self->ring)
		gt_register_thread(); /* with a session, if one has set the library */
	GT_GUEST_CODE;
	if (gt_shared && gt_shared->inject)
		gt_inject_start();
	else if (!gt_shared || !gt_shared->gpu)
		gt_gpu_start_for_probes();
	return 1;
}
