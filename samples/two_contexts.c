/* Two contexts on one device, each with a stream of its own and its default stream; work goes to one and to the other in turn.
 * What to see: a line for each context, with its streams beneath it, though the streams of both have the same numbers.
 * Usage: two_contexts [-n ROUNDS] [-c CONTEXTS]. Prints what each context was given. */
#define _GNU_SOURCE
#include "samples/cu.h"

enum { SIZE = 1 << 16, MOST = 64 };
struct place { CUcontext ctx; CUfunction busy; CUstream s; CUdeviceptr x; void *host; };

static void prepare(struct place *p, CUdevice dev)
{
	CUmodule m;

	OK(cuCtxCreate_v2(&p->ctx, 0, dev));
	OK(cuModuleLoadData(&m, cu_ptx));
	p->busy = cu_kernel(m, BUSY);
	OK(cuStreamCreate(&p->s, 1));
	OK(cuMemAlloc_v2(&p->x, SIZE));
	OK(cuMemAllocHost_v2(&p->host, SIZE));
}

/* A copy, two kernels and a set in its stream, a kernel in its default stream. */
static void give(const struct place *p)
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
	int n = (int)cu_option(argc, argv, "-n", 50), contexts = (int)cu_option(argc, argv, "-c", 2);
	struct place places[MOST];
	CUdevice dev;

	contexts = contexts < 1 ? 1 : contexts > MOST ? MOST : contexts;
	cu_open();
	OK(cuInit(0));
	OK(cuDeviceGet(&dev, 0));
	for (int c = 0; c < contexts; c++)
		prepare(&places[c], dev);
	for (int i = 0; i < n; i++)
		for (int c = 0; c < contexts; c++)
			give(&places[c]);
	for (int c = 0; c < contexts; c++) {
		OK(cuCtxSetCurrent(places[c].ctx));
		OK(cuCtxSynchronize());
		printf("context %d: %d kernels, %d copies, %d sets, in 2 streams\n", c, 3 * n, n, n);
	}
	for (int c = 0; c < contexts; c++)
		OK(cuCtxDestroy_v2(places[c].ctx));
	return 0;
}
