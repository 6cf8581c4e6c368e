/* Cost of the guest per call: a program calls a 1 ns function, traced and untraced, while a thread
 * of the bench drains its ring. Prints ns per call, and the number of lost calls. */
#include "tests/unit/collect/guest/guest_host.h"
#include <sys/resource.h>

static volatile bool done;

static void *drainer(void *arg)
{
	while (!done)
		host_drain(arg);
	return NULL;
}

/* Processor time of the program in seconds; best of five runs, to reduce the noise of other
 * processes. */
static double measure(struct host *h, const char *program, const char *calls)
{
	char *argv[] = { (char *)program, (char *)"many", (char *)calls, NULL };
	struct rusage used;
	double best = 1e9;
	pid_t pid;

	for (int i = 0; i < 5; i++) {
		double took;

		if (h) {
			pid = host_spawn(h, argv);
		} else if (!(pid = fork())) {
			execv(argv[0], argv);
			_exit(127);
		}
		wait4(pid, NULL, 0, &used);
		took = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
		best = took < best ? took : best;
	}
	return best;
}

int main(void)
{
	char top[3000], program[4096], library[4096];
	static struct host h;
	ssize_t n = readlink("/proc/self/exe", top, sizeof(top) - 1);
	uint64_t dropped = 0;
	pthread_t t;
	double with, without;

	top[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 2 && strrchr(top, '/'); i++)
		*strrchr(top, '/') = 0;
	snprintf(program, sizeof(program), "%s/guest/fake/linked", top);
	snprintf(library, sizeof(library), "%s/libgtpreload.so", top);
	host_open(&h, library, 64, 2048, GT_RING_CHUNK);
	h.discard = true;
	h.s->args = GT_ARGS_KEY;
	pthread_create(&t, NULL, drainer, &h);
	with = measure(&h, program, "10000000") - measure(&h, program, "10");
	without = measure(NULL, program, "10000000") - measure(NULL, program, "10");
	done = true;
	pthread_join(t, NULL);
	for (uint32_t i = 0; i < h.s->nthreads; i++)
		dropped += host_threads(&h)[i].dropped;
	printf("guest_ns_per_call %.1f ns\nguest_untraced_ns_per_call %.1f ns\nguest_lost %llu calls\n",
		(with - without) / 10e6 * 1e9, without / 10e6 * 1e9, (unsigned long long)dropped);
	host_close(&h);
	return 0;
}
