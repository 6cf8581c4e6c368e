/* GPU work from CUPTI's activity records. After the program's first cuInit this file loads CUPTI,
 * or uses the copy that is loaded already, and enables records of kernels, copies and sets, and
 * of those driver calls that make such work. The record of a call and that of its work have the
 * same correlation id; the call's time and thread identify the call that a wrapper has recorded.
 * The recorder joins them.
 *
 * The synchronization kind is not enabled. On an H200 (driver 580, CUPTI 13.0) it switched on
 * CUPTI's tracing of the runtime API. With that, a driver call inside a runtime call has no
 * record of its own, and its work has the number of the runtime call: without the kind 100 % of
 * the work of all programs was joined, with it none of a runtime program's. CUPTI's record of a
 * wait also says no more than the recorded call, from which the recorder makes the wait.
 *
 * CUPTI requests empty buffers on the program's threads, and delivers full ones on a thread of
 * its own. The request only takes a buffer from a stack. The delivery converts records to events
 * (guest_cupti_records.c) on a ring of CUPTI's thread, where they survive the program. CUPTI
 * delivers full buffers by itself; a thread of the guest makes it deliver the others every 250 ms.
 *
 * A request is never refused, as CUPTI before CUDA 12.9 crashes on that. If all buffers are in
 * use, more are mapped, up to 2 GiB. After that each request gets one shared buffer, in which
 * records overwrite each other: they are lost, and counted. A buffer that is not the guest's
 * belongs to another user of CUPTI (guest_cupti_sharing.c). */
#define _GNU_SOURCE
#include "collect/guest/cupti/guest_cupti_activity.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "collect/ipc/cupti_paths.h"
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/core/guest_objects.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/cupti/guest_cupti_callbacks.h"
#include "collect/guest/cupti/guest_cupti_clock.h"
#include "collect/guest/cupti/guest_cupti_on_attach.h"
#include "collect/guest/cupti/guest_cupti_records.h"
#include "collect/guest/cupti/guest_cupti_sharing.h"
#include "collect/guest/cupti/guest_usdt.h"
#include "collect/guest/events/guest_event_timing.h"
#include "formats/cuda/cuda_api_cbid.h"

#define BUFFER_BYTES (64u << 10) /* some 300 kernels */
#define SLAB 512u                /* buffers mapped at a time */
#define SLABS 64u
#define BUFFERS (SLAB * SLABS)
#define SHARED_BUFFER 0u /* index of the buffer for requests when none is free */
#define FLUSH_NS 250000000
#define LAST_FLUSH_NS 10000000 /* while the session is about to end */
#define WATCH_NS 80000000      /* round of the thread without a session */
#define RESUME_NS 400000000ull /* from another user's end to the guest's next start */

static struct gt_cupti cupti;

/* State of one process: a forked child finds it empty, and CUPTI does not work there. */
struct gt_cupti_session {
	uint32_t
		use; /* enum gt_cupti_use; futex of the fetching thread, which ends at GT_USE_OFF */
	uint64_t resume_at;   /* ns; 0: no resumption is scheduled */
	uint64_t buffers_out; /* buffers that CUPTI has */
	uint64_t free;        /* stack of buffers, numbered by index + 1 */
	uint8_t *slabs[SLABS];
	uint32_t abort_flush; /* 1: abort waits for a last flush */
	/* 1: another user had CUPTI first, so call records cannot be selected */
	uint32_t late_start;
	uint32_t foreign_clock;      /* 1: CUPTI uses another user's clock */
	uint32_t watching;           /* 1: there is no session, only the probes */
	uint32_t records_max;        /* maximum number of records in a buffer; 0: as many as fit */
	uint32_t records_seen;       /* since the last round */
	uint32_t buffers_used;       /* number of buffers ever requested */
	uint32_t below[BUFFERS + 1]; /* links of that stack, by number */
	struct gt_gpu_names names;
};
static struct gt_cupti_session *gpu;
static int32_t gpu_pid; /* the process that the state belongs to */

/* Is GPU work recorded? Otherwise CUPTI serves the probes only. */
static bool needs_gpu(void) { return gt_shared && gt_shared->gpu; }
static bool is_recording(void) { return needs_gpu() && !gt_passive; }

static struct gt_cupti_session *own_session(void) { return gpu_pid == gt_own_pid() ? gpu : NULL; }

/* ---- buffers ---- */

static uint8_t *slab(uint32_t k)
{
	uint8_t *there = __atomic_load_n(&gpu->slabs[k], __ATOMIC_ACQUIRE), *new;

	if (there || !(new = gt_map((size_t)SLAB * BUFFER_BYTES)))
		return there;
	if (__atomic_compare_exchange_n(
		    &gpu->slabs[k], &there, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return new;
	syscall(SYS_munmap, new, (size_t)SLAB * BUFFER_BYTES);
	return there;
}

static uint8_t *buffer_at(uint32_t i)
{
	uint8_t *s = i < BUFFERS ? slab(i / SLAB) : NULL;

	return s ? s + (size_t)(i % SLAB) * BUFFER_BYTES : NULL;
}

/* Index of a buffer of the guest; BUFFERS: it is not the guest's. */
static uint32_t index_of(const uint8_t *buffer)
{
	for (uint32_t k = 0; k < SLABS && gpu->slabs[k]; k++)
		if (buffer >= gpu->slabs[k] && buffer < gpu->slabs[k] + (size_t)SLAB * BUFFER_BYTES)
			return k * SLAB +
				(uint32_t)((size_t)(buffer - gpu->slabs[k]) / BUFFER_BYTES);
	return BUFFERS;
}

static struct gt_index_stack free_buffers(void)
{
	return (struct gt_index_stack){ &gpu->free, (uint8_t *)gpu->below, sizeof(*gpu->below), 1,
		BUFFERS + 1 };
}

static uint8_t *take_buffer(void)
{
	const struct gt_index_stack s = free_buffers();
	uint32_t number;

	if (gt_index_stack_pop(&s, &number))
		return buffer_at(number - 1);
	if (__atomic_load_n(&gpu->buffers_used, __ATOMIC_RELAXED) >= BUFFERS)
		return NULL;
	return buffer_at(__atomic_fetch_add(&gpu->buffers_used, 1, __ATOMIC_RELAXED));
}

static void give_buffer(uint8_t *buffer, uint32_t index, size_t dirty)
{
	const struct gt_index_stack s = free_buffers();

	/* buffers of further slabs are seldom needed */
	if (index < SLAB || syscall(SYS_madvise, buffer, (size_t)BUFFER_BYTES, MADV_DONTNEED))
		memset(buffer, 0, dirty < BUFFER_BYTES ? dirty : BUFFER_BYTES);
	gt_index_stack_push(&s, index + 1);
}

static void requested(uint8_t **buffer, size_t *size, size_t *records_max)
{
	int saved = errno;

	*buffer = take_buffer();
	errno = saved;
	if (!*buffer)
		*buffer = buffer_at(SHARED_BUFFER);
	__atomic_fetch_add(&gpu->buffers_out, 1, __ATOMIC_RELAXED);
	*size = BUFFER_BYTES;
	*records_max = __atomic_load_n(&gpu->records_max, __ATOMIC_RELAXED);
}

/* ---- full buffers ---- */

/* Writes the buffer's records to the ring and puts the buffer back on the stack. */
static void take_records(struct gt_tcb *t, uint8_t *buffer, uint32_t index, size_t valid)
{
	if (!gpu->foreign_clock)
		gt_probes_fire_buffer(cupti.next, buffer, valid);
	if (is_recording())
		gt_gpu_put_records(&gpu->names, t,
			&(struct gt_gpu_buffer){ buffer, valid, cupti.next, gpu->foreign_clock });
	__atomic_fetch_add(&gpu->records_seen, (uint32_t)(valid / GT_K_BYTES), __ATOMIC_RELAXED);
	give_buffer(buffer, index, valid);
}

static void put_dropped(struct gt_tcb *t, void *context, uint32_t stream)
{
	const uint64_t now = gt_slow_clock();
	struct gt_ev_loss e = { .reason = GT_GPU_LOST_DROPPED };
	size_t dropped = 0;

	if (gpu->foreign_clock || cupti.dropped(context, stream, &dropped) || !dropped)
		return;
	e.count = dropped;
	gt_ring_put_event(t, GT_EV_GPU_LOST, now, now, &e, sizeof(e));
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint32_t index = own_session() ? index_of(buffer) : BUFFERS;
	int saved = errno;
	struct gt_tcb *t = NULL;

	if (index == BUFFERS) {
		gt_cupti_forward_buffer(context, stream, buffer, size, valid);
		return;
	}
	t = is_recording() ? gt_producer_ring() : NULL;
	if (index != SHARED_BUFFER)
		take_records(t, buffer, index, valid);
	__atomic_fetch_sub(&gpu->buffers_out, 1, __ATOMIC_RELAXED);
	if (t && index != SHARED_BUFFER)
		put_dropped(t, context, stream);
	/* they may be overwritten */
	for (size_t n = t && index == SHARED_BUFFER ? valid / GT_K_BYTES : 0; n; n--)
		gt_ring_count_drop(t, gt_now(t), gt_now(t));
	errno = saved;
}

void gt_gpu_buffer_completed(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	gt_session_enter();
	complete(context, stream, buffer, size, valid);
	gt_session_leave();
}

/* ---- the thread that fetches completed records ---- */

struct refusal {
	const char *what;
	int code;
}; /* a call that failed, and its error */
static bool enable_kinds(struct refusal *r);
static bool resume(void);

/* CUPTI keeps a buffer while one of its kernels runs. While a tracer is attached to a probe of
 * GPU work, a record should not wait long for a kernel launched before it. So a buffer may hold
 * the records of half a round: one record if kernels are rare. (tests/gpu/cupti_held.c shows that
 * a record always waits for earlier launches of its thread.) A session alone needs no such limit.
 */
static void limit_buffer_fill(void)
{
	uint32_t n = __atomic_exchange_n(&gpu->records_seen, 0, __ATOMIC_RELAXED) / 2;

	n = n < 1 ? 1 : n < BUFFER_BYTES / GT_K_BYTES ? n : 0;
	__atomic_store_n(&gpu->records_max, gpu->watching || gt_probes_need_work() ? n : 0,
		__ATOMIC_RELAXED);
}

/* One round of the guest's thread, with CUPTI locked. how: flag of the flush. */
static void fetch_round(uint32_t how)
{
	struct refusal r;
	uint32_t on;

	limit_buffer_fill();
	/* maps a slab before the threads of the program need it */
	buffer_at(__atomic_load_n(&gpu->buffers_used, __ATOMIC_RELAXED) + SLAB);
	if (gpu->watching)
		gt_probes_poll(__atomic_load_n(&gpu->use, __ATOMIC_SEQ_CST));
	on = __atomic_load_n(&gpu->use, __ATOMIC_SEQ_CST);
	gt_clock_update();
	if (on == GT_USE_ON && gt_callbacks_follow_probe())
		enable_kinds(&r);
	if (on == GT_USE_ON)
		cupti.flush(how);
	else if (on == GT_USE_YIELDED && __atomic_load_n(&gpu->resume_at, __ATOMIC_ACQUIRE) &&
		gt_slow_clock() >= gpu->resume_at)
		gt_cupti_run_if_unused(resume);
}

static bool stop_use(enum gt_gpu_state state, const char *text);

/* The program may run for days: it does not keep CUPTI. */
static bool end_with_session(void)
{
	if (gpu->watching || !gt_session_is_over())
		return false;
	if (gt_owner_has_died())
		gt_gpu_yield("gtcollect has died");
	else
		stop_use(GT_GPU_OFF, "");
	return true;
}

/* Of a thread that serves an attached program: gtcollect wakes it when the session is over. */
static void wait_for_round(uint32_t on)
{
	uint32_t detach =
		gt_attached ? __atomic_load_n(&gt_shared->detach, __ATOMIC_ACQUIRE) : GT_DETACH_NOT;
	const struct timespec wait = { .tv_nsec = gpu->watching ? WATCH_NS
			: detach                                ? LAST_FLUSH_NS
								: FLUSH_NS };

	if (gt_attached)
		syscall(SYS_futex, &gt_shared->detach, FUTEX_WAIT, detach, &wait, NULL, 0);
	else
		syscall(SYS_futex, &gpu->use, FUTEX_WAIT, on, &wait, NULL, 0);
}

static void *fetch_thread(void *arg)
{
	bool locked;
	uint32_t on, dying;

	gt_inside = true;
	while ((on = __atomic_load_n(&gpu->use, __ATOMIC_ACQUIRE)) != GT_USE_OFF) {
		wait_for_round(on);
		if (!gt_cupti_lock(&locked))
			continue;
		if (end_with_session()) {
			gt_cupti_unlock(locked);
			break;
		}
		dying = __atomic_load_n(&gpu->abort_flush, __ATOMIC_ACQUIRE);
		fetch_round(dying ? GT_CUPTI_FORCED : 0);
		__atomic_compare_exchange_n(
			&gpu->abort_flush, &dying, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		gt_cupti_unlock(locked);
	}
	return arg;
}

static void put_state(enum gt_gpu_state state, const char *text, int64_t detail);

/* Fetches the last records. They may be of work that still runs. CUPTI's own exit handler may
 * follow, and the guest's thread must not be in CUPTI then. */
static void at_exit(void)
{
	bool locked;
	uint32_t on;

	if (!own_session())
		return;
	on = __atomic_exchange_n(&gpu->use, GT_USE_OFF, __ATOMIC_SEQ_CST);
	GT_GUEST_CODE;
	gt_cupti_lock(&locked); /* the guest's thread may be using CUPTI, or ending it */
	if (on == GT_USE_ON) {
		cupti.flush(GT_CUPTI_FORCED);
		put_state(GT_GPU_OFF, "", 0);
	}
	gt_cupti_unlock(locked);
}

/* CUPTI is in use, by this process and not by the one that it was forked from. */
static bool is_on(void)
{
	return gpu && own_session() && __atomic_load_n(&gpu->use, __ATOMIC_ACQUIRE) == GT_USE_ON;
}

/* As at exit, but the program may continue. A child of vfork does nothing here. */
void gt_gpu_before_exec(void)
{
	bool locked;

	gt_events_before_exec();
	if (!is_on())
		return;
	GT_GUEST_CODE;
	gt_cupti_lock(&locked);
	cupti.flush(GT_CUPTI_FORCED);
	gt_cupti_unlock(locked);
	put_state(GT_GPU_OFF, "", 0);
}

/* The aborting thread may hold any lock, so it does not call CUPTI: the guest's thread flushes
 * instead. */
void gt_gpu_before_abort(void)
{
	if (!is_on())
		return;
	__atomic_store_n(&gpu->abort_flush, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &gpu->use, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (int i = 0; i < 1000 && __atomic_load_n(&gpu->abort_flush, __ATOMIC_ACQUIRE); i++)
		gt_sleep(1000000);
}

void gt_gpu_after_failed_exec(void)
{
	gt_events_after_failed_exec();
	if (!is_on())
		return;
	GT_GUEST_CODE;
	put_state(GT_GPU_CONTINUED, "", 0);
}

/* ---- loading CUPTI ---- */

static bool find_functions(void)
{
	static const struct gt_function_row functions[] = {
#define F(field, function, must) { #function, offsetof(struct gt_cupti, field), must }
		F(version, cuptiGetVersion, true),
		F(timestamps, cuptiActivityRegisterTimestampCallback, true),
		F(thread_ids, cuptiSetThreadIdType, true),
		F(which_thread_ids, cuptiGetThreadIdType, false),
		F(set_attribute, cuptiActivitySetAttribute, true),
		F(callbacks, cuptiActivityRegisterCallbacks, true),
		F(enable, cuptiActivityEnable, true),
		F(disable, cuptiActivityDisable, true),
		F(enable_driver_call, cuptiActivityEnableDriverApi, false),
		F(counters, cuptiActivityConfigureUnifiedMemoryCounter, false),
		F(flush, cuptiActivityFlushAll, true),
		F(next, cuptiActivityGetNextRecord, true),
		F(dropped, cuptiActivityGetNumDroppedRecords, true),
#undef F
	};

	return gt_find_functions(
		GT_CUPTI_LIBRARY, functions, sizeof(functions) / sizeof(*functions), &cupti);
}

/* Uses the copy that is mapped already, else the one that the user named, else searches by name.
 * The name of the driver's own CUDA version comes first, as the driver refuses a newer CUPTI.
 * Each name is tried as the loader finds it, then in places that the loader does not search. */
bool gt_gpu_load_cupti(void)
{
	static const char *const names[] = GT_CUPTI_NAMES;
	void *(*load)(const char *, int) = gt_find_libc_function("dlopen");
	int (*driver)(int *) = gt_find_driver_function("cuDriverGetVersion");
	bool by_option = gt_shared && *gt_shared->cupti;
	const char *named = by_option ? gt_shared->cupti : gt_environment("GT_CUPTI");
	struct gt_object o = { .path = "" };
	char library[PATH_MAX];
	int version = 0, first;

	if (find_functions()) { /* its owner may close it: this reference keeps it loaded */
		if (load && gt_object_at((const void *)(uintptr_t)cupti.flush, &o) && *o.path)
			load(o.path, RTLD_NOW | RTLD_NOLOAD);
		return true;
	}
	if (!load || !driver || driver(&version))
		return false;
	if (named && *named)
		return (by_option ? load(named, RTLD_NOW) != NULL
				  : gt_safe_library(named, library, sizeof(library)) &&
					       load(library, RTLD_NOW)) &&
			find_functions();
	first = version >= 13000 ? 0 : version >= 12000 ? 1 : 2;
	for (int i = first; i < 3; i++)
		if (load(names[i], RTLD_NOW) || gt_load_cuda_library(load, names[i]))
			return find_functions();
	return false;
}

/* ---- enabling ---- */

static bool refused(struct refusal *r, const char *what, int code)
{
	if (code)
		*r = (struct refusal){ what, code };
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
	return needs_gpu() ? !k->more || (gt_shared->gpu_more & k->more)
			   : k->kind == GT_CUPTI_KERNEL;
}

/* Counters of managed memory must be configured first. An older CUPTI does not know them all, and
 * a machine may lack some. */
static bool choose_counters(struct refusal *r)
{
	struct gt_cupti_counter c = { .scope = GT_CUPTI_ALL_DEVICES, .enable = 1 };
	int code = 0, first = 0;
	bool any = false;

	if (!cupti.counters)
		return !refused(r, "unified memory: cuptiActivityConfigureUnifiedMemoryCounter",
			GT_CUPTI_NOT_SUPPORTED);
	for (c.kind = 1; c.kind < GT_CUPTI_COUNTERS; c.kind++) {
		code = cupti.counters(&c, 1);
		any |= !code;
		first = first ? first : code;
	}
	return any ||
		!refused(r, "unified memory: cuptiActivityConfigureUnifiedMemoryCounter", first);
}

static bool enable_kind(const struct kind *k, struct refusal *r)
{
	return (k->kind != GT_CUPTI_MANAGED || choose_counters(r)) &&
		!refused(r, k->what, cupti.enable(k->kind));
}

static bool needs_all_calls(void) { return is_recording() && !gt_shared->inject; }
static bool needs_calls(void) { return needs_all_calls() || gt_callbacks_refused_since(); }

static bool needs_call(uint32_t cbid)
{
	return needs_all_calls() ? gt_cuda_driver_name(cbid) != NULL
				 : needs_calls() && gt_launch_name(cbid);
}

/* Single driver calls can be selected only from the start, and only if CUPTI has the function. */
static bool can_select_calls(void) { return cupti.enable_driver_call && !gpu->late_start; }

/* CUPTI refuses callback ids that it does not know. */
static bool enable_selected_calls(void)
{
	bool any = false;

	for (uint32_t cbid = 1; cbid < GT_CBID_MAX; cbid++)
		any |= needs_call(cbid) && !cupti.enable_driver_call(cbid, 1);
	return any;
}

/* Enables the kind for all driver calls and disables the unneeded ones if CUPTI can. With this
 * kind a driver call inside a runtime call has no record, and its work has the number of the
 * runtime call. So records of runtime calls are enabled, too (tests/gpu/cupti_late.c shows this).
 */
static void enable_all_calls(void)
{
	if (cupti.enable(GT_CUPTI_DRIVER))
		return; /* the recorder then matches by the order of launches */
	for (uint32_t cbid = 1; cupti.enable_driver_call && cbid < GT_CBID_MAX; cbid++)
		if (!needs_call(cbid))
			cupti.enable_driver_call(cbid, 0);
	cupti.enable(GT_CUPTI_RUNTIME);
}

static void enable_calls(void)
{
	if (can_select_calls() && !enable_selected_calls())
		cupti.enable_driver_call = NULL;
	if (!can_select_calls())
		enable_all_calls();
}

static bool enable_kinds(struct refusal *r)
{
	if (needs_calls())
		enable_calls();
	for (size_t i = 0; i < KINDS; i++)
		if (is_kind_needed(&kinds[i]) && !enable_kind(&kinds[i], r)) {
			if (!kinds[i].more)
				return false;
			put_state(GT_GPU_PARTIAL, r->what, r->code);
		}
	return true;
}

static void disable_kinds(void)
{
	for (size_t i = 0; i < KINDS; i++)
		if (is_kind_needed(&kinds[i]))
			cupti.disable(kinds[i].kind);
	cupti.disable(GT_CUPTI_DRIVER);
	if (!can_select_calls())
		cupti.disable(GT_CUPTI_RUNTIME);
}

/* The clock comes first: earlier records would have another clock. */
static bool start_cupti(struct refusal *r)
{
	uint8_t yes = 1;
	size_t size = sizeof(yes);
	int ids = 0;

	if (refused(r, "cuptiActivityRegisterTimestampCallback",
		    cupti.timestamps(gt_clock_read_for_cupti)) ||
		refused(r, "cuptiActivityRegisterCallbacks",
			cupti.callbacks(requested, gt_gpu_buffer_completed)))
		return false;
	if (!cupti.which_thread_ids || cupti.which_thread_ids(&ids) || ids != GT_CUPTI_SYSTEM_TID)
		/* avoided if already set, as work may be in progress */
		cupti.thread_ids(GT_CUPTI_SYSTEM_TID);
	cupti.set_attribute(GT_CUPTI_ZEROED_BUFFERS, &size, &yes);
	return enable_kinds(r);
}

/* Of an earlier session of this process, which has ended its use of CUPTI. */
static bool reuse_session(void)
{
	uint32_t idle = GT_USE_IDLE;

	if (!own_session() ||
		!__atomic_compare_exchange_n(&gpu->use, &idle, GT_USE_YIELDED, false,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	memset(&gpu->names, 0, sizeof(gpu->names));
	return true;
}

static bool make_session(void)
{
	if (reuse_session())
		return true;
	gpu = gt_map(sizeof(*gpu));
	if (!gpu || !slab(0))
		return false;
	gpu->buffers_used = SHARED_BUFFER + 1;
	gpu->use = GT_USE_YIELDED; /* not in use yet */
	gpu->foreign_clock = 1;
	__atomic_store_n(&gpu_pid, gt_own_pid(), __ATOMIC_RELEASE);
	return true;
}

/* from: when the change of state began, in ticks. */
static void put_state_since(
	uint64_t from, enum gt_gpu_state state, const char *text, int64_t detail)
{
	struct gt_tcb *t = is_recording() ? gt_producer_ring() : NULL;

	gt_debug("CUPTI:", text, detail);
	if (t)
		gt_ring_put_gpu_state(t, from, state, text, (uint64_t)detail);
}

static void put_state(enum gt_gpu_state state, const char *text, int64_t detail)
{
	put_state_since(gt_session_now(), state, text, detail);
}

/* ---- others ---- */

void gt_gpu_report_state(enum gt_gpu_state state, const char *text)
{
	if (own_session())
		put_state(state, text, 0);
}

/* CUPTI must have returned all buffers of the guest before the other user registers its callbacks,
 * which do not know these buffers. */
static bool stop_use(enum gt_gpu_state state, const char *text)
{
	uint32_t on = GT_USE_ON;
	uint64_t from;

	if (!own_session())
		return false;
	__atomic_store_n(&gpu->resume_at, 0, __ATOMIC_RELEASE);
	if (!__atomic_compare_exchange_n(
		    &gpu->use, &on, GT_USE_YIELDED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	from = gt_session_now();
	disable_kinds();
	cupti.flush(GT_CUPTI_FORCED);
	for (int i = 0; i < 100 && __atomic_load_n(&gpu->buffers_out, __ATOMIC_ACQUIRE); i++)
		gt_sleep(1000000);
	gpu->foreign_clock = 1;
	put_state_since(from, state, text, state == GT_GPU_YIELDED ? (int64_t)gpu->buffers_out : 0);
	return true;
}

bool gt_gpu_yield(const char *user) { return stop_use(GT_GPU_YIELDED, user); }

void gt_gpu_schedule_resume(void)
{
	if (own_session() && __atomic_load_n(&gpu->use, __ATOMIC_ACQUIRE) == GT_USE_YIELDED)
		__atomic_store_n(&gpu->resume_at, gt_slow_clock() + RESUME_NS, __ATOMIC_RELEASE);
}

/* Makes no system call if a session knows this process. */
bool gt_gpu_is_used(void)
{
	int32_t pid =
		gt_process_state ? __atomic_load_n(&gt_process_state->pid, __ATOMIC_ACQUIRE) : 0;

	return pid ? gpu && gpu_pid == pid : own_session() != NULL;
}

void gt_gpu_reenable(void)
{
	struct refusal r;

	if (!is_on())
		return;
	GT_GUEST_CODE;
	enable_kinds(&r);
}

static struct refusal refusal; /* the last one */

/* Starts CUPTI; on failure everything is as before. The caller holds the lock of
 * guest_cupti_sharing.c. */
bool gt_gpu_start_cupti(void)
{
	uint32_t on = GT_USE_YIELDED;

	gpu->foreign_clock = 0;
	if (start_cupti(&refusal)) {
		/* unless it is GT_USE_OFF: the program ends */
		__atomic_compare_exchange_n(
			&gpu->use, &on, GT_USE_ON, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		return true;
	}
	disable_kinds();
	gpu->foreign_clock = 1;
	return false;
}

/* Flushes first: records in the other user's buffers go to that user before the guest's
 * buffers replace them. */
static bool resume(void)
{
	uint64_t from;

	gpu->resume_at = 0;
	cupti.flush(GT_CUPTI_FORCED);
	from = gt_session_now();
	gpu->late_start = 1;
	if (!gt_gpu_start_cupti()) {
		put_state(GT_GPU_REFUSED, refusal.what, refusal.code);
		return false;
	}
	put_state_since(from, GT_GPU_RESUMED, "", 0);
	return true;
}

/* ---- without a session ---- */

/* GT_USE_OFF never changes. */
bool gt_gpu_change_use(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(
		&gpu->use, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void gt_gpu_register_exit(void)
{
	static bool registered; /* also for forked children */

	if (!registered)
		atexit(at_exit);
	registered = true;
}

bool gt_gpu_fetch_until_over(void)
{
	if (own_session())
		fetch_thread(NULL);
	if (own_session() && gt_gpu_change_use(GT_USE_OFF, GT_USE_OFF))
		return false;
	while (!gt_session_is_over()) /* CUPTI is not in use */
		gt_sleep(FLUSH_NS / 5);
	return true;
}

void gt_gpu_start_for_probes(void)
{
	if (gpu || !make_session())
		return;
	gpu->watching = gpu->late_start = 1;
	gpu->use = GT_USE_IDLE;
	gt_start_thread(fetch_thread, NULL);
}

/* ---- start ---- */

/* CUPTI is not available: uses CUDA events unless the user has excluded them. */
static void use_events_instead(enum gt_gpu_state state, const char *what, int code)
{
	char why[200];
	const char *end = why + sizeof(why);
	char *at = gt_append(why, end, what);

	if (state == GT_GPU_MISSING)
		gt_append(at, end, " was not found");
	else
		gt_append_number(gt_append(at, end, " failed: error "), end, (uint32_t)code);
	if (gt_shared->gpu_timing != GT_TIMING_AUTO || !gt_events_start(why))
		put_state(state, what, code);
}

static void start(void)
{
	struct gt_object o = { .path = "" };
	const char *user;
	uint32_t version = 0;

	if (!gt_locks_are_free()) {
		put_state(GT_GPU_REFUSED,
			"loading CUPTI in a forked child (another thread of the parent was inside dlopen at the fork)",
			EDEADLK);
		return;
	}
	if (gt_shared->gpu_timing == GT_TIMING_EVENTS) {
		if (!gt_events_start("as asked for"))
			put_state(GT_GPU_MISSING, "what CUDA events need of the driver", 0);
		return;
	}
	if (!gt_gpu_load_cupti() || !make_session()) {
		use_events_instead(
			GT_GPU_MISSING, *gt_shared->cupti ? gt_shared->cupti : GT_CUPTI_LIBRARY, 0);
		return;
	}
	cupti.version(&version);
	gt_clock_update();
	user = gt_cupti_run_if_unused(gt_gpu_start_cupti);
	if (!user && gpu->use != GT_USE_ON) {
		gpu->use = gt_attached ? GT_USE_IDLE : GT_USE_OFF;
		use_events_instead(GT_GPU_REFUSED, refusal.what, refusal.code);
		return;
	}
	gt_gpu_register_exit();
	if (!gt_attached)
		gt_start_thread(fetch_thread, NULL);
	gt_object_at((const void *)(uintptr_t)cupti.flush, &o);
	put_state(GT_GPU_ON, o.path, version);
	if (user)
		put_state(GT_GPU_YIELDED, user, 0);
}

void gt_gpu_report_fork(void)
{
	if ((gpu && !own_session()) || gt_events_used_before_fork())
		put_state(GT_GPU_FORKED, "", 0);
}

void gt_gpu_start(void)
{
	if (!own_session() || gpu->use == GT_USE_IDLE)
		start();
}

void gt_gpu_report_no_calls(int code) { put_state(GT_GPU_NO_CALLS, "", code); }

/* cuInit(unsigned) */
void gt_after_init(int32_t ret, const uint64_t *params, const void *caller)
{
	static int32_t started; /* the process that has started it */
	int32_t pid = gt_own_pid();

	(void)params, (void)caller;
	if (ret || !gt_shared || !gt_shared->gpu || gt_passive ||
		__atomic_exchange_n(&started, pid, __ATOMIC_ACQ_REL) == pid)
		return;
	if (!gt_self->ring) /* states and records need a ring, even if this call is not recorded */
		gt_register_thread();
	GT_GUEST_CODE;
	gt_gpu_start();
}
