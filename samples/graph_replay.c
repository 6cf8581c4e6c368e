/* Twenty small kernels launched one by one; then the same twenty captured once and replayed as a
 * graph.
 * Expected: 20 cuLaunchKernel per round in the first half, one cuGraphLaunch per round in the
 * second, for the same work.
 * Usage: graph_replay [-n ROUNDS]. */
#define _GNU_SOURCE
#include "samples/cu.h"

enum { KERNELS = 20 };

static void kernels(CUfunction scale, CUdeviceptr x, CUstream s)
{
	float one = 1;
	int n = 1 << 12;

	for (int i = 0; i < KERNELS; i++)
		LAUNCH(scale, n, s, &x, &one, &n);
}

int main(int argc, char **argv)
{
	int rounds = cu_option(argc, argv, "-n", 100);
	double began, plain, replayed;
	CUfunction scale;
	CUgraphExec exec;
	CUdeviceptr x;
	CUgraph g;
	CUmodule m;
	CUstream s;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	scale = cu_kernel(m, SCALE);
	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&x, sizeof(float) << 12));
	began = cu_ms();
	for (int i = 0; i < rounds; i++)
		kernels(scale, x, s);
	OK(cuStreamSynchronize(s));
	plain = cu_ms() - began;
	OK(cuStreamBeginCapture_v2(s, 0));
	kernels(scale, x, s);
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	began = cu_ms();
	for (int i = 0; i < rounds; i++)
		OK(cuGraphLaunch(exec, s));
	OK(cuStreamSynchronize(s));
	replayed = cu_ms() - began;
	printf("%d rounds of %d kernels: launched %.2f ms, replayed %.2f ms\n", rounds, KERNELS,
		plain, replayed);
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(g));
	OK(cuMemFree_v2(x));
	OK(cuStreamDestroy_v2(s));
	return 0;
}
