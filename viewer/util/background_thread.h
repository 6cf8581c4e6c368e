/* A thread beside the viewer's, for work that reads the trace as a whole: one job at a time. */
#ifndef GT_BACKGROUND_THREAD_H
#define GT_BACKGROUND_THREAD_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_background_thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	void (*work)(void *arg);
	void *arg;
	bool busy; /* a job was begun, and nobody has seen its end yet */
	bool done; /* under the lock: it is over */
};

void gt_background_thread_init(struct gt_background_thread *w);
void gt_background_thread_release(struct gt_background_thread *w); /* it is not busy */
/* Begins a job; it is not busy. What arg points at is the thread's from now on. 0, or negative: it
 * has not begun. */
int gt_background_thread_begin(struct gt_background_thread *w, void (*work)(void *arg), void *arg);
/* Is the job that was begun over? That is told once: then it is not busy any more, and what arg
 * points at is the caller's. */
bool gt_background_thread_take_end(struct gt_background_thread *w);
/* Waits for the end of the job for some us at most (0: until it comes). true: it is still at it. */
bool gt_background_thread_wait(struct gt_background_thread *w, uint64_t us);
#endif
