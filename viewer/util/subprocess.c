#define _GNU_SOURCE /* pipe2 */
#include "viewer/util/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Resets the signal handlers: those of the viewer would restore the terminal. */
static void prepare_child(pid_t parent)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	/* exceeding the file size limit is an error of write() */
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

int gt_subprocess_begin(struct gt_subprocess *w, void (*fn)(void *arg, void *result), void *arg,
	size_t size, struct gt_err *err)
{
	char result[GT_SUBPROCESS_RESULT] __attribute__((aligned(16))) = { 0 };
	pid_t parent = getpid();
	int channel[2], rc;

	if (size > sizeof(result) || pipe2(channel, O_CLOEXEC))
		return gt_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	*w = (struct gt_subprocess){ .channel = channel[0], .size = size, .pid = fork() };
	if (!w->pid) {
		prepare_child(parent);
		fn(arg, result);
		_exit(write(channel[1], result, size) == (ssize_t)size ? 0 : 1);
	}
	rc = w->pid < 0 ? gt_err_set(err, -errno, "cannot start a process: %s", strerror(errno))
			: 0;
	close(channel[1]);
	if (rc) {
		close(w->channel);
		w->pid = 0;
	}
	return rc;
}

static void end(struct gt_subprocess *w, int *status)
{
	while (waitpid(w->pid, status, 0) < 0 && errno == EINTR)
		;
	close(w->channel);
	w->pid = 0;
}

int gt_subprocess_step(struct gt_subprocess *w, unsigned ms, void *result, struct gt_err *err)
{
	struct pollfd p = { .fd = w->channel, .events = POLLIN };
	int status = 0;
	ssize_t n;

	if (poll(&p, 1, (int)ms) <= 0)
		return 1;
	n = read(w->channel, result, w->size); /* a pipe takes and gives so little as a whole */
	if (n < 0 && errno == EINTR)
		return 1;
	end(w, &status);
	if (n == (ssize_t)w->size)
		return 0;
	if (WIFSIGNALED(status))
		return gt_err_set(err, -EIO, "signal %d ended its process", WTERMSIG(status));
	return gt_err_set(err, -EIO, "its process ended without a result");
}

void gt_subprocess_cancel(struct gt_subprocess *w)
{
	if (!w->pid)
		return;
	kill(w->pid, SIGKILL);
	end(w, NULL);
}
