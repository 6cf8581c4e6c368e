#include "viewer/util/background_thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include "viewer/util/deadline.h"

void gt_background_thread_init(struct gt_background_thread *w)
{
	pthread_condattr_t attr;

	*w = (struct gt_background_thread){ .busy = false };
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->ended, &attr);
	pthread_condattr_destroy(&attr);
}

void gt_background_thread_release(struct gt_background_thread *w)
{
	pthread_cond_destroy(&w->ended);
	pthread_mutex_destroy(&w->lock);
}

static void *run(void *arg)
{
	struct gt_background_thread *w = arg;

	w->work(w->arg);
	pthread_mutex_lock(&w->lock);
	w->done = true;
	pthread_cond_signal(&w->ended);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* The thread blocks all signals: the viewer's thread handles them, because it owns the terminal. */
int gt_background_thread_begin(struct gt_background_thread *w, void (*work)(void *arg), void *arg)
{
	sigset_t all, before;
	int rc;

	w->work = work;
	w->arg = arg;
	w->done = false;
	atomic_store(&w->cancelled, false);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	w->busy = !rc;
	return -rc;
}

bool gt_background_thread_take_end(struct gt_background_thread *w)
{
	bool done;

	if (!w->busy)
		return false;
	pthread_mutex_lock(&w->lock);
	done = w->done;
	pthread_mutex_unlock(&w->lock);
	if (!done)
		return false;
	pthread_join(w->thread, NULL);
	w->busy = false;
	return true;
}

bool gt_background_thread_wait(struct gt_background_thread *w, uint64_t us)
{
	uint64_t until = gt_deadline(us);
	struct timespec t = { (time_t)(until / 1000000), (long)(until % 1000000) * 1000 };
	int rc = 0;

	if (!w->busy)
		return false;
	pthread_mutex_lock(&w->lock);
	while (!w->done && rc != ETIMEDOUT)
		rc = us ? pthread_cond_timedwait(&w->ended, &w->lock, &t)
			: pthread_cond_wait(&w->ended, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return rc == ETIMEDOUT;
}
