/* The simulator as seen by a library that interposes `ioctl`: its device files, requests with
 * the real numbers and layouts, results; the sequence is the same whenever the program does the
 * same. This test is the next `ioctl` in the chain and passes requests on to the kernel, which
 * does not know such files: the simulator must ignore the kernel's error. Each case runs in its
 * own child process, because a driver starts only once. */
#include "tests/unit/samples/on_sim.h"
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct seen {
	int calls, ctl, uvm, gpu, refused, kernel_refused;
	unsigned long hash;
};
static struct seen seen;

/* struct NVOS54 and NVOS64 keep the driver's status at these places. */
static int status_of(unsigned long request, const void *arg)
{
	int at = (request & 0xff) == 0x2a ? 28 : 40, status = 0;

	if (((request >> 8) & 0xff) == 'F' &&
		((request & 0xff) == 0x2a || (request & 0xff) == 0x2b))
		memcpy(&status, (const char *)arg + at, 4);
	return status;
}

int ioctl(int fd, unsigned long request, ...)
{
	char link[64], name[128] = "";
	va_list ap;
	void *arg;
	int rc;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, name, sizeof(name) - 1) < 0)
		abort();
	seen.calls++;
	seen.ctl += !strcmp(name, "/memfd:sim:nvidiactl (deleted)");
	seen.uvm += !strcmp(name, "/memfd:sim:nvidia-uvm (deleted)");
	seen.gpu += !strcmp(name, "/memfd:sim:nvidia0 (deleted)");
	seen.refused += status_of(request, arg) != 0;
	seen.hash = seen.hash * 31 + request;
	rc = syscall(SYS_ioctl, fd, request, arg);
	seen.kernel_refused += rc == -1 && errno == ENOTTY;
	return rc;
}

/* Runs body in a child; *out receives the requests that it saw. Returns the number that body
 * returned. */
static int in_child(int (*body)(void), const char *variable, const char *value, struct seen *out)
{
	int fd[2], result = -1;
	pid_t pid;

	if (pipe(fd) || (pid = fork()) < 0)
		return -1;
	if (!pid) {
		if (variable)
			setenv(variable, value, 1);
		result = body();
		_exit(write(fd[1], &result, sizeof(result)) < 0 ||
			write(fd[1], &seen, sizeof(seen)) < 0);
	}
	close(fd[1]);
	if (read(fd[0], &result, sizeof(result)) != sizeof(result) ||
		read(fd[0], out, sizeof(*out)) != sizeof(*out))
		result = -2;
	close(fd[0]);
	waitpid(pid, NULL, 0);
	return result;
}

static int initialise(void) { return cuInit(0); }

static int work(void)
{
	CUfunction scale = cu_kernel(sim_start(), SCALE);
	float two = 2;
	int n = 4;
	CUdeviceptr x;

	for (int i = 0; i < 10; i++) {
		OK(cuMemAlloc_v2(&x, 4 << 20));
		LAUNCH(scale, n, NULL, &x, &two, &n);
		OK(cuMemFree_v2(x));
	}
	return cuCtxSynchronize();
}

static void init_asks_on_each_file(void)
{
	struct seen s;

	CHECK_EQ(in_child(initialise, NULL, NULL, &s), 0);
	CHECK(s.calls == 19 && s.ctl == 14 && s.uvm == 3 && s.gpu == 2);
	/* one question has the answer NV_ERR_NOT_SUPPORTED */
	CHECK(s.kernel_refused == s.calls && s.refused == 1);
}

static void the_same_calls_ask_the_same(void)
{
	struct seen a, b;

	CHECK(in_child(work, NULL, NULL, &a) == 0 && in_child(work, "SIMGPU_SEED", "99", &b) == 0);
	CHECK(a.calls == b.calls && a.hash == b.hash);
}

static void launches_ask_nothing(void)
{
	struct seen a;

	CHECK_EQ(in_child(work, NULL, NULL, &a), 0);
	/* cuInit, a context, then three for each allocation and two for its end */
	CHECK(a.calls == 19 + 30 + 10 * 5);
}

static void they_can_be_switched_off(void)
{
	struct seen s;

	CHECK(in_child(work, "SIMGPU_IOCTL", "0", &s) == 0 && s.calls == 0);
}

static int devices(void)
{
	int n;

	return cuInit(0) || cuDeviceGetCount(&n) ? -1 : n;
}

static void devices_can_be_more_or_none(void)
{
	struct seen s;

	CHECK_EQ(in_child(devices, NULL, NULL, &s), 1);
	CHECK(in_child(devices, "SIMGPU_DEVICES", "3", &s) == 3 && s.calls == 19 + 2 * 9);
	CHECK_EQ(in_child(initialise, "SIMGPU_DEVICES", "0", &s), 100);
}

static int after_fork(void)
{
	CUdeviceptr x;
	int status;
	pid_t pid;

	sim_start();
	if (!(pid = fork()))
		_exit(cuMemAlloc_v2(&x, 8) == 3 && cuInit(0) == 3 && cuCtxSynchronize() == 3 ? 3
											     : 0);
	waitpid(pid, &status, 0);
	return cuMemAlloc_v2(&x, 8) ? -1 : WEXITSTATUS(status);
}

static void a_forked_child_has_no_driver(void)
{
	struct seen s;

	CHECK_EQ(in_child(after_fork, NULL, NULL, &s), 3);
}

/* Simulated ns of ten kernels behind a gate. */
static int cost(void)
{
	CUfunction scale = cu_kernel(sim_start(), SCALE);
	struct gate g;
	CUevent from, to;
	CUdeviceptr x;
	float two = 2, ms;
	int n = 4;

	OK(cuMemAlloc_v2(&x, 16));
	OK(cuEventCreate(&from, 0));
	OK(cuEventCreate(&to, 0));
	gate_close(&g, NULL);
	OK(cuEventRecord(from, NULL));
	for (int i = 0; i < 10; i++)
		LAUNCH(scale, n, NULL, &x, &two, &n);
	OK(cuEventRecord(to, NULL));
	gate_open(&g);
	OK(cuEventSynchronize(to));
	OK(cuEventElapsedTime(&ms, from, to));
	return ms * 1e6f;
}

static void time_depends_on_the_seed_and_not_on_the_speed(void)
{
	struct seen s;
	int ns = in_child(cost, NULL, NULL, &s);

	CHECK(ns > 28000 && ns < 33000);
	CHECK(in_child(cost, NULL, NULL, &s) == ns &&
		in_child(cost, "SIMGPU_SPEED", "5000", &s) == ns);
	CHECK(in_child(cost, "SIMGPU_SEED", "2", &s) != ns);
}

T_MAIN(T(init_asks_on_each_file), T(the_same_calls_ask_the_same), T(launches_ask_nothing),
	T(they_can_be_switched_off), T(devices_can_be_more_or_none),
	T(a_forked_child_has_no_driver), T(time_depends_on_the_seed_and_not_on_the_speed))
