/* A program that makes allocations of each kind, on two devices, from two threads, and frees
 * some of them. tests/cli/collect/memory.sh knows how much it holds at its peak and at its end.
 * "many": makes a hundred thousand pairs instead. */
#define _GNU_SOURCE
#include <pthread.h>
#include "samples/cu.h"

#define MIB (1ull << 20)

static void *library;
#define CALL(name, params, ...) OK(((int(*) params)dlsym(library, #name))(__VA_ARGS__))

struct prop {
	int type, handles, location, device;
	void *win32;
	uint64_t flags;
};

static CUcontext context(int device)
{
	CUcontext c;

	OK(cuDevicePrimaryCtxRetain(&c, device));
	OK(cuCtxSetCurrent(c));
	return c;
}

/* Released when it is mapped, as some do: it is there until it is unmapped. */
static void mapped(int device)
{
	struct prop prop = { .type = 1, .location = 1, .device = device };
	uint64_t handle, at;

	CALL(cuMemCreate, (uint64_t *, size_t, struct prop *, uint64_t), &handle, 4 * MIB, &prop,
		0);
	CALL(cuMemAddressReserve, (uint64_t *, size_t, size_t, uint64_t, uint64_t), &at, 4 * MIB, 0,
		0, 0);
	CALL(cuMemMap, (uint64_t, size_t, size_t, uint64_t, uint64_t), at, 4 * MIB, 0, handle, 0);
	CALL(cuMemRelease, (uint64_t), handle);
	usleep(30000);
	CALL(cuMemUnmap, (uint64_t, size_t), at, 4 * MIB);
	CALL(cuMemAddressFree, (uint64_t, size_t), at, 4 * MIB);
}

static void *other_thread(void *arg)
{
	CUdeviceptr a;

	context(1);
	OK(cuMemAlloc_v2(&a, 3 * MIB));
	mapped(1);
	return arg;
}

static void of_all_kinds(void)
{
	static char mine[4096] __attribute__((aligned(4096)));
	CUdeviceptr a, b, pool, managed;
	pthread_t t;
	CUstream s;
	void *host;

	context(0);
	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&a, MIB));
	OK(cuMemAlloc_v2(&b, 2 * MIB));
	CALL(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), &pool, 5 * MIB, s);
	CALL(cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned), &managed, 6 * MIB, 1);
	OK(cuMemHostAlloc(&host, 7 * MIB, 0));
	CALL(cuMemHostRegister_v2, (void *, size_t, unsigned), mine, sizeof(mine), 0);
	pthread_create(&t, NULL, other_thread, NULL);
	pthread_join(t, NULL);
	CALL(cuMemHostUnregister, (void *), mine);
	CALL(cuMemFreeAsync, (CUdeviceptr, CUstream), pool, s);
	OK(cuMemFree_v2(managed));
	OK(cuMemFree_v2(b));
	OK(cuStreamSynchronize(s));
}

int main(int argc, char **argv)
{
	CUdeviceptr a;

	cu_start();
	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (argc > 1 && !strcmp(argv[1], "many")) {
		for (int i = 0; i < 100000; i++) {
			OK(cuMemAlloc_v2(&a, (size_t)(i % 7 + 1) * 4096));
			OK(cuMemFree_v2(a));
		}
		return 0;
	}
	of_all_kinds();
	return 0;
}
