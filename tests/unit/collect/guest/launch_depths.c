/* For tests/cli/collect/stacks_gdb.sh: launches from random depths, through functions of the
 * libraries that are named (each has unwind_call of unwind_calls.cc), of the C library and of this
 * program. launch_depths LAUNCHES LIBRARY... */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include "samples/cu.h"

typedef bool call_fn(int way, void (*f)(void *), void *arg);
#define WAYS 11
#define JUMPS 3 /* this way ends by longjmp, and must not be within itself */
#define NOINLINE __attribute__((noinline))

static call_fn *libraries[8];
static int nlibraries, jumps;
static unsigned seed = 1;
static CUfunction kernel;
static CUdeviceptr memory;
static void descend(void *depth);
static volatile int sink;

static NOINLINE void launch(void)
{
	int n = 64;
	float one = 1;

	LAUNCH(kernel, n, NULL, &memory, &one, &n);
	sink++;
}

static void *sorted;
static int compare(const void *a, const void *b)
{
	if (sorted) {
		void *depth = sorted;

		sorted = NULL;
		descend(depth);
	}
	return a > b;
}

static NOINLINE void through_qsort(void *depth)
{
	char items[2] = { 0 };

	sorted = depth;
	qsort(items, 2, 1, compare);
	sink++;
}

static NOINLINE void recurse(void *depth, int n)
{
	if (n)
		recurse(depth, n - 1);
	else
		descend(depth);
	sink++;
}

/* Calls functions of so many kinds, one below the other, and launches. */
static NOINLINE void descend(void *depth)
{
	const intptr_t left = (intptr_t)depth;
	const int way = (int)((unsigned)rand_r(&seed) % (WAYS + 2)),
		  at = rand_r(&seed) % nlibraries;

	if (!left)
		launch();
	else if (way == WAYS)
		through_qsort((void *)(left - 1));
	else if (way > WAYS || (way == JUMPS && jumps))
		recurse((void *)(left - 1), (int)left);
	else {
		jumps += way == JUMPS;
		libraries[at](way, descend, (void *)(left - 1));
		jumps -= way == JUMPS;
	}
	sink++;
}

static void *launch_all(void *count)
{
	cuCtxSetCurrent(*(CUcontext *)count);
	for (intptr_t i = 0; i < *((intptr_t *)count + 1); i++)
		descend((void *)(intptr_t)(rand_r(&seed) % 5));
	return NULL;
}

int main(int argc, char **argv)
{
	struct {
		CUcontext context;
		intptr_t count;
	} all = { .count = argc > 1 ? atol(argv[1]) / 2 : 0 };
	pthread_t t;
	CUmodule m;

	for (int i = 2; i < argc && nlibraries < 8; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		void *call = library ? dlsym(library, "unwind_call") : NULL;

		if (call)
			libraries[nlibraries++] = (call_fn *)(intptr_t)call;
	}
	if (!nlibraries)
		return 1;
	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	kernel = cu_kernel(m, SCALE);
	OK(cuMemAlloc_v2(&memory, 64 * sizeof(float)));
	OK(cuCtxGetCurrent(&all.context));
	launch_all(&all);
	pthread_create(&t, NULL, launch_all, &all);
	pthread_join(t, NULL);
	return 0;
}
