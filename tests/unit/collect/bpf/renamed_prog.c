/* A program whose name changes, for tests/cli/collect/ebpf_filter.sh: renamed LIBRARY, a CUDA
 * driver. It reads commands from its standard input, one a line, and prints "done" at its begin and
 *after each:
 *
 *	name NAME	its main thread, and so the process, gets this name
 *	calls N		N calls of the driver, of hit(), and N sleeps of 1 ms
 *	child N		a thread with another name forks a child, which does so
 *	exec FILE	executes FILE LIBRARY, with the same standard input */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*driver_version)(int *version);

__attribute__((noinline, noipa)) int hit(int i)
{
	__asm__ volatile("" ::: "memory");
	return i + 1;
}

static void calls(long n)
{
	int version = 0;

	for (int i = 0; i < n; i++)
		if (driver_version(&version) || !version || hit(i) != i + 1 || usleep(1000))
			exit(1);
}

static void *fork_child(void *n)
{
	int status = 1;
	pid_t child;

	prctl(PR_SET_NAME, "thread");
	child = fork();
	if (!child) {
		calls((long)n);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(1);
	return NULL;
}

static void child(long n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fork_child, (void *)n) || pthread_join(thread, NULL))
		exit(1);
}

static void done(void)
{
	puts("done");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	char line[4096];

	driver_version = library ? (int (*)(int *))dlsym(library, "cuDriverGetVersion") : NULL;
	if (!driver_version)
		return 1;
	setvbuf(stdin, NULL, _IONBF, 0); /* the next program reads the rest */
	done();
	while (fgets(line, sizeof(line), stdin)) {
		char *value = strchr(line, ' ');

		line[strcspn(line, "\n")] = 0;
		value = value ? value + 1 : line;
		if (!strncmp(line, "name ", 5))
			prctl(PR_SET_NAME, value);
		else if (!strncmp(line, "calls ", 6))
			calls(atol(value));
		else if (!strncmp(line, "child ", 6))
			child(atol(value));
		else if (!strncmp(line, "exec ", 5))
			execl(value, value, argv[1], NULL);
		done();
	}
	return 0;
}
