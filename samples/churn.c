/* Thousands of short threads and processes. Each process closes all descriptors, sets its
 * descriptor limit to 0 and changes directory before it makes its calls.
 * Expected: CALLS cuDriverGetVersion of every thread and process, and twice as many of the first
 * one.
 * Usage: churn [-t THREADS] [-p PROCESSES] [-n CALLS]. */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TOGETHER 32

static long ncalls;

static void calls(void)
{
	int version;

	for (long i = 0; i < ncalls; i++)
		OK(cuDriverGetVersion(&version));
}

static void *body(void *arg)
{
	calls();
	return arg;
}

static long run_threads(long n)
{
	pthread_t thread[TOGETHER];
	long done = 0, some;

	while (done < n) {
		for (some = 0; some < TOGETHER && done + some < n; some++)
			if (pthread_create(&thread[some], NULL, body, NULL))
				break;
		for (long i = 0; i < some; i++)
			pthread_join(thread[i], NULL);
		if (!some)
			break;
		done += some;
	}
	return done;
}

static void leave_nothing(void)
{
	struct rlimit none = { 0, 0 };

	syscall(SYS_close_range, 0u, ~0u, 0u);
	if (chdir("/") || setrlimit(RLIMIT_NOFILE, &none))
		_exit(1);
}

static long run_processes(long n)
{
	long done = 0;
	int status;
	pid_t pid;

	for (; done < n; done++) {
		pid = fork();
		if (!pid) {
			leave_nothing();
			calls();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			break;
	}
	return done;
}

int main(int argc, char **argv)
{
	long nthreads = cu_option(argc, argv, "-t", 100),
	     nprocesses = cu_option(argc, argv, "-p", 10), threads, processes;

	ncalls = cu_option(argc, argv, "-n", 10);
	cu_open();
	calls();
	threads = run_threads(nthreads);
	processes = run_processes(nprocesses);
	printf("%ld threads, %ld processes, %ld calls each\n", threads, processes, ncalls);
	fflush(stdout);
	leave_nothing();
	calls();
	return threads < nthreads || processes < nprocesses;
}
