/* A leak: each step allocates three buffers and frees only two.
 * Expected: the memory totals have more allocations than frees, and steps x 1 MiB are live at the
 * end.
 * Usage: leak [-n STEPS]. */
#define _GNU_SOURCE
#include "samples/cu.h"

int main(int argc, char **argv)
{
	int steps = cu_option(argc, argv, "-n", 100);
	CUdeviceptr a, b, forgotten;
	size_t before, after, total;

	cu_start();
	OK(cuMemGetInfo_v2(&before, &total));
	for (int i = 0; i < steps; i++) {
		OK(cuMemAlloc_v2(&a, 256 << 10));
		OK(cuMemAlloc_v2(&b, 512 << 10));
		OK(cuMemAlloc_v2(&forgotten, 1 << 20));
		OK(cuMemsetD8Async(forgotten, 0, 1 << 20, NULL));
		OK(cuMemFree_v2(a));
		OK(cuMemFree_v2(b));
	}
	OK(cuMemGetInfo_v2(&after, &total));
	printf("%d steps: %.0f MiB less free memory than before\n", steps,
		(before - after) / 1048576.);
	return 0;
}
