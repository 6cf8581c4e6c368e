/* A program that dies during a call: the stream runs a host function that ends the process while
 * the main thread is inside cuStreamSynchronize.
 * Expected: the trace has every call up to the end, and cuStreamSynchronize as still open.
 * Usage: crash [-n LAUNCHES] [-s SIGNAL]: without -s a write to address 0; SIGNAL 0 is _exit(3). */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <signal.h>

static volatile int about_to_wait;

static void fatal(void *arg)
{
	long sig = (long)arg;

	while (!about_to_wait)
		usleep(1000);
	usleep(200000); /* the main thread waits by then */
	if (sig < 0)
		*(volatile int *)NULL = 1;
	else if (sig)
		kill(getpid(), sig);
	else
		_exit(3);
}

int main(int argc, char **argv)
{
	long launches = cu_option(argc, argv, "-n", 20), sig = cu_option(argc, argv, "-s", -1);
	int n = 1 << 12;
	CUdeviceptr x;
	CUfunction relu;
	CUmodule m;
	CUstream s;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	relu = cu_kernel(m, RELU);
	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&x, n * sizeof(float)));
	for (int i = 0; i < launches; i++)
		LAUNCH(relu, n, s, &x, &n);
	OK(cuLaunchHostFunc(s, fatal, (void *)sig));
	about_to_wait = 1;
	OK(cuStreamSynchronize(s));
	printf("still alive\n");
	return 0;
}
