/* Finds its entry points as the CUDA runtime does: dlopen, dlsym for cuGetProcAddress_v2 only, a
 * query for the empty name, then one query per function with a base name, the version of its ABI,
 * and a default-stream flag (0 or 2).
 * Expected: calls are recorded under their own names (cuMemAlloc_v2, cuLaunchKernel_ptsz, ...),
 * although the program never requests these symbols.
 * Prints the number of entry points found. Usage: resolve [-v]. */
#define _GNU_SOURCE
#include "samples/cu.h"

typedef CUresult (*resolver)(const char *name, void **fn, int version, uint64_t flags, int *status);
static const struct {
	const char *name;
	int version, flags;
} names[] = {
	{ "cuGetErrorString", 6000, 0 },
	{ "cuGetErrorName", 6000, 0 },
	{ "cuInit", 2000, 0 },
	{ "cuDriverGetVersion", 2020, 0 },
	{ "cuDeviceGet", 2000, 0 },
	{ "cuDeviceGetCount", 2000, 0 },
	{ "cuDeviceGetName", 2000, 0 },
	{ "cuDeviceTotalMem", 3020, 0 },
	{ "cuDeviceGetAttribute", 2000, 0 },
	{ "cuDeviceGetUuid", 11040, 0 },
	{ "cuDeviceGetPCIBusId", 4010, 0 },
	{ "cuDeviceGetByPCIBusId", 4010, 0 },
	{ "cuDeviceCanAccessPeer", 4000, 0 },
	{ "cuDeviceGetDefaultMemPool", 11020, 0 },
	{ "cuDevicePrimaryCtxRetain", 7000, 0 },
	{ "cuDevicePrimaryCtxRelease", 11000, 0 },
	{ "cuDevicePrimaryCtxReset", 11000, 0 },
	{ "cuDevicePrimaryCtxSetFlags", 11000, 0 },
	{ "cuDevicePrimaryCtxGetState", 7000, 0 },
	{ "cuCtxGetCurrent", 4000, 0 },
	{ "cuCtxSetCurrent", 4000, 0 },
	{ "cuCtxPushCurrent", 4000, 0 },
	{ "cuCtxPopCurrent", 4000, 0 },
	{ "cuCtxGetDevice", 2000, 0 },
	{ "cuCtxSynchronize", 2000, 0 },
	{ "cuCtxGetLimit", 3010, 0 },
	{ "cuCtxSetLimit", 3010, 0 },
	{ "cuCtxGetApiVersion", 3020, 0 },
	{ "cuModuleLoadData", 2000, 0 },
	{ "cuModuleLoadDataEx", 2010, 0 },
	{ "cuModuleUnload", 2000, 0 },
	{ "cuModuleGetFunction", 2000, 0 },
	{ "cuModuleGetGlobal", 3020, 0 },
	{ "cuLibraryLoadData", 12000, 0 },
	{ "cuLibraryUnload", 12000, 0 },
	{ "cuLibraryGetKernel", 12000, 0 },
	{ "cuKernelGetFunction", 12000, 0 },
	{ "cuMemGetInfo", 3020, 0 },
	{ "cuMemAlloc", 3020, 0 },
	{ "cuMemAllocPitch", 3020, 0 },
	{ "cuMemFree", 3020, 0 },
	{ "cuMemAllocHost", 3020, 0 },
	{ "cuMemFreeHost", 2000, 0 },
	{ "cuMemHostAlloc", 2020, 0 },
	{ "cuMemHostRegister", 6050, 0 },
	{ "cuMemHostUnregister", 4000, 0 },
	{ "cuMemAllocManaged", 6000, 0 },
	{ "cuPointerGetAttributes", 7000, 0 },
	{ "cuMemcpy", 4000, 0 },
	{ "cuMemcpy", 7000, 2 },
	{ "cuMemcpyAsync", 4000, 0 },
	{ "cuMemcpyAsync", 7000, 2 },
	{ "cuMemcpyHtoD", 3020, 0 },
	{ "cuMemcpyHtoD", 7000, 2 },
	{ "cuMemcpyDtoH", 3020, 0 },
	{ "cuMemcpyDtoH", 7000, 2 },
	{ "cuMemcpyHtoDAsync", 3020, 0 },
	{ "cuMemcpyHtoDAsync", 7000, 2 },
	{ "cuMemcpyDtoHAsync", 3020, 0 },
	{ "cuMemcpyDtoHAsync", 7000, 2 },
	{ "cuMemsetD8Async", 3020, 0 },
	{ "cuMemsetD8Async", 7000, 2 },
	{ "cuMemsetD32Async", 3020, 0 },
	{ "cuMemsetD32Async", 7000, 2 },
	{ "cuMemAllocAsync", 11020, 0 },
	{ "cuMemAllocAsync", 11020, 2 },
	{ "cuMemFreeAsync", 11020, 0 },
	{ "cuMemFreeAsync", 11020, 2 },
	{ "cuStreamCreateWithPriority", 5050, 0 },
	{ "cuStreamDestroy", 4000, 0 },
	{ "cuStreamSynchronize", 2000, 0 },
	{ "cuStreamSynchronize", 7000, 2 },
	{ "cuStreamQuery", 2000, 0 },
	{ "cuStreamQuery", 7000, 2 },
	{ "cuStreamWaitEvent", 3020, 0 },
	{ "cuStreamWaitEvent", 7000, 2 },
	{ "cuStreamBeginCapture", 10010, 0 },
	{ "cuStreamBeginCapture", 10010, 2 },
	{ "cuEventCreate", 2000, 0 },
	{ "cuEventDestroy", 4000, 0 },
	{ "cuEventRecord", 2000, 0 },
	{ "cuEventRecord", 7000, 2 },
	{ "cuEventSynchronize", 2000, 0 },
	{ "cuEventElapsedTime", 2000, 0 },
	{ "cuFuncGetAttribute", 2020, 0 },
	{ "cuFuncSetAttribute", 9000, 0 },
	{ "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 7000, 0 },
	{ "cuLaunchKernel", 4000, 0 },
	{ "cuLaunchKernel", 7000, 2 },
	{ "cuLaunchKernelEx", 11060, 0 },
	{ "cuLaunchKernelEx", 11060, 2 },
	{ "cuLaunchHostFunc", 10000, 0 },
	{ "cuLaunchHostFunc", 10000, 2 },
	{ "cuGraphInstantiateWithFlags", 11040, 0 },
	{ "cuGraphLaunch", 10000, 0 },
	{ "cuGraphLaunch", 10000, 2 },
	{ "cuProfilerStart", 4000, 0 },
	{ "cuProfilerStop", 4000, 0 },
	{ "cuGetProcAddress", 12000, 0 },
	{ "cuGetExportTable", 3000, 0 },
};
enum { NAMES = sizeof(names) / sizeof(*names) };
static void *found[NAMES];

static int resolve_all(int verbose)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW), *fn;
	resolver resolve = lib ? (resolver)dlsym(lib, "cuGetProcAddress_v2") : NULL;
	int n = 0, status;

	if (!resolve || resolve("", &fn, 0, 0, &status)) {
		fprintf(stderr, "no driver with cuGetProcAddress_v2 here\n");
		exit(1);
	}
	for (int i = 0; i < NAMES; i++) {
		if (resolve(names[i].name, &found[i], names[i].version, names[i].flags, &status))
			found[i] = NULL;
		n += found[i] != NULL;
		if (verbose || !found[i])
			printf("%s %d %d: %s\n", names[i].name, names[i].version, names[i].flags,
				found[i] ? "found" : "missing");
	}
	return n;
}

/* The entry point of a resolved name; the caller casts it to the function's type. */
static void *entry(const char *name, int flags)
{
	for (int i = 0; i < NAMES; i++)
		if (!strcmp(names[i].name, name) && names[i].flags == flags && found[i])
			return found[i];
	fprintf(stderr, "%s was not found\n", name);
	exit(1);
}

#define CALL(name, flags, type, ...)                                                               \
	do {                                                                                       \
		int rc_ = ((CUresult(*) type)entry(name, flags))(__VA_ARGS__);                     \
		if (rc_) {                                                                         \
			fprintf(stderr, "%s: error %d\n", name, rc_);                              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void launch(int flags, CUfunction relu, CUdeviceptr x, int n)
{
	CALL("cuLaunchKernel", flags,
		(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			CUstream, void **, void **),
		relu, n / 256, 1, 1, 256, 1, 1, 0, NULL, (void *[]){ &x, &n }, NULL);
	CALL("cuStreamSynchronize", flags, (CUstream), NULL);
}

int main(int argc, char **argv)
{
	int n = 1 << 12, all = resolve_all(argc > 1 && !strcmp(argv[1], "-v"));
	float *host = calloc(n, sizeof(*host));
	CUcontext ctx;
	CUfunction relu;
	CUdeviceptr x;
	CUmodule m;
	CUdevice dev;

	host[7] = -7, host[8] = 8;
	CALL("cuInit", 0, (unsigned), 0);
	CALL("cuDeviceGet", 0, (CUdevice *, int), &dev, 0);
	CALL("cuDevicePrimaryCtxRetain", 0, (CUcontext *, CUdevice), &ctx, dev);
	CALL("cuCtxSetCurrent", 0, (CUcontext), ctx);
	CALL("cuModuleLoadData", 0, (CUmodule *, const void *), &m, cu_ptx);
	CALL("cuModuleGetFunction", 0, (CUfunction *, CUmodule, const char *), &relu, m, RELU);
	CALL("cuMemAlloc", 0, (CUdeviceptr *, size_t), &x, n * sizeof(*host));
	for (int flags = 0; flags <= 2; flags += 2) {
		CALL("cuMemcpyHtoD", flags, (CUdeviceptr, const void *, size_t), x, host,
			n * sizeof(*host));
		launch(flags, relu, x, n);
		CALL("cuMemcpyDtoH", flags, (void *, CUdeviceptr, size_t), host, x,
			n * sizeof(*host));
	}
	CALL("cuMemFree", 0, (CUdeviceptr), x);
	CALL("cuModuleUnload", 0, (CUmodule), m);
	CALL("cuDevicePrimaryCtxRelease", 0, (CUdevice), dev);
	printf("%d of %d entry points found; relu(-7) = %g, relu(8) = %g\n", all, NAMES, host[7],
		host[8]);
	n = host[7] != 0 || host[8] != 8;
	free(host);
	return n;
}
