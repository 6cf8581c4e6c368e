/* CUDA events of the guest (collect/guest/events/guest_event_timing.c) inside this program, on
 * the simulated driver, where a test can stop at any moment: for example, a capture begins while
 * an event is being recorded on the legacy stream, and the reverse. */
#include "tests/unit/collect/guest/guest_host.h"
#include "collect/guest/core/guest_resolve.h"
#include "collect/guest/events/guest_events_internal.h"
#include "tests/unit/t.h"
#include <dlfcn.h>

extern const char *gt_hosted_session;

static struct host host;
static void *driver, *module;
static uint64_t kernel, context;
static int32_t (*real_record)(uint64_t, uint64_t);
static int (*real_begin)(uint64_t, int);
/* recorded: in the legacy stream, in others */
static int recorded[2], hold_record, hold_begin, in_record, in_begin, met;
static int64_t out_of_record; /* since when, ms */

/* .visible .entry _Z4busyy(cycles): the simulator gives it a duration */
static const char ptx[] =
	".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry _Z4busyy(.param .u64 cycles)\n{\n	ret;\n}\n";

#define MS_MOST 60000             /* limit of a wait for an expected event */
#define TRIES_MOST (MS_MOST * 20) /* for the lock */

static void hold(const int *flag)
{
	for (int i = 0; i < MS_MOST && __atomic_load_n(flag, __ATOMIC_SEQ_CST); i++)
		usleep(1000);
}

static void until(const int *flag)
{
	for (int i = 0; i < MS_MOST && !__atomic_load_n(flag, __ATOMIC_SEQ_CST); i++)
		usleep(1000);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static int32_t record(uint64_t event, uint64_t stream)
{
	int32_t rc;

	__atomic_add_fetch(&recorded[stream != LEGACY], 1, __ATOMIC_SEQ_CST);
	if (stream == LEGACY) {
		__atomic_store_n(&in_record, 1, __ATOMIC_SEQ_CST);
		hold(&hold_record);
	}
	rc = real_record(event, stream);
	if (stream == LEGACY) {
		__atomic_store_n(&in_record, 0, __ATOMIC_SEQ_CST);
		out_of_record = now_ms();
	}
	return rc;
}

static int begin(uint64_t stream, int mode)
{
	__atomic_store_n(&in_begin, 1, __ATOMIC_SEQ_CST);
	met |= __atomic_load_n(&in_record, __ATOMIC_SEQ_CST);
	hold(&hold_begin);
	return real_begin(stream, mode);
}

static void *find(const char *name)
{
	uint32_t id = gt_api_find(name);

	gt_real[id] = dlsym(driver, name);
	return gt_wrapper[id];
}

static int launch(uint64_t stream)
{
	uint64_t cycles = 1000;
	void *params[] = { &cycles };

	return ((int (*)(uint64_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		unsigned, uint64_t, void **, void **))find("cuLaunchKernel"))(
		kernel, 3, 2, 1, 64, 1, 1, 0, stream, params, NULL);
}

static int launch_in_new_module(void)
{
	uint64_t before = kernel;
	void *m;
	int rc = ((int (*)(void **, const void *))find("cuModuleLoadData"))(&m, ptx) ||
		((int (*)(uint64_t *, void *, const char *))find("cuModuleGetFunction"))(
			&kernel, m, "_Z4busyy") ||
		launch(0);

	kernel = before;
	return rc;
}

static bool started(void)
{
	static char directory[120];
	char path[3000] = "", *slash;
	ssize_t n = readlink("/proc/self/exe", path, 2900);
	int (*init)(unsigned), (*retain)(uint64_t *, int), (*set)(uint64_t),
		(*load)(void **, const void *);
	int (*get)(uint64_t *, void *, const char *);

	if (driver || n < 0)
		return driver;
	for (int i = 0; i < 2 && (slash = strrchr(path, '/')); i++)
		*slash = 0;
	strcat(path, "/sim/libcuda.so.1");
	driver = dlopen(path, RTLD_NOW);
	host_open(&host, NULL, 64, 1000, 4096);
	snprintf(directory, sizeof(directory), "%s:", host.dir);
	gt_hosted_session = directory;
	host.s->args = GT_ARGS_KEY;
	if (!driver)
		return false;
	init = (int (*)(unsigned))find("cuInit");
	retain = (int (*)(uint64_t *, int))find("cuDevicePrimaryCtxRetain");
	set = (int (*)(uint64_t))find("cuCtxSetCurrent");
	load = (int (*)(void **, const void *))find("cuModuleLoadData");
	get = (int (*)(uint64_t *, void *, const char *))find("cuModuleGetFunction");
	if (init(0) || retain(&context, 0) || set(context) || load(&module, ptx) ||
		get(&kernel, module, "_Z4busyy") || !gt_events_start("test"))
		return false;
	real_record = gt_cu.record;
	gt_cu.record = record;
	return true;
}

static int wait_for_all(void) { return ((int (*)(void))find("cuCtxSynchronize"))(); }

static const struct seen *next_of(unsigned kind, unsigned id, size_t *i)
{
	for (; *i < host.nseen; ++*i)
		if (host.seen[*i].kind == kind && host.seen[*i].id == id)
			return &host.seen[(*i)++];
	return NULL;
}

/* The number of times that were reported for kernels of this program. */
static size_t timed(void)
{
	size_t n = 0, i = 0;

	host_drain(&host);
	while (next_of(GT_REC_EVENT, GT_EV_TIMED_KERNEL, &i))
		n++;
	return n;
}

static void until_timed(size_t n)
{
	for (int i = 0; i < MS_MOST && timed() < n; i++)
		usleep(1000);
}

/* Each event names the thread, the function and the start of the call that it was recorded
 * around, and the arguments of the launch. */
static void each_names_its_call(void)
{
	const struct seen *call, *event;
	size_t c = 0, e = 0;

	CHECK(started());
	for (int i = 0; i < 20; i++)
		CHECK(!launch(0));
	CHECK(!wait_for_all());
	until_timed(20);
	for (int i = 0; i < 20; i++) {
		call = next_of(GT_REC_CALL, gt_api_find("cuLaunchKernel"), &c);
		event = next_of(GT_REC_EVENT, GT_EV_TIMED_KERNEL, &e);
		CHECK(call && event && event->nargs == 11);
		CHECK(event->args[0] == ((uint32_t)call->tid | (uint64_t)call->id << 32) &&
			event->args[1] == call->start);
		CHECK(event->args[6] == (3 | 2ull << 32) && event->args[7] == (1 | 64ull << 32) &&
			event->args[8] == (1 | 1ull << 32));
		CHECK(event->end > event->start && (uint32_t)(event->args[2]) == (uint32_t)i + 1);
	}
	CHECK(!next_of(GT_REC_EVENT, GT_EV_TIMED_KERNEL, &e));
}

static const struct seen *last_timed(void)
{
	const struct seen *e, *last = NULL;
	size_t i = 0;

	host_drain(&host);
	while ((e = next_of(GT_REC_EVENT, GT_EV_TIMED_KERNEL, &i)))
		last = e;
	return last;
}

/* If the table of streams is full, work of one more stream is not assigned to another stream. */
static void one_stream_too_many_is_none_of_the_others(void)
{
	const struct seen *e;
	size_t before;

	CHECK(started());
	before = timed();
	CHECK(gt_events_lock(TRIES_MOST));
	for (uint32_t i = 0; i < STREAMS; i++)
		gt_events->streams_known[i] = (struct gt_event_stream){ 1, i + 1, PER_THREAD,
			1000000 + (int32_t)i, true };
	gt_events_unlock();
	CHECK(!launch(PER_THREAD) && !wait_for_all());
	until_timed(before + 1);
	e = last_timed();
	CHECK(e && e->args[3] >> 32 == UINT32_MAX);
	CHECK(gt_events_lock(TRIES_MOST));
	memset(gt_events->streams_known, 0, sizeof(gt_events->streams_known));
	gt_events_unlock();
}

static void *launch_there(void *arg)
{
	gt_cu.set(context);
	return (void *)(intptr_t)launch(arg ? *(uint64_t *)arg : 0);
}

static void *capture_there(void *arg)
{
	int (*wrapper)(uint64_t, int) = (int (*)(uint64_t, int))find("cuStreamBeginCapture_v2");
	int (*end)(uint64_t, void **) =
		(int (*)(uint64_t, void **))dlsym(driver, "cuStreamEndCapture");
	int (*destroy)(void *) = (int (*)(void *))dlsym(driver, "cuGraphDestroy");
	uint32_t id = gt_api_find("cuStreamBeginCapture_v2");
	void *graph = NULL;
	intptr_t rc;

	gt_cu.set(context);
	real_begin = (int (*)(uint64_t, int))gt_real[id];
	gt_real[id] = (void *)begin;
	rc = wrapper(*(uint64_t *)arg, 0);
	rc = rc ? rc : end(*(uint64_t *)arg, &graph);
	return (void *)(rc ? rc : destroy(graph));
}

/* Another context blocks the reading for a long time, for example because it ends slowly: this
 * one ends nevertheless, and is not read again. */
static void a_context_that_could_not_wait_is_not_asked(void)
{
	int (*create)(uint64_t *, unsigned, int) =
		(int (*)(uint64_t *, unsigned, int))find("cuCtxCreate_v2");
	int (*destroy)(uint64_t) = (int (*)(uint64_t))find("cuCtxDestroy_v2");
	uint64_t c = 0;

	CHECK(started() && !create(&c, 0, 0));
	CHECK(!launch_in_new_module() && gt_events_find_context(c));
	CHECK(gt_events_lock(TRIES_MOST));
	CHECK(!destroy(c) && !gt_events_find_context(c) && !gt_cu.set(context));
	gt_events_unlock();
	for (int i = 0; i < MS_MOST / 10 && __atomic_load_n(&gt_events->waiting, __ATOMIC_RELAXED);
		i++)
		usleep(10000);
	CHECK(!launch(0) && !wait_for_all() && gt_events_find_context(context));
}

static uint64_t stream(unsigned flags)
{
	uint64_t s = 0;

	return gt_cu.stream(&s, flags) ? 0 : s;
}

/* A thread is delayed while another one captures; the capture waits for at least 95 ms, but not
 * without limit. False: it did not wait, because it was itself delayed for longer. */
static bool a_capture_waits(uint64_t s, bool *failed)
{
	pthread_t launcher, capturer;
	void *launched, *captured;
	int64_t since;

	in_begin = met = 0;
	hold_record = 1;
	pthread_create(&launcher, NULL, launch_there, NULL);
	until(&in_record);
	since = now_ms();
	pthread_create(&capturer, NULL, capture_there, &s);
	usleep(30000);
	*failed = !in_record;
	__atomic_store_n(&hold_record, 0, __ATOMIC_SEQ_CST);
	pthread_join(launcher, &launched);
	pthread_join(capturer, &captured);
	if (met && out_of_record - since > 90)
		return false;
	*failed |= !in_begin || met || captured;
	return true;
}

static void a_capture_waits_for_an_event_on_its_way(void)
{
	bool failed = false;
	bool waited = false;
	uint64_t s;

	CHECK(started() && (s = stream(0)));
	/* the machine may pause this thread, but not every time */
	for (int i = 0; i < 20 && !waited && !failed; i++)
		waited = a_capture_waits(s, &failed);
	CHECK(waited && !failed);
	CHECK(!wait_for_all());
}

static void an_event_does_not_get_into_a_beginning(void)
{
	uint64_t s, other, lost;
	pthread_t capturer;
	void *captured;
	int before[2];

	CHECK(started() && (s = stream(0)) && (other = stream(1)));
	usleep(20000);
	lost = gt_events->untimed[GT_UNTIMED_CAPTURE];
	in_begin = 0;
	hold_begin = 1;
	pthread_create(&capturer, NULL, capture_there, &s);
	until(&in_begin);
	memcpy(before, recorded, sizeof(before));
	CHECK(!launch(0) && recorded[0] == before[0] &&
		gt_events->untimed[GT_UNTIMED_CAPTURE] == lost + 1);
	/* a launch on that stream cannot disturb the capture */
	CHECK(!launch(other) && recorded[1] >= before[1] + 2);
	__atomic_store_n(&hold_begin, 0, __ATOMIC_SEQ_CST);
	pthread_join(capturer, &captured);
	CHECK(!captured && !wait_for_all());
	CHECK(!launch(0) && recorded[0] == before[0] + 2 && !wait_for_all());
	host_close(&host);
}

T_MAIN(T(each_names_its_call), T(one_stream_too_many_is_none_of_the_others),
	T(a_context_that_could_not_wait_is_not_asked), T(a_capture_waits_for_an_event_on_its_way),
	T(an_event_does_not_get_into_a_beginning))
