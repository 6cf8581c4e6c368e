#include "formats/cmdline/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static size_t paged_width; /* 0: there is no pager */

void gt_terminal_set_paged(size_t width) { paged_width = width; }

static bool is_paged(int fd) { return paged_width && fd == STDOUT_FILENO; }

size_t gt_terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize ws;
	long n;

	if (is_paged(fd))
		return paged_width;
	if (fd < 0 || !isatty(fd))
		return SIZE_MAX;
	n = columns ? strtol(columns, NULL, 10) : 0;
	if (n <= 0 && !ioctl(fd, TIOCGWINSZ, &ws))
		n = ws.ws_col;
	return n > 0 ? (size_t)n : 80;
}

bool gt_terminal_colours(int fd, enum gt_colour_when when)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != GT_COLOUR_AUTO)
		return when == GT_COLOUR_ALWAYS;
	return !(no && *no) && term && *term && strcmp(term, "dumb") &&
		(is_paged(fd) || (fd >= 0 && isatty(fd)));
}
