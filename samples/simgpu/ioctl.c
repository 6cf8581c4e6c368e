/* The `ioctl` that answers requests to the simulated device files. It has its own file, so that the
 * driver's calls go through the dynamic linker, and an interposer sees them. */
#define _GNU_SOURCE
#include "samples/simgpu/sim.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return sim_is_device_file(fd) ? 0 : (int)syscall(SYS_ioctl, fd, request, arg);
}
