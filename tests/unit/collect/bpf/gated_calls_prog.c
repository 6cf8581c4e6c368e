/* Calls the CUDA driver on command: gated_calls LIBRARY THREADS CALLS [PROGRAM ARGS]. The program
 * loads LIBRARY (memfd:FILE: a copy of FILE that exists only in memory) and prints a line. For each
 * line on standard input, THREADS threads, which run at the same time, make CALLS calls each; then
 * it prints the number of calls with the expected result. With LATER=LIBRARY in the environment it
 * loads that library at the first line, and calls its function from then on. At the end of its
 * input it executes PROGRAM. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int (*function)(int *version);
static pthread_barrier_t all;
static long ncalls, good;

static void *make_calls(void *arg)
{
	long right = 0;

	pthread_barrier_wait(&all);
	for (long i = 0; i < ncalls; i++) {
		int version = 0;

		right += !function(&version) && version > 0;
	}
	__atomic_fetch_add(&good, right, __ATOMIC_RELAXED);
	return arg;
}

static int start(pthread_t *thread)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	return pthread_create(thread, &attr, make_calls, NULL);
}

/* Returns a path to a copy in memory. */
static const char *copy_to_memory(const char *file)
{
	static char path[64];
	int from = open(file, O_RDONLY), to = memfd_create("libcuda.so.1", 0);
	char bytes[65536];
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			return "";
	close(from);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
	return path;
}

static int load(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);

	function = handle ? (int (*)(int *))dlsym(handle, "cuDriverGetVersion") : NULL;
	puts("loaded");
	fflush(stdout);
	return function ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *library = argc < 4 ? "" : argv[1], *later = getenv("LATER");
	long n = argc < 4 ? 0 : atol(argv[2]);
	pthread_t *threads = calloc((size_t)n + 1, sizeof(*threads));
	char c;

	if (!strncmp(library, "memfd:", 6))
		library = copy_to_memory(library + 6);
	if (!threads || load(library))
		return 1;
	ncalls = atol(argv[3]);
	pthread_barrier_init(&all, NULL, (unsigned)n);
	if (later && (read(0, &c, 1) != 1 || load(later)))
		return 1;
	while (read(0, &c, 1) == 1) {
		good = 0;
		for (long i = 0; i < n; i++)
			if (start(&threads[i]))
				return 1;
		for (long i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
		printf("%ld\n", good);
		fflush(stdout);
	}
	free(threads);
	if (argc > 4)
		execv(argv[4], argv + 4);
	return 0;
}
