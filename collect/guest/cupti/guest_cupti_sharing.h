/* Other users of CUPTI in the process: the lock that orders all users, and wrappers of the
 * functions by which another profiler takes CUPTI over. gt_cupti_wrapper is in guest_hooks.h. */
#ifndef GT_GUEST_CUPTI_SHARING_H
#define GT_GUEST_CUPTI_SHARING_H
#include "collect/guest/core/guest_common.h"

/* Locks CUPTI for this thread; waits for at most two seconds. False: another thread is still in
 * CUPTI, or flushes it. Pass *locked to gt_cupti_unlock in either case. */
bool gt_cupti_lock(bool *locked);
void gt_cupti_unlock(bool locked);
/* Calls `then` unless another user has CUPTI. If `then` fails, CUPTI gets the callbacks of its last
 * user back. Returns the library that uses CUPTI now; NULL: none. */
const char *gt_cupti_run_if_unused(bool (*then)(void));
/* forwards a buffer that is not the guest's */
void gt_cupti_forward_buffer(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
#endif
