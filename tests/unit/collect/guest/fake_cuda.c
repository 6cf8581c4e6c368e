/* A small libcuda.so.1 for tests of the guest: the return value of each function identifies it,
 * or the function does the minimum that the test needs. FAKE_ID(name) is a number that no driver
 * returns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>
#include <stdio.h>

#define API __attribute__((visibility("default")))
static uint64_t functions[64];
static jmp_buf *jump;
API void fake_set_jump(jmp_buf *to) { jump = to; }
static int (*hook)(void *);
API void fake_set_hook(int (*to)(void *)) { hook = to; }

API int cuInit(unsigned flags) { return 0; }
API int cuDriverGetVersion(int *v)
{
	*v = 13000;
	return 0;
}
API __attribute__((noinline)) int cuCtxGetCurrent(void **ctx)
{
	*ctx = (void *)0x77;
	return 0;
}
API int cuCtxGetDevice(int *device)
{
	*device = 3;
	return 0;
}
API int cuMemAlloc(unsigned *p, unsigned n)
{
	*p = 32;
	return 0;
}
API int cuMemAlloc_v2(uint64_t *p, size_t n)
{
	if (n > 1u << 30)
		return 2;
	*p = 0x700000000000 + n;
	return 0;
}
API int cuMemFree_v2(uint64_t p) { return 0; }
API int cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t n) { return 0; }
API int cuMemcpyHtoD_v2_ptds(uint64_t dst, const void *src, size_t n) { return 0; }
API int cuMemsetD32_v2(uint64_t dst, unsigned v, size_t n) { return v; }
API int cuMemcpy2D_v2(const void *p) { return 0; }
API int cuModuleGetFunction(void **f, void *module, const char *name)
{
	if (!strcmp(name, "missing"))
		return 500;
	*f = &functions[name[strlen(name) - 1] & 31];
	return 0;
}
API int cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	*kernel = &functions[40];
	return 0;
}
API int cuKernelGetFunction(void **f, void *kernel)
{
	*f = &functions[(uint64_t *)kernel - functions + 1];
	return 0;
}
API int cuKernelGetName(const char **name, void *kernel)
{
	*name = "_Z6listedv";
	return kernel != &functions[50];
}
API int cuLibraryGetKernelCount(unsigned *n, void *library)
{
	*n = 1;
	return 0;
}
API int cuLibraryEnumerateKernels(void **kernels, unsigned n, void *library)
{
	kernels[0] = &functions[50];
	return 0;
}
API int cuFuncGetName(const char **name, void *f)
{
	*name = "_Z5askedv";
	return 0;
}
API int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	return gx == 1 && gz == 3 && bz == 6 && shared == 7 && params == (void **)0x9 &&
			extra == (void **)0xa
		? 0
		: 1;
}
API int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
	unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	return 0;
}
API int cuLaunchKernelEx(const void *config, void *f, void **params, void **extra) { return 0; }
API int cuParamSetf(void *f, int offset, float value) { return value == 1.5f ? 0 : 1; }
struct handle {
	char bytes[64];
};
API int cuIpcOpenMemHandle_v2(uint64_t *p, struct handle h, unsigned flags)
{
	*p = 5;
	return h.bytes[63] == 63 && flags == 1 ? 0 : 1;
}
API int cuStreamSynchronize(void *stream)
{
	if (stream == (void *)0x51)
		pause();
	return 0;
}
API int cuCtxSynchronize(void)
{
	if (jump)
		longjmp(*jump, 1);
	return hook ? hook(NULL) : 0;
}
API int cuLaunchHostFunc(void *stream, int (*fn)(void *), void *arg) { return fn(arg); }
API int cuLaunchHostFunc_ptsz(void *stream, int (*fn)(void *), void *arg) { return fn(arg); }
API int cuProfilerStart(void) { return 0; }
API int cuProfilerStop(void) { return 0; }
API int cuFakeBrandNew(int x) { return x + 1; }
API int cuMemAlloc_v9(uint64_t *p, size_t n) { return 99; } /* newer than any table */

/* The driver's own file: an ioctl that the kernel does not know, as the simulator makes them. */
API int cuDeviceGetCount(int *n)
{
	struct {
		uint32_t client, object, cmd, flags;
		uint64_t params;
		uint32_t size, status;
	} control = { 1, 2, 0x20800110, 0, 0, 0, 0x1f };
	char path[40];
	int memory = memfd_create("sim:nvidiactl", MFD_CLOEXEC), fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ioctl(fd, 0xc020462a, &control);
	close(fd);
	close(memory);
	*n = 1;
	return 0;
}

/* Look-ups from inside the driver must not find the wrappers. */
API int cuDeviceGet(int *device, int ordinal)
{
	void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	*device = dlsym(self, "cuInit") == (void *)cuInit ||
		dlsym(self, "cuInit") == dlsym(self, "cuInit");
	return dlsym(self, "cuMemFree_v2") && ((int (*)(unsigned))dlsym(self, "cuInit"))(0);
}

static const struct {
	const char *base;
	int since;
	int per_thread;
	void *function;
} table[] = {
	{ "cuInit", 2000, 0, (void *)cuInit },
	{ "cuMemAlloc", 2000, 0, (void *)cuMemAlloc },
	{ "cuMemAlloc", 3020, 0, (void *)cuMemAlloc_v2 },
	{ "cuMemAlloc", 13050, 0, (void *)cuMemAlloc_v9 },
	{ "cuMemFree", 3020, 0, (void *)cuMemFree_v2 },
	{ "cuMemcpyHtoD", 3020, 0, (void *)cuMemcpyHtoD_v2 },
	{ "cuMemcpyHtoD", 7000, 1, (void *)cuMemcpyHtoD_v2_ptds },
	{ "cuLaunchKernel", 4000, 0, (void *)cuLaunchKernel },
	{ "cuLaunchKernel", 7000, 1, (void *)cuLaunchKernel_ptsz },
	{ "cuCtxGetCurrent", 4000, 0, (void *)cuCtxGetCurrent },
	{ "cuFakeBrandNew", 13000, 0, (void *)cuFakeBrandNew },
};
API int cuGetProcAddress_v2(
	const char *name, void **function, int version, uint64_t flags, int *status);
API int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
	int best = -1;

	for (int i = 0; i < (int)(sizeof(table) / sizeof(*table)); i++)
		if (!strcmp(table[i].base, name) && table[i].since <= version &&
			(!table[i].per_thread || flags & 2) &&
			(best < 0 || table[i].per_thread > table[best].per_thread ||
				table[i].since > table[best].since))
			best = i;
	if (!strcmp(name, "cuGetProcAddress"))
		*function =
			version >= 12000 ? (void *)cuGetProcAddress_v2 : (void *)cuGetProcAddress;
	else if (best < 0)
		return *function = NULL, 500;
	else
		*function = table[best].function;
	return 0;
}
API int cuGetProcAddress_v2(
	const char *name, void **function, int version, uint64_t flags, int *status)
{
	int rc = cuGetProcAddress(name, function, version, flags);

	if (status)
		*status = rc ? 1 : 0;
	return rc;
}
