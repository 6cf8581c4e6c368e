/* Many threads, for tests/cli/collect/ebpf_threads.sh: thread_crowd LIVE SHORT. LIVE threads exist
 * at the same time, and each sleeps before and after all have started. Then SHORT threads follow,
 * at most AT_ONCE at the same time; each sleeps once. So each thread has a scheduler row. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define AT_ONCE 16

static pthread_barrier_t all;

/* A short sleep may end before the thread leaves its processor. */
static void sleep_shortly(void)
{
	struct rusage before, now;

	getrusage(RUSAGE_THREAD, &before);
	do {
		nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
		getrusage(RUSAGE_THREAD, &now);
	} while (now.ru_nvcsw == before.ru_nvcsw);
}

static void *live(void *arg)
{
	sleep_shortly();
	pthread_barrier_wait(&all);
	sleep_shortly();
	return arg;
}

static void *shortly(void *arg)
{
	sleep_shortly();
	return arg;
}

static bool run(pthread_t *threads, int n, void *fn(void *))
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], &attr, fn, NULL))
			return false;
	if (fn == live)
		pthread_barrier_wait(&all);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return true;
}

int main(int argc, char **argv)
{
	int nlive = argc > 1 ? atoi(argv[1]) : 0, nshort = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t *threads = calloc((size_t)nlive + AT_ONCE, sizeof(*threads));
	bool ok = threads != NULL;

	pthread_barrier_init(&all, NULL, (unsigned)nlive + 1);
	ok = ok && (!nlive || run(threads, nlive, live));
	for (int i = 0; ok && i < nshort; i += AT_ONCE)
		ok = run(threads, nshort - i < AT_ONCE ? nshort - i : AT_ONCE, shortly);
	if (!ok)
		fputs("cannot start a thread\n", stderr);
	free(threads);
	return !ok;
}
