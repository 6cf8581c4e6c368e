#define _GNU_SOURCE
#include "collect/ipc/process_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rest of the path below the folder: "" or "/..."; NULL: it is not below it. */
static const char *rest_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	if (strncmp(path, folder, n))
		return NULL;
	return !path[n] || path[n] == '/' ? path + n : NULL;
}

/* The path of the folder within the file system of cgroup v2 that it is in. */
static bool find_in_cgroup2(struct gt_process_filter *f, const char *real)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char line[2 * PATH_MAX];
	struct mntent m;
	bool found = false;

	while (mounts && !found && getmntent_r(mounts, &m, line, sizeof(line))) {
		const char *rest =
			strcmp(m.mnt_type, "cgroup2") ? NULL : rest_below(real, m.mnt_dir);

		found = rest;
		if (found)
			snprintf(f->cgroup, sizeof(f->cgroup), "%s", rest);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

int gt_process_filter_init(
	struct gt_process_filter *f, const char *name, const char *folder, struct gt_err *err)
{
	char real[PATH_MAX];

	*f = (struct gt_process_filter){ .name = name, .has_cgroup = folder };
	if (!folder)
		return 0;
	if (!realpath(folder, real))
		return gt_err_set(err, -EINVAL, "--cgroup %.200s: %s", folder, strerror(errno));
	if (!find_in_cgroup2(f, real))
		return gt_err_set(err, -EINVAL,
			"--cgroup %.200s is no folder of cgroup v2 (on most systems they are below /sys/fs/cgroup)",
			folder);
	return 0;
}

bool gt_process_filter_selects(const struct gt_process_filter *f)
{
	return f->name || f->has_cgroup;
}

static FILE *open_of(pid_t pid, const char *file)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return fopen(path, "re");
}

static bool has_name(const char *glob, pid_t pid)
{
	char name[32] = "";
	FILE *f = open_of(pid, "comm");
	bool read = f && fgets(name, sizeof(name), f);

	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = 0;
	return read && !fnmatch(glob, name, 0);
}

/* The line of cgroup v2 begins with "0::". */
static bool is_in_cgroup(const char *cgroup, pid_t pid)
{
	char line[PATH_MAX + 8];
	FILE *f = open_of(pid, "cgroup");
	bool is_in = false;

	while (f && !is_in && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		is_in = !strncmp(line, "0::", 3) && rest_below(line + 3, cgroup);
	}
	if (f)
		fclose(f);
	return is_in;
}

bool gt_process_filter_matches(const struct gt_process_filter *f, pid_t pid)
{
	return (!f->name || has_name(f->name, pid)) &&
		(!f->has_cgroup || is_in_cgroup(f->cgroup, pid));
}
