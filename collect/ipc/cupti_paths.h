/* Paths of CUPTI in a CUDA toolkit, where the loader does not search: in the toolkit that
 * CUDA_HOME or CUDA_PATH names, or in /usr/local/cuda. */
#ifndef GT_CUPTI_PATHS_H
#define GT_CUPTI_PATHS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "formats/os/safe_path.h"

#define GT_CUPTI_NAMES                                                                             \
	{                                                                                          \
		"libcupti.so.13", "libcupti.so.12", "libcupti.so.11"                               \
	} /* newest first */

/* Writes a/b/c to `to`, without NULL parts. False: it does not fit, or a is missing. */
static inline bool gt_join_path(char *to, size_t size, const char *a, const char *b, const char *c)
{
	const char *parts[] = { a, b, c };
	size_t n = 0, len;

	for (unsigned i = 0; i < 3 && a && *a; i++) {
		len = parts[i] ? strlen(parts[i]) : 0;
		if (!len)
			continue;
		if (n + len + 2 > size)
			return false;
		if (n)
			to[n++] = '/';
		memcpy(to + n, parts[i], len);
		n += len;
	}
	if (!n)
		return false;
	to[n] = '\0';
	return true;
}

/* Writes to `to` the path by which this process may load a library that its environment names.
 * False: it may not. Root's environment may be another user's, who could run code as root in this
 * way. Other users may load any library: a toolkit often belongs to the user who installed it. */
static inline bool gt_safe_library(const char *path, char *to, size_t size)
{
	char real[PATH_MAX];
	struct stat st;
	size_t n;

	if (!syscall(SYS_geteuid)) {
		if (!realpath(path, real) || gt_safe_path_cut(real, &st))
			return false;
		path = real;
	}
	n = strlen(path);
	if (n < size)
		memmove(to, path, n + 1);
	return n < size;
}

/* Writes the nth candidate path of the file. 0: there are no more; negative: this one may not be
 * loaded, but a later one may. */
static inline int gt_cupti_candidate(unsigned n, const char *(*environment)(const char *),
	const char *name, char *to, size_t size)
{
#if defined(__aarch64__)
	static const char *const folders[] = { "lib64", "extras/CUPTI/lib64",
		"targets/sbsa-linux/lib" };
#else
	static const char *const folders[] = { "lib64", "extras/CUPTI/lib64",
		"targets/x86_64-linux/lib" };
#endif
	const char *roots[] = { environment("CUDA_HOME"), environment("CUDA_PATH"),
		"/usr/local/cuda" };
	unsigned folders_n = sizeof(folders) / sizeof(*folders);

	if (n >= folders_n * 3)
		return 0;
	return gt_join_path(to, size, roots[n / folders_n], folders[n % folders_n], name) &&
			gt_safe_library(to, to, size)
		? 1
		: -1;
}
#endif
