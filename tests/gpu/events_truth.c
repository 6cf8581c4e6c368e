/* Behaviour and cost of CUDA events, measured on the driver: events_truth PART.
 *	work		the same work in every run: kernels of several lengths, copies and sets, in
 *			the legacy stream and in two others, queued, and one at a time; the last
 *			line is "expect K kernels C copies S sets"
 *	waits		after a kernel of 400 ms, 150 launches: the longest; and the number of
 *			further launches until one takes longer than 5 ms
 *	cost		duration of calls, ns: median of 2000
 *	reference	time from before cuEventRecord on an idle stream until cuEventQuery reports
 *			its end, ns: least and median of 200, while the GPU is idle and while a
 *			kernel runs
 *	capture		calls that are allowed while another thread captures, and whether the
 *			capture stays valid; order of events; events of destroyed contexts */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include "samples/cu.h"

#define ELEMENTS (1 << 22)
#define RELAXED 2

static CUcontext ctx;
static CUmodule module;
static CUdeviceptr a, b, c;
static void *pinned;
static CUfunction busy;

static CUresult (*query)(CUevent), (*exchange)(int *), (*capturing)(CUstream, int *),
	(*create_ctx)(CUcontext *, unsigned, CUdevice), (*destroy_ctx)(CUcontext);

static void *find(const char *name)
{
	void *f = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);

	if (!f)
		exit(3);
	return f;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int by_size(const void *pa, const void *pb)
{
	uint64_t x = *(const uint64_t *)pa, y = *(const uint64_t *)pb;

	return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_size);
	return v[n / 2];
}

static CUstream stream(unsigned flags)
{
	CUstream s;

	OK(cuStreamCreate(&s, flags));
	return s;
}

static CUevent event(void)
{
	CUevent e;

	OK(cuEventCreate(&e, 0));
	return e;
}

static void spin(CUstream s, uint64_t us)
{
	uint64_t cycles = us * 1980;

	LAUNCH(busy, 1, s, &cycles);
}

/* ---- work ---- */

static unsigned kernels, copies, sets;

static void a_round(CUstream s, const CUfunction f[4], bool alone)
{
	int n = ELEMENTS, few = 256;
	float by = 0.5f;

#define THEN                                                                                       \
	do {                                                                                       \
		if (alone)                                                                         \
			OK(cuStreamSynchronize(s));                                                \
	} while (0)
	OK(cuMemcpyHtoDAsync_v2(a, pinned, 1 << 20, s));
	THEN;
	LAUNCH(f[0], n, s, &a, &b, &c, &n);
	THEN;
	LAUNCH(f[1], n, s, &by, &a, &b, &n);
	THEN;
	LAUNCH(f[2], few, s, &a, &by, &few);
	THEN;
	LAUNCH(f[3], n / 16, s, &a, &n);
	THEN;
	spin(s, 100);
	THEN;
	OK(cuMemsetD8Async(c, 0, 1 << 20, s));
	THEN;
	OK(cuMemcpyDtoHAsync_v2(pinned, b, 1 << 20, s));
	THEN;
	kernels += 5, copies += 2, sets++;
}

static void work(void)
{
	const CUfunction f[] = { cu_kernel(module, VECTOR_ADD), cu_kernel(module, SAXPY),
		cu_kernel(module, SCALE), cu_kernel(module, RELU) };
	CUstream s[] = { NULL, stream(0), stream(1) };

	for (int i = 0; i < 300; i++) {
		a_round(s[i % 3], f, i >= 240);
		if (i % 20 == 19)
			OK(cuCtxSynchronize());
	}
	OK(cuCtxSynchronize());
	printf("expect %u kernels %u copies %u sets\n", kernels, copies, sets);
}

/* ---- waits ---- */

static void waits(void)
{
	uint64_t from, worst = 0, took[150];
	CUstream s = stream(1);
	int more = 0;

	spin(s, 1);
	OK(cuCtxSynchronize());
	usleep(200000);
	spin(s, 400000);
	for (int i = 0; i < 150; i++) {
		from = now();
		spin(s, 1);
		took[i] = now() - from;
		worst = took[i] > worst ? took[i] : worst;
	}
	printf("after a kernel of 400 ms: the longest of 150 launches took %llu ns, "
	       "the median %llu ns\n",
		(unsigned long long)worst, (unsigned long long)median(took, 150));
	do {
		from = now();
		spin(s, 1);
		more++;
	} while (now() - from < 5000000 && more < 20000);
	printf("launches until one waited: %d%s\n", 150 + more,
		more == 20000 ? " and none waited" : "");
	OK(cuCtxSynchronize());
}

/* ---- cost ---- */

#define COST(what, call)                                                                           \
	do {                                                                                       \
		uint64_t took[2000];                                                               \
		for (int i_ = 0; i_ < 2000; i_++) {                                                \
			uint64_t from_ = now();                                                    \
			(void)(call);                                                              \
			took[i_] = now() - from_;                                                  \
			if (i_ % 200 == 199)                                                       \
				OK(cuCtxSynchronize());                                            \
		}                                                                                  \
		printf("%-52s %6llu ns\n", what, (unsigned long long)median(took, 2000));          \
	} while (0)

static void cost(void)
{
	CUevent e = event(), f = event(), g;
	CUcontext current;
	CUstream s = stream(1);
	int status;
	float ms;

	OK(cuEventRecord(e, s));
	OK(cuEventRecord(f, s));
	OK(cuCtxSynchronize());
	COST("cuCtxGetCurrent", cuCtxGetCurrent(&current));
	COST("cuStreamIsCapturing, a stream", capturing(s, &status));
	COST("cuStreamIsCapturing, the legacy stream", capturing((CUstream)1, &status));
	COST("cuEventQuery, finished", query(e));
	COST("cuEventElapsedTime", cuEventElapsedTime(&ms, e, f));
	COST("cuEventRecord, a stream", cuEventRecord(e, s));
	COST("cuEventRecord, the legacy stream", cuEventRecord(e, NULL));
	COST("cuEventCreate", cuEventCreate(&g, 0));
	COST("a launch", (spin(s, 0), 0));
	COST("a launch between two events", (cuEventRecord(e, s), spin(s, 0), cuEventRecord(f, s)));
}

/* ---- reference ---- */

static void pairs(const char *when, CUstream s)
{
	CUevent e = event();
	uint64_t took[200], from;

	for (int i = 0; i < 200; i++) {
		from = now();
		OK(cuEventRecord(e, s));
		while (query(e) == 600)
			;
		took[i] = now() - from;
	}
	from = median(took, 200);
	printf("reference, %s: least %llu ns, median %llu ns\n", when, (unsigned long long)took[0],
		(unsigned long long)from);
}

static void reference(void)
{
	CUstream own = stream(1), other = stream(1);

	pairs("the GPU idle", own);
	spin(other, 300000);
	pairs("a kernel running", own);
	for (int i = 0; i < 500; i++)
		spin(other, 100);
	pairs("launches queued", own);
	OK(cuCtxSynchronize());
}

/* ---- capture ---- */

static struct {
	CUevent first, last;
	int mode;
	CUstream blocking;
} capture_test;

static void *query_event(void *arg)
{
	float ms;

	OK(cuCtxSetCurrent(ctx));
	if (capture_test.mode)
		exchange(&capture_test.mode);
	return (void *)(intptr_t)(strcmp(arg, "query")
			? cuEventElapsedTime(&ms, capture_test.first, capture_test.last)
			: query(capture_test.first));
}

static void query_during_capture(const char *what, int mode)
{
	CUstream s = stream(0);
	CUgraph g;
	pthread_t t;
	void *rc;
	CUresult end;

	capture_test.mode = mode;
	OK(cuStreamBeginCapture_v2(s, 0));
	spin(s, 1);
	pthread_create(&t, NULL, query_event, (void *)what);
	pthread_join(t, &rc);
	end = cuStreamEndCapture(s, &g);
	printf("during another thread's global capture, %s, %s: returns %d; the capture ends with %d\n",
		what, mode ? "relaxed" : "not relaxed", (int)(intptr_t)rc, end);
}

static void capture(void)
{
	CUstream s = stream(0), free_stream = stream(1);
	CUevent e = event();
	CUcontext other;
	CUgraph g;
	float ms = 0;
	int status = -1, rc;

	capture_test.first = event(), capture_test.last = event();
	OK(cuEventRecord(capture_test.first, NULL));
	spin(NULL, 1000);
	OK(cuEventRecord(capture_test.last, NULL));
	OK(cuCtxSynchronize());
	rc = cuEventElapsedTime(&ms, capture_test.last, capture_test.first);
	printf("from a later event to an earlier one: returns %d, %.3f ms\n", rc, ms);
	for (int mode = 0; mode <= RELAXED; mode += RELAXED) {
		query_during_capture("query", mode);
		query_during_capture("elapsed", mode);
	}
	OK(cuStreamBeginCapture_v2(s, 0));
	rc = capturing((CUstream)1, &status);
	printf("cuStreamIsCapturing of the legacy stream while a blocking one captures: returns %d",
		rc);
	rc = capturing(s, &status);
	printf("; of that one %d, status %d", rc, status);
	rc = cuEventRecord(e, free_stream);
	printf("; an event in another stream %d", rc);
	rc = cuStreamEndCapture(s, &g);
	printf("; the capture ends with %d\n", rc);
	OK(cuStreamBeginCapture_v2(s, 0));
	rc = cuEventRecord(e, NULL);
	printf("an event in the legacy stream during a capture: returns %d", rc);
	rc = cuStreamEndCapture(s, &g);
	printf("; the capture ends with %d\n", rc);
	OK(create_ctx(&other, 0, 0));
	rc = cuEventRecord(capture_test.first, NULL);
	printf("an event in a stream of another context: returns %d\n", rc);
	OK(destroy_ctx(other));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*part)(void);
	} parts[] = {
		{ "work", work },
		{ "waits", waits },
		{ "cost", cost },
		{ "reference", reference },
		{ "capture", capture },
	};
	const char *which = argc > 1 ? argv[1] : "work";

	ctx = cu_start();
	query = (CUresult(*)(CUevent))find("cuEventQuery");
	exchange = (CUresult(*)(int *))find("cuThreadExchangeStreamCaptureMode");
	capturing = (CUresult(*)(CUstream, int *))find("cuStreamIsCapturing");
	create_ctx = (CUresult(*)(CUcontext *, unsigned, CUdevice))find("cuCtxCreate_v2");
	destroy_ctx = (CUresult(*)(CUcontext))find("cuCtxDestroy_v2");
	OK(cuModuleLoadData(&module, cu_ptx));
	busy = cu_kernel(module, BUSY);
	OK(cuMemAlloc_v2(&a, ELEMENTS * 4));
	OK(cuMemAlloc_v2(&b, ELEMENTS * 4));
	OK(cuMemAlloc_v2(&c, ELEMENTS * 4));
	OK(cuMemAllocHost_v2(&pinned, 1 << 20));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(parts[i].name, which))
			parts[i].part();
	return 0;
}
