#define _GNU_SOURCE /* O_PATH */
#include "formats/cmdline/std_fds.h"

#include <fcntl.h>
#include <unistd.h>

void gt_std_fds_occupy(void)
{
	/* open returns the lowest free number, which in this order is fd */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH | O_CLOEXEC) < 0)
			(void)!open("/", O_PATH | O_CLOEXEC);
}
