#include "formats/base/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t gt_terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize ws;
	long n;

	if (fd < 0 || !isatty(fd))
		return SIZE_MAX;
	n = columns ? strtol(columns, NULL, 10) : 0;
	if (n <= 0 && !ioctl(fd, TIOCGWINSZ, &ws))
		n = ws.ws_col;
	return n > 0 ? (size_t)n : 80;
}
