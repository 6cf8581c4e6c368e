/* One job of several processes, like data loaders and ranks: the parent starts workers (fork and
 * exec of itself) and works too.
 * Expected: one trace has all processes, each with its own calls, and the parent waits in between.
 * Usage: multiproc [-p PROCESSES] [-n LAUNCHES]; a worker is started with -w. */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <sys/wait.h>

static void work(int launches)
{
	int n = 1 << 12;
	CUdeviceptr x;
	CUfunction relu;
	CUmodule m;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	relu = cu_kernel(m, RELU);
	OK(cuMemAlloc_v2(&x, n * sizeof(float)));
	for (int i = 0; i < launches; i++)
		LAUNCH(relu, n, NULL, &x, &n);
	OK(cuCtxSynchronize());
	OK(cuMemFree_v2(x));
}

int main(int argc, char **argv)
{
	int processes = cu_option(argc, argv, "-p", 3), n = cu_option(argc, argv, "-n", 50),
	    failed = 0, status;
	char number[16];

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-w")) {
			work(n);
			return 0;
		}
	snprintf(number, sizeof(number), "%d", n);
	for (int i = 0; i < processes; i++)
		if (!fork()) {
			execl("/proc/self/exe", argv[0], "-w", "-n", number, (char *)NULL);
			_exit(127);
		}
	work(n);
	while (wait(&status) > 0)
		failed |= status;
	printf("%d workers and their parent: %d launches each\n", processes, n);
	return failed != 0;
}
