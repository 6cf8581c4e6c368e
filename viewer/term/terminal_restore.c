/* A program that shows a screen has changed its terminal: another page of it is shown, the mouse
 * reports, nothing echoes, the cursor is hidden. Whatever ends or stops the program must undo that
 * first, or the user types blindly into a heap of characters.
 *
 * ncurses' endwin() cannot be called when a signal comes, because it may be in the middle of
 * anything. So what has to be sent was written down when the terminal was taken; giving it back is
 * one write() and one tcsetattr(), which may be called at any moment. There is no other way out:
 * the end of the program, exit(), signals that end it and signals that stop it all come through
 * give_back().
 *
 *   told to end    SIGTERM, SIGINT and SIGHUP are noted, so that the program can put its files in
 * order; gt_terminal_restore_close() then dies of that signal, as whoever sent it expects. A
 * program that is busy is not waited for longer than two seconds. crashes        give back at once,
 * put the old action in its place, and let the same thing happen again. stops          SIGTSTP
 * gives back and stops. SIGCONT takes again, once the shell has made us the foreground: before
 * that, writing would spoil somebody else's screen. A SIGSTOP cannot be noticed, but the SIGCONT
 * behind it can.
 *
 * Handlers write to a pipe what the loop waits on, so that no signal falls between looking and
 * waiting.
 */
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
/* a line that takes nothing for so long is dead; hanging on it would keep us from dying */
#define MS_TO_WRITE 200

static struct gt_terminal_state guarded;
static atomic_bool taken; /* guarded is in use */
static atomic_uint told;
static atomic_int ending; /* the signal to die of */
static atomic_bool held, stop_waits;
static bool opened;
static pid_t owner; /* a child that was forked has no business with the terminal */
static int pipe_to[2];

/* ---- taking and giving back, in handlers too ---- */

static void put(const char *s)
{
	struct pollfd room = { .fd = guarded.fd, .events = POLLOUT };

	for (size_t n = strlen(s), done = 0; done < n;) {
		ssize_t w = poll(&room, 1, MS_TO_WRITE) > 0 ? write(guarded.fd, s + done, n - done)
							    : -1;

		if (w <= 0)
			return;
		done += (size_t)w;
	}
}

static void give_back(void)
{
	if (getpid() != owner || !atomic_exchange(&taken, false))
		return;
	put(guarded.give);
	if (guarded.modes)
		tcsetattr(guarded.fd, TCSANOW, &guarded.theirs);
}

static void wake(unsigned what)
{
	ssize_t n;

	atomic_fetch_or(&told, what);
	n = write(pipe_to[1], "", 1); /* full: it is awake already */
	(void)n;
}

static bool in_background(void)
{
	pid_t front = guarded.modes ? tcgetpgrp(guarded.fd) : -1;

	return front > 0 && front != getpgrp();
}

static void take_again(void)
{
	if (getpid() != owner || guarded.fd < 0 || in_background())
		return;
	if (atomic_load(&taken)) /* SIGSTOP did not let us */
		put(guarded.give);
	if (guarded.modes)
		tcsetattr(guarded.fd, TCSANOW, &guarded.ours);
	put(guarded.take);
	atomic_store(&taken, true);
	wake(GT_SIGNAL_CONTINUED);
}

/* ---- signals ---- */

static void on_size(int sig, siginfo_t *info, void *context);
static void on_end(int sig, siginfo_t *info, void *context);
static void on_crash(int sig, siginfo_t *info, void *context);
static void on_stop(int sig, siginfo_t *info, void *context);
static void on_continue(int sig, siginfo_t *info, void *context);

static struct {
	int sig;
	void (*handler)(int, siginfo_t *, void *);
	bool ours;
	struct sigaction old;
} signals[] = {
	{ .sig = SIGWINCH, .handler = on_size },
	{ .sig = SIGTSTP, .handler = on_stop },
	{ .sig = SIGCONT, .handler = on_continue },
	{ .sig = SIGTERM, .handler = on_end },
	{ .sig = SIGINT, .handler = on_end },
	{ .sig = SIGHUP, .handler = on_end },
	{ .sig = SIGSEGV, .handler = on_crash },
	{ .sig = SIGBUS, .handler = on_crash },
	{ .sig = SIGFPE, .handler = on_crash },
	{ .sig = SIGILL, .handler = on_crash },
	{ .sig = SIGABRT, .handler = on_crash },
	{ .sig = SIGSYS, .handler = on_crash },
	{ .sig = SIGQUIT, .handler = on_crash },
	{ .sig = SIGPIPE, .handler = on_crash },
	{ .sig = SIGALRM, .handler = on_crash },
	{ .sig = SIGXCPU, .handler = on_crash },
};
#define NSIGNALS (sizeof(signals) / sizeof(*signals))

static void put_old(int sig)
{
	for (size_t i = 0; i < NSIGNALS; i++)
		if (signals[i].sig == sig && signals[i].ours)
			sigaction(sig, &signals[i].old, NULL);
}

/* Its old action is done when the handler returns: a fault happens again where it did, anything
 * else is sent again. */
static void die(int sig, const siginfo_t *info)
{
	bool fault = info && info->si_code > 0 &&
		(sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);

	give_back();
	put_old(sig);
	if (!fault)
		raise(sig);
}

static void on_crash(int sig, siginfo_t *info, void *context)
{
	int saved = errno, end = atomic_load(&ending);

	if (sig == SIGALRM && end) /* it had its two seconds */
		sig = end;
	die(sig, info);
	errno = saved;
}

static void on_end(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	if (getpid() != owner || atomic_exchange(&ending, sig)) {
		die(sig, NULL);
	} else {
		alarm(SECONDS_TO_END);
		wake(GT_SIGNAL_END);
	}
	errno = saved;
}

static void on_size(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	wake(GT_SIGNAL_RESIZE);
	errno = saved;
}

static void on_continue(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	take_again();
	errno = saved;
}

/* SIGTSTP is sent to ourselves again, with its default action. Where there is nobody to continue us
 * the system does not stop us either, and no SIGCONT comes: then we go on by ourselves. */
static void on_stop(int sig, siginfo_t *info, void *context)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, ours;
	int saved = errno;
	sigset_t both, before;

	if (atomic_load(&held)) {
		atomic_store(&stop_waits, true);
		/* who holds may be another thread */
		if (atomic_load(&held) || !atomic_exchange(&stop_waits, false))
			return;
	}
	give_back();
	sigemptyset(&both);
	sigaddset(&both, sig);
	sigaddset(&both, SIGCONT);
	sigaction(sig, &stop, &ours);
	raise(sig);
	/* here it stops, and then on_continue() is called */
	pthread_sigmask(SIG_UNBLOCK, &both, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sigaction(sig, &ours, NULL);
	if (!atomic_load(&taken))
		take_again();
	errno = saved;
}

/* ---- for the program ---- */

static void catch_signals(void)
{
	for (size_t i = 0; i < NSIGNALS; i++) {
		struct sigaction now = { .sa_sigaction = signals[i].handler,
			.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

		sigfillset(&now.sa_mask); /* what came first goes first */
		sigaction(signals[i].sig, NULL, &signals[i].old);
		/* who started us may have said that we ignore it, as nohup does */
		signals[i].ours =
			signals[i].old.sa_handler != SIG_IGN || signals[i].sig == SIGWINCH;
		if (signals[i].ours)
			sigaction(signals[i].sig, &now, NULL);
	}
}

/* A stack that overflows is a crash, too, and its handler needs another one. */
static void second_stack(void)
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
	guarded.fd = -1;
	atomic_store(&told, 0);
	atomic_store(&ending, 0);
	second_stack();
	catch_signals();
	if (!at_exit)
		at_exit = !atexit(give_back);
	return pipe_to[0];
}

void gt_terminal_restore_arm(const struct gt_terminal_state *g)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	guarded = *g;
	atomic_store(&taken, true);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

unsigned gt_signal_pending(void)
{
	char bytes[64];

	while (read(pipe_to[0], bytes, sizeof(bytes)) > 0)
		;
	return atomic_fetch_and(&told, GT_SIGNAL_END);
}

bool gt_is_suspended(void) { return !atomic_load(&taken); }

void gt_terminal_write_begin(void) { atomic_store(&held, true); }

void gt_terminal_write_end(void)
{
	atomic_store(&held, false);
	if (atomic_exchange(&stop_waits, false))
		raise(SIGTSTP);
}

void gt_terminal_restore_close(void)
{
	int sig;

	if (!opened)
		return;
	give_back();
	for (size_t i = 0; i < NSIGNALS; i++)
		put_old(signals[i].sig);
	alarm(0);
	close(pipe_to[0]);
	close(pipe_to[1]);
	guarded.fd = -1;
	opened = false;
	sig = atomic_load(&ending);
	if (sig)
		raise(sig);
}
