/* Programs that are difficult to time with CUDA events, one per argument, for
 *tests/cli/collect/gpu_events.sh; in gpu.sh CUPTI records some of them:
 *	streams		legacy and per-thread default streams, streams of both kinds, on four
 *threads, each kernel 25 times on each capture		a stream is captured, on this thread and
 *then on another, while another stream works; graphs
 *	legacy		300 times, one thread begins a capture when a launch of the other thread on
 *the legacy stream has returned pool		9600 launches before any of them can run share
 *as pool, then another context with 100 launches one after the other contexts	contexts are
 *destroyed, released and reset after launches, and created again; a stream of a context other than
 *the current one spoilt N	a capture that fails (1), or that ends with its stream (2); then the
 *program is killed while a kernel of 5 s runs long		exits while a kernel of 5 s runs
 *	times N		N launches; prints the longest one, ns
 *	kinds		copies, sets and kernels of every kind, alone and as nodes of a graph; needs
 *			two devices
 *	together	four threads launch into one stream at the same time, each with its own grid
 * The exit status reports errors of the program itself. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include "samples/cu.h"

static CUmodule module;
static CUfunction kernel;
static int (*per_thread)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
	unsigned, CUstream, void **, void **);
static CUcontext primary;

static void *find(const char *name)
{
	void *f = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);

	if (!f)
		exit(3);
	return f;
}

#define A_MINUTE 118800000000ull /* in cycles of the simulated GPU */
static void spin(CUstream s, uint64_t cycles) { LAUNCH(kernel, 1, s, &cycles); }

static CUstream stream(unsigned flags)
{
	CUstream s;

	OK(cuStreamCreate(&s, flags));
	return s;
}

/* ---- streams ---- */

static void *on_all_streams(void *arg)
{
	CUstream own[2];
	uint64_t cycles = 2000;

	OK(cuCtxSetCurrent(primary));
	own[0] = stream(0), own[1] = stream(1);
	for (int i = 0; i < 25; i++) {
		spin(NULL, cycles);
		spin(own[0], cycles);
		spin(own[1], cycles);
		OK(per_thread(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){ &cycles }, NULL));
	}
	OK(cuCtxSynchronize());
	return arg;
}

static void streams(void)
{
	pthread_t t[4];

	per_thread = (int (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
		unsigned, unsigned, CUstream, void **, void **))find("cuLaunchKernel_ptsz");
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, on_all_streams, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* ---- captures ---- */

static CUgraph captured;

/* Captures five launches, for long enough that all concurrent work meets the capture. */
static void *capture(void *arg)
{
	CUstream s;

	OK(cuCtxSetCurrent(primary));
	s = stream(0);
	OK(cuStreamBeginCapture_v2(s, 0));
	for (int i = 0; i < 5; i++) {
		spin(s, 1000);
		if (arg)
			spin(arg, 1000);
		usleep(20000);
	}
	OK(cuStreamEndCapture(s, &captured));
	return NULL;
}

static void captures(void)
{
	CUstream other = stream(1);
	CUgraphExec exec;
	pthread_t t;

	capture(other);
	pthread_create(&t, NULL, capture, NULL);
	for (int i = 0; i < 100; i++) {
		spin(other, 1000);
		usleep(1000);
	}
	pthread_join(t, NULL);
	OK(cuGraphInstantiateWithFlags(&exec, captured, 0));
	for (int i = 0; i < 3; i++)
		OK(cuGraphLaunch(exec, other));
	spin(NULL, 1000);
	OK(cuCtxSynchronize());
}

static int turn;

static void *launches(void *arg)
{
	OK(cuCtxSetCurrent(primary));
	for (int i = 0; i < 300; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2 * i)
			;
		spin(NULL, 1000);
		__atomic_store_n(&turn, 2 * i + 1, __ATOMIC_RELEASE);
	}
	return arg;
}

static void legacy(void)
{
	CUstream s = stream(0);
	CUgraph g;
	pthread_t t;

	pthread_create(&t, NULL, launches, NULL);
	for (int i = 0; i < 300; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2 * i + 1)
			;
		OK(cuStreamBeginCapture_v2(s, 0));
		spin(s, 1000);
		OK(cuStreamEndCapture(s, &g));
		OK(cuGraphDestroy(g));
		__atomic_store_n(&turn, 2 * i + 2, __ATOMIC_RELEASE);
	}
	pthread_join(t, NULL);
	OK(cuCtxSynchronize());
}

/* A capture that ended this way records nothing that is launched later. */
static void spoilt(int how)
{
	CUstream s = stream(1);
	CUgraph g = NULL;

	OK(cuStreamBeginCapture_v2(s, 0));
	spin(s, 1000);
	if (how == 2) {
		OK(cuStreamDestroy_v2(s));
	} else if (!cuStreamSynchronize(s) || cuStreamEndCapture(s, &g) != 901) {
		exit(4);
	}
	spin(NULL, A_MINUTE);
	usleep(300000);
	raise(SIGKILL);
}

/* ---- the pool ---- */

static void fill(void)
{
	CUfunction wait = cu_kernel(module, WAIT_FLAG);
	CUdeviceptr at;
	void *flag;

	OK(cuMemHostAlloc(&flag, 4, 2));
	OK(cuMemHostGetDevicePointer_v2(&at, flag, 0));
	*(volatile int *)flag = 0;
	for (int i = 0; i < 32; i++) {
		CUstream s = stream(1);

		LAUNCH(wait, 1, s, &at);
		for (int k = 1; k < 300; k++)
			spin(s, 100);
	}
	*(volatile int *)flag = 1;
	OK(cuCtxSynchronize());
	usleep(300000);
}

static void pool(void)
{
	fill();
	/* events are available again, on a busy machine perhaps later */
	for (int k = 0; k < 100; k++) {
		spin(NULL, 100);
		usleep(10000);
	}
	OK(cuCtxSynchronize());
}

/* The context that used all events is idle now. */
static void share(void)
{
	int (*create)(CUcontext *, unsigned, CUdevice) =
		(int (*)(CUcontext *, unsigned, CUdevice))find("cuCtxCreate_v2");
	CUcontext c;

	fill();
	OK(create(&c, 0, 0));
	OK(cuModuleLoadData(&module, cu_ptx));
	kernel = cu_kernel(module, BUSY);
	for (int k = 0; k < 100; k++) {
		spin(NULL, 100);
		usleep(10000);
	}
	OK(cuCtxSynchronize());
}

/* ---- contexts ---- */

static void in_it(uint64_t cycles)
{
	OK(cuModuleLoadData(&module, cu_ptx));
	kernel = cu_kernel(module, BUSY);
	for (int i = 0; i < 10; i++)
		spin(NULL, cycles);
}

static void contexts(void)
{
	int (*create)(CUcontext *, unsigned, CUdevice) =
		(int (*)(CUcontext *, unsigned, CUdevice))find("cuCtxCreate_v2");
	int (*destroy)(CUcontext) = (int (*)(CUcontext))find("cuCtxDestroy_v2");
	int (*reset)(CUdevice) = (int (*)(CUdevice))find("cuDevicePrimaryCtxReset_v2");
	CUcontext c;
	CUstream s;

	for (int i = 0; i < 20; i++) {
		OK(create(&c, 0, 0));
		in_it(i % 2 ? 1000 : 1000000); /* half of them with work under way */
		if (i % 4 == 3)
			OK(cuCtxSynchronize());
		OK(destroy(c));
	}
	OK(create(&c, 0, 0));
	in_it(1000);
	s = stream(1);
	OK(cuCtxSetCurrent(primary));
	spin(s, 1000); /* of a context that is not the current one */
	in_it(1000);
	OK(cuCtxSynchronize());
	usleep(20000);
	OK(cuDevicePrimaryCtxRelease_v2(0)); /* the last one */
	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuCtxSetCurrent(primary));
	in_it(1000);
	OK(cuCtxSynchronize());
	usleep(20000);
	OK(reset(0));
	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuCtxSetCurrent(primary));
	in_it(1000);
	OK(cuCtxSynchronize());
	OK(cuCtxSetCurrent(c));
	OK(cuCtxSynchronize());
}

/* ---- kinds ---- */

typedef CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t n),
	copy_async(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s);
typedef CUresult set(CUdeviceptr at, unsigned value, size_t n),
	set_async(CUdeviceptr at, unsigned value, size_t n, CUstream s);
typedef CUresult peer(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t n);
typedef CUresult peer_async(
	CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t n, CUstream s);

static void in_a_stream(CUstream s, CUdeviceptr x, void *pinned)
{
	static char pageable[4096];
	uint64_t cycles = 1000;

	for (unsigned shared = 0; shared < 4096; shared += 1024)
		OK(cuLaunchKernel(
			kernel, 1, 2, 3, 8, 4, 2, shared, s, (void *[]){ &cycles }, NULL));
	OK(cuMemcpyHtoDAsync_v2(x, pinned, 100, s));
	OK(cuMemcpyDtoHAsync_v2(pinned, x, 200, s));
	OK(cuMemcpyHtoDAsync_v2(x, pageable, 300, s));
	OK(((copy_async *)find("cuMemcpyDtoDAsync_v2"))(x, x + 4096, 400, s));
	OK(((set_async *)find("cuMemsetD8Async"))(x, 0x12, 500, s));
	OK(((set_async *)find("cuMemsetD16Async"))(x, 0x1234, 600, s));
	OK(((set_async *)find("cuMemsetD32Async"))(x, 0x12345678, 700, s));
}

static void kinds(void)
{
	CUdeviceptr x, y;
	CUcontext second;
	CUgraphExec exec;
	void *pinned;
	CUstream s = stream(1);
	CUgraph g;

	OK(cuMemAlloc_v2(&x, 16384));
	OK(cuMemAllocHost_v2(&pinned, 4096));
	in_a_stream(s, x, pinned);
	OK(cuStreamBeginCapture_v2(s, 0));
	in_a_stream(s, x, pinned);
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	OK(cuGraphLaunch(exec, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyHtoD_v2(x, &g, 8));
	OK(cuMemcpyDtoH_v2(pinned, x, 16));
	OK(((copy *)find("cuMemcpyDtoD_v2"))(x, x + 4096, 24));
	OK(((set *)find("cuMemsetD8_v2"))(x, 7, 32));
	OK(cuDevicePrimaryCtxRetain(&second, 1));
	OK(cuCtxSetCurrent(second));
	OK(cuMemAlloc_v2(&y, 4096));
	OK(((peer *)find("cuMemcpyPeer"))(y, second, x, primary, 800));
	OK(((peer_async *)find("cuMemcpyPeerAsync"))(x, primary, y, second, 900, NULL));
	OK(cuCtxSynchronize());
}

static CUstream shared_stream;

static void *into_one_stream(void *arg)
{
	uint64_t cycles = 1000;

	OK(cuCtxSetCurrent(primary));
	for (int i = 0; i < 200; i++)
		LAUNCH(kernel, 256 * (unsigned)(intptr_t)arg, shared_stream, &cycles);
	return NULL;
}

static void together(void)
{
	pthread_t t[4];

	shared_stream = stream(1);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, into_one_stream, (void *)(intptr_t)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	OK(cuStreamSynchronize(shared_stream));
}

/* ---- the rest ---- */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* After a kernel of one minute a launch that waits for its end is noticed on any machine,
 * however slow. */
static void times(int n)
{
	uint64_t worst = 0, from;

	spin(NULL, A_MINUTE);
	for (int i = 0; i < n; i++) {
		from = now();
		spin(NULL, 100);
		from = now() - from;
		worst = from > worst ? from : worst;
	}
	printf("longest %llu\n", (unsigned long long)worst);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	primary = cu_start();
	OK(cuModuleLoadData(&module, cu_ptx));
	kernel = cu_kernel(module, BUSY);
	if (!strcmp(how, "streams"))
		streams();
	else if (!strcmp(how, "capture"))
		captures();
	else if (!strcmp(how, "legacy"))
		legacy();
	else if (!strcmp(how, "spoilt"))
		spoilt(argc > 2 ? atoi(argv[2]) : 1);
	else if (!strcmp(how, "pool"))
		pool();
	else if (!strcmp(how, "share"))
		share();
	else if (!strcmp(how, "contexts"))
		contexts();
	else if (!strcmp(how, "kinds"))
		kinds();
	else if (!strcmp(how, "together"))
		together();
	else if (!strcmp(how, "times"))
		times(argc > 2 ? atoi(argv[2]) : 100);
	else {
		for (int i = 0; i < 10; i++)
			spin(NULL, 1000);
		OK(cuCtxSynchronize());
		spin(NULL, A_MINUTE);
	}
	return 0;
}
