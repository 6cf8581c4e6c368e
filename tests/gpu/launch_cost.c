/* Cost of a launch for the program: launch_cost [-n BURSTS] [-t FILE]. Prints lines "NAME VALUE ns"
 * for
 *	launch_1t	cuLaunchKernel of an empty kernel, one thread
 *	launch_4t	the same, four threads at a time, one stream each
 *	memset		cuMemsetD8Async of 256 bytes
 *	htod		cuMemcpyHtoDAsync of 256 bytes from pinned memory
 *	graph		cuGraphLaunch of a graph of 20 such kernels
 * each with these suffixes: _median and _p99 of the single calls; _mean, the median of the bursts'
 * means; _fast, the mean of the fastest twentieth of the bursts (the cost without disturbances);
 * _all, total time over calls, including the waits between bursts, in which a tool may catch up. A
 * burst is 512 calls (32 of the graph); then the program waits for the stream, so that a full queue
 * never delays it. A call's time includes one reading of the clock, clock_read.
 * -t: writes a line "THREAD START END" to FILE for each timed call, CLOCK_MONOTONIC in ns.
 * The last line has the submitted work: "expect K kernels C copies S sets". */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <pthread.h>
#include <sys/syscall.h>

enum { BURST = 512, GRAPH_BURST = 32, NODES = 20, THREADS = 4, WARM = 4, BYTES = 256 };

static const char empty_ptx[] =
	".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n	ret;\n}\n";

static CUcontext ctx;
static CUfunction empty;
static CUdeviceptr memory;
static void *pinned;
static CUgraphExec graph;
static int bursts;
static FILE *times;
static unsigned long long kernels, copies, sets;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- the calls ---- */

static void launch(CUstream s) { OK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL)); }
static void set(CUstream s) { OK(cuMemsetD8Async(memory, 1, BYTES, s)); }
static void copy(CUstream s) { OK(cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, s)); }
static void replay(CUstream s) { OK(cuGraphLaunch(graph, s)); }

/* One thread's measurement: times of all calls, and of each burst. */
struct timed {
	void (*call)(CUstream s);
	int burst;
	CUstream stream;
	uint32_t *calls; /* [bursts * burst], ns */
	/* [bursts], ns; within a burst a call starts at the end of the previous one */
	uint64_t *starts;
	double *means; /* [bursts], ns */
	pid_t tid;
	double all;               /* ns per call, waits included */
	pthread_barrier_t *start; /* NULL: a single thread */
};

static void one_burst(struct timed *t, uint32_t *calls, uint64_t *start)
{
	uint64_t at = now(), next;

	*start = at;
	for (int i = 0; i < t->burst; i++, at = next) {
		t->call(t->stream);
		next = now();
		calls[i] = (uint32_t)(next - at);
	}
}

static void *measure(void *arg)
{
	struct timed *t = arg;
	uint64_t began, sum;

	t->tid = (pid_t)syscall(SYS_gettid);
	OK(cuCtxSetCurrent(ctx));
	for (int i = 0; i < WARM; i++) {
		one_burst(t, t->calls, t->starts);
		OK(cuStreamSynchronize(t->stream));
	}
	if (t->start)
		pthread_barrier_wait(t->start);
	began = now();
	for (int i = 0; i < bursts; i++) {
		uint32_t *calls = t->calls + (size_t)i * t->burst;

		one_burst(t, calls, &t->starts[i]);
		OK(cuStreamSynchronize(t->stream));
		sum = 0;
		for (int k = 0; k < t->burst; k++)
			sum += calls[k];
		t->means[i] = (double)sum / t->burst;
	}
	t->all = (double)(now() - began) / bursts / t->burst;
	return NULL;
}

static void begin(struct timed *t, void (*call)(CUstream), int burst)
{
	*t = (struct timed){ .call = call, .burst = burst };
	t->calls = calloc((size_t)bursts * burst, sizeof(*t->calls));
	t->starts = calloc(bursts, sizeof(*t->starts));
	t->means = calloc(bursts, sizeof(*t->means));
	if (!t->calls || !t->starts || !t->means) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	OK(cuStreamCreate(&t->stream, 1));
}

/* ---- results ---- */

static int by_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void write_times(const struct timed *t)
{
	uint64_t at;

	for (int i = 0; times && i < bursts; i++) {
		at = t->starts[i];
		for (int k = 0; k < t->burst; k++) {
			fprintf(times, "%d %llu", t->tid, (unsigned long long)at);
			at += t->calls[(size_t)i * t->burst + k];
			fprintf(times, " %llu\n", (unsigned long long)at);
		}
	}
}

/* threads: this many elements of t were measured at the same time and count as one. Frees the
 * memory that begin allocated. */
static void print_figures(const char *name, struct timed *t, int threads)
{
	size_t n = (size_t)bursts * t->burst;
	uint32_t *calls = calloc(n * threads, sizeof(*calls));
	double *means = calloc((size_t)bursts * threads, sizeof(*means)), all = 0;

	for (int i = 0; calls && means && i < threads; i++) {
		memcpy(calls + n * i, t[i].calls, n * sizeof(*calls));
		memcpy(means + (size_t)bursts * i, t[i].means, bursts * sizeof(*means));
		all += t[i].all / threads;
		write_times(&t[i]);
		free(t[i].calls);
		free(t[i].starts);
		free(t[i].means);
		OK(cuStreamDestroy_v2(t[i].stream));
	}
	if (!calls || !means)
		exit(1);
	qsort(calls, n * threads, sizeof(*calls), by_u32);
	qsort(means, (size_t)bursts * threads, sizeof(*means), by_double);
	printf("%s_median %u ns\n%s_p99 %u ns\n%s_mean %.1f ns\n%s_fast %.1f ns\n%s_all %.1f ns\n",
		name, calls[n * threads / 2], name, calls[n * threads * 99 / 100], name,
		means[(size_t)bursts * threads / 2], name, means[(size_t)bursts * threads / 20],
		name, all);
	fflush(stdout);
	free(calls);
	free(means);
}

static unsigned long long measure_one(const char *name, void (*call)(CUstream), int burst)
{
	struct timed t;

	begin(&t, call, burst);
	measure(&t);
	print_figures(name, &t, 1);
	return (unsigned long long)(bursts + WARM) * burst;
}

static unsigned long long measure_threads(const char *name)
{
	struct timed t[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		begin(&t[i], launch, BURST);
		t[i].start = &start;
		if (pthread_create(&threads[i], NULL, measure, &t[i]))
			exit(1);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	print_figures(name, t, THREADS);
	return (unsigned long long)THREADS * (bursts + WARM) * BURST;
}

static void make_graph(void)
{
	CUstream s;
	CUgraph g;

	OK(cuStreamCreate(&s, 1));
	OK(cuStreamBeginCapture_v2(s, 0));
	for (int i = 0; i < NODES; i++)
		launch(s);
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiateWithFlags(&graph, g, 0));
}

int main(int argc, char **argv)
{
	uint64_t began;
	CUmodule m;

	bursts = cu_option(argc, argv, "-n", 64);
	if (bursts < 1)
		return 2;
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-t") && !(times = fopen(argv[i + 1], "w"))) {
			perror(argv[i + 1]);
			return 1;
		}
	ctx = cu_start();
	OK(cuModuleLoadData(&m, empty_ptx));
	empty = cu_kernel(m, "empty");
	OK(cuMemAlloc_v2(&memory, BYTES));
	OK(cuMemAllocHost_v2(&pinned, BYTES));
	began = now();
	for (int i = 0; i < 100000; i++)
		now();
	printf("clock_read %.1f ns\n", (double)(now() - began) / 100001);
	kernels += measure_one("launch_1t", launch, BURST);
	sets += measure_one("memset", set, BURST);
	copies += measure_one("htod", copy, BURST);
	make_graph();
	kernels += measure_one("graph", replay, GRAPH_BURST) * NODES;
	kernels += measure_threads("launch_4t");
	printf("expect %llu kernels %llu copies %llu sets\n", kernels, copies, sets);
	return 0;
}
