/* exec and abort. They end the program, but no exit handler runs: records that CUPTI has not
 * delivered by then are lost. So the wrappers of these functions fetch them first. If exec fails,
 * the program continues.
 *
 * A child of vfork runs in its parent's memory, but CUPTI belongs to the parent; a child of fork
 * has no CUPTI. Neither fetches anything. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_elf.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/guest/core/guest_hooks.h"

#ifdef GT_HOSTED
#define NAME(f) gt_hosted_##f
#else
#define NAME(f) f
#endif

/* A return from exec means that it failed. */
#define EXEC(name, which, params, ...)                                                             \
	GT_EXPORT int NAME(name) params                                                            \
	{                                                                                          \
		int(*real) params = gt_replaced_function(which);                                   \
		int ret;                                                                           \
                                                                                                   \
		if (!real) {                                                                       \
			errno = ENOSYS;                                                            \
			return -1;                                                                 \
		}                                                                                  \
		gt_gpu_before_exec();                                                              \
		ret = real(__VA_ARGS__);                                                           \
		gt_gpu_after_failed_exec();                                                        \
		return ret;                                                                        \
	}
typedef char *const *texts;
EXEC(execve, GT_LIBC_EXECVE, (const char *path, texts argv, texts envp), path, argv, envp)
EXEC(execv, GT_LIBC_EXECV, (const char *path, texts argv), path, argv)
EXEC(execvp, GT_LIBC_EXECVP, (const char *file, texts argv), file, argv)
EXEC(execvpe, GT_LIBC_EXECVPE, (const char *file, texts argv, texts envp), file, argv, envp)
EXEC(fexecve, GT_LIBC_FEXECVE, (int fd, texts argv, texts envp), fd, argv, envp)
EXEC(execveat, GT_LIBC_EXECVEAT, (int fd, const char *path, texts argv, texts envp, int flags), fd,
	path, argv, envp, flags)

/* ---- abort, and assert, which calls abort inside libc ---- */

/* Aborts if the real function was not found. */
static __attribute__((noreturn)) void raise_abort(void)
{
	syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), SIGABRT);
	for (;;)
		syscall(SYS_exit_group, 128 + SIGABRT);
}

/* libc's headers declare these with attributes that a replacement cannot have. */
GT_EXPORT void NAME(abort)(void);

GT_EXPORT void NAME(abort)(void)
{
	void (*real)(void) = gt_replaced_function(GT_LIBC_ABORT);

	gt_gpu_before_abort();
	if (real)
		real();
	raise_abort();
}

#ifndef GT_HOSTED
GT_EXPORT void __assert_fail(
	const char *what, const char *file, unsigned line, const char *function);

GT_EXPORT void __assert_fail(
	const char *what, const char *file, unsigned line, const char *function)
{
	void (*real)(const char *, const char *, unsigned, const char *) =
		gt_replaced_function(GT_LIBC_ASSERT_FAIL);

	gt_gpu_before_abort();
	if (real)
		real(what, file, line, function);
	raise_abort();
}
#endif

/* ---- exec with a list ---- */

/* Counts the arguments, including the NULL after them. */
#define COUNT(first, n)                                                                            \
	do {                                                                                       \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, first);                                                               \
		for (n = 1; va_arg(ap, char *); n++)                                               \
			;                                                                          \
		va_end(ap);                                                                        \
	} while (0)

/* Copies the arguments into argv, and the argument after the NULL into *envp. */
#define COLLECT(first, argv, n, envp)                                                              \
	do {                                                                                       \
		texts *env_ = (envp);                                                              \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, first);                                                               \
		argv[0] = (char *)(uintptr_t)first;                                                \
		for (size_t i_ = 1; i_ <= n; i_++)                                                 \
			argv[i_] = va_arg(ap, char *);                                             \
		if (env_)                                                                          \
			*env_ = va_arg(ap, texts);                                                 \
		va_end(ap);                                                                        \
	} while (0)

#define EXEC_LIST(name, by_array)                                                                  \
	GT_EXPORT int NAME(name)(const char *path, const char *first, ...)                         \
	{                                                                                          \
		char **argv;                                                                       \
		size_t n;                                                                          \
                                                                                                   \
		COUNT(first, n);                                                                   \
		argv = __builtin_alloca((n + 1) * sizeof(*argv));                                  \
		COLLECT(first, argv, n, NULL);                                                     \
		return NAME(by_array)(path, argv);                                                 \
	}
EXEC_LIST(execl, execv)
EXEC_LIST(execlp, execvp)

GT_EXPORT int NAME(execle)(const char *path, const char *first, ...)
{
	texts envp = NULL;
	char **argv;
	size_t n;

	COUNT(first, n);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	COLLECT(first, argv, n, &envp);
	return NAME(execve)(path, argv, envp);
}
