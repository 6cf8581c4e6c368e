/* Shared by the tests of the simulated CUPTI: a client that supplies buffers and stores the
 * completed ones, with both libraries loaded by dlopen, as a tracer loads them. */
#ifndef TEST_CUPTI_H
#define TEST_CUPTI_H
#include "samples/cudart.h"
#include "samples/simgpu/cupti_records.h"
#include "tests/unit/t.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CBID_GET_CURRENT = 304, CBID_LAUNCH = 307, CBID_GRAPH_LAUNCH = 514, CBID_HTOD_ASYNC = 277 };
/* clang-format off */
#define CUPTI(X) \
	X(cuptiGetVersion, (uint32_t * v)) \
	X(cuptiActivityRegisterCallbacks, (cupti_requested r, cupti_completed c)) \
	X(cuptiActivityEnable, (unsigned kind)) \
	X(cuptiActivityDisable, (unsigned kind)) \
	X(cuptiActivityFlushAll, (uint32_t flag)) \
	X(cuptiActivityFlushPeriod, (uint32_t ms)) \
	X(cuptiActivityGetNextRecord, (uint8_t * b, size_t used, uint8_t * *record)) \
	X(cuptiActivityGetNumDroppedRecords, (void *ctx, uint32_t stream, size_t *n)) \
	X(cuptiActivitySetAttribute, (unsigned which, size_t *size, void *value)) \
	X(cuptiActivityGetAttribute, (unsigned which, size_t *size, void *value)) \
	X(cuptiActivityRegisterTimestampCallback, (cupti_clock clock)) \
	X(cuptiGetTimestamp, (uint64_t * t)) \
	X(cuptiSetThreadIdType, (int type)) \
	X(cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t on)) \
	X(cuptiActivityConfigureUnifiedMemoryCounter, (void *config, uint32_t n)) \
	X(cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t on)) \
	X(cuptiSubscribe, (void **handle, cupti_callback to, void *user)) \
	X(cuptiUnsubscribe, (void *handle)) \
	X(cuptiEnableCallback, (uint32_t on, void *handle, unsigned domain, uint32_t cbid)) \
	X(cuptiEnableDomain, (uint32_t on, void *handle, unsigned domain)) \
	X(cuptiGetStreamIdEx, (CUcontext ctx, CUstream s, uint8_t per_thread, uint32_t * id)) \
	X(cuptiGetContextId, (CUcontext ctx, uint32_t * id)) \
	X(cuptiGetDeviceId, (CUcontext ctx, uint32_t * id)) \
	X(cuptiGetGraphNodeId, (const void *node, uint64_t *id)) \
	X(cuptiGetGraphId, (const void *graph, uint32_t *id)) \
	X(cuptiGetResultString, (int code, const char **text)) \
	X(cuptiFinalize, (void)) \
	X(cuptiActivityPushExternalCorrelationId, (unsigned kind, uint64_t id)) \
	X(cuptiActivityPopExternalCorrelationId, (unsigned kind, uint64_t *last))
/* clang-format on */
#define X(name, params) static int(*name) params;
CUPTI(X)
#undef X
static CUresult (*cuMemcpyPeerAsync)(
	CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
static CUresult (*cuStreamWaitEvent)(CUstream s, CUevent e, unsigned flags);

/* The client: the received records, in order. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static union cupti_record seen[20000];
static size_t seen_n, returned, asked;
static size_t buffer_size = 65536, buffer_records;
static bool refuse, busy_callbacks;
static char why_not[200]; /* the error that a callback found */

static void request(uint8_t **buffer, size_t *size, size_t *records)
{
	CUcontext ctx;

	*buffer = refuse ? NULL : malloc(buffer_size);
	*size = refuse ? 0 : buffer_size;
	*records = buffer_records;
	__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
	if (busy_callbacks && (cuCtxGetCurrent(&ctx) || cuCtxSynchronize()))
		snprintf(why_not, sizeof(why_not), "CUDA fails in a request");
}

static void completed(void *ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	uint8_t *at = NULL;
	int rc;

	pthread_mutex_lock(&lock);
	while (!(rc = cuptiActivityGetNextRecord(buffer, used, &at)))
		if (seen_n < sizeof(seen) / sizeof(*seen))
			memcpy(&seen[seen_n++], at,
				used - (at - buffer) < sizeof(*seen) ? used - (at - buffer)
								     : sizeof(*seen));
	if (used && rc != CUPTI_LIMIT_REACHED)
		snprintf(why_not, sizeof(why_not), "a buffer ends with %d", rc);
	returned++;
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static const union cupti_record *nth(unsigned kind, size_t n)
{
	for (size_t i = 0; i < seen_n; i++)
		if (seen[i].kind == kind && !n--)
			return &seen[i];
	return NULL;
}

/* Has records made of this call of the driver, also behind the first context, where asking for it
 * alone does nothing. */
static inline int enable_call(uint32_t cbid)
{
	int rc = cuptiActivityEnable(KIND_DRIVER);

	for (uint32_t other = 1; !rc && (other == cbid || !cuptiActivityEnableDriverApi(other, 0));)
		other++;
	return rc;
}

static size_t count(unsigned kind)
{
	size_t n = 0;

	while (nth(kind, n))
		n++;
	return n;
}

static inline const struct cupti_api *call_of(uint32_t correlation)
{
	for (size_t i = 0; i < seen_n; i++)
		if (seen[i].kind == KIND_DRIVER && seen[i].api.correlation == correlation)
			return &seen[i].api;
	return NULL;
}

static void *in_build(const char *name)
{
	static char path[4000];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 100);

	path[n > 0 ? n : 0] = '\0';
	*strrchr(path, '/') = '\0'; /* .../unit */
	sprintf(strrchr(path, '/'), "/sim/%s", name);
	return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void die(const char *what)
{
	printf("FAIL %s: %s\n", what, dlerror());
	exit(1);
}

static void load(void)
{
	void *driver = in_build("libcuda.so.1"), *lib = in_build("libcupti.so.13");

	if (!driver || !lib)
		die("load");
#define X(name, params)                                                                            \
	if (!(*(void **)&name = dlsym(lib, #name)))                                                \
		die(#name);
	CUPTI(X)
#undef X
	*(void **)&cuMemcpyPeerAsync = dlsym(driver, "cuMemcpyPeerAsync");
	*(void **)&cuStreamWaitEvent = dlsym(driver, "cuStreamWaitEvent");
}

static uint64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* CUPTI with the kinds that a tracer wants, then the device; returns the kernels. */
static cupti_clock clock_wanted = monotonic;
/* has records made of this call of the driver, from the first context on */
static uint32_t early_call;

static CUmodule start(void)
{
	static const unsigned kinds[] = { KIND_CONCURRENT_KERNEL, KIND_MEMCPY, KIND_MEMCPY2,
		KIND_MEMSET };
	CUmodule m;

	load();
	if (clock_wanted)
		OK(cuptiActivityRegisterTimestampCallback(clock_wanted));
	OK(cuptiActivityRegisterCallbacks(request, completed));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		OK(cuptiActivityEnable(kinds[i]));
	if (early_call)
		OK(cuptiActivityEnableDriverApi(early_call, 1));
	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	return m;
}

static void spin(CUmodule m, CUstream s, unsigned grid)
{
	unsigned long long cycles = 1000;

	OK(cuLaunchKernel(
		cu_kernel(m, BUSY), grid, 1, 1, 32, 1, 1, 0, s, (void *[]){ &cycles }, NULL));
}

struct gate {
	int *flag;
	CUdeviceptr at;
};
static inline void gate_close(struct gate *g, CUmodule m, CUstream s)
{
	OK(cuMemHostAlloc((void **)&g->flag, sizeof(int), 2));
	OK(cuMemHostGetDevicePointer_v2(&g->at, g->flag, 0));
	OK(cuLaunchKernel(
		cu_kernel(m, WAIT_FLAG), 1, 1, 1, 1, 1, 1, 0, s, (void *[]){ &g->at }, NULL));
}

static inline void gate_open(struct gate *g) { __atomic_store_n(g->flag, 1, __ATOMIC_RELEASE); }

static void flush(void)
{
	OK(cuCtxSynchronize());
	OK(cuptiActivityFlushAll(0));
}
#define FINE() CHECK(!*why_not)

/* Two streams captured into one graph: two kernels side by side. */
static inline CUgraphExec two_nodes(CUmodule m, CUstream s)
{
	CUgraphExec exec;
	CUgraph g;
	CUstream t;
	CUevent fork_event, join;

	OK(cuStreamCreate(&t, 1));
	OK(cuEventCreate(&fork_event, 2));
	OK(cuEventCreate(&join, 2));
	OK(cuStreamBeginCapture_v2(s, 0));
	OK(cuEventRecord(fork_event, s));
	OK(cuStreamWaitEvent(t, fork_event, 0));
	spin(m, s, 5);
	spin(m, t, 6);
	OK(cuEventRecord(join, t));
	OK(cuStreamWaitEvent(s, join, 0));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	OK(cuGraphDestroy(g));
	OK(cuEventDestroy_v2(fork_event));
	OK(cuEventDestroy_v2(join));
	return exec;
}

struct one {
	const char *name;
	void (*run)(void);
	const char *env[3];
};
#define ONE(f, ...)                                                                                \
	{                                                                                          \
#f, f, { __VA_ARGS__ }                                                             \
	}

/* Each in a process of its own, so that one that dies or hangs takes no other with it. */
static inline int run_all(const struct one *all, size_t n, const char *file, int argc, char **argv)
{
	int bad = 0, status;

	for (size_t i = 0; i < n; i++) {
		pid_t pid;

		if (argc > 1 && strcmp(argv[1], all[i].name))
			continue;
		fflush(stdout);
		if (!(pid = fork())) {
			for (int e = 0; e < 3 && all[i].env[e]; e++)
				putenv((char *)all[i].env[e]);
			alarm(60);
			exit(t_main(file, (struct t_case[]){ { all[i].name, all[i].run } }, 1));
		}
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status))
			printf("FAIL %s: died of signal %d\n", all[i].name, WTERMSIG(status));
		bad |= status != 0;
	}
	return bad;
}
#endif
