/* When does CUPTI deliver records of finished kernels while a kernel that was launched before them,
 * on another stream, still runs?
 * cupti_held LIBCUPTI [-m RECORDS] [-o 1] [-b 1] [-f 1] [-a ATTRIBUTE=VALUE]...
 *	-m	maximum number of records in a buffer
 *	-o	another thread launches the long kernel
 *	-b	the long kernel is launched after the short ones
 *	-f	after one second the client also requests incomplete records
 *	-a	CUPTI's attributes (CUpti_ActivityAttribute; 0: bytes of a buffer on the device,
 *		2: how many there may be, 8: in the host's memory, 9: one buffer per thread)
 * The long kernel waits for a flag that is set after two seconds; five short ones run after it and
 * are waited for. Buffers are flushed every 50 ms. Prints how many records of the five were
 * delivered before the flag was set, when, how many after it, and whether the long kernel's record
 * has times. */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <pthread.h>
#include <stdbool.h>
#include "collect/guest/cupti/cupti_layout.h"

static struct gt_cupti cupti;
static uint8_t buffers[256][65536] __attribute__((aligned(8)));
static int given;
static size_t most;
static volatile int short_ones, long_ones, long_untimed;
static CUcontext ctx;
static CUfunction relu, wait_flag;
static CUdeviceptr flag_at;
static int *flag;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void requested(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = buffers[__atomic_fetch_add(&given, 1, __ATOMIC_RELAXED) % 256];
	memset(*buffer, 0, sizeof(*buffers));
	*size = sizeof(*buffers);
	*records = most;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	const char *name;
	uint8_t *r = NULL;
	uint64_t times[2];
	uint32_t kind;

	(void)context, (void)stream, (void)size;
	while (!cupti.next(buffer, valid, &r)) {
		memcpy(&kind, r, 4);
		if (kind != GT_CUPTI_KERNEL)
			continue;
		memcpy(&name, r + GT_K_NAME, sizeof(name));
		memcpy(times, r + GT_K_START, sizeof(times));
		if (name && !strcmp(name, WAIT_FLAG)) {
			long_untimed += !times[0] || !times[1];
			long_ones++;
		} else {
			short_ones++;
		}
	}
}

static void *launch_long(void *arg)
{
	CUstream s;

	OK(cuCtxSetCurrent(ctx));
	OK(cuStreamCreate(&s, 1));
	OK(cuLaunchKernel(wait_flag, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){ &flag_at }, NULL));
	return arg;
}

static void set_attribute(const char *text)
{
	const char *value = strchr(text, '=');
	uint64_t v = value ? strtoull(value + 1, NULL, 0) : 0;
	int attribute = atoi(text);
	size_t size = attribute == 8 || attribute == 9 ? 1 : sizeof(size_t);

	printf("attribute %s: %d\n", text, cupti.set_attribute(attribute, &size, &v));
}

static void find_cupti(void *lib)
{
#define F(field, function) *(void **)&field = dlsym(lib, #function)
	F(cupti.callbacks, cuptiActivityRegisterCallbacks), F(cupti.enable, cuptiActivityEnable),
		F(cupti.flush, cuptiActivityFlushAll);
	F(cupti.next, cuptiActivityGetNextRecord),
		F(cupti.set_attribute, cuptiActivitySetAttribute);
#undef F
}

static void start_cupti(int argc, char **argv)
{
	uint8_t yes = 1;
	size_t size = 1;

	OK(cupti.callbacks(requested, completed));
	OK(cupti.set_attribute(GT_CUPTI_ZEROED_BUFFERS, &size, &yes));
	for (int i = 2; i + 1 < argc; i += 2)
		if (!strcmp(argv[i], "-a"))
			set_attribute(argv[i + 1]);
	OK(cupti.enable(GT_CUPTI_KERNEL));
}

static void launch_all(bool other, bool behind)
{
	int count = 1;
	pthread_t thread;
	CUdeviceptr x;
	CUstream s;

	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&x, 4));
	/* the very first launch takes longer */
	OK(cuLaunchKernel(relu, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){ &x, &count }, NULL));
	OK(cuCtxSynchronize());
	usleep(200000);
	OK(cupti.flush(0));
	short_ones = 0;
	for (int turn = 0; turn < 2; turn++) {
		if (turn == behind && other)
			pthread_create(&thread, NULL, launch_long, NULL),
				pthread_join(thread, NULL);
		else if (turn == behind)
			launch_long(NULL);
		for (int i = 0; i < 5 && turn != behind; i++)
			OK(cuLaunchKernel(
				relu, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){ &x, &count }, NULL));
	}
	OK(cuStreamSynchronize(s));
}

static void watch(bool force)
{
	uint64_t began = now(), set_at = 0, first = 0;
	int before = 0;

	for (; now() - began < 3000000000u; usleep(50000)) {
		OK(cupti.flush(force && now() - began > 1000000000u && !set_at));
		if (short_ones && !first)
			first = now() - began;
		if (!set_at && now() - began > 2000000000u) {
			before = short_ones;
			set_at = now();
			__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
		}
	}
	printf(": %d of 5 were delivered while the long one ran, the first after %.0f ms; "
	       "%d of 5 and %d of 1 in the end, %d of it without times; "
	       "%d buffers\n",
		before, (double)first / 1e6, short_ones, long_ones, long_untimed, given);
}

int main(int argc, char **argv)
{
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	CUmodule m;

	if (!lib)
		return 2;
	most = (size_t)cu_option(argc, argv, "-m", 0);
	find_cupti(lib);
	cu_open();
	OK(cuInit(0));
	start_cupti(argc, argv);
	ctx = cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	relu = cu_kernel(m, RELU);
	wait_flag = cu_kernel(m, WAIT_FLAG);
	OK(cuMemHostAlloc((void **)&flag, sizeof(*flag), 3));
	OK(cuMemHostGetDevicePointer_v2(&flag_at, flag, 0));
	launch_all(cu_option(argc, argv, "-o", 0), cu_option(argc, argv, "-b", 0));
	for (int i = 2; i < argc; i++)
		printf("%s ", argv[i]);
	watch(cu_option(argc, argv, "-f", 0));
	fflush(stdout);
	_exit(0);
}
