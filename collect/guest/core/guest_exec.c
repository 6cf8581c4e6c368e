/* exec and abort. They end the program, but no exit handler runs: records that CUPTI has not
 * delivered by then are lost. So the wrappers of these functions fetch them first. If exec fails,
 * the program continues.
 *
 * A child of vfork runs in our memory, but CUPTI belongs to its parent; a child of fork has no
 * CUPTI. Neither fetches anything. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_exec.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_hooks.h"

#ifdef GT_HOSTED
#define NAME(f) gt_hosted_##f
#else
#define NAME(f) f
#endif

typedef int path_args(const char *, char *const *);
typedef int path_args_env(const char *, char *const *, char *const *);
typedef int fd_args_env(int, char *const *, char *const *);
typedef int at_args_env(int, const char *, char *const *, char *const *, int);
typedef void nothing(void);
typedef void failed_assertion(const char *, const char *, unsigned, const char *);

enum { EXECVE, EXECV, EXECVP, EXECVPE, FEXECVE, EXECVEAT, ABORT, ASSERT_FAIL, FUNCTIONS };
static void *real_functions[FUNCTIONS];

void gt_exec_find_functions(void)
{
	static const char *const names[FUNCTIONS] = { "execve", "execv", "execvp", "execvpe",
		"fexecve", "execveat", "abort", "__assert_fail" };

	gt_find_next_definitions(names, real_functions, FUNCTIONS);
}

static void *real_function(unsigned which)
{
	int saved = errno;

	if (!__atomic_load_n(&real_functions[which], __ATOMIC_ACQUIRE))
		gt_exec_find_functions();
	errno = saved;
	return __atomic_load_n(&real_functions[which], __ATOMIC_ACQUIRE);
}

/* A return from exec means that it failed. */
#define CALL_REAL(type, which, ...)                                                                \
	{                                                                                          \
		type *real = (type *)real_function(which);                                         \
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

GT_EXPORT int NAME(execve)(const char *path, char *const *argv, char *const *envp)
	CALL_REAL(path_args_env, EXECVE, path, argv, envp) GT_EXPORT
	int NAME(execv)(const char *path, char *const *argv)
		CALL_REAL(path_args, EXECV, path, argv) GT_EXPORT
	int NAME(execvp)(const char *file, char *const *argv)
		CALL_REAL(path_args, EXECVP, file, argv) GT_EXPORT
	int NAME(execvpe)(const char *file, char *const *argv, char *const *envp)
		CALL_REAL(path_args_env, EXECVPE, file, argv, envp) GT_EXPORT
	int NAME(fexecve)(int fd, char *const *argv, char *const *envp)
		CALL_REAL(fd_args_env, FEXECVE, fd, argv, envp) GT_EXPORT int NAME(execveat)(
			int fd, const char *path, char *const *argv, char *const *envp, int flags)
			CALL_REAL(at_args_env, EXECVEAT, fd, path, argv, envp, flags)

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
	nothing *real = (nothing *)real_function(ABORT);

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
	failed_assertion *real = (failed_assertion *)real_function(ASSERT_FAIL);

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
		char *const **env_ = (envp);                                                       \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, first);                                                               \
		argv[0] = (char *)(uintptr_t)first;                                                \
		for (size_t i_ = 1; i_ <= n; i_++)                                                 \
			argv[i_] = va_arg(ap, char *);                                             \
		if (env_)                                                                          \
			*env_ = va_arg(ap, char *const *);                                         \
		va_end(ap);                                                                        \
	} while (0)

GT_EXPORT int NAME(execl)(const char *path, const char *first, ...)
{
	char **argv;
	size_t n;

	COUNT(first, n);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	COLLECT(first, argv, n, NULL);
	CALL_REAL(path_args, EXECV, path, argv)
}

GT_EXPORT int NAME(execlp)(const char *file, const char *first, ...)
{
	char **argv;
	size_t n;

	COUNT(first, n);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	COLLECT(first, argv, n, NULL);
	CALL_REAL(path_args, EXECVP, file, argv)
}

GT_EXPORT int NAME(execle)(const char *path, const char *first, ...)
{
	char *const *envp = NULL;
	char **argv;
	size_t n;

	COUNT(first, n);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	COLLECT(first, argv, n, &envp);
	CALL_REAL(path_args_env, EXECVE, path, argv, envp)
}
