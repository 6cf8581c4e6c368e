/* GPU times without CUPTI: a call that makes GPU work is put between two CUDA events on its
 * stream; later the driver returns the time between them. The program does not wait: its threads
 * only put events into the stream, and a thread of the guest reads them when they are finished.
 *
 * MEANING. The first event is finished when all earlier work of the stream is, the second when
 * the call's work is. So a duration is an upper bound. It includes the work, the GPU's time for
 * two events (1 to 2 us), and, if the stream was idle, the host's time for the call, as the GPU
 * has already passed the first event. For a call that returns when the copy is done it also
 * includes the host's return. No other work of the stream is between the two events unless two
 * threads use it.
 *
 * POSITION IN TIME. An event has only a distance from another event. So each context has a
 * reference: an event on a stream of the guest, recorded and queried until it is finished, several
 * times. The GPU reached it between two host times; the tightest pair of host times is used. The
 * reference is refreshed every second, as distances are floats and clocks drift. The new host
 * time is between the prediction of the old reference and the middle of the new pair. The
 * possible error is recorded.
 *
 * CAPTURE. While a stream captures, its calls become graph nodes and run nothing, so they get no
 * events. An event on a legacy default stream would invalidate the capture of another stream that
 * it synchronizes with. cuStreamIsCapturing reports a capture without invalidating it, but only
 * the present state. So a thread that begins a capture first waits until no event of the
 * guest is being recorded on a legacy stream, and calls during that beginning get no events. The
 * guest's thread makes calls that a capture forbids to all threads (such as querying an event) in
 * relaxed mode, which allows them.
 *
 * CONTEXTS. Events are destroyed with their context and must not be queried after that. So a
 * thread that destroys a context first reads its finished events, and locks the guest's thread out
 * meanwhile. In a forked child all state is empty, as the driver does not work there.
 *
 * A pair (struct gt_event_pair) is two events and the data of the call. A process has PAIRS of
 * them. Each belongs to the context of its events; it moves to another context that finds none,
 * as one busy context would otherwise keep them all. Free pairs are on a stack per context; pairs
 * whose call was made are submitted to the guest's thread on another stack. */
#define _GNU_SOURCE
#include "collect/guest/events/guest_events_internal.h"

#include <linux/futex.h>
#include <stdlib.h>
#include "collect/guest/core/guest_args.h"
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_fast_path.h"

#define REFILL 8u /* pairs that get events at a time */

struct gt_event_functions gt_cu;
struct gt_events *gt_events;
static int32_t events_pid;
uint8_t gt_event_pairs_on;
/* this thread has locked reading, to destroy a context */
static __thread bool holds_read_lock GT_TLS;

/* ---- stacks ---- */

static struct gt_index_stack pairs_at(uint64_t *stack)
{
	/* pairs are numbered from 1: this is where the next of a pair 0 would be */
	uintptr_t next_of_0 = (uintptr_t)gt_events->pair - sizeof(struct gt_event_pair) +
		offsetof(struct gt_event_pair, next);

	return (struct gt_index_stack){ stack, (uint8_t *)next_of_0, sizeof(struct gt_event_pair),
		1, PAIRS + 1 };
}

void gt_event_pair_push(uint64_t *stack, struct gt_event_pair *b)
{
	const struct gt_index_stack s = pairs_at(stack);

	gt_index_stack_push(&s, gt_event_pair_index(b));
}

struct gt_event_pair *gt_event_pair_pop(uint64_t *stack)
{
	const struct gt_index_stack s = pairs_at(stack);
	uint32_t i;

	return gt_index_stack_pop(&s, &i) ? gt_event_pair_at(i) : NULL;
}

void gt_event_pair_release(struct gt_event_pair *b)
{
	struct gt_event_context *c = gt_event_pair_context(b);

	gt_event_pair_push(__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == LIVE
			? &c->free
			: &gt_events->without_events,
		b);
	__atomic_fetch_sub(&c->in_use, 1, __ATOMIC_RELEASE);
}

void gt_events_count_untimed(enum gt_untimed why)
{
	__atomic_fetch_add(&gt_events->untimed[why], 1, __ATOMIC_RELAXED);
}

void gt_events_wake(void)
{
	__atomic_fetch_add(&gt_events->wakeups, 1, __ATOMIC_RELEASE);
	if (__atomic_load_n(&gt_events->sleeping, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &gt_events->wakeups, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- on the program's threads ---- */

struct gt_event_context *gt_events_find_context(uint64_t handle)
{
	for (struct gt_event_context *c = gt_events->context; c < gt_events->context + CONTEXTS;
		c++)
		if (c->handle == handle && __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == LIVE)
			return c;
	return NULL;
}

/* Two threads must not add the same context. A signal handler that interrupts this function gets
 * none. */
static struct gt_event_context *add_context(uint64_t handle)
{
	struct gt_event_context *c = NULL;
	int tries = 1000;

	while (__atomic_exchange_n(&gt_events->adding, 1, __ATOMIC_ACQUIRE)) {
		if (!tries--)
			return NULL;
		syscall(SYS_sched_yield);
	}
	c = gt_events_find_context(handle);
	for (uint32_t i = 0; !c && i < CONTEXTS; i++) {
		if (gt_events->context[i].state != FREE)
			continue;
		c = &gt_events->context[i];
		c->handle = handle;
		__atomic_store_n(&c->state, LIVE, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&gt_events->adding, 0, __ATOMIC_RELEASE);
	return c;
}

static bool make_events(struct gt_event_pair *b)
{
	if (gt_cu.create(&b->begin, 0))
		return false;
	if (!gt_cu.create(&b->end, 0))
		return true;
	gt_cu.destroy(b->begin);
	return false;
}

/* Creates CUDA events of this context for some pairs. False: the driver refused, now or recently.
 */
static bool add_pairs(struct gt_event_context *c)
{
	int32_t mode = RELAXED;
	uint64_t handle;
	struct gt_event_pair *b;
	bool refused = false;

	if (__atomic_load_n(&c->create_failed, __ATOMIC_RELAXED) || gt_cu.push(c->handle))
		return false;
	gt_cu.mode(&mode);
	for (uint32_t i = 0; i < REFILL && (b = gt_event_pair_pop(&gt_events->without_events));
		i++) {
		if (!make_events(b)) {
			gt_event_pair_push(&gt_events->without_events, b);
			c->create_failed = 1;
			refused = true;
			break;
		}
		b->context = (uint16_t)(c - gt_events->context);
		gt_event_pair_push(&c->free, b);
	}
	gt_cu.mode(&mode);
	gt_cu.pop(&handle);
	return !refused;
}

static struct gt_event_pair *take_pair(struct gt_event_context *c, bool *refused)
{
	struct gt_event_pair *b;

	/* first: a context with pairs in use is not recycled */
	__atomic_fetch_add(&c->in_use, 1, __ATOMIC_SEQ_CST);
	b = gt_event_pair_pop(&c->free);
	if (!b) {
		*refused = !add_pairs(c);
		b = gt_event_pair_pop(&c->free);
	}
	if (!b)
		__atomic_fetch_sub(&c->in_use, 1, __ATOMIC_RELEASE);
	return b;
}

/* Records an event unless it would enter or disturb a capture. 0, CAPTURING, BEGINNING, or the
 * driver's error. */
static int32_t record(uint64_t event, uint64_t stream)
{
	int32_t capturing = 0, code = BEGINNING;

	if (stream == LEGACY)
		__atomic_fetch_add(&gt_events->recording, 1, __ATOMIC_SEQ_CST);
	if (stream != LEGACY || !__atomic_load_n(&gt_events->beginning, __ATOMIC_SEQ_CST))
		code = gt_cu.capturing(stream, &capturing) || capturing
			? CAPTURING
			: gt_cu.record(event, stream);
	if (stream == LEGACY)
		__atomic_fetch_sub(&gt_events->recording, 1, __ATOMIC_SEQ_CST);
	return code;
}

static uint64_t stream_of(const struct gt_event_call *y, const uint64_t *params)
{
	uint64_t s = y->param == GT_NO_FUNC ? 0 : params[y->param];

	if (y->in_struct && s)
		memcpy(&s, (const uint8_t *)(uintptr_t)s + y->at, sizeof(s));
	return s ? s : y->per_thread ? PER_THREAD : LEGACY;
}

/* Takes a pair of this context and records its first event. *code: the error, if recording
 * failed. */
static struct gt_event_pair *begin_in_context(uint64_t handle, uint64_t stream, int32_t *code)
{
	struct gt_event_context *c = gt_events_find_context(handle);
	struct gt_event_pair *b;
	bool refused;

	if (!c)
		c = add_context(handle);
	refused = !c && (uint32_t)gt_events->without_events;
	b = c ? take_pair(c, &refused) : NULL;
	if (!b) {
		if (c && !refused)
			__atomic_store_n(&c->needs_pairs, 1, __ATOMIC_RELAXED);
		gt_events_count_untimed(refused ? GT_UNTIMED_ERROR : GT_UNTIMED_POOL);
		return NULL;
	}
	b->stream = stream;
	*code = record(b->begin, stream);
	if (!*code)
		return b;
	gt_event_pair_release(b);
	return NULL;
}

static struct gt_event_pair *begin_pair(uint64_t stream)
{
	uint64_t handle = 0, other = 0;
	struct gt_event_pair *b;
	int32_t code = 0;

	if (gt_cu.current(&handle) || !handle)
		return NULL;
	b = begin_in_context(handle, stream, &code);
	if ((code == INVALID_HANDLE || code == INVALID_CONTEXT) && stream > PER_THREAD &&
		!gt_cu.stream_context(stream, &other) && other && other != handle)
		/* the stream belongs to another context */
		b = begin_in_context(other, stream, &code);
	if (!b && code && code != CAPTURING)
		gt_events_count_untimed(code == BEGINNING ? GT_UNTIMED_CAPTURE : GT_UNTIMED_ERROR);
	return b;
}

struct gt_event_pair *gt_event_pair_begin(uint32_t id, const uint64_t *params)
{
	if (gt_inside || __atomic_load_n(&gt_events->on, __ATOMIC_RELAXED) != ON ||
		!gt_events->calls[id].work)
		return NULL;
	GT_GUEST_CODE;
	return begin_pair(stream_of(&gt_events->calls[id], params));
}

/* Stores the call's parameters in the pair. */
static void describe(struct gt_event_pair *b, const struct gt_call *c, const uint64_t *params)
{
	uint64_t v;

	b->id = c->id;
	b->tid = c->t->tid;
	b->start = c->start;
	b->ngrid = b->nblock = b->shared = 0;
	b->name = b->bytes = b->value = b->peers[0] = b->peers[1] = 0;
	for (uint32_t i = gt_args_first[c->id]; i < gt_args_first[c->id + 1]; i++) {
		const struct gt_arg *a = &gt_args[i];

		if (a->role < GT_R_BYTES || a->role > GT_R_VALUE)
			continue;
		v = gt_arg_value(c->t, a, params, 0);
		switch (a->role) {
		case GT_R_FUNC: b->name = gt_kernel_name(v); break;
		case GT_R_GRID:
			if (b->ngrid < 3)
				b->grid[b->ngrid++] = (uint32_t)v;
			break;
		case GT_R_BLOCK:
			if (b->nblock < 3)
				b->block[b->nblock++] = (uint32_t)v;
			break;
		case GT_R_SHARED: b->shared = (uint32_t)v; break;
		case GT_R_BYTES: b->bytes = v; break;
		case GT_R_VALUE: b->value = v; break;
		case GT_R_CONTEXT: b->peers[b->peers[0] != 0] = v; break;
		}
	}
}

static void submit_pair(struct gt_event_pair *b)
{
	uint32_t head = __atomic_load_n(&gt_events->submitted, __ATOMIC_ACQUIRE);

	do
		b->next = head;
	while (!__atomic_compare_exchange_n(&gt_events->submitted, &head, gt_event_pair_index(b),
		false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
}

void gt_event_pair_end(
	struct gt_event_pair *b, const struct gt_call *c, int32_t ret, const uint64_t *params)
{
	int32_t code;

	if (!c->t->ring) /* a child that was forked inside the call */
		return;
	GT_GUEST_CODE;
	code = ret ? CAPTURING : record(b->end, b->stream);
	if (!code) {
		describe(b, c, params);
		submit_pair(b);
	} else {
		gt_event_pair_release(b);
		if (!ret)
			gt_events_count_untimed(code < 0 ? GT_UNTIMED_CAPTURE : GT_UNTIMED_ERROR);
	}
}

/* ---- begin of a capture, end of a context ---- */

/* Waits until no event is being recorded on a legacy stream. That takes a few us, and at most 0.1
 * s if a full queue blocks one. */
void gt_before_begin_capture(const uint64_t *params)
{
	int saved = errno;

	(void)params;
	if (!gt_event_pairs_on)
		return;
	__atomic_fetch_add(&gt_events->beginning, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 2000 && __atomic_load_n(&gt_events->recording, __ATOMIC_SEQ_CST); i++)
		gt_sleep(i < 100 ? 1000 : 50000);
	errno = saved;
}

void gt_events_capture_began(void)
{
	if (gt_event_pairs_on && __atomic_load_n(&gt_events->beginning, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&gt_events->beginning, 1, __ATOMIC_SEQ_CST);
}

/* Returns a context to push on this thread's stack, as reading replaces the top one; 0: there is
 * none. */
static uint64_t any_context(void)
{
	for (struct gt_event_context *c = gt_events->context; c < gt_events->context + CONTEXTS;
		c++)
		if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == LIVE)
			return c->handle;
	return 0;
}

/* handle: the context that may end; 0: any. False: the guest's thread could not be locked out. */
static bool before_context_end(uint64_t handle)
{
	int32_t mode = RELAXED;
	uint64_t top = 0;
	GT_GUEST_CODE;

	if (!gt_event_pairs_on || gt_events->on != ON || holds_read_lock)
		return true;
	if (!gt_events_lock(20000))
		return false;
	holds_read_lock = true;
	top = handle && gt_events_find_context(handle) ? handle : any_context();
	if (top && !gt_cu.push(top)) {
		gt_cu.mode(&mode);
		gt_events_read_finished(PAIRS, handle);
		gt_cu.mode(&mode);
		gt_cu.pop(&top);
	}
	return true;
}

static bool same_device(const struct gt_event_context *c, int32_t device)
{
	return device < 0 || !c->id || c->device == device;
}

/* device -1: any device; -2: compare the context, not the device. */
static void mark_contexts_dead(uint64_t handle, int32_t device)
{
	for (struct gt_event_context *c = gt_events->context; c < gt_events->context + CONTEXTS;
		c++)
		if (c->state == LIVE &&
			(device == -2 ? c->handle == handle : same_device(c, device)))
			__atomic_store_n(&c->state, DEAD, __ATOMIC_RELEASE);
}

static void after_context_end(bool ended, uint64_t handle, int32_t device)
{
	if (!holds_read_lock)
		return;
	if (ended)
		mark_contexts_dead(handle, device);
	holds_read_lock = false;
	gt_events_unlock();
}

/* cuCtxDestroy(CUcontext). If the guest's thread cannot be locked out, the context is marked dead
 * before it ends. */
void gt_before_context_end(const uint64_t *params)
{
	if (!before_context_end(params[0]))
		mark_contexts_dead(params[0], -2);
}

void gt_after_context_end(int32_t ret, const uint64_t *params, const void *caller)
{
	(void)caller;
	after_context_end(!ret, params[0], -2);
}

static int32_t device_in(const uint64_t *params)
{
	return params[0] < 4096 ? (int32_t)params[0] : -1;
}

/* cuDevicePrimaryCtxRelease(CUdevice), cuDevicePrimaryCtxReset(CUdevice),
 * cuGreenCtxDestroy(CUgreenCtx): the context is not known. A context marked dead by mistake is
 * added again at its next launch. */
void gt_before_device_end(const uint64_t *params)
{
	if (!before_context_end(0))
		mark_contexts_dead(0, device_in(params));
}

void gt_after_device_end(int32_t ret, const uint64_t *params, const void *caller)
{
	int32_t device = device_in(params), active = 0;
	uint32_t flags;

	(void)caller;
	if (!holds_read_lock)
		return;
	if (device >= 0 && !ret && gt_cu.primary(device, &flags, &active))
		active = 0;
	after_context_end(!ret && !active, 0, device);
}

/* ---- exec ---- */

static void put_state(enum gt_gpu_state state)
{
	GT_GUEST_CODE;

	gt_events_report_state(state, "", 0);
}

/* exec is about to replace the program. Does not wait for unfinished events. A child of vfork
 * does nothing here. */
void gt_events_before_exec(void)
{
	if (!gt_event_pairs_on || holds_read_lock || gt_events_used_before_fork())
		return;
	gt_events->ending = true;
	for (int i = 0; i <= END_TRIES; i++) {
		bool again;

		before_context_end(0);
		if (!holds_read_lock)
			return;
		again = i < END_TRIES && gt_events_lack_reference();
		if (!gt_events->waiting)
			put_state(GT_GPU_OFF);
		after_context_end(false, 0, -1);
		if (!again)
			return;
		gt_sleep(END_PAUSE_NS);
	}
}

void gt_events_after_failed_exec(void)
{
	if (!gt_event_pairs_on || gt_events_used_before_fork())
		return;
	gt_events->ending = false;
	put_state(GT_GPU_CONTINUED);
}

/* ---- start and end ---- */

static bool find_functions(void)
{
	static const struct gt_function_row functions[] = {
#define F(field, function) { #function, offsetof(struct gt_event_functions, field), true }
		F(current, cuCtxGetCurrent),
		F(set, cuCtxSetCurrent),
		F(push, cuCtxPushCurrent_v2),
		F(pop, cuCtxPopCurrent_v2),
		F(device, cuCtxGetDevice),
		F(create, cuEventCreate),
		F(destroy, cuEventDestroy_v2),
		F(record, cuEventRecord),
		F(query, cuEventQuery),
		F(elapsed, cuEventElapsedTime),
		F(stream, cuStreamCreate),
		F(capturing, cuStreamIsCapturing),
		F(stream_context, cuStreamGetCtx),
		F(mode, cuThreadExchangeStreamCaptureMode),
		F(primary, cuDevicePrimaryCtxGetState),
#undef F
	};

	return gt_find_functions(
		GT_DRIVER_LIBRARY, functions, sizeof(functions) / sizeof(*functions), &gt_cu);
}

/* Finds in the table which calls are timed, and which parameter is their stream. */
static void find_calls(void)
{
	for (uint32_t id = 0; id < gt_api_count; id++) {
		const char *name = gt_api[id].name;
		struct gt_event_call *y = &gt_events->calls[id];

		/* several streams at once, or a configuration elsewhere in memory */
		y->work = gt_api_makes_work(gt_api[id].op) && !strstr(name, "MultiDevice");
		y->per_thread = gt_api_per_thread(name);
		y->param = GT_NO_FUNC;
		for (uint32_t i = gt_args_first[id]; i < gt_args_first[id + 1]; i++)
			if (gt_args[i].role == GT_R_STREAM &&
				(gt_args[i].how == GT_FROM_WORD ||
					gt_args[i].how == GT_FROM_MEM64)) {
				y->param = gt_args[i].param;
				y->in_struct = gt_args[i].how == GT_FROM_MEM64;
				y->at = gt_args[i].at;
			}
	}
}

static bool map_state(void)
{
	gt_events = gt_map_of_process(sizeof(*gt_events));
	if (!gt_events)
		return false;
	for (uint32_t i = PAIRS; i--;)
		gt_event_pair_push(&gt_events->without_events, &gt_events->pair[i]);
	find_calls();
	events_pid = gt_own_pid();
	return true;
}

bool gt_events_start(const char *why)
{
	if (!find_functions() || !map_state())
		return false;
	gt_events->on = ON;
	if (!gt_events_start_thread()) {
		gt_events->on = OFF;
		return false;
	}
	__atomic_store_n(&gt_event_pairs_on, 1, __ATOMIC_RELEASE);
	for (uint32_t id = 0; id < gt_api_count; id++)
		if (gt_events->calls[id].work)
			gt_fast_path_disable(id);
	atexit(gt_events_stop);
	gt_events_report_state(GT_GPU_EVENTS, why, 0);
	return true;
}

bool gt_events_used_before_fork(void) { return gt_events && events_pid != gt_own_pid(); }
