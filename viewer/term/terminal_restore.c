/* A program that shows a screen changes its terminal: the alternate screen, mouse reports, no echo,
 * no cursor. This must be undone before the program ends or stops, else the shell is unusable.
 *
 * endwin() of ncurses is not async-signal-safe. So the sequence to send is prepared when the
 * terminal is set up, and restore() is one write() and one tcsetattr(), which are allowed in
 * handlers. The end of the program, exit(), and all signals that end or stop it call restore().
 *
 * - SIGTERM, SIGINT and SIGHUP are noted, so that the program can save its files.
 *   gt_terminal_restore_close() then ends the process by the same signal. A program that does not
 *   reach it within two seconds ends there.
 * - Crashes restore at once, reinstall the previous handler and let the same fault happen again.
 * - SIGTSTP restores and stops. SIGCONT sets up the terminal again, but only in the foreground:
 *   otherwise the screen belongs to another process. SIGSTOP cannot be caught; the SIGCONT after
 *   it can.
 *
 * Handlers write to a pipe that the event loop polls, so no signal is lost between the check for
 * signals and poll(). */
#define _GNU_SOURCE /* pipe2 */
#include "viewer/term/terminal_restore.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_TO_END 2
/* A terminal that accepts nothing for so long is dead; waiting longer would delay the end. */
#define MS_TO_WRITE 200

static struct gt_terminal_state state;
static atomic_bool active; /* the terminal is set up by `state` */
static atomic_uint pending;
static atomic_int ending; /* the signal that ends the process */
static atomic_bool writing, stop_pending;
static bool opened;
static pid_t owner; /* forked children must not change the terminal */
static int pipe_to[2];

/* ---- setup and restore, async-signal-safe ---- */

static void put(const char *s)
{
	struct pollfd room = { .fd = state.fd, .events = POLLOUT };

	for (size_t n = strlen(s), done = 0; done < n;) {
		ssize_t w =
			poll(&room, 1, MS_TO_WRITE) > 0 ? write(state.fd, s + done, n - done) : -1;

		if (w <= 0)
			return;
		done += (size_t)w;
	}
}

static void restore(void)
{
	if (getpid() != owner || !atomic_exchange(&active, false))
		return;
	put(state.restore);
	if (state.modes)
		tcsetattr(state.fd, TCSANOW, &state.theirs);
}

static void wake(unsigned what)
{
	ssize_t n;

	atomic_fetch_or(&pending, what);
	n = write(pipe_to[1], "", 1); /* if the pipe is full, poll() returns anyway */
	(void)n;
}

static bool in_background(void)
{
	pid_t front = state.modes ? tcgetpgrp(state.fd) : -1;

	return front > 0 && front != getpgrp();
}

static void set_up(void)
{
	if (getpid() != owner || state.fd < 0 || in_background())
		return;
	if (atomic_load(&active)) /* after SIGSTOP */
		put(state.restore);
	if (state.modes)
		tcsetattr(state.fd, TCSANOW, &state.ours);
	put(state.setup);
	atomic_store(&active, true);
	wake(GT_SIGNAL_CONTINUED);
}

/* ---- signals ---- */

static void reset_action(int sig);

/* The previous action follows when the handler returns: a fault happens again at the same
 * instruction, any other signal is raised again. */
static void die(int sig, const siginfo_t *info)
{
	bool fault = info && info->si_code > 0 &&
		(sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);

	restore();
	reset_action(sig);
	if (!fault)
		raise(sig);
}

static void crash(int sig, const siginfo_t *info)
{
	int first = atomic_load(&ending);

	/* SIGALRM: the two seconds since the first signal are over */
	die(sig == SIGALRM && first ? first : sig, info);
}

static void end(int sig, const siginfo_t *info)
{
	if (getpid() != owner || atomic_exchange(&ending, sig)) {
		die(sig, NULL);
	} else {
		alarm(SECONDS_TO_END);
		wake(GT_SIGNAL_END);
	}
}

static void note_size(int sig, const siginfo_t *info) { wake(GT_SIGNAL_RESIZE); }
static void resume(int sig, const siginfo_t *info) { set_up(); }

/* Raises SIGTSTP again with its default action. An orphaned process group is not stopped and gets
 * no SIGCONT: then the terminal is set up again at once. */
static void stop(int sig, const siginfo_t *info)
{
	struct sigaction usual = { .sa_handler = SIG_DFL }, ours;
	sigset_t both, before;

	if (atomic_load(&writing)) {
		atomic_store(&stop_pending, true);
		/* another thread may be writing */
		if (atomic_load(&writing) || !atomic_exchange(&stop_pending, false))
			return;
	}
	restore();
	sigemptyset(&both);
	sigaddset(&both, sig);
	sigaddset(&both, SIGCONT);
	sigaction(sig, &usual, &ours);
	raise(sig);
	/* the process stops here; then resume() is called */
	pthread_sigmask(SIG_UNBLOCK, &both, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sigaction(sig, &ours, NULL);
	if (!atomic_load(&active))
		set_up();
}

static struct {
	int sig;
	void (*act)(int sig, const siginfo_t *info);
	bool ours;
	struct sigaction old;
} signals[] = {
	{ .sig = SIGWINCH, .act = note_size },
	{ .sig = SIGTSTP, .act = stop },
	{ .sig = SIGCONT, .act = resume },
	{ .sig = SIGTERM, .act = end },
	{ .sig = SIGINT, .act = end },
	{ .sig = SIGHUP, .act = end },
	{ .sig = SIGSEGV, .act = crash },
	{ .sig = SIGBUS, .act = crash },
	{ .sig = SIGFPE, .act = crash },
	{ .sig = SIGILL, .act = crash },
	{ .sig = SIGABRT, .act = crash },
	{ .sig = SIGSYS, .act = crash },
	{ .sig = SIGQUIT, .act = crash },
	{ .sig = SIGPIPE, .act = crash },
	{ .sig = SIGALRM, .act = crash },
	{ .sig = SIGXCPU, .act = crash },
};
#define NSIGNALS (sizeof(signals) / sizeof(*signals))

static void reset_action(int sig)
{
	for (size_t i = 0; i < NSIGNALS; i++)
		if (signals[i].sig == sig && signals[i].ours)
			sigaction(sig, &signals[i].old, NULL);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	for (size_t i = 0; i < NSIGNALS; i++)
		if (signals[i].sig == sig)
			signals[i].act(sig, info);
	errno = saved;
}

/* ---- for the program ---- */

static void catch_signals(void)
{
	for (size_t i = 0; i < NSIGNALS; i++) {
		struct sigaction now = { .sa_sigaction = on_signal,
			.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

		sigfillset(&now.sa_mask); /* handlers do not nest */
		sigaction(signals[i].sig, NULL, &signals[i].old);
		/* the parent may have set a signal to be ignored, as nohup does */
		signals[i].ours =
			signals[i].old.sa_handler != SIG_IGN || signals[i].sig == SIGWINCH;
		if (signals[i].ours)
			sigaction(signals[i].sig, &now, NULL);
	}
}

/* The handler of a stack overflow needs its own stack. */
static void set_signal_stack(void)
{
	static char room[1 << 16];
	stack_t now, ours = { .ss_sp = room, .ss_size = sizeof(room) };

	if (!sigaltstack(NULL, &now) && now.ss_flags & SS_DISABLE)
		sigaltstack(&ours, NULL);
}

int gt_terminal_restore_init(struct gt_err *err)
{
	static bool at_exit;

	if (opened)
		return gt_err_set(err, -EBUSY, "a terminal is in use already");
	if (pipe2(pipe_to, O_CLOEXEC | O_NONBLOCK))
		return gt_err_set(err, -errno, "no pipe: %s", strerror(errno));
	opened = true;
	owner = getpid();
	state.fd = -1;
	atomic_store(&pending, 0);
	atomic_store(&ending, 0);
	set_signal_stack();
	catch_signals();
	if (!at_exit)
		at_exit = !atexit(restore);
	return pipe_to[0];
}

void gt_terminal_restore_arm(const struct gt_terminal_state *g)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	state = *g;
	atomic_store(&active, true);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

unsigned gt_signal_pending(void)
{
	char bytes[64];

	while (read(pipe_to[0], bytes, sizeof(bytes)) > 0)
		;
	return atomic_fetch_and(&pending, GT_SIGNAL_END);
}

bool gt_is_suspended(void) { return !atomic_load(&active); }

void gt_terminal_write_begin(void) { atomic_store(&writing, true); }

void gt_terminal_write_end(void)
{
	atomic_store(&writing, false);
	if (atomic_exchange(&stop_pending, false))
		raise(SIGTSTP);
}

void gt_terminal_restore_close(void)
{
	int sig;

	if (!opened)
		return;
	restore();
	for (size_t i = 0; i < NSIGNALS; i++)
		reset_action(signals[i].sig);
	alarm(0);
	close(pipe_to[0]);
	close(pipe_to[1]);
	state.fd = -1;
	opened = false;
	sig = atomic_load(&ending);
	if (sig)
		raise(sig);
}
