/* Requests to the stand-in driver of tests/vm/module: ten that call nv_ctx_switch, five that call
 * uvm_map_range. */
#include <fcntl.h>
#include <linux/ioctl.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(void)
{
	int fd = open("/dev/nvidia0", O_RDWR), failed = fd < 0;

	for (int i = 0; !failed && i < 15; i++)
		failed = ioctl(fd, i < 10 ? _IO('F', 1) : _IO('F', 2), i + 1) != 0;
	if (fd >= 0)
		close(fd);
	return failed;
}
