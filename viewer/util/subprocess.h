/* Work that is done by a process of its own: it can be ended at any moment, whatever it is at, its
 * memory is its own, and it goes with us. It has all that we have in memory as it was, and what it
 * changes there nobody else sees. */
#ifndef GT_SUBPROCESS_H
#define GT_SUBPROCESS_H
#include <stddef.h>
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_subprocess { /* zero-initialised: there is none */
	pid_t pid;
	int channel;
	size_t size;
};
#define GT_SUBPROCESS_RESULT 1024u /* bytes that it can tell in the end, at most */
/* Begins with fn(arg, result) there, where signals do what they always do, and nobody may use what
 * a thread of ours may be at: other readers, the terminal. result: `size` bytes, zeroed. 0 or
 * negative. */
int gt_subprocess_begin(struct gt_subprocess *w, void (*fn)(void *arg, void *result), void *arg,
	size_t size, struct gt_err *err);
/* Waits for its end, for some ms at most. 1: it goes on; 0: it is over, with what it told in
 * *result; -EIO: it is over without. */
int gt_subprocess_step(struct gt_subprocess *w, unsigned ms, void *result, struct gt_err *err);
/* fine when it is over, or never began */
void gt_subprocess_cancel(struct gt_subprocess *w);
#endif
