/* Paths that another user could redirect.
 *
 * A user who may write to one folder of a path can rename what lies in it and put something else
 * there. A path is safe when only root, the owner of / and the effective user can do that: each
 * component belongs to one of them, and others may not write to it, or it is a folder with the
 * sticky bit (as /tmp), where they can rename their own entries only. The owner of / counts because
 * the machine's root has another number in a user namespace. */
#ifndef GT_SAFE_PATH_H
#define GT_SAFE_PATH_H
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "formats/base/err.h"

/* The path must exist. `real` receives it without links: that is the one to use, as a link in an
 * unsafe folder may change. 0; -EPERM when it is not safe; or why it cannot be looked at. */
int gt_safe_path(const char *path, char real[PATH_MAX], struct gt_err *err);
/* As above, for an absolute path of a folder. Folders that are missing are made, mode 0700, each
 * within a safe one. */
int gt_safe_folder(const char *path, char real[PATH_MAX], struct gt_err *err);

/* For an absolute path without links. -EPERM: it is not safe, and was cut behind the first such
 * component, which *st describes. Inline and with system calls, for the library in the traced
 * program: it links none of our code, and may need no newer libc. */
static inline int gt_safe_path_cut(char *real, struct stat *st)
{
	uid_t self = (uid_t)syscall(SYS_geteuid), root = 0;
	bool trusted, shared;
	char kept;
	long failed;

	for (size_t n = 1;; n += (n > 1) + strcspn(real + n + (n > 1), "/")) {
		kept = real[n];
		real[n] = 0;
		failed = syscall(SYS_newfstatat, AT_FDCWD, real, st, AT_SYMLINK_NOFOLLOW);
		if (failed)
			return -errno;
		root = n == 1 ? st->st_uid : root;
		trusted = !st->st_uid || st->st_uid == self || st->st_uid == root;
		shared = st->st_mode & 022 && !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX);
		if (!trusted || shared)
			return -EPERM;
		real[n] = kept;
		if (!kept)
			return 0;
	}
}
#endif
