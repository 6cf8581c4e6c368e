/* Calls in a child that ptrace has stopped: the child continues as before. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "collect/inject/remote_call.h"
#include "tests/unit/t.h"

static struct gt_remote_symbols symbols;
static pid_t child;

/* The number of the system call in which the child waits; -1: it runs. */
static long call_of_child(void)
{
	char path[64];
	long number = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)child);
	f = fopen(path, "re");
	if (f && fscanf(f, "%ld", &number) != 1)
		number = -1;
	if (f)
		fclose(f);
	return number;
}

static void wait_until_child_is_in(long number)
{
	for (int i = 0; i < 10000 && call_of_child() != number; i++)
		usleep(1000);
	CHECK_EQ(call_of_child(), number);
}

static void start(void (*run)(void))
{
	struct gt_err err = GT_ERR_INIT;

	child = fork();
	if (!child) {
		run();
		_exit(0);
	}
	CHECK_EQ(gt_remote_symbols_read(child, &symbols, &err), 0);
}

static __attribute__((noinline)) void clear_stack(void)
{
	volatile char nothing[8192];

	for (size_t i = 0; i < sizeof(nothing); i++)
		nothing[i] = 0;
}

/* A thread can be stopped when the newest part of its stack has no old addresses of the loader. */
static __attribute__((noinline)) void on_empty_stack(void (*run)(void))
{
	volatile char nothing[8192];

	for (size_t i = 0; i < sizeof(nothing); i++)
		nothing[i] = 0;
	clear_stack();
	run();
	nothing[0] = 1;
}

static int stop(struct gt_remote_thread *t)
{
	int rc = -EAGAIN;

	for (int i = 0; i < 1000 && rc == -EAGAIN; i++) {
		rc = gt_remote_stop(t, child, child, &symbols);
		if (rc == -EAGAIN)
			usleep(1000);
	}
	return rc;
}

static void calls_in_child(void)
{
	uint64_t result = 0, text;
	struct gt_remote_thread t;
	char back[16];

	CHECK_EQ(stop(&t), 0);
	text = gt_remote_put_text(&t, "text");
	gt_remote_read_text(&t, text, back, sizeof(back));
	CHECK_STR(back, "text");
	CHECK_EQ(gt_remote_call(&t, symbols.errno_location, GT_REMOTE_ARGUMENTS(0), &result), 0);
	CHECK(result);
	CHECK_EQ(gt_remote_call(
			 &t, symbols.memfd_create, GT_REMOTE_ARGUMENTS(text, MFD_CLOEXEC), &result),
		0);
	CHECK((int)result > 2);
	CHECK_EQ(gt_remote_call(&t, symbols.close, GT_REMOTE_ARGUMENTS(result), &result), 0);
	CHECK_EQ((int)result, 0);
	gt_remote_continue(&t);
}

/* ---- a sleep ends at its time: the kernel continues it ---- */

static void sleep_long(void)
{
	const struct timespec time = { .tv_sec = 1000 };

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

static void sleep_on_empty_stack(void) { on_empty_stack(sleep_long); }

static void sleep_is_continued(void)
{
	start(sleep_on_empty_stack);
	wait_until_child_is_in(SYS_clock_nanosleep);
	for (int i = 0; i < 2; i++) {
		calls_in_child();
		wait_until_child_is_in(SYS_restart_syscall);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* ---- registers that a system call does not change ---- */

#define VALUE 0x1234567890abcdefull

static bool keeps_registers(void)
{
	double vector = 0.5;
#if defined(__x86_64__)
	register uint64_t kept __asm__("r10") = VALUE;
	long number = SYS_getppid;

	__asm__ volatile("syscall"
			 : "+a"(number), "+r"(kept), "+x"(vector)
			 :
			 : "rcx", "r11", "memory");
#else
	register uint64_t kept __asm__("x7") = VALUE;
	register long number __asm__("x8") = SYS_getppid;
	register uint64_t result __asm__("x0") = 0;

	__asm__ volatile("svc 0" : "+r"(result), "+r"(kept), "+w"(vector) : "r"(number) : "memory");
#endif
	return kept == VALUE && vector == 0.5;
}

static volatile bool ends;
static void end(int signal) { ends = true; }

static void make_calls(void)
{
	signal(SIGUSR1, end);
	while (!ends) {
		if (!keeps_registers() || errno != 77)
			_exit(1);
		/* between calls, so that the stop has to wait for the next one */
		for (volatile int i = 0; i < 3000; i++)
			;
	}
}

static void make_calls_on_empty_stack(void)
{
	errno = 77;
	on_empty_stack(make_calls);
}

static void registers_are_kept(void)
{
	int status = -1;

	start(make_calls_on_empty_stack);
	for (int i = 0; i < 20; i++)
		calls_in_child();
	kill(child, SIGUSR1);
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
}

T_MAIN(T(sleep_is_continued), T(registers_are_kept))
