/* Managed memory that kernels and the host use in turn, and the same with prefetches.
 * Expected with gtcollect -e gpu,um: a fault and a migration on each side in every round; then only
 * migrations.
 * Usage: managed [-n ROUNDS]. */
#define _GNU_SOURCE
#include "samples/cu.h"

enum { SIZE = 1 << 20 };
static CUresult (*alloc_managed)(CUdeviceptr *at, size_t size, unsigned flags);
static CUresult (*prefetch)(CUdeviceptr at, size_t size, CUdevice dev, CUstream s);

int main(int argc, char **argv)
{
	int rounds = (int)cu_option(argc, argv, "-n", 10), n = SIZE / sizeof(float);
	float by = 2, *host;
	CUdeviceptr x;
	CUfunction scale;
	CUmodule m;
	CUstream s;
	void *lib;

	cu_start();
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	*(void **)&alloc_managed = dlsym(lib, "cuMemAllocManaged");
	*(void **)&prefetch = dlsym(lib, "cuMemPrefetchAsync");
	if (!alloc_managed || !prefetch) {
		fprintf(stderr, "the CUDA driver has no managed memory\n");
		return 1;
	}
	OK(cuModuleLoadData(&m, cu_ptx));
	scale = cu_kernel(m, SCALE);
	OK(cuStreamCreate(&s, 1));
	OK(alloc_managed(&x, SIZE, 1));
	host = (float *)(uintptr_t)x;
	for (int i = 0; i < n; i++)
		host[i] = 0;
	for (int i = 0; i < 2 * rounds; i++) {
		host[0] += 1;
		if (i >= rounds)
			OK(prefetch(x, SIZE, 0, s));
		LAUNCH(scale, n, s, &x, &by, &n);
		OK(cuStreamSynchronize(s));
	}
	printf("%d rounds, %d with prefetches\n", 2 * rounds, rounds);
	OK(cuMemFree_v2(x));
	return 0;
}
