/* A GPU that waits for its host: between two launches the program works on the CPU for 5 ms. Here
 * it sleeps; a real program loads data, or runs Python. The kernels take 0.1 ms.
 * Expected: gaps of about 5 ms between launches, which make up nearly all of the run.
 * Usage: idle_host [-n LAUNCHES] [-u MICROSECONDS]. */
#define _GNU_SOURCE
#include "samples/cu.h"

int main(int argc, char **argv)
{
	long n = cu_option(argc, argv, "-n", 50), us = cu_option(argc, argv, "-u", 5000);
	uint64_t cycles = 180000;
	CUfunction busy;
	CUmodule m;
	double began;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	busy = cu_kernel(m, BUSY);
	began = cu_ms();
	for (long i = 0; i < n; i++) {
		LAUNCH(busy, 256, NULL, &cycles);
		usleep(us);
	}
	OK(cuCtxSynchronize());
	printf("%ld kernels of 0.1 ms took %.0f ms\n", n, cu_ms() - began);
	return 0;
}
