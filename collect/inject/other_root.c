#define _GNU_SOURCE
#include "collect/inject/other_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/ipc/pidfd.h"

#define LIBRARY "libgtpreload.so" /* the name of the file in memory, which /proc/PID/maps shows */

bool gt_remote_sees_file(pid_t pid, const char *path)
{
	char there_path[PATH_MAX + 32];
	struct stat here, there;

	snprintf(there_path, sizeof(there_path), "/proc/%d/root%s", (int)pid, path);
	return !stat(path, &here) && !stat(there_path, &there) && here.st_dev == there.st_dev &&
		here.st_ino == there.st_ino;
}

void gt_remote_close(struct gt_remote_thread *t, int descriptor)
{
	uint64_t result;

	gt_remote_call(t, t->symbols->close, GT_REMOTE_ARGUMENTS((uint64_t)descriptor), &result);
}

/* The process's descriptor as one of gtcollect's. -1, and errno. */
static int take_descriptor(pid_t pid, int descriptor)
{
	int process = gt_pidfd_open(pid), fd;

	if (process < 0)
		return -1;
	fd = gt_pidfd_copy(process, descriptor);
	close(process);
	return fd;
}

/* The descriptor is the process's. gtcollect writes through a duplicate, which may be written only
 * if the process may: the process could name a file that only gtcollect may write. */
static int copy_into(pid_t pid, int descriptor, const char *from)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = take_descriptor(pid, descriptor);
	struct stat st = { 0 };
	off_t at = 0;
	int rc = 0;

	if (in < 0 || out < 0 || fstat(in, &st))
		rc = -errno;
	while (!rc && at < st.st_size)
		if (sendfile(out, in, &at, (size_t)(st.st_size - at)) <= 0)
			rc = errno ? -errno : -EIO;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return rc;
}

int gt_remote_copy_file(struct gt_remote_thread *t, const char *path)
{
	uint64_t name = gt_remote_put_text(t, LIBRARY), result = 0;
	int rc, there;

	if (!t->symbols->memfd_create || !t->symbols->close)
		return -ENOSYS;
	rc = name ? gt_remote_call(t, t->symbols->memfd_create,
			    GT_REMOTE_ARGUMENTS(name, MFD_CLOEXEC), &result)
		  : -EFAULT;
	there = (int)result;
	if (rc || there < 0)
		return rc ? rc : -ENOSYS;
	rc = copy_into(t->pid, there, path);
	if (!rc)
		return there;
	gt_remote_close(t, there);
	return rc;
}

int gt_remote_connect(struct gt_remote_thread *t, int *here)
{
	int pair[2] = { -1, -1 };
	uint64_t at = gt_remote_put(t, pair, sizeof(pair)), result = 0;
	int rc;

	*here = -1;
	if (!t->symbols->socketpair || !t->symbols->close)
		return -ENOSYS;
	rc = at ? gt_remote_call(t, t->symbols->socketpair,
			  GT_REMOTE_ARGUMENTS(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, at), &result)
		: -EFAULT;
	if (rc || (int)result)
		return rc ? rc : -ENOSYS;
	if (!gt_remote_read(t, at, pair, sizeof(pair)))
		return -EFAULT;
	*here = take_descriptor(t->pid, pair[0]);
	rc = *here < 0 ? -errno : pair[1];
	gt_remote_close(t, pair[0]);
	if (rc < 0)
		gt_remote_close(t, pair[1]);
	return rc;
}
