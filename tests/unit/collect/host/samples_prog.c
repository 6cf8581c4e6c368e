/* Programs for tests/cli/collect/samples.sh, which spend known processor time in known functions:
 * samples MODE [N]. Each prints the processor time that it has used, in ms. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ms 1000000ll
static volatile unsigned sink;

static long long used(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000 * ms + t.tv_nsec;
}

/* Each function works for this many ns of its thread. */
#define WORK(name)                                                                                 \
	__attribute__((noinline)) void name(long long ns)                                          \
	{                                                                                          \
		for (long long end = used(CLOCK_THREAD_CPUTIME_ID) + ns;                           \
			used(CLOCK_THREAD_CPUTIME_ID) < end;)                                      \
			for (unsigned i = 0; i < 100000; i++)                                      \
				sink += i;                                                         \
	}
WORK(work_a)
WORK(work_b)
WORK(work_thread)
WORK(work_child)

__attribute__((noinline)) static void shares(void)
{
	for (int i = 0; i < 10; i++) {
		work_a(30 * ms);
		work_b(50 * ms);
		usleep(20000);
	}
}

static void *thread(void *ns)
{
	work_thread((long long)(size_t)ns);
	return NULL;
}

/* So many threads, all at once or one after the other. */
static void threads(int n, long long ns, int at_once)
{
	pthread_t t[n];

	for (int i = 0; i < n; i++) {
		pthread_create(&t[i], NULL, thread, (void *)(size_t)ns);
		if (!at_once)
			pthread_join(t[i], NULL);
	}
	for (int i = 0; at_once && i < n; i++)
		pthread_join(t[i], NULL);
}

__attribute__((noinline)) static void fork_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		work_child(200 * ms);
		exit(0);
	}
	work_a(200 * ms);
	waitpid(pid, NULL, 0);
}

static volatile sig_atomic_t alarms;
static void count_alarm(int number)
{
	(void)number;
	alarms++;
}

static void *later_thread(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	work_thread(300 * ms);
	exit(0);
}

/* Another thread works after the first one has ended. */
static void ends_first(void)
{
	static pthread_t first;
	pthread_t t;

	first = pthread_self();
	pthread_create(&t, NULL, later_thread, &first);
	pthread_exit(NULL);
}

/* With the program's own timer of processor time. Prints its signals. */
__attribute__((noinline)) static void own_timer(void)
{
	const struct itimerval every = { { 0, 10000 }, { 0, 10000 } };

	signal(SIGPROF, count_alarm);
	setitimer(ITIMER_PROF, &every, NULL);
	work_a(500 * ms);
	printf("alarms %d\n", (int)alarms);
}

static void *blocked_thread(void *ns)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	return thread(ns);
}

/* Threads that block all signals: one ends before the process, one with it. */
__attribute__((noinline)) static void blocked(void)
{
	pthread_t t;

	pthread_create(&t, NULL, blocked_thread, (void *)(size_t)(100 * ms));
	pthread_join(t, NULL);
	pthread_create(&t, NULL, blocked_thread, (void *)(size_t)(10000 * ms));
	work_a(200 * ms);
}

/* Signals are blocked for a while. */
__attribute__((noinline)) static void blocked_for_a_while(void)
{
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	work_a(300 * ms);
	sigprocmask(SIG_SETMASK, &old, NULL);
	work_b(300 * ms);
}

/* Signals are blocked from now on, while the thread works. */
static sigset_t block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	work_a(100 * ms);
	return all;
}

/* A thread waits for any signal: it gets those that are sent, and no other one. */
static void waits_for_signals(void)
{
	const struct timespec soon = { 0, 10 * ms };
	sigset_t all = block_all();
	siginfo_t info;
	int number = 0, right = 0;

	kill(getpid(), SIGALRM);
	right += !sigwait(&all, &number) && number == SIGALRM;
	work_a(50 * ms);
	right += sigtimedwait(&all, &info, &soon) == -1 && errno == EAGAIN;
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
		work_a(10 * ms);
		kill(getpid(), i);
		right += sigwaitinfo(&all, i % 2 ? &info : NULL) == i;
	}
	printf("wrong %d\n", SIGRTMAX - SIGRTMIN + 3 - right);
}

/* The same by a descriptor. */
static void reads_signals(void)
{
	struct signalfd_siginfo info;
	sigset_t all = block_all();
	int fd = signalfd(-1, &all, SFD_NONBLOCK), right;

	work_a(50 * ms);
	right = read(fd, &info, sizeof(info)) == -1 && errno == EAGAIN;
	kill(getpid(), SIGUSR1);
	right += read(fd, &info, sizeof(info)) > 0 && info.ssi_signo == SIGUSR1;
	printf("wrong %d\n", 2 - right);
}

/* A child that has its own actions, but shares the memory. */
__attribute__((noinline)) static void vfork_child(void)
{
	pid_t pid = vfork();

	if (!pid) {
		for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
			sigaction(i, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
			signal(i, SIG_DFL);
		}
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	work_a(300 * ms);
}

/* Children that send a signal to themselves: each ends by it. */
static void killed(void)
{
	int n = 0, status;

	for (int i = SIGRTMAX - 19; i <= SIGRTMAX; i++) {
		pid_t pid = fork();

		if (!pid) {
			raise(i);
			_exit(0);
		}
		n += waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
			WTERMSIG(status) == i;
	}
	printf("killed %d\n", n);
}

/* Threads for which the kernel makes no timers. */
static void no_timers(void)
{
	setrlimit(RLIMIT_SIGPENDING, &(struct rlimit){ 0, 0 });
	threads(3, 20 * ms, 1);
}

/* Takes all real-time signals for itself, and checks that none of them comes. */
__attribute__((noinline)) static void takes_signals(void)
{
	struct sigaction old;
	int others = 0;

	work_a(100 * ms);
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
		sigaction(i, NULL, &old);
		others += old.sa_handler != SIG_DFL;
		sigaction(i, &(struct sigaction){ .sa_handler = count_alarm }, NULL);
	}
	work_b(200 * ms);
	printf("others %d, came %d\n", others, (int)alarms);
}

/* A function that is compiled while the program runs. It has the name that a file for profilers
 * says. path: of that file. */
static void *compile(const void *code, size_t n, const char *name, char path[64])
{
	char *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *f;

	snprintf(path, 64, "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (page == MAP_FAILED || !f)
		exit(1);
	memcpy(page, code, n);
	__builtin___clear_cache(page, page + n);
	fprintf(f, "%lx %zx %s\n", (unsigned long)page, n, name);
	fclose(f);
	return page;
}

/* It counts down. */
__attribute__((noinline)) static void compiled(void)
{
#ifdef __x86_64__
	static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb,
		0xc3 };
#else
	static const unsigned code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif
	char path[64];
	long (*count)(long) = compile(code, sizeof(code), "count down", path);

	while (used(CLOCK_PROCESS_CPUTIME_ID) < 300 * ms)
		count(10000000);
	usleep(100000); /* gtcollect reads the file while the process is there */
	unlink(path);
}

/* While it waits, only the stack pointer is known. */
__attribute__((optimize("omit-frame-pointer"))) static void nap(void) { usleep(30000); }

static void driver_version(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*get)(int *) = driver ? (int (*)(int *))dlsym(driver, "cuDriverGetVersion") : NULL;
	int version;

	if (get)
		get(&version);
}

/* It calls its argument. */
static void compiled_calls(void)
{
#ifdef __x86_64__
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#else
	static const unsigned code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd,
		0xd65f03c0 };
#endif
	char path[64];
	void (*call)(void (*)(void)) = compile(code, sizeof(code), "compiled call", path);

	for (int i = 0; i < 3; i++) {
		call(nap);
		call(driver_version);
	}
	usleep(100000);
	unlink(path);
}

static void print_used(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("%lld\n",
		(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
			children.ru_stime.tv_sec) *
				1000ll +
			(own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
				children.ru_stime.tv_usec) /
				1000);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(mode, "shares"))
		shares();
	else if (!strcmp(mode, "threads"))
		threads(n, 50 * ms, 1);
	else if (!strcmp(mode, "short"))
		threads(n, 2 * ms, 0);
	else if (!strcmp(mode, "ends-first"))
		ends_first();
	else if (!strcmp(mode, "own-timer"))
		own_timer();
	else if (!strcmp(mode, "blocked"))
		blocked();
	else if (!strcmp(mode, "blocked-for-a-while"))
		blocked_for_a_while();
	else if (!strcmp(mode, "blocked-to-the-end"))
		block_all();
	else if (!strcmp(mode, "waits-for-signals"))
		waits_for_signals();
	else if (!strcmp(mode, "reads-signals"))
		reads_signals();
	else if (!strcmp(mode, "vfork"))
		vfork_child();
	else if (!strcmp(mode, "killed"))
		killed();
	else if (!strcmp(mode, "no-timers"))
		no_timers();
	else if (!strcmp(mode, "takes-signals"))
		takes_signals();
	else if (!strcmp(mode, "fork"))
		fork_child();
	else if (!strcmp(mode, "compiled"))
		compiled();
	else if (!strcmp(mode, "compiled-calls"))
		compiled_calls();
	else if (!strcmp(mode, "exec")) {
		work_a(200 * ms);
		execl("/proc/self/exe", "samples", "shares", NULL);
	}
	print_used();
	return 0;
}
