/* The most expensive habit: a synchronisation after every launch. Each kernel then pays the round
 * trip to the GPU.
 * Expected: as many cuStreamSynchronize as cuLaunchKernel, and most of the time in the former. The
 * second loop launches the same kernels and waits once.
 * Usage: sync_every_launch [-n LAUNCHES]. */
#define _GNU_SOURCE
#include "samples/cu.h"

int main(int argc, char **argv)
{
	int launches = cu_option(argc, argv, "-n", 500), n = 1 << 12;
	CUdeviceptr x;
	CUfunction scale;
	CUmodule m;
	CUstream s;
	float one = 1;
	double began, each, once;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	scale = cu_kernel(m, SCALE);
	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&x, n * sizeof(float)));
	OK(cuMemsetD8Async(x, 0, n * sizeof(float), s));
	OK(cuStreamSynchronize(s));
	began = cu_ms();
	for (int i = 0; i < launches; i++) {
		LAUNCH(scale, n, s, &x, &one, &n);
		OK(cuStreamSynchronize(s));
	}
	each = cu_ms() - began;
	began = cu_ms();
	for (int i = 0; i < launches; i++)
		LAUNCH(scale, n, s, &x, &one, &n);
	OK(cuStreamSynchronize(s));
	once = cu_ms() - began;
	printf("%d launches: %.2f ms waiting for each, %.2f ms waiting once\n", launches, each,
		once);
	OK(cuMemFree_v2(x));
	OK(cuStreamDestroy_v2(s));
	return 0;
}
