/* Many threads with many calls each, all at the same time, as in thread pools and data loaders.
 * Expected: a track for every thread, with exactly CALLS cuCtxGetCurrent and one cuCtxSetCurrent.
 * Usage: many_threads [-t THREADS] [-n CALLS]. */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <pthread.h>

static CUcontext ctx;
static long calls;

static void *body(void *arg)
{
	CUcontext current = NULL;

	OK(cuCtxSetCurrent(ctx));
	for (long i = 0; i < calls; i++)
		OK(cuCtxGetCurrent(&current));
	return calls && current != ctx ? ctx : arg; /* non-NULL: wrong */
}

int main(int argc, char **argv)
{
	long threads = cu_option(argc, argv, "-t", 64), started = 0, wrong = 0;
	pthread_t *thread = calloc(threads > 0 ? threads : 1, sizeof(*thread));
	pthread_attr_t small;
	void *result;

	calls = cu_option(argc, argv, "-n", 1000);
	ctx = cu_start();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	while (started < threads && !pthread_create(&thread[started], &small, body, NULL))
		started++;
	for (long i = 0; i < started; i++)
		wrong += !pthread_join(thread[i], &result) && result;
	printf("%ld threads, %ld calls each\n", started, calls);
	free(thread);
	return wrong || started < threads;
}
