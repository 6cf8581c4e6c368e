#include "formats/os/program_folder.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void gt_program_folder(char *to, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", to, size - 1);

	to[n > 0 ? n : 0] = 0;
	if (strrchr(to, '/'))
		*strrchr(to, '/') = 0;
}
