#define _GNU_SOURCE
#include "collect/guest/core/guest_system.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

uint64_t gt_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void gt_sleep(long ns) { syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = ns }, NULL); }

void *gt_map(size_t bytes)
{
	long p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);

	return p == -1 ? NULL : (void *)p;
}

void *gt_map_of_process(size_t bytes)
{
	void *p = gt_map(bytes);

	if (!p || !syscall(SYS_madvise, p, bytes, MADV_WIPEONFORK))
		return p;
	gt_debug("cannot trace:", "madvise(MADV_WIPEONFORK)", errno);
	syscall(SYS_munmap, p, bytes);
	return NULL;
}

size_t gt_read_text(const char *path, char *text, size_t size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : syscall(SYS_read, fd, text, size - 1);

	if (fd >= 0)
		syscall(SYS_close, fd);
	n = n > 0 ? n : 0;
	text[n] = 0;
	return (size_t)n;
}

const char *gt_environment(const char *name)
{
	size_t n = strlen(name);
	extern char **environ;

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

char *gt_append(char *at, const char *end, const char *text)
{
	while (*text && at < end - 1)
		*at++ = *text++;
	*at = 0;
	return at;
}

char *gt_append_number(char *at, const char *end, uint64_t n)
{
	char digits[24], *first = digits + sizeof(digits) - 1;

	*first = 0;
	do
		*--first = (char)('0' + n % 10);
	while (n /= 10);
	return gt_append(at, end, first);
}

void gt_debug(const char *what, const char *detail, int64_t value)
{
	char line[300], *at = line;
	const char *end = line + sizeof(line), *texts_end = line + 260;
	const char *on = gt_environment("GT_DEBUG");

	if (!on || !*on || *on == '0')
		return;
	for (const char *const *s = (const char *[]){ "gt: ", what, " ", detail, NULL }; *s; s++)
		at = gt_append(at, texts_end, *s);
	at = gt_append(at, end, value < 0 ? " -" : " ");
	at = gt_append_number(at, end, value < 0 ? -(uint64_t)value : (uint64_t)value);
	at = gt_append(at, end, "\n");
	syscall(SYS_write, 2, line, (size_t)(at - line));
}
