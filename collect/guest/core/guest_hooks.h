/* Functions that core and the wrappers call, and that modules of cupti, events, stack and nvtx
 * define. They are declared here so that core includes nothing from those folders. Each preserves
 * errno. */
#ifndef GT_GUEST_HOOKS_H
#define GT_GUEST_HOOKS_H
#include "collect/guest/core/guest_ring.h"

/* ---- before and after single driver functions, whether the call is recorded or not (see
 * gen_wrappers.c) ---- */
typedef void gt_before(const uint64_t *params);
typedef void gt_after(int32_t ret, const uint64_t *params, const void *caller);
gt_before gt_before_begin_capture, gt_before_context_end, gt_before_device_end;
gt_after gt_after_node, gt_after_clone, gt_after_instantiate, gt_after_begin_capture,
	gt_after_end_capture;
gt_after gt_after_get_proc, gt_after_get_function, gt_after_get_kernel, gt_after_kernel_function,
	gt_after_kernels, gt_after_profiler_start, gt_after_profiler_stop, gt_after_init,
	gt_after_context_end, gt_after_device_end;
extern gt_after *const gt_after_by_id[]; /* generated: by id; NULL: none */

/* ---- cupti ---- */
/* stream captures in progress, while GPU work is recorded */
extern uint32_t gt_captures_active;
/* While gt_captures_active is not 0: if the call was captured, records the graph node that it has
 * created. */
void gt_put_captured_node(const struct gt_call *c, uint64_t stream);
/* The process has got its first ring: if it was forked from a process with CUPTI, reports that
 * CUPTI does not work here. */
void gt_gpu_report_fork(void);
/* exec is about to replace the program: fetches CUPTI's remaining records */
void gt_gpu_before_exec(void);
void gt_gpu_after_failed_exec(void); /* exec has failed */
/* the program aborts: fetches CUPTI's remaining records, and waits for at most one second */
void gt_gpu_before_abort(void);
/* wrapper of this CUPTI function; NULL: it has none */
void *gt_cupti_wrapper(const char *name);

/* ---- events ---- */
/* 1: calls that make a GPU work are put between two CUDA events */
extern uint8_t gt_event_pairs_on;
struct gt_event_pair;
/* Records the first event, before the call. NULL: this call is not timed. */
struct gt_event_pair *gt_event_pair_begin(uint32_t id, const uint64_t *params);
/* Records the second event, after the call's record was written. */
void gt_event_pair_end(
	struct gt_event_pair *b, const struct gt_call *c, int32_t ret, const uint64_t *params);

/* ---- stack ---- */
/* The process has its first ring, or CUPTI's callbacks are about to report its calls: if the
 * session wants stacks, prepares for them, with a thread. */
void gt_stack_start(void);
/* The session of a running program is over: ends that thread. */
void gt_stack_end(void);
/* The number of the stack of the wrapper's caller, whose definition is in the thread's ring by now;
 * 0: the stack could not be taken. May take some us for a stack that is new to the thread. */
uint32_t gt_stack_take(struct gt_tcb *t, enum gt_stack_of how);
/* The library was loaded: starts to sample the process's threads, if gtcollect asks for it. */
void gt_timers_start(void);
/* Forgets what the thread has taken: the block gets another owner, or another session. */
void gt_stack_forget(struct gt_stack_state *s);
/* Frees the memory. NULL: does nothing. */
void gt_stack_free(struct gt_stack_state *s);

/* ---- nvtx ---- */
void gt_nvtx_process_attached(void); /* the process has attached; also in a forked child */
#endif
