/* All ways to start processes: fork, fork and exec, vfork, posix_spawn, exec in place. Some
 * children close all descriptors, change directory, or replace their environment and keep only
 * LD_PRELOAD and LD_LIBRARY_PATH.
 * Expected: the calls of six processes: cuInit 6 times, cuDriverGetVersion 10 + 20 + 30 + 40 + 50 +
 * 60 = 210 times.
 * Usage: forkexec; a started child gets -c CALLS. */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;
static char preload[4096] = "LD_PRELOAD=", library[4096] = "LD_LIBRARY_PATH=",
	    *bare[] = { preload, library, NULL };

static void calls(int n)
{
	int version;

	if (!cuInit)
		cu_open();
	OK(cuInit(0));
	for (int i = 0; i < n; i++)
		OK(cuDriverGetVersion(&version));
}

static int reap(pid_t pid)
{
	int status = -1;

	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

static void leave_nothing(void)
{
	syscall(SYS_close_range, 3u, ~0u, 0u);
	if (chdir("/"))
		_exit(1);
}

int main(int argc, char **argv)
{
	long as_child = cu_option(argc, argv, "-c", 0);
	int failed = 0;
	pid_t pid;

	if (as_child) {
		calls(as_child);
		return 0;
	}
	strncat(preload, getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "", sizeof(preload) - 20);
	strncat(library, getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "",
		sizeof(library) - 20);
	if (!(pid = fork())) {
		leave_nothing();
		calls(10);
		_exit(0);
	}
	failed |= reap(pid);
	if (!(pid = fork())) {
		leave_nothing();
		execle("/proc/self/exe", argv[0], "-c", "20", (char *)NULL, bare);
		_exit(127);
	}
	failed |= reap(pid);
	if (!(pid = vfork())) {
		execl("/proc/self/exe", argv[0], "-c", "30", (char *)NULL);
		_exit(127);
	}
	failed |= reap(pid);
	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *[]){ argv[0], "-c", "40", NULL },
		    bare))
		pid = -1;
	failed |= reap(pid);
	calls(50);
	if (failed)
		return 1;
	execl("/proc/self/exe", argv[0], "-c", "60", (char *)NULL);
	return 127;
}
