/* Loads the guest library into a process that already runs, by a short stop of one of its threads
 * (ptrace), and tells it the session. The guest then connects to gtcollect as in a program that
 * gtcollect has started; CUPTI's callbacks report the calls. */
#ifndef GT_INJECT_H
#define GT_INJECT_H
#include <stdint.h>
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_injection {
	pid_t tid;       /* the thread that was stopped */
	int64_t stopped; /* for how long, in ns */
	/* of a process that does not see the session's folder: its connection, which the caller
	 * answers and closes; else -1 */
	int connection;
};
/* library: its path; folder: the session's. 0; -ESRCH: there is no such process; -EACCES: it may
 * not be read either; -ENXIO: it has no CUDA driver; -EPERM: ptrace is not permitted; -EBUSY: no
 * thread was at a suitable place; or negative. */
int gt_inject(pid_t pid, const char *library, const char *folder, struct gt_injection *done,
	struct gt_err *err);
#endif
