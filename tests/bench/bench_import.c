/* Speed of importing other tools' files, by processor time (one thread, the file in the page
 * cache), the best of three runs.
 *
 * Lines of format B are like those of a real training loop: few names, mostly short calls, one in
 * eight with another call inside. Both bare lines, and lines with pid, tid, arguments and status as
 * gtexport --jsonl writes them.
 *
 * PyTorch's Chrome JSON has the layout of its profiler, with as many ranges, calls, kernels and
 * arrows per launch as a real file (samples/recorded/kineto-h200-mlp.json.gz): steps of 64
 * launches, the ranges of each before its calls and kernels. For a file of 2 GB, which is read from
 * a pipe, only the memory is measured. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "formats/export/exporters.h"
#include "formats/import/importers.h"

#define CALLS 500000u
#define STEP 64u          /* launches */
#define STEPS 800u        /* 100 MB */
#define LARGE 2000000000u /* bytes of the large file */

static const char *const names[] = {
	"cuCtxGetDevice_v2",
	"cuCtxGetDevice_v2",
	"cuCtxGetDevice_v2",
	"cuDevicePrimaryCtxGetState",
	"cuLaunchKernel",
	"cuCtxGetCurrent",
	"cuLaunchKernelEx",
	"cuMemsetD8Async",
};

static void half(FILE *f, int64_t ns, uint32_t id, char phase, bool args)
{
	fprintf(f,
		"{\"ts\":%" PRId64 ".%09" PRId64 ",\"op_id\":%u,\"phase\":\"%c\",\"name\":\"%s\"",
		ns / 1000000000, ns % 1000000000, id, phase, names[id * 2654435761u >> 29]);
	if (args && phase == 'B')
		fprintf(f,
			",\"pid\":4242,\"tid\":4242,\"details\":{\"bytesize\":%u,\"dptr\":\"0x7f%08x\",\"hStream\":\"0x0\"}",
			id % 4096, id);
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

/* ---- PyTorch's profiler ---- */

static const char *const ops[] = {
	"autograd::engine::evaluate_function: AddmmBackward0",
	"AddmmBackward0",
	"aten::mm",
	"aten::linear",
	"aten::addmm",
	"aten::empty_strided",
	"aten::as_strided",
	"aten::_foreach_add_",
};
static const char *const kernels[] = {
	"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<"
	"float>, std::array<char*, 1ul>)",
	"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x32x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
	"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>(cutlass_80_simt_sgemm_64x64_8x5_nn_align1::Params)",
	"void splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, false>(cublasSplitKParams<float>, float const*)",
};

static void op(FILE *f, uint32_t id, int64_t us, unsigned ns, unsigned dur)
{
	fprintf(f,
		",\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 691, \"tid\": %u,\n    \"ts\": %" PRId64
		".%03u, \"dur\": %u.974,\n"
		"    \"args\": {\n      \"External id\": %u,\"Record function id\": 0, \"Sequence number\": 3671, \"Fwd thread id\": 1, \"Ev Idx\": %u\n    }\n  }",
		ops[id % 8], 691 + id / 4 % 2 * 25, us, ns, dur, id, id);
}

static void arrow(FILE *f, const char *head, uint32_t id, const char *place, int64_t us,
	unsigned ns, const char *kind, const char *tail)
{
	fprintf(f,
		",\n  {\n    \"ph\": \"%s\", \"id\": %u, %s, \"ts\": %" PRId64
		".%03u,\n    \"cat\": \"%s\", \"name\": \"%s\"%s\n  }",
		head, id, place, us, ns, kind, kind, tail);
}

static void launch(FILE *f, uint32_t id, int64_t us)
{
	fprintf(f,
		",\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": 7,\n    \"ts\": %" PRId64
		".%03u, \"dur\": 6.752,\n"
		"    \"args\": {\n      \"External id\": %u,\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, \"correlation\": %u,\n"
		"      \"registers per thread\": 18,\n      \"shared memory\": 0,\n      \"blocks per SM\": 0.242424,\n      \"warps per SM\": 1.939394,\n"
		"      \"grid\": [%u, 2, 1],\n      \"block\": [256, 1, 1],\n      \"est. achieved occupancy %%\": 3\n    }\n  }",
		kernels[id % 4], us + 30, id % 1000, id, id, id % 64 + 1);
	arrow(f, "f", id, "\"pid\": 0, \"tid\": 7", us + 30, id % 1000, "ac2g", ", \"bp\": \"e\"");
	fprintf(f,
		",\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 691, \"tid\": 691,\n    \"ts\": %" PRId64
		".712, \"dur\": 6.265,\n    \"args\": {\n      \"External id\": %u,\n      \"cbid\": 211, \"correlation\": %u\n    }\n  }",
		us, id, id);
	arrow(f, "s", id, "\"pid\": 691, \"tid\": 691", us, 712, "ac2g", "");
}

/* Appends a step to the file. */
static void step(FILE *f, uint32_t n)
{
	for (uint32_t i = n * STEP; i < (n + 1) * STEP; i++) {
		int64_t us = 4304876200000 + 80ll * i;

		for (unsigned k = 0; k < 4; k++)
			op(f, 4 * i + k, us + 5 * k, i % 1000, 70 - 10 * k);
		if (i % 2)
			arrow(f, i % 4 == 1 ? "s" : "f", i, "\"pid\": 691, \"tid\": 691", us,
				i % 1000, "fwdbwd", "");
	}
	for (uint32_t i = n * STEP; i < (n + 1) * STEP; i++)
		launch(f, i + 1, 4304876200000 + 80ll * i + 20);
}

/* Returns 0 or -1. */
static int write_steps(FILE *f, uint32_t steps)
{
	fputs("{\n  \"schemaVersion\": 1,\n  \"baseTimeNanoseconds\": 1790857026000000000,\n  \"traceEvents\": [\n  {\"ph\": \"M\", \"name\": \"x\"}",
		f);
	for (uint32_t i = 0; i < steps && !ferror(f); i++)
		step(f, i);
	fputs("\n  ]\n}\n", f);
	return ferror(f) | fclose(f) ? -1 : 0;
}

/* ---- measuring ---- */

/* The best of three runs, in `things` per second. */
static double fastest(const char *path, double things, enum gt_kind kind, uint64_t rows)
{
	double best = 0;

	for (int i = 0; i < 3; i++) {
		struct gt_err err = GT_ERR_INIT;
		struct timespec a, b;
		struct gt_reader *r;
		double rate;

		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		r = gt_open_any(path, &err);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		if (!r || gt_reader_segment(r, 0)->rows[kind] != rows) {
			gt_err_print("bench_import", path, &err);
			return -1;
		}
		gt_reader_close(r);
		rate = things /
			((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
		best = rate > best ? rate : best;
	}
	return best;
}

static int measure(const char *figure, bool args)
{
	double best = make("lines.jsonl", args)
		? -1
		: fastest("lines.jsonl", 2.0 * CALLS, GT_CALL, CALLS);

	printf("%s %.0f lines/s\n", figure, best);
	return best < 0;
}

extern const struct gt_exporter gt_export_perfetto;

/* The same events in Perfetto's format. */
static int measure_perfetto(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_open_any("kineto.json", &err);
	const struct gt_export_options opt = { .cost = GT_COST_TIME };
	struct gt_out out;
	struct stat st;
	double best;

	if (!r || gt_out_open(&out, "kineto.pftrace", true, &err) ||
		gt_export_perfetto.export(r, &opt, &out, &err) || gt_out_close(&out, &err) ||
		stat("kineto.pftrace", &st)) {
		gt_err_print("bench_import", "kineto.pftrace", &err);
		return 1;
	}
	gt_reader_close(r);
	best = fastest("kineto.pftrace", (double)st.st_size / 1e6, GT_GPU, (uint64_t)STEPS * STEP);
	printf("perfetto_in_mb_per_s %.0f MB/s\n", best);
	return best < 0;
}

static int measure_kineto(void)
{
	FILE *f = fopen("kineto.json", "w");
	struct stat st;
	double best;

	if (!f || write_steps(f, STEPS) || stat("kineto.json", &st))
		return 1;
	best = fastest("kineto.json", (double)st.st_size / 1e6, GT_GPU, (uint64_t)STEPS * STEP);
	printf("kineto_mb_per_s %.0f MB/s\n", best);
	return best < 0;
}

/* In a separate process, to measure its memory. */
static int read_large(const int fd[2], uint32_t steps)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;

	dup2(fd[0], 0);
	close(fd[0]);
	close(fd[1]);
	r = gt_open_any("-", &err);
	if (!r)
		gt_err_print("bench_import", "2 GB", &err);
	return !r || gt_reader_segment(r, 0)->rows[GT_GPU] != (uint64_t)steps * STEP;
}

static int write_large(const int fd[2], uint32_t steps)
{
	FILE *f;

	close(fd[0]);
	f = fdopen(fd[1], "w");
	return !f || write_steps(f, steps);
}

/* Number of steps of a file of about LARGE bytes. */
static uint32_t large_steps(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f || write_steps(f, 1) || !len)
		exit(1);
	free(text);
	return (uint32_t)(LARGE / len);
}

static int measure_large(void)
{
	int fd[2], reader, writer, status = 1, wrote = 1;
	uint32_t steps = large_steps();
	struct rusage use;

	fflush(stdout);
	if (pipe(fd))
		return 1;
	reader = fork();
	if (!reader)
		_exit(read_large(fd, steps));
	writer = fork();
	if (!writer)
		_exit(write_large(fd, steps));
	close(fd[0]);
	close(fd[1]);
	if (wait4(reader, &status, 0, &use) != reader || waitpid(writer, &wrote, 0) != writer ||
		status || wrote)
		return 1;
	printf("kineto_2gb_rss_mib %.1f MiB\n", (double)use.ru_maxrss / 1024);
	return 0;
}

int main(void)
{
	struct rusage use;

	if (measure_large() || measure("jsonl_lines_per_s", false) ||
		measure("jsonl_args_lines_per_s", true))
		return 1;
	getrusage(RUSAGE_SELF, &use);
	printf("import_rss_mib %.1f MiB\n", (double)use.ru_maxrss / 1024);
	return measure_kineto() || measure_perfetto();
}
