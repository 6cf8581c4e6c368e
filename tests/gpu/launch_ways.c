/* Cost of each part of a recorder per launch, measured in one process: launch_ways [-c LIBCUPTI]
 * [-n ROUNDS] [-j THREADS] [-p CPU] [-f FLUSHERS] [-t 1] [-a MS [-l LIBRARY] [-b 1]] WAY...
 *
 * Two equal processes differ by more than a recorder costs. So bursts of launches of an empty
 * kernel alternate in one process, one burst per WAY and round, forwards and backwards in turn.
 * Each is compared with the burst of the first WAY in the same round. A WAY is one or more words
 * separated by commas:
 *	bare		CUPTI records kernels, copies and sets; each other word includes that
 *	api		records of the driver calls that create GPU work
 *			(formats/cuda/cuda_api_cbid.h)
 *	tids		with the system's thread ids in them instead of pthread's
 *	overhead	records of CUPTI's own overhead
 *	calls		calls the function that a program finds, which may be a recorder's wrapper;
 *			otherwise the driver's own
 *	nothing		not even kernels, copies and sets are recorded
 *	range		inside cuProfilerStart and cuProfilerStop, for a profiler that records only
 *			there
 *	tsc, still	CUPTI's clock is the scaled processor counter; is a constant (with -c only)
 * -c: this program is CUPTI's client and discards the records; otherwise the existing client
 * continues. -j: THREADS threads launch at the same time, each in its own stream. -p: each on its
 * own processor, from CPU on in steps of two. -f: this many threads flush complete buffers every
 * millisecond; with -t 1 also while ways change. -a: all that three times: before a tracer attaches
 * to the probes of the libgtpreload.so in this process, while one is attached, and MS after it
 * detached; a WAY is then WAY@before, WAY@attached, WAY@after. -l: this program loads LIBRARY, as a
 * driver loads the library named by CUDA_INJECTION64_PATH; the measurement before that is
 * WAY@without. If LIBRARY is -, nothing happens between these stages: differences are errors of the
 * measurement. Stages are seconds apart, and a shared processor's speed may change by more than the
 * measured effect in that time. -b: therefore a second process runs the same stages on the same
 * processor (-p), a burst after each burst of the first one, and does nothing between stages. Its
 * time per launch is the pace; the first process's times are scaled to the median pace.
 * Prints "THREADS WAY NAME VALUE": ns, time per launch (median over the rounds of a burst's mean);
 * more, the median of the differences to the first WAY; change, that of the differences to the same
 * WAY at the first stage; *_low and *_high, the 95 % interval of that median; clock, readings of
 * CUPTI's clock per launch (with -c only). With -b also pace, the second process's ns. With -a also
 * own: whether the function that a program finds is the driver's own. */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <execinfo.h>
#include <link.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <x86intrin.h>
#include "collect/guest/cupti/cupti_layout.h"
#include "formats/cuda/cuda_api_cbid.h"
#include "tests/unit/collect/guest/probe_notes.h"

enum {
	BURST = 512,
	WARM = 64,
	WAYS = 16,
	THREADS = 16,
	ROUNDS = 4096,
	BUFFER_BYTES = 65536,
	BUFFERS = 2048,
	KINDS = 64
};
enum {
	API = 1,
	TIDS = 2,
	OVERHEAD = 4,
	CALLS = 8,
	NOTHING = 16,
	TSC = 32,
	STILL = 64,
	RANGE = 128,
	NWORDS = 8
};
static const char *const words[] = { "api", "tids", "overhead", "calls", "nothing", "tsc", "still",
	"range", "bare" };

static const char empty_ptx[] =
	".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n	ret;\n}\n";

static struct gt_cupti cupti;
static CUcontext ctx;
static CUfunction empty;
static CUresult (*program_launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
	unsigned, unsigned, CUstream, void **, void **);
/* cuLaunchKernel as the program finds it, and as the driver defines it */
static __typeof__(program_launch) driver_launch;
static bool together, idle; /* with -t; with -l - */
static int rounds, threads, nways, first_cpu, ways[WAYS], any_way,
	now_in = API | TIDS | OVERHEAD | CALLS;
static const char *names[WAYS], *client, *library;
static const char *const stage_names[] = { "without", "before", "attached", "after" };
enum { WITHOUT, BEFORE, ATTACHED, AFTER, STAGES };
/* stages: their number, from first_stage on */
static int first_stage = BEFORE, stages = 1, away_ms;
/* ns per launch; the ways of all stages, stage by stage */
static double took[WAYS][THREADS][ROUNDS];
static struct shared { /* shared by both processes */
	pthread_barrier_t gate;
	double took[WAYS][ROUNDS];
} * shared;
static bool second; /* true in the second process */
static uint64_t reads[WAYS];
static __thread uint64_t own_reads;
static pthread_barrier_t gate;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- a client of CUPTI ---- */

static uint64_t tsc_at, ns_at, still;
static double ns_a_tick;
static int clock_kind;

static uint64_t clock_of_client(void)
{
	own_reads++;
	return clock_kind & STILL  ? still
		: clock_kind & TSC ? ns_at + (uint64_t)((double)(__rdtsc() - tsc_at) * ns_a_tick)
				   : now();
}

static uint8_t *spare[BUFFERS];
static int nspare;
static uint64_t records[KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, turn = PTHREAD_MUTEX_INITIALIZER;

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	pthread_mutex_lock(&lock);
	*buffer = nspare ? spare[--nspare] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer)
		*buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	*size = BUFFER_BYTES;
	*most = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint8_t *r = NULL;

	(void)context, (void)stream, (void)size;
	while (!cupti.next(buffer, valid, &r)) {
		uint32_t kind;

		memcpy(&kind, r, sizeof(kind));
		if (kind < KINDS)
			records[kind]++;
	}
	memset(buffer, 0, valid);
	pthread_mutex_lock(&lock);
	if (nspare < BUFFERS)
		spare[nspare++] = buffer;
	pthread_mutex_unlock(&lock);
}

static void *flush(void *arg)
{
	for (;;) {
		usleep(1000);
		pthread_mutex_lock(&turn);
		cupti.flush(0);
		pthread_mutex_unlock(&turn);
	}
	return arg;
}

static void kinds(bool on)
{
	static const int all[] = { GT_CUPTI_KERNEL, GT_CUPTI_MEMCPY, GT_CUPTI_MEMCPY_PEER,
		GT_CUPTI_MEMSET };

	for (int i = 0; i < 4; i++)
		OK(on ? cupti.enable(all[i]) : cupti.disable(all[i]));
}

static void enable_calls(bool on)
{
	static const uint16_t calls[] = {
#define X(cbid, name) cbid,
		GT_CBIDS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		OK(cupti.enable_driver_call(calls[i], on));
}

/* Finds a function in a library's symbol table, without dlsym, which a tool may intercept:
 * gtcollect disables its recording if another client enables records in CUPTI. In all libraries of
 * current linkers the table of symbols ends where the table of strings begins. */
static void *find_symbol(void *lib, const char *name)
{
	const ElfW(Sym) *sym = NULL;
	const char *strings = NULL;
	struct link_map *map;

	if (dlinfo(lib, RTLD_DI_LINKMAP, &map))
		return NULL;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag; d++) {
		if (d->d_tag == DT_SYMTAB)
			sym = (const void *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			strings = (const void *)d->d_un.d_ptr;
	}
	for (; sym && (const char *)sym < strings; sym++)
		if (sym->st_value && !strcmp(strings + sym->st_name, name))
			return (char *)map->l_addr + sym->st_value;
	return NULL;
}

static void find_cupti(void)
{
	void *lib = client ? dlopen(client, RTLD_NOW) : NULL;
	uint8_t yes = 1;
	size_t size = 1;

	if (!client && !(any_way & ~(CALLS | RANGE)))
		return;
	for (int v = 13; !client && !lib && v > 10; v--) {
		char name[32];

		snprintf(name, sizeof(name), "libcupti.so.%d", v);
		lib = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
	}
	if (!lib) {
		fprintf(stderr, "no CUPTI: %s\n", client ? dlerror() : "no client has loaded it");
		exit(1);
	}
#define F(field, function) *(void **)&cupti.field = find_symbol(lib, #function)
	F(timestamps, cuptiActivityRegisterTimestampCallback), F(thread_ids, cuptiSetThreadIdType),
		F(set_attribute, cuptiActivitySetAttribute);
	F(callbacks, cuptiActivityRegisterCallbacks), F(enable, cuptiActivityEnable),
		F(disable, cuptiActivityDisable);
	F(enable_driver_call, cuptiActivityEnableDriverApi), F(flush, cuptiActivityFlushAll),
		F(next, cuptiActivityGetNextRecord);
#undef F
	if (!client)
		return;
	tsc_at = __rdtsc(), ns_at = still = now();
	usleep(50000);
	ns_a_tick = (double)(now() - ns_at) / (double)(__rdtsc() - tsc_at);
	OK(cupti.timestamps(clock_of_client));
	OK(cupti.callbacks(requested, completed));
	OK(cupti.set_attribute(GT_CUPTI_ZEROED_BUFFERS, &size, &yes));
	enable_calls(true);
	kinds(true);
	now_in = API;
}

/* ---- ways ---- */

static void change(int way)
{
	int other = way ^ now_in;

	if (other & API)
		enable_calls(way & API);
	if (other & TIDS)
		OK(cupti.thread_ids(way & TIDS ? GT_CUPTI_SYSTEM_TID : 0));
	if (other & OVERHEAD)
		OK(way & OVERHEAD ? cupti.enable(GT_CUPTI_OVERHEAD)
				  : cupti.disable(GT_CUPTI_OVERHEAD));
	if (other & NOTHING)
		kinds(!(way & NOTHING));
}

/* A profiler may take time to start or stop. */
static void range(bool on)
{
	CUresult (*call)(void) = (CUresult(*)(void))dlsym(
		dlopen("libcuda.so.1", RTLD_NOW), on ? "cuProfilerStart" : "cuProfilerStop");

	OK(call());
	usleep(100000);
}

/* Changes the way while no thread flushes (with -f). */
static void set_way(int way)
{
	if ((way ^ now_in) & RANGE)
		range(way & RANGE);
	if (!together)
		pthread_mutex_lock(&turn);
	if (cupti.enable)
		change(way);
	clock_kind = now_in = way;
	if (!together)
		pthread_mutex_unlock(&turn);
}

static int way_of(const char *s)
{
	int way = 0;

	for (size_t n; *s; s += n + (s[n] == ',')) {
		size_t i = 0;

		n = strcspn(s, ",");
		while (i <= NWORDS && (strlen(words[i]) != n || strncmp(words[i], s, n)))
			i++;
		if (i > NWORDS) {
			fprintf(stderr, "launch_ways: unknown way %s\n", s);
			exit(2);
		}
		way |= i < NWORDS ? 1 << i : 0;
	}
	return way;
}

/* ---- launches ---- */

static void burst(int way, CUstream s, int n)
{
	__typeof__(program_launch) launch = way & CALLS ? program_launch : driver_launch;

	for (int i = 0; i < n; i++)
		OK(launch(empty, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
}

/* As the driver loads the library named by CUDA_INJECTION64_PATH. */
static void load(const char *path)
{
	void *loaded = dlopen(path, RTLD_NOW);
	int (*start)(void) = loaded ? (int (*)(void))dlsym(loaded, "InitializeInjection") : NULL;

	if (!start || !start()) {
		fprintf(stderr, "%s cannot be injected: %s\n", path,
			loaded ? "its InitializeInjection failed" : dlerror());
		exit(1);
	}
}

static void attach(int by)
{
	static struct probe probes[PROBES_MAX];
	static int n;

	n = n ? n : idle ? 0 : probe_notes(probes);
	for (int i = 0; i < n; i++)
		__atomic_fetch_add(probes[i].counter, by, __ATOMIC_SEQ_CST);
}

static void begin(int stage, CUstream s)
{
	uint64_t from = now();

	if (stage == BEFORE && library && !idle)
		load(library);
	if (stage == ATTACHED)
		attach(1);
	/* CUPTI starts in this time */
	while (stage == ATTACHED && now() - from < 1000000000) {
		burst(CALLS, s, WARM);
		OK(cuStreamSynchronize(s));
	}
	if (stage == AFTER) {
		attach(-1);
		usleep(1000 * away_ms);
	}
}

static void one_burst(int r, int me, int w, int at, CUstream s)
{
	uint64_t began, before;

	burst(ways[w], s, WARM);
	before = own_reads;
	began = now();
	burst(ways[w], s, BURST);
	if (r >= 0) {
		took[at][me][r] = (double)(now() - began) / BURST;
		__atomic_fetch_add(&reads[at], own_reads - before, __ATOMIC_RELAXED);
	}
	if (r >= 0 && second)
		shared->took[at][r] = took[at][me][r];
}

/* One burst of every way. */
static void run_round(int r, int me, int stage, CUstream s)
{
	for (int k = 0; k < nways; k++) {
		int w = r % 2 ? nways - 1 - k : k, at = (stage - first_stage) * nways + w;

		OK(cuStreamSynchronize(s));
		pthread_barrier_wait(&gate);
		if (!me)
			set_way(ways[w]);
		pthread_barrier_wait(&gate);
		for (int process = 0; process < (shared ? 2 : 1); process++) {
			if (process == second)
				one_burst(r, me, w, at, s);
			if (shared) {
				OK(cuStreamSynchronize(s));
				pthread_barrier_wait(&shared->gate);
			}
		}
	}
}

static void *run(void *arg)
{
	int me = (int)(intptr_t)arg;
	cpu_set_t set;
	CUstream s;

	CPU_ZERO(&set);
	CPU_SET(first_cpu + 2 * me, &set);
	if (first_cpu >= 0 && pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		fprintf(stderr, "launch_ways: no processor %d\n", first_cpu + 2 * me);
	OK(cuCtxSetCurrent(ctx));
	OK(cuStreamCreate(&s, 1));
	for (int stage = first_stage; stage < first_stage + stages; stage++) {
		pthread_barrier_wait(&gate);
		if (!me)
			begin(stage, s);
		for (int r = stages > 1 ? -rounds / 2 : -2; r < rounds; r++)
			run_round(r, me, stage, s);
	}
	OK(cuStreamSynchronize(s));
	return NULL;
}

static void run_all(void)
{
	pthread_t others[THREADS];

	pthread_barrier_init(&gate, NULL, threads);
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, run, (void *)(intptr_t)i))
			exit(1);
	run(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
}

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The difference of the rounds of w and `from`. */
static void print_difference(int w, int from, const char *who, const char *word)
{
	static double d[ROUNDS];
	int reach = (int)(0.98 * sqrt(rounds)) + 1;

	for (int r = 0; r < rounds; r++) {
		d[r] = 0;
		for (int i = 0; i < threads; i++)
			d[r] += (took[w][i][r] - took[from][i][r]) / threads;
	}
	qsort(d, rounds, sizeof(*d), by_double);
	printf("%d %s %s %.1f\n%d %s %s_low %.1f\n%d %s %s_high %.1f\n", threads, who, word,
		d[rounds / 2], threads, who, word,
		d[rounds / 2 - reach > 0 ? rounds / 2 - reach : 0], threads, who, word,
		d[rounds / 2 + reach < rounds ? rounds / 2 + reach : rounds - 1]);
}

static double median_pace(int w, int nth)
{
	static double all[WAYS * ROUNDS];
	int n = 0;

	for (int k = w; k < w + nth; k++)
		for (int r = 0; r < rounds; r++)
			all[n++] = shared->took[k][r];
	qsort(all, n, sizeof(*all), by_double);
	return all[n / 2];
}

static void scale_to_pace(void)
{
	double usual = median_pace(0, nways * stages);

	for (int w = 0; w < nways * stages; w++)
		for (int r = 0; r < rounds; r++)
			took[w][0][r] *= usual / shared->took[w][r];
}

static void print_way(int w)
{
	static double all[THREADS * ROUNDS];
	char who[128];
	int n = 0;

	snprintf(who, sizeof(who), "%s%s%s", names[w % nways], stages > 1 ? "@" : "",
		stages > 1 ? stage_names[first_stage + w / nways] : "");
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < threads; i++)
			all[n++] = took[w][i][r];
	qsort(all, n, sizeof(*all), by_double);
	printf("%d %s ns %.1f\n", threads, who, all[n / 2]);
	if (w % nways)
		print_difference(w, w - w % nways, who, "more");
	if (w >= nways)
		print_difference(w, w % nways, who, "change");
	if (shared)
		printf("%d %s pace %.1f\n", threads, who, median_pace(w, 1));
	if (client)
		printf("%d %s clock %.3f\n", threads, who,
			(double)reads[w] / rounds / threads / BURST);
}

/* Before CUDA is initialized, because a forked child cannot use it. */
static void start_second(void)
{
	pthread_barrierattr_t attr;

	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->gate, &attr, 2);
	second = !fork();
	idle |= second;
	if (second)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void aborted(int signal)
{
	void *frames[64];

	backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
	_exit(128 + signal);
}

int main(int argc, char **argv)
{
	pthread_t flusher;
	CUmodule m;
	void *cuda;
	int i;

	signal(SIGABRT, aborted);
	/* growing and shrinking the heap in each burst takes longer than the measured effect */
	mallopt(M_TRIM_THRESHOLD, 1 << 26);
	mallopt(M_TOP_PAD, 1 << 24);
	rounds = (int)cu_option(argc, argv, "-n", 200);
	threads = (int)cu_option(argc, argv, "-j", 1);
	first_cpu = (int)cu_option(argc, argv, "-p", -1);
	for (i = 1; i + 1 < argc && *argv[i] == '-'; i += 2)
		if (!strcmp(argv[i], "-c"))
			client = argv[i + 1];
		else if (!strcmp(argv[i], "-l"))
			library = argv[i + 1], first_stage = WITHOUT, idle = !strcmp(library, "-");
	if ((away_ms = (int)cu_option(argc, argv, "-a", -1)) >= 0)
		stages = STAGES - first_stage;
	for (; i < argc && nways < WAYS; i++)
		names[nways] = argv[i], any_way |= ways[nways++] = way_of(argv[i]);
	if (!nways || nways * stages > WAYS || rounds < 1 || rounds > ROUNDS || threads < 1 ||
		threads > THREADS ||
		(cu_option(argc, argv, "-b", 0) && (threads > 1 || stages == 1 || first_cpu < 0)))
		return 2;
	if (cu_option(argc, argv, "-b", 0))
		start_second();
	cu_open();
	OK(cuInit(0));
	/* records of calls that are enabled after the first context are never delivered */
	find_cupti();
	ctx = cu_start();
	cuda = dlopen("libcuda.so.1", RTLD_NOW);
	program_launch = cuLaunchKernel;
	*(void **)&driver_launch = find_symbol(cuda, "cuLaunchKernel");
	OK(cuModuleLoadData(&m, empty_ptx));
	empty = cu_kernel(m, "empty");
	together = cu_option(argc, argv, "-t", 0);
	for (i = (int)cu_option(argc, argv, "-f", 0); i-- > 0;)
		pthread_create(&flusher, NULL, flush, NULL);
	run_all();
	if (second)
		_exit(0);
	if (shared)
		scale_to_pace();
	for (i = 0; i < nways * stages; i++)
		print_way(i);
	if (stages > 1)
		printf("%d all own %d\n", threads, program_launch == driver_launch);
	fflush(stdout);
	set_way((now_in | CALLS) & ~RANGE);
	if (cupti.flush)
		cupti.flush(GT_CUPTI_FORCED);
	for (i = 0; i < KINDS; i++)
		if (records[i])
			printf("%d all records_of_kind_%d %llu\n", threads, i,
				(unsigned long long)records[i]);
	return 0;
}
