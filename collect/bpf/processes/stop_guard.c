#define _GNU_SOURCE
#include "collect/bpf/processes/stop_guard.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Closes all descriptors but two: the guard must keep neither files nor links of probes open. */
static void close_others(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	if (low)
		syscall(SYS_close_range, 0u, low - 1, 0u);
	if (high - low > 1)
		syscall(SYS_close_range, low + 1, high - 1, 0u);
	syscall(SYS_close_range, high + 1, UINT_MAX, 0u);
}

/* Only system calls: it is a copy of gtcollect, which may have threads. */
static void guard(int pipe, int stopped)
{
	uint32_t key, *from = NULL;
	sigset_t all;
	char c;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid(); /* a signal to gtcollect's group is not for it */
	close_others(pipe, stopped);
	while (read(pipe, &c, 1) < 0 && errno == EINTR)
		;
	for (; !bpf_map_get_next_key(stopped, from, &key); from = &key)
		kill((pid_t)key, SIGCONT);
	_exit(0);
}

/* The guard sends no signal when it ends, so that gtcollect does not wait for it as for a COMMAND.
 */
int gt_stop_guard_start(struct gt_stop_guard *g, int stopped, struct gt_err *err)
{
	int fds[2];
	long pid;

	if (pipe2(fds, O_CLOEXEC))
		return gt_err_set(err, -errno, "pipe: %s", strerror(errno));
	pid = syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
	if (!pid) {
		close(fds[1]); /* close_range may be refused, and then the pipe would not end */
		guard(fds[0], stopped);
	}
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return gt_err_set(err, -errno, "cannot start a process: %s", strerror(errno));
	}
	*g = (struct gt_stop_guard){ (pid_t)pid, fds[1] };
	return 0;
}

void gt_stop_guard_end(struct gt_stop_guard *g)
{
	if (!g->pid)
		return;
	close(g->pipe);
	while (waitpid(g->pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	g->pid = 0;
}
