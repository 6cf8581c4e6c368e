/* The simulated CUPTI: its knobs, the connection to the driver, clocks, and small queries. */
#define _GNU_SOURCE
#include "samples/simgpu/cupti_sim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct cupti_knobs cupti_knobs = { .version = 130001 };
const struct sim_driver *cupti_driver;
uint32_t *cupti_cbids;
bool cupti_zeroed;
static struct failure {
	char function[64];
	unsigned from, calls;
	int code;
} failures[16];
static unsigned failures_n;
static char truth[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, attaching = PTHREAD_MUTEX_INITIALIZER;
static bool in_forked_child, attached; /* in_forked_child: in a after_fork child */
static cupti_clock clock_of_client;
static int64_t offset; /* the client's clock less CLOCK_MONOTONIC */
static int thread_id_type;
static __thread int last_error;
static void (*driver_detach)(void);

/* SIM_CUPTI_FAIL: FUNCTION[@N]:CODE,...; N: from its Nth call on. */
static void read_failures(const char *s)
{
	for (; s && *s && failures_n < 16; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
		struct failure *f = &failures[failures_n];
		int at = 0;

		f->from = 1;
		if (sscanf(s, "%63[A-Za-z0-9_]%n", f->function, &at) != 1)
			continue;
		if (s[at] == '@')
			f->from = strtoul(s + at + 1, NULL, 10);
		s += strcspn(s, ":,");
		f->code = *s == ':' ? atoi(s + 1) : CUPTI_UNKNOWN;
		failures_n++;
	}
}

static unsigned env_number(const char *name, unsigned fallback)
{
	const char *s = getenv(name);

	return s && *s ? strtoul(s, NULL, 0) : fallback;
}

/* Sets the path of the truth; %p in it is replaced by the process id. */
static void set_truth_path(const char *path)
{
	const char *p = path ? strstr(path, "%p") : NULL;

	if (p)
		snprintf(truth, sizeof(truth), "%.*s%d%s", (int)(p - path), path, (int)getpid(),
			p + 2);
	else if (path)
		snprintf(truth, sizeof(truth), "%s", path);
	cupti_knobs.truth = *truth;
}

void cupti_write_truth(const char *line, size_t n)
{
	static int fd = -1;
	static struct stat ours;
	struct stat now;

	/* a program may have closed this descriptor and opened another file with its number */
	if (fd < 0 || fstat(fd, &now) || now.st_ino != ours.st_ino || now.st_dev != ours.st_dev) {
		fd = open(truth, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (fd < 0 || fstat(fd, &ours))
			return;
	}
	if (write(fd, line, n) != (ssize_t)n)
		fd = -1;
}

static void after_fork(void)
{
	pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	lock = attaching = fresh;
	in_forked_child = true;
	if (attached)
		driver_detach();
}

__attribute__((constructor)) static void set_up(void)
{
	cupti_knobs.version = env_number("SIM_CUPTI_VERSION", 130001);
	cupti_knobs.drop = env_number("SIM_CUPTI_DROP", 0);
	cupti_knobs.bad = env_number("SIM_CUPTI_BAD", 0);
	cupti_knobs.late_ms = env_number("SIM_CUPTI_LATE_MS", 0);
	cupti_knobs.shuffle = env_number("SIM_CUPTI_SHUFFLE", 0);
	cupti_knobs.taken = env_number("SIM_CUPTI_TAKEN", 0);
	cupti_knobs.alone_ms = env_number("SIM_CUPTI_ALONE_MS", 0);
	cupti_knobs.back_ms = env_number("SIM_CUPTI_BACK_MS", 0);
	cupti_knobs.strict = env_number("SIM_CUPTI_STRICT", 0);
	read_failures(getenv("SIM_CUPTI_FAIL"));
	set_truth_path(getenv("SIM_CUPTI_TRUTH"));
	pthread_atfork(NULL, NULL, after_fork);
}

void cupti_lock(void) { pthread_mutex_lock(&lock); }

void cupti_unlock(void) { pthread_mutex_unlock(&lock); }

pthread_mutex_t *cupti_mutex(void); /* cupti_buffers.c waits on it */
pthread_mutex_t *cupti_mutex(void) { return &lock; }

int cupti_set_error(int rc)
{
	if (rc)
		last_error = rc;
	return rc;
}

int cupti_begin(const char *function)
{
	if (in_forked_child)
		return cupti_set_error(CUPTI_NOT_INITIALIZED);
	for (unsigned i = 0; i < failures_n; i++)
		if (!strcmp(failures[i].function, function) &&
			__atomic_add_fetch(&failures[i].calls, 1, __ATOMIC_RELAXED) >=
				failures[i].from)
			return cupti_set_error(failures[i].code);
	return CUPTI_OK;
}

static pid_t exclusive_thread; /* the thread in an exclusive function; 0: none */

bool cupti_enter_exclusive(const char *function)
{
	pid_t self = gettid(), by = 0;

	if (!cupti_knobs.alone_ms || __atomic_load_n(&exclusive_thread, __ATOMIC_RELAXED) == self)
		return false;
	if (__atomic_compare_exchange_n(
		    &exclusive_thread, &by, self, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return true;
	fprintf(stderr, "simulated CUPTI: %s is called while another thread is in a call\n",
		function);
	abort();
}

void cupti_leave_exclusive(const bool *entered)
{
	if (*entered)
		__atomic_store_n(&exclusive_thread, 0, __ATOMIC_RELEASE);
}

void cupti_require(bool is, const char *what)
{
	if (is || !cupti_knobs.strict)
		return;
	fprintf(stderr, "simulated CUPTI: %s\n", what);
	abort();
}

static uint32_t cbid_of(const char *symbol)
{
#define X(name, cbid) { #name, cbid },
	static const struct {
		const char *name;
		uint32_t cbid;
	} all[] = { SIM_CBIDS(X) };
#undef X
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, symbol))
			return all[i].cbid;
	return 0;
}

static int attach(void)
{
	static const struct sim_hooks hooks = { cupti_enter, cupti_exit, cupti_submitted,
		cupti_done, cupti_waits, cupti_resource_hook, cupti_um_hook, cupti_runtime };
	const struct sim_driver *(*to)(int, const struct sim_hooks *);
	const struct sim_driver *d;
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	*(void **)&to = lib ? dlsym(lib, "sim_cupti_attach") : NULL;
	*(void **)&driver_detach = lib ? dlsym(lib, "sim_cupti_detach") : NULL;
	if (!to || !driver_detach || cupti_worker_start())
		return CUPTI_NOT_INITIALIZED;
	cupti_calibrate();
	/* first without hooks: a hook needs the table of symbols */
	if (!(d = to(SIM_HOOKS_VERSION, NULL)))
		return CUPTI_NOT_INITIALIZED;
	if (!cupti_cbids) {
		if (!(cupti_cbids = calloc(d->symbols_n, sizeof(*cupti_cbids))))
			return CUPTI_OUT_OF_MEMORY;
		for (size_t i = 0; i < d->symbols_n; i++)
			cupti_cbids[i] = cbid_of(d->symbols[i]);
	}
	cupti_driver = d;
	to(SIM_HOOKS_VERSION, &hooks);
	return CUPTI_OK;
}

int cupti_attach(void)
{
	int rc = CUPTI_OK;

	pthread_mutex_lock(&attaching);
	if (!attached && !(rc = attach()))
		attached = true;
	pthread_mutex_unlock(&attaching);
	return cupti_set_error(rc);
}

void cupti_detach(void)
{
	pthread_mutex_lock(&attaching);
	if (attached)
		driver_detach();
	attached = false;
	pthread_mutex_unlock(&attaching);
}

/* Clocks. Device times are CLOCK_MONOTONIC here. The offset of the client's clock is measured at
 * each call that submits work, and applied when the work is done. */
static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

uint64_t cupti_mono(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t cupti_now(void)
{
	cupti_clock c = __atomic_load_n(&clock_of_client, __ATOMIC_ACQUIRE);

	return c ? c() : read_clock(CLOCK_REALTIME);
}

void cupti_calibrate(void)
{
	uint64_t narrowest = UINT64_MAX, before, theirs, after;
	int64_t best = 0;

	for (int i = 0; i < 10 && narrowest > 100; i++) {
		before = cupti_mono();
		theirs = cupti_now();
		after = cupti_mono();
		if (after - before < narrowest) {
			narrowest = after - before;
			best = (int64_t)(theirs - before - narrowest / 2);
			if (theirs >= before && theirs <= after)
				best = 0; /* it is the same clock */
		}
	}
	/* a change smaller than the error of this measurement is ignored; otherwise consecutive
	 * operations could seem to overlap */
	if (llabs(best - __atomic_load_n(&offset, __ATOMIC_RELAXED)) > (long long)narrowest)
		__atomic_store_n(&offset, best, __ATOMIC_RELAXED);
}

bool cupti_has_clock(void) { return __atomic_load_n(&clock_of_client, __ATOMIC_ACQUIRE); }

uint64_t cupti_time(uint64_t mono) { return mono + __atomic_load_n(&offset, __ATOMIC_RELAXED); }

uint32_t cupti_thread(void)
{
	return thread_id_type ? (uint32_t)gettid() : (uint32_t)(uintptr_t)pthread_self();
}

#define API(name, params)                                                                          \
	int name params;                                                                           \
	int name params

API(cuptiGetVersion, (uint32_t * version))
{
	CUPTI_BEGIN();
	if (!version)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	*version = cupti_knobs.version;
	return CUPTI_OK;
}

API(cuptiGetTimestamp, (uint64_t * timestamp))
{
	CUPTI_BEGIN();
	if (!timestamp)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	*timestamp = cupti_now();
	return CUPTI_OK;
}

API(cuptiActivityRegisterTimestampCallback, (cupti_clock clock))
{
	CUPTI_BEGIN();
	CUPTI_EXCLUSIVE();
	if (!clock)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	__atomic_store_n(&clock_of_client, clock, __ATOMIC_RELEASE);
	cupti_calibrate();
	return CUPTI_OK;
}

API(cuptiSetThreadIdType, (int type))
{
	CUPTI_BEGIN();
	if (type < 0 || type > 1)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	thread_id_type = type;
	return CUPTI_OK;
}

API(cuptiGetThreadIdType, (int *type))
{
	CUPTI_BEGIN();
	if (!type)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	*type = thread_id_type;
	return CUPTI_OK;
}

API(cuptiGetLastError, (void))
{
	int rc = last_error;

	last_error = CUPTI_OK;
	return rc;
}

API(cuptiGetResultString, (int code, const char **text))
{
	static const char *const names[] = { "CUPTI_SUCCESS",
#define X(e) "CUPTI_ERROR_" #e,
		X(INVALID_PARAMETER) X(INVALID_DEVICE) X(INVALID_CONTEXT) X(INVALID_EVENT_DOMAIN_ID) X(
			INVALID_EVENT_ID) X(INVALID_EVENT_NAME) X(INVALID_OPERATION) X(OUT_OF_MEMORY)
			X(HARDWARE) X(PARAMETER_SIZE_NOT_SUFFICIENT) X(API_NOT_IMPLEMENTED) X(
				MAX_LIMIT_REACHED) X(NOT_READY) X(NOT_COMPATIBLE) X(NOT_INITIALIZED)
				X(INVALID_METRIC_ID) X(INVALID_METRIC_NAME) X(QUEUE_EMPTY) X(INVALID_HANDLE) X(
					INVALID_STREAM) X(INVALID_KIND) X(INVALID_EVENT_VALUE) X(DISABLED)
					X(INVALID_MODULE) X(INVALID_METRIC_VALUE) X(HARDWARE_BUSY) X(
						NOT_SUPPORTED) X(UM_PROFILING_NOT_SUPPORTED) X(UM_PROFILING_NOT_SUPPORTED_ON_DEVICE)
						X(UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES) X(
							UM_PROFILING_NOT_SUPPORTED_WITH_MPS) X(CDP_TRACING_NOT_SUPPORTED)
							X(VIRTUALIZED_DEVICE_NOT_SUPPORTED) X(
								CUDA_COMPILER_NOT_COMPATIBLE)
								X(INSUFFICIENT_PRIVILEGES) X(
									OLD_PROFILER_API_INITIALIZED)
									X(OPENACC_UNDEFINED_ROUTINE) X(
										LEGACY_PROFILER_NOT_SUPPORTED)
										X(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
#undef X
	};
	bool known = code >= 0 && code < (int)(sizeof(names) / sizeof(*names));

	if (!text || (!known && code != CUPTI_UNKNOWN))
		return CUPTI_INVALID_PARAMETER;
	*text = known ? names[code] : "CUPTI_ERROR_UNKNOWN";
	return CUPTI_OK;
}

/* Ids. */
API(cuptiGetContextId, (const void *ctx, uint32_t *id))
{
	uint32_t device;

	CUPTI_BEGIN();
	if (!id)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if (cupti_attach())
		return CUPTI_NOT_INITIALIZED;
	return cupti_set_error(
		ctx && cupti_driver->context(ctx, id, &device) ? CUPTI_OK : CUPTI_INVALID_CONTEXT);
}

API(cuptiGetDeviceId, (const void *ctx, uint32_t *device))
{
	uint32_t id;

	CUPTI_BEGIN();
	if (!device)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if (cupti_attach())
		return CUPTI_NOT_INITIALIZED;
	return cupti_set_error(
		cupti_driver->context(ctx, &id, device) ? CUPTI_OK : CUPTI_INVALID_CONTEXT);
}

static int stream_id(const void *ctx, const void *stream, bool per_thread, uint32_t *id)
{
	uint32_t ctx_id, device;

	if (!id)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if (cupti_attach())
		return CUPTI_NOT_INITIALIZED;
	if (!cupti_driver->context(ctx, &ctx_id, &device))
		return cupti_set_error(CUPTI_INVALID_CONTEXT);
	return cupti_set_error(cupti_driver->stream(ctx, stream, per_thread, id)
			? CUPTI_OK
			: CUPTI_INVALID_STREAM);
}

API(cuptiGetStreamId, (const void *ctx, const void *stream, uint32_t *id))
{
	CUPTI_BEGIN();
	return stream_id(ctx, stream, false, id);
}

API(cuptiGetStreamIdEx, (const void *ctx, const void *stream, uint8_t per_thread, uint32_t *id))
{
	CUPTI_BEGIN();
	return stream_id(ctx, stream, per_thread, id);
}

API(cuptiGetGraphNodeId, (const void *node, uint64_t *id))
{
	CUPTI_BEGIN();
	if (cupti_attach())
		return CUPTI_NOT_INITIALIZED;
	return cupti_set_error(
		id && cupti_driver->node(node, id) ? CUPTI_OK : CUPTI_INVALID_PARAMETER);
}

API(cuptiGetGraphId, (const void *graph, uint32_t *id))
{
	CUPTI_BEGIN();
	if (cupti_attach())
		return CUPTI_NOT_INITIALIZED;
	return cupti_set_error(id &&
				(cupti_driver->graph(graph, false, id) ||
					cupti_driver->graph(graph, true, id))
			? CUPTI_OK
			: CUPTI_INVALID_PARAMETER);
}

API(cuptiGetGraphExecId, (const void *exec, uint32_t *id))
{
	CUPTI_BEGIN();
	if (cupti_attach())
		return CUPTI_NOT_INITIALIZED;
	return cupti_set_error(
		id && cupti_driver->graph(exec, true, id) ? CUPTI_OK : CUPTI_INVALID_PARAMETER);
}

/* Attributes by number. The simulator stores the value of an attribute that it does not use, so
 * that it can be read back. */
static struct {
	size_t size, value;
} attributes[] = {
	{ 8, 3200000 },
	{ 8, 8388608 },
	{ 8, 250 },
	{ 8, 25000 },
	{ 8, 250 },
	{ 1, 0 },
	{ 8, 3 },
	{ 8, 3 },
	{ 1, 0 },
	{ 1, 1 },
	{ 8, 16777216 },
};

static int attribute(unsigned which, size_t *size, void *value, bool set)
{
	enum { ZEROED_OUT = 5 };

	if (which >= sizeof(attributes) / sizeof(*attributes) || !size || !value)
		return cupti_set_error(CUPTI_INVALID_PARAMETER);
	if (*size < attributes[which].size)
		return cupti_set_error(10); /* CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT */
	*size = attributes[which].size;
	if (set)
		memcpy(&attributes[which].value, value, *size);
	else
		memcpy(value, &attributes[which].value, *size);
	cupti_zeroed = attributes[ZEROED_OUT].value;
	return CUPTI_OK;
}

API(cuptiActivitySetAttribute, (unsigned which, size_t *size, void *value))
{
	CUPTI_BEGIN();
	return attribute(which, size, value, true);
}

API(cuptiActivityGetAttribute, (unsigned which, size_t *size, void *value))
{
	CUPTI_BEGIN();
	return attribute(which, size, value, false);
}

API(cuptiFinalize, (void))
{
	CUPTI_BEGIN();
	cupti_require(
		cupti_in_exit, "cuptiFinalize is called outside a callback at the end of a call");
	cupti_detach();
	memset(cupti_kinds, 0, sizeof(cupti_kinds));
	memset(cupti_driver_apis, 0, sizeof(cupti_driver_apis));
	memset(cupti_runtime_apis, 0, sizeof(cupti_runtime_apis));
	cupti_clear_subscriber();
	cupti_flush(true, true);
	cupti_clear_callbacks();
	__atomic_store_n(&clock_of_client, NULL, __ATOMIC_RELEASE);
	return CUPTI_OK;
}
