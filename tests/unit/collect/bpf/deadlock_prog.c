/* Two threads that wait for each other's lock, for tests/cli/collect/ebpf_waits.sh. They have the
 * names of the program, and never run again. The main thread gets the name of each line on its
 * standard input, and ends with it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_barrier_t both;

static void *lock_both(void *arg)
{
	int first = arg != NULL;

	pthread_mutex_lock(&locks[first]);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&locks[!first]);
	return arg;
}

int main(void)
{
	char name[64];
	pthread_t threads[2];

	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&threads[0], NULL, lock_both, NULL) ||
		pthread_create(&threads[1], NULL, lock_both, &both))
		return 1;
	while (fgets(name, sizeof(name), stdin)) {
		name[strcspn(name, "\n")] = 0;
		prctl(PR_SET_NAME, name);
	}
	return 0;
}
