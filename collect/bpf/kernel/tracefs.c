#define _GNU_SOURCE
#include "collect/bpf/kernel/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the kernel's interface; headers before Linux 5.2 lack them. */
enum { FSOPEN = 430, FSCONFIG = 431, FSMOUNT = 432, CLOEXEC = 1, CONFIG_CREATE = 6 };

static int open_mounted(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), events;

	if (fd < 0)
		return -errno;
	events = openat(fd, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (events < 0) { /* the folder is there, but tracefs is not mounted on it */
		close(fd);
		return -ENOENT;
	}
	close(events);
	return fd;
}

static int mount_without_path(void)
{
	int context = (int)syscall(FSOPEN, "tracefs", CLOEXEC), fd = -1;

	if (context >= 0 && !syscall(FSCONFIG, context, CONFIG_CREATE, NULL, NULL, 0))
		fd = (int)syscall(FSMOUNT, context, CLOEXEC, 0);
	if (context >= 0)
		close(context);
	return fd;
}

int gt_tracefs_open(struct gt_err *err)
{
	static const char *const paths[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int fd;

	for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		fd = open_mounted(paths[i]);
		if (fd >= 0)
			return fd;
		if (fd == -EACCES || fd == -EPERM)
			return gt_err_set(err, -EPERM,
				"%s can be read by root only (chmod 755 %s permits it to all)",
				paths[i], paths[i]);
	}
	fd = mount_without_path();
	return fd >= 0
		? fd
		: gt_err_set(err, -ENOENT,
			  "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing");
}
