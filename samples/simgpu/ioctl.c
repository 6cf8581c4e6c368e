/* The `ioctl` that answers for the simulated device files. In a file of its own, so that the driver's calls go through the
 * dynamic linker like any other program's and whoever interposes sees them. */
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
	return sim_owns(fd) ? 0 : (int)syscall(SYS_ioctl, fd, request, arg);
}
