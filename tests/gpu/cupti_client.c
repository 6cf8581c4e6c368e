/* A minimal CUPTI client for comparison: the cost and behaviour of CUPTI itself. The driver loads
 * it in cuInit if CUDA_INJECTION64_PATH names it. cupti_cost.sh and joins.sh build and use it:
 *	gcc -O2 -shared -fPIC -pthread -I. -I/usr/local/cuda/include \
 *		tests/gpu/cupti_client.c -ldl -o client.so
 *
 * CUPTI_CLIENT is a list of modes, separated by commas:
 *	none		nothing (the default): CUPTI is not even loaded
 *	bare		records of kernels, copies and sets; every mode below includes it
 *	api		records of the driver calls that create GPU work
 *			(formats/cuda/cuda_api_cbid.h)
 *	runtimeapi	records of the runtime calls that create GPU work
 *	callbacks	a subscriber with callbacks at those driver calls; it reads the correlation
 *			id
 * Filled buffers are counted, zeroed and reused. More variables, with their defaults:
 *	CUPTI_CLIENT_BUFFER	1048576	bytes of a buffer, 4 KiB to 4 MiB
 *	CUPTI_CLIENT_FLUSH_MS	0       interval in which a thread flushes complete buffers; 0:
 *				never
 *	CUPTI_CLIENT_QUIET	0	1: no flush if a buffer was delivered since the last one
 *	CUPTI_CLIENT_ZEROED	1	declares buffers as zeroed, so that CUPTI need not zero them
 *	CUPTI_CLIENT_PER_THREAD	-1      one buffer per thread (1), one for all (0), CUPTI's default
 *				(-1)
 *	CUPTI_CLIENT_CLOCK	1       CUPTI takes its times from the client (CLOCK_MONOTONIC); 0:
 *				from its own clock
 *	CUPTI_CLIENT_THREADS	0	1: records have the system's thread ids
 *	CUPTI_CLIENT_WAITS	0	1: records of waits too
 *	CUPTI_CLIENT_KINDS	more activity kinds to enable, numbers separated by commas; it logs
 *				sums of overhead (17) and unified memory (25)
 *	CUPTI_CLIENT_ATTRIBUTES	numbers and values of more attributes, "8=1,0=33554432"
 *	CUPTI_CLIENT_JOIN	0	1: logs the kind of call whose ids the records of work have
 *	CUPTI_CLIENT_LAG	0	1: logs the time from the end of work to its record
 *	CUPTI_CLIENT_CALLS	a file for the records of driver calls, "THREAD START END" each
 *	CUPTI_CLIENT_LIBRARY	path of CUPTI, if the loader does not find it
 *	CUPTI_CLIENT_LOG	a file to which lines "client MODE: NAME VALUE..." are added;
 *				default stderr
 * A program may call cupti_client_mark("NAME"), which logs the records since the last call;
 * cupti_client_again(), which registers and enables everything again and logs CUPTI's results; and
 * cupti_client_on(0) and (1), which disable and enable the records of kernels, copies and sets. */
#define _GNU_SOURCE
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "formats/cuda/cuda_api_cbid.h"

/* clang-format off */
#define FUNCTIONS(X) \
	X(cuptiActivityRegisterTimestampCallback) X(cuptiActivityRegisterCallbacks) \
	X(cuptiActivityEnable) X(cuptiActivityDisable) X(cuptiActivityEnableDriverApi) \
	X(cuptiActivityEnableRuntimeApi) X(cuptiActivitySetAttribute) X(cuptiActivityFlushAll) \
	X(cuptiActivityGetNextRecord) X(cuptiActivityGetNumDroppedRecords) X(cuptiSubscribe) \
	X(cuptiEnableCallback) X(cuptiGetVersion) X(cuptiSetThreadIdType) \
	X(cuptiActivityConfigureUnifiedMemoryCounter)
/* clang-format on */
static struct {
#define X(name) __typeof__(name) *name;
	FUNCTIONS(X)
#undef X
} c;

enum { MAX_BUFFERS = 4096, MAX_LAGS = 1 << 20, KINDS = CUPTI_ACTIVITY_KIND_COUNT };
#define IDS (1u << 26)

static const char *mode = "none";
static size_t buffer_bytes;
static bool join, lag, quiet;
static uint64_t called_back, flushes;
static FILE *calls;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *spare[MAX_BUFFERS];
static size_t nspare;
/* CUPTI may deliver buffers of another client too; the client must not keep those */
static uint8_t *ours[MAX_BUFFERS];
static size_t nours;
static struct counts {
	uint64_t asked, mapped, completed, foreign, dropped, bytes, records[KINDS];
} counts, marked;
/* by kind of overhead, by kind of counter */
static struct sums {
	uint64_t n, value, ns;
} overheads[16], counters[16];
static uint32_t lags[MAX_LAGS]; /* us */
static size_t nlags;
enum { WORK, DRIVER, RUNTIME, SETS };
static uint64_t ids[SETS][IDS / 64]; /* bit maps of correlation ids */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static long variable(const char *name, long fallback)
{
	const char *v = getenv(name);

	return v && *v ? strtol(v, NULL, 0) : fallback;
}

static void __attribute__((format(printf, 1, 2))) log_line(const char *format, ...)
{
	const char *path = getenv("CUPTI_CLIENT_LOG");
	FILE *f = path && *path ? fopen(path, "ae") : NULL;
	va_list args;

	fprintf(f ? f : stderr, "client %s: ", mode);
	va_start(args, format);
	vfprintf(f ? f : stderr, format, args);
	va_end(args);
	fputc('\n', f ? f : stderr);
	if (f)
		fclose(f);
}

/* ---- buffers ---- */

static uint8_t *map(void)
{
	uint8_t *b = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	pthread_mutex_lock(&lock);
	if (b == MAP_FAILED || nours == MAX_BUFFERS)
		b = NULL;
	else
		ours[nours++] = b;
	pthread_mutex_unlock(&lock);
	return b;
}

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most)
{
	uint8_t *b;

	pthread_mutex_lock(&lock);
	counts.asked++;
	b = nspare ? spare[--nspare] : NULL;
	counts.mapped += !b;
	pthread_mutex_unlock(&lock);
	if (!b)
		b = map();
	*buffer = b;
	*size = b ? buffer_bytes : 0;
	*most = 0;
}

static void reuse_buffer(uint8_t *buffer, size_t dirty)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < nours && ours[i] != buffer)
		i++;
	counts.foreign += i == nours;
	pthread_mutex_unlock(&lock);
	if (i == nours)
		return;
	memset(buffer, 0, dirty);
	pthread_mutex_lock(&lock);
	spare[nspare++] = buffer;
	pthread_mutex_unlock(&lock);
}

static void mark_id(int set, uint32_t id)
{
	if (join && id < IDS)
		ids[set][id / 64] |= 1ull << id % 64;
}

static void work(uint32_t id, uint64_t end)
{
	uint64_t at = lag ? now() : 0;

	mark_id(WORK, id);
	if (lag && nlags < MAX_LAGS && at > end)
		lags[nlags++] = (uint32_t)((at - end) / 1000);
}

static void sum(struct sums *s, unsigned kind, uint64_t value, uint64_t start, uint64_t end)
{
	s[kind & 15].n++;
	s[kind & 15].value += value;
	s[kind & 15].ns += end > start ? end - start : 0;
}

static void read_record(const CUpti_Activity *r)
{
	const CUpti_ActivityOverhead3 *overhead = (const void *)r;
	const CUpti_ActivityUnifiedMemoryCounter3 *counter = (const void *)r;
	const CUpti_ActivityKernel9 *kernel = (const void *)r;
	const CUpti_ActivityMemcpy6 *copy = (const void *)r;
	const CUpti_ActivityMemset4 *set = (const void *)r;
	const CUpti_ActivityAPI *call = (const void *)r;

	if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		work(kernel->correlationId, kernel->end);
	else if (r->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
		work(copy->correlationId, copy->end);
	else if (r->kind == CUPTI_ACTIVITY_KIND_MEMSET)
		work(set->correlationId, set->end);
	else if (r->kind == CUPTI_ACTIVITY_KIND_DRIVER || r->kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		mark_id(r->kind == CUPTI_ACTIVITY_KIND_DRIVER ? DRIVER : RUNTIME,
			call->correlationId);
	if (r->kind == CUPTI_ACTIVITY_KIND_OVERHEAD)
		sum(overheads,
			overhead->overheadKind < 16 ? overhead->overheadKind
						    : 1 + (overhead->overheadKind >> 16),
			(uint64_t)overhead->objectKind, overhead->start, overhead->end);
	if (r->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
		sum(counters, counter->counterKind, counter->value, counter->start, counter->end);
	if (calls && r->kind == CUPTI_ACTIVITY_KIND_DRIVER)
		fprintf(calls, "%u %llu %llu\n", call->threadId, (unsigned long long)call->start,
			(unsigned long long)call->end);
}

static void CUPTIAPI completed(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t unused, size_t valid)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	CUpti_Activity *r = NULL;
	size_t dropped = 0;

	if (!buffer)
		return;
	pthread_mutex_lock(&one);
	while (c.cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS) {
		if ((unsigned)r->kind < KINDS)
			counts.records[r->kind]++;
		if (join || lag || calls || getenv("CUPTI_CLIENT_KINDS"))
			read_record(r);
	}
	c.cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
	counts.dropped += dropped;
	counts.completed++;
	counts.bytes += valid;
	pthread_mutex_unlock(&one);
	reuse_buffer(buffer, valid);
}

static void *flush(void *arg)
{
	useconds_t us = (useconds_t)(uintptr_t)arg * 1000;

	for (uint64_t came, before = 0;;
		before = __atomic_load_n(&counts.completed, __ATOMIC_RELAXED)) {
		usleep(us);
		came = __atomic_load_n(&counts.completed, __ATOMIC_RELAXED);
		if (quiet && came != before)
			continue;
		c.cuptiActivityFlushAll(0);
		__atomic_fetch_add(&flushes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* ---- enabling ---- */

static const uint16_t driver_calls[] = {
#define X(cbid, name) cbid,
	GT_CBIDS(X)
#undef X
};
static const uint16_t runtime_calls[] = {
#define R(name) CUPTI_RUNTIME_TRACE_CBID_##name,
	R(cudaLaunchKernel_v7000) R(cudaLaunchKernel_ptsz_v7000) R(cudaLaunchKernelExC_v11060) R(
		cudaLaunchKernelExC_ptsz_v11060) R(cudaLaunchCooperativeKernel_v9000)
		R(cudaLaunchCooperativeKernel_ptsz_v9000) R(cudaGraphLaunch_v10000) R(
			cudaGraphLaunch_ptsz_v10000) R(cudaMemcpy_v3020) R(cudaMemcpy_ptds_v7000)
			R(cudaMemcpyAsync_v3020) R(cudaMemcpyAsync_ptsz_v7000) R(cudaMemset_v3020)
				R(cudaMemset_ptds_v7000) R(cudaMemsetAsync_v3020)
					R(cudaMemsetAsync_ptsz_v7000)
#undef R
};

static void CUPTIAPI call_back(
	void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	static _Thread_local volatile uint32_t last;

	last = ((const CUpti_CallbackData *)data)->correlationId;
	(void)last, (void)user, (void)domain, (void)id;
	called_back++; /* approximate if there are several threads */
}

/* True if the word is in the list. */
static bool has_mode(const char *word)
{
	size_t n = strlen(word), len;

	for (const char *p = mode; *p; p += len + (p[len] == ','))
		if ((len = strcspn(p, ",")) == n && !strncmp(p, word, n))
			return true;
	return false;
}

static void check(const char *what, int code)
{
	if (code)
		log_line("%s refused: error %d", what, code);
}

static void subscribe(void)
{
	static CUpti_SubscriberHandle subscriber;
	int code = c.cuptiSubscribe(&subscriber, call_back, NULL);

	check("cuptiSubscribe", code);
	for (size_t i = 0; !code && i < sizeof(driver_calls) / sizeof(*driver_calls); i++)
		code = c.cuptiEnableCallback(
			1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, driver_calls[i]);
	check("cuptiEnableCallback", code);
}

static void configure_counters(void)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config[8];

	for (int i = 0; i < 8; i++)
		config[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
			CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
			(CUpti_ActivityUnifiedMemoryCounterKind)(i + 1), 0, 1
		};
	for (int i = 0; i < 8; i++)
		check("cuptiActivityConfigureUnifiedMemoryCounter of one kind",
			c.cuptiActivityConfigureUnifiedMemoryCounter(&config[i], 1));
	check("cuptiActivityConfigureUnifiedMemoryCounter",
		c.cuptiActivityConfigureUnifiedMemoryCounter(config, 8));
}

static void more_kinds(void)
{
	const char *more = getenv("CUPTI_CLIENT_KINDS");

	for (const char *p = more && *more ? more : NULL; p;
		p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		unsigned kind = (unsigned)strtoul(p, NULL, 10);

		if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
			configure_counters();
		check("cuptiActivityEnable of one of CUPTI_CLIENT_KINDS",
			c.cuptiActivityEnable((CUpti_ActivityKind)kind));
	}
}

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_MEMSET,
};

static void enable(void)
{
	int code = 0;

	check("cuptiActivityRegisterCallbacks",
		c.cuptiActivityRegisterCallbacks(requested, completed));
	for (size_t i = 0;
		has_mode("api") && !code && i < sizeof(driver_calls) / sizeof(*driver_calls); i++)
		code = c.cuptiActivityEnableDriverApi(driver_calls[i], 1);
	check("cuptiActivityEnableDriverApi", code);
	code = 0;
	for (size_t i = 0; has_mode("runtimeapi") && !code &&
		i < sizeof(runtime_calls) / sizeof(*runtime_calls);
		i++)
		code = c.cuptiActivityEnableRuntimeApi(runtime_calls[i], 1);
	check("cuptiActivityEnableRuntimeApi", code);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		check("cuptiActivityEnable", c.cuptiActivityEnable(kinds[i]));
	more_kinds();
	if (variable("CUPTI_CLIENT_WAITS", 0))
		check("cuptiActivityEnable",
			c.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
}

static void set(CUpti_ActivityAttribute attribute, long value)
{
	uint8_t yes = value > 0;
	size_t size = sizeof(yes);

	if (value >= 0)
		check("cuptiActivitySetAttribute",
			c.cuptiActivitySetAttribute(attribute, &size, &yes));
}

/* Attributes that are switches have a size of one byte. */
static void more_attributes(void)
{
	const char *p = getenv("CUPTI_CLIENT_ATTRIBUTES");

	for (char *end; p && *p; p = *end ? end + 1 : end) {
		int attribute = (int)strtol(p, &end, 10);
		bool is_switch = attribute == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED ||
			attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER ||
			attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER;
		size_t value = strtoul(end + (*end == '='), &end, 10),
		       size = is_switch ? 1 : sizeof(value);

		check("an attribute",
			c.cuptiActivitySetAttribute(
				(CUpti_ActivityAttribute)attribute, &size, &value));
	}
}

/* ---- results ---- */

static void log_counts(const char *when, const struct counts *a, const struct counts *b)
{
#define SINCE(what) (unsigned long long)(a->what - b->what)
#define KIND(k) SINCE(records[CUPTI_ACTIVITY_KIND_##k])
	log_line("%s kernels %llu copies %llu sets %llu driver_calls %llu runtime_calls %llu "
		 "buffers_asked %llu completed %llu mapped %llu "
		 "foreign %llu bytes %llu dropped %llu asked_for %llu",
		when, KIND(CONCURRENT_KERNEL), KIND(MEMCPY), KIND(MEMSET), KIND(DRIVER),
		KIND(RUNTIME), SINCE(asked), SINCE(completed), SINCE(mapped), SINCE(foreign),
		SINCE(bytes), SINCE(dropped),
		(unsigned long long)__atomic_load_n(&flushes, __ATOMIC_RELAXED));
}

static void log_joins(void)
{
	uint64_t n[4] = { 0 }; /* index bits: the id is that of a driver call, of a runtime call */

	for (uint32_t i = 0; i < IDS / 64; i++)
		for (uint64_t w = ids[WORK][i]; w; w &= w - 1)
			n[(ids[DRIVER][i] & w & -w ? 1 : 0) + (ids[RUNTIME][i] & w & -w ? 2 : 0)]++;
	log_line("ids_of_work driver_call_only %llu runtime_call_only %llu of_both %llu "
		 "of_neither %llu",
		(unsigned long long)n[1], (unsigned long long)n[2], (unsigned long long)n[3],
		(unsigned long long)n[0]);
}

static int by_size(const void *a, const void *b)
{
	return *(const uint32_t *)a < *(const uint32_t *)b
		? -1
		: *(const uint32_t *)a > *(const uint32_t *)b;
}

static void log_lags(void)
{
	if (!nlags)
		return;
	qsort(lags, nlags, sizeof(*lags), by_size);
	log_line("record_lag records %zu median_ms %.1f p99_ms %.1f max_ms %.1f", nlags,
		lags[nlags / 2] / 1e3, lags[nlags * 99 / 100] / 1e3, lags[nlags - 1] / 1e3);
}

static void log_sums(const char *what, const struct sums *s)
{
	for (int i = 0; i < 16; i++)
		if (s[i].n)
			log_line("%s %d n %llu value %llu ns %llu", what, i,
				(unsigned long long)s[i].n, (unsigned long long)s[i].value,
				(unsigned long long)s[i].ns);
}

static void at_exit(void)
{
	static const struct counts nothing;
	size_t before = nlags;

	if (lag)
		/* records delivered from now on are delivered because the program ends */
		log_lags();
	c.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	log_counts("in all", &counts, &nothing);
	if (lag)
		log_line("came_at_exit %zu", nlags - before);
	if (calls)
		fflush(calls);
	if (join)
		log_joins();
	for (int i = 0; i < KINDS; i++)
		if (counts.records[i])
			log_line("records of kind %d: %llu", i,
				(unsigned long long)counts.records[i]);
	log_sums("overhead", overheads);
	log_sums("counter", counters);
	if (called_back)
		log_line("callbacks %llu", (unsigned long long)called_back);
}

__attribute__((visibility("default"))) void cupti_client_mark(const char *when)
{
	struct counts seen;

	if (!c.cuptiActivityFlushAll)
		return;
	check("cuptiActivityFlushAll", c.cuptiActivityFlushAll(0));
	usleep(100000);
	seen = counts;
	log_counts(when, &seen, &marked);
	marked = seen;
}

__attribute__((visibility("default"))) void cupti_client_again(void)
{
	if (!c.cuptiActivityFlushAll)
		return;
	enable();
	log_line("enabled again");
}

__attribute__((visibility("default"))) void cupti_client_on(int on)
{
	for (size_t i = 0; c.cuptiActivityDisable && i < sizeof(kinds) / sizeof(*kinds); i++)
		check("a kind",
			on ? c.cuptiActivityEnable(kinds[i]) : c.cuptiActivityDisable(kinds[i]));
}

static bool find(void)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11" };
	const char *named = getenv("CUPTI_CLIENT_LIBRARY");
	void *lib = NULL;

	for (size_t i = 0; !lib && i < sizeof(names) / sizeof(*names); i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD); /* the program's own copy first */
	if (!lib && named && *named)
		lib = dlopen(named, RTLD_NOW);
	for (size_t i = 0; !lib && i < sizeof(names) / sizeof(*names); i++)
		lib = dlopen(names[i], RTLD_NOW);
	if (!lib)
		return false;
#define X(name)                                                                                    \
	*(void **)&c.name = dlsym(lib, #name);                                                     \
	if (!c.name)                                                                               \
		return false;
	FUNCTIONS(X)
#undef X
	return true;
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *m = getenv("CUPTI_CLIENT");
	long ms = variable("CUPTI_CLIENT_FLUSH_MS", 0),
	     bytes = variable("CUPTI_CLIENT_BUFFER", 1 << 20);
	pthread_t thread;
	uint32_t version = 0;

	mode = m && *m ? m : "none";
	if (!strcmp(mode, "none"))
		return 1;
	if (!find()) {
		log_line("CUPTI was not found");
		memset(&c, 0, sizeof(c));
		return 1;
	}
	buffer_bytes = bytes < 4096 ? 4096 : bytes > 4 << 20 ? 4 << 20 : (size_t)bytes;
	join = variable("CUPTI_CLIENT_JOIN", 0);
	quiet = variable("CUPTI_CLIENT_QUIET", 0);
	lag = variable("CUPTI_CLIENT_LAG", 0);
	m = getenv("CUPTI_CLIENT_CALLS");
	calls = m && *m ? fopen(m, "we") : NULL;
	c.cuptiGetVersion(&version);
	if (variable("CUPTI_CLIENT_CLOCK", 1))
		check("cuptiActivityRegisterTimestampCallback",
			c.cuptiActivityRegisterTimestampCallback(now));
	if (variable("CUPTI_CLIENT_THREADS", 0))
		check("cuptiSetThreadIdType",
			c.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
	set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, variable("CUPTI_CLIENT_ZEROED", 1));
	set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER,
		variable("CUPTI_CLIENT_PER_THREAD", -1));
	more_attributes();
	if (has_mode("callbacks"))
		subscribe();
	enable();
	if (ms > 0)
		pthread_create(&thread, NULL, flush, (void *)(uintptr_t)ms);
	atexit(at_exit);
	log_line("CUPTI %u buffer %zu flush_ms %ld", version, buffer_bytes, ms);
	return 1;
}
