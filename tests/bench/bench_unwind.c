/* Cost of a walk over the native stack whose rules are known: a chain of functions without frame
 * pointers and with frames of different sizes. Prints ns per walk of 10 and of 30 frames;
 * medians of the rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "collect/guest/stack/native_frames.h"
#include "collect/guest/stack/unwind_rules.h"

#define ROUNDS 51
#define WALKS 5000
#define MAX_FRAMES 64

static struct gt_readable readable;
static uint32_t nframes; /* frames of a walk */
static double ns_per_walk;

static double processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

/* Walks from its caller on, again and again. */
static __attribute__((noinline)) int measure(void)
{
	const uintptr_t *fp = __builtin_frame_address(0);
	uintptr_t start[3] = { (uintptr_t)__builtin_return_address(0),
		(uintptr_t)__builtin_dwarf_cfa(), fp[0] };
	enum gt_native_state state = GT_NATIVE_PENDING;
	uint64_t words[MAX_FRAMES];
	double took[ROUNDS];
	uint32_t n = 0;

	for (int i = 0; i < 5 && state == GT_NATIVE_PENDING; i++) {
		n = gt_native_frames(&readable, start, 0, 0, words, nframes, &state);
		gt_unwind_wait(1000);
	}
	if (n != nframes || state != GT_NATIVE_TRUNCATED) {
		fprintf(stderr, "bench_unwind: %u frames, state %d\n", n, state);
		exit(1);
	}
	for (int i = 0; i < ROUNDS; i++) {
		double from = processor_ns();

		for (int k = 0; k < WALKS; k++)
			gt_native_frames(&readable, start, 0, 0, words, nframes, &state);
		took[i] = (processor_ns() - from) / WALKS;
	}
	qsort(took, ROUNDS, sizeof(*took), by_value);
	ns_per_walk = took[ROUNDS / 2];
	return (int)n;
}

/* 36 functions with frames of different sizes, each of which calls the one before. */
/* clang-format off */
#define LEVELS(X) \
	X(1, 0) X(2, 1) X(3, 2) X(4, 3) X(5, 4) X(6, 5) X(7, 6) X(8, 7) X(9, 8) \
	X(10, 9) X(11, 10) X(12, 11) X(13, 12) X(14, 13) X(15, 14) X(16, 15) X(17, 16) X(18, 17) \
	X(19, 18) X(20, 19) X(21, 20) X(22, 21) X(23, 22) X(24, 23) X(25, 24) X(26, 25) X(27, 26) \
	X(28, 27) X(29, 28) X(30, 29) X(31, 30) X(32, 31) X(33, 32) X(34, 33) X(35, 34) X(36, 35)
/* clang-format on */
#define LEVEL(n, below)                                                                            \
	static __attribute__((noinline, noipa)) int level##n(int x)                                \
	{                                                                                          \
		volatile int local[1 + n * 5 % 17 * 4];                                            \
                                                                                                   \
		local[0] = x;                                                                      \
		return level##below(x + 1) + local[0];                                             \
	}
static __attribute__((noinline, noipa)) int level0(int x) { return measure() + x; }
LEVELS(LEVEL)

int main(void)
{
	static const uint32_t counts[] = { 10, 30 };

	gt_unwind_open();
	for (int i = 0; i < 2; i++) {
		nframes = counts[i];
		level36(i);
		printf("native_walk_%u_frames_ns %.1f ns\n", nframes, ns_per_walk);
	}
	return 0;
}
