/* Graphs created in every way: node by node, as a clone that gets one more node, captured on two
 * streams by two threads; each instantiated and launched twice. Each kernel has a grid of its
 * own. For tests/cli/collect/gpu_graphs.sh. */
#define _GNU_SOURCE
#include <pthread.h>
#include "samples/cu.h"

static void *library;
#define CALL(name, params, ...) OK(((int(*) params)dlsym(library, #name))(__VA_ARGS__))

struct kernel_node {
	CUfunction f;
	unsigned grid[3], block[3], shared;
	void **params, **extra, *kernel, *context;
};
struct set_node {
	CUdeviceptr at;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};

static CUfunction busy;
static CUcontext context;
static CUstream streams[2];
static CUevent events[2];
static uint64_t cycles = 1000;

static void *add_kernel(CUgraph g, void *after, unsigned grid)
{
	struct kernel_node k = { .f = busy,
		.grid = { grid, 1, 1 },
		.block = { 32, 1, 1 },
		.params = (void *[]){ &cycles } };
	void *node;

	CALL(cuGraphAddKernelNode_v2, (void **, CUgraph, void **, size_t, struct kernel_node *),
		&node, g, &after, after != NULL, &k);
	return node;
}

static void run_twice(CUgraph g)
{
	CUgraphExec exec;

	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	for (int i = 0; i < 2; i++)
		OK(cuGraphLaunch(exec, streams[0]));
	OK(cuStreamSynchronize(streams[0]));
	OK(cuGraphExecDestroy(exec));
}

static void launch(unsigned grid, CUstream s)
{
	OK(cuLaunchKernel(busy, grid, 1, 1, 32, 1, 1, 0, s, (void *[]){ &cycles }, NULL));
}

static void *other_thread(void *arg)
{
	OK(cuCtxSetCurrent(context));
	launch(5, streams[1]); /* captured */
	OK(cuMemsetD8Async((CUdeviceptr)(uintptr_t)arg, 1, 64, streams[1]));
	return NULL;
}

static void by_capture(CUdeviceptr a)
{
	pthread_t t;
	CUstream third;
	CUgraph g;

	OK(cuStreamCreate(&third, 1));
	OK(cuStreamBeginCapture_v2(streams[0], 2));
	launch(4, streams[0]);
	OK(cuEventRecord(events[0], streams[0]));
	CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), streams[1], events[0], 0);
	pthread_create(&t, NULL, other_thread, (void *)(uintptr_t)a);
	pthread_join(t, NULL);
	launch(7, third); /* meanwhile, and for itself */
	OK(cuEventRecord(events[1], streams[1]));
	CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), streams[0], events[1], 0);
	launch(6, streams[0]);
	OK(cuStreamEndCapture(streams[0], &g));
	run_twice(g);
	launch(8, streams[0]);
	OK(cuCtxSynchronize());
}

int main(void)
{
	struct set_node set = { .value = 7, .element = 1, .width = 32, .height = 1 };
	CUgraph g, clone;
	CUdeviceptr a;
	void *node;
	CUmodule m;

	context = cu_start();
	library = dlopen("libcuda.so.1", RTLD_NOW);
	OK(cuModuleLoadData(&m, cu_ptx));
	busy = cu_kernel(m, BUSY);
	for (int i = 0; i < 2; i++) {
		OK(cuStreamCreate(&streams[i], 1));
		OK(cuEventCreate(&events[i], 2));
	}
	OK(cuMemAlloc_v2(&a, 4096));
	set.at = a;
	CALL(cuGraphCreate, (CUgraph *, unsigned), &g, 0);
	node = add_kernel(g, NULL, 1);
	CALL(cuGraphAddMemsetNode,
		(void **, CUgraph, void **, size_t, struct set_node *, CUcontext), &node, g, &node,
		1, &set, context);
	add_kernel(g, node, 2);
	run_twice(g);
	CALL(cuGraphClone, (CUgraph *, CUgraph), &clone, g);
	add_kernel(clone, NULL, 3);
	run_twice(clone);
	by_capture(a);
	return 0;
}
