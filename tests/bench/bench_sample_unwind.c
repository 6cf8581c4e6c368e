/* Cost of the native stack of a sample in the recorder: about 33 frames, whose call frame
 * information has been read before. Prints us for a stack; the median of the rounds. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "collect/host/native_unwind.h"
#include "tests/unit/own_stack.h"

#define ROUNDS 51
#define STACKS 500
#define DEPTH 28

static double processor_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

static __attribute__((noinline)) int capture(int n)
{
	volatile char space[48];
	ucontext_t u;

	space[n] = 1;
	if (n)
		return capture(n - 1) + space[n];
	getcontext(&u);
	take_registers(&u);
	return space[0];
}

int main(void)
{
	double took[ROUNDS];

	open_all();
	capture(DEPTH);
	unwind(&registers);
	if (stack.is_part || stack.n < DEPTH) {
		fprintf(stderr, "bench_sample_unwind: %u frames\n", stack.n);
		return 1;
	}
	for (int i = 0; i < ROUNDS; i++) {
		double from = processor_us();

		for (int k = 0; k < STACKS; k++)
			unwind(&registers);
		took[i] = (processor_us() - from) / STACKS;
	}
	qsort(took, ROUNDS, sizeof(*took), by_value);
	printf("sample_unwind_us %.2f us\n", took[ROUNDS / 2]);
	return 0;
}
