/* A training loop like that of a framework: it uploads a batch, runs the kernels of a few layers,
 * clears gradients, and downloads the loss every tenth step. It is an example of a healthy trace.
 * Expected: launches far ahead of the GPU, waits only where the loss is read, no memory growth.
 * Usage: train [-n STEPS] [-s 1]. -s 1: after the first step the program forbids itself system
 * calls, as a sandbox does. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "samples/cu.h"

enum { N = 1 << 16, LAYERS = 4 };

struct net {
	CUfunction add, saxpy, scale, relu;
	CUdeviceptr in, weight[LAYERS], out, grad;
	CUstream stream;
};

static void step(struct net *t, const float *batch, float *loss, int i)
{
	float rate = 0.5f, shrink = 0.25f;
	int n = N;

	OK(cuMemcpyHtoDAsync_v2(t->in, batch, N * sizeof(float), t->stream));
	OK(cuMemsetD8Async(t->grad, 0, N * sizeof(float), t->stream));
	for (int l = 0; l < LAYERS; l++) {
		LAUNCH(t->add, N, t->stream, &t->in, &t->weight[l], &t->out, &n);
		LAUNCH(t->relu, N, t->stream, &t->out, &n);
		LAUNCH(t->scale, N, t->stream, &t->out, &shrink, &n);
		LAUNCH(t->saxpy, N, t->stream, &rate, &t->out, &t->grad, &n);
	}
	if (i % 10)
		return;
	OK(cuMemcpyDtoHAsync_v2(loss, t->grad, sizeof(float), t->stream));
	OK(cuStreamSynchronize(t->stream));
}

static void prepare(struct net *t, CUmodule m)
{
	t->add = cu_kernel(m, VECTOR_ADD);
	t->saxpy = cu_kernel(m, SAXPY);
	t->scale = cu_kernel(m, SCALE);
	t->relu = cu_kernel(m, RELU);
	OK(cuStreamCreate(&t->stream, 1));
	OK(cuMemAlloc_v2(&t->in, N * sizeof(float)));
	OK(cuMemAlloc_v2(&t->out, N * sizeof(float)));
	OK(cuMemAlloc_v2(&t->grad, N * sizeof(float)));
	for (int l = 0; l < LAYERS; l++) {
		OK(cuMemAlloc_v2(&t->weight[l], N * sizeof(float)));
		OK(cuMemsetD8Async(t->weight[l], 0, N * sizeof(float), t->stream));
	}
}

/* Allows the calls that the simulated GPU makes; any other call kills the process. */
static void forbid_system_calls(void)
{
	static const unsigned allowed[] = { SYS_write, SYS_exit_group, SYS_clock_gettime,
		SYS_futex };
	enum { N_ALLOWED = sizeof(allowed) / sizeof(*allowed) };
	struct sock_filter f[N_ALLOWED + 3];
	struct sock_fprog all = { N_ALLOWED + 3, f };

	f[0] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < N_ALLOWED; i++)
		f[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, allowed[i], N_ALLOWED - i, 0);
	f[1 + N_ALLOWED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	f[2 + N_ALLOWED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
		exit(3);
}

int main(int argc, char **argv)
{
	long sandbox = cu_option(argc, argv, "-s", 0);
	int steps = cu_option(argc, argv, "-n", 100);
	struct net t;
	CUmodule m;
	CUevent begin, end;
	float *batch, loss = 0, ms;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	prepare(&t, m);
	OK(cuMemAllocHost_v2((void **)&batch, N * sizeof(float)));
	for (int i = 0; i < N; i++)
		batch[i] = 1;
	OK(cuEventCreate(&begin, 0));
	OK(cuEventCreate(&end, 0));
	OK(cuEventRecord(begin, t.stream));
	for (int i = 0; i < steps; i++) {
		step(&t, batch, &loss, i);
		if (sandbox && !i)
			forbid_system_calls();
	}
	if (sandbox) {
		printf("%d steps in a sandbox, loss %g\n", steps, loss);
		fflush(stdout);
		_exit(0);
	}
	OK(cuEventRecord(end, t.stream));
	OK(cuEventSynchronize(end));
	OK(cuEventElapsedTime(&ms, begin, end));
	printf("%d steps, %.3f ms a step, loss %g\n", steps, ms / (steps ? steps : 1), loss);
	OK(cuEventDestroy_v2(begin));
	OK(cuEventDestroy_v2(end));
	OK(cuMemFreeHost(batch));
	for (int l = 0; l < LAYERS; l++)
		OK(cuMemFree_v2(t.weight[l]));
	OK(cuMemFree_v2(t.in));
	OK(cuMemFree_v2(t.out));
	OK(cuMemFree_v2(t.grad));
	OK(cuStreamDestroy_v2(t.stream));
	OK(cuModuleUnload(m));
	OK(cuDevicePrimaryCtxRelease_v2(0));
	return steps && loss != 0.5f; /* four layers, each adds half of a quarter */
}
