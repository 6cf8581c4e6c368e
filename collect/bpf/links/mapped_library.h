/* The library that a process has mapped, and where its functions lie in the file. The file is
 * opened through /proc/PID, so it is the one that the process runs: in another mount namespace,
 * replaced on disk, deleted, or in memory only. */
#ifndef GT_MAPPED_LIBRARY_H
#define GT_MAPPED_LIBRARY_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_mapped_library {
	dev_t device; /* as /proc/PID/maps shows it */
	ino_t inode;
	char link[64];            /* of the mapping: /proc/PID/map_files/FROM-TO */
	char name[PATH_MAX];      /* as the process maps it */
	char path[PATH_MAX + 32]; /* by which the kernel and gtcollect open it */
};
/* Does the name of the file, without its folder, begin so? */
bool gt_mapped_file_has_prefix(const char *name, const char *prefix);
typedef bool gt_mapped_file_wants(const void *arg, const char *name);
/* Fills in at most `max` libraries of the process for whose names `wants` is true. Returns their
 * number (which may be larger than max), or negative: -ESRCH there is no such process, -EACCES it
 * may not be read. */
int gt_mapped_libraries(pid_t pid, gt_mapped_file_wants *wants, const void *arg,
	struct gt_mapped_library *list, size_t max, struct gt_err *err);
/* new: close it. Or negative: -EACCES; -ESTALE: the path leads to another file now. */
int gt_mapped_library_open(const struct gt_mapped_library *l, struct gt_err *err);

struct gt_mapping;
/* The file of a mapping of the process. */
void gt_mapped_library_set(struct gt_mapped_library *l, pid_t pid, const struct gt_mapping *m);

struct gt_library_function {
	char *name;
	uint64_t offset; /* in the file */
	/* its first instruction cannot be emulated by the kernel: a probe there costs some 10 us */
	bool slow;
};
struct gt_library_functions {
	struct gt_library_function *list;
	size_t n, cap;
};
#define GT_LIBRARY_FUNCTIONS (1u << 20) /* at most: as many as the kernel permits in a link */
/* Functions that an open library exports, or all that it has symbols of, and whose names match the
 * glob. name: for errors. Release *f in any case. 0 or negative: -E2BIG. */
int gt_library_functions_read(struct gt_library_functions *f, int fd, const char *name,
	const char *glob, bool all, struct gt_err *err);
void gt_library_functions_release(struct gt_library_functions *f);
#endif
