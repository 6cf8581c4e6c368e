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

int gt_atomic_file_place(
	const char *path, bool replace, int *folder, char name[NAME_MAX + 1], mode_t *mode)
{
	struct stat st;
	bool exists = !stat(path, &st), failed = !exists && errno != ENOENT;
	char *copy = failed ? NULL : exists ? realpath(path, NULL) : strdup(path), *slash;
	const char *base;

	*folder = -1;
	*mode = exists ? st.st_mode & 0777 : 0;
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
	if (!name[0] || (exists && !S_ISREG(st.st_mode)))
		return -EINVAL;
	return exists && !replace ? -EEXIST : 0;
}

static void random_name(char to[GT_ATOMIC_FILE_NAME], const char *prefix)
{
	uint64_t bits;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		bits = (uint64_t)time(NULL) << 24 ^ (uint64_t)getpid();
	snprintf(to, GT_ATOMIC_FILE_NAME, "%.20s%016" PRIx64, prefix, bits);
}

/* ---- temporary names, for gt_atomic_files_remove ---- */

#define NAMES 16u /* more than a program has; names beyond these stay if a signal ends it */
static struct temporary_name {
	char used; /* 0, or this entry belongs to a file */
	char ready;
	int folder;
	char name[GT_ATOMIC_FILE_NAME];
} names[NAMES];

static void note_name(int folder, const char *name)
{
	for (unsigned i = 0; i < NAMES; i++) {
		if (__atomic_test_and_set(&names[i].used, __ATOMIC_ACQUIRE))
			continue;
		names[i].folder = folder;
		memcpy(names[i].name, name, sizeof(names[i].name));
		__atomic_store_n(&names[i].ready, 1, __ATOMIC_RELEASE);
		return;
	}
}

static void forget_name(int folder, const char *name)
{
	for (unsigned i = 0; i < NAMES; i++)
		if (__atomic_load_n(&names[i].ready, __ATOMIC_ACQUIRE) &&
			names[i].folder == folder && !strcmp(names[i].name, name)) {
			__atomic_store_n(&names[i].ready, 0, __ATOMIC_RELEASE);
			__atomic_clear(&names[i].used, __ATOMIC_RELEASE);
			return;
		}
}

void gt_atomic_files_remove(void)
{
	for (unsigned i = 0; i < NAMES; i++)
		if (__atomic_load_n(&names[i].ready, __ATOMIC_ACQUIRE))
			unlinkat(names[i].folder, names[i].name, 0);
}

/* ---- files ---- */

int gt_atomic_file_create(struct gt_atomic_file *f, int folder, const char *prefix, mode_t mode)
{
	f->name[0] = 0;
	/* to give a name to a file without one takes /proc */
	f->fd = access("/proc/self/fd", X_OK)
		? -1
		: openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (f->fd < 0) {
		random_name(f->name, prefix);
		note_name(folder, f->name);
		f->fd = openat(folder, f->name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
	}
	if (f->fd < 0) {
		int code = -errno;

		forget_name(folder, f->name);
		return code;
	}
	return 0;
}

static int link_as(const struct gt_atomic_file *f, int folder, const char *name)
{
	char self[40];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, self, folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Not every file system supports RENAME_NOREPLACE. */
static int rename_without_replacing(const struct gt_atomic_file *f, int folder, const char *name)
{
	if (!renameat2(folder, f->name, folder, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(folder, f->name, folder, name) ? -errno : 0;
}

/* linkat cannot replace a file, and a file without a name cannot be renamed. So to replace one, the
 * file gets a temporary name first. */
int gt_atomic_file_commit(
	struct gt_atomic_file *f, int folder, const char *prefix, const char *name, bool replace)
{
	char own[GT_ATOMIC_FILE_NAME];
	int rc = 0;

	if (!f->name[0] && !replace)
		return link_as(f, folder, name);
	if (!f->name[0]) {
		random_name(own, prefix);
		note_name(folder, own);
		rc = link_as(f, folder, own);
		if (rc)
			forget_name(folder, own);
		else
			memcpy(f->name, own, sizeof(own));
	}
	if (!rc)
		rc = !replace ? rename_without_replacing(f, folder, name)
			: renameat(folder, f->name, folder, name) ? -errno
								  : 0;
	if (rc && f->name[0])
		unlinkat(folder, f->name, 0);
	forget_name(folder, f->name);
	f->name[0] = 0;
	return rc;
}

void gt_atomic_file_close(struct gt_atomic_file *f, int folder)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->name[0]) {
		unlinkat(folder, f->name, 0);
		forget_name(folder, f->name);
	}
	*f = (struct gt_atomic_file){ .fd = -1 };
}
