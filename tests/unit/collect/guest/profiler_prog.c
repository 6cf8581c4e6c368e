/* A program that profiles itself with CUPTI, as torch.profiler does: it registers its
 * callbacks and its clock once, and then enables kernels twice, for 50 launches each. Before,
 * between and after these are 50 launches without profiling. It prints the number of kernels in its
 * own records and how many of them have times of its own clock.
 * For tests/cli/collect/gpu_others.sh. Arguments:
 *	linked		finds CUPTI's functions by dlsym's default search, having loaded it globally
 *	finalize	ends CUPTI
 *	first		enables kernels before cuInit
 *	late		flushes its records only one second after it has disabled them
 *	idle		registers, and enables nothing
 *	thread		profiles from a thread that then makes all launches
 *	slow		processes records slowly, and calls CUPTI often while it does so
 *	ends		does not profile, but ends while a thread flushes
 *	calls		also enables the runtime's calls and one launch function of the driver, and
 *			disables both kinds
 *	runtime		launches by the runtime
 *	disable		only disables kernels
 *	again		CUPTI calls it back, and the callback calls CUPTI
 *	fork		no profiling, but a child between its launches
 *	execv, ...	no profiling; the program is replaced right after its launches
 *	stay		the same, but without such a file: it launches more, then calls _exit
 *	abort, assert	no profiling; it aborts right after its launches
 *	abort later	the same, half a second after them */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include "samples/cudart.h"

#define AHEAD 1000000000000000ll /* its clock is so far ahead of CLOCK_MONOTONIC */

static void *library;

/* Waits until the profiler has seen that we have finished with CUPTI and has enabled kernels
 * itself, or until the time is over. Without a profiler, set PAUSE_MS=0. */
static void pause_long(void)
{
	int (*enabled)(unsigned) = (int (*)(unsigned))dlsym(library, "cuptiSimulatedKind");
	const char *ms = getenv("PAUSE_MS");

	for (int i = ms ? atoi(ms) : 1200; i > 0 && !(enabled && enabled(10)); i--)
		usleep(1000);
}

static int kernels, in_clock, foreign;
static char mine[64][65536] __attribute__((aligned(8)));
static int given;
static bool again, slow;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + AHEAD;
}

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = (uint8_t *)mine[__atomic_fetch_add(&given, 1, __ATOMIC_RELAXED) % 64];
	memset(*buffer, 0, sizeof(*mine));
	*size = sizeof(*mine);
	*most = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	int (*next)(uint8_t *, size_t, uint8_t **) = (int (*)(uint8_t *, size_t, uint8_t **))dlsym(
		library, "cuptiActivityGetNextRecord");
	uint8_t *r = NULL;
	int (*disable)(uint32_t) = (int (*)(uint32_t))dlsym(library, "cuptiActivityDisable");
	uint64_t start;

	if (again)
		disable(10);
	if (slow)
		usleep(900000);
	slow = false;
	(void)context, (void)stream, (void)size;
	if (buffer < (uint8_t *)mine || buffer >= (uint8_t *)mine + sizeof(mine)) {
		foreign++;
		return;
	}
	while (!next(buffer, valid, &r)) {
		if (*(uint32_t *)(void *)r != 10)
			continue;
		memcpy(&start, r + 16, 8);
		kernels++;
		in_clock += start > AHEAD && start <= now();
	}
}

static void *find(const char *name, bool linked)
{
	return linked ? dlsym(RTLD_DEFAULT, name) : dlsym(library, name);
}

static bool runtime;

static void launch(CUfunction f, int n)
{
	uint64_t cycles = 1000;

	for (int i = 0; i < n; i++)
		if (runtime)
			CUDART(CUDA_LAUNCH_KERNEL)
	LAUNCH(f, 1, NULL, &cycles);
	else LAUNCH(f, 1, NULL, &cycles);
	OK(cuCtxSynchronize());
}

static int with_a_child(CUfunction f)
{
	CUcontext c;
	int status;
	pid_t child = fork();

	if (!child) {
		for (int i = 0; i < 5; i++)
			cuCtxGetCurrent(&c);
		_exit(0);
	}
	waitpid(child, &status, 0);
	launch(f, 50);
	return status;
}

static const char *how = "";
static bool is(const char *s);

/* By each function of the family. */
static int replace(CUfunction f)
{
	char *const argv[] = { (char *)"true", (char *)"1", NULL };
	extern char **environ;

	if (is("execve"))
		execve("/bin/true", argv, environ);
	if (is("execv"))
		execv("/bin/true", argv);
	if (is("execvp"))
		execvp("true", argv);
	if (is("execvpe"))
		execvpe("true", argv, environ);
	if (is("fexecve"))
		fexecve(open("/bin/true", O_RDONLY), argv, environ);
	if (is("execl"))
		execl("/bin/sh", "sh", "-c", "test \"$1$2$3\" = abc", "x", "a", "b", "c",
			(char *)NULL);
	if (is("execlp"))
		execlp("sh", "sh", "-c", "test \"$1$2$3\" = abc", "x", "a", "b", "c", (char *)NULL);
	if (is("execle"))
		execle("/bin/sh", "sh", "-c", "test \"$WITH$1\" = this", "x", "is", (char *)NULL,
			(char *[]){ (char *)"WITH=th", NULL });
	if (!is("stay") || execv("/there/is/none", argv) != -1 || errno != ENOENT)
		return 7;
	launch(f, 50);
	_exit(0);
}

static bool is(const char *s) { return !strcmp(how, s); }

static void die(void)
{
	if (is("abort later"))
		usleep(500000);
	assert(!is("assert"));
	abort();
}

static int (*callbacks)(void *, void *), (*clock_is)(void *), (*enable)(uint32_t),
	(*disable)(uint32_t), (*flush)(uint32_t), (*end)(void), (*enable_call)(uint32_t, uint8_t);

static void find_all(bool linked)
{
	library = dlopen("libcupti.so.13", RTLD_NOW | (linked ? RTLD_GLOBAL : 0));
	callbacks = (int (*)(void *, void *))find("cuptiActivityRegisterCallbacks", linked);
	clock_is = (int (*)(void *))find("cuptiActivityRegisterTimestampCallback", linked);
	enable = (int (*)(uint32_t))find("cuptiActivityEnable", linked);
	disable = (int (*)(uint32_t))find("cuptiActivityDisable", linked);
	flush = (int (*)(uint32_t))find("cuptiActivityFlushAll", linked);
	end = (int (*)(void))find("cuptiFinalize", linked);
	enable_call = (int (*)(uint32_t, uint8_t))find("cuptiActivityEnableDriverApi", linked);
}

static void *flush_once(void *arg)
{
	flush(0);
	return arg;
}

/* The program ends while a thread flushes. */
static void end_meanwhile(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, flush_once, NULL))
		exit(8);
	usleep(100000);
	exit(0);
}

/* The client needs time for the records; many calls follow. */
static void flush_slowly(void)
{
	slow = true;
	flush(1);
	for (int i = 0; i < 40; i++)
		disable(11);
}

static void *all(void *arg)
{
	bool finalize = is("finalize") || is("again");
	CUfunction f = NULL;
	CUcontext c = arg;
	CUmodule m;

	find_all(is("linked"));
	if (is("ends"))
		end_meanwhile();
	if (is("disable"))
		disable(10);
	else if (callbacks(requested, completed) || clock_is(now))
		exit(3);
	if (is("first") && enable(10))
		exit(4);
	if (!c)
		cu_start();
	else
		OK(cuCtxSetCurrent(c));
	OK(cuModuleLoadData(&m, cu_ptx));
	f = cu_kernel(m, BUSY);
	if (is("idle") || is("disable")) {
		pause_long();
		launch(f, 50);
		return NULL;
	}
	for (int i = 0; i < 2; i++) {
		if (!(is("first") && !i) && enable(10))
			exit(4);
		if (is("calls") && (enable(5) || enable_call(307, 1)))
			exit(7);
		launch(f, 50);
		if (is("slow"))
			flush_slowly();
		again = is("again");
		if (!is("late") && !again)
			flush(1);
		disable(10);
		if (is("calls"))
			disable(5), disable(4);
		if (!is("late") && !again)
			flush(1);
		if (finalize && end())
			exit(5);
		pause_long();
		if (is("late"))
			flush(1);
		launch(f, 50);
		if (finalize)
			break;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	CUcontext c = NULL;
	CUfunction f = NULL;
	CUmodule m;
	pthread_t t;

	how = argc > 1 ? argv[1] : "";
	cudart_open();
	runtime = is("runtime");
	if (!is("first")) {
		cu_start();
		OK(cuModuleLoadData(&m, cu_ptx));
		f = cu_kernel(m, BUSY);
		launch(f, 50);
		OK(cuCtxGetCurrent(&c));
	}
	if (is("fork"))
		return with_a_child(f);
	if (strstr(how, "exec") || is("stay"))
		return replace(f);
	if (is("assert") || strstr(how, "abort"))
		die();
	if (!is("thread"))
		all(c);
	else if (pthread_create(&t, NULL, all, c) || pthread_join(t, NULL))
		return 6;
	printf("%d kernels, %d in its clock, %d buffers of others\n", kernels, in_clock, foreign);
	return 0;
}
