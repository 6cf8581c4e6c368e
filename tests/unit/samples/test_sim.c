/* The simulated GPU behaves like a GPU: memory contains the copied and computed data, each
 * stream keeps its order, streams have no order between them, and waits wait. Tests use gates
 * instead of clocks: a kernel that spins on a flag blocks a stream until the test opens the
 * gate. */
#include "tests/unit/samples/on_sim.h"
#include <pthread.h>

static CUstream stream(unsigned flags)
{
	CUstream s;

	sim_start();
	OK(cuStreamCreate(&s, flags));
	return s;
}

static void copies_and_kernels_compute(void)
{
	CUmodule m = sim_start();
	CUfunction add = cu_kernel(m, VECTOR_ADD), saxpy = cu_kernel(m, SAXPY),
		   scale = cu_kernel(m, SCALE);
	CUfunction relu = cu_kernel(m, RELU);
	float a[1000], b[1000], c[1000], two = 2, three = 3;
	CUdeviceptr x, y, z;
	int n = 1000;

	for (int i = 0; i < n; i++)
		a[i] = i, b[i] = -2 * i;
	CHECK(!cuMemAlloc_v2(&x, sizeof(a)) && !cuMemAlloc_v2(&y, sizeof(a)) &&
		!cuMemAlloc_v2(&z, sizeof(a)));
	CHECK(!cuMemcpyHtoD_v2(x, a, sizeof(a)) && !cuMemcpyHtoD_v2(y, b, sizeof(b)));
	LAUNCH(add, n, NULL, &x, &y, &z, &n);       /* -i */
	LAUNCH(saxpy, n, NULL, &three, &x, &z, &n); /* 2i */
	LAUNCH(scale, n, NULL, &z, &two, &n);       /* 4i */
	CHECK(!cuMemcpyDtoH_v2(c, z, sizeof(c)));
	for (int i = 0; i < n; i++)
		CHECK(c[i] == 4 * i);
	LAUNCH(relu, n, NULL, &y, &n);
	CHECK(!cuMemcpyDtoH_v2(c, y, sizeof(c)) && c[0] == 0 && c[999] == 0);
	CHECK(!cuMemsetD32Async(z, 0x40400000, 500, NULL) && !cuMemcpy(x, z, sizeof(a)) &&
		!cuMemcpyDtoH_v2(c, x, sizeof(c)));
	CHECK(c[499] == 3 && c[500] == 2000);
	CHECK(!cuMemFree_v2(x) && !cuMemFree_v2(y) && !cuMemFree_v2(z));
}

static void rows_are_copied_with_their_pitch(void)
{
	char host[3][8] = { "row 0", "row 1", "row 2" }, back[3][6] = { "" };
	size_t pitch;
	CUdeviceptr x;

	sim_start();
	CHECK(!cuMemAllocPitch_v2(&x, &pitch, 6, 3, 4) && pitch >= 6 && pitch % 512 == 0);
	CHECK(!cuMemcpy2D_v2(&(struct rows){ .src_type = 1,
		.src_host = host,
		.src_pitch = 8,
		.dst_type = 2,
		.dst_dev = x,
		.dst_pitch = pitch,
		.width = 6,
		.height = 3 }));
	CHECK(!cuMemcpy2D_v2(&(struct rows){ .src_y = 1,
		.src_type = 2,
		.src_dev = x,
		.src_pitch = pitch,
		.dst_type = 1,
		.dst_host = back,
		.dst_pitch = 6,
		.width = 6,
		.height = 2 }));
	CHECK(!strcmp(back[0], "row 1") && !strcmp(back[1], "row 2") && !back[2][0]);
	CHECK(cuMemcpy2D_v2(&(struct rows){ .src_type = 1,
		      .src_host = host,
		      .src_pitch = 4,
		      .dst_type = 2,
		      .dst_dev = x,
		      .dst_pitch = pitch,
		      .width = 6,
		      .height = 3 }) == 1 &&
		!cuMemFree_v2(x));
}

static void functions_know_their_names_and_parameters(void)
{
	static const char cubin[64] = "\177ELF";
	CUfunction f = cu_kernel(sim_start(), SAXPY), kernel, function;
	struct CUlib_st *library;
	const char *name = "";
	size_t offset, size;
	CUmodule m;

	CHECK(!cuFuncGetName(&name, f) && !strcmp(name, SAXPY));
	/* after a float, aligned */
	CHECK(!cuFuncGetParamInfo(f, 1, &offset, &size) && offset == 8 && size == 8);
	CHECK(!cuFuncGetParamInfo(f, 3, &offset, &size) && offset == 24 && size == 4);
	CHECK_EQ(cuFuncGetParamInfo(f, 4, &offset, &size), 1);
	CHECK(!cuLibraryLoadData(&library, cu_ptx, NULL, NULL, 0, NULL, NULL, 0) &&
		!cuLibraryGetKernel(&kernel, library, RELU));
	CHECK(!cuKernelGetFunction(&function, kernel) && !cuKernelGetName(&name, kernel) &&
		!strcmp(name, RELU));
	CHECK(cuLibraryGetKernel(&kernel, library, "none") == 500 && !cuLibraryUnload(library));
	CHECK(!cuModuleLoadData(&m, cubin) && !cuModuleGetFunction(&f, m, "_Z3anyv") &&
		!cuFuncGetName(&name, f));
	CHECK(!strcmp(name, "_Z3anyv") &&
		!cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) && !cuModuleUnload(m));
}

static void device_addresses_are_not_host_memory(void)
{
	CUdeviceptr x, managed;
	int type;

	sim_start();
	CHECK(!cuMemAlloc_v2(&x, 100) && !cuPointerGetAttribute(&type, 2, x) && type == 2);
	CHECK(x >= 0x302000000 && x % 512 == 0 && cuMemcpyHtoD_v2(x + 500, &x, 100) == 1);
	CHECK(!cuMemAllocManaged(&managed, 100, 1));
	*(int *)managed = 77;
	CHECK(!cuMemcpyDtoH_v2(&type, managed, 4) && type == 77);
	CHECK(!cuMemFree_v2(managed) && !cuMemFree_v2(x));
}

static void memory_runs_out_and_comes_back(void)
{
	size_t unused, total, later;
	CUdeviceptr x[64], big;
	int n = 0;

	sim_start();
	CHECK(!cuMemGetInfo_v2(&unused, &total) && total == 64 << 20 &&
		cuMemAlloc_v2(&big, total + 1) == 2);
	while (n < 64 && !cuMemAlloc_v2(&x[n], 4 << 20))
		n++;
	CHECK(n >= 14 && n <= 16);
	CHECK_EQ(cuMemAlloc_v2(&big, 8 << 20), 2);
	/* enough memory, but not contiguous */
	CHECK(!cuMemFree_v2(x[1]) && cuMemAlloc_v2(&big, 8 << 20) == 2);
	CHECK(!cuMemFree_v2(x[2]) && !cuMemAlloc_v2(&big, 8 << 20) && big == x[1]);
	CHECK(!cuMemFree_v2(big));
	for (int i = 0; i < n; i++)
		CHECK(i == 1 || i == 2 || !cuMemFree_v2(x[i]));
	CHECK(!cuMemGetInfo_v2(&later, &total) && later == unused);
}

static void async_calls_return_before_their_work(void)
{
	struct gate g;
	CUstream s = stream(1);
	CUdeviceptr x;
	CUevent e;
	int *host;

	sim_start();
	CHECK(!cuMemAllocHost_v2((void **)&host, 4) && !cuMemAlloc_v2(&x, 4) &&
		!cuEventCreate(&e, 0));
	*host = 5;
	CHECK(!cuMemcpyHtoD_v2(x, host, 4));
	gate_close(&g, s);
	CHECK(!cuMemcpyDtoHAsync_v2(host, x, 4, s) && !cuEventRecord(e, s));
	*host = 0;
	CHECK(cuStreamQuery(s) == 600 && cuEventQuery(e) == 600 && *host == 0);
	gate_open(&g);
	CHECK(!cuStreamSynchronize(s) && *host == 5 && !cuStreamQuery(s) && !cuEventQuery(e));
	CHECK(!cuMemFreeHost(host) && !cuMemFree_v2(x) && !cuEventDestroy_v2(e) &&
		!cuStreamDestroy_v2(s));
}

static volatile int opened;
static void *open_later(void *gate)
{
	usleep(20000);
	opened = 1;
	gate_open(gate);
	return NULL;
}

static void waiting_waits(void)
{
	CUresult (*const wait[])(CUstream) = { cuStreamSynchronize, NULL };
	CUstream s = stream(1);
	pthread_t thread;
	struct gate g;

	for (int i = 0; i < 2; i++) {
		opened = 0;
		gate_close(&g, s);
		CHECK(!pthread_create(&thread, NULL, open_later, &g));
		CHECK(!(wait[i] ? wait[i](s) : cuCtxSynchronize()) && opened);
		pthread_join(thread, NULL);
	}
	CHECK(!cuStreamDestroy_v2(s));
}

static void add_one(void *counter) { ++*(int *)counter; }

static void streams_wait_for_events_only(void)
{
	CUstream a = stream(1), b = stream(1), c = stream(1);
	struct gate g;
	CUevent e;
	int ran = 0;

	CHECK(!cuEventCreate(&e, 2));
	gate_close(&g, a);
	CHECK(!cuEventRecord(e, a) && !cuStreamWaitEvent(b, e, 0) &&
		!cuLaunchHostFunc(c, add_one, &ran));
	CHECK(!cuStreamSynchronize(c) && ran == 1); /* c waits for no other stream */
	CHECK_EQ(cuStreamQuery(b), 600);
	gate_open(&g);
	CHECK(!cuStreamSynchronize(b) && !cuEventQuery(e));
	CHECK(!cuStreamDestroy_v2(a) && !cuStreamDestroy_v2(b) && !cuStreamDestroy_v2(c) &&
		!cuEventDestroy_v2(e));
}

static void the_legacy_stream_waits_for_blocking_ones(void)
{
	CUfunction busy = cu_kernel(sim_start(), BUSY);
	CUstream blocking = stream(0), other = stream(1);
	uint64_t none = 0;
	struct gate g;

	gate_close(&g, blocking);
	LAUNCH(busy, 1, NULL, &none);
	LAUNCH(busy, 1, other, &none);
	CHECK(!cuStreamSynchronize(other) && cuStreamQuery(NULL) == 600);
	gate_open(&g);
	CHECK(!cuStreamSynchronize(NULL) && !cuStreamQuery(blocking));
	CHECK(!cuStreamDestroy_v2(blocking) && !cuStreamDestroy_v2(other));
}

static void *own_default_stream(void *f)
{
	uint64_t none = 0;
	CUcontext ctx;

	OK(cuDevicePrimaryCtxRetain(&ctx, 0));
	OK(cuCtxSetCurrent(ctx));
	OK(cuLaunchKernel_ptsz(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &none }, NULL));
	OK(cuStreamSynchronize_ptsz(NULL)); /* not held by the main thread's gate */
	return NULL;
}

static void each_thread_has_its_default_stream(void)
{
	CUmodule m = sim_start();
	pthread_t thread;
	struct gate g;

	gate_close(&g, (CUstream)2);
	CHECK_EQ(cuStreamQuery_ptsz(NULL), 600);
	CHECK(!pthread_create(&thread, NULL, own_default_stream, cu_kernel(m, BUSY)));
	pthread_join(thread, NULL);
	CHECK_EQ(cuStreamQuery_ptsz(NULL), 600);
	gate_open(&g);
	CHECK(!cuStreamSynchronize_ptsz(NULL));
}

/* Simulated ms between two events around the work of `enqueue`, all queued behind a gate: exact,
 * whatever the host does. */
static float between(void (*enqueue)(CUstream a, CUstream b, CUevent joined))
{
	CUstream a = stream(1), b = stream(1);
	CUevent from, to, joined;
	struct gate g;
	float ms = -1;

	OK(cuEventCreate(&from, 0));
	OK(cuEventCreate(&to, 0));
	OK(cuEventCreate(&joined, 0));
	gate_close(&g, a);
	OK(cuEventRecord(from, a));
	OK(cuStreamWaitEvent(b, from, 0));
	enqueue(a, b, joined);
	OK(cuEventRecord(joined, b));
	OK(cuStreamWaitEvent(a, joined, 0));
	OK(cuEventRecord(to, a));
	gate_open(&g);
	OK(cuEventSynchronize(to));
	OK(cuEventElapsedTime(&ms, from, to));
	OK(cuEventDestroy_v2(from));
	OK(cuEventDestroy_v2(to));
	OK(cuEventDestroy_v2(joined));
	OK(cuStreamDestroy_v2(a));
	OK(cuStreamDestroy_v2(b));
	return ms;
}

static void busy_us(CUstream s, int us)
{
	uint64_t cycles = 1980ull * us;

	LAUNCH(cu_kernel(sim_start(), BUSY), 1, s, &cycles);
}

static void one_kernel(CUstream a, CUstream b, CUevent joined)
{
	(void)b, (void)joined;
	busy_us(a, 100);
}
static void two_in_one_stream(CUstream a, CUstream b, CUevent joined)
{
	one_kernel(a, b, joined);
	busy_us(a, 100);
}
static void two_in_two_streams(CUstream a, CUstream b, CUevent joined)
{
	one_kernel(a, b, joined);
	busy_us(b, 100);
}

static void kernels_of_two_streams_overlap(void)
{
	sim_start();
	CHECK(between(one_kernel) == 0.102f); /* 100 us and the launch's 2 */
	CHECK(between(two_in_one_stream) == 0.204f);
	CHECK(between(two_in_two_streams) == 0.102f);
}

static CUdeviceptr device_buffer;
static void *host_buffer;
static void copy_up(CUstream s)
{
	OK(cuMemcpyHtoDAsync_v2(device_buffer, host_buffer, 1 << 20, s));
}
static void copy_down(CUstream s)
{
	OK(cuMemcpyDtoHAsync_v2(host_buffer, device_buffer, 1 << 20, s));
}
static void up(CUstream a, CUstream b, CUevent joined)
{
	(void)b, (void)joined;
	copy_up(a);
}
static void up_up(CUstream a, CUstream b, CUevent joined)
{
	(void)joined;
	copy_up(a);
	copy_up(b);
}
static void up_down(CUstream a, CUstream b, CUevent joined)
{
	(void)joined;
	copy_up(a);
	copy_down(b);
}

static void there_are_two_copy_engines(void)
{
	float one;

	sim_start();
	CHECK(!cuMemAlloc_v2(&device_buffer, 1 << 20) && !cuMemAllocHost_v2(&host_buffer, 1 << 20));
	one = between(up);
	CHECK(one > 0.02f && one < 0.03f);
	CHECK(between(up_up) > 1.99f * one && between(up_up) < 2.01f * one);
	CHECK(between(up_down) == one);
	CHECK(!cuMemFree_v2(device_buffer) && !cuMemFreeHost(host_buffer));
}

static void graphs_replay_what_was_captured(void)
{
	CUfunction scale = cu_kernel(sim_start(), SCALE);
	CUstream s = stream(1), t = stream(1);
	CUevent fork, join;
	CUgraphExec exec;
	CUdeviceptr x, y;
	CUgraph g;
	size_t nodes = 0, edges = 0;
	float two = 2, got = 1;
	int n = 1, counter = 0;

	CHECK(!cuEventCreate(&fork, 2) && !cuEventCreate(&join, 2) && !cuMemAlloc_v2(&x, 4) &&
		!cuMemAlloc_v2(&y, 4));
	CHECK(!cuMemcpyHtoD_v2(x, &got, 4));
	CHECK(!cuStreamBeginCapture_v2(s, 0));
	LAUNCH(scale, n, s, &x, &two, &n);
	CHECK(!cuEventRecord(fork, s) && !cuStreamWaitEvent(t, fork, 0));
	CHECK(!cuMemcpyDtoDAsync_v2(y, x, 4, t) && !cuLaunchHostFunc(s, add_one, &counter));
	CHECK(!cuEventRecord(join, t) && !cuStreamWaitEvent(s, join, 0) &&
		!cuMemsetD32Async(x, 0x3f800000, 1, s));
	CHECK(!cuStreamEndCapture(s, &g) && !cuGraphGetNodes(g, NULL, &nodes) && nodes == 4);
	CHECK(!cuGraphGetEdges(g, NULL, NULL, &edges) && edges == 4 && counter == 0);
	CHECK(!cuGraphInstantiateWithFlags(&exec, g, 0) && !cuGraphDestroy(g));
	for (int i = 0; i < 5; i++)
		CHECK(!cuGraphLaunch(exec, s));
	/* launched ones still run */
	CHECK(!cuGraphExecDestroy(exec) && !cuStreamSynchronize(s) && counter == 5);
	/* set after the copy */
	CHECK(!cuMemcpyDtoH_v2(&got, y, 4) && got == 2 && !cuMemcpyDtoH_v2(&got, x, 4) && got == 1);
	CHECK(!cuMemFree_v2(x) && !cuMemFree_v2(y) && !cuStreamDestroy_v2(s) &&
		!cuStreamDestroy_v2(t));
	CHECK(!cuEventDestroy_v2(fork) && !cuEventDestroy_v2(join));
}

static void virtual_memory_is_mapped_piece_by_piece(void)
{
	struct {
		int type, handle_types, where, id;
		void *w;
		unsigned char f[8];
	} prop = { 1, 0, 1, 0, NULL, { 0 } };
	struct {
		int where, id, flags;
	} access = { 1, 0, 3 };
	extern CUresult cuMemAddressReserve(
		CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
	extern CUresult cuMemCreate(uint64_t *, size_t, void *, unsigned long long),
		cuMemRelease(uint64_t);
	extern CUresult cuMemMap(CUdeviceptr, size_t, size_t, uint64_t, unsigned long long),
		cuMemUnmap(CUdeviceptr, size_t);
	extern CUresult cuMemSetAccess(CUdeviceptr, size_t, void *, size_t),
		cuMemAddressFree(CUdeviceptr, size_t);
	size_t mb2 = 2 << 20, before, after, total;
	char out[4] = "abc", in[4];
	uint64_t h[2];
	CUdeviceptr at;

	sim_start();
	CHECK(!cuMemGetInfo_v2(&before, &total) && !cuMemAddressReserve(&at, 2 * mb2, 0, 0, 0));
	CHECK(!cuMemCreate(&h[0], mb2, &prop, 0) && !cuMemCreate(&h[1], mb2, &prop, 0));
	CHECK(!cuMemMap(at, mb2, 0, h[1], 0) && !cuMemMap(at + mb2, mb2, 0, h[0], 0) &&
		cuMemMap(at, mb2, 0, h[0], 0) == 1);
	/* no access yet */
	CHECK(!cuMemRelease(h[0]) && !cuMemRelease(h[1]) && cuMemcpyHtoD_v2(at, out, 4) == 1);
	CHECK(!cuMemSetAccess(at, 2 * mb2, &access, 1) && !cuMemcpyHtoD_v2(at + mb2 - 2, out, 4));
	/* across the seam */
	CHECK(!cuMemcpyDtoH_v2(in, at + mb2 - 2, 4) && !memcmp(in, out, 4));
	CHECK(!cuMemGetInfo_v2(&after, &total) && before - after == 2 * mb2);
	CHECK(!cuMemUnmap(at, 2 * mb2) && !cuMemAddressFree(at, 2 * mb2));
	CHECK(!cuMemGetInfo_v2(&after, &total) && before == after);
}

static void stream_ordered_memory_is_freed_in_order(void)
{
	size_t before, during, after, total;
	CUstream s = stream(1);
	struct gate g;
	CUdeviceptr x;

	sim_start();
	CHECK(!cuMemGetInfo_v2(&before, &total) && !cuMemAllocAsync(&x, 1 << 20, s));
	gate_close(&g, s);
	CHECK(!cuMemFreeAsync(x, s) && cuMemFreeAsync(x, s) == 1);
	CHECK(!cuMemGetInfo_v2(&during, &total) && before - during == 1 << 20);
	gate_open(&g);
	CHECK(!cuStreamSynchronize(s) && !cuMemGetInfo_v2(&after, &total) && after == before &&
		!cuStreamDestroy_v2(s));
}

static void entry_points_by_version_and_flag(void)
{
	void *old = (void *)1, *fn;
	int status = 7;

	CHECK(!cuGetProcAddress_v2("", &fn, 0, 0, &status));
	CHECK(!cuGetProcAddress_v2("cuMemAlloc", &fn, 3020, 0, &status) &&
		fn == (void *)cuMemAlloc_v2 && status == 0);
	CHECK(!cuGetProcAddress_v2("cuLaunchKernel", &fn, 4000, 0, NULL) &&
		fn == (void *)cuLaunchKernel);
	CHECK(!cuGetProcAddress_v2("cuLaunchKernel", &fn, 7000, 1, NULL) &&
		fn == (void *)cuLaunchKernel);
	CHECK(!cuGetProcAddress_v2("cuLaunchKernel", &fn, 7000, 2, NULL) &&
		fn == (void *)cuLaunchKernel_ptsz);
	CHECK(!cuGetProcAddress_v2("cuMemAlloc", &fn, 13000, 2, NULL) &&
		fn == (void *)cuMemAlloc_v2);
	CHECK(!cuGetProcAddress_v2("cuLaunchKernel", &fn, 4000, 2, &status) && !fn && status == 2);
	CHECK(!cuGetProcAddress_v2("cuMemAlloc_v2", &fn, 13000, 0, &status) && !fn && status == 1);
	CHECK(cuGetProcAddress_v2("cuInit", &old, 99000, 0, &status) == 1 && old == (void *)1);
	CHECK(cuGetProcAddress_v2("cuInit", &old, 13000, 4, &status) == 1 && old == (void *)1);
	CHECK(cuGetProcAddress("cuNoSuch", &old, 13000, 0) == 500 && old == (void *)1);
	CHECK(!cuGetProcAddress("cuGetProcAddress", &fn, 11030, 0) &&
		fn == (void *)cuGetProcAddress);
}

T_MAIN(T(copies_and_kernels_compute), T(rows_are_copied_with_their_pitch),
	T(functions_know_their_names_and_parameters), T(device_addresses_are_not_host_memory),
	T(memory_runs_out_and_comes_back), T(async_calls_return_before_their_work),
	T(waiting_waits), T(streams_wait_for_events_only),
	T(the_legacy_stream_waits_for_blocking_ones), T(each_thread_has_its_default_stream),
	T(kernels_of_two_streams_overlap), T(there_are_two_copy_engines),
	T(graphs_replay_what_was_captured), T(virtual_memory_is_mapped_piece_by_piece),
	T(stream_ordered_memory_is_freed_in_order), T(entry_points_by_version_and_flag))
