/* Reports by Nsight's names, on a trace of 9 million calls in ranges of 900 calls; one call in nine
 * launches a kernel. For reports that reduce: events per second of processor time, including
 * reading and unpacking. For reports that print rows: rows per second of the program in each
 * format, printed to /dev/null, and its memory. For exports with Nsight's tables and for reading
 * them back: rows of the trace per second. An event is a row of the trace, whether or not the
 * report counts it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "analyze/core/run.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/import/importers.h"

#define LAUNCHES 1000000u
#define CALLS_EACH 9u /* a launch and the calls before it */
#define RANGE 100u    /* launches in a range */
#define EVENTS (LAUNCHES * (CALLS_EACH + 1) + LAUNCHES / RANGE)
#define NKERNELS 16
#define RUNS 3

struct bench {
	struct gt_writer *w;
	struct gt_gpu_types gpu;
	uint32_t thread, stream, call, launch, range, kernel[NKERNELS];
};

static uint32_t track(struct bench *b, uint32_t parent, const char *name, unsigned kind, int64_t id)
{
	return gt_writer_track(b->w,
		&(struct gt_track){ .parent = parent,
			.name = gt_writer_string(b->w, name),
			.kind = (uint8_t)kind,
			.source = gt_writer_string(b->w, "preload"),
			.id = id,
			.ns_id = id });
}

static uint32_t type(struct bench *b, const char *name, struct gt_type t)
{
	t.name = gt_writer_string(b->w, name);
	return gt_writer_type(b->w, &t);
}

static void begin(struct bench *b)
{
	uint32_t process = track(b, GT_NONE, "train", GT_TRACK_PROCESS, 1), device;
	char name[64];

	b->thread = track(b, process, "main", GT_TRACK_THREAD, 1);
	device = track(b, process, "NVIDIA H200", GT_TRACK_DEVICE, 0);
	b->stream = track(b, device, "stream 7", GT_TRACK_STREAM, 7);
	b->call = type(b, "cuCtxGetDevice_v2", (struct gt_type){ .category = GT_CAT_QUERY });
	b->launch = type(b, "cuLaunchKernel",
		(struct gt_type){ .category = GT_CAT_LAUNCH, .op = GT_OP_LAUNCH });
	b->range = type(
		b, "step", (struct gt_type){ .category = GT_CAT_USER, .layer = GT_LAYER_USER });
	b->gpu.w = b->w;
	for (int i = 0; i < NKERNELS; i++) {
		snprintf(name, sizeof(name), "_Z4gemmILi%d0EfEvPT0_", i + 10);
		b->kernel[i] = gt_writer_string(b->w, name);
	}
}

static int put_call(struct bench *b, uint32_t what, int64_t start, int64_t end, struct gt_err *err)
{
	struct gt_row row = { .start = start, .end = end, .type = what };

	return gt_writer_row(b->w, GT_CALL, b->thread, &row, NULL, err);
}

/* A launch and its kernel, which starts 5 us later and takes as long as the calls. */
static int put_launch(struct bench *b, uint32_t i, int64_t at, struct gt_err *err)
{
	struct gt_gpu_work w = { .track = b->stream,
		.start = at + 5000,
		.end = at + 6500 + i % 400,
		.correlation = i + 1,
		.context = 1,
		.cause = { .join = GT_JOIN_CORRELATION,
			.track = b->thread,
			.start = at,
			.ns = 1200 + i % 64,
			.name = gt_writer_string(b->w, "cuLaunchKernel") } };
	struct gt_gpu_kernel k = { .name = b->kernel[i * 7 % NKERNELS],
		.grid = { 8 + i % 4, 2, 1 },
		.block = { 256, 1, 1 },
		.registers = 32 };
	int rc = put_call(b, b->launch, at, at + (int64_t)w.cause.ns, err);

	return rc ? rc : gt_gpu_put_kernel(&b->gpu, &w, &k, err);
}

static int make(const char *path, struct gt_err *err)
{
	struct bench b = { .w = gt_writer_open(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600),
				   &(struct gt_writer_options){ 0 }, err) };
	int64_t at = 1000;
	int rc = b.w ? 0 : -1;

	if (!rc)
		begin(&b);
	for (uint32_t i = 0; !rc && i < LAUNCHES; i++) {
		for (uint32_t k = 1; !rc && k < CALLS_EACH; k++, at += 70)
			rc = put_call(&b, b.call, at, at + 20 + (i + k) % 16, err);
		rc = rc ? rc : put_launch(&b, i, at, err);
		at += 1400;
		if (!rc && i % RANGE == RANGE - 1) {
			struct gt_row row = { .start = at - 190000, .end = at, .type = b.range };

			rc = gt_writer_row(b.w, GT_SPAN, b.thread, &row, NULL, err);
		}
		if (!rc && gt_writer_epoch_is_due(b.w, at))
			rc = gt_writer_epoch(b.w, at, err);
	}
	gt_gpu_types_release(&b.gpu);
	return rc ? rc : gt_writer_close(b.w, err);
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Events per second, best of RUNS; negative on failure. */
static double reduce(const char *path, const char *report, struct gt_err *err)
{
	const struct gt_analysis *chosen = gt_analysis_find(report);
	double best = 0;

	for (int run = 0; run < RUNS; run++) {
		struct gt_analysis_options o = { .top = 20, .file = path };
		struct gt_table *tables[GT_RUN_TABLES];
		struct gt_reader *r = gt_reader_open(path, err);
		double from = cpu_ns(), ns;
		int made = r ? gt_run(r, &chosen, 1, &o, 1, tables, err) : -1;

		ns = cpu_ns() - from;
		for (unsigned i = 0; r && i < GT_RUN_TABLES; i++)
			gt_table_free(tables[i]);
		gt_reader_close(r);
		if (made < 0)
			return -1;
		best = EVENTS * 1e9 / ns > best ? EVENTS * 1e9 / ns : best;
	}
	return best;
}

/* Runs a program of the build with its output to /dev/null. Seconds of processor time, best of
 * RUNS, and its peak memory; negative on failure. */
static double run_program(const char *name, const char *const args[], double *rss_mib)
{
	const char *build = getenv("B"), *argv[12] = { name };
	char program[4096];
	double best = -1;

	snprintf(program, sizeof(program), "%s/%s", build ? build : "build", name);
	for (unsigned i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	for (int run = 0; run < RUNS; run++) {
		struct rusage u;
		int status;
		double s;
		pid_t pid = fork();

		if (!pid) {
			if (freopen("/dev/null", "w", stdout))
				execv(program, (char *const *)argv);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &u) != pid || status)
			return -1;
		s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
		best = best < 0 || s < best ? s : best;
		*rss_mib = (double)u.ru_maxrss / 1024 > *rss_mib ? (double)u.ru_maxrss / 1024
								 : *rss_mib;
	}
	return best;
}

/* Rows per second of processor time that the program prints. */
static double print(
	const char *path, const char *report, const char *format, unsigned rows, double *rss_mib)
{
	double s = run_program("gtanalyze",
		(const char *const[]){ "--top", "0", "--format", format, report, path, NULL },
		rss_mib);

	return s < 0 ? s : rows / s;
}

/* ---- files with Nsight's tables ---- */

static bool export_as(const char *format, const char *output, double *rss_mib)
{
	double s = run_program("gtexport",
		(const char *const[]){ format, "-f", "-o", output, "nsight.zst", NULL }, rss_mib);

	if (s > 0)
		printf("%s_rows_per_s_core %.0f rows/s\n", format + 2, EVENTS / s);
	return s > 0;
}

static bool read_tables(const char *path, const char *figure, struct gt_err *err)
{
	double best = 0, from, s;

	for (int run = 0; run < RUNS; run++) {
		struct gt_reader *r;

		from = cpu_ns();
		r = gt_open_any(path, err);
		s = (cpu_ns() - from) / 1e9;
		gt_reader_close(r);
		if (!r)
			return false;
		best = EVENTS / s > best ? EVENTS / s : best;
	}
	printf("%s_rows_per_s_core %.0f rows/s\n", figure, best);
	return true;
}

static uint64_t count_kernels(const char *path, struct gt_err *err)
{
	struct gt_reader *r = gt_reader_open(path, err);
	struct gt_iter *it =
		r ? gt_iter_open(r, &(struct gt_filter){ .kinds = GT_BIT(GT_GPU) }, err) : NULL;
	struct gt_event ev;
	uint64_t n = 0;

	while (it && gt_iter_next(it, &ev, err) > 0)
		n += ev.seg->types[ev.row.type].category == GT_CAT_KERNEL;
	gt_iter_close(it);
	gt_reader_close(r);
	return n;
}

/* Bytes of a kernel of a real recording. */
static bool print_kernel_bytes(struct gt_err *err)
{
	const char *source = getenv("SRC");
	char path[4096];
	double rss = 0;
	struct stat st;
	uint64_t n;

	snprintf(path, sizeof(path), "%s/samples/recorded/h200-train.zst", source ? source : ".");
	n = count_kernels(path, err);
	if (!n ||
		run_program("gtexport",
			(const char *const[]){
				"--parquet", "-f", "-o", "real.parquet", path, NULL },
			&rss) < 0 ||
		stat("real.parquet/CUPTI_ACTIVITY_KIND_KERNEL.parquet", &st))
		return false;
	printf("parquet_bytes_per_kernel %.2f B\n", (double)st.st_size / (double)n);
	return true;
}

static bool bench_tables(struct gt_err *err)
{
	double rss = 0;

	if (!print_kernel_bytes(err) || !export_as("--parquet", "nsight.parquet", &rss) ||
		!export_as("--arrow", "-", &rss) || !export_as("--sqlite", "nsight.sqlite", &rss))
		return false;
	printf("tables_rss_mib %.1f MiB\n", rss);
	return read_tables("nsight.sqlite", "nsight_import", err) &&
		read_tables("nsight.parquet", "parquet_import", err);
}

int main(void)
{
	static const char *const sums[] = { "cuda_api_sum", "cuda_gpu_kern_sum",
		"cuda_gpu_kern_gb_sum", "cuda_api_gpu_sum", "cuda_kern_exec_sum", "nvtx_sum",
		"nvtx_gpu_proj_sum", "nvtx_kern_sum" };
	static const struct {
		const char *name;
		unsigned rows;
	} traces[] = { { "cuda_api_trace", LAUNCHES * CALLS_EACH }, { "cuda_gpu_trace", LAUNCHES },
		{ "cuda_kern_exec_trace", LAUNCHES } };
	static const char *const formats[] = { "csv", "tsv", "json", "text" };
	struct gt_err err = GT_ERR_INIT;
	double rate, rss = 0;

	/* nothing is buffered when a child process starts */
	setvbuf(stdout, NULL, _IOLBF, 0);

	if (make("nsight.zst", &err)) {
		gt_err_print("bench_nsight", "nsight.zst", &err);
		return 1;
	}
	for (unsigned i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		if ((rate = reduce("nsight.zst", sums[i], &err)) < 0) {
			gt_err_print("bench_nsight", sums[i], &err);
			return 1;
		}
		printf("%s_events_per_s_core %.0f events/s\n", sums[i], rate);
	}
	for (unsigned i = 0; i < 4 * sizeof(traces) / sizeof(*traces); i++) {
		const char *name = traces[i / 4].name, *format = formats[i % 4];

		if ((rate = print("nsight.zst", name, format, traces[i / 4].rows, &rss)) < 0) {
			fprintf(stderr, "bench_nsight: %s failed\n", name);
			return 1;
		}
		if (!strcmp(format, "csv"))
			printf("%s_rows_per_s_core %.0f rows/s\n", name, rate);
		else
			printf("%s_%s_rows_per_s_core %.0f rows/s\n", name, format, rate);
	}
	printf("nsight_traces_rss_mib %.1f MiB\n", rss);
	if (!bench_tables(&err)) {
		gt_err_print("bench_nsight", "tables", &err);
		return 1;
	}
	unlink("nsight.zst");
	return 0;
}
