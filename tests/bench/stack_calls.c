/* A library for stacks.sh: makes calls from a few native frames; with those of ctypes and of the
 * interpreter below it these are ten, built without frame pointers.
 *
 * stack_repeated(N) makes N calls with one stack, stack_in_turn(N) with 64 stacks in turn,
 * stack_new(N), N of at most 4,096, with a stack of its own each. All return ns of processor time a
 * call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define LEVELS 2
#define NOINLINE __attribute__((noinline, noclone))

static int (*query)(void *);
static volatile uint32_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* the machine may be shared */
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define SITE(i)                                                                                    \
	case i:                                                                                    \
		r = down(depth + 1, path / SITES, n) + (i)*0.0001;                                 \
		break;
#define SITES4(i) SITE(i) SITE(i + 1) SITE(i + 2) SITE(i + 3)
#define SITES16(i) SITES4(i) SITES4(i + 4) SITES4(i + 8) SITES4(i + 12)
#define SITES 64

/* n calls, timed, or 0: one that is not. Goes down by one of 64 call sites, which `path` chooses at
 * each level. */
static NOINLINE double down(int depth, uint32_t path, long n)
{
	double t, r = 0;

	if (depth == LEVELS) {
		if (!n)
			return query(NULL);
		t = now();
		for (long i = 0; i < n; i++)
			query(NULL);
		r = now() - t;
		sink++;
		return r;
	}
	switch (path % SITES) {
		SITES16(0)
		SITES16(16)
		SITES16(32)
		SITES16(48)
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

double stack_in_turn(long n)
{
	double t;

	find();
	for (uint32_t i = 0; i < 64 * SITES; i++)
		down(0, i % SITES, 0);
	t = now();
	for (long i = 0; i < n; i++)
		down(0, (uint32_t)i % SITES, 0);
	return (now() - t) / (double)n;
}

double stack_new(long n)
{
	double sum = 0;

	find();
	/* so that the rules of all these addresses are known */
	for (int pass = 0; pass < 200; pass++) {
		for (uint32_t i = 0; i < SITES; i++)
			down(0, i + i * SITES, 1);
		usleep(1000);
	}
	for (long i = 0; i < n; i++)
		sum += down(0, (uint32_t)i, 1);
	return sum / (double)n;
}
