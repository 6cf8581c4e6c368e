/* The files that a process has mapped, from /proc/PID/maps. */
#ifndef GT_PROCESS_MAPS_H
#define GT_PROCESS_MAPS_H
#include <stdint.h>
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_mapping {
	uint64_t from, to, offset; /* addresses; offset in the file */
	unsigned major, minor;     /* of the file's device */
	unsigned long inode;       /* 0: no file */
	char flags[5];             /* "r-xp" */
	const char *name;          /* path in the process's root, or "" */
};
/* A return value other than 0 ends the walk. */
typedef int gt_mapping_fn(void *arg, const struct gt_mapping *m, struct gt_err *err);
/* Calls fn for each mapping. 0, what fn returned, or negative: -ESRCH there is no such process,
 * -EACCES it may not be read. */
int gt_mappings_each(pid_t pid, gt_mapping_fn *fn, void *arg, struct gt_err *err);
#endif
