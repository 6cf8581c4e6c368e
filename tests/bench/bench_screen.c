/* Time until the default screen is complete: the whole program, from its start to its end, on a
 * trace of 20 million calls and 2 million kernels, on a machine with two processors; and its
 * memory. Then single reports: events per second of processor time, with one thread. REPORTS
 * selects other reports than those below. The trace is that of a training loop: two threads, one in
 * ten of their calls launches a kernel, two streams that are busy three fifths of the time. Its
 * operations are random, so nothing repeats. The default screen is also measured on a loop: the
 * same trace with NAMES operations in a fixed order, whose steady steps it shows. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "analyze/core/exit_status.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/trace/write/writer.h"

#define CALLS 20000000u
#define KERNELS_EACH 10u /* calls per kernel */
#define NAMES 40u
#define RUNS 5

static uint64_t seed = 1;
static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((seed >> 32) * below >> 32);
}

struct loop {
	struct gt_writer *w;
	struct gt_gpu_types types;
	uint32_t thread[2], stream[2], get, launch, launch_name, kernels[NAMES];
	int64_t now[2], tail[2];
	bool repeats; /* else operations are random */
	unsigned next[2];
	struct gt_err *err;
};

static uint32_t track(struct loop *l, uint32_t parent, const char *name, unsigned kind, int64_t id)
{
	return gt_writer_track(l->w,
		&(struct gt_track){ .parent = parent,
			.name = gt_writer_string(l->w, name),
			.source = gt_writer_string(l->w, "preload"),
			.kind = (uint8_t)kind,
			.id = id,
			.ns_id = id });
}

static void begin(struct loop *l)
{
	uint32_t process = track(l, GT_NONE, "train", GT_TRACK_PROCESS, 1), device;
	char name[64];

	for (int i = 0; i < 2; i++)
		l->thread[i] = track(l, process, "thread", GT_TRACK_THREAD, 1 + i);
	device = track(l, process, "GPU 0", GT_TRACK_DEVICE, 0);
	for (int i = 0; i < 2; i++)
		l->stream[i] = track(l, device, "stream", GT_TRACK_STREAM, 7 + i);
	l->get = gt_writer_type(l->w,
		&(struct gt_type){ .name = gt_writer_string(l->w, "cuCtxGetDevice"),
			.category = GT_CAT_QUERY });
	l->launch_name = gt_writer_string(l->w, "cuLaunchKernel");
	l->launch = gt_writer_type(l->w,
		&(struct gt_type){
			.name = l->launch_name, .category = GT_CAT_LAUNCH, .op = GT_OP_LAUNCH });
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "_Z%ukernel%02uPfS_i", 8u, i);
		l->kernels[i] = gt_writer_string(l->w, name);
	}
	l->types.w = l->w;
}

static int kernel(struct loop *l, int th, const struct gt_row *call)
{
	int64_t start = call->end + 1500 > l->tail[th] ? call->end + 1500 : l->tail[th] + 800;
	struct gt_gpu_work w = { .track = l->stream[th],
		.start = start,
		.end = start + 1500 + rnd(6000),
		.context = 1,
		.cause = { GT_JOIN_CORRELATION, l->thread[th], l->launch_name, call->start,
			(uint64_t)(call->end - call->start) } };

	l->tail[th] = w.end;
	return gt_gpu_put_kernel(&l->types, &w,
		&(struct gt_gpu_kernel){
			.name = l->kernels[l->repeats ? l->next[th]++ % NAMES : rnd(NAMES)],
			.grid = { 64, 1, 1 },
			.block = { 256, 1, 1 } },
		l->err);
}

static int make(const char *path, bool repeats, struct gt_err *err)
{
	struct gt_writer_options o = { .meta_json = "{\"events\":\"api,ioctl,gpu\"}" };
	struct loop l = { .w = gt_writer_open(
				  open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), &o, err),
		.repeats = repeats,
		.err = err };

	if (!l.w)
		return -1;
	begin(&l);
	for (uint32_t i = 0; i < CALLS; i++) {
		int th = (int)(i / 64 % 2);
		bool launches = i % KERNELS_EACH == 0;
		struct gt_row row = { .start = l.now[th],
			.end = l.now[th] + (launches ? 2500 + rnd(2000) : 20 + rnd(100)),
			.type = launches ? l.launch : l.get };

		l.now[th] = row.end + 60 + rnd(400);
		if (gt_writer_row(l.w, GT_CALL, l.thread[th], &row, NULL, err) ||
			(launches && kernel(&l, th, &row)) ||
			(gt_writer_epoch_is_due(l.w, row.end) &&
				gt_writer_epoch(l.w, row.end, err)))
			return -1;
	}
	gt_gpu_types_release(&l.types);
	return gt_writer_close(l.w, err);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double processor_seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
		(double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static int by_size(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* 0, and the statuses "found" and "cannot answer", are answers. */
static bool is_answer(int status)
{
	return WIFEXITED(status) &&
		(WEXITSTATUS(status) == GT_EXIT_CLEAN || WEXITSTATUS(status) == GT_EXIT_FOUND ||
			WEXITSTATUS(status) == GT_EXIT_UNKNOWN);
}

/* median: of the times of RUNS; least: the lowest processor time. If report is NULL: the default
 * screen, with a thread per processor; otherwise that report with one thread. */
struct cost {
	double median, least;
	long rss_kib;
};
static int wait_for(const char *program, const char *report, const char *path, struct cost *cost)
{
	double all[RUNS];

	*cost = (struct cost){ .least = 1e9 };
	for (int run = 0; run < RUNS; run++) {
		double began = seconds();
		struct rusage u;
		int status;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid) {
			if (!freopen("/dev/null", "w", stdout))
				_exit(127);
			if (report)
				execl(program, program, "-j1", report, path, (char *)NULL);
			else
				execl(program, program, path, (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &u) != pid || !is_answer(status))
			return -1;
		all[run] = seconds() - began;
		cost->least =
			processor_seconds(&u) < cost->least ? processor_seconds(&u) : cost->least;
		cost->rss_kib = u.ru_maxrss > cost->rss_kib ? u.ru_maxrss : cost->rss_kib;
	}
	qsort(all, RUNS, sizeof(*all), by_size);
	cost->median = all[RUNS / 2];
	return 0;
}

int main(void)
{
	char reports[] =
		"budget gaps kernels overlap sync memory timeline launches driver steps queues patterns critical",
	     program[4096];
	struct gt_err err = GT_ERR_INIT;
	const char *build = getenv("B"), *asked = getenv("REPORTS");
	char *list = asked ? strdup(asked) : reports;
	struct cost c;

	snprintf(program, sizeof(program), "%s/gtanalyze", build ? build : "build");
	for (int repeats = 1; repeats >= 0; repeats--) {
		const char *prefix = repeats ? "loop_" : "";

		if (make("screen.zst", repeats, &err)) {
			gt_err_print("bench_screen", "screen.zst", &err);
			return 1;
		}
		if (wait_for(program, NULL, "screen.zst", &c))
			return 1;
		printf("%sscreen_s %.3f s\n%sscreen_cpu_s %.3f s\n%sscreen_rss_mib %.1f MiB\n",
			prefix, c.median, prefix, c.least, prefix, (double)c.rss_kib / 1024);
		if (repeats && getenv("KEEP"))
			rename("screen.zst", "loop.zst");
	}
	for (const char *report = list ? strtok(list, " ") : NULL; report;
		report = strtok(NULL, " ")) {
		if (wait_for(program, report, "screen.zst", &c))
			return 1;
		printf("%s_events_per_s_core %.0f events/s\n%s_rss_mib %.1f MiB\n", report,
			(CALLS + CALLS / KERNELS_EACH) / c.least, report, (double)c.rss_kib / 1024);
	}
	if (!getenv("KEEP"))
		unlink("screen.zst");
	return 0;
}
