/* Programs for tests/cli/collect/unwind.sh, whose stacks are known: unwind MODE. This file is the
 * program (PART 0) and its two libraries (1 and 2), compiled without frame pointers. Parts 3 and 4
 * are the same as 1 and 2, for libraries that it loads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Exported, so that a stripped file has their names, and no tail calls. */
#define FRAME __attribute__((noinline, visibility("default")))
typedef long step_fn(long);

long enter_first(step_fn *next, long n);
long align_first(step_fn *next, long n);
long enter_second(step_fn *next, long n);
long work(long n);
static volatile long sink;

#if PART == 1 || PART == 3
/* A frame of a size that is known only at run time. */
FRAME long enter_first(step_fn *next, long n)
{
	char space[n * 100];

	memset(space, 1, sizeof(space));
	return enter_second(next, n) + space[n];
}

/* A frame that is aligned more than the stack is. */
FRAME long align_first(step_fn *next, long n)
{
	char space[256] __attribute__((aligned(128)));

	memset(space, (int)n, sizeof(space));
	sink = (long)space;
	return next(n) + space[n];
}

#elif PART == 2 || PART == 4
static __thread step_fn *called;

static int compare(const void *a, const void *b) { return called(3) > sink ? (a > b) : 0; }

/* Through the C library. */
FRAME long enter_second(step_fn *next, long n)
{
	char items[2] = { 2, 1 };

	called = next;
	qsort(items, 2, 1, compare);
	return items[0] + n;
}

#else
static long long used(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static long long work_ns = 300000000;

FRAME long work(long n)
{
	for (long long end = used(CLOCK_THREAD_CPUTIME_ID) + work_ns;
		used(CLOCK_THREAD_CPUTIME_ID) < end;)
		for (unsigned i = 0; i < 200000; i++)
			sink += i;
	return n + sink;
}

FRAME long work_aligned(long n) { return align_first(work, n) + sink; }
FRAME long nest(long n) { return enter_first(work_aligned, n) + sink; }

/* ---- a wait ---- */

static int wait_fd;
FRAME long wait_for_byte(long n)
{
	char byte = 0;

	return read(wait_fd, &byte, 1) + byte + n;
}
FRAME long wait_inner(long n) { return enter_second(wait_for_byte, n) + sink; }
FRAME long wait_outer(long n) { return wait_inner(n) + sink; }

static void *write_later(void *fd)
{
	usleep(400000);
	return (void *)(long)write((int)(long)fd, "x", 1);
}

FRAME void wait_in_read(void)
{
	pthread_t t;
	int fds[2];

	if (pipe(fds))
		return;
	wait_fd = fds[0];
	pthread_create(&t, NULL, write_later, (void *)(long)fds[1]);
	sink = wait_outer(20);
	pthread_join(t, NULL);
}

/* ---- a signal handler ---- */

static void handle(int number) { sink = work(number) + sink; }
FRAME long interrupted(long n)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	return n + sink;
}

/* ---- a library that is unloaded while a thread executes below it, and another one there ---- */

static step_fn *unloaded;
static void *below(void *arg)
{
	typedef long enter_fn(step_fn *, long);
	enter_fn *enter = (enter_fn *)(long)unloaded;

	sink = enter(work, 3);
	return arg;
}

static void wait_until_used(pthread_t t, long long ns)
{
	clockid_t clock;

	for (pthread_getcpuclockid(t, &clock); used(clock) < ns;)
		usleep(5000);
}

static void unload(const char *path, const char *other)
{
	void *library = dlopen(path, RTLD_NOW), *again;
	pthread_t t;

	unloaded = library ? (step_fn *)(long)dlsym(library, "align_first") : NULL;
	if (!unloaded)
		return;
	work_ns = 1ll << 60;
	pthread_create(&t, NULL, below, NULL);
	wait_until_used(t, 200000000);
	dlclose(library);
	again = other ? dlopen(other, RTLD_NOW) : NULL;
	wait_until_used(t, 400000000);
	_exit(other && !again);
}

/* ---- code without call frame information: it calls work() ---- */

FRAME void compiled(void)
{
#ifdef __x86_64__
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#else
	/* stp x29,x30,[sp,#-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#16; ret */
	static const unsigned code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd,
		0xd65f03c0 };
#endif
	char *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	memcpy(page, code, sizeof(code));
	__builtin___clear_cache(page, page + sizeof(code));
	sink += ((long (*)(step_fn *, long))(void *)page)(work, 1);
}

/* ---- code that the kernel maps: the vDSO ---- */

FRAME void read_clock(void)
{
	struct timespec t;

	while (used(CLOCK_THREAD_CPUTIME_ID) < 400000000)
		for (int i = 0; i < 5000; i++)
			clock_gettime(CLOCK_MONOTONIC, &t);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "nest"))
		sink += nest(20);
	else if (!strcmp(mode, "deep"))
		sink += nest(400);
	else if (!strcmp(mode, "wait"))
		wait_in_read();
	else if (!strcmp(mode, "signal"))
		sink += interrupted(1);
	else if (!strcmp(mode, "compiled"))
		compiled();
	else if (!strcmp(mode, "clock"))
		read_clock();
	else if (!strcmp(mode, "unload") && argc > 2)
		unload(argv[2], argv[3]);
	return 0;
}
#endif
