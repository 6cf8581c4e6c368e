/* Programs for tests/cli/collect/samples.sh, which spend known processor time in known functions:
 * samples MODE [N]. Each prints the processor time that it has used, in ms. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
		_exit(0);
	}
	work_a(200 * ms);
	waitpid(pid, NULL, 0);
}

/* A function that is compiled while the program runs: it counts down. */
__attribute__((noinline)) static void compiled(void)
{
#ifdef __x86_64__
	static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb,
		0xc3 };
#else
	static const unsigned code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif
	char *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *f;

	if (page == MAP_FAILED)
		return;
	memcpy(page, code, sizeof(code));
	__builtin___clear_cache(page, page + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%lx %zx count down\n", (unsigned long)page, sizeof(code));
	fclose(f);
	while (used(CLOCK_PROCESS_CPUTIME_ID) < 300 * ms)
		((long (*)(long))(void *)page)(10000000);
	usleep(100000); /* gtcollect reads the file while the process is there */
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
	else if (!strcmp(mode, "fork"))
		fork_child();
	else if (!strcmp(mode, "compiled"))
		compiled();
	else if (!strcmp(mode, "exec")) {
		work_a(200 * ms);
		execl("/proc/self/exe", "samples", "shares", NULL);
	}
	print_used();
	return 0;
}
