/* Signals. The program stays in our process group, so the terminal's Ctrl-C, Ctrl-\ and Ctrl-Z reach it without us; we survive
 * the first two in order to finish the file, and stop and go on with the third. What a person or a batch system sends to our
 * process id was meant for the program and is forwarded. A signal says which of the two it is: the kernel's own (SI_KERNEL)
 * or somebody's.
 *
 * To wait for a whole tree we become its subreaper: who loses a parent becomes our child, so when no child is left all are gone,
 * those that never made a call we could see among them. */
#define _GNU_SOURCE
#include "collect/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGWINCH, SIGURG, SIGIO };
static const int ignored[] = { SIGPIPE, SIGXFSZ, SIGTTOU };	/* what we print and write must fail, not kill */
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static sigset_t old_mask;
static struct sigaction old_action[COUNT(ignored)], old_child;

static bool has_children(void)
{
	siginfo_t info;

	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
}

int gt_launch_init(struct gt_launch *l, bool whole, struct gt_err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, plain = { .sa_handler = SIG_DFL };
	sigset_t set;

	memset(l, 0, sizeof(*l));
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, &old_mask);
	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &ignore, &old_action[i]);
	sigaction(SIGCHLD, &plain, &old_child);		/* inherited as ignored it would take the exit status away */
	l->adopts = whole && !has_children() && !prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signals < 0 ? gt_err_set(err, -errno, "signalfd: %s", strerror(errno)) : 0;
}

#define INJECTION "CUDA_INJECTION64_PATH"

static void set_environment(const char *preload, bool inject, bool nvtx)
{
	const char *before = getenv("LD_PRELOAD");
	char *both;

	if (inject)
		setenv(INJECTION, preload, 1);
	else if (!before || !*before)
		setenv("LD_PRELOAD", preload, 1);
	else if (asprintf(&both, "%s:%s", preload, before) >= 0)
		setenv("LD_PRELOAD", both, 1);
	if (nvtx)
		setenv("NVTX_INJECTION64_PATH", preload, 0);	/* another tool's stays */
}

static void become(char *const *argv, const char *preload, bool inject, bool nvtx, int tell)
{
	int code;

	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &old_action[i], NULL);
	sigaction(SIGCHLD, &old_child, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	set_environment(preload, inject, nvtx);
	execvp(argv[0], argv);
	code = errno;
	if (write(tell, &code, sizeof(code)) != sizeof(code))
		_exit(GT_EXIT_OWN);
	_exit(127);
}

static int runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

/* Is there a program of that name in the working directory? */
static bool here(const char *program)
{
	struct stat st;

	return !stat(program, &st) && S_ISREG(st.st_mode) && !access(program, X_OK);
}

static int exit_status(int code) { return code == ENOENT || code == ENOTDIR ? 127 : 126; }

int gt_launch_check(struct gt_launch *l, const char *program, struct gt_err *err)
{
	const char *dirs = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin", *end;
	char path[PATH_MAX];
	int code = strchr(program, '/') ? runnable(program) : ENOENT;

	for (; *program && !strchr(program, '/'); dirs = end + 1) {	/* as execvp looks for it */
		int now;

		end = strchrnul(dirs, ':');
		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dirs), dirs, end > dirs ? "/" : "", program) >= (int)sizeof(path))
			now = ENOENT;
		else
			now = runnable(path);
		if (now != ENOENT && now != ENOTDIR)
			code = now;
		if (!now || !*end)
			break;
	}
	if (!code)
		return 0;
	l->status = exit_status(code);
	if (code == ENOENT && !strchr(program, '/'))
		return gt_err_set(err, -code, "%.120s: not found in $PATH%s", *program ? program : "''",
				  here(program) ? "; ./ before it runs the one here" : "");
	return gt_err_set(err, -code, "%.120s: %s", program, strerror(code));
}

int gt_launch_start(struct gt_launch *l, char *const *argv, const char *library, bool inject, bool nvtx, struct gt_err *err)
{
	int tell[2], code = 0;
	ssize_t n;

	l->status = GT_EXIT_OWN;
	if (pipe2(tell, O_CLOEXEC))
		return gt_err_set(err, -errno, "pipe: %s", strerror(errno));
	l->pid = fork();
	if (!l->pid)
		become(argv, library, inject, nvtx, tell[1]);
	close(tell[1]);
	if (l->pid < 0) {
		code = errno;
		close(tell[0]);
		return gt_err_set(err, -code, "cannot start a process: %s", strerror(code));
	}
	while ((n = read(tell[0], &code, sizeof(code))) < 0 && errno == EINTR)
		;
	close(tell[0]);
	if (n != sizeof(code))
		return 0;	/* exec closed the pipe: it runs */
	waitpid(l->pid, NULL, 0);
	l->ended = true;
	l->status = exit_status(code);
	if (code == ENOENT)	/* it was there when we looked */
		return gt_err_set(err, -code, "%.120s: the interpreter or loader that it names is not there", argv[0]);
	return gt_err_set(err, -code, "%.120s: %s", argv[0], strerror(code));
}

int gt_launch_may_inject(struct gt_err *err)
{
	const char *taken = getenv(INJECTION);

	return !taken || !*taken ? 0 :
	       gt_err_set(err, -EINVAL, INJECTION " names %.100s already, and a CUDA driver loads one library only", taken);
}

int gt_launch_instead(char *const *argv, const char *library, const char *cupti, struct gt_err *err)
{
	char path[PATH_MAX];
	int code;

	if (!realpath(library, path)) {
		gt_err_set(err, -errno, "%.100s: %s", library, strerror(errno));
		return GT_EXIT_OWN;
	}
	setenv(INJECTION, path, 1);
	if (*cupti)
		setenv("GT_CUPTI", cupti, 1);
	execvp(argv[0], argv);
	code = errno;
	gt_err_set(err, -code, "%.120s: %s", argv[0], strerror(code));
	return exit_status(code);
}

static void reap(struct gt_launch *l)
{
	int status;
	pid_t pid;

	while (!l->alone && (pid = waitpid(l->adopts ? -1 : l->pid, &status, WNOHANG))) {
		l->alone = pid < 0 && errno == ECHILD;
		if (pid != l->pid || l->ended)
			continue;	/* an orphan, perhaps with the program's process id used again */
		l->ended = true;
		l->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		l->status = l->signal ? 128 + l->signal : WEXITSTATUS(status);
	}
}

static void forward(struct gt_launch *l, const struct signalfd_siginfo *s)
{
	bool elsewhere = !l->ended && getpgid(l->pid) != getpgrp();

	if (l->ended) {
		l->enough |= s->ssi_signo == SIGINT || s->ssi_signo == SIGTERM || s->ssi_signo == SIGHUP || s->ssi_signo == SIGQUIT;
		return;
	}
	if (s->ssi_code != SI_KERNEL || elsewhere)
		kill(l->pid, (int)s->ssi_signo);
}

void gt_launch_look(struct gt_launch *l)
{
	struct signalfd_siginfo s;

	while (read(l->signals, &s, sizeof(s)) == sizeof(s))
		if (s.ssi_signo != SIGCHLD)
			forward(l, &s);
	reap(l);
}
