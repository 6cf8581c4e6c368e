/* A program that hangs: its kernel spins until the host sets a flag, and the host waits for the
 * kernel.
 * Expected: the file shows cuStreamSynchronize as an open call within a second, while the program
 * still hangs.
 * Usage: hang [-t SECONDS]: with -t another thread sets the flag after SECONDS; without it the
 * program never ends. */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <pthread.h>

static volatile int *flag;

static void *release(void *seconds)
{
	sleep((long)seconds);
	*flag = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	long seconds = cu_option(argc, argv, "-t", -1);
	pthread_t thread;
	CUdeviceptr at;
	CUfunction wait;
	CUmodule m;
	CUstream s;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	wait = cu_kernel(m, WAIT_FLAG);
	OK(cuStreamCreate(&s, 1));
	/* mapped: the GPU reads it in place */
	OK(cuMemHostAlloc((void **)&flag, sizeof(*flag), 2));
	OK(cuMemHostGetDevicePointer_v2(&at, (void *)flag, 0));
	*flag = 0;
	if (seconds >= 0)
		pthread_create(&thread, NULL, release, (void *)seconds);
	OK(cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){ &at }, NULL));
	printf("waiting for the kernel\n");
	fflush(stdout);
	OK(cuStreamSynchronize(s));
	if (seconds >= 0)
		pthread_join(thread, NULL);
	printf("released\n");
	return 0;
}
