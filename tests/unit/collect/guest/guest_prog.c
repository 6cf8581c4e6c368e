/* A traced program for tests of the guest. Each mode reaches the driver in another way and
 * checks that it gets the right function. Exit status: 0, or the number of the line that found a
 * fault. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define MUST(e)                                                                                    \
	do {                                                                                       \
		if (!(e))                                                                          \
			_exit(__LINE__ % 250 + 1);                                                 \
	} while (0)
#ifdef LINKED
int cuInit(unsigned), cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t),
	cuCtxGetCurrent(void **), cuMemsetD32_v2(uint64_t, unsigned, size_t);
int cuCtxSynchronize(void), cuLaunchHostFunc(void *, int (*)(void *), void *),
	cuStreamSynchronize(void *), cuParamSetf(void *, int, float);
int cuDeviceGetCount(int *), cuDeviceGet(int *, int), cuProfilerStart(void), cuProfilerStop(void),
	cuMemcpy2D_v2(const void *);
int cuModuleGetFunction(void **, void *, const char *),
	cuLaunchKernelEx(const void *, void *, void **, void **),
	cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
	void *, void **, void **);
int cuLibraryGetKernel(void **, void *, const char *), cuKernelGetFunction(void **, void *),
	cuLibraryEnumerateKernels(void **, unsigned, void *);
struct handle {
	char bytes[64];
};
int cuIpcOpenMemHandle_v2(uint64_t *, struct handle, unsigned);
int cuLaunchHostFunc_ptsz(void *, int (*)(void *), void *);
void fake_set_jump(jmp_buf *), fake_set_hook(int (*)(void *));
static const char *exe;

static void arguments(void)
{
	struct handle h = { { [63] = 63 } };
	struct {
		unsigned grid[3], block[3], shared;
		void *stream, *attrs;
		unsigned n;
	} config = { { 8, 9, 10 }, { 11, 12, 13 }, 14, (void *)15, 0, 0 };
	uint64_t copy[16] = { [2] = 1 /* host */,
		[3] = 0xaaa,
		[9] = 2 /* device */,
		[11] = 0xddd,
		[14] = 100,
		[15] = 7 };
	uint64_t p = 0;
	void *f = NULL, *ctx;

	MUST(!cuInit(0) && !cuMemAlloc_v2(&p, 4096) && p == 0x700000000000 + 4096);
	MUST(cuMemAlloc_v2(&p, 2u << 30) == 2);
	MUST(cuMemsetD32_v2(p, 0, 100) == 0);
	MUST(!cuModuleGetFunction(&f, (void *)1, "_Z6kernelPfA") && f &&
		cuModuleGetFunction(&f, (void *)1, "missing") == 500);
	MUST(!cuLaunchKernel(f, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void **)9, (void **)10));
	MUST(!cuLaunchKernelEx(&config, f, NULL, NULL) && !cuMemcpy2D_v2(copy) &&
		!cuParamSetf(f, 4, 1.5f));
	MUST(!cuIpcOpenMemHandle_v2(&p, h, 1) && p == 5 && !cuCtxGetCurrent(&ctx) &&
		ctx == (void *)0x77 && !cuMemFree_v2(p));
}

static void kernels(void)
{
	void *kernel, *function, *listed[3] = { NULL, (void *)1, (void *)2 };

	MUST(!cuLibraryGetKernel(&kernel, (void *)1, "_Z4kernv") &&
		!cuKernelGetFunction(&function, kernel) && function != kernel);
	MUST(!cuLibraryEnumerateKernels(listed, 3, (void *)1) && listed[0]);
	for (int i = 0; i < 3; i++) {
		cuLaunchKernel(function, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void **)9, (void **)10);
		cuLaunchKernel(listed[0], 1, 2, 3, 4, 5, 6, 7, (void *)8, (void **)9, (void **)10);
		cuLaunchKernel(&kernel, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void **)9, (void **)10);
	}
}

static int inner(void *arg)
{
	void *ctx;

	return *(int *)arg ? (--*(int *)arg, cuLaunchHostFunc(NULL, inner, arg))
			   : cuCtxGetCurrent(&ctx);
}

static void jump(void)
{
	jmp_buf at;
	void *ctx;

	fake_set_jump(&at);
	if (!setjmp(at))
		cuCtxSynchronize();
	fake_set_jump(NULL);
	cuCtxGetCurrent(&ctx);
}

static void family(const char *how)
{
	void *ctx;
	int status;
	pid_t child;

	MUST(!cuCtxGetCurrent(&ctx));
	child = !strcmp(how, "vfork") ? vfork() : fork();
	if (!child) {
		if (!strcmp(how, "vfork"))
			execl(exe, exe, "one", NULL);
		for (int i = 0; i < 3; i++)
			cuCtxGetCurrent(&ctx);
		if (!strcmp(how, "exec"))
			execl(exe, exe, "one", NULL);
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && !status);
	MUST(!cuCtxGetCurrent(&ctx));
}

/* ---- a child forked while another thread of its parent holds locks ---- */

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static bool no_malloc; /* a thread that the child lacks may hold its lock */
void *malloc(size_t n)
{
	MUST(!no_malloc);
	return __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
	MUST(!no_malloc);
	return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
	MUST(!no_malloc);
	return __libc_realloc(p, n);
}

static int hold(struct dl_phdr_info *info, size_t size, void *held)
{
	MUST(write(*(int *)held, "h", 1) == 1);
	for (;;)
		pause();
}

static void *hold_the_loaders_lock(void *held)
{
	dl_iterate_phdr(hold, held);
	return NULL;
}

struct range {
	const char *name;
	uintptr_t low, high;
};
static int range_of(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct range *r = arg;

	if (!strstr(info->dlpi_name, r->name))
		return 0;
	r->low = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			r->high = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
				info->dlpi_phdr[i].p_memsz;
	r->high = (r->high + 4095) & ~(uintptr_t)4095;
	return 1;
}

/* First calls of several functions, and look-ups, by every way that natively needs no lock that a
 * fork leaves locked. */
static void first_calls(void)
{
	uint64_t p = 0;
	int (*release)(uint64_t), x;
	void *ctx, *found;

	no_malloc = true;
	for (int i = 0; i < 3; i++)
		MUST(!cuCtxGetCurrent(&ctx) && ctx == (void *)0x77);
	MUST(!cuMemAlloc_v2(&p, 4096) && !cuDeviceGetCount(&x));
	MUST(!cuGetProcAddress_v2("cuMemFree", &found, 13000, 0, NULL) &&
		!((int (*)(uint64_t))found)(p));
	release = (int (*)(uint64_t))dlsym(RTLD_DEFAULT, "cuMemFree_v2");
	MUST(release && !release(p));
	_exit(0);
}

/* how: "early": before the parent's first call; "late"; or "unmapped": while a thread closes a
 * library, which is unmapped but still in the loader's list. */
static void forked_under_locks(const char *how, const char *library)
{
	struct range r = { "libguestfourth" };
	pthread_t holder;
	int held[2], status;
	pid_t child;
	char c;

	if (!strcmp(how, "late"))
		MUST(!cuCtxGetCurrent(&(void *){ NULL }));
	MUST(strcmp(how, "unmapped") ||
		(dlopen(library, RTLD_NOW) && dl_iterate_phdr(range_of, &r)));
	MUST(!pipe(held) && !pthread_create(&holder, NULL, hold_the_loaders_lock, &held[1]) &&
		read(held[0], &c, 1) == 1);
	child = fork();
	if (!child) {
		alarm(20); /* ends the process if it hangs */
		MUST(!r.high || !munmap((void *)r.low, r.high - r.low));
		first_calls();
	}
	alarm(40);
	close(held[1]); /* this must not wait, either */
	MUST(waitpid(child, &status, 0) == child && !status);
}

/* ---- a program that forbids itself system calls ---- */

static void forbid_system_calls(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog all = { sizeof(f) / sizeof(*f), f };

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all));
}

static void sandboxed(int n, bool in_a_child)
{
	uint64_t p = 0;
	void *ctx, *f;
	int status;

	if (in_a_child && fork()) {
		wait(&status);
		_exit(status != 0);
	}
	MUST(!cuCtxGetCurrent(&ctx));
	forbid_system_calls();
	while (n-- > 0) {
		MUST(!cuCtxGetCurrent(&ctx) && !cuModuleGetFunction(&f, (void *)1, "_Z6kernelPfA"));
		MUST(!cuLaunchKernel(f, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void **)9, (void **)10));
		MUST(!cuMemAlloc_v2(&p, 4096) && !cuMemFree_v2(p));
	}
	MUST(!cuGetProcAddress_v2("cuMemFree", &f, 13000, 0, NULL));
	_exit(0);
}

static void *thread(void *arg)
{
	void *ctx;

	for (int i = 0; i < 100; i++)
		cuCtxGetCurrent(&ctx);
	return NULL;
}

static void threads(int n)
{
	pthread_t t[64];

	for (int round = 0; round < n; round += 64) {
		for (int i = 0; i < 64; i++)
			MUST(!pthread_create(&t[i], NULL, thread, NULL));
		for (int i = 0; i < 64; i++)
			pthread_join(t[i], NULL);
	}
}

static volatile long handled;
static void handler(int signal)
{
	void *ctx;

	cuCtxGetCurrent(&ctx);
	handled++;
}

/* Calls that a timer's handler interrupts with one of its own; prints how many those were. */
static void interrupted(long n)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	void *ctx;
	long total;

	cuCtxGetCurrent(&ctx);
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n-- > 0)
		cuCtxGetCurrent(&ctx);
	setitimer(ITIMER_REAL, &never, NULL);
	total = handled;
	MUST(write(1, &total, sizeof(total)) == sizeof(total));
}

#ifdef __x86_64__
/* A handler interrupts a call between any two instructions of its entry (or exit) and calls the
 * driver: first at instruction `at`, then at the next, and so on; at the end at every
 * instruction. Each time a call has been entered, by the handler or by the interrupted code, the
 * parent process is asked to read the open calls. With `leave`, the handler leaves the call by a
 * jump and never returns to it. */
static struct {
	bool on, out, every, leave;
	long n, at, handled;
	jmp_buf away;
} steps;

#define TRAP_FLAG 0x100
static inline void step(void)
{
	steps.on = true;
	__asm__ volatile("sub $128,%%rsp\n\tpushf\n\torl %0,(%%rsp)\n\tpopf\n\tadd $128,%%rsp"
			 :
			 : "i"(TRAP_FLAG)
			 : "cc", "memory");
}

static int look(void *who)
{
	char c = *(const char *)who;

	MUST(write(1, &c, 1) == 1 && read(0, &c, 1) == 1);
	return 0;
}

static void stepped(int signal, siginfo_t *info, void *context)
{
	void *ctx;

	if (!steps.on)
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	else if (steps.n++ == steps.at && steps.leave) {
		steps.on = false;
		siglongjmp(steps.away, 1);
	} else if (steps.n > steps.at && (steps.n == steps.at + 1 || steps.every)) {
		MUST(!cuLaunchHostFunc_ptsz((void *)0x66, look, (char *)"h") &&
			!cuCtxGetCurrent(&ctx) && ctx == (void *)0x77);
		steps.handled++;
	}
}

static int within(void *arg)
{
	int x;

	steps.on = false;
	cuDeviceGetCount(&x);
	look((char *)"o");
	if (steps.out)
		step();
	return 0;
}

static void one_call(bool keyed)
{
	steps.n = 0;
	if (!steps.out)
		step();
	MUST(!(keyed ? cuLaunchHostFunc((void *)0x55, within, NULL) : cuCtxSynchronize()));
	steps.on = false;
}

/* Sixteen calls after each call that longjmp left, at every place in turn. */
static void leave_between_instructions(bool keyed, long *said)
{
	long completed = said[0];
	void *ctx;

	for (steps.at = 0; said[0] == completed; steps.at++, said[1]++) {
		steps.leave = true;
		if (!sigsetjmp(steps.away, 1)) {
			one_call(keyed);
			said[0]++;
		}
		steps.leave = false;
		for (int i = 0; i < 16; i++)
			MUST(!cuCtxGetCurrent(&ctx));
	}
}

static void between_instructions(const char *how)
{
	struct sigaction trap = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO };
	bool keyed = strstr(how, "keyed");
	long said[2] = { 0 };
	void *ctx;

	MUST(!sigaction(SIGTRAP, &trap, NULL));
	fake_set_hook(within);
	steps.at = -1;
	/* the first calls look up functions and choose their paths */
	for (int i = 0; i < 2; i++, said[0]++) {
		MUST(!cuLaunchHostFunc_ptsz((void *)0x66, look, (char *)"w") &&
			!cuCtxGetCurrent(&ctx));
		one_call(keyed);
	}
	steps.out = strstr(how, "out");
	for (steps.n = 1, steps.at = 0;
		steps.n > steps.at && !strstr(how, "left") && !strstr(how, "at once");
		steps.at++, said[0]++)
		one_call(keyed);
	steps.every = !strstr(how, "left");
	steps.at = -1;
	for (int i = 0; i < 3; i++, said[0]++)
		one_call(keyed);
	said[1] = steps.handled;
	if (!steps.every)
		leave_between_instructions(keyed, said);
	MUST(write(1, "e", 1) == 1 && write(1, said, sizeof(said)) == sizeof(said));
}
#else
static void between_instructions(const char *how) {}
#endif

static void linked(const char *mode, const char *arg)
{
	int n = atoi(arg);
	void *ctx;
	int x;

	if (!strcmp(mode, "arguments"))
		arguments();
	else if (!strcmp(mode, "kernels"))
		kernels();
	else if (!strcmp(mode, "one"))
		cuCtxGetCurrent(&ctx);
	else if (!strcmp(mode, "many"))
		while (n-- > 0)
			MUST(!cuCtxGetCurrent(&ctx));
	/* ten calls for each byte that comes, and the byte back */
	else if (!strcmp(mode, "steps"))
		for (char c; read(0, &c, 1) == 1;) {
			for (int i = 0; i < 5; i++)
				cuCtxGetCurrent(&ctx), cuMemFree_v2(0);
			MUST(write(1, &c, 1) == 1);
		}
	else if (!strcmp(mode, "handler"))
		interrupted(n);
	else if (!strncmp(mode, "between ", 8))
		between_instructions(mode);
	else if (!strcmp(mode, "nested"))
		inner(&n);
	else if (!strcmp(mode, "jump"))
		jump();
	else if (!strcmp(mode, "renamed")) { /* until its input ends */
		cuCtxGetCurrent(&ctx), prctl(PR_SET_NAME, "later-name");
		MUST(read(0, &x, 1) == 0);
	} else if (!strncmp(mode, "sandboxed", 9))
		sandboxed(n, strstr(mode, "child"));
	else if (!strcmp(mode, "early") || !strcmp(mode, "late") || !strcmp(mode, "unmapped"))
		forked_under_locks(mode, arg);
	else if (!strcmp(mode, "threads"))
		threads(n);
	else if (!strcmp(mode, "files"))
		cuDeviceGetCount(&x);
	else if (!strcmp(mode, "driver"))
		MUST(!cuDeviceGet(&x, 0) && x);
	else if (!strcmp(mode, "hang"))
		cuCtxGetCurrent(&ctx), cuStreamSynchronize((void *)0x51);
	else if (!strcmp(mode, "range"))
		cuCtxGetCurrent(&ctx), cuProfilerStart(), cuCtxGetCurrent(&ctx),
			cuCtxGetCurrent(&ctx), cuProfilerStop(), cuCtxGetCurrent(&ctx);
	else
		family(mode);
}
#else
int third_next(void), third_dlopen(void);

static void by_dlsym(const char *cuda)
{
	void *h = dlopen(cuda, RTLD_NOW);
	int (*alloc)(uint64_t *, size_t), (*unknown)(int);
	uint64_t p;

	MUST(h && !dlsym(h, "cuNoSuchFunction") && dlerror());
	alloc = (int (*)(uint64_t *, size_t))dlsym(h, "cuMemAlloc_v2");
	MUST(alloc && !alloc(&p, 10) && p == 0x70000000000a);
	unknown = (int (*)(int))dlsym(h, "cuFakeBrandNew");
	MUST(unknown && unknown(41) == 42);
	dlclose(h);
}

/* A driver that is unloaded, and loaded again to another place. */
static void twice(const char *cuda)
{
	for (int i = 0; i < 2; i++) {
		void *h = dlopen(cuda, RTLD_NOW), *ctx = NULL, *base = dlsym(h, "fake_set_jump");
		int (*current)(void **) = (int (*)(void **))dlsym(h, "cuCtxGetCurrent");
		int (*release)(uint64_t) = (int (*)(uint64_t))dlsym(h, "cuMemFree_v2");

		for (int k = 0; k < 3; k++)
			MUST(!current(&ctx) && ctx == (void *)0x77 && !release(0));
		dlclose(h);
		MUST(!dlopen(cuda, RTLD_NOW | RTLD_NOLOAD));
		base = (void *)((uintptr_t)base & ~(uintptr_t)4095);
		MUST(mmap(base, 4096, PROT_NONE, MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0) == base);
	}
}

static void by_get_proc(const char *cuda)
{
	void *h = dlopen(cuda, RTLD_NOW);
	int (*get)(const char *, void **, int, uint64_t, int *);
	void *a, *b, *c, *d, *l, *m, *n, *v1, *v2;
	int status;

	get = (int (*)(const char *, void **, int, uint64_t, int *))dlsym(h, "cuGetProcAddress_v2");
	MUST(get && get("cuNothing", &a, 13000, 0, &status) == 500 && !a && status == 1);
	MUST(!get("cuMemAlloc", &a, 2000, 0, NULL) && !get("cuMemAlloc", &b, 3020, 0, NULL) &&
		!get("cuMemAlloc", &c, 13000, 2, &status));
	MUST(a == dlsym(h, "cuMemAlloc") && b == dlsym(h, "cuMemAlloc_v2") && c == b && a != b);
	/* not in the table: untouched */
	MUST(!get("cuMemAlloc", &d, 13050, 0, NULL) && ((int (*)(void *, size_t))d)(NULL, 1) == 99);
	MUST(!get("cuLaunchKernel", &l, 4000, 0, NULL) &&
		!get("cuLaunchKernel", &m, 7000, 2, NULL) &&
		!get("cuLaunchKernel", &n, 13000, 0, NULL));
	MUST(l == dlsym(h, "cuLaunchKernel") && m == dlsym(h, "cuLaunchKernel_ptsz") && n == l &&
		l != m);
	MUST(!get("cuMemcpyHtoD", &a, 7000, 2, NULL) && a == dlsym(h, "cuMemcpyHtoD_v2_ptds"));
	MUST(!get("cuGetProcAddress", &v1, 11030, 0, NULL) &&
		!get("cuGetProcAddress", &v2, 12000, 0, NULL));
	MUST(v1 == dlsym(h, "cuGetProcAddress") && v2 == (void *)get);
	MUST(!get("cuFakeBrandNew", &a, 13000, 0, NULL) && ((int (*)(int))a)(1) == 2);
	MUST(((int (*)(void *, size_t))b)(&d, 64) == 0 &&
		!((int (*)(uint64_t, void *, size_t))dlsym(h, "cuMemcpyHtoD_v2"))(1, NULL, 2));
}

/* Do look-ups return the driver's own function? y or n for each of: cuMemAlloc by both ways,
 * cuGetProcAddress. */
static void whose(const char *cuda)
{
	void *h = dlopen(cuda, RTLD_NOW), *found[3];
	int (*get)(const char *, void **, int, uint64_t, int *);
	Dl_info info;

	get = (int (*)(const char *, void **, int, uint64_t, int *))(
		found[2] = dlsym(h, "cuGetProcAddress_v2"));
	MUST(get && !get("cuMemAlloc", &found[0], 3020, 0, NULL));
	found[1] = dlsym(h, "cuMemAlloc_v2");
	for (int i = 0; i < 3; i++)
		MUST(dladdr(found[i], &info) &&
			write(1, strstr(info.dli_fname, "libcuda.so") ? "y" : "n", 1) == 1);
}

/* "Is CUDA there?" has the same answer as without the library. */
static void by_default(const char *cuda)
{
	int (*init)(unsigned);

	MUST(!dlsym(RTLD_DEFAULT, "cuInit") && dlerror());
	MUST(!dlsym(RTLD_NEXT, "cuInit"));
	MUST(!dlsym(dlopen(NULL, RTLD_NOW), "cuInit"));
	MUST(dlopen(cuda, RTLD_NOW | RTLD_LOCAL) && !dlsym(RTLD_DEFAULT, "cuInit"));
	MUST(dlopen(cuda, RTLD_NOW | RTLD_GLOBAL));
	init = (int (*)(unsigned))dlsym(RTLD_DEFAULT, "cuInit");
	MUST(init && !init(0));
}
#endif

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : "";

#ifdef LINKED
	exe = argv[0];
	linked(mode, arg);
#else
	if (!strcmp(mode, "dlsym"))
		by_dlsym(arg);
	else if (!strcmp(mode, "twice"))
		twice(arg);
	else if (!strcmp(mode, "get_proc"))
		by_get_proc(arg);
	else if (!strcmp(mode, "whose"))
		whose(arg);
	else if (!strcmp(mode, "default"))
		by_default(arg);
	else if (!strcmp(mode, "third"))
		MUST(third_next() == 4 && third_dlopen() == 5);
#endif
	return 0;
}
