/* A background thread for work that reads the whole trace: one job at a time. The job must look
 * often whether it is cancelled; other work runs in a child process (subprocess.h). */
#ifndef GT_BACKGROUND_THREAD_H
#define GT_BACKGROUND_THREAD_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_background_thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	void (*work)(void *arg);
	void *arg;
	bool busy;             /* a job was started, and its end is not yet taken */
	bool done;             /* the job has ended; guarded by lock */
	atomic_bool cancelled; /* the job should end soon, and its result is not needed */
};

void gt_background_thread_init(struct gt_background_thread *w);
void gt_background_thread_release(struct gt_background_thread *w); /* the thread must not be busy */
/* Starts a job; the thread must not be busy. The thread owns `arg` until the end is taken. 0, or
 * negative: not started. */
int gt_background_thread_begin(struct gt_background_thread *w, void (*work)(void *arg), void *arg);
static inline void gt_background_thread_cancel(struct gt_background_thread *w)
{
	atomic_store(&w->cancelled, true);
}
/* Has the job ended? Returns true once; then the thread is not busy, and the caller owns `arg`
 * again. */
bool gt_background_thread_take_end(struct gt_background_thread *w);
/* Waits for the end of the job for at most `us` µs (0: until the end). true: it is still running.
 */
bool gt_background_thread_wait(struct gt_background_thread *w, uint64_t us);
#endif
