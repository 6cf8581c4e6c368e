/* Two contexts on one device, each with its own stream and its default stream. The program submits
 * work to each in turn.
 * Expected: a line for each context with its streams below it, although the streams of both have
 * the same numbers.
 * Usage: two_contexts [-n ROUNDS] [-c CONTEXTS]. Prints the work of each context. */
#define _GNU_SOURCE
#include "samples/cu.h"

enum { SIZE = 1 << 16, MAX_CONTEXTS = 64 };
struct work_context {
	CUcontext ctx;
	CUfunction busy;
	CUstream s;
	CUdeviceptr x;
	void *host;
};

static void prepare(struct work_context *p, CUdevice dev)
{
	CUmodule m;

	OK(cuCtxCreate_v2(&p->ctx, 0, dev));
	OK(cuModuleLoadData(&m, cu_ptx));
	p->busy = cu_kernel(m, BUSY);
	OK(cuStreamCreate(&p->s, 1));
	OK(cuMemAlloc_v2(&p->x, SIZE));
	OK(cuMemAllocHost_v2(&p->host, SIZE));
}

/* Submits a copy, two kernels and a set to its stream, and a kernel to its default stream. */
static void submit_round(const struct work_context *p)
{
	uint64_t cycles = 40000;

	OK(cuCtxSetCurrent(p->ctx));
	OK(cuMemcpyHtoDAsync_v2(p->x, p->host, SIZE, p->s));
	LAUNCH(p->busy, 256, p->s, &cycles);
	LAUNCH(p->busy, 256, p->s, &cycles);
	OK(cuMemsetD8Async(p->x, 0, SIZE, p->s));
	LAUNCH(p->busy, 256, NULL, &cycles);
}

int main(int argc, char **argv)
{
	int n = (int)cu_option(argc, argv, "-n", 50),
	    contexts = (int)cu_option(argc, argv, "-c", 2);
	struct work_context places[MAX_CONTEXTS];
	CUdevice dev;

	contexts = contexts < 1 ? 1 : contexts > MAX_CONTEXTS ? MAX_CONTEXTS : contexts;
	cu_open();
	OK(cuInit(0));
	OK(cuDeviceGet(&dev, 0));
	for (int c = 0; c < contexts; c++)
		prepare(&places[c], dev);
	for (int i = 0; i < n; i++)
		for (int c = 0; c < contexts; c++)
			submit_round(&places[c]);
	for (int c = 0; c < contexts; c++) {
		OK(cuCtxSetCurrent(places[c].ctx));
		OK(cuCtxSynchronize());
		printf("context %d: %d kernels, %d copies, %d sets, in 2 streams\n", c, 3 * n, n,
			n);
	}
	for (int c = 0; c < contexts; c++)
		OK(cuCtxDestroy_v2(places[c].ctx));
	return 0;
}
