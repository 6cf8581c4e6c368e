/* The calls of a program on the CUDA runtime: its launches, copies, sets and waits are inside
 * runtime calls, each with one or more driver calls. Every other launch calls the driver directly,
 * as libraries do.
 * Expected: every GPU operation has the driver call that created it, inside a runtime call or not.
 * Usage: through_runtime [-n ROUNDS]. */
#define _GNU_SOURCE
#include "samples/cudart.h"

#include <pthread.h>

enum { SIZE = 1 << 16 };
static CUresult (*wait_event)(CUstream s, CUevent e, unsigned flags);
static CUfunction scale;
static CUcontext ctx;
static int rounds;

static CUgraphExec capture(CUstream s, CUdeviceptr x)
{
	CUgraphExec exec;
	CUgraph g;
	float one = 1;
	int n = 1 << 10;

	OK(cuStreamBeginCapture_v2(s, 0));
	for (int i = 0; i < 10; i++)
		LAUNCH(scale, n, s, &x, &one, &n);
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	return exec;
}

/* Creates, uses, waits for and destroys a stream. The next stream may have the same handle. */
static void pass(CUgraphExec exec, CUdeviceptr x, void *host, CUstream other, CUevent e)
{
	float one = 1;
	int n = 1 << 10;
	CUstream s;

	OK(cuStreamCreate(&s, 1));
	for (int i = 0; i < 5; i++) {
		CUDART(CUDA_LAUNCH_KERNEL)
		LAUNCH(scale, n + 256 * i, s, &x, &one, &n);
		LAUNCH(scale, n, s, &x, &one, &n);
		CUDART(CUDA_MEMCPY_ASYNC)
		OK(cuMemcpyHtoDAsync_v2(x, host, SIZE, s));
	}
	/* one call, three driver calls: sets of two sizes, and a copy */
	CUDART(CUDA_MEMCPY_ASYNC)
	{
		OK(cuMemsetD8Async(x, 1, 100, s));
		OK(cuMemsetD8Async(x, 2, 200, s));
		OK(cuMemcpyHtoDAsync_v2(x, host, 300, s));
	}
	CUDART(CUDA_MEMSET_ASYNC)
	OK(cuMemsetD8Async(x, 0, SIZE, s));
	OK(cuEventRecord(e, s));
	CUDART(CUDA_STREAM_WAIT_EVENT)
	OK(wait_event(other, e, 0));
	CUDART(CUDA_GRAPH_LAUNCH)
	OK(cuGraphLaunch(exec, other));
	CUDART(CUDA_EVENT_SYNCHRONIZE)
	OK(cuEventSynchronize(e));
	CUDART(CUDA_STREAM_SYNCHRONIZE)
	OK(cuStreamSynchronize(other));
	OK(cuStreamSynchronize(s));
	OK(cuStreamDestroy_v2(s));
}

static void *work(void *exec)
{
	CUdeviceptr x;
	CUstream other;
	CUevent e;
	void *host;

	OK(cuCtxSetCurrent(ctx));
	OK(cuMemAlloc_v2(&x, SIZE));
	OK(cuMemAllocHost_v2(&host, SIZE));
	OK(cuStreamCreate(&other, 1));
	OK(cuEventCreate(&e, 0));
	OK(cuMemsetD8Async(x, 0, SIZE, other));
	for (int i = 0; i < rounds; i++)
		pass(exec, x, host, other, e);
	return NULL;
}

int main(int argc, char **argv)
{
	CUgraphExec exec[2];
	pthread_t thread[2];
	CUdeviceptr x;
	CUmodule m;
	CUstream s;

	rounds = (int)cu_option(argc, argv, "-n", 10);
	ctx = cu_start();
	cudart_open();
	if (!(*(void **)&wait_event = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamWaitEvent")))
		return 1;
	OK(cuModuleLoadData(&m, cu_ptx));
	scale = cu_kernel(m, SCALE);
	OK(cuMemAlloc_v2(&x, SIZE));
	OK(cuStreamCreate(&s, 1));
	for (int i = 0; i < 2; i++)
		exec[i] = capture(s, x);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work, exec[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CUDART(CUDA_DEVICE_SYNCHRONIZE)
	OK(cuCtxSynchronize());
	printf("%d rounds in each of 2 threads\n", rounds);
	return 0;
}
