/* Preloaded: a file system without O_TMPFILE. A file that is not complete then has a name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

static int open_at(int folder, const char *path, int flags, unsigned mode)
{
	int (*next)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat");

	if ((flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return next(folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	unsigned mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, unsigned);
	va_end(ap);
	return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
	return openat(folder, path, flags, 0600);
}
