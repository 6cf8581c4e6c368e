/* The same copies from pageable memory and from pinned memory. For pageable memory the driver uses
 * a staging buffer, and "asynchronous" copies wait.
 * Expected: cuMemcpyHtoDAsync blocks its caller in the first half and takes microseconds in the
 * second, whose time is in one cuStreamSynchronize.
 * Usage: pageable_copy [-n COPIES]. */
#define _GNU_SOURCE
#include "samples/cu.h"

enum { SIZE = 4 << 20 };

static double copies(CUdeviceptr to, const void *from, CUstream s, int n, double *calling)
{
	double began = cu_ms();

	for (int i = 0; i < n; i++)
		OK(cuMemcpyHtoDAsync_v2(to, from, SIZE, s));
	*calling = cu_ms() - began;
	OK(cuStreamSynchronize(s));
	return cu_ms() - began;
}

int main(int argc, char **argv)
{
	int n = cu_option(argc, argv, "-n", 50);
	double plain, pinned, plain_calls, pinned_calls;
	void *own = calloc(1, SIZE), *host;
	CUdeviceptr x;
	CUstream s;

	cu_start();
	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&x, SIZE));
	OK(cuMemAllocHost_v2(&host, SIZE));
	memset(host, 1, SIZE);
	plain = copies(x, own, s, n, &plain_calls);
	pinned = copies(x, host, s, n, &pinned_calls);
	printf("%d copies of 4 MiB: pageable %.1f ms (%.1f ms in the calls), pinned %.1f ms (%.1f ms in the calls)\n",
		n, plain, plain_calls, pinned, pinned_calls);
	OK(cuMemFreeHost(host));
	OK(cuMemFree_v2(x));
	OK(cuStreamDestroy_v2(s));
	free(own);
	return 0;
}
