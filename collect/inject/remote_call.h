/* Function calls in another process, made by one of its threads while ptrace stops that thread.
 * The other threads continue. All functions are called on one thread of gtcollect: ptrace belongs
 * to a thread, and when that thread ends the kernel detaches from all threads that it traces. */
#ifndef GT_REMOTE_CALL_H
#define GT_REMOTE_CALL_H
#include "collect/inject/remote_symbols.h"

#define GT_REMOTE_XSTATE_MAX 16384

struct gt_remote_thread {
	pid_t pid, tid;
	const struct gt_remote_symbols *symbols;
	int64_t stopped_at; /* ns */
	uint64_t stack;     /* below it the thread has nothing */
	uint64_t mask;      /* blocked signals */
	int error_number;   /* the thread's errno */
	bool has_errno;
	int signal; /* of an unsuitable thread: it is delivered when the thread continues */
	struct gt_remote_registers *registers;
};
/* Stops the thread at the boundary of a system call, outside of the loader and of the allocator. 0;
 * -EAGAIN: it is not at such a place now; -ESRCH: it has ended; -EPERM: ptrace is not permitted.
 * On an error the thread continues. */
int gt_remote_stop(
	struct gt_remote_thread *t, pid_t pid, pid_t tid, const struct gt_remote_symbols *s);
/* Calls a function with up to 4 arguments. 0, or negative: -ETIMEDOUT, -EFAULT it crashed, -ESRCH
 * the process ended. */
int gt_remote_call(struct gt_remote_thread *t, uint64_t function, const uint64_t arguments[4],
	uint64_t *result);
#define GT_REMOTE_ARGUMENTS(...) ((const uint64_t[4]){ __VA_ARGS__ })
/* Puts a text on the thread's stack, where it stays until the thread continues. Returns its
 * address; 0: it failed. */
uint64_t gt_remote_put_text(struct gt_remote_thread *t, const char *text);
/* Puts bytes there. Returns their address; 0: it failed. */
uint64_t gt_remote_put(struct gt_remote_thread *t, const void *bytes, size_t n);
bool gt_remote_read(const struct gt_remote_thread *t, uint64_t at, void *to, size_t n);
/* Reads a text of the process. */
void gt_remote_read_text(const struct gt_remote_thread *t, uint64_t at, char *text, size_t size);
/* Restores the registers and lets the thread continue. Returns how long it was stopped, in ns. */
int64_t gt_remote_continue(struct gt_remote_thread *t);
#endif
