/* How fast lines of format B become a trace that tools can read: lines a second of processor time (one thread, the file in
 * the page cache), the best of three runs. The lines look like those of a real training loop: few names, most calls short, one
 * in eight with another inside. Bare ones, and with pid, tid, arguments and status as gtexport --jsonl writes them. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include "formats/importers.h"

#define CALLS 500000u

static const char *const names[] = {
	"cuCtxGetDevice_v2", "cuCtxGetDevice_v2", "cuCtxGetDevice_v2", "cuDevicePrimaryCtxGetState", "cuLaunchKernel", "cuCtxGetCurrent",
	"cuLaunchKernelEx", "cuMemsetD8Async",
};

static void half(FILE *f, int64_t ns, uint32_t id, char phase, bool args)
{
	fprintf(f, "{\"ts\":%" PRId64 ".%09" PRId64 ",\"op_id\":%u,\"phase\":\"%c\",\"name\":\"%s\"", ns / 1000000000, ns % 1000000000, id, phase,
		names[id * 2654435761u >> 29]);
	if (args && phase == 'B')
		fprintf(f, ",\"pid\":4242,\"tid\":4242,\"details\":{\"bytesize\":%u,\"dptr\":\"0x7f%08x\",\"hStream\":\"0x0\"}", id % 4096, id);
	else if (args)
		fputs(",\"pid\":4242,\"tid\":4242,\"details\":{\"status\":0}", f);
	fputs("}\n", f);
}

static int make(const char *path, bool args)
{
	FILE *f = fopen(path, "w");
	int64_t t = 0;

	for (uint32_t i = 0; f && i < CALLS; i++, t += 5000) {
		half(f, t, i, 'B', args);
		if (i % 8 == 0 && i + 1 < CALLS) {
			half(f, t + 100, i + 1, 'B', args);
			half(f, t + 300, i + 1, 'E', args);
		}
		half(f, t + 700, i, 'E', args);
		i += i % 8 == 0 && i + 1 < CALLS;
	}
	return f && !ferror(f) && !fclose(f) ? 0 : -1;
}

static int measure(const char *figure, bool args)
{
	double best = 0;

	if (make("lines.jsonl", args))
		return 1;
	for (int i = 0; i < 3; i++) {
		struct gt_err err = GT_ERR_INIT;
		struct timespec a, b;
		struct gt_reader *r;
		double rate;

		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		r = gt_open_any("lines.jsonl", &err);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		if (!r || gt_reader_segment(r, 0)->rows[GT_CALL] != CALLS) {
			gt_err_print("bench_import", "lines.jsonl", &err);
			return 1;
		}
		gt_reader_close(r);
		rate = 2.0 * CALLS / ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
		best = rate > best ? rate : best;
	}
	printf("%s %.0f lines/s\n", figure, best);
	return 0;
}

int main(void)
{
	struct rusage use;

	if (measure("jsonl_lines_per_s", false) || measure("jsonl_args_lines_per_s", true))
		return 1;
	getrusage(RUSAGE_SELF, &use);
	printf("import_rss_mib %.1f MiB\n", (double)use.ru_maxrss / 1024);
	return 0;
}
