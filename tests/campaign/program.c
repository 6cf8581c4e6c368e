/* The program that tests/campaign.sh records and kills. Its threads and forked children call the
 * driver in several ways until the time is over, and count each call in the truth file before and
 * after it. It ends with status 7.
 * Usage: program TRUTH -d MILLISECONDS [-t THREADS] [-p PROCESSES] [-c CHURN] [-f FLOOD] [-s SEED]
 * THREADS: of the first process. PROCESSES: forked before cuInit, with threads of their own. CHURN
 * 1: fork short children from the process with threads. FLOOD: calls that a thread makes without a
 * pause before it slows down. */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tests/campaign/truth.h"

#define STATUS 7
#define BYTES 65536 /* of device memory; a copy carries its number in the address */
#define BUSY_MAX 40 /* ms, the longest kernel that a thread waits for */

static struct truth *truth;
static __thread struct truth_thread *me;
static uint64_t deadline;
static long flood;
static unsigned seed;
static CUcontext ctx;
static CUfunction scale, busy;
static CUgraphExec exec;

/* ---- counting ---- */

static int take_slot(uint32_t kind, uint32_t leader)
{
	uint32_t i = __atomic_fetch_add(&truth->nthreads, 1, __ATOMIC_RELAXED);

	if (i >= TRUTH_THREADS)
		return -1;
	me = &truth->thread[i];
	me->kind = kind;
	me->leader = leader;
	me->tid = (int32_t)syscall(SYS_gettid);
	__atomic_store_n(&me->pid, (int32_t)getpid(), __ATOMIC_RELEASE);
	return 0;
}

static inline void begin_call(void)
{
	if (!me->started)
		me->first_ns = truth_now();
	me->landed = 0;
	__atomic_store_n(&me->started, me->started + 1, __ATOMIC_RELEASE);
}

static inline void end_call(CUresult rc, const char *what)
{
	__atomic_store_n(&me->returned, me->returned + 1, __ATOMIC_RELEASE);
	if (rc) {
		fprintf(stderr, "%s: error %d\n", what, rc);
		_exit(4);
	}
}

#define CALL(call)                                                                                 \
	do {                                                                                       \
		begin_call();                                                                      \
		end_call(call, #call);                                                             \
	} while (0)

static int has_time(void) { return truth_now() < deadline; }

/* ---- what threads do ---- */

static void copy(void)
{
	CUdeviceptr at;

	CALL(cuMemAlloc_v2(&at, BYTES));
	CALL(cuMemsetD8Async(at, 1, BYTES, NULL));
	me->base = at;
	for (uint64_t i = 0; has_time(); i++) {
		CALL(cuMemcpyDtoH_v2(&me->landed, at + i % BYTES, 1));
		usleep(300);
	}
	CALL(cuMemFree_v2(at));
}

static void launch_one(CUfunction f, unsigned grid, CUstream s, void **args)
{
	CALL(cuLaunchKernel(f, grid, 1, 1, 32, 1, 1, 0, s, args, NULL));
}

static void launch(void)
{
	float one = 1;
	int n = 1 << 10;
	CUdeviceptr x;
	CUstream s;
	void *args[] = { &x, &one, &n };

	CALL(cuMemAlloc_v2(&x, BYTES));
	CALL(cuStreamCreate(&s, 1));
	for (unsigned i = 0; has_time(); i++) {
		launch_one(scale, i + 1, s, args);
		if (i % 16 == 15) {
			CALL(cuStreamSynchronize(s));
			usleep(1000);
		}
	}
	CALL(cuStreamDestroy_v2(s));
	CALL(cuMemFree_v2(x));
}

/* The first thread captures, before others launch: a launch that has no record, because the program
 * was killed, counts as captured when another thread of the process captured at that time. */
static void capture(void)
{
	float one = 1;
	int n = 1 << 10;
	CUdeviceptr x;
	CUstream s;
	CUgraph g;
	void *args[] = { &x, &one, &n };

	CALL(cuMemAlloc_v2(&x, BYTES));
	CALL(cuStreamCreate(&s, 1));
	CALL(cuStreamBeginCapture_v2(s, 1));
	for (int i = 0; i < 8; i++)
		launch_one(scale, 4, s, args);
	CALL(cuStreamEndCapture(s, &g));
	CALL(cuGraphInstantiateWithFlags(&exec, g, 0));
}

static void graph(void)
{
	CUstream s;

	CALL(cuStreamCreate(&s, 1));
	for (unsigned i = 0; has_time(); i++) {
		CALL(cuGraphLaunch(exec, s));
		if (i % 8 == 7) {
			CALL(cuStreamSynchronize(s));
			usleep(1000);
		}
	}
	CALL(cuStreamSynchronize(s));
	CALL(cuStreamDestroy_v2(s));
}

static void spin(void)
{
	for (long i = 0; i < flood && (i % 256 || has_time()); i++)
		CALL(cuDriverGetVersion(&me->landed));
	while (has_time()) {
		for (int i = 0; i < 40; i++)
			CALL(cuDriverGetVersion(&me->landed));
		usleep(2000);
	}
}

static void wait_often(void)
{
	unsigned long long cycles;
	unsigned dice = seed + (unsigned)me->tid;
	CUstream s;
	void *args[] = { &cycles };

	CALL(cuStreamCreate(&s, 1));
	while (has_time()) {
		cycles = 1000000ull * (1 + (unsigned)rand_r(&dice) % BUSY_MAX);
		launch_one(busy, 1, s, args);
		CALL(cuStreamSynchronize(s));
	}
	CALL(cuStreamDestroy_v2(s));
}

static void *thread(void *kind)
{
	static void (*const does[TRUTH_KINDS])(void) = { [TRUTH_COPY] = copy,
		[TRUTH_LAUNCH] = launch,
		[TRUTH_GRAPH] = graph,
		[TRUTH_SPIN] = spin,
		[TRUTH_WAIT] = wait_often };

	if (take_slot((uint32_t)(uintptr_t)kind, 0))
		return NULL;
	CALL(cuCtxSetCurrent(ctx));
	does[(uintptr_t)kind]();
	me->done = 1;
	return NULL;
}

/* A child of a process with threads: it makes a few calls and ends. */
static void churn(void)
{
	unsigned dice = seed;

	while (has_time() && truth_threads(truth) < TRUTH_THREADS - 1) {
		int calls = 1 + rand_r(&dice) % 30;
		pid_t pid = fork();

		if (!pid) {
			if (!take_slot(TRUTH_CHURN, 1)) {
				for (int i = 0; i < calls; i++)
					CALL(cuDriverGetVersion(&me->landed));
				me->done = 1;
			}
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		usleep(5000);
	}
}

/* ---- processes ---- */

static void start(void)
{
	CUdevice dev;
	CUmodule m;

	cu_open();
	CALL(cuInit(0));
	CALL(cuDeviceGet(&dev, 0));
	CALL(cuDevicePrimaryCtxRetain(&ctx, dev));
	CALL(cuCtxSetCurrent(ctx));
	CALL(cuModuleLoadData(&m, cu_ptx));
	CALL(cuModuleGetFunction(&scale, m, SCALE));
	CALL(cuModuleGetFunction(&busy, m, BUSY));
	capture();
}

static void work(long nthreads, int churns)
{
	pthread_t id[64];
	long n = 0;

	start();
	for (; n < nthreads && n < 64; n++)
		if (pthread_create(&id[n], NULL, thread,
			    (void *)(uintptr_t)(1 + (seed + (unsigned)n) % (TRUTH_KINDS - 1))))
			break;
	if (churns)
		churn();
	while (n--)
		pthread_join(id[n], NULL);
	me->done = 1;
}

int main(int argc, char **argv)
{
	long nthreads = cu_option(argc, argv, "-t", 3), nprocesses = cu_option(argc, argv, "-p", 0),
	     sum = 0;
	long churns = cu_option(argc, argv, "-c", 0), ms = cu_option(argc, argv, "-d", 100);

	if (argc < 2)
		return 2;
	flood = cu_option(argc, argv, "-f", 0);
	seed = (unsigned)cu_option(argc, argv, "-s", 1);
	truth = truth_open(argv[1]);
	deadline = truth_now() + (uint64_t)ms * 1000000;
	take_slot(TRUTH_MAIN, 1);
	truth->main_pid = getpid();
	for (long i = 0; i < nprocesses; i++) {
		if (fork())
			continue;
		seed += (unsigned)i + 1;
		if (!take_slot(TRUTH_MAIN, 1))
			work(nthreads > 1 ? 2 : 1, 0);
		_exit(0);
	}
	work(nthreads, (int)churns);
	while (waitpid(-1, NULL, 0) > 0)
		;
	for (uint32_t i = 0; i < truth_threads(truth); i++)
		sum += (long)truth->thread[i].returned;
	printf("%ld calls\n", sum);
	fflush(stdout);
	truth->main_done = 1;
	return STATUS;
}
