/* GPU work from CUPTI's activity records. After the program's first cuInit this file loads CUPTI,
 * or uses the copy that is loaded already. It enables records of kernels, copies and sets, and of
 * those driver calls that make such work (guest_cupti_kinds.c). The record of a call and that of
 * its work have the same correlation id; the call's time and thread identify the call that a
 * wrapper has recorded. The recorder joins them.
 *
 * CUPTI delivers full buffers by itself (guest_cupti_buffers.c); a thread of the guest makes it
 * deliver the others every 250 ms. */
#define _GNU_SOURCE
#include "collect/guest/cupti/guest_cupti_activity_internal.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "collect/ipc/cupti_paths.h"
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/core/guest_objects.h"
#include "collect/guest/cupti/guest_cupti_callbacks.h"
#include "collect/guest/cupti/guest_cupti_clock.h"
#include "collect/guest/cupti/guest_cupti_on_attach.h"
#include "collect/guest/cupti/guest_cupti_sharing.h"
#include "collect/guest/cupti/guest_usdt.h"
#include "collect/guest/events/guest_event_timing.h"

#define FLUSH_NS 250000000
#define LAST_FLUSH_NS 10000000 /* while the session is about to end */
#define WATCH_NS 80000000      /* round of the thread without a session */
#define RESUME_NS 400000000ull /* from another user's end to the guest's next start */

struct gt_cupti gt_cupti;
struct gt_cupti_session *gt_cupti_session;
static int32_t session_pid; /* the process that the session belongs to */

struct gt_cupti_session *gt_cupti_own_session(void)
{
	return session_pid == gt_own_pid() ? gt_cupti_session : NULL;
}

/* from: when the change of state began, in ticks. */
static void put_state_since(
	uint64_t from, enum gt_gpu_state state, const char *text, int64_t detail)
{
	struct gt_tcb *t = gt_cupti_is_recording() ? gt_producer_ring() : NULL;

	gt_debug("CUPTI:", text, detail);
	if (t)
		gt_ring_put_gpu_state(t, from, state, text, (uint64_t)detail);
}

void gt_cupti_put_state(enum gt_gpu_state state, const char *text, int64_t detail)
{
	put_state_since(gt_session_now(), state, text, detail);
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
		GT_CUPTI_LIBRARY, functions, sizeof(functions) / sizeof(*functions), &gt_cupti);
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
		if (load && gt_object_at((const void *)(uintptr_t)gt_cupti.flush, &o) && *o.path)
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

/* ---- start and end of the use of CUPTI ---- */

/* CUPTI is in use, by this process and not by the one that it was forked from. */
static bool is_on(void)
{
	return gt_cupti_session && gt_cupti_own_session() &&
		__atomic_load_n(&gt_cupti_session->use, __ATOMIC_ACQUIRE) == GT_USE_ON;
}

void gt_gpu_report_state(enum gt_gpu_state state, const char *text)
{
	if (gt_cupti_own_session())
		gt_cupti_put_state(state, text, 0);
}

/* CUPTI must have returned all buffers of the guest before the other user registers its callbacks,
 * which do not know these buffers. */
static bool stop_use(enum gt_gpu_state state, const char *text)
{
	uint32_t on = GT_USE_ON;
	uint64_t from;

	if (!gt_cupti_own_session())
		return false;
	__atomic_store_n(&gt_cupti_session->resume_at, 0, __ATOMIC_RELEASE);
	if (!__atomic_compare_exchange_n(&gt_cupti_session->use, &on, GT_USE_YIELDED, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	from = gt_session_now();
	gt_cupti_disable_kinds();
	gt_cupti.flush(GT_CUPTI_FORCED);
	for (int i = 0;
		i < 100 && __atomic_load_n(&gt_cupti_session->buffers_out, __ATOMIC_ACQUIRE); i++)
		gt_sleep(1000000);
	gt_cupti_session->foreign_clock = 1;
	put_state_since(from, state, text,
		state == GT_GPU_YIELDED ? (int64_t)gt_cupti_session->buffers_out : 0);
	return true;
}

bool gt_gpu_yield(const char *user) { return stop_use(GT_GPU_YIELDED, user); }

void gt_gpu_schedule_resume(void)
{
	if (gt_cupti_own_session() &&
		__atomic_load_n(&gt_cupti_session->use, __ATOMIC_ACQUIRE) == GT_USE_YIELDED)
		__atomic_store_n(&gt_cupti_session->resume_at, gt_slow_clock() + RESUME_NS,
			__ATOMIC_RELEASE);
}

/* Makes no system call if a session knows this process. */
bool gt_gpu_is_used(void)
{
	int32_t pid =
		gt_process_state ? __atomic_load_n(&gt_process_state->pid, __ATOMIC_ACQUIRE) : 0;

	return pid ? gt_cupti_session && session_pid == pid : gt_cupti_own_session() != NULL;
}

void gt_gpu_reenable(void)
{
	struct gt_cupti_refusal r;

	if (!is_on())
		return;
	GT_GUEST_CODE;
	gt_cupti_enable_kinds(&r);
}

/* The clock comes first: earlier records would have another clock. */
static bool start_cupti(struct gt_cupti_refusal *r)
{
	uint8_t yes = 1;
	size_t size = sizeof(yes);
	int ids = 0;

	if (gt_cupti_refused(r, "cuptiActivityRegisterTimestampCallback",
		    gt_cupti.timestamps(gt_clock_read_for_cupti)) ||
		gt_cupti_refused(r, "cuptiActivityRegisterCallbacks",
			gt_cupti.callbacks(gt_cupti_buffer_requested, gt_gpu_buffer_completed)))
		return false;
	if (!gt_cupti.which_thread_ids || gt_cupti.which_thread_ids(&ids) ||
		ids != GT_CUPTI_SYSTEM_TID)
		/* avoided if already set, as work may be in progress */
		gt_cupti.thread_ids(GT_CUPTI_SYSTEM_TID);
	gt_cupti.set_attribute(GT_CUPTI_ZEROED_BUFFERS, &size, &yes);
	return gt_cupti_enable_kinds(r);
}

static struct gt_cupti_refusal refusal; /* the last one */

/* Starts CUPTI; on failure everything is as before. The caller holds the lock of
 * guest_cupti_sharing.c. */
bool gt_gpu_start_cupti(void)
{
	uint32_t on = GT_USE_YIELDED;

	gt_cupti_session->foreign_clock = 0;
	if (start_cupti(&refusal)) {
		/* unless it is GT_USE_OFF: the program ends */
		__atomic_compare_exchange_n(&gt_cupti_session->use, &on, GT_USE_ON, false,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		return true;
	}
	gt_cupti_disable_kinds();
	gt_cupti_session->foreign_clock = 1;
	return false;
}

/* Flushes first: records in the other user's buffers go to that user before the guest's
 * buffers replace them. */
static bool resume(void)
{
	uint64_t from;

	gt_cupti_session->resume_at = 0;
	gt_cupti.flush(GT_CUPTI_FORCED);
	from = gt_session_now();
	gt_cupti_session->late_start = 1;
	if (!gt_gpu_start_cupti()) {
		gt_cupti_put_state(GT_GPU_REFUSED, refusal.what, refusal.code);
		return false;
	}
	put_state_since(from, GT_GPU_RESUMED, "", 0);
	return true;
}

/* ---- the thread that fetches completed records ---- */

/* One round of the guest's thread, with CUPTI locked. how: flag of the flush. */
static void fetch_round(uint32_t how)
{
	struct gt_cupti_refusal r;
	uint32_t on;

	gt_cupti_buffers_prepare();
	if (gt_cupti_session->watching)
		gt_probes_poll(__atomic_load_n(&gt_cupti_session->use, __ATOMIC_SEQ_CST));
	on = __atomic_load_n(&gt_cupti_session->use, __ATOMIC_SEQ_CST);
	gt_clock_update();
	if (on == GT_USE_ON && gt_callbacks_follow_probe())
		gt_cupti_enable_kinds(&r);
	if (on == GT_USE_ON)
		gt_cupti.flush(how);
	else if (on == GT_USE_YIELDED &&
		__atomic_load_n(&gt_cupti_session->resume_at, __ATOMIC_ACQUIRE) &&
		gt_slow_clock() >= gt_cupti_session->resume_at)
		gt_cupti_run_if_unused(resume);
}

/* The program may run for days: it does not keep CUPTI. */
static bool end_with_session(void)
{
	if (gt_cupti_session->watching || !gt_session_is_over())
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
	const struct timespec wait = { .tv_nsec = gt_cupti_session->watching ? WATCH_NS
			: detach                                             ? LAST_FLUSH_NS
									     : FLUSH_NS };

	if (gt_attached)
		syscall(SYS_futex, &gt_shared->detach, FUTEX_WAIT, detach, &wait, NULL, 0);
	else
		syscall(SYS_futex, &gt_cupti_session->use, FUTEX_WAIT, on, &wait, NULL, 0);
}

static void *fetch_thread(void *arg)
{
	bool locked;
	uint32_t on, dying;

	gt_inside = true;
	gt_note_started_thread(GT_STARTED_BY_GUEST);
	while ((on = __atomic_load_n(&gt_cupti_session->use, __ATOMIC_ACQUIRE)) != GT_USE_OFF) {
		wait_for_round(on);
		if (!gt_cupti_lock(&locked))
			continue;
		if (end_with_session()) {
			gt_cupti_unlock(locked);
			break;
		}
		dying = __atomic_load_n(&gt_cupti_session->abort_flush, __ATOMIC_ACQUIRE);
		fetch_round(dying ? GT_CUPTI_FORCED : 0);
		__atomic_compare_exchange_n(&gt_cupti_session->abort_flush, &dying, 0, false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		gt_cupti_unlock(locked);
	}
	return arg;
}

/* Fetches the last records. They may be of work that still runs. CUPTI's own exit handler may
 * follow, and the guest's thread must not be in CUPTI then. */
static void at_exit(void)
{
	bool locked;
	uint32_t on;

	if (!gt_cupti_own_session())
		return;
	on = __atomic_exchange_n(&gt_cupti_session->use, GT_USE_OFF, __ATOMIC_SEQ_CST);
	GT_GUEST_CODE;
	gt_cupti_lock(&locked); /* the guest's thread may be using CUPTI, or ending it */
	if (on == GT_USE_ON) {
		gt_cupti.flush(GT_CUPTI_FORCED);
		gt_cupti_put_state(GT_GPU_OFF, "", 0);
	}
	gt_cupti_unlock(locked);
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
	gt_cupti.flush(GT_CUPTI_FORCED);
	gt_cupti_unlock(locked);
	gt_cupti_put_state(GT_GPU_OFF, "", 0);
}

/* The aborting thread may hold any lock, so it does not call CUPTI: the guest's thread flushes
 * instead. */
void gt_gpu_before_abort(void)
{
	if (!is_on())
		return;
	__atomic_store_n(&gt_cupti_session->abort_flush, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &gt_cupti_session->use, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (int i = 0;
		i < 1000 && __atomic_load_n(&gt_cupti_session->abort_flush, __ATOMIC_ACQUIRE); i++)
		gt_sleep(1000000);
}

void gt_gpu_after_failed_exec(void)
{
	gt_events_after_failed_exec();
	if (!is_on())
		return;
	GT_GUEST_CODE;
	gt_cupti_put_state(GT_GPU_CONTINUED, "", 0);
}

/* ---- without a session ---- */

/* Of an earlier session of this process, which has ended its use of CUPTI. */
static bool reuse_session(void)
{
	uint32_t idle = GT_USE_IDLE;

	if (!gt_cupti_own_session() ||
		!__atomic_compare_exchange_n(&gt_cupti_session->use, &idle, GT_USE_YIELDED, false,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	memset(&gt_cupti_session->names, 0, sizeof(gt_cupti_session->names));
	return true;
}

static bool make_session(void)
{
	if (reuse_session())
		return true;
	gt_cupti_session = gt_map(sizeof(*gt_cupti_session));
	if (!gt_cupti_session || !gt_cupti_buffers_init())
		return false;
	gt_cupti_session->use = GT_USE_YIELDED; /* not in use yet */
	gt_cupti_session->foreign_clock = 1;
	__atomic_store_n(&session_pid, gt_own_pid(), __ATOMIC_RELEASE);
	return true;
}

/* GT_USE_OFF never changes. */
bool gt_gpu_change_use(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(
		&gt_cupti_session->use, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
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
	if (gt_cupti_own_session())
		fetch_thread(NULL);
	if (gt_cupti_own_session() && gt_gpu_change_use(GT_USE_OFF, GT_USE_OFF))
		return false;
	while (!gt_session_is_over()) /* CUPTI is not in use */
		gt_sleep(FLUSH_NS / 5);
	return true;
}

void gt_gpu_start_for_probes(void)
{
	if (gt_cupti_session || !make_session())
		return;
	gt_cupti_session->watching = gt_cupti_session->late_start = 1;
	gt_cupti_session->use = GT_USE_IDLE;
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
		gt_cupti_put_state(state, what, code);
}

static void start(void)
{
	struct gt_object o = { .path = "" };
	const char *user;
	uint32_t version = 0;

	if (!gt_locks_are_free()) {
		gt_cupti_put_state(GT_GPU_REFUSED,
			"loading CUPTI in a forked child (another thread of the parent was inside dlopen at the fork)",
			EDEADLK);
		return;
	}
	if (gt_shared->gpu_timing == GT_TIMING_EVENTS) {
		if (!gt_events_start("as asked for"))
			gt_cupti_put_state(
				GT_GPU_MISSING, "what CUDA events need of the driver", 0);
		return;
	}
	if (!gt_gpu_load_cupti() || !make_session()) {
		use_events_instead(
			GT_GPU_MISSING, *gt_shared->cupti ? gt_shared->cupti : GT_CUPTI_LIBRARY, 0);
		return;
	}
	gt_cupti.version(&version);
	gt_clock_update();
	user = gt_cupti_run_if_unused(gt_gpu_start_cupti);
	if (!user && gt_cupti_session->use != GT_USE_ON) {
		gt_cupti_session->use = gt_attached ? GT_USE_IDLE : GT_USE_OFF;
		use_events_instead(GT_GPU_REFUSED, refusal.what, refusal.code);
		return;
	}
	gt_gpu_register_exit();
	if (!gt_attached)
		gt_start_thread(fetch_thread, NULL);
	gt_object_at((const void *)(uintptr_t)gt_cupti.flush, &o);
	gt_cupti_put_state(GT_GPU_ON, o.path, version);
	if (user)
		gt_cupti_put_state(GT_GPU_YIELDED, user, 0);
}

void gt_gpu_report_fork(void)
{
	if ((gt_cupti_session && !gt_cupti_own_session()) || gt_events_used_before_fork())
		gt_cupti_put_state(GT_GPU_FORKED, "", 0);
}

void gt_gpu_start(void)
{
	if (!gt_cupti_own_session() || gt_cupti_session->use == GT_USE_IDLE)
		start();
}

void gt_gpu_report_no_calls(int code) { gt_cupti_put_state(GT_GPU_NO_CALLS, "", code); }

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
