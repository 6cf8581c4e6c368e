/* Signals and waiting. The program stays in gtcollect's process group, so the terminal's Ctrl-C,
 * Ctrl-\ and Ctrl-Z reach it directly. gtcollect survives the first two in order to finish the
 * file, and stops and continues with the third. A signal that a person or a batch system sends
 * to gtcollect's process id is meant for the program and is forwarded. The signal's code says
 * which case it is: SI_KERNEL for the terminal, another code for a process.
 *
 * To wait for a whole tree, gtcollect becomes its subreaper: a process that loses its parent
 * becomes a child of gtcollect. When no child is left, all processes of the tree have exited,
 * including those that made no call that gtcollect could see. */
#define _GNU_SOURCE
#include "collect/cli/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "collect/ipc/ring.h"

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
	SIGVTALRM, SIGWINCH, SIGURG, SIGIO };
/* a failed write must return an error, not kill gtcollect */
static const int ignored[] = { SIGPIPE, SIGXFSZ, SIGTTOU };
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static sigset_t old_mask;
static struct sigaction old_action[COUNT(ignored)], old_child;

static bool has_children(void)
{
	siginfo_t info;

	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
}

int gt_child_init(struct gt_child *l, bool whole, struct gt_err *err)
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
	/* if SIGCHLD were ignored, the kernel would discard the exit status */
	sigaction(SIGCHLD, &plain, &old_child);
	l->adopts = whole && !has_children() && !prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signals < 0 ? gt_err_set(err, -errno, "signalfd: %s", strerror(errno)) : 0;
}

#define INJECTION "CUDA_INJECTION64_PATH"

/* ---- the program's environment ---- */

/* Made before the fork: the child could not report that memory is exhausted. */
struct environment {
	char **list; /* NULL-terminated; our variables stand first */
	size_t ours;
	bool failed;
};

static void environment_release(struct environment *e)
{
	for (size_t i = 0; i < e->ours; i++)
		free(e->list[i]);
	free(e->list);
	*e = (struct environment){ .ours = 0 };
}

/* NAME=VALUE, or NAME=VALUE:BEFORE. Call all of these before environment_inherit. */
static void environment_set(
	struct environment *e, const char *name, const char *value, const char *before)
{
	bool both = before && *before;

	if (e->failed ||
		asprintf(&e->list[e->ours], "%s=%s%s%s", name, value, both ? ":" : "",
			both ? before : "") < 0)
		e->failed = true;
	else
		e->ours++;
}

static bool has_variable(const struct environment *e, const char *entry)
{
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < e->ours; i++)
		if (!strncmp(e->list[i], entry, n) && e->list[i][n] == '=')
			return true;
	return false;
}

static void environment_inherit(struct environment *e)
{
	size_t n = e->ours;

	for (char **from = environ; from && *from; from++)
		if (!has_variable(e, *from))
			e->list[n++] = *from;
	e->list[n] = NULL;
}

/* 0, to be released; or -ENOMEM. */
static int environment_make(
	struct environment *e, const struct gt_child_settings *s, struct gt_err *err)
{
	size_t inherited = 0;
	char *session = NULL, period[24];

	while (environ && environ[inherited])
		inherited++;
	*e = (struct environment){ .list = calloc(inherited + 6, sizeof(*e->list)) };
	e->failed =
		!e->list || (s->session && asprintf(&session, "%s:%s", s->session, s->library) < 0);
	if (s->inject)
		environment_set(e, INJECTION, s->library, NULL);
	else if (s->library)
		environment_set(e, "LD_PRELOAD", s->library, getenv("LD_PRELOAD"));
	if (session)
		environment_set(e, GT_RING_SESSION, session, NULL);
	snprintf(period, sizeof(period), "%" PRIu64, s->sample_period);
	if (s->sample_period || getenv(GT_RING_SAMPLES))
		environment_set(e, GT_RING_SAMPLES, period, NULL);
	if (s->nvtx &&
		!getenv("NVTX_INJECTION64_PATH")) /* the variable of another tool is not replaced */
		environment_set(e, "NVTX_INJECTION64_PATH", s->library, NULL);
	if (s->cupti)
		environment_set(e, "GT_CUPTI", s->cupti, NULL);
	free(session);
	if (e->failed) {
		environment_release(e);
		return gt_err_set(err, -ENOMEM, "out of memory (environment of the program)");
	}
	environment_inherit(e);
	return 0;
}

/* ---- the program ---- */

void gt_child_inherit_signals(void)
{
	for (size_t i = 0; i < COUNT(ignored); i++)
		sigaction(ignored[i], &old_action[i], NULL);
	sigaction(SIGCHLD, &old_child, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

/* start_pipe: -1, or the program is executed when a byte comes from it. */
static void exec_child(
	char *const *argv, const struct environment *e, int error_pipe, int start_pipe)
{
	int code;

	gt_child_inherit_signals();
	if (start_pipe >= 0) {
		while ((code = (int)read(start_pipe, &(char){ 0 }, 1)) < 0 && errno == EINTR)
			;
		if (code != 1)
			_exit(GT_EXIT_OWN);
	}
	execvpe(argv[0], argv, e->list);
	code = errno;
	if (write(error_pipe, &code, sizeof(code)) != sizeof(code))
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

/* Is there an executable of that name in the working directory? */
static bool is_here(const char *program)
{
	struct stat st;

	return !stat(program, &st) && S_ISREG(st.st_mode) && !access(program, X_OK);
}

static int exit_status(int code) { return code == ENOENT || code == ENOTDIR ? 127 : 126; }

int gt_child_find(const char *program, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin", *end;
	int code = ENOENT;

	if (strchr(program, '/')) {
		snprintf(path, PATH_MAX, "%s", program);
		return runnable(program);
	}
	for (; *program; dirs = end + 1) { /* the search of execvp */
		int now = ENOENT;

		end = strchrnul(dirs, ':');
		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - dirs), dirs,
			    end > dirs ? "/" : "", program) < PATH_MAX)
			now = runnable(path);
		if (now != ENOENT && now != ENOTDIR)
			code = now;
		if (!now || !*end)
			break;
	}
	return code;
}

int gt_child_check(struct gt_child *l, const char *program, struct gt_err *err)
{
	char path[PATH_MAX];
	int code = gt_child_find(program, path);

	if (!code)
		return 0;
	l->status = exit_status(code);
	if (code == ENOENT && !strchr(program, '/') && is_here(program))
		return gt_err_set(err, -code,
			"%.60s: not found in $PATH; to run the file in the current folder, write ./%.60s",
			program, program);
	if (code == ENOENT && !strchr(program, '/'))
		return gt_err_set(
			err, -code, "%.120s: not found in $PATH", *program ? program : "''");
	return gt_err_set(err, -code, "%.120s: %s", program, strerror(code));
}

/* Waits until the program is executed. 0, or the errno of exec. */
static int wait_for_exec(int error_pipe)
{
	int code;
	ssize_t n;

	while ((n = read(error_pipe, &code, sizeof(code))) < 0 && errno == EINTR)
		;
	return n == sizeof(code) ? code : 0; /* exec closes the pipe */
}

static int not_started(struct gt_child *l, const char *program, int code, struct gt_err *err)
{
	waitpid(l->pid, NULL, 0);
	l->ended = true;
	l->status = exit_status(code);
	if (code == ENOENT) /* gt_child_check has found the file */
		return gt_err_set(err, -code,
			"%.120s: the interpreter or loader that it names is not there", program);
	return gt_err_set(err, -code, "%.120s: %s", program, strerror(code));
}

/* Lets the process execute the program. 0; or negative: it has ended. */
static int start_after(
	struct gt_child *l, const struct gt_child_settings *s, int start_pipe, struct gt_err *err)
{
	int code = s->before_exec(s->before_exec_arg, l->pid, err);

	if (!code && write(start_pipe, "", 1) == 1)
		return 0;
	close(start_pipe); /* the process ends */
	waitpid(l->pid, NULL, 0);
	l->ended = true;
	return code ? code : gt_err_set(err, -EPIPE, "the started process was killed");
}

static void close_both(int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int gt_child_start(struct gt_child *l, char *const *argv, const struct gt_child_settings *s,
	struct gt_err *err)
{
	int error_pipe[2], start_pipe[2] = { -1, -1 }, code;
	struct environment environment;

	l->status = GT_EXIT_OWN;
	code = environment_make(&environment, s, err);
	if (code)
		return code;
	if (pipe2(error_pipe, O_CLOEXEC)) {
		environment_release(&environment);
		return gt_err_set(err, -errno, "pipe: %s", strerror(errno));
	}
	if (s->before_exec && pipe2(start_pipe, O_CLOEXEC)) {
		code = errno;
		environment_release(&environment);
		close_both(error_pipe);
		return gt_err_set(err, -code, "pipe: %s", strerror(code));
	}
	l->pid = fork();
	if (!l->pid) {
		if (s->before_exec)
			close(start_pipe[1]);
		exec_child(argv, &environment, error_pipe[1], start_pipe[0]);
	}
	code = l->pid < 0 ? errno : 0;
	environment_release(&environment);
	close(error_pipe[1]);
	if (l->pid < 0) {
		close(error_pipe[0]);
		close_both(start_pipe);
		return gt_err_set(err, -code, "cannot start a process: %s", strerror(code));
	}
	if (s->before_exec) {
		close(start_pipe[0]);
		code = start_after(l, s, start_pipe[1], err);
		if (code) {
			close(error_pipe[0]);
			return code;
		}
		close(start_pipe[1]);
	}
	code = wait_for_exec(error_pipe[0]);
	close(error_pipe[0]);
	return code ? not_started(l, argv[0], code, err) : 0;
}

int gt_child_check_inject(struct gt_err *err)
{
	const char *taken = getenv(INJECTION);

	return !taken || !*taken
		? 0
		: gt_err_set(err, -EINVAL,
			  INJECTION
			  " names %.100s already, and a CUDA driver loads one library only",
			  taken);
}

int gt_child_exec_instead(char *const *argv, const struct gt_child_settings *s, struct gt_err *err)
{
	struct environment environment;
	int code;

	if (environment_make(&environment, s, err))
		return GT_EXIT_OWN;
	execvpe(argv[0], argv, environment.list);
	code = errno;
	environment_release(&environment);
	gt_err_set(err, -code, "%.120s: %s", argv[0], strerror(code));
	return exit_status(code);
}

static void reap(struct gt_child *l)
{
	int status;
	pid_t pid;

	while (!l->is_childless && (pid = waitpid(l->adopts ? -1 : l->pid, &status, WNOHANG))) {
		l->is_childless = pid < 0 && errno == ECHILD;
		if (pid != l->pid || l->ended)
			/* an orphan, which may have the pid of the program after its end */
			continue;
		l->ended = true;
		l->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		l->status = l->signal ? 128 + l->signal : WEXITSTATUS(status);
	}
}

static void forward(struct gt_child *l, const struct signalfd_siginfo *s)
{
	int number = (int)s->ssi_signo;
	bool runs = l->pid > 0 && !l->ended;

	if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)
		l->ends[!runs]++;
	if (runs && (s->ssi_code != SI_KERNEL || getpgid(l->pid) != getpgrp()))
		kill(l->pid, number);
}

void gt_child_handle_signals(struct gt_child *l)
{
	struct signalfd_siginfo s;

	while (read(l->signals, &s, sizeof(s)) == sizeof(s))
		if (s.ssi_signo != SIGCHLD)
			forward(l, &s);
	if (l->pid > 0)
		reap(l);
}

void gt_child_restore_signals(void) { sigprocmask(SIG_SETMASK, &old_mask, NULL); }
