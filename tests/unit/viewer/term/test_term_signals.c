/* However a program that shows a screen ends or stops, its terminal is restored. The program is
 * a process of its own on a pseudo terminal. A second process plays the shell that started it
 * (it has a foreground process group, and waits for the program). The test plays the terminal
 * and its user. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/viewer/term/emulator.h"
#include "tests/unit/t.h"
#include "viewer/term/terminal_restore.h"
#include "viewer/term/term.h"

#define MS_MOST 60000 /* limit of a wait for an expected event */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the program ---- */

enum { STOPPED_IN_BETWEEN = 6, GONE, NOTHING_CAME, NOT_OPENED };

static volatile int deep = 1, *volatile nowhere = (int *)8;

static int overflow(void)
{
	volatile char room[4096] = { 1 };

	return deep ? overflow() + room[deep] : 0;
}

static void misbehave(uint32_t key)
{
	switch (key) {
	case 'x': *nowhere = 1; break;
	case 'a': abort();
	case 'o': overflow(); break;
	case 'e': exit(3);
	case 'h':
		gt_terminal_write_begin();
		raise(SIGTSTP);
		if (gt_signal_pending()) /* that it is back: so it was away */
			_exit(STOPPED_IN_BETWEEN);
		gt_terminal_write_end();
		break;
	case 'b':
		for (;;)
			poll(NULL, 0, 10);
	}
}

static void program(void)
{
	static struct gt_screen s; /* static: exit() is no leak */
	static struct gt_term *t;
	struct gt_err err = GT_ERR_INIT;
	unsigned w, h, keys = 0;
	struct gt_key k;

	t = gt_term_open(NULL, NULL, "xterm-256color", &err);
	if (!t)
		_exit(NOT_OPENED);
	while (1) {
		gt_term_size(t, &w, &h);
		gt_screen_resize(&s, w, h);
		gt_screen_fill(&s, 0, 1, (int)w, 1, ' ', (struct gt_look){ .paper = GT_INK_COMM });
		gt_screen_printf(&s, 0, 0, -1, (struct gt_look){ .ink = GT_INK_ERROR },
			"ready %ux%u, %u keys", w, h, keys);
		gt_term_show(t, &s);
		k = gt_term_key(t, -1);
		keys += k.key != GT_KEY_RESIZE;
		if (k.key == GT_KEY_NONE)
			_exit(NOTHING_CAME);
		if (k.key == GT_KEY_HANGUP || k.key == 'q') {
			gt_term_close(t);
			_exit(k.key == 'q' ? 0 : GONE);
		}
		if (k.key == 'b') {
			gt_screen_text(&s, 0, 3, -1, "busy", (struct gt_look){ 0 });
			gt_term_show(t, &s);
		}
		misbehave(k.key);
	}
}

/* ---- the shell ---- */

struct report {
	pid_t pid;
	int status;
	bool modes; /* the terminal's modes: as before */
};
static const int defaults[] = { SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGHUP, SIGINT, SIGTERM,
	SIGTTOU, SIGTSTP, SIGQUIT };

static void start_program(int ignored)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the child ends with a failed test */
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		/* a sanitizer's, too: it would report intended crashes */
		signal(defaults[i], SIG_DFL);
	if (ignored)
		signal(ignored, SIG_IGN);
	program();
}

static void tell(int to, pid_t pid, int status, const struct termios *before)
{
	struct report r = { .pid = pid, .status = status };
	struct termios now;

	memset(&now, 0, sizeof(now));
	r.modes = tcgetattr(0, &now) || !memcmp(&now, before, sizeof(now));
	if (write(to, &r, sizeof(r)) != sizeof(r))
		_exit(1);
}

/* Commands: 'f' to the foreground, 'b' on in the background. */
static void shell(int commands, int reports, int ignored)
{
	struct termios before;
	char command;
	int status;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(&before, 0, sizeof(before));
	tcgetattr(0, &before);
	signal(SIGTTOU, SIG_IGN);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		tcsetpgrp(0, getpid());
		start_program(ignored);
	}
	signal(SIGHUP, SIG_IGN);
	setpgid(pid, pid);
	tell(reports, pid, 0, &before);
	while (waitpid(pid, &status, WUNTRACED) == pid) {
		if (WIFSTOPPED(status))
			tcsetpgrp(0, getpgrp());
		tell(reports, pid, status, &before);
		if (!WIFSTOPPED(status))
			_exit(0);
		do {
			if (read(commands, &command, 1) != 1)
				_exit(1);
			if (command == 'f')
				tcsetpgrp(0, pid);
			kill(-pid, SIGCONT);
		} while (command != 'f');
	}
	_exit(1);
}

/* ---- the terminal and its user ---- */

struct session {
	int master, commands, reports;
	pid_t shell, pid;
	struct emulator e;
	size_t bytes;
};

static bool start(struct session *s, int ignored, bool alone)
{
	struct winsize size = { .ws_col = 60, .ws_row = 12 };
	int commands[2], reports[2];
	struct report r;

	*s = (struct session){ .master = -1 };
	setenv("LC_ALL", "C.UTF-8", 1);
	emulator_open(&s->e, 60, 12);
	if (pipe2(commands, O_CLOEXEC) || pipe2(reports, O_CLOEXEC))
		return false;
	s->shell = forkpty(&s->master, NULL, NULL, &size);
	if (!s->shell) {
		if (alone)
			start_program(ignored);
		shell(commands[0], reports[1], ignored);
	}
	close(commands[0]);
	close(reports[1]);
	s->commands = commands[1];
	s->reports = reports[0];
	s->pid = s->shell;
	if (s->shell > 0 && !alone && read(s->reports, &r, sizeof(r)) == sizeof(r))
		s->pid = r.pid;
	return s->shell > 0 && (alone || s->pid != s->shell);
}

static void end(struct session *s)
{
	close(s->commands);
	close(s->reports);
	if (s->master >= 0)
		close(s->master);
	kill(s->pid, SIGKILL);
	waitpid(s->shell, NULL, 0);
	free(s->e.cells);
}

/* Reads the program's output until `text` is on the screen, or, without a text, until no output
 * comes for a while. */
static bool watch(struct session *s, const char *text, int quiet_ms)
{
	struct pollfd p = { .fd = s->master, .events = POLLIN };
	int64_t until = now_ms() + MS_MOST;
	char bytes[4096];
	ssize_t n;

	while (now_ms() < until) {
		if (text && emulator_has(&s->e, text))
			return !s->e.unknown[0];
		if (poll(&p, 1, text ? 100 : quiet_ms) <= 0) {
			if (!text)
				return !s->e.unknown[0];
			continue;
		}
		n = read(s->master, bytes, sizeof(bytes));
		if (n <= 0)
			return !text;
		emulator_feed(&s->e, bytes, (size_t)n);
		s->bytes += (size_t)n;
	}
	return false;
}

/* An expected event may take long on a busy machine. */
#define UNTIL(s, condition)                                                                        \
	({                                                                                         \
		int64_t end_ = now_ms() + MS_MOST;                                                 \
		while (!(condition) && now_ms() < end_ && watch(s, NULL, 20))                      \
			;                                                                          \
		(condition);                                                                       \
	})

static bool type(struct session *s, const char *bytes)
{
	return write(s->master, bytes, strlen(bytes)) == (ssize_t)strlen(bytes);
}
static bool command(struct session *s, char c) { return write(s->commands, &c, 1) == 1; }

static bool reported(struct session *s, struct report *r)
{
	struct pollfd p = { .fd = s->reports, .events = POLLIN };

	return poll(&p, 1, MS_MOST) == 1 && read(s->reports, r, sizeof(*r)) == sizeof(*r);
}

static bool in_use(const struct session *s)
{
	return s->e.alternate && s->e.hidden && s->e.mouse && s->e.sgr_mouse && s->e.application;
}

static bool idle(const struct session *s)
{
	return !s->e.alternate && !s->e.hidden && !s->e.mouse && !s->e.sgr_mouse &&
		!s->e.application && !memcmp(&s->e.pen, &emulator_plain, sizeof(s->e.pen));
}

static bool as_before(struct session *s)
{
	return UNTIL(s, idle(s)) && watch(s, NULL, 50) && idle(s);
}

/* A program that is ready gets these keys, then this signal. Does it die of `by`, and is all as
 * before? */
static bool dies(const char *keys, int sig, int by)
{
	struct session s;
	struct report r = { 0 };
	bool ok = start(&s, 0, false) && watch(&s, "ready 60x12, 0 keys", 0) && in_use(&s) &&
		type(&s, keys);

	ok = ok && (strcmp(keys, "b") || watch(&s, "busy", 0)) && (!sig || !kill(s.pid, sig));
	ok = ok && reported(&s, &r) && WIFSIGNALED(r.status) && WTERMSIG(r.status) == by &&
		r.modes && as_before(&s);
	if (!ok)
		printf("'%s', then signal %d: status %x, modes %d, alternate %d, hidden %d, mouse %d\n",
			keys, sig, (unsigned)r.status, r.modes, s.e.alternate, s.e.hidden,
			s.e.mouse);
	end(&s);
	return ok;
}

#define START(s, ignored, alone)                                                                   \
	do {                                                                                       \
		if (!start(s, ignored, alone))                                                     \
			SKIP("no pseudo terminals here");                                          \
	} while (0)

static void ended_by_signal(void)
{
	struct session s;

	START(&s, 0, false);
	end(&s);
	CHECK(dies("", SIGTERM, SIGTERM));
	CHECK(dies("", SIGINT, SIGINT));
	CHECK(dies("", SIGHUP, SIGHUP));
}

static void crashes(void)
{
	struct session s;

	START(&s, 0, false);
	end(&s);
	CHECK(dies("x", 0, SIGSEGV));
	CHECK(dies("a", 0, SIGABRT));
	CHECK(dies("o", 0, SIGSEGV));
	CHECK(dies("", SIGSEGV, SIGSEGV));
	CHECK(dies("", SIGBUS, SIGBUS));
	CHECK(dies("", SIGFPE, SIGFPE));
	CHECK(dies("", SIGQUIT, SIGQUIT));
}

/* The program gets a signal to end while it is busy: it ends after a short wait, or at a second
 * signal. */
static void busy(void)
{
	struct session s;
	struct report r;

	START(&s, 0, false);
	end(&s);
	CHECK(dies("b", SIGTERM, SIGTERM));
	START(&s, 0, false);
	CHECK(watch(&s, "ready", 0) && type(&s, "b") && watch(&s, "busy", 0));
	CHECK(!kill(s.pid, SIGINT) && !kill(s.pid, SIGTERM) && reported(&s, &r) &&
		WIFSIGNALED(r.status) && r.modes && as_before(&s));
	end(&s);
}

static void ends_by_itself(void)
{
	struct session s;
	struct report r;

	for (int i = 0; i < 2; i++) {
		START(&s, 0, false);
		CHECK(watch(&s, "ready", 0) && type(&s, i ? "e" : "q"));
		CHECK(reported(&s, &r) && WIFEXITED(r.status) &&
			WEXITSTATUS(r.status) == (i ? 3 : 0) && r.modes && as_before(&s));
		end(&s);
	}
}

/* Ctrl-Z, SIGTSTP from elsewhere, SIGSTOP; and fg. */
static void stops_and_comes_back(void)
{
	struct session s;
	struct report r;

	START(&s, 0, false);
	CHECK(watch(&s, "ready 60x12, 0 keys", 0));
	for (int i = 0; i < 3; i++) {
		char text[40];

		CHECK(i ? !kill(s.pid, i == 1 ? SIGTSTP : SIGSTOP) : type(&s, "\x1a"));
		CHECK(reported(&s, &r) && WIFSTOPPED(r.status) &&
			WSTOPSIG(r.status) == (i < 2 ? SIGTSTP : SIGSTOP));
		/* nothing can restore the modes after SIGSTOP */
		CHECK(i == 2 || (r.modes && as_before(&s)));
		emulator_erase(&s.e, 0, 60 * 12); /* the shell's own output */
		emulator_go(&s.e, 7, 7);
		emulator_feed(&s.e, "$ fg", 4);
		CHECK(command(&s, 'f') && watch(&s, "ready 60x12", 0));
		CHECK(UNTIL(&s, in_use(&s) && !emulator_has(&s.e, "fg")));
		snprintf(text, sizeof(text), "ready 60x12, %d keys", i + 1);
		CHECK(type(&s, "z") && watch(&s, text, 0));
	}
	CHECK(type(&s, "q") && reported(&s, &r) && WIFEXITED(r.status) && r.modes && as_before(&s));
	end(&s);
}

/* Continued in the background, the program leaves the screen to others; it draws again when it
 * is in the foreground. The window has another size by then. */
static void in_the_background(void)
{
	struct winsize size = { .ws_col = 45, .ws_row = 15 };
	struct session s;
	struct report r;
	size_t bytes;

	START(&s, 0, false);
	CHECK(watch(&s, "ready", 0) && type(&s, "\x1a") && reported(&s, &r) &&
		WIFSTOPPED(r.status) && as_before(&s));
	bytes = s.bytes;
	CHECK(!ioctl(s.master, TIOCSWINSZ, &size));
	emulator_resize(&s.e, 45, 15, ' ');
	CHECK(command(&s, 'b') && watch(&s, NULL, 300) && s.bytes == bytes);
	CHECK(!kill(s.pid, SIGWINCH) && watch(&s, NULL, 100) && s.bytes == bytes);
	CHECK(command(&s, 'f') && watch(&s, "ready 45x15", 0) && UNTIL(&s, in_use(&s)));
	CHECK(type(&s, "q") && reported(&s, &r) && WIFEXITED(r.status) && r.modes && as_before(&s));
	end(&s);
}

/* A stop in the middle of a frame waits for its end. */
static void stops_between_frames(void)
{
	struct session s;
	struct report r;

	START(&s, 0, false);
	CHECK(watch(&s, "ready", 0) && type(&s, "h") && reported(&s, &r) && WIFSTOPPED(r.status) &&
		r.modes && as_before(&s));
	CHECK(command(&s, 'f') && watch(&s, "ready 60x12, 1 keys", 0) && type(&s, "q"));
	CHECK(reported(&s, &r) && WIFEXITED(r.status) && !WEXITSTATUS(r.status) && as_before(&s));
	end(&s);
}

/* Ended while it was stopped: the terminal is restored already, and the program writes nothing. */
static void killed_in_the_background(void)
{
	struct session s;
	struct report r;
	size_t bytes;

	START(&s, 0, false);
	CHECK(watch(&s, "ready", 0) && type(&s, "\x1a") && reported(&s, &r) &&
		WIFSTOPPED(r.status) && as_before(&s));
	bytes = s.bytes;
	CHECK(!kill(s.pid, SIGTERM) && command(&s, 'b') && !kill(s.pid, SIGCONT));
	CHECK(command(&s, 'f') && reported(&s, &r) && WIFSIGNALED(r.status) &&
		WTERMSIG(r.status) == SIGTERM && r.modes && as_before(&s));
	CHECK(s.bytes == bytes || !s.e.alternate);
	end(&s);
}

/* If no process could continue it, the system does not stop the program: it continues, and draws
 * its screen again. */
static void stopped_alone(void)
{
	struct session s;
	unsigned clears;
	int status;

	START(&s, 0, true);
	CHECK(watch(&s, "ready", 0) && watch(&s, NULL, 50));
	clears = s.e.clears;
	CHECK(!kill(s.pid, SIGTSTP) &&
		UNTIL(&s, s.e.clears > clears && emulator_has(&s.e, "ready") && in_use(&s)));
	CHECK(type(&s, "q") && waitpid(s.shell, &status, 0) == s.shell);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	s.pid = -1;
	close(s.commands);
	close(s.reports);
	close(s.master);
	free(s.e.cells);
}

static void window_changes(void)
{
	static const int sizes[][2] = { { 40, 10 }, { 30, 1 }, { 1, 1 }, { 200, 60 } };
	struct session s;
	struct report r;
	char text[40];

	START(&s, 0, false);
	CHECK(watch(&s, "ready 60x12", 0) && watch(&s, NULL, 50));
	for (size_t i = 0; i < 4; i++) {
		struct winsize size = { .ws_col = (unsigned short)sizes[i][0],
			.ws_row = (unsigned short)sizes[i][1] };

		emulator_resize(&s.e, sizes[i][0], sizes[i][1], '%');
		snprintf(text, sizeof(text), "ready %dx%d, 0 keys", sizes[i][0], sizes[i][1]);
		CHECK(!ioctl(s.master, TIOCSWINSZ, &size) &&
			watch(&s, size.ws_col == 1 ? "…" : text, 0));
		CHECK(UNTIL(&s, !emulator_has(&s.e, "%")));
	}
	CHECK(type(&s, "q") && reported(&s, &r) && WIFEXITED(r.status) && r.modes && as_before(&s));
	end(&s);
}

/* The window is closed, or the connection is lost. Once with SIGHUP ignored, as under nohup. */
static void terminal_goes_away(void)
{
	struct session s;
	struct report r;

	for (int i = 0; i < 2; i++) {
		START(&s, i ? SIGHUP : 0, false);
		CHECK(watch(&s, "ready", 0));
		CHECK(!i || (!kill(s.pid, SIGHUP) && type(&s, "z") && watch(&s, "1 keys", 0)));
		close(s.master);
		s.master = -1;
		CHECK(reported(&s, &r));
		CHECK((WIFEXITED(r.status) && WEXITSTATUS(r.status) == GONE) ||
			(!i && WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGHUP));
		end(&s);
	}
}

T_MAIN(T(ended_by_signal), T(crashes), T(busy), T(ends_by_itself), T(stops_and_comes_back),
	T(in_the_background), T(stops_between_frames), T(killed_in_the_background),
	T(stopped_alone), T(window_changes), T(terminal_goes_away))
