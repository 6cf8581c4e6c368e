/* CUPTI's activity records of one process: start, the thread that fetches them, yielding to other
 * users, end. */
#ifndef GT_GUEST_CUPTI_ACTIVITY_H
#define GT_GUEST_CUPTI_ACTIVITY_H
#include "collect/guest/core/guest_ring.h"

/* How this process uses CUPTI. */
enum gt_cupti_use {
	GT_USE_OFF,     /* the program ends: not any more */
	GT_USE_ON,      /* records are enabled */
	GT_USE_YIELDED, /* another profiler uses CUPTI */
	GT_USE_IDLE,    /* not yet: no tracer is attached to a probe */
};

/* ---- start ---- */
void gt_gpu_start(void); /* starts CUPTI, or CUDA events instead, for the session */
/* Of a program that gtcollect has attached to: fetches records until the session is over. False:
 * the program ends. */
bool gt_gpu_fetch_until_over(void);
/* without a session: uses CUPTI only while a tracer is attached to a probe */
void gt_gpu_start_for_probes(void);
bool gt_gpu_load_cupti(void); /* loads CUPTI and finds its functions */
/* for gt_cupti_run_if_unused; false: CUPTI refused, and nothing is enabled */
bool gt_gpu_start_cupti(void);
/* enum gt_cupti_use; false: the state is not `from` */
bool gt_gpu_change_use(uint32_t from, uint32_t to);
/* registers an exit handler that ends the use of CUPTI. Call it once */
void gt_gpu_register_exit(void);

/* ---- in use ---- */
bool gt_gpu_is_used(void); /* this process uses CUPTI */
/* enables the guest's record kinds once more while CUPTI is in use */
void gt_gpu_reenable(void);
/* Fetches the guest's records and disables the kinds that it enabled; user: the other user's
 * library. False: CUPTI was not in use. */
bool gt_gpu_yield(const char *user);
/* the other user seems to have finished: resumes 0.4 s later */
void gt_gpu_schedule_resume(void);
/* records a state if this process uses or used CUPTI */
void gt_gpu_report_state(enum gt_gpu_state state, const char *text);
/* records that CUPTI refused callbacks with this error: no calls are recorded */
void gt_gpu_report_no_calls(int code);
/* CUPTI's callback for completed buffers, the guest's and other users'. */
void gt_gpu_buffer_completed(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
#endif
