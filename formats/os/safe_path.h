/* Paths that another user could redirect.
 *
 * A user who may write to one folder of a path can replace the entries of that folder. A path is
 * safe if only root, the owner of / and the effective user can do that: each component belongs to
 * one of them, and others may not write to it, or it is a folder with the sticky bit (such as
 * /tmp), where they can rename only their own entries. The owner of / is trusted because the
 * machine's root has another number in a user namespace. */
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

/* The path must exist. `real` receives it without links. Use `real` and not the path, because a
 * link in an unsafe folder may change. 0; -EPERM: the path is not safe; or the negative errno of a
 * system call. */
int gt_safe_path(const char *path, char real[PATH_MAX], struct gt_err *err);
/* The same for an absolute path of a folder. Missing folders are created, mode 0700, each within a
 * safe one. */
int gt_safe_folder(const char *path, char real[PATH_MAX], struct gt_err *err);

/* For an absolute path without links. -EPERM: the path is not safe, and now ends at its first
 * unsafe component, which *st describes. It is inline and uses system calls for the library in the
 * traced program, which links no other code of gt and must not need a newer libc. */
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
