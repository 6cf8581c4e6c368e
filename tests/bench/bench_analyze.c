/* Speed of the whole default report: calls per second of processor time, including reading,
 * unpacking and printing. The trace has 20 million calls like those of a real training loop: names
 * and their frequencies, similar steps, scattered durations, ioctls, two threads. Also the share of
 * the reports beyond decoding, and the program's memory. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "analyze/core/run.h"
#include "formats/trace/write/writer.h"

#define CALLS 20000000u
#define NTHREADS 2
#define STEP 751 /* calls of a training step; one in 50 differs between steps */
#define RUNS 3

/* Calls of each name in 150,213 of a PyTorch training loop on an H200, and their usual duration in
 * ns. */
static const struct shape {
	const char *name;
	unsigned count;
	int ns;
	uint8_t category, op, memkind, layer;
} shapes[] = {
	{ "cuCtxGetDevice_v2", 98496, 20, GT_CAT_QUERY, 0, 0, 0 },
	{ "cuDevicePrimaryCtxGetState", 24109, 50, GT_CAT_QUERY, 0, 0, 0 },
	{ "cuLaunchKernel", 9338, 3000, GT_CAT_LAUNCH, GT_OP_LAUNCH, 0, 0 },
	{ "cuCtxGetCurrent", 7803, 20, GT_CAT_QUERY, 0, 0, 0 },
	{ "cuLaunchKernelEx", 3045, 2900, GT_CAT_LAUNCH, GT_OP_LAUNCH, 0, 0 },
	{ "cuDeviceGetAttribute", 1785, 30, GT_CAT_QUERY, 0, 0, 0 },
	{ "cuMemsetD8Async", 1624, 1000, GT_CAT_COPY, GT_OP_SET, 0, 0 },
	{ "cuKernelGetFunction", 1426, 115, GT_CAT_MODULE, 0, 0, 0 },
	{ "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 1424, 150, GT_CAT_QUERY, 0, 0,
		0 },
	{ "cuStreamSynchronize", 246, 11000, GT_CAT_SYNC, GT_OP_SYNC, 0, 0 },
	{ "cuStreamIsCapturing", 244, 550, GT_CAT_QUERY, 0, 0, 0 },
	{ "cuMemcpyHtoDAsync_v2", 235, 23000, GT_CAT_COPY, GT_OP_COPY, 0, 0 },
	{ "cuMemcpyDtoDAsync_v2", 203, 9000, GT_CAT_COPY, GT_OP_COPY, 0, 0 },
	{ "cuMemAlloc_v2", 120, 62000, GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_DEVICE, 0 },
	{ "cuMemFree_v2", 115, 40000, GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_DEVICE, 0 },
	{ "NV_ESC_RM_CONTROL", 300, 1500, GT_CAT_IOCTL, GT_OP_IOCTL, 0, GT_LAYER_IOCTL },
};
#define NSHAPES (sizeof(shapes) / sizeof(*shapes))

static uint64_t seed = 1;
static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((seed >> 32) * below >> 32);
}

/* Fills 4096 slots with shapes, each as often as it is called. */
static void fill_slots(uint8_t slots[4096])
{
	double sum = 0, upto = 0;
	unsigned at = 0;

	for (size_t i = 0; i < NSHAPES; i++)
		sum += shapes[i].count;
	for (size_t i = 0; i < NSHAPES; i++)
		for (upto += shapes[i].count; at < 4096 && at < upto / sum * 4096; at++)
			slots[at] = (uint8_t)i;
	while (at < 4096)
		slots[at++] = 0;
}

static int make(const char *path, struct gt_err *err)
{
	struct gt_writer_options o = { .rows_sorted = true };
	struct gt_writer *w =
		gt_writer_open(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), &o, err);
	uint32_t track[NTHREADS], type[NSHAPES], source, process;
	int64_t now[NTHREADS] = { 0 }, spread[256];
	uint8_t slots[4096], step[STEP];

	if (!w)
		return -1;
	source = gt_writer_string(w, "preload");
	process = gt_writer_track(w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = gt_writer_string(w, "train"),
			.source = source,
			.kind = GT_TRACK_PROCESS,
			.id = 1,
			.ns_id = 1 });
	for (int i = 0; i < NTHREADS; i++)
		track[i] = gt_writer_track(w,
			&(struct gt_track){ .parent = process,
				.name = GT_NONE,
				.source = source,
				.kind = GT_TRACK_THREAD,
				.id = 1 + i,
				.ns_id = 1 + i });
	for (size_t i = 0; i < NSHAPES; i++)
		type[i] = gt_writer_type(w,
			&(struct gt_type){ .name = gt_writer_string(w, shapes[i].name),
				.category = shapes[i].category,
				.op = shapes[i].op,
				.memkind = shapes[i].memkind,
				.layer = shapes[i].layer });
	for (int i = 0; i < 256; i++) /* durations scatter by a factor of e^0.5, some by more */
		spread[i] = (int64_t)(1024 *
			exp(0.5 * ((double)(rnd(1000) + rnd(1000) + rnd(1000)) - 1500) / 500 +
				(i ? 0 : 3)));
	fill_slots(slots);
	for (int i = 0; i < STEP; i++)
		step[i] = slots[rnd(4096)];
	for (uint32_t i = 0; i < CALLS; i++) {
		int th = (int)(i >> 6 & 1);
		uint8_t s = rnd(50) ? step[i % STEP] : slots[rnd(4096)];
		struct gt_row row = { .start = now[th],
			.end = now[th] + (shapes[s].ns * spread[rnd(256)] >> 10),
			.type = type[s],
			.depth = shapes[s].layer == GT_LAYER_IOCTL };

		now[th] = row.end + 60 + rnd(400);
		if (gt_writer_row(w, GT_CALL, track[th], &row, NULL, err) ||
			(gt_writer_epoch_is_due(w, row.end) && gt_writer_epoch(w, row.end, err)))
			return -1;
	}
	return gt_writer_close(w, err);
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int nothing(void *arg, unsigned worker, const struct gt_cols *cols)
{
	(void)worker;
	*(uint64_t *)arg += cols->n;
	return 0;
}

/* ns of decoding only, and of decoding with all default reports; best of RUNS. */
static int compare(const char *path, double *decode, double *report, struct gt_err *err)
{
	const struct gt_analysis *chosen[GT_RUN_REPORTS];
	struct gt_table *tables[GT_RUN_TABLES];
	unsigned n = 0;

	for (unsigned i = 0; gt_analyses[i]; i++)
		if (gt_analyses[i]->in_default)
			chosen[n++] = gt_analyses[i];
	*decode = *report = 1e18;
	for (int run = 0; run < RUNS; run++) {
		struct gt_analysis_options o = { .top = 20, .file = path };
		struct gt_filter all = { .args = true };
		struct gt_reader *r = gt_reader_open(path, err);
		uint64_t rows = 0;
		double a = cpu_ns(), b, c;
		int made;

		if (!r || gt_scan(r, &all, GT_BY_TIME, 1, nothing, &rows, err) || rows != CALLS)
			return -1;
		b = cpu_ns();
		made = gt_run(r, chosen, n, &o, 1, tables, err);
		c = cpu_ns();
		for (unsigned i = 0; i < GT_RUN_TABLES; i++)
			gt_table_free(tables[i]);
		gt_reader_close(r);
		if (made < 0)
			return -1;
		*decode = b - a < *decode ? b - a : *decode;
		*report = c - b < *report ? c - b : *report;
	}
	return 0;
}

/* Processor time of the whole program, best of RUNS, and its peak memory. */
static int whole(const char *program, const char *path, double *ns, long *rss_kib)
{
	*ns = 1e18;
	*rss_kib = 0;
	for (int run = 0; run < RUNS; run++) {
		struct rusage u;
		int status;
		pid_t pid = fork();
		double t;

		if (!pid) {
			if (!freopen("/dev/null", "w", stdout))
				_exit(127);
			execl(program, program, path, (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &u) != pid || status)
			return -1;
		t = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
		*ns = t < *ns ? t : *ns;
		*rss_kib = u.ru_maxrss > *rss_kib ? u.ru_maxrss : *rss_kib;
	}
	return 0;
}

int main(void)
{
	struct gt_err err = GT_ERR_INIT;
	const char *build = getenv("B");
	char program[4096];
	double ns, decode, report;
	long rss;

	snprintf(program, sizeof(program), "%s/gtanalyze", build ? build : "build");
	if (make("calls.zst", &err) || compare("calls.zst", &decode, &report, &err)) {
		gt_err_print("bench_analyze", "calls.zst", &err);
		return 1;
	}
	if (whole(program, "calls.zst", &ns, &rss)) {
		fprintf(stderr, "bench_analyze: %s failed\n", program);
		return 1;
	}
	printf("analyze_nested_calls_per_s_core %.0f calls/s\n", CALLS * 1e9 / ns);
	printf("analyze_nested_rss_mib %.1f MiB\n", (double)rss / 1024);
	printf("analyze_decode_ns_per_call %.2f ns\n", decode / CALLS);
	printf("analyze_reports_ns_per_call %.2f ns\n", (report - decode) / CALLS);
	unlink("calls.zst");
	return 0;
}
