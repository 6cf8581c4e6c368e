/* A bare CUPTI client, to compare with: what does CUPTI itself cost, and how does it behave? The driver loads it in cuInit when
 * CUDA_INJECTION64_PATH names it. cupti_cost.sh and joins.sh build and use it:
 *	gcc -O2 -shared -fPIC -pthread -I. -I/usr/local/cuda/include tests/gpu/cupti_client.c -ldl -o client.so
 *
 * CUPTI_CLIENT says what it asks of CUPTI, one or more of these, with commas between:
 *	none		nothing at all (the default): CUPTI is not even loaded
 *	bare		records of kernels, copies and sets; every mode below is that and
 *	api		records of those driver calls that make a GPU work (formats/cuda/cuda_api_cbid.h)
 *	runtimeapi	records of the runtime's calls that do
 *	callbacks	a subscriber, called back at those driver calls; it looks at the correlation id and returns
 * Filled buffers are counted and given back, zeroed. More variables, with their default:
 *	CUPTI_CLIENT_BUFFER	1048576	bytes of a buffer, 4 KiB to 4 MiB
 *	CUPTI_CLIENT_FLUSH_MS	0	a thread asks for what is complete as often as that; 0: never
 *	CUPTI_CLIENT_QUIET	0	1: but not where a buffer came back by itself since the last time
 *	CUPTI_CLIENT_ZEROED	1	buffers are said to be zeroed, so that CUPTI need not do it
 *	CUPTI_CLIENT_PER_THREAD	-1	a buffer for each thread (1), one for all (0), as CUPTI likes it (-1)
 *	CUPTI_CLIENT_CLOCK	1	CUPTI is to take its times from our function (CLOCK_MONOTONIC); 0: from its own
 *	CUPTI_CLIENT_THREADS	0	1: records are to have the system's thread ids
 *	CUPTI_CLIENT_WAITS	0	1: records of waits, too
 *	CUPTI_CLIENT_KINDS	more activity kinds to enable, numbers with commas between; of overhead (17) and unified memory (25) it
 *				is told what came
 *	CUPTI_CLIENT_ATTRIBUTES	numbers of more attributes and what they are set to, "8=1,0=33554432"
 *	CUPTI_CLIENT_JOIN	0	1: which calls' ids do the records of work carry?
 *	CUPTI_CLIENT_LAG	0	1: how long after the end of its work does a record come?
 *	CUPTI_CLIENT_CALLS	a file for the records of driver calls, "THREAD START END" each
 *	CUPTI_CLIENT_LIBRARY	where CUPTI is, if not where the loader finds it
 *	CUPTI_CLIENT_LOG	a file to add lines "client MODE: NAME VALUE..." to; else stderr
 * A program may call cupti_client_mark("NAME"), which logs what came since the last time, and cupti_client_again(), which registers
 * and enables everything once more and logs what CUPTI answers; cupti_client_on(0) has it record no kernels, copies and sets, (1) again. */
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

#define FUNCTIONS(X) \
	X(cuptiActivityRegisterTimestampCallback) X(cuptiActivityRegisterCallbacks) X(cuptiActivityEnable) X(cuptiActivityDisable) X(cuptiActivityEnableDriverApi) \
	X(cuptiActivityEnableRuntimeApi) X(cuptiActivitySetAttribute) X(cuptiActivityFlushAll) X(cuptiActivityGetNextRecord) \
	X(cuptiActivityGetNumDroppedRecords) X(cuptiSubscribe) X(cuptiEnableCallback) X(cuptiGetVersion) X(cuptiSetThreadIdType) \
	X(cuptiActivityConfigureUnifiedMemoryCounter)
static struct {
#define X(name) __typeof__(name) *name;
	FUNCTIONS(X)
#undef X
} c;

enum { MOST_BUFFERS = 4096, MOST_LAGS = 1 << 20, KINDS = CUPTI_ACTIVITY_KIND_COUNT };
#define IDS (1u << 26)

static const char *mode = "none";
static size_t buffer_bytes;
static bool join, lag, quiet;
static uint64_t called_back, flushes;
static FILE *calls;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *spare[MOST_BUFFERS];
static size_t nspare;
static uint8_t *ours[MOST_BUFFERS];	/* another client's buffers may reach us, too, and are not ours to keep */
static size_t nours;
static struct counts { uint64_t asked, mapped, completed, foreign, dropped, bytes, records[KINDS]; } counts, marked;
static struct sums { uint64_t n, value, ns; } overheads[16], counters[16];	/* by the kind of overhead, of counter */
static uint32_t lags[MOST_LAGS];	/* us */
static size_t nlags;
enum { WORK, DRIVER, RUNTIME, SETS };
static uint64_t ids[SETS][IDS / 64];	/* bit maps of correlation ids */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static long variable(const char *name, long otherwise)
{
	const char *v = getenv(name);

	return v && *v ? strtol(v, NULL, 0) : otherwise;
}

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
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
	uint8_t *b = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	pthread_mutex_lock(&lock);
	if (b == MAP_FAILED || nours == MOST_BUFFERS)
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

static void give_back(uint8_t *buffer, size_t dirty)
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

static void note(int set, uint32_t id)
{
	if (join && id < IDS)
		ids[set][id / 64] |= 1ull << id % 64;
}

static void work(uint32_t id, uint64_t end)
{
	uint64_t at = lag ? now() : 0;

	note(WORK, id);
	if (lag && nlags < MOST_LAGS && at > end)
		lags[nlags++] = (uint32_t)((at - end) / 1000);
}

static void sum(struct sums *s, unsigned kind, uint64_t value, uint64_t start, uint64_t end)
{
	s[kind & 15].n++;
	s[kind & 15].value += value;
	s[kind & 15].ns += end > start ? end - start : 0;
}

static void look(const CUpti_Activity *r)
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
		note(r->kind == CUPTI_ACTIVITY_KIND_DRIVER ? DRIVER : RUNTIME, call->correlationId);
	if (r->kind == CUPTI_ACTIVITY_KIND_OVERHEAD)
		sum(overheads, overhead->overheadKind < 16 ? overhead->overheadKind : 1 + (overhead->overheadKind >> 16),
		    (uint64_t)overhead->objectKind, overhead->start, overhead->end);
	if (r->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
		sum(counters, counter->counterKind, counter->value, counter->start, counter->end);
	if (calls && r->kind == CUPTI_ACTIVITY_KIND_DRIVER)
		fprintf(calls, "%u %llu %llu\n", call->threadId, (unsigned long long)call->start, (unsigned long long)call->end);
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t unused, size_t valid)
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
			look(r);
	}
	c.cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
	counts.dropped += dropped;
	counts.completed++;
	counts.bytes += valid;
	pthread_mutex_unlock(&one);
	give_back(buffer, valid);
}

static void *flush(void *arg)
{
	useconds_t us = (useconds_t)(uintptr_t)arg * 1000;

	for (uint64_t came, before = 0;; before = __atomic_load_n(&counts.completed, __ATOMIC_RELAXED)) {
		usleep(us);
		came = __atomic_load_n(&counts.completed, __ATOMIC_RELAXED);
		if (quiet && came != before)
			continue;
		c.cuptiActivityFlushAll(0);
		__atomic_fetch_add(&flushes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* ---- asking for it ---- */

static const uint16_t driver_calls[] = {
#define X(cbid, name) cbid,
	GT_CBIDS(X)
#undef X
};
static const uint16_t runtime_calls[] = {
#define R(name) CUPTI_RUNTIME_TRACE_CBID_##name,
	R(cudaLaunchKernel_v7000) R(cudaLaunchKernel_ptsz_v7000) R(cudaLaunchKernelExC_v11060) R(cudaLaunchKernelExC_ptsz_v11060)
	R(cudaLaunchCooperativeKernel_v9000) R(cudaLaunchCooperativeKernel_ptsz_v9000) R(cudaGraphLaunch_v10000) R(cudaGraphLaunch_ptsz_v10000)
	R(cudaMemcpy_v3020) R(cudaMemcpy_ptds_v7000) R(cudaMemcpyAsync_v3020) R(cudaMemcpyAsync_ptsz_v7000)
	R(cudaMemset_v3020) R(cudaMemset_ptds_v7000) R(cudaMemsetAsync_v3020) R(cudaMemsetAsync_ptsz_v7000)
#undef R
};

static void CUPTIAPI call_back(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	static _Thread_local volatile uint32_t last;

	last = ((const CUpti_CallbackData *)data)->correlationId;
	(void)last, (void)user, (void)domain, (void)id;
	called_back++;		/* roughly, with several threads */
}

/* Is the word in the list? */
static bool wants(const char *word)
{
	size_t n = strlen(word), len;

	for (const char *p = mode; *p; p += len + (p[len] == ','))
		if ((len = strcspn(p, ",")) == n && !strncmp(p, word, n))
			return true;
	return false;
}

static void must(const char *what, int code)
{
	if (code)
		say("%s refused: error %d", what, code);
}

static void subscribe(void)
{
	static CUpti_SubscriberHandle subscriber;
	int code = c.cuptiSubscribe(&subscriber, call_back, NULL);

	must("cuptiSubscribe", code);
	for (size_t i = 0; !code && i < sizeof(driver_calls) / sizeof(*driver_calls); i++)
		code = c.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, driver_calls[i]);
	must("cuptiEnableCallback", code);
}

static void configure_counters(void)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config[8];

	for (int i = 0; i < 8; i++)
		config[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
			CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES, (CUpti_ActivityUnifiedMemoryCounterKind)(i + 1), 0, 1 };
	for (int i = 0; i < 8; i++)
		must("cuptiActivityConfigureUnifiedMemoryCounter of one kind", c.cuptiActivityConfigureUnifiedMemoryCounter(&config[i], 1));
	must("cuptiActivityConfigureUnifiedMemoryCounter", c.cuptiActivityConfigureUnifiedMemoryCounter(config, 8));
}

static void more_kinds(void)
{
	const char *more = getenv("CUPTI_CLIENT_KINDS");

	for (const char *p = more && *more ? more : NULL; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		unsigned kind = (unsigned)strtoul(p, NULL, 10);

		if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
			configure_counters();
		must("cuptiActivityEnable of one of CUPTI_CLIENT_KINDS", c.cuptiActivityEnable((CUpti_ActivityKind)kind));
	}
}

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
};

static void enable(void)
{
	int code = 0;

	must("cuptiActivityRegisterCallbacks", c.cuptiActivityRegisterCallbacks(requested, completed));
	for (size_t i = 0; wants("api") && !code && i < sizeof(driver_calls) / sizeof(*driver_calls); i++)
		code = c.cuptiActivityEnableDriverApi(driver_calls[i], 1);
	must("cuptiActivityEnableDriverApi", code);
	code = 0;
	for (size_t i = 0; wants("runtimeapi") && !code && i < sizeof(runtime_calls) / sizeof(*runtime_calls); i++)
		code = c.cuptiActivityEnableRuntimeApi(runtime_calls[i], 1);
	must("cuptiActivityEnableRuntimeApi", code);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		must("cuptiActivityEnable", c.cuptiActivityEnable(kinds[i]));
	more_kinds();
	if (variable("CUPTI_CLIENT_WAITS", 0))
		must("cuptiActivityEnable", c.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
}

static void set(CUpti_ActivityAttribute attribute, long value)
{
	uint8_t yes = value > 0;
	size_t size = sizeof(yes);

	if (value >= 0)
		must("cuptiActivitySetAttribute", c.cuptiActivitySetAttribute(attribute, &size, &yes));
}

/* Those that are switches take a byte. */
static void more_attributes(void)
{
	const char *p = getenv("CUPTI_CLIENT_ATTRIBUTES");

	for (char *end; p && *p; p = *end ? end + 1 : end) {
		int attribute = (int)strtol(p, &end, 10);
		bool is_switch = attribute == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED ||
				 attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER || attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER;
		size_t value = strtoul(end + (*end == '='), &end, 10), size = is_switch ? 1 : sizeof(value);

		must("an attribute", c.cuptiActivitySetAttribute((CUpti_ActivityAttribute)attribute, &size, &value));
	}
}

/* ---- telling ---- */

static void tell_counts(const char *when, const struct counts *a, const struct counts *b)
{
#define SINCE(what) (unsigned long long)(a->what - b->what)
#define KIND(k) SINCE(records[CUPTI_ACTIVITY_KIND_##k])
	say("%s kernels %llu copies %llu sets %llu driver_calls %llu runtime_calls %llu buffers_asked %llu completed %llu mapped %llu "
	    "foreign %llu bytes %llu dropped %llu asked_for %llu", when, KIND(CONCURRENT_KERNEL), KIND(MEMCPY), KIND(MEMSET), KIND(DRIVER), KIND(RUNTIME),
	    SINCE(asked), SINCE(completed), SINCE(mapped), SINCE(foreign), SINCE(bytes), SINCE(dropped),
	    (unsigned long long)__atomic_load_n(&flushes, __ATOMIC_RELAXED));
}

static void tell_joins(void)
{
	uint64_t n[4] = { 0 };		/* by bits: has the id of a driver call, of a runtime call */

	for (uint32_t i = 0; i < IDS / 64; i++)
		for (uint64_t w = ids[WORK][i]; w; w &= w - 1)
			n[(ids[DRIVER][i] & w & -w ? 1 : 0) + (ids[RUNTIME][i] & w & -w ? 2 : 0)]++;
	say("ids_of_work driver_call_only %llu runtime_call_only %llu of_both %llu of_neither %llu", (unsigned long long)n[1],
	    (unsigned long long)n[2], (unsigned long long)n[3], (unsigned long long)n[0]);
}

static int by_size(const void *a, const void *b)
{
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

static void tell_lags(void)
{
	if (!nlags)
		return;
	qsort(lags, nlags, sizeof(*lags), by_size);
	say("record_lag records %zu median_ms %.1f p99_ms %.1f max_ms %.1f", nlags, lags[nlags / 2] / 1e3, lags[nlags * 99 / 100] / 1e3,
	    lags[nlags - 1] / 1e3);
}

static void tell_sums(const char *what, const struct sums *s)
{
	for (int i = 0; i < 16; i++)
		if (s[i].n)
			say("%s %d n %llu value %llu ns %llu", what, i, (unsigned long long)s[i].n, (unsigned long long)s[i].value,
			    (unsigned long long)s[i].ns);
}

static void at_exit(void)
{
	static const struct counts nothing;
	size_t before = nlags;

	if (lag)
		tell_lags();	/* what comes now came because the program ended */
	c.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	tell_counts("in all", &counts, &nothing);
	if (lag)
		say("came_at_exit %zu", nlags - before);
	if (calls)
		fflush(calls);
	if (join)
		tell_joins();
	for (int i = 0; i < KINDS; i++)
		if (counts.records[i])
			say("records of kind %d: %llu", i, (unsigned long long)counts.records[i]);
	tell_sums("overhead", overheads);
	tell_sums("counter", counters);
	if (called_back)
		say("callbacks %llu", (unsigned long long)called_back);
}

__attribute__((visibility("default"))) void cupti_client_mark(const char *when)
{
	struct counts seen;

	if (!c.cuptiActivityFlushAll)
		return;
	must("cuptiActivityFlushAll", c.cuptiActivityFlushAll(0));
	usleep(100000);
	seen = counts;
	tell_counts(when, &seen, &marked);
	marked = seen;
}

__attribute__((visibility("default"))) void cupti_client_again(void)
{
	if (!c.cuptiActivityFlushAll)
		return;
	enable();
	say("enabled again");
}

__attribute__((visibility("default"))) void cupti_client_on(int on)
{
	for (size_t i = 0; c.cuptiActivityDisable && i < sizeof(kinds) / sizeof(*kinds); i++)
		must("a kind", on ? c.cuptiActivityEnable(kinds[i]) : c.cuptiActivityDisable(kinds[i]));
}

static bool find(void)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11" };
	const char *named = getenv("CUPTI_CLIENT_LIBRARY");
	void *lib = NULL;

	for (size_t i = 0; !lib && i < sizeof(names) / sizeof(*names); i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);		/* the program's own copy first */
	if (!lib && named && *named)
		lib = dlopen(named, RTLD_NOW);
	for (size_t i = 0; !lib && i < sizeof(names) / sizeof(*names); i++)
		lib = dlopen(names[i], RTLD_NOW);
	if (!lib)
		return false;
#define X(name) *(void **)&c.name = dlsym(lib, #name); \
	if (!c.name) \
		return false;
	FUNCTIONS(X)
#undef X
	return true;
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *m = getenv("CUPTI_CLIENT");
	long ms = variable("CUPTI_CLIENT_FLUSH_MS", 0), bytes = variable("CUPTI_CLIENT_BUFFER", 1 << 20);
	pthread_t thread;
	uint32_t version = 0;

	mode = m && *m ? m : "none";
	if (!strcmp(mode, "none"))
		return 1;
	if (!find()) {
		say("no CUPTI was found");
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
		must("cuptiActivityRegisterTimestampCallback", c.cuptiActivityRegisterTimestampCallback(now));
	if (variable("CUPTI_CLIENT_THREADS", 0))
		must("cuptiSetThreadIdType", c.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
	set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, variable("CUPTI_CLIENT_ZEROED", 1));
	set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, variable("CUPTI_CLIENT_PER_THREAD", -1));
	more_attributes();
	if (wants("callbacks"))
		subscribe();
	enable();
	if (ms > 0)
		pthread_create(&thread, NULL, flush, (void *)(uintptr_t)ms);
	atexit(at_exit);
	say("CUPTI %u buffer %zu flush_ms %ld", version, buffer_bytes, ms);
	return 1;
}
