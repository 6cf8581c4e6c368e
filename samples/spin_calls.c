/* The cheapest call, as often as possible, to measure what tracing adds to a call.
 * Expected: the number of calls, and ns per call; traced minus untraced is the cost of a traced
 * call.
 * Usage: spin_calls [-n CALLS | -s SECONDS]. */
#define _GNU_SOURCE
#include "samples/cu.h"

int main(int argc, char **argv)
{
	long n = cu_option(argc, argv, "-n", 1000000), seconds = cu_option(argc, argv, "-s", 0),
	     calls = 0;
	CUcontext current;
	double began;

	cu_start();
	began = cu_ms();
	do {
		for (long i = 0; i < n; i++)
			OK(cuCtxGetCurrent(&current));
		calls += n;
	} while (cu_ms() - began < 1000. * seconds);
	printf("%ld calls, %.2f ns each\n", calls, calls ? (cu_ms() - began) * 1e6 / calls : 0.);
	return 0;
}
