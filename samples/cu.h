/* The part of the CUDA driver API that the samples use, so that they build without a toolkit. A
 * program built with -DCU_LINKED calls linked symbols and needs libcuda.so.1 at its start. The
 * others load it with dlopen and dlsym in cu_start. */
#ifndef CU_H
#define CU_H
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int CUresult, CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

/* clang-format off */
#define CU_API(X) \
	X(cuInit, (unsigned flags)) \
	X(cuDriverGetVersion, (int *version)) \
	X(cuGetErrorName, (CUresult rc, const char **name)) \
	X(cuDeviceGet, (CUdevice * dev, int i)) \
	X(cuDeviceGetName, (char *name, int len, CUdevice dev)) \
	X(cuDevicePrimaryCtxRetain, (CUcontext * ctx, CUdevice dev)) \
	X(cuDevicePrimaryCtxRelease_v2, (CUdevice dev)) \
	X(cuCtxCreate_v2, (CUcontext * ctx, unsigned flags, CUdevice dev)) \
	X(cuCtxDestroy_v2, (CUcontext ctx)) \
	X(cuCtxSetCurrent, (CUcontext ctx)) \
	X(cuCtxGetCurrent, (CUcontext * ctx)) \
	X(cuCtxSynchronize, (void)) \
	X(cuMemAlloc_v2, (CUdeviceptr * at, size_t size)) \
	X(cuMemFree_v2, (CUdeviceptr at)) \
	X(cuMemAllocHost_v2, (void **at, size_t size)) \
	X(cuMemFreeHost, (void *at)) \
	X(cuMemHostAlloc, (void **at, size_t size, unsigned flags)) \
	X(cuMemHostGetDevicePointer_v2, (CUdeviceptr * at, void *host, unsigned flags)) \
	X(cuMemGetInfo_v2, (size_t * unused, size_t * total)) \
	X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t size)) \
	X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t size)) \
	X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t size, CUstream s)) \
	X(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t size, CUstream s)) \
	X(cuMemsetD8Async, (CUdeviceptr at, unsigned char value, size_t n, CUstream s)) \
	X(cuStreamCreate, (CUstream * s, unsigned flags)) \
	X(cuStreamDestroy_v2, (CUstream s)) \
	X(cuStreamSynchronize, (CUstream s)) \
	X(cuStreamBeginCapture_v2, (CUstream s, int mode)) \
	X(cuStreamEndCapture, (CUstream s, CUgraph * g)) \
	X(cuEventCreate, (CUevent * e, unsigned flags)) \
	X(cuEventDestroy_v2, (CUevent e)) \
	X(cuEventRecord, (CUevent e, CUstream s)) \
	X(cuEventSynchronize, (CUevent e)) \
	X(cuEventElapsedTime, (float *ms, CUevent from, CUevent to)) \
	X(cuModuleLoadData, (CUmodule * m, const void *image)) \
	X(cuModuleUnload, (CUmodule m)) \
	X(cuModuleGetFunction, (CUfunction * f, CUmodule m, const char *name)) \
	X(cuLaunchKernel, (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **params, void **extra)) \
	X(cuLaunchHostFunc, (CUstream s, void (*fn)(void *), void *arg)) \
	X(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph g, unsigned long long flags)) \
	X(cuGraphLaunch, (CUgraphExec exec, CUstream s)) \
	X(cuGraphExecDestroy, (CUgraphExec exec)) \
	X(cuGraphDestroy, (CUgraph g))
/* clang-format on */

#ifdef CU_LINKED
#define X(name, params) CUresult name params;
CU_API(X)
#undef X
static inline void cu_open(void) {}
#else
#define X(name, params) static CUresult(*name) params;
CU_API(X)
#undef X
static inline void cu_open(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib) {
		fprintf(stderr,
			"no CUDA driver here: %s\n"
			"(for the simulated one: LD_LIBRARY_PATH=build/sim %s)\n",
			dlerror(), program_invocation_name);
		exit(1);
	}
#define X(name, params)                                                                            \
	if (!(*(void **)&name = dlsym(lib, #name))) {                                              \
		fprintf(stderr, "the CUDA driver has no %s\n", #name);                             \
		exit(1);                                                                           \
	}
	CU_API(X)
#undef X
}
#endif

/* OK(call): if the call fails, the program ends. */
#define OK(call) cu_ok(call, #call)
static inline void cu_ok(CUresult rc, const char *call)
{
	const char *name = "an unknown error";

	if (!rc)
		return;
	cuGetErrorName(rc, &name);
	fprintf(stderr, "%s: %s\n", call, name);
	exit(1);
}

/* The value after -o, or a default. */
static inline long cu_option(int argc, char **argv, const char *option, long value)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], option))
			continue;
		if (i + 1 == argc) {
			fprintf(stderr, "%s: a number must follow %s\n", argv[0], option);
			exit(2);
		}
		value = strtol(argv[i + 1], NULL, 0);
	}
	return value;
}

/* Initializes the driver and makes the primary context of its first device current: five calls. */
static inline CUcontext cu_start(void)
{
	char name[96];
	CUcontext ctx;
	CUdevice dev;

	cu_open();
	OK(cuInit(0));
	OK(cuDeviceGet(&dev, 0));
	OK(cuDeviceGetName(name, sizeof(name), dev));
	OK(cuDevicePrimaryCtxRetain(&ctx, dev));
	OK(cuCtxSetCurrent(ctx));
	printf("device: %s\n", name);
	fflush(stdout);
	return ctx;
}

static inline double cu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* The kernels, as PTX. In C++ they would be
 *	__global__ void vectorAdd(const float *a, const float *b, float *c, int n)
 *		{ c[i] = a[i] + b[i]; }
 *	__global__ void saxpy(float a, const float *x, float *y, int n)	{ y[i] += a * x[i]; }
 *	template <class T> __global__ void scale(T *x, T a, int n)	{ x[i] *= a; }
 *	template <class T> __global__ void relu(T *x, int n)		{ x[i] = max(x[i], 0); }
 *	__global__ void busy(unsigned long long cycles)
 *		{ runs until clock64() has advanced by cycles }
 *	__global__ void waitFlag(volatile int *flag)			{ while (!*flag); } */
#define VECTOR_ADD "_Z9vectorAddPKfS0_Pfi"
#define SAXPY "_Z5saxpyfPKfPfi"
#define SCALE "_Z5scaleIfEvPT_S0_i"
#define RELU "_Z4reluIfEvPT_i"
#define BUSY "_Z4busyy"
#define WAIT_FLAG "_Z8waitFlagPVi"

#define PTX_INDEX /* %r1: this thread's index; a thread beyond n returns */                        \
	"	.reg .pred %p<2>;\n	.reg .b32 %r<5>;\n	.reg .f32 %f<5>;\n	.reg .b64 %d<6>;\n"            \
	"	mov.u32 %r2, %ctaid.x;\n	mov.u32 %r3, %ntid.x;\n	mov.u32 %r4, %tid.x;\n"                 \
	"	mad.lo.s32 %r1, %r2, %r3, %r4;\n	ld.param.u32 %r2, [n];\n	setp.ge.s32 %p1, %r1, %r2;\n"  \
	"	@%p1 bra done;\n	mul.wide.s32 %d1, %r1, 4;\n"
#define PTX_POINT(reg, param)                                                                      \
	"	ld.param.u64 " reg ", [" param "];\n	cvta.to.global.u64 " reg ", " reg          \
	";\n	add.s64 " reg ", " reg ", %d1;\n"
static const char cu_ptx[] =
	".version 6.0\n.target sm_50\n.address_size 64\n"
	".visible .entry " VECTOR_ADD
	"(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n" PTX_INDEX PTX_POINT(
		"%d2", "a") PTX_POINT("%d3", "b") PTX_POINT("%d4",
		"c") "	ld.global.f32 %f1, [%d2];\n	ld.global.f32 %f2, [%d3];\n	add.f32 %f3, %f1, %f2;\n"
		     "	st.global.f32 [%d4], %f3;\ndone:\n	ret;\n}\n"
		     ".visible .entry " SAXPY
		     "(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)\n{\n" PTX_INDEX PTX_POINT(
			     "%d2", "x") PTX_POINT("%d3",
			     "y") "	ld.param.f32 %f1, [a];\n	ld.global.f32 %f2, [%d2];\n	ld.global.f32 %f3, [%d3];\n"
				  "	fma.rn.f32 %f4, %f1, %f2, %f3;\n	st.global.f32 [%d3], %f4;\ndone:\n	ret;\n}\n"
				  ".visible .entry " SCALE
				  "(.param .u64 x, .param .f32 a, .param .u32 n)\n{\n" PTX_INDEX PTX_POINT(
					  "%d2",
					  "x") "	ld.param.f32 %f1, [a];\n	ld.global.f32 %f2, [%d2];\n	mul.f32 %f3, %f1, %f2;\n"
					       "	st.global.f32 [%d2], %f3;\ndone:\n	ret;\n}\n"
					       ".visible .entry " RELU
					       "(.param .u64 x, .param .u32 n)\n{\n" PTX_INDEX PTX_POINT(
						       "%d2",
						       "x") "	ld.global.f32 %f1, [%d2];\n	mov.f32 %f2, 0f00000000;\n	max.f32 %f3, %f1, %f2;\n"
							    "	st.global.f32 [%d2], %f3;\ndone:\n	ret;\n}\n"
							    ".visible .entry " BUSY
							    "(.param .u64 cycles)\n{\n"
							    "	.reg .pred %p<2>;\n	.reg .b64 %d<5>;\n	ld.param.u64 %d1, [cycles];\n	mov.u64 %d2, %clock64;\n"
							    "again:\n	mov.u64 %d3, %clock64;\n	sub.s64 %d4, %d3, %d2;\n	setp.lt.u64 %p1, %d4, %d1;\n"
							    "	@%p1 bra again;\n	ret;\n}\n"
							    ".visible .entry " WAIT_FLAG
							    "(.param .u64 flag)\n{\n"
							    "	.reg .pred %p<2>;\n	.reg .b32 %r<2>;\n	.reg .b64 %d<2>;\n	ld.param.u64 %d1, [flag];\n"
							    "	cvta.to.global.u64 %d1, %d1;\nagain:\n	ld.volatile.global.u32 %r1, [%d1];\n	setp.eq.s32 %p1, %r1, 0;\n"
							    "	@%p1 bra again;\n	ret;\n}\n";

static inline CUfunction cu_kernel(CUmodule m, const char *name)
{
	CUfunction f;

	OK(cuModuleGetFunction(&f, m, name));
	return f;
}

/* LAUNCH(f, threads, stream, &arg, ...): blocks of 256 threads. */
#define LAUNCH(f, threads, stream, ...)                                                            \
	OK(cuLaunchKernel(f, ((threads) + 255) / 256, 1, 1, 256, 1, 1, 0, stream,                  \
		(void *[]){ __VA_ARGS__ }, NULL))
#endif
