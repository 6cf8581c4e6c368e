/* Does CUPTI deliver records of driver calls that are enabled late? cupti_late LIBCUPTI BEFORE WAY
 * [LAUNCHES]. Kernels are enabled first. BEFORE says when the driver calls that create GPU work are
 * enabled (formats/cuda/cuda_api_cbid.h):
 *	early		before the first context, disabled after it
 *	late		not at all
 *	profiler	early; then a profiler enables and disables the kinds of runtime and driver
 *			calls
 *	profilerfew	the same, but the profiler enables driver calls one by one, and disables the
 *			kind
 * Then WAY says how they are enabled again: single (one by one), off (off, then one by one), kind
 * (the kind on, and all other calls off one by one), kindoff (the kind on and off, then one by
 * one), runtime (the kind of runtime calls on and off, then one by one), callback (a subscriber
 * with a callback at one call, then one by one), callbackoff (the same, but it unsubscribes first),
 * kindrun (the kind, all other calls off, the runtime's kind on and off), runkind (the runtime's
 * kind first), callbacks (no records, but callbacks at those calls). Then come LAUNCHES (100)
 * launches, other calls, and as many sets through the runtime (libcudart.so.13, if it is
 * installed). Prints the number of records, and whose correlation ids the sets have: "BEFORE WAY: L
 * launches K kernels D driver O other R runtime; S sets, with a driver call's number N, with a
 * runtime call's M". */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <stdbool.h>
#include "collect/guest/cupti/cupti_layout.h"
#include "formats/cuda/cuda_api_cbid.h"

static const char empty_ptx[] =
	".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n	ret;\n}\n";
static struct gt_cupti cupti;
static int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *),
	(*unsubscribe)(void *);
static int (*enable_callback)(uint32_t, void *, int, uint32_t);
static uint8_t buffers[64][65536] __attribute__((aligned(8)));
static int given;
static uint64_t kernels, launches, others, runtimes, sets;
static uint8_t ids[1 << 20]; /* flags by correlation id: DRIVER, RUNTIME, SET */
enum { DRIVER = 1, RUNTIME = 2, SET = 4 };
static bool by_callback;
static uint32_t launch_cbid;
static const uint16_t calls[] = {
#define X(cbid, name) cbid,
	GT_CBIDS(X)
#undef X
};
static const char *const names[] = {
#define X(cbid, name) #name,
	GT_CBIDS(X)
#undef X
};
#define CALLS (sizeof(calls) / sizeof(*calls))

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = buffers[__atomic_fetch_add(&given, 1, __ATOMIC_RELAXED) % 64];
	memset(*buffer, 0, sizeof(*buffers));
	*size = sizeof(*buffers);
	*most = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint8_t *r = NULL;
	uint32_t kind, cbid, id;

	(void)context, (void)stream, (void)size;
	while (!cupti.next(buffer, valid, &r)) {
		memcpy(&kind, r, 4);
		memcpy(&cbid, r + GT_A_CBID, 4);
		kernels += kind == GT_CUPTI_KERNEL;
		launches += kind == GT_CUPTI_DRIVER && cbid == launch_cbid;
		others += kind == GT_CUPTI_DRIVER && cbid != launch_cbid;
		runtimes += kind == GT_CUPTI_RUNTIME;
		sets += kind == GT_CUPTI_MEMSET;
		memcpy(&id, r + (kind == GT_CUPTI_MEMSET ? GT_C_CORRELATION : GT_A_CORRELATION), 4);
		ids[id % sizeof(ids)] |= kind == GT_CUPTI_DRIVER ? DRIVER
			: kind == GT_CUPTI_RUNTIME               ? RUNTIME
			: kind == GT_CUPTI_MEMSET                ? SET
								 : 0;
	}
}

static void called(void *user, int domain, uint32_t cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid;
	if (by_callback)
		ids[((const struct gt_cupti_call *)data)->correlation % sizeof(ids)] |= DRIVER;
}

static void one_by_one(bool on)
{
	for (size_t i = 0; i < CALLS; i++)
		OK(cupti.enable_driver_call(calls[i], on));
}

static bool is_work_call(uint32_t cbid)
{
	for (size_t i = 0; i < CALLS; i++)
		if (calls[i] == cbid)
			return true;
	return false;
}

static int (*set)(void *at, int value, size_t bytes, void *stream); /* cudaMemsetAsync */
static void *block;

static void launch(CUfunction empty, int n)
{
	void *at;

	for (int i = 0; i < n; i++) {
		OK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
		OK(cuMemAllocHost_v2(&at, 64));
		OK(cuMemFreeHost(at));
	}
	for (int i = 0; set && i < n; i++)
		OK(set(block, 0, 4096, NULL));
	OK(cuCtxSynchronize());
}

static void profile(CUfunction empty, bool few)
{
	one_by_one(false); /* as a tool that detaches for a profiler */
	OK(cupti.disable(GT_CUPTI_KERNEL));
	OK(cupti.flush(1));
	OK(cupti.enable(GT_CUPTI_KERNEL));
	OK(cupti.enable(GT_CUPTI_RUNTIME));
	if (few)
		OK(cupti.enable_driver_call(launch_cbid, 1));
	else
		OK(cupti.enable(GT_CUPTI_DRIVER));
	launch(empty, 20);
	OK(cupti.disable(GT_CUPTI_RUNTIME));
	OK(cupti.disable(GT_CUPTI_DRIVER));
	OK(cupti.disable(GT_CUPTI_KERNEL));
	OK(cupti.flush(1));
	OK(cupti.enable(GT_CUPTI_KERNEL));
}

static void enable_again(const char *way)
{
	bool kind = !strcmp(way, "kind") || !strcmp(way, "kindrun") || !strcmp(way, "runkind");
	void *s = NULL;

	if (!strcmp(way, "runkind")) {
		OK(cupti.enable(GT_CUPTI_RUNTIME));
		OK(cupti.disable(GT_CUPTI_RUNTIME));
	}
	if (!strcmp(way, "off"))
		one_by_one(false);
	if (kind || !strcmp(way, "kindoff"))
		OK(cupti.enable(GT_CUPTI_DRIVER));
	if (kind)
		for (uint32_t cbid = 1;
			cbid < 1000 && (is_work_call(cbid) || !cupti.enable_driver_call(cbid, 0));)
			cbid++;
	if (!strcmp(way, "kindoff"))
		OK(cupti.disable(GT_CUPTI_DRIVER));
	if (!strcmp(way, "runtime") || !strcmp(way, "kindrun")) {
		OK(cupti.enable(GT_CUPTI_RUNTIME));
		OK(cupti.disable(GT_CUPTI_RUNTIME));
	}
	if (strstr(way, "callback")) {
		OK(subscribe(&s, called, NULL));
		OK(enable_callback(1, s, GT_CUPTI_DRIVER_CALLS, launch_cbid));
	}
	if (!strcmp(way, "callbackoff"))
		OK(unsubscribe(s));
	by_callback = !strcmp(way, "callbacks");
	for (size_t i = 0; by_callback && i < CALLS; i++)
		OK(enable_callback(1, s, GT_CUPTI_DRIVER_CALLS, calls[i]));
	if (!kind && !by_callback)
		one_by_one(true);
}

int main(int argc, char **argv)
{
	void *lib = argc > 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const char *before = argc > 3 ? argv[2] : "";
	int n = argc > 4 ? atoi(argv[4]) : 100;
	uint8_t yes = 1;
	size_t size = 1;
	int with[8] = { 0 }, (*alloc)(void **, size_t);
	CUfunction empty;
	void *runtime;
	CUmodule m;

	if (!lib)
		return 2;
#define F(field, function) *(void **)&field = dlsym(lib, #function)
	F(cupti.callbacks, cuptiActivityRegisterCallbacks), F(cupti.enable, cuptiActivityEnable),
		F(cupti.disable, cuptiActivityDisable);
	F(cupti.enable_driver_call, cuptiActivityEnableDriverApi),
		F(cupti.flush, cuptiActivityFlushAll), F(cupti.next, cuptiActivityGetNextRecord);
	F(cupti.set_attribute, cuptiActivitySetAttribute), F(subscribe, cuptiSubscribe),
		F(enable_callback, cuptiEnableCallback);
	F(unsubscribe, cuptiUnsubscribe);
#undef F
	for (size_t i = 0; i < CALLS; i++)
		if (!strcmp(names[i], "cuLaunchKernel"))
			launch_cbid = calls[i];
	cu_open();
	OK(cuInit(0));
	OK(cupti.callbacks(requested, completed));
	OK(cupti.set_attribute(GT_CUPTI_ZEROED_BUFFERS, &size, &yes));
	if (strcmp(before, "late"))
		one_by_one(true);
	OK(cupti.enable(GT_CUPTI_KERNEL));
	OK(cupti.enable(GT_CUPTI_MEMSET));
	cu_start();
	OK(cuModuleLoadData(&m, empty_ptx));
	empty = cu_kernel(m, "empty");
	if ((runtime = dlopen("libcudart.so.13", RTLD_NOW)) &&
		(*(void **)&alloc = dlsym(runtime, "cudaMalloc")) && !alloc(&block, 4096))
		*(void **)&set = dlsym(runtime, "cudaMemsetAsync");
	launch(empty, 20);
	if (!strncmp(before, "profiler", 8))
		profile(empty, !strcmp(before, "profilerfew"));
	else if (strcmp(before, "late"))
		one_by_one(false);
	OK(cupti.flush(1));
	usleep(100000);
	kernels = launches = others = runtimes = sets = 0;
	memset(ids, 0, sizeof(ids));
	enable_again(argv[3]);
	launch(empty, n);
	OK(cupti.flush(1));
	usleep(50000);
	for (size_t i = 0; i < sizeof(ids); i++)
		with[ids[i]]++;
	printf("%s %s: %d launches %d kernels %d driver %d other %d runtime; %d sets, with a driver call's number %d, with a runtime "
	       "call's %d\n",
		before, argv[3], n, (int)kernels, (int)launches, (int)others, (int)runtimes,
		(int)sets, with[SET | DRIVER] + with[SET | DRIVER | RUNTIME],
		with[SET | RUNTIME] + with[SET | DRIVER | RUNTIME]);
	return 0;
}
