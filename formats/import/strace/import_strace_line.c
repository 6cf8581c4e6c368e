/* Parses lines of strace's output. All texts are borrowed from the line, which may hold any bytes.
 *
 *      [pid  1234] 1700000000.000001 ioctl(3</dev/nvidiactl>, _IOC(...), 0x7ffd) = 0 <0.000010>
 *      1234  12:00:00.000001 <... ioctl resumed>) = -1 EINVAL (Invalid argument) <0.000010>
 *
 * The process is "[pid N] " on standard error and "N " in a file, or absent. -Y adds "<NAME>". */
#define _GNU_SOURCE
#include "formats/import/strace/import_strace.h"

#include <errno.h>
#include <string.h>
#include "formats/trace/record.h"

typedef struct gt_strace_text text;

bool gt_strace_is(text t, const char *word)
{
	return t.len == strlen(word) && !memcmp(t.p, word, t.len);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip(text *t, size_t n)
{
	t->p += n;
	t->len -= n;
}

static bool skip_word(text *t, const char *word)
{
	size_t n = strlen(word);

	if (t->len < n || memcmp(t->p, word, n))
		return false;
	skip(t, n);
	return true;
}

static void skip_blanks(text *t)
{
	while (t->len && *t->p == ' ')
		skip(t, 1);
}

static bool ends_with(text t, const char *word)
{
	size_t n = strlen(word);

	return t.len >= n && !memcmp(t.p + t.len - n, word, n);
}

/* Up to 18 digits. */
static bool read_digits(text *t, int64_t *v)
{
	unsigned n = 0;

	for (*v = 0; t->len && is_digit(*t->p) && n < 18; n++, skip(t, 1))
		*v = *v * 10 + (*t->p - '0');
	return n && !(t->len && is_digit(*t->p));
}

/* The decimals behind a point, as ns. */
static int64_t read_fraction(text *t)
{
	int64_t ns = 0;
	unsigned n = 0;

	if (!skip_word(t, "."))
		return 0;
	for (; t->len && is_digit(*t->p); skip(t, 1))
		if (n < 9) {
			ns = ns * 10 + (*t->p - '0');
			n++;
		}
	for (; n < 9; n++)
		ns *= 10;
	return ns;
}

/* ---- the time and the thread ---- */

#define SECONDS_MAX 2000000000ll
#define SECONDS_OF_1973 100000000ll
#define NS 1000000000ll

/* A time, and what follows it in the line: a blank. Relative times are padded to the width of
 * 100000 s. Without a point or colon a number is a time only if it counts from 1970. */
static enum gt_strace_clock read_time(text *t, bool padded, int64_t *time)
{
	text at = *t;
	int64_t s, m;
	enum gt_strace_clock clock = GT_STRACE_UNIX;

	if (!read_digits(&at, &s))
		return GT_STRACE_NO_CLOCK;
	for (unsigned i = 0; i < 2 && at.len && *at.p == ':'; i++) {
		skip(&at, 1);
		if (!read_digits(&at, &m) || m > 60 || s > 24 * 60)
			return GT_STRACE_NO_CLOCK;
		s = s * 60 + m;
		clock = GT_STRACE_DAY;
	}
	if (clock == GT_STRACE_UNIX && s < SECONDS_OF_1973) {
		clock = padded ? GT_STRACE_RELATIVE : GT_STRACE_UNIX;
		if (!at.len || *at.p != '.')
			return GT_STRACE_NO_CLOCK;
	}
	if (s > SECONDS_MAX)
		return GT_STRACE_NO_CLOCK;
	*time = s * NS + read_fraction(&at);
	if (!at.len || *at.p != ' ')
		return GT_STRACE_NO_CLOCK;
	skip_blanks(&at);
	*t = at;
	return clock;
}

/* "<NAME>" behind a process id (-Y). */
static text read_command(text *t)
{
	const char *end = t->len && *t->p == '<' ? memchr(t->p, '>', t->len) : NULL;
	text name = { end ? t->p + 1 : NULL, end ? (size_t)(end - t->p - 1) : 0 };

	if (end)
		skip(t, (size_t)(end + 1 - t->p));
	return name;
}

/* "[pid N] " or "N "; leaves t unchanged if there is none. True: more than one blank follows. */
static bool read_tid(struct gt_strace_line *l, text *t)
{
	text at = *t, command;
	int64_t v;
	bool bracket = skip_word(&at, "[pid ");

	skip_blanks(&at);
	if (!read_digits(&at, &v))
		return false;
	command = read_command(&at);
	if ((bracket && !skip_word(&at, "]")) || !skip_word(&at, " "))
		return false;
	*t = at;
	skip_blanks(t);
	l->tid = v;
	l->command = command;
	return t->len < at.len;
}

static void read_prefix(struct gt_strace_line *l, text *t)
{
	text at = *t;
	const char *end;
	bool padded = at.len && *at.p == ' ';

	skip_blanks(&at);
	l->clock = read_time(&at, padded, &l->time);
	if (!l->clock) {
		padded = read_tid(l, &at);
		l->clock = read_time(&at, padded, &l->time);
	}
	if (l->clock && at.len > 2 && !memcmp(at.p, "(+", 2)) { /* -r beside another clock */
		end = memchr(at.p, ')', at.len);
		skip(&at, end ? (size_t)(end + 1 - at.p) : 0);
		skip_blanks(&at);
	}
	*t = at;
}

/* ---- the result ---- */

/* clang-format off */
#define ERRORS(E) \
	E(EPERM) E(ENOENT) E(ESRCH) E(EINTR) E(EIO) E(ENXIO) E(E2BIG) E(ENOEXEC) E(EBADF) E(ECHILD) \
	E(EAGAIN) E(ENOMEM) E(EACCES) E(EFAULT) E(ENOTBLK) E(EBUSY) E(EEXIST) E(EXDEV) E(ENODEV) \
	E(ENOTDIR) E(EISDIR) E(EINVAL) E(ENFILE) E(EMFILE) E(ENOTTY) E(ETXTBSY) E(EFBIG) E(ENOSPC) \
	E(ESPIPE) E(EROFS) E(EMLINK) E(EPIPE) E(EDOM) E(ERANGE) E(EDEADLK) E(ENAMETOOLONG) E(ENOLCK) \
	E(ENOSYS) E(ENOTEMPTY) E(ELOOP) E(ENODATA) E(ETIME) E(EPROTO) E(EOVERFLOW) E(EBADFD) \
	E(ENOTSOCK) E(EDESTADDRREQ) E(EMSGSIZE) E(EPROTONOSUPPORT) E(EOPNOTSUPP) E(EAFNOSUPPORT) \
	E(EADDRINUSE) E(EADDRNOTAVAIL) E(ENETDOWN) E(ENETUNREACH) E(ECONNABORTED) E(ECONNRESET) \
	E(ENOBUFS) E(EISCONN) E(ENOTCONN) E(ETIMEDOUT) E(ECONNREFUSED) E(EHOSTDOWN) E(EHOSTUNREACH) \
	E(EALREADY) E(EINPROGRESS) E(ESTALE) E(EDQUOT) E(ECANCELED) E(EOWNERDEAD)
/* clang-format on */

static int32_t error_of(text name)
{
	static const struct {
		const char *name;
		int32_t number;
	} errors[] = {
#define E(name) { #name, name },
		ERRORS(E)
#undef E
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (gt_strace_is(name, errors[i].name))
			return errors[i].number;
	return INT32_MIN;
}

/* " <0.000010>" at the end. */
static void cut_duration(struct gt_strace_line *l, text *t)
{
	const char *open = t->len && t->p[t->len - 1] == '>' ? memrchr(t->p, '<', t->len) : NULL;
	text in = { open ? open + 1 : NULL, open ? (size_t)(t->p + t->len - 2 - open) : 0 };
	int64_t s;

	if (!open || open == t->p || open[-1] != ' ' || !read_digits(&in, &s) || s > SECONDS_MAX ||
		!in.len || *in.p != '.')
		return;
	l->duration = s * NS + read_fraction(&in);
	l->has_duration = !in.len;
	t->len = (size_t)(open - 1 - t->p);
}

/* The path in "</dev/nvidia0>"; -yy adds to it, "</dev/nvidia0<char 195:0>>". */
static text path_of(text t)
{
	text path = { t.p + 1, 0 };

	while (path.len + 1 < t.len && path.p[path.len] != '<' && path.p[path.len] != '>')
		path.len++;
	return path;
}

/* Reads "-1 ENOENT (No such file or directory)", "3</path>", "0x7f00", "? ERESTARTSYS (...)". */
static void read_result(struct gt_strace_line *l, text t)
{
	bool negative, unknown = skip_word(&t, "?");
	text word = t;
	uint64_t v = 0;

	negative = skip_word(&t, "-");
	word = t;
	while (t.len && *t.p != ' ' && *t.p != '<')
		skip(&t, 1);
	word.len -= t.len;
	l->has_result = gt_strace_number(word, &v);
	l->result = negative ? (int64_t)(0 - v) : (int64_t)v;
	if (t.len && *t.p == '<') {
		l->file = path_of(t);
	}
	if ((!negative && !unknown) || !skip_word(&t, " "))
		return;
	word = t;
	while (t.len && *t.p != ' ')
		skip(&t, 1);
	word.len -= t.len;
	if (word.len < 2 || *word.p != 'E')
		return;
	l->restarts = word.len > 8 && !memcmp(word.p, "ERESTART", 8);
	l->failed = !l->restarts;
	l->error = error_of(word);
}

/* The last ") = ": behind it are only the result and its explanation. */
static bool cut_result(struct gt_strace_line *l, text *t)
{
	for (size_t i = t->len; i-- > 0;) {
		text at = { t->p + i, t->len - i };

		if (*at.p != ')')
			continue;
		skip(&at, 1);
		skip_blanks(&at);
		if (skip_word(&at, "= ")) {
			read_result(l, at);
			t->len = i;
			return true;
		}
	}
	return false;
}

/* ---- the call ---- */

static bool is_name(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_'; }

static bool read_name(struct gt_strace_line *l, text *t)
{
	l->name = *t;
	while (t->len && is_name(*t->p))
		skip(t, 1);
	l->name.len -= t->len;
	return l->name.len && l->name.len <= 40;
}

static void read_rest(struct gt_strace_line *l, text t, enum gt_strace_form form)
{
	static const char unfinished[] = "<unfinished ...>", detached[] = "<detached ...>";

	if (ends_with(t, unfinished) || ends_with(t, detached)) {
		t.len -= (ends_with(t, unfinished) ? sizeof(unfinished) : sizeof(detached)) - 1;
		if (t.len && t.p[t.len - 1] == ' ')
			t.len--;
		l->args = t;
		l->form = form == GT_STRACE_CALL ? GT_STRACE_UNFINISHED : GT_STRACE_MESSAGE;
		return;
	}
	cut_duration(l, &t);
	l->form = cut_result(l, &t) ? form : GT_STRACE_OTHER;
	l->args = t;
}

/* "SIGCHLD {si_signo=SIGCHLD, ...} ---", "stopped by SIGSTOP ---" */
static void read_signal(struct gt_strace_line *l, text t)
{
	const char *brace = memchr(t.p, '{', t.len);

	if (!ends_with(t, " ---"))
		return;
	l->name = (text){ t.p, brace ? (size_t)(brace - t.p) : t.len - 4 };
	if (l->name.len && l->name.p[l->name.len - 1] == ' ')
		l->name.len--;
	l->form = l->name.len && l->name.len <= 40 ? GT_STRACE_SIGNAL : GT_STRACE_OTHER;
}

/* "exited with 0 +++", "killed by SIGKILL (core dumped) +++" */
static void read_exit(struct gt_strace_line *l, text t)
{
	static const char superseded[] = "superseded by execve";

	if (!ends_with(t, " +++"))
		return;
	l->name = (text){ t.p, t.len - 4 };
	if (l->name.len > sizeof(superseded) && !memcmp(t.p, superseded, sizeof(superseded) - 1))
		l->name.len = sizeof(superseded) - 1; /* without "in pid 7" */
	l->form = l->name.len <= 60 ? GT_STRACE_EXIT : GT_STRACE_OTHER;
}

void gt_strace_parse(struct gt_strace_line *l, const char *p, size_t len)
{
	text t = { p, len };
	static const char resumed[] = " resumed>";

	memset(l, 0, sizeof(*l));
	if (len && p[len - 1] == '\r')
		t.len--;
	if (skip_word(&t, "strace: ")) {
		l->form = GT_STRACE_MESSAGE;
		return;
	}
	read_prefix(l, &t);
	if (skip_word(&t, "--- "))
		read_signal(l, t);
	else if (skip_word(&t, "+++ "))
		read_exit(l, t);
	else if (skip_word(&t, "<... ") && read_name(l, &t) && skip_word(&t, resumed))
		read_rest(l, t, GT_STRACE_RESUMED);
	else if (read_name(l, &t) && skip_word(&t, "("))
		read_rest(l, t, GT_STRACE_CALL);
}

/* ---- arguments ---- */

/* Moves behind a quoted string, or the "<path>" of a descriptor. */
static size_t skip_nested(text t)
{
	size_t i = 1, depth = 1;

	if (*t.p == '"') {
		while (i < t.len && t.p[i] != '"')
			i += t.p[i] == '\\' ? 2 : 1;
		return i < t.len ? i + 1 : t.len;
	}
	for (; i < t.len && depth; i++)
		depth += (t.p[i] == '<') - (t.p[i] == '>');
	return i;
}

static bool opens_path(text args, size_t i)
{
	return args.p[i] == '<' && i && (is_digit(args.p[i - 1]) || args.p[i - 1] == 'D') &&
		i + 1 < args.len && args.p[i + 1] != '<';
}

bool gt_strace_arg(text args, unsigned wanted, text *arg)
{
	size_t from = 0, depth = 0;

	for (size_t i = 0; i <= args.len; i++) {
		char c = i < args.len ? args.p[i] : ',';

		if (i < args.len && (c == '"' || opens_path(args, i))) {
			i += skip_nested((text){ args.p + i, args.len - i }) - 1;
		} else if (c == '(' || c == '[' || c == '{') {
			depth++;
		} else if (c == ')' || c == ']' || c == '}') {
			depth -= depth > 0;
		} else if (c == ',' && (!depth || i == args.len)) {
			if (!wanted--) {
				*arg = (text){ args.p + from, i - from };
				skip_blanks(arg);
				return arg->len > 0;
			}
			from = i + 1;
		}
	}
	return false;
}

bool gt_strace_fd(text arg, int64_t *fd, text *path)
{
	*path = (text){ NULL, 0 };
	if (!read_digits(&arg, fd) || *fd > INT32_MAX || (arg.len && *arg.p != '<'))
		return false;
	if (arg.len)
		*path = path_of(arg);
	return true;
}

static bool read_hex(text t, uint64_t *v)
{
	if (!t.len || t.len > 16)
		return false;
	for (*v = 0; t.len; skip(&t, 1)) {
		char c = *t.p;

		if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
			return false;
		*v = *v << 4 | (uint64_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	return true;
}

static bool plain_number(text t, uint64_t *v)
{
	int64_t n;

	if (skip_word(&t, "0x"))
		return read_hex(t, v);
	if (!read_digits(&t, &n) || t.len)
		return false;
	*v = (uint64_t)n;
	return true;
}

/* "_IOC_READ|_IOC_WRITE" */
static uint64_t direction_of(text t)
{
	uint64_t bits = 0;

	while (t.len) {
		bits |= skip_word(&t, "_IOC_READ") ? 2 : skip_word(&t, "_IOC_WRITE") ? 1 : 0;
		if (t.len)
			skip(&t, 1);
	}
	return bits;
}

bool gt_strace_number(text t, uint64_t *v)
{
	uint64_t type, nr, size;
	text part[4];

	if (plain_number(t, v))
		return true;
	if (!skip_word(&t, "_IOC(") || !t.len || t.p[t.len - 1] != ')')
		return false;
	t.len--;
	for (unsigned i = 0; i < 4; i++)
		if (!gt_strace_arg(t, i, &part[i]))
			return false;
	if (!plain_number(part[1], &type) || !plain_number(part[2], &nr) ||
		!plain_number(part[3], &size) || type > 0xff || nr > 0xff || size > 0x3fff)
		return false;
	*v = direction_of(part[0]) << 30 | size << 16 | type << 8 | nr;
	return true;
}

/* ---- system calls ---- */

#define FD GT_STRACE_HAS_FD
#define PATH GT_STRACE_HAS_PATH
#define HEX GT_STRACE_HEX
static const struct {
	const char *names; /* between blanks */
	struct gt_strace_syscall is;
} groups[] = {
	{ " read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 close fstat lseek"
	  " fsync fdatasync ftruncate fallocate fadvise64 getdents64 getdents fcntl flock dup dup2 dup3"
	  " fchmod fchown fstatfs ioctl sendfile copy_file_range splice readahead sendto recvfrom"
	  " sendmsg recvmsg sendmmsg recvmmsg connect accept accept4 bind listen shutdown getsockname"
	  " getpeername setsockopt getsockopt sync_file_range ",
		{ GT_CAT_FILE, FD } },
	{ " openat openat2 newfstatat readlinkat unlinkat mkdirat faccessat faccessat2 statx renameat"
	  " renameat2 linkat symlinkat fchmodat fchownat utimensat mknodat open creat stat lstat access"
	  " readlink unlink mkdir rmdir rename link symlink chmod chown lchown truncate statfs chdir"
	  " utime utimes getxattr lgetxattr inotify_add_watch mknod mount umount2 ",
		{ GT_CAT_FILE, PATH } },
	{ " pipe pipe2 socket socketpair memfd_create eventfd eventfd2 timerfd_create signalfd4"
	  " epoll_create epoll_create1 inotify_init inotify_init1 getcwd umask sync close_range"
	  " io_uring_setup io_setup io_submit ",
		{ GT_CAT_FILE, 0 } },
	{ " mmap mmap2 brk mremap ", { GT_CAT_MEMORY, HEX } },
	{ " munmap mprotect madvise mlock mlock2 munlock mlockall munlockall msync mincore mbind"
	  " set_mempolicy get_mempolicy move_pages migrate_pages membarrier shmget shmat shmdt shmctl"
	  " pkey_mprotect pkey_alloc pkey_free process_madvise ",
		{ GT_CAT_MEMORY, 0 } },
	{ " futex futex_wait futex_waitv futex_wake nanosleep clock_nanosleep poll ppoll select"
	  " pselect6 pause restart_syscall rt_sigsuspend rt_sigtimedwait semop semtimedop msgrcv msgsnd"
	  " io_getevents io_uring_enter ",
		{ GT_CAT_SYNC, 0 } },
	{ " epoll_wait epoll_pwait epoll_pwait2 epoll_ctl ", { GT_CAT_SYNC, FD } },
	{ " sched_yield sched_setaffinity sched_getaffinity sched_setscheduler sched_getscheduler"
	  " sched_setparam sched_getparam sched_setattr sched_getattr setpriority getpriority getcpu ",
		{ GT_CAT_SCHEDULER, 0 } },
	{ " execve execveat ", { GT_CAT_OTHER, PATH } },
	{ " getpid gettid getppid getuid geteuid getgid getegid getpgid getpgrp getsid uname sysinfo"
	  " getrandom clock_gettime clock_getres gettimeofday time times getrusage getrlimit prlimit64"
	  " getgroups getresuid getresgid ",
		{ GT_CAT_QUERY, 0 } },
};

struct gt_strace_syscall gt_strace_syscall_of(const char *name, size_t len)
{
	struct gt_strace_syscall is = { GT_CAT_OTHER, 0 };
	char word[48];

	if (len > sizeof(word) - 3)
		return is;
	word[0] = ' ';
	memcpy(word + 1, name, len);
	memcpy(word + 1 + len, " ", 2);
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (strstr(groups[i].names, word))
			is = groups[i].is;
	return is;
}
