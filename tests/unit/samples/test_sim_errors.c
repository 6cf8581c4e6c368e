/* Errors are those of the real driver: every line below was answered with the same code by an H200
 * (driver 580, CUDA 13.0). */
#include "tests/unit/samples/on_sim.h"

static void before_cuInit(void)
{
	CUdeviceptr x;
	CUcontext ctx;

	CHECK(cuCtxSynchronize() == 3 && cuMemAlloc_v2(&x, 8) == 3 && cuCtxGetCurrent(&ctx) == 3);
	CHECK_EQ(cuInit(1), 1);
}

static void memory(void)
{
	CUdeviceptr x, y;
	char host[16], *page = NULL;
	int value;

	sim_start();
	CHECK(!posix_memalign((void **)&page, 4096, 8192));
	CHECK(cuMemAlloc_v2(&x, 0) == 1 && cuMemAlloc_v2(&x, 1ull << 45) == 2);
	CHECK(!cuMemAlloc_v2(&x, 1000) && !cuMemAlloc_v2(&y, 1000) && y - x == 1024);
	CHECK(cuMemFree_v2(x + 16) == 1 && !cuMemFree_v2(x) && cuMemFree_v2(x) == 1 &&
		!cuMemFree_v2(0));
	CHECK(cuMemcpyHtoD_v2(0x1000, host, 16) == 1 && !cuMemcpyHtoD_v2(y, host, 0));
	CHECK(!cuMemHostRegister_v2(page, 4096, 0) && cuMemHostRegister_v2(page, 4096, 0) == 712);
	CHECK(!cuMemHostUnregister(page) && cuMemHostUnregister(page) == 713);
	CHECK_EQ(cuPointerGetAttribute(&value, 2, (CUdeviceptr)page), 1);
	CHECK(!cuMemAllocAsync(&x, 100, NULL) && !cuMemFreeAsync(x, NULL) &&
		cuMemFreeAsync(x, NULL) == 1);
	CHECK(!cuMemFree_v2(y));
	free(page);
}

static void devices_and_events(void)
{
	CUevent timed, untimed;
	size_t limit;
	float ms;
	int value;

	sim_start();
	CHECK(cuDeviceGetAttribute(&value, 999, 0) == 1 && cuDeviceGet(&value, 99) == 101 &&
		cuCtxGetLimit(&limit, 99) == 1);
	CHECK(!cuEventCreate(&timed, 0) && !cuEventCreate(&untimed, 2));
	CHECK(cuEventElapsedTime(&ms, timed, timed) == 400 && !cuEventQuery(timed));
	CHECK(!cuEventRecord(untimed, NULL) && !cuCtxSynchronize() &&
		cuEventElapsedTime(&ms, untimed, untimed) == 400);
	CHECK(!cuEventDestroy_v2(timed) && !cuEventDestroy_v2(untimed) &&
		cuEventDestroy_v2(timed) == 400);
}

static void modules_and_launches(void)
{
	CUfunction f = cu_kernel(sim_start(), RELU);
	CUdeviceptr x;
	CUmodule m;
	size_t size;
	int n = 4;
	void *args[] = { &x, &n };

	CHECK_EQ(cuModuleLoadData(&m, "garbage text"), 200);
	CHECK_EQ(cuModuleLoadData(
			 &m, ".version 6.0\n.target sm_50\n.address_size 64\n.entry x { garbage"),
		218);
	CHECK(cuModuleGetFunction(&f, sim_start(), "none") == 500 &&
		cuModuleGetGlobal_v2(&x, &size, sim_start(), "none") == 500);
	f = cu_kernel(sim_start(), RELU);
	CHECK_EQ(cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 1);
	CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, NULL, args, NULL), 1);
	CHECK_EQ(cuLaunchKernel(f, 1, 70000, 1, 4, 1, 1, 0, NULL, args, NULL), 1);
	CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 1 << 20, NULL, args, NULL), 1);
	CHECK_EQ(cuLaunchKernel(NULL, 1, 1, 1, 4, 1, 1, 0, NULL, args, NULL), 400);
}

static void capture(void)
{
	uint64_t none = 0;
	CUfunction busy = cu_kernel(sim_start(), BUSY);
	CUstream s, blocking;
	CUevent e;
	CUgraph g;

	CHECK(!cuStreamCreate(&s, 1) && !cuStreamCreate(&blocking, 0) && !cuEventCreate(&e, 0));
	CHECK_EQ(cuStreamBeginCapture_v2(NULL, 0), 900);
	CHECK(!cuStreamBeginCapture_v2(blocking, 0) && cuStreamBeginCapture_v2(blocking, 0) == 401);
	CHECK_EQ(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &none }, NULL), 906);
	CHECK_EQ(cuStreamEndCapture(blocking, &g), 901);
	CHECK(!cuStreamBeginCapture_v2(blocking, 2) && cuStreamSynchronize(blocking) == 900);
	CHECK(cuStreamEndCapture(blocking, &g) == 901 && cuStreamEndCapture(blocking, &g) == 401);
	CHECK(!cuStreamBeginCapture_v2(s, 2) && cuCtxSynchronize() == 900 &&
		cuEventRecord(e, s) == 901 && !cuEventQuery(e));
	CHECK(!cuStreamWaitEvent(blocking, e, 0) && cuStreamEndCapture(blocking, &g) == 401 &&
		cuStreamEndCapture(s, &g) == 901);
	CHECK(!cuStreamDestroy_v2(s) && !cuStreamDestroy_v2(blocking) && !cuEventDestroy_v2(e));
}

static void not_ready_yet(void)
{
	struct gate g;
	CUstream s;
	CUevent e;
	float ms;

	sim_start();
	CHECK(!cuStreamCreate(&s, 1) && !cuEventCreate(&e, 0));
	gate_close(&g, s);
	CHECK(!cuEventRecord(e, s) && cuStreamQuery(s) == 600 && cuEventQuery(e) == 600 &&
		cuEventElapsedTime(&ms, e, e) == 600);
	gate_open(&g);
	CHECK(!cuStreamDestroy_v2(s) && !cuEventSynchronize(e) && !cuEventElapsedTime(&ms, e, e) &&
		ms == 0);
	CHECK(!cuEventDestroy_v2(e));
}

/* The last test, because afterwards every call in the context fails. */
static void an_illegal_address_stays(void)
{
	CUfunction relu = cu_kernel(sim_start(), RELU);
	CUdeviceptr bad = 0x10, x;
	int n = 4;

	LAUNCH(relu, n, NULL, &bad, &n);
	CHECK(cuStreamSynchronize(NULL) == 700 && cuMemAlloc_v2(&x, 8) == 700 && !cuInit(0));
}

static void errors_have_names(void)
{
	const char *name = "";

	CHECK(!cuGetErrorName(700, &name) && !strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS"));
	CHECK(cuGetErrorName(12345, &name) == 1 && !name);
}

T_MAIN(T(before_cuInit), T(memory), T(devices_and_events), T(modules_and_launches), T(capture),
	T(not_ready_yet), T(an_illegal_address_stays), T(errors_have_names))
