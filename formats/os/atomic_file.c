#define _GNU_SOURCE /* O_TMPFILE, renameat2 */
#include "formats/os/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int gt_unfinished_place(
	const char *path, bool replace, int *folder, char name[NAME_MAX + 1], mode_t *mode)
{
	struct stat st;
	bool there = !stat(path, &st), unclear = !there && errno != ENOENT;
	char *copy = unclear ? NULL : there ? realpath(path, NULL) : strdup(path), *slash;
	const char *base;

	*folder = -1;
	*mode = there ? st.st_mode & 0777 : 0;
	if (!copy)
		return -errno;
	slash = strrchr(copy, '/');
	base = slash ? slash + 1 : copy;
	if (strlen(base) > NAME_MAX) {
		free(copy);
		return -ENAMETOOLONG;
	}
	strcpy(name, base);
	if (slash)
		slash[slash == copy] = 0;
	*folder = open(slash ? copy : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (*folder < 0)
		return -errno;
	if (!name[0] || (there && !S_ISREG(st.st_mode)))
		return -EINVAL;
	return there && !replace ? -EEXIST : 0;
}

static void random_name(char to[GT_UNFINISHED_NAME], const char *before)
{
	uint64_t bits;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		bits = (uint64_t)time(NULL) << 24 ^ (uint64_t)getpid();
	snprintf(to, GT_UNFINISHED_NAME, "%.20s%016" PRIx64, before, bits);
}

int gt_unfinished_begin(struct gt_unfinished *u, int folder, const char *before, mode_t mode)
{
	u->name[0] = 0;
	/* without /proc it could never be given a name */
	u->fd = access("/proc/self/fd", X_OK)
		? -1
		: openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (u->fd < 0) {
		random_name(u->name, before);
		u->fd = openat(folder, u->name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
	}
	return u->fd < 0 ? -errno : 0;
}

static int link_as(const struct gt_unfinished *u, int folder, const char *name)
{
	char self[40];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", u->fd);
	return linkat(AT_FDCWD, self, folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Not every file system can do both at once. */
static int rename_beside(const struct gt_unfinished *u, int folder, const char *name)
{
	if (!renameat2(folder, u->name, folder, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(folder, u->name, folder, name) ? -errno : 0;
}

/* A link takes no other one's place, and a file without a name cannot be renamed: so it gets one
 * for a moment. */
int gt_unfinished_keep(
	struct gt_unfinished *u, int folder, const char *before, const char *name, bool replace)
{
	char own[GT_UNFINISHED_NAME];
	int rc = 0;

	if (!u->name[0] && !replace)
		return link_as(u, folder, name);
	if (!u->name[0]) {
		random_name(own, before);
		rc = link_as(u, folder, own);
		if (!rc)
			memcpy(u->name, own, sizeof(own));
	}
	if (!rc)
		rc = !replace                                     ? rename_beside(u, folder, name)
			: renameat(folder, u->name, folder, name) ? -errno
								  : 0;
	if (rc && u->name[0])
		unlinkat(folder, u->name, 0);
	u->name[0] = 0;
	return rc;
}

void gt_unfinished_drop(struct gt_unfinished *u, int folder)
{
	if (u->fd >= 0)
		close(u->fd);
	if (u->name[0])
		unlinkat(folder, u->name, 0);
	*u = (struct gt_unfinished){ .fd = -1 };
}
