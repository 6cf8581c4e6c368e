/* Functions that a newer C library's headers, start files and static libraries use and an older C
 * library lacks, written with functions that every version has. Linked into portable programs only
 * (portable/stubs.sh explains why).
 *
 * The headers that declare these functions are not included. Those of glibc 2.38 rename strtol to
 * the symbols defined here, and older ones make stat an inline function. */
#include <linux/fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

long syscall(long number, ...);

/* ---- the start of a program ---- */

/* Start files since 2.34 leave the constructors to the C library and pass no init function. An
 * older library runs constructors only if it gets one. The old entry accepts one in every library,
 * so it gets this one. */
typedef void init_function(int argc, char **argv, char **env);
typedef int main_function(int argc, char **argv, char **env);
#define LINKER_MADE extern __attribute__((visibility("hidden")))
LINKER_MADE init_function *__preinit_array_start[], *__preinit_array_end[], *__init_array_start[],
	*__init_array_end[];
LINKER_MADE void _init(void);

static void construct(int argc, char **argv, char **env)
{
	for (init_function **f = __preinit_array_start; f < __preinit_array_end; f++)
		(*f)(argc, argv, env);
	_init();
	for (init_function **f = __init_array_start; f < __init_array_end; f++)
		(*f)(argc, argv, env);
}

int __real___libc_start_main(
	main_function *, int, char **, init_function *, void (*)(void), void (*)(void), void *);
int __wrap___libc_start_main(main_function *program, int argc, char **argv, init_function *init,
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	return __real___libc_start_main(program, argc, argv, construct, fini, rtld_fini, stack_end);
}

/* ---- functions of the C library's static part, which is not linked ---- */

int __cxa_atexit(void (*f)(void *), void *arg, void *dso);
int atexit(void (*f)(void)) { return __cxa_atexit((void (*)(void *))(uintptr_t)f, NULL, NULL); }

/* ---- 2.33: stat and its variants, before calls of __xstat; on 64-bit machines the kernel's struct
 * stat is the library's ---- */

int fstatat(int at, const char *path, void *st, int flags)
{
	return (int)syscall(SYS_newfstatat, at, path, st, flags);
}

int stat(const char *path, void *st) { return fstatat(AT_FDCWD, path, st, 0); }

int lstat(const char *path, void *st) { return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW); }

int fstat(int fd, void *st) { return (int)syscall(SYS_fstat, fd, st); }

int fstatat64(int, const char *, void *, int) __attribute__((alias("fstatat")));
int stat64(const char *, void *) __attribute__((alias("stat")));
int lstat64(const char *, void *) __attribute__((alias("lstat")));
int fstat64(int, void *) __attribute__((alias("fstat")));

/* ---- 2.34 and later: functions for system calls ---- */

int close_range(unsigned int first, unsigned int last, int flags)
{
	return (int)syscall(436, first, last, flags);
}

int pidfd_open(int pid, unsigned int flags) { return (int)syscall(434, pid, flags); }

/* ---- 2.36: random numbers that cannot fail ---- */

void arc4random_buf(void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		long got = syscall(SYS_getrandom, (char *)to + done, n - done, 0);

		done += got > 0 ? (size_t)got : 0; /* interrupted: try again */
	}
}

uint32_t arc4random(void)
{
	uint32_t v;

	arc4random_buf(&v, sizeof(v));
	return v;
}

/* ---- 2.38: the C23 variants of number parsing, which differ in accepting 0b ---- */

#define NUMBER(type, name)                                                                         \
	type name(const char *s, char **end, int base);                                            \
	type __isoc23_##name(const char *s, char **end, int base) { return name(s, end, base); }
NUMBER(long, strtol)
NUMBER(unsigned long, strtoul)
NUMBER(long long, strtoll)
NUMBER(unsigned long long, strtoull)
NUMBER(intmax_t, strtoimax)
NUMBER(uintmax_t, strtoumax)

#define SCAN(name, vname, from)                                                                    \
	int vname(from, const char *fmt, va_list ap) __asm__("__isoc99_" #vname);                  \
	int __isoc23_##vname(from in, const char *fmt, va_list ap) { return vname(in, fmt, ap); }  \
	int __isoc23_##name(from in, const char *fmt, ...)                                         \
	{                                                                                          \
		va_list ap;                                                                        \
		int n;                                                                             \
		va_start(ap, fmt);                                                                 \
		n = vname(in, fmt, ap);                                                            \
		va_end(ap);                                                                        \
		return n;                                                                          \
	}
typedef const char *text;
typedef struct _IO_FILE *stream;
SCAN(sscanf, vsscanf, text)
SCAN(fscanf, vfscanf, stream)
