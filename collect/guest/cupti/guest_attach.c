/* gtcollect --via inject. gtcollect stops a thread of a running program, makes it load the guest
 * library and call gt_attach, and lets it continue. gt_attach only starts a thread, so the stop is
 * short. That thread connects to gtcollect, loads CUPTI, fetches its records, and ends the use of
 * CUPTI when the session is over. Then the library has no thread and no memory of a session: only
 * its code remains, and the next session may come.
 *
 * NVTX that the program has not used yet finds the library by the variable that names a tool.
 *
 * The program keeps its pointers to the driver's functions, so CUPTI's callbacks report the calls
 * (guest_inject.c). If another client has subscribed to CUPTI, no calls are recorded. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_objects.h"
#include "collect/guest/core/guest_session.h"
#include "collect/guest/cupti/guest_cupti_activity.h"
#include "collect/guest/cupti/guest_cupti_callbacks.h"
#include "collect/guest/cupti/guest_inject.h"

static char session[256];   /* FOLDER: */
static int32_t serving_pid; /* the process whose thread serves a session; 0: none */

/* The program's variables, and those with the one that NVTX looks for. Other threads may read
 * either array at any time, so neither is freed. */
extern char **environ;
static char **program_variables, **with_nvtx;
static size_t with_nvtx_places;

/* The loader knows the library by its name. */
static void let_nvtx_find_library(void)
{
	static char variable[] = "NVTX_INJECTION64_PATH=libgtpreload.so";
	char **old = environ;
	size_t n = 0;

	if (!gt_shared->nvtx || gt_environment("NVTX_INJECTION64_PATH"))
		return;
	while (old && old[n])
		n++;
	if (n + 2 > with_nvtx_places) {
		with_nvtx = gt_map((n + 2) * sizeof(*with_nvtx));
		with_nvtx_places = with_nvtx ? n + 2 : 0;
	}
	if (!with_nvtx)
		return;
	if (n)
		memcpy(with_nvtx, old, n * sizeof(*with_nvtx));
	with_nvtx[n] = variable;
	with_nvtx[n + 1] = NULL;
	program_variables = old;
	__atomic_store_n(&environ, with_nvtx, __ATOMIC_RELEASE);
}

/* Unless the program has changed its variables since. */
static void restore_variables(void)
{
	char **ours = with_nvtx;

	if (ours)
		__atomic_compare_exchange_n(&environ, &ours, program_variables, false,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void serve(void)
{
	GT_GUEST_CODE;

	let_nvtx_find_library();
	gt_inject_start();
	gt_session_report_attached();
	if (!gt_gpu_fetch_until_over())
		return;
	restore_variables();
	gt_callbacks_stop_calls();
	gt_debug("detach: CUPTI has ended:", "", gt_callbacks_finalize_cupti());
	if (gt_gpu_is_used())
		gt_gpu_change_use(GT_USE_YIELDED, GT_USE_IDLE);
	gt_session_detach();
}

static void *run(void *arg)
{
	if (gt_session_attach(session)) {
		gt_note_started_thread(GT_STARTED_BY_GUEST);
		serve();
	}
	__atomic_store_n(&serving_pid, 0, __ATOMIC_RELEASE);
	return arg;
}

GT_EXPORT int gt_attach(const char *to, int is_new);
/* `to`: the session as in GT_SESSION, without a library. is_new: the library was loaded just now.
 * If it was loaded when the program started, its wrappers are in use. Returns 0 or an error
 * number. */
GT_EXPORT int gt_attach(const char *to, int is_new)
{
	static bool is_late;
	int32_t pid = gt_own_pid(), none = 0;
	int saved = errno;

	is_late |= is_new;
	if (!is_late)
		return EEXIST;
	if (strlen(to) >= sizeof(session))
		return ENAMETOOLONG;
	/* a forked child has its parent's value */
	if (__atomic_load_n(&serving_pid, __ATOMIC_ACQUIRE) != pid)
		__atomic_store_n(&serving_pid, 0, __ATOMIC_RELEASE);
	if (!__atomic_compare_exchange_n(
		    &serving_pid, &none, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return EBUSY;
	memcpy(session, to, strlen(to) + 1);
	if (!gt_start_thread(run, NULL)) {
		__atomic_store_n(&serving_pid, 0, __ATOMIC_RELEASE);
		errno = saved;
		return EAGAIN;
	}
	errno = saved;
	return 0;
}
