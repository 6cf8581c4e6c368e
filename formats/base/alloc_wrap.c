/* The linker replaces malloc and similar functions by these (--wrap in the Makefile): they call the
 * real function and note a failure. The linker prescribes their names. fopen and opendir allocate,
 * too, and their callers take a failure for a missing file. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include "formats/base/alloc_failure.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__real_fdopen(int fd, const char *mode);
DIR *__real_opendir(const char *path);
DIR *__real_fdopendir(int fd);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_fdopendir(int fd);

static void *note_failure(void *p)
{
	if (__builtin_expect(!p, 0))
		gt_alloc_failure_set();
	return p;
}

void *__wrap_malloc(size_t bytes) { return note_failure(__real_malloc(bytes)); }
void *__wrap_calloc(size_t n, size_t bytes) { return note_failure(__real_calloc(n, bytes)); }
char *__wrap_strdup(const char *s) { return note_failure(__real_strdup(s)); }
char *__wrap_strndup(const char *s, size_t n) { return note_failure(__real_strndup(s, n)); }

/* For 0 bytes realloc frees and returns NULL: that is no failure. */
void *__wrap_realloc(void *old, size_t bytes)
{
	void *p = __real_realloc(old, bytes);

	return bytes ? note_failure(p) : p;
}

static void *note_enomem(void *p)
{
	if (!p && errno == ENOMEM)
		gt_alloc_failure_set();
	return p;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return note_enomem(__real_fopen(path, mode));
}
FILE *__wrap_fdopen(int fd, const char *mode) { return note_enomem(__real_fdopen(fd, mode)); }
DIR *__wrap_opendir(const char *path) { return note_enomem(__real_opendir(path)); }
DIR *__wrap_fdopendir(int fd) { return note_enomem(__real_fdopendir(fd)); }

/* With _FORTIFY_SOURCE the compiler calls the __..._chk functions. */
#ifdef _FORTIFY_SOURCE
#define FLAG int flag,
#define PASS flag,
#define VASPRINTF(which) which##___vasprintf_chk
#define ASPRINTF(which) which##___asprintf_chk
#else
#define FLAG
#define PASS
#define VASPRINTF(which) which##_vasprintf
#define ASPRINTF(which) which##_asprintf
#endif

int VASPRINTF(__real)(char **to, FLAG const char *fmt, va_list ap);
int VASPRINTF(__wrap)(char **to, FLAG const char *fmt, va_list ap);
int ASPRINTF(__wrap)(char **to, FLAG const char *fmt, ...);

int VASPRINTF(__wrap)(char **to, FLAG const char *fmt, va_list ap)
{
	int n = VASPRINTF(__real)(to, PASS fmt, ap);

	if (n < 0)
		gt_alloc_failure_set();
	return n;
}

int ASPRINTF(__wrap)(char **to, FLAG const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = VASPRINTF(__wrap)(to, PASS fmt, ap);
	va_end(ap);
	return n;
}
