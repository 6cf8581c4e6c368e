/* A library for stacks.sh: makes calls from ten native frames, built without frame pointers.
 *
 * stack_repeated(N) makes N calls with one stack, stack_new(N) with a stack of its own each. Both
 * return ns a call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define DEPTH 10
#define NOINLINE __attribute__((noinline, noclone))

static int (*query)(void *);
static volatile uint32_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Goes down by one of four call sites, chosen by two bits of `path`. */
static NOINLINE double down(int depth, uint32_t path, long n)
{
	double t, r;

	if (depth == DEPTH - 2) {
		t = now();
		for (long i = 0; i < n; i++)
			query(NULL);
		r = now() - t;
		sink++;
		return r;
	}
	switch (path & 3) {
	case 0: r = down(depth + 1, path >> 2, n); break;
	case 1: r = down(depth + 1, path >> 2, n) + 0.0001; break;
	case 2: r = down(depth + 1, path >> 2, n) + 0.0002; break;
	default: r = down(depth + 1, path >> 2, n) + 0.0003;
	}
	sink++; /* so that the call above is no jump */
	return r;
}

static void find(void)
{
	if (!query)
		query = (int (*)(void *))dlsym(RTLD_DEFAULT, "cuStreamQuery");
}

double stack_repeated(long n)
{
	find();
	down(0, 0, 1000);
	return down(0, 0, n) / (double)n;
}

double stack_new(long n)
{
	double sum = 0;

	find();
	for (long i = 0; i < n; i++)
		sum += down(0, (uint32_t)i, 1);
	return sum / (double)n;
}
