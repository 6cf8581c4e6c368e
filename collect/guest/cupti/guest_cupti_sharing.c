/* Other users of CUPTI in the same process: torch.profiler, a debugger's library, the program
 * itself. CUPTI has one pair of buffer callbacks and one clock per process, so one user at a time
 * gets records. Another user was chosen by the program, so it has priority.
 *
 * The wrappers here replace CUPTI's functions by which a user takes CUPTI over. Before such a
 * call goes through, the guest fetches its records, disables the kinds that it enabled, and
 * restores CUPTI's own clock, so that all records have their owner's clock. It stores the functions
 * that the other user registers. When the other user has had nothing enabled for a while, the guest
 * resumes. When it enables something again (torch.profiler registers once, and enables at each
 * start), its registered functions are restored.
 *
 * A client that only subscribes does not conflict with the guest; its presence is recorded.
 * After cuptiFinalize the guest does not resume. */
#define _GNU_SOURCE
#include "collect/guest/cupti/guest_cupti_sharing.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/cupti/guest_cupti_activity.h"
#include "collect/guest/cupti/guest_cupti_callbacks.h"

#define NOT_INITIALIZED 15 /* CUPTI_ERROR_NOT_INITIALIZED */
#define KINDS 64

/* State of the other user. */
static struct {
	void *requested, *completed, *timestamp;
	uint64_t kinds;         /* bits of the kinds that it has enabled */
	uint32_t single[2];     /* numbers of calls enabled one by one: driver, runtime */
	bool active, finalized; /* it has taken CUPTI over; it has finalized CUPTI */
	const char *library;    /* path of its library */
} other;
static int32_t holder;    /* lock: id of the thread that holds it; 0: none */
static uint32_t flushing; /* number of other users' threads that flush CUPTI */

/* Locks CUPTI against concurrent changes and flushes by several users, as CUPTI may not support
 * these.
 *
 * Returns false if there is nothing to unlock. CUPTI may call the other user back inside a call,
 * and that user may call CUPTI again, on this thread or on another that this thread waits for. In
 * a forked child the holder may not exist. So a thread never waits here for ever: after two
 * seconds it goes on without the lock. */
static bool lock(void)
{
	int32_t self = gt_own_tid(), by;
	int saved = errno;
	bool got = false;

	for (int i = 0; i < 2000; i++) {
		by = 0;
		got = __atomic_compare_exchange_n(
			&holder, &by, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
		if (!got && by != self && syscall(SYS_tgkill, gt_own_pid(), by, 0) &&
			errno == ESRCH)
			got = __atomic_compare_exchange_n(
				&holder, &by, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
		if (got || by == self)
			break;
		gt_sleep(1000000);
	}
	errno = saved;
	return got;
}

static void unlock(bool locked)
{
	if (locked)
		__atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
}

bool gt_cupti_lock(bool *locked)
{

	for (int i = 0; i < 2000; i++) {
		*locked = lock();
		if (!*locked)
			return __atomic_load_n(&holder, __ATOMIC_RELAXED) == gt_own_tid();
		if (!__atomic_load_n(&flushing, __ATOMIC_ACQUIRE))
			return true;
		unlock(true);
		gt_sleep(1000000);
	}
	*locked = false;
	return false;
}

void gt_cupti_unlock(bool locked) { unlock(locked); }

/* True: the caller is the guest or CUPTI itself. */
static bool is_internal_call(const void *caller)
{
	return gt_inside || gt_is_guest_code(caller) || gt_is_driver_code(caller);
}

static const char *library_of(const void *caller)
{
	struct gt_object o;

	return !gt_object_at(caller, &o) ? "?" : *o.path ? o.path : "the program itself";
}

static uint64_t realtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The guest's callback comes first, so that late buffers of the guest do not go to the other user.
 */
static void *completed_callback(void *completed)
{
	return completed && gt_gpu_is_used() ? (void *)gt_gpu_buffer_completed : completed;
}

/* Restores the other user's callbacks and clock. */
static void restore_other(void)
{
	int (*callbacks)(void *, void *) =
		gt_find_in_library(GT_CUPTI_LIBRARY, "cuptiActivityRegisterCallbacks");
	int (*timestamps)(void *) =
		gt_find_in_library(GT_CUPTI_LIBRARY, "cuptiActivityRegisterTimestampCallback");

	if (timestamps)
		timestamps(other.timestamp ? other.timestamp : (void *)realtime);
	if (callbacks && other.requested)
		callbacks(other.requested, completed_callback(other.completed));
}

/* Yields CUPTI to the caller's library. The caller holds the lock. */
static void yield_to(const void *caller)
{
	GT_GUEST_CODE;

	other.library = library_of(caller);
	if (gt_gpu_yield(other.library))
		restore_other();
	other.active = true;
}

void gt_cupti_forward_buffer(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void (*to)(void *, uint32_t, uint8_t *, size_t, size_t) = other.completed;
	bool was = gt_inside;

	gt_inside = false;
	if (to)
		to(context, stream, buffer, size, valid);
	gt_inside = was;
}

/* Schedules the resumption if the other user has nothing enabled any more. */
static void check_other_ended(void)
{
	if (other.active && !other.finalized && !other.kinds && !other.single[0] &&
		!other.single[1]) {
		other.active = false;
		gt_gpu_schedule_resume();
	}
}

const char *gt_cupti_run_if_unused(bool (*then)(void))
{
	bool locked = lock();
	const char *library = other.active ? other.library : NULL;

	if (!other.active && !then() && (other.requested || other.timestamp))
		restore_other();
	unlock(locked);
	return library;
}

#define REAL(name, params)                                                                         \
	int(*real) params = gt_find_in_library(GT_CUPTI_LIBRARY, #name);                           \
	const void *caller = __builtin_return_address(0);                                          \
	bool locked;                                                                               \
	int ret;                                                                                   \
                                                                                                   \
	if (!real)                                                                                 \
	return NOT_INITIALIZED

GT_EXPORT int cuptiActivityRegisterCallbacks(void *requested, void *completed);
GT_EXPORT int cuptiActivityRegisterCallbacks(void *requested, void *completed)
{
	REAL(cuptiActivityRegisterCallbacks, (void *, void *));
	if (is_internal_call(caller))
		return real(requested, completed);
	locked = lock();
	yield_to(caller);
	ret = real(requested, completed_callback(completed));
	if (!ret) {
		other.requested = requested;
		other.completed = completed;
	}
	check_other_ended(); /* it may enable something much later, or never */
	unlock(locked);
	return ret;
}

GT_EXPORT int cuptiActivityRegisterTimestampCallback(void *now);
GT_EXPORT int cuptiActivityRegisterTimestampCallback(void *now)
{
	REAL(cuptiActivityRegisterTimestampCallback, (void *));
	if (is_internal_call(caller))
		return real(now);
	locked = lock();
	yield_to(caller);
	ret = real(now);
	if (!ret)
		other.timestamp = now;
	check_other_ended();
	unlock(locked);
	return ret;
}

/* Notes that the other user has enabled or disabled a kind. */
static void note_kind(uint32_t kind, bool on)
{
	if (kind < KINDS && on)
		other.kinds |= 1ull << kind;
	else if (kind < KINDS)
		other.kinds &= ~(1ull << kind);
	if (!on && (kind == GT_CUPTI_DRIVER || kind == GT_CUPTI_RUNTIME))
		other.single[kind == GT_CUPTI_RUNTIME] = 0;
}

/* The other user may have disabled kinds that the guest needs. */
static void reenable_ours(void)
{
	if (!other.active)
		gt_gpu_reenable();
	check_other_ended();
}

#define ENABLES(name, params, args, kind, on)                                                      \
	GT_EXPORT int name params;                                                                 \
	GT_EXPORT int name params                                                                  \
	{                                                                                          \
		REAL(name, params);                                                                \
		if (is_internal_call(caller))                                                      \
			return real args;                                                          \
		locked = lock();                                                                   \
		if (on)                                                                            \
			yield_to(caller);                                                          \
		ret = real args;                                                                   \
		if (!ret)                                                                          \
			note_kind(kind, on);                                                       \
		reenable_ours();                                                                   \
		unlock(locked);                                                                    \
		return ret;                                                                        \
	}
ENABLES(cuptiActivityEnable, (uint32_t kind), (kind), kind, true)
ENABLES(cuptiActivityEnableAndDump, (uint32_t kind), (kind), kind, true)
ENABLES(cuptiActivityEnableContext, (void *context, uint32_t kind), (context, kind), kind, true)
ENABLES(cuptiActivityDisable, (uint32_t kind), (kind), kind, false)
ENABLES(cuptiActivityDisableContext, (void *context, uint32_t kind), (context, kind), kind, false)

#define ENABLES_ONE(name, api)                                                                     \
	GT_EXPORT int name(uint32_t cbid, uint8_t on);                                             \
	GT_EXPORT int name(uint32_t cbid, uint8_t on)                                              \
	{                                                                                          \
		REAL(name, (uint32_t, uint8_t));                                                   \
		if (is_internal_call(caller))                                                      \
			return real(cbid, on);                                                     \
		locked = lock();                                                                   \
		if (on)                                                                            \
			yield_to(caller);                                                          \
		ret = real(cbid, on);                                                              \
		if (!ret && (on || other.single[api]))                                             \
			other.single[api] += on ? 1 : UINT32_MAX;                                  \
		reenable_ours();                                                                   \
		unlock(locked);                                                                    \
		return ret;                                                                        \
	}
ENABLES_ONE(cuptiActivityEnableDriverApi, 0)
ENABLES_ONE(cuptiActivityEnableRuntimeApi, 1)

/* Not under the lock: CUPTI calls its client back on another thread, and the client may enable
 * and disable there. */
GT_EXPORT int cuptiActivityFlushAll(uint32_t flag);
GT_EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
	REAL(cuptiActivityFlushAll, (uint32_t));
	if (is_internal_call(caller))
		return real(flag);
	locked = lock();
	__atomic_fetch_add(&flushing, 1, __ATOMIC_ACQ_REL);
	unlock(locked);
	ret = real(flag);
	__atomic_fetch_sub(&flushing, 1, __ATOMIC_ACQ_REL);
	return ret;
}

GT_EXPORT int cuptiSubscribe(void **subscriber, void *callback, void *data);
GT_EXPORT int cuptiSubscribe(void **subscriber, void *callback, void *data)
{
	REAL(cuptiSubscribe, (void **, void *, void *));
	(void)locked;
	if (!is_internal_call(caller))
		gt_callbacks_unsubscribe();
	ret = real(subscriber, callback, data);
	if (!is_internal_call(caller) && !ret)
		gt_gpu_report_state(GT_GPU_SUBSCRIBER, library_of(caller));
	return ret;
}

/* Ends CUPTI for all users. */
GT_EXPORT int cuptiFinalize(void);
GT_EXPORT int cuptiFinalize(void)
{
	REAL(cuptiFinalize, (void));
	if (is_internal_call(caller))
		return real();
	locked = lock();
	yield_to(caller);
	other.finalized = true;
	ret = real();
	if (ret)
		other.finalized = false;
	check_other_ended();
	unlock(locked);
	gt_gpu_report_state(GT_GPU_FINALIZED, library_of(caller));
	return ret;
}

void *gt_cupti_wrapper(const char *name)
{
	static const struct {
		const char *name;
		void *wrapper;
	} all[] = {
#define W(f) { #f, (void *)f }
		W(cuptiActivityRegisterCallbacks),
		W(cuptiActivityRegisterTimestampCallback),
		W(cuptiActivityEnable),
		W(cuptiActivityEnableAndDump),
		W(cuptiActivityEnableContext),
		W(cuptiActivityDisable),
		W(cuptiActivityDisableContext),
		W(cuptiActivityEnableDriverApi),
		W(cuptiActivityEnableRuntimeApi),
		W(cuptiActivityFlushAll),
		W(cuptiSubscribe),
		W(cuptiFinalize),
#undef W
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, name))
			return all[i].wrapper;
	return NULL;
}
