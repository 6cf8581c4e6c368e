/* Shared by the tests of the simulated GPU: the samples' declarations, the functions these lack,
 * and a device to work on. */
#ifndef TEST_SIM_H
#define TEST_SIM_H
#define _GNU_SOURCE
#define CU_LINKED
#include "samples/cu.h"
#include "tests/unit/t.h"

typedef struct CUgraphNode_st *CUgraphNode;
CUresult cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags);
CUresult cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status);
CUresult cuStreamQuery(CUstream s);
CUresult cuStreamQuery_ptsz(CUstream s);
CUresult cuStreamSynchronize_ptsz(CUstream s);
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags);
CUresult cuEventQuery(CUevent e);
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
	unsigned by, unsigned bz, unsigned shared, CUstream s, void **params, void **extra);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *at, size_t *size, CUmodule m, const char *name);
CUresult cuMemHostRegister_v2(void *p, size_t size, unsigned flags);
CUresult cuMemHostUnregister(void *p);
CUresult cuMemAllocManaged(CUdeviceptr *at, size_t size, unsigned flags);
CUresult cuMemAllocAsync(CUdeviceptr *at, size_t size, CUstream s);
CUresult cuMemFreeAsync(CUdeviceptr at, CUstream s);
CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, size_t n, CUstream s);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s);
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice dev);
CUresult cuDeviceGetCount(int *n);
CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr at);
CUresult cuCtxGetLimit(size_t *value, int limit);
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *n);
CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n);

struct rows { /* CUDA_MEMCPY2D */
	size_t src_x, src_y;
	unsigned src_type;
	const void *src_host;
	CUdeviceptr src_dev;
	void *src_array;
	size_t src_pitch, dst_x, dst_y;
	unsigned dst_type;
	void *dst_host;
	CUdeviceptr dst_dev;
	void *dst_array;
	size_t dst_pitch, width, height;
};
CUresult cuMemAllocPitch_v2(
	CUdeviceptr *at, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemcpy2D_v2(const struct rows *r);
struct CUlib_st;
CUresult cuLibraryLoadData(struct CUlib_st **library, const void *code, int *, void **, unsigned,
	int *, void **, unsigned);
CUresult cuLibraryUnload(struct CUlib_st *library);
CUresult cuLibraryGetKernel(CUfunction *kernel, struct CUlib_st *library, const char *name);
CUresult cuKernelGetFunction(CUfunction *f, CUfunction kernel);
CUresult cuKernelGetName(const char **name, CUfunction kernel);
CUresult cuFuncGetName(const char **name, CUfunction f);
CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size);

/* One device of 64 MiB, initialised and current, with the kernels loaded; fast, unless SIMGPU_SPEED
 * says otherwise. */
static CUmodule sim_start(void)
{
	static CUmodule m;
	CUcontext ctx;

	if (m)
		return m;
	setenv("SIMGPU_MEM", "64M", 0);
	setenv("SIMGPU_SPEED", "100", 0);
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx) ||
		cuModuleLoadData(&m, cu_ptx)) {
		printf("FAIL sim_start: the simulator does not start\n");
		exit(1);
	}
	return m;
}

/* A stream that is blocked until its gate is opened, so that tests need no clock. */
struct gate {
	volatile int *flag;
	CUdeviceptr at;
};
static inline void gate_close(struct gate *g, CUstream s)
{
	CUfunction wait = cu_kernel(sim_start(), WAIT_FLAG);

	OK(cuMemHostAlloc((void **)&g->flag, sizeof(int), 2));
	OK(cuMemHostGetDevicePointer_v2(&g->at, (void *)g->flag, 0));
	OK(cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){ &g->at }, NULL));
}

static inline void gate_open(struct gate *g) { __atomic_store_n(g->flag, 1, __ATOMIC_RELEASE); }
#endif
