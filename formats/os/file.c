#define _GNU_SOURCE /* O_TMPFILE, mkostemp */
#include "formats/os/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int gt_pread(int fd, void *to, size_t n, uint64_t at)
{
	uint8_t *p = to;

	while (n) {
		ssize_t got = pread(fd, p, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EIO;
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

int gt_pwrite(int fd, const void *from, size_t n, uint64_t at)
{
	const uint8_t *p = from;

	while (n) {
		ssize_t put = pwrite(fd, p, n, (off_t)at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -EIO;
		p += put;
		at += (uint64_t)put;
		n -= (size_t)put;
	}
	return 0;
}

const char *gt_temporary_folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/* The folder may belong to another user (root with that user's environment). That user can neither
 * read the file nor replace it. */
int gt_temporary(struct gt_err *err)
{
	const char *dir = gt_temporary_folder();
	char path[4096];
	int fd;

	fd = open(dir, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600); /* never gets a name */
	if (fd >= 0)
		return fd;
	/* a file system without O_TMPFILE */
	if (snprintf(path, sizeof(path), "%s/gt-XXXXXX", dir) >= (int)sizeof(path))
		return gt_err_set(err, -ENAMETOOLONG, "TMPDIR is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return gt_err_set(err, -errno, "cannot make a temporary file in %s: %s", dir,
			strerror(errno));
	unlink(path);
	return fd;
}

void gt_permit_many_files(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}
