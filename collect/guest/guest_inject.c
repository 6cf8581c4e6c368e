/* Injected. A CUDA driver loads the library that CUDA_INJECTION64_PATH names and calls InitializeInjection, in the midst of cuInit. No
 * call of the program comes to us then as calls come to a preloaded library.
 *
 * Where no gtcollect is, we are there for the probes (guest_probes.c): a thread looks every 80 ms whether somebody is attached to one.
 * Until then CUPTI is not even loaded, and nothing stands in the way of any call. */
#define _GNU_SOURCE
#include "collect/guest/guest.h"

#include <sys/syscall.h>
#include <unistd.h>

GT_EXPORT int InitializeInjection(void);
GT_EXPORT int InitializeInjection(void)
{
	static int32_t started;		/* by which process */
	int32_t pid = (int32_t)syscall(SYS_getpid);
	bool was = gt_inside;
	int saved = errno;

	if (__atomic_exchange_n(&started, pid, __ATOMIC_ACQ_REL) == pid)
		return 1;
	if (!gt_self->ring)
		gt_register();		/* with a session, if our library came from one */
	gt_inside = true;
	if (!gt_shared || !gt_shared->gpu)
		gt_gpu_watch();
	gt_inside = was;
	errno = saved;
	return 1;
}
