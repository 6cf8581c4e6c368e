/* Which processes of the machine are recorded: by name and by cgroup. */
#ifndef GT_PROCESS_FILTER_H
#define GT_PROCESS_FILTER_H
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_process_filter {     /* zeroed: all processes */
	const char *name;      /* a glob, of the name in /proc/PID/comm; borrowed; NULL: any */
	char cgroup[PATH_MAX]; /* as /proc/PID/cgroup names it, without a slash at the end */
	bool has_cgroup;       /* cgroup "": the root, with all processes */
};
/* folder: of a cgroup v2, or NULL. 0; -EINVAL: it is none, or its path is too long. */
int gt_process_filter_init(
	struct gt_process_filter *f, const char *name, const char *folder, struct gt_err *err);
bool gt_process_filter_selects(const struct gt_process_filter *f);
/* Is the process in the cgroup or below it, and does its name match? */
bool gt_process_filter_matches(const struct gt_process_filter *f, pid_t pid);
#endif
