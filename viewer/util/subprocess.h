/* Work in a child process: it can be killed at any moment, has its own memory, and ends with the
 * viewer. It sees the viewer's memory as it was at the start; its changes stay private. Exports and
 * indexed copies use it: an exporter or importer runs to its end and cannot be stopped within a
 * process. A report ends at its next block when it is cancelled, and its tables stay in the viewer:
 * it runs in a thread (background_thread.h). */
#ifndef GT_SUBPROCESS_H
#define GT_SUBPROCESS_H
#include <stddef.h>
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_subprocess { /* zero-initialised: no process */
	pid_t pid;
	int channel;
	size_t size;
};
#define GT_SUBPROCESS_RESULT 1024u /* size limit of a result, bytes */
/* Starts a child that calls fn(arg, result) with default signal handlers. The child must not use
 * what other threads of the viewer may use: other readers, the terminal. result: `size` bytes,
 * zeroed. 0 or negative. */
int gt_subprocess_begin(struct gt_subprocess *w, void (*fn)(void *arg, void *result), void *arg,
	size_t size, struct gt_err *err);
/* Waits for its end for at most `ms`. 1: it is running; 0: it has ended, with *result; -EIO: it has
 * ended without a result. */
int gt_subprocess_step(struct gt_subprocess *w, unsigned ms, void *result, struct gt_err *err);
/* also fine when it has ended or never began */
void gt_subprocess_cancel(struct gt_subprocess *w);
#endif
