#include "collect/cli/python_command.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "collect/cli/child_process.h"

static bool is_script(const char *name)
{
	size_t len = strlen(name);
	struct stat st;

	return len > 3 && !strcmp(name + len - 3, ".py") && !stat(name, &st) && S_ISREG(st.st_mode);
}

char **gt_python_command(char **argv)
{
	const char *python = getenv("GT_PYTHON");
	char path[PATH_MAX], **all;
	size_t n = 0;

	if (!is_script(argv[0]) || !gt_child_find(argv[0], path))
		return argv;
	while (argv[n])
		n++;
	all = malloc((n + 2) * sizeof(*all));
	if (!all)
		return NULL;
	all[0] = (char *)(python && *python ? python : "python3");
	memcpy(all + 1, argv, (n + 1) * sizeof(*all));
	return all;
}
