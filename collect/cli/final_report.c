/* A Ctrl-C at the terminal ends gtanalyze, whose signals are those that gtcollect inherited.
 * gtcollect itself still has them blocked, so it returns the program's exit status. */
#include "collect/cli/final_report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "collect/cli/child_process.h"
#include "formats/os/program_folder.h"

#define NOT_RUN 127

int gt_final_report_print(const char *trace, struct gt_err *err)
{
	char folder[PATH_MAX], path[PATH_MAX + 16];
	int status = 0;
	pid_t pid;

	gt_program_folder(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/gtanalyze", folder);
	pid = fork();
	if (pid < 0)
		return gt_err_set(err, -errno, "cannot start gtanalyze: %s", strerror(errno));
	if (!pid) {
		gt_child_inherit_signals();
		/* gtcollect ends without waiting for a reader */
		execl(path, "gtanalyze", "--no-pager", "--", trace, (char *)NULL);
		_exit(NOT_RUN);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_RUN)
		return gt_err_set(err, -ENOENT, "--report cannot run %.120s", path);
	return 0;
}
