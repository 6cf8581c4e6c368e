/* A program that fires the probes of parcagpu as its first versions declare them: without
 * semaphores. For tests/cli/collect/parcagpu.sh. There is no GPU. Each line of its input that is
 * "real" or "monotonic" fires both probes once with times of that clock: a kernel of 1 ms that
 * ended 1 ms ago, and the call that launched it. It answers with the start, in ns of
 * CLOCK_MONOTONIC. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sdt.h>
#include <time.h>

static uint64_t ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(void)
{
	const char *name = "_Z6kernelPf";
	uint32_t correlation = 0, device = 1, stream = 7;
	char line[32];

	while (fgets(line, sizeof(line), stdin)) {
		clockid_t clock = strncmp(line, "real", 4) ? CLOCK_MONOTONIC : CLOCK_REALTIME;
		uint64_t end = ns(clock) - 1000000, start = end - 1000000;

		correlation++;
		STAP_PROBE5(parcagpu_provider, kernel_executed, start, end,
			correlation | (uint64_t)device << 32, stream, name);
		STAP_PROBE3(parcagpu, cuda_correlation, correlation, 211, name);
		printf("%llu\n", (unsigned long long)(ns(CLOCK_MONOTONIC) - 2000000));
		fflush(stdout);
	}
	return 0;
}
