/* Two independent chains of kernels and copies, first in one stream, then in two.
 * Expected: the same calls twice; in the second half the two streams work at the same time, so it
 * takes less time.
 * Usage: overlap [-n ROUNDS]. */
#define _GNU_SOURCE
#include "samples/cu.h"

enum { SIZE = 1 << 20 };

static float rounds(CUfunction busy, CUdeviceptr x[2], void *host[2], CUstream a, CUstream b, int n,
	CUevent e[2])
{
	uint64_t cycles = 360000;
	CUstream s[2] = { a, b };
	float ms;

	OK(cuEventRecord(e[0], a));
	for (int i = 0; i < 2 * n; i++) {
		OK(cuMemcpyHtoDAsync_v2(x[i & 1], host[i & 1], SIZE, s[i & 1]));
		LAUNCH(busy, 256, s[i & 1], &cycles);
	}
	OK(cuStreamSynchronize(b));
	OK(cuEventRecord(e[1], a));
	OK(cuEventSynchronize(e[1]));
	OK(cuEventElapsedTime(&ms, e[0], e[1]));
	return ms;
}

int main(int argc, char **argv)
{
	int n = cu_option(argc, argv, "-n", 50);
	CUdeviceptr x[2];
	CUfunction busy;
	CUevent e[2];
	CUmodule m;
	CUstream s[2];
	void *host[2];
	float one, two;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	busy = cu_kernel(m, BUSY);
	for (int i = 0; i < 2; i++) {
		OK(cuStreamCreate(&s[i], 1));
		OK(cuEventCreate(&e[i], 0));
		OK(cuMemAlloc_v2(&x[i], SIZE));
		OK(cuMemAllocHost_v2(&host[i], SIZE));
	}
	one = rounds(busy, x, host, s[0], s[0], n, e);
	two = rounds(busy, x, host, s[0], s[1], n, e);
	printf("%d rounds: one stream %.2f ms, two streams %.2f ms\n", n, one, two);
	return 0;
}
