/* What the GPU did, as CUPTI tells it. After the program's first cuInit we load CUPTI, or use the copy that is loaded already, and
 * ask for records of kernels, copies and sets; and of those driver calls that make such work, for a record of a call and that
 * of the work carry one correlation id, and the call's time and thread say which of our calls it is. The recorder joins them.
 *
 * Waits are not asked for. On an H200 (driver 580, CUPTI 13.0) the synchronization kind was seen to switch on CUPTI's tracing of the
 * runtime API, and with that on a driver call made from within a runtime call has no record of its own, while its work carries the
 * number of the runtime call: 100 % of the work of all programs joined without the kind, and none of a runtime program's with it. Nor
 * would CUPTI say more than the waiting call does, which we record anyway: the recorder makes the wait from it.
 *
 * CUPTI asks for empty buffers on the program's threads, and gives them back filled on one of its own. The first takes a buffer
 * from a stack and nothing more; the second turns records into events (guest_cupti_records.c) on a ring of that thread's own, where they
 * survive the program. CUPTI gives full buffers back by itself; a thread of ours asks it every 250 ms for the others.
 *
 * Buffers are never refused: CUPTI before CUDA 12.9 crashes on that. When all are out, more are mapped, up to 2 GiB; and whoever finds none
 * then gets one that is everybody's, in which records are overwritten: they are lost, and counted. A buffer that is none of them is
 * another user's of CUPTI (guest_cupti_sharing.c). */
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

#define BUFFER_BYTES (64u << 10)	/* some 300 kernels */
#define SLAB 512u			/* buffers that are mapped at a time */
#define SLABS 64u
#define BUFFERS (SLAB * SLABS)
#define EVERYBODYS 0u			/* the buffer for when there is none */
#define NAMES 4096u			/* kernels whose name this process has told; beyond, it is told again */
#define FLUSH_NS 250000000
#define WATCH_NS 80000000		/* without a trace: so often guest_cupti_on_attach.c looks */
#define RESUME_NS 400000000ull		/* behind the moment in which another user of CUPTI seems to have ended */

static struct gt_cupti cupti;

/* Of this process alone: a forked child finds it empty, and CUPTI does not work there. */
struct gt_cupti_session {
	uint32_t on;			/* GT_USE_OFF ends the flushing thread, whose futex this is */
	uint64_t resume_at;		/* ns; 0: not to be resumed */
	uint64_t out;			/* buffers that CUPTI has */
	uint64_t free;			/* stack of buffers: tag << 32 | index + 1 */
	uint8_t *slabs[SLABS];
	uint32_t dying;			/* the program waits for a last flush, to die */
	uint32_t late;			/* CUPTI was another's before: what must be asked for first of all cannot be had */
	uint32_t away;			/* CUPTI has another clock than ours */
	uint32_t watching;		/* there is no trace of it, only the probes */
	uint32_t most;			/* records that a buffer may hold; 0: as many as fit */
	uint32_t seen;			/* that came since the last look */
	uint32_t used;			/* that were ever handed out */
	uint32_t below[BUFFERS];
	struct gt_gpu_names names;
};
static struct gt_cupti_session *gpu;
static int32_t gpu_pid;			/* whose that is */

/* Is what the GPU did recorded? Else all is for the probes. */
static bool asked_for(void) { return gt_shared && gt_shared->gpu; }
static bool recorded(void) { return asked_for() && !gt_passive; }

static struct gt_cupti_session *ours(void) { return gpu_pid == (int32_t)syscall(SYS_getpid) ? gpu : NULL; }

/* ---- buffers ---- */

static uint8_t *map_bytes(size_t n)
{
	long p = syscall(SYS_mmap, NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);

	return p == -1 ? NULL : (uint8_t *)p;
}

static uint8_t *slab(uint32_t k)
{
	uint8_t *there = __atomic_load_n(&gpu->slabs[k], __ATOMIC_ACQUIRE), *new;

	if (there || !(new = map_bytes((size_t)SLAB * BUFFER_BYTES)))
		return there;
	if (__atomic_compare_exchange_n(&gpu->slabs[k], &there, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return new;
	syscall(SYS_munmap, new, (size_t)SLAB * BUFFER_BYTES);
	return there;
}

static uint8_t *buffer_at(uint32_t i)
{
	uint8_t *s = i < BUFFERS ? slab(i / SLAB) : NULL;

	return s ? s + (size_t)(i % SLAB) * BUFFER_BYTES : NULL;
}

/* Which of ours it is; BUFFERS: none. */
static uint32_t index_of(const uint8_t *buffer)
{
	for (uint32_t k = 0; k < SLABS && gpu->slabs[k]; k++)
		if (buffer >= gpu->slabs[k] && buffer < gpu->slabs[k] + (size_t)SLAB * BUFFER_BYTES)
			return k * SLAB + (uint32_t)((size_t)(buffer - gpu->slabs[k]) / BUFFER_BYTES);
	return BUFFERS;
}

static uint8_t *take_buffer(void)
{
	uint64_t head = __atomic_load_n(&gpu->free, __ATOMIC_ACQUIRE), below;

	while ((uint32_t)head) {
		below = head >> 32 << 32 | __atomic_load_n(&gpu->below[(uint32_t)head - 1], __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&gpu->free, &head, below, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return buffer_at((uint32_t)head - 1);
	}
	if (__atomic_load_n(&gpu->used, __ATOMIC_RELAXED) >= BUFFERS)
		return NULL;
	return buffer_at(__atomic_fetch_add(&gpu->used, 1, __ATOMIC_RELAXED));
}

static void give_buffer(uint8_t *buffer, uint32_t index, size_t dirty)
{
	uint64_t head, with;

	if (index < SLAB || syscall(SYS_madvise, buffer, (size_t)BUFFER_BYTES, MADV_DONTNEED))	/* so many are seldom needed */
		memset(buffer, 0, dirty < BUFFER_BYTES ? dirty : BUFFER_BYTES);
	head = __atomic_load_n(&gpu->free, __ATOMIC_ACQUIRE);
	do {
		__atomic_store_n(&gpu->below[index], (uint32_t)head, __ATOMIC_RELAXED);
		with = ((head >> 32) + 1) << 32 | (index + 1);
	} while (!__atomic_compare_exchange_n(&gpu->free, &head, with, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
}

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	int saved = errno;

	*buffer = take_buffer();
	errno = saved;
	if (!*buffer)
		*buffer = buffer_at(EVERYBODYS);
	__atomic_fetch_add(&gpu->out, 1, __ATOMIC_RELAXED);
	*size = BUFFER_BYTES;
	*most = __atomic_load_n(&gpu->most, __ATOMIC_RELAXED);
}

/* ---- filled ones ---- */

/* Tells what is in it, and has it back among the empty ones. */
static void use(struct gt_tcb *t, uint8_t *buffer, uint32_t index, size_t valid)
{
	if (!gpu->away)
		gt_probes_fire_buffer(cupti.next, buffer, valid);
	if (recorded())
		gt_gpu_put_records(&gpu->names, t, &(struct gt_gpu_buffer){ buffer, valid, cupti.next, gpu->away });
	__atomic_fetch_add(&gpu->seen, (uint32_t)(valid / GT_K_BYTES), __ATOMIC_RELAXED);
	give_buffer(buffer, index, valid);
}

static void tell_dropped(struct gt_tcb *t, void *context, uint32_t stream)
{
	const uint64_t now = gt_slow_clock();
	size_t dropped = 0;
	uint64_t n;

	if (gpu->away || cupti.dropped(context, stream, &dropped) || !dropped)
		return;
	n = dropped;
	gt_ring_put_event(t, GT_EV_GPU_LOST, now, now, &n, 1);
}

void gt_gpu_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint32_t index = ours() ? index_of(buffer) : BUFFERS;
	int saved = errno;
	struct gt_tcb *t = NULL;

	if (index == BUFFERS) {
		gt_cupti_forward_buffer(context, stream, buffer, size, valid);
		return;
	}
	t = recorded() ? gt_producer_ring() : NULL;
	if (index != EVERYBODYS)
		use(t, buffer, index, valid);
	__atomic_fetch_sub(&gpu->out, 1, __ATOMIC_RELAXED);
	if (t && index != EVERYBODYS)
		tell_dropped(t, context, stream);
	for (size_t n = t && index == EVERYBODYS ? valid / GT_K_BYTES : 0; n; n--)	/* others have written over them */
		gt_ring_count_drop(t, gt_now(t), gt_now(t));
	errno = saved;
}

/* ---- the thread that asks for what is complete ---- */

struct refusal { const char *what; int code; };		/* a call that failed, and how */
static bool enable_kinds(struct refusal *r);
static bool resume(void);

/* CUPTI keeps a buffer as long as one of its kernels runs. So that none waits long for one that was launched behind it, where somebody is
 * attached to a probe of what ran, a buffer may hold what half a look's time brings: where kernels are few, one. (For those that its thread
 * launched before it every one waits, see tests/gpu/cupti_held.c.) A trace by itself has time. */
static void mind_the_rate(void)
{
	uint32_t n = __atomic_exchange_n(&gpu->seen, 0, __ATOMIC_RELAXED) / 2;

	n = n < 1 ? 1 : n < BUFFER_BYTES / GT_K_BYTES ? n : 0;
	__atomic_store_n(&gpu->most, gpu->watching || gt_probes_need_work() ? n : 0, __ATOMIC_RELAXED);
}

/* What our thread does each time, while CUPTI is its alone. how: to flush. */
static void take_turn(uint32_t how)
{
	struct refusal r;
	uint32_t on;

	mind_the_rate();
	buffer_at(__atomic_load_n(&gpu->used, __ATOMIC_RELAXED) + SLAB);	/* mapped before the program's threads need it */
	if (gpu->watching)
		gt_probes_poll(__atomic_load_n(&gpu->on, __ATOMIC_SEQ_CST));
	on = __atomic_load_n(&gpu->on, __ATOMIC_SEQ_CST);
	gt_clock_update();
	if (on == GT_USE_ON && gt_callbacks_follow_probe())
		enable_kinds(&r);
	if (on == GT_USE_ON)
		cupti.flush(how);
	else if (on == GT_USE_YIELDED && __atomic_load_n(&gpu->resume_at, __ATOMIC_ACQUIRE) && gt_slow_clock() >= gpu->resume_at)
		gt_cupti_run_if_unused(resume);
}

static void *flush(void *arg)
{
	const struct timespec wait = { .tv_nsec = gpu->watching ? WATCH_NS : FLUSH_NS };
	bool locked;
	uint32_t on, dying;

	gt_inside = true;
	while ((on = __atomic_load_n(&gpu->on, __ATOMIC_ACQUIRE)) != GT_USE_OFF) {
		syscall(SYS_futex, &gpu->on, FUTEX_WAIT, on, &wait, NULL, 0);
		if (!gt_cupti_lock(&locked))
			continue;
		if (!gpu->watching && gt_owner_died()) {	/* the program may run for days yet, and is to be free of CUPTI */
			gt_gpu_yield("gtcollect has died");
			gt_cupti_unlock(locked);
			break;
		}
		dying = __atomic_load_n(&gpu->dying, __ATOMIC_ACQUIRE);
		take_turn(dying ? GT_CUPTI_FORCED : 0);
		__atomic_compare_exchange_n(&gpu->dying, &dying, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		gt_cupti_unlock(locked);
	}
	return arg;
}

static void tell_state(enum gt_gpu_state state, const char *text, int64_t detail);

/* The last chance for what is still in CUPTI's hands. Those records may be of work that goes on. Behind this CUPTI's own end may come,
 * and our thread must not be in it then. */
static void at_exit(void)
{
	bool was = gt_inside, locked;
	uint32_t on;

	if (!ours())
		return;
	on = __atomic_exchange_n(&gpu->on, GT_USE_OFF, __ATOMIC_SEQ_CST);
	gt_inside = true;
	gt_cupti_lock(&locked);		/* our thread may be in CUPTI, or ending it, just now */
	if (on == GT_USE_ON) {
		cupti.flush(GT_CUPTI_FORCED);
		tell_state(GT_GPU_OFF, "", 0);
	}
	gt_cupti_unlock(locked);
	gt_inside = was;
}

/* As at exit, but that it may yet go on. In a child of vfork none of this is ours. */
void gt_gpu_before_exec(void)
{
	bool was = gt_inside, locked;
	int saved = errno;

	gt_events_before_exec();
	if (!gpu || !ours() || __atomic_load_n(&gpu->on, __ATOMIC_ACQUIRE) != GT_USE_ON)
		return;
	gt_inside = true;
	gt_cupti_lock(&locked);
	cupti.flush(GT_CUPTI_FORCED);
	gt_cupti_unlock(locked);
	tell_state(GT_GPU_OFF, "", 0);
	gt_inside = was;
	errno = saved;
}

/* Whoever aborts may have been anywhere, with any lock held; so this thread asks nothing of CUPTI, but has ours do it. */
void gt_gpu_before_abort(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	if (!gpu || !ours() || __atomic_load_n(&gpu->on, __ATOMIC_ACQUIRE) != GT_USE_ON)
		return;
	__atomic_store_n(&gpu->dying, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &gpu->on, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (int i = 0; i < 1000 && __atomic_load_n(&gpu->dying, __ATOMIC_ACQUIRE); i++)
		syscall(SYS_nanosleep, &moment, NULL);
}

void gt_gpu_after_failed_exec(void)
{
	bool was = gt_inside;
	int saved = errno;

	gt_events_after_failed_exec();
	if (!gpu || !ours() || __atomic_load_n(&gpu->on, __ATOMIC_ACQUIRE) != GT_USE_ON)
		return;
	gt_inside = true;
	tell_state(GT_GPU_CONTINUED, "", 0);
	gt_inside = was;
	errno = saved;
}

/* ---- finding it ---- */

static bool find_functions(void)
{
	static const struct { const char *name; size_t at; bool must; } functions[] = {
#define F(field, function, must) { #function, offsetof(struct gt_cupti, field), must }
		F(version, cuptiGetVersion, true), F(timestamps, cuptiActivityRegisterTimestampCallback, true),
		F(thread_ids, cuptiSetThreadIdType, true), F(which_thread_ids, cuptiGetThreadIdType, false),
		F(set_attribute, cuptiActivitySetAttribute, true),
		F(callbacks, cuptiActivityRegisterCallbacks, true), F(enable, cuptiActivityEnable, true),
		F(disable, cuptiActivityDisable, true), F(enable_driver_call, cuptiActivityEnableDriverApi, false),
		F(counters, cuptiActivityConfigureUnifiedMemoryCounter, false),
		F(flush, cuptiActivityFlushAll, true), F(next, cuptiActivityGetNextRecord, true),
		F(dropped, cuptiActivityGetNumDroppedRecords, true),
#undef F
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *found = gt_find_in_library(GT_CUPTI_LIBRARY, functions[i].name);

		if (!found && functions[i].must)
			return false;
		memcpy((uint8_t *)&cupti + functions[i].at, &found, sizeof(found));
	}
	return true;
}

/* The copy that is mapped already; else the one that was named; else by name, that of the driver's own CUDA first: one that is
 * newer than its driver refuses. First as the loader finds it, then where it does not look. */
bool gt_gpu_load_cupti(void)
{
	static const char *const names[] = GT_CUPTI_NAMES;
	void *(*load)(const char *, int) = (void *(*)(const char *, int))gt_find_libc_function("dlopen");
	int (*driver)(int *) = (int (*)(int *))gt_find_driver_function("cuDriverGetVersion");
	bool by_option = gt_shared && *gt_shared->cupti;
	const char *named = by_option ? gt_shared->cupti : gt_environment("GT_CUPTI");
	struct gt_object o = { .path = "" };
	char library[PATH_MAX];
	int version = 0, first;

	if (find_functions()) {		/* its owner may close it; we go on using it */
		if (load && gt_object_at((const void *)(uintptr_t)cupti.flush, &o) && *o.path)
			load(o.path, RTLD_NOW | RTLD_NOLOAD);
		return true;
	}
	if (!load || !driver || driver(&version))
		return false;
	if (named && *named)
		return (by_option ? load(named, RTLD_NOW) != NULL :
				    gt_safe_library(named, library, sizeof(library)) &&
				    load(library, RTLD_NOW)) && find_functions();
	first = version >= 13000 ? 0 : version >= 12000 ? 1 : 2;
	for (int i = first; i < 3; i++)
		if (load(names[i], RTLD_NOW) || gt_load_cuda_library(load, names[i]))
			return find_functions();
	return false;
}

/* ---- starting ---- */

static bool refused(struct refusal *r, const char *what, int code)
{
	if (code)
		*r = (struct refusal){ what, code };
	return code;
}

/* more: what it takes to ask for it, of enum gt_gpu_more; without those of 0 there is no point in the rest. */
static const struct kind { int kind; uint32_t more; const char *what; } kinds[] = {
	{ GT_CUPTI_KERNEL, 0, "cuptiActivityEnable" }, { GT_CUPTI_MEMCPY, 0, "cuptiActivityEnable" },
	{ GT_CUPTI_MEMCPY_PEER, 0, "cuptiActivityEnable" }, { GT_CUPTI_MEMSET, 0, "cuptiActivityEnable" },
	{ GT_CUPTI_RUNTIME, GT_GPU_MORE_RUNTIME, "calls of the CUDA runtime: cuptiActivityEnable" },
	{ GT_CUPTI_MANAGED, GT_GPU_MORE_MANAGED, "unified memory: cuptiActivityEnable" },
	{ GT_CUPTI_OVERHEAD, GT_GPU_MORE_OVERHEAD, "overhead: cuptiActivityEnable" },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static const uint16_t calls[] = {
#define X(cbid, name) cbid,
	GT_CBIDS(X)
#undef X
};

/* Probes alone need kernels and no more. */
static bool wanted(const struct kind *k)
{
	return asked_for() ? !k->more || (gt_shared->gpu_more & k->more) : k->kind == GT_CUPTI_KERNEL;
}

/* Counters of managed memory must be named first. An older CUPTI does not know them all, and a machine may not have some. */
static bool choose_counters(struct refusal *r)
{
	struct gt_cupti_counter c = { .scope = GT_CUPTI_ALL_DEVICES, .enable = 1 };
	int code = 0, first = 0;
	bool any = false;

	if (!cupti.counters)
		return !refused(r, "unified memory: cuptiActivityConfigureUnifiedMemoryCounter", GT_CUPTI_NOT_SUPPORTED);
	for (c.kind = 1; c.kind < GT_CUPTI_COUNTERS; c.kind++) {
		code = cupti.counters(&c, 1);
		any |= !code;
		first = first ? first : code;
	}
	return any || !refused(r, "unified memory: cuptiActivityConfigureUnifiedMemoryCounter", first);
}

static bool enable_kind(const struct kind *k, struct refusal *r)
{
	return (k->kind != GT_CUPTI_MANAGED || choose_counters(r)) && !refused(r, k->what, cupti.enable(k->kind));
}

static bool all_calls_wanted(void) { return recorded() && !gt_shared->inject; }
static bool calls_wanted(void) { return all_calls_wanted() || gt_callbacks_refused_since(); }

static bool call_wanted(uint32_t cbid)
{
	for (size_t i = 0; calls_wanted() && i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i] == cbid)
			return all_calls_wanted() || gt_launch_name(cbid);
	return false;
}

/* Records of a few driver calls can be had only from the beginning, and only of a CUPTI that can tell calls apart. */
static bool few_calls(void) { return cupti.enable_driver_call && !gpu->late; }

/* It refuses those that it does not know. */
static bool enable_few_calls(void)
{
	uint32_t on = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		on += call_wanted(calls[i]) && !cupti.enable_driver_call(calls[i], 1);
	return on;
}

/* Else the kind can, less the others as far as that goes; but with it a driver call within one of the runtime has no record, and its work the
 * runtime's number, so these are asked for, too (all as tests/gpu/cupti_late.c shows). */
static void enable_all_calls(void)
{
	if (cupti.enable(GT_CUPTI_DRIVER))
		return;			/* the order of launches must do */
	for (uint32_t cbid = 1; cupti.enable_driver_call && cbid < GT_CBID_MAX; cbid++)
		if (!call_wanted(cbid))
			cupti.enable_driver_call(cbid, 0);
	cupti.enable(GT_CUPTI_RUNTIME);
}

static void enable_calls(void)
{
	if (few_calls() && !enable_few_calls())
		cupti.enable_driver_call = NULL;
	if (!few_calls())
		enable_all_calls();
}

static bool enable_kinds(struct refusal *r)
{
	if (calls_wanted())
		enable_calls();
	for (size_t i = 0; i < KINDS; i++)
		if (wanted(&kinds[i]) && !enable_kind(&kinds[i], r)) {
			if (!kinds[i].more)
				return false;
			tell_state(GT_GPU_PARTIAL, r->what, r->code);
		}
	return true;
}

static void disable_kinds(void)
{
	for (size_t i = 0; i < KINDS; i++)
		if (wanted(&kinds[i]))
			cupti.disable(kinds[i].kind);
	cupti.disable(GT_CUPTI_DRIVER);
	if (!few_calls())
		cupti.disable(GT_CUPTI_RUNTIME);
}

/* The clock comes first: records made before it is registered would have another. */
static bool start_cupti(struct refusal *r)
{
	uint8_t yes = 1;
	size_t size = sizeof(yes);
	int ids = 0;

	if (refused(r, "cuptiActivityRegisterTimestampCallback", cupti.timestamps(gt_clock_read_for_cupti)) ||
	    refused(r, "cuptiActivityRegisterCallbacks", cupti.callbacks(requested, gt_gpu_buffer_completed)))
		return false;
	if (!cupti.which_thread_ids || cupti.which_thread_ids(&ids) || ids != GT_CUPTI_SYSTEM_TID)
		cupti.thread_ids(GT_CUPTI_SYSTEM_TID);	/* not in the midst of work, if it can be helped */
	cupti.set_attribute(GT_CUPTI_ZEROED_BUFFERS, &size, &yes);
	return enable_kinds(r);
}

static bool make_room(void)
{
	gpu = (struct gt_cupti_session *)(void *)map_bytes(sizeof(*gpu));
	if (!gpu || !slab(0))
		return false;
	gpu->used = EVERYBODYS + 1;
	gpu->on = GT_USE_YIELDED;	/* it is nobody's yet */
	gpu->away = 1;
	__atomic_store_n(&gpu_pid, (int32_t)syscall(SYS_getpid), __ATOMIC_RELEASE);
	return true;
}

static uint64_t ticks_now(void) { return gt_shared && gt_shared->ticks ? gt_ticks() : gt_slow_clock(); }

/* It came about between `from` and now. */
static void tell_state_since(uint64_t from, enum gt_gpu_state state, const char *text, int64_t detail)
{
	struct gt_tcb *t = recorded() ? gt_producer_ring() : NULL;
	uint64_t words[3] = { state, 0, (uint64_t)detail };

	gt_debug("CUPTI:", text, detail);
	if (!t)
		return;
	words[1] = gt_ring_put_string(t, text);
	gt_ring_put_event(t, GT_EV_GPU_STATE, from, gt_now(t), words, 3);
}

static void tell_state(enum gt_gpu_state state, const char *text, int64_t detail) { tell_state_since(ticks_now(), state, text, detail); }

/* ---- others ---- */

void gt_gpu_report_state(enum gt_gpu_state state, const char *text)
{
	if (ours())
		tell_state(state, text, 0);
}

/* All buffers must be back before the other's callbacks are in place, which do not know them. */
bool gt_gpu_yield(const char *whom)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uint32_t on = GT_USE_ON;
	uint64_t from;

	if (!ours())
		return false;
	__atomic_store_n(&gpu->resume_at, 0, __ATOMIC_RELEASE);
	if (!__atomic_compare_exchange_n(&gpu->on, &on, GT_USE_YIELDED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	from = ticks_now();
	disable_kinds();
	cupti.flush(GT_CUPTI_FORCED);
	for (int i = 0; i < 100 && __atomic_load_n(&gpu->out, __ATOMIC_ACQUIRE); i++)
		syscall(SYS_nanosleep, &moment, NULL);
	gpu->away = 1;
	tell_state_since(from, GT_GPU_YIELDED, whom, (int64_t)gpu->out);
	return true;
}

void gt_gpu_schedule_resume(void)
{
	if (ours() && __atomic_load_n(&gpu->on, __ATOMIC_ACQUIRE) == GT_USE_YIELDED)
		__atomic_store_n(&gpu->resume_at, gt_slow_clock() + RESUME_NS, __ATOMIC_RELEASE);
}

/* Without a system call where a session knows this process. */
bool gt_gpu_is_used(void)
{
	int32_t pid = gt_process_state ? __atomic_load_n(&gt_process_state->pid, __ATOMIC_ACQUIRE) : 0;

	return pid ? gpu && gpu_pid == pid : ours() != NULL;
}

void gt_gpu_reenable(void)
{
	bool was = gt_inside;
	struct refusal r;

	if (!ours() || __atomic_load_n(&gpu->on, __ATOMIC_ACQUIRE) != GT_USE_ON)
		return;
	gt_inside = true;
	enable_kinds(&r);
	gt_inside = was;
}

static struct refusal refusal;		/* the last one */

/* CUPTI is ours from now on, or as if we had not been there. Under the lock of guest_cupti_sharing.c. */
bool gt_gpu_start_cupti(void)
{
	uint32_t on = GT_USE_YIELDED;

	gpu->away = 0;
	if (start_cupti(&refusal)) {
		/* GT_USE_OFF: the program ends */
		__atomic_compare_exchange_n(&gpu->on, &on, GT_USE_ON, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		return true;
	}
	disable_kinds();
	gpu->away = 1;
	return false;
}

/* What is in the other's buffers goes to it, before records of ours may come there. */
static bool resume(void)
{
	uint64_t from;

	gpu->resume_at = 0;
	cupti.flush(GT_CUPTI_FORCED);
	from = ticks_now();
	gpu->late = 1;
	if (!gt_gpu_start_cupti()) {
		tell_state(GT_GPU_REFUSED, refusal.what, refusal.code);
		return false;
	}
	tell_state_since(from, GT_GPU_RESUMED, "", 0);
	return true;
}

/* ---- without a trace ---- */

/* But GT_USE_OFF stays. */
bool gt_gpu_change_use(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&gpu->on, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void gt_gpu_register_exit(void) { atexit(at_exit); }

void gt_gpu_start_for_probes(void)
{
	if (gpu || !make_room())
		return;
	gpu->watching = gpu->late = 1;
	gpu->on = GT_USE_IDLE;
	gt_start_thread(flush, NULL);
}

/* ---- the start ---- */

/* There is no CUPTI for us: CUDA events will do, unless they are not wanted. */
static void do_without(enum gt_gpu_state state, const char *what, int code)
{
	const char *ending = state == GT_GPU_MISSING ? " was not found" : " failed: error ";
	char why[200] = "", digits[12] = "", *end = why, *d = digits + sizeof(digits) - 1;

	for (uint32_t v = state == GT_GPU_MISSING ? 0 : (uint32_t)code; v; v /= 10)
		*--d = (char)('0' + v % 10);
	for (const char *parts[] = { what, ending, d, NULL }, **p = parts; *p; p++)
		for (const char *from = *p; *from && end < why + sizeof(why) - 1; from++)
			*end++ = *from;
	if (gt_shared->gpu_timing != GT_TIMING_AUTO || !gt_events_start(why))
		tell_state(state, what, code);
}

static void start(void)
{
	struct gt_object o = { .path = "" };
	const char *whom;
	uint32_t version = 0;

	if (!gt_locks_are_free()) {
		tell_state(GT_GPU_REFUSED, "dlopen in a forked child (a thread of its parent held the loader's lock)", EDEADLK);
		return;
	}
	if (gt_shared->gpu_timing == GT_TIMING_EVENTS) {
		if (!gt_events_start("as asked for"))
			tell_state(GT_GPU_MISSING, "what CUDA events need of the driver", 0);
		return;
	}
	if (!gt_gpu_load_cupti() || !make_room()) {
		do_without(GT_GPU_MISSING, *gt_shared->cupti ? gt_shared->cupti : GT_CUPTI_LIBRARY, 0);
		return;
	}
	cupti.version(&version);
	gt_clock_update();
	whom = gt_cupti_run_if_unused(gt_gpu_start_cupti);
	if (!whom && gpu->on != GT_USE_ON) {
		gpu->on = GT_USE_OFF;
		do_without(GT_GPU_REFUSED, refusal.what, refusal.code);
		return;
	}
	gt_gpu_register_exit();
	gt_start_thread(flush, NULL);
	gt_object_at((const void *)(uintptr_t)cupti.flush, &o);
	tell_state(GT_GPU_ON, o.path, version);
	if (whom)
		tell_state(GT_GPU_YIELDED, whom, 0);
}

void gt_gpu_report_fork(void)
{
	if ((gpu && !ours()) || gt_events_used_before_fork())
		tell_state(GT_GPU_FORKED, "", 0);
}

void gt_gpu_start(void)
{
	if (!ours())
		start();
}

void gt_gpu_report_no_calls(int code) { tell_state(GT_GPU_NO_CALLS, "", code); }

/* cuInit(unsigned) */
void gt_after_init(int32_t ret, const uint64_t *w, const void *caller)
{
	static int32_t started;		/* by which process */
	int32_t pid = (int32_t)syscall(SYS_getpid), saved = errno;
	bool was = gt_inside;

	(void)w, (void)caller;
	if (ret || !gt_shared || !gt_shared->gpu || gt_passive || __atomic_exchange_n(&started, pid, __ATOMIC_ACQ_REL) == pid)
		return;
	if (!gt_self->ring)
		gt_register_thread();		/* what comes of it is told, whether this call is recorded or not */
	gt_inside = true;
	gt_gpu_start();
	gt_inside = was;
	errno = saved;
}
