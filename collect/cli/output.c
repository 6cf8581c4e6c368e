#include "collect/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct name {
	char *to;
	size_t size, len;
	bool full;
};

static void add(struct name *n, const char *s, size_t len, bool safe)
{
	for (; len; len--, s++) {
		if (n->len + 1 >= n->size) {
			n->full = true;
			return;
		}
		n->to[n->len++] = safe && (*s == '/' || (unsigned char)*s < ' ') ? '_' : *s;
	}
	n->to[n->len] = 0;
}

static void add_word(struct name *n, char which)
{
	char s[HOST_NAME_MAX + 32] = "";
	time_t now = time(NULL);
	struct tm local;

	if (which == 'h')
		gethostname(s, sizeof(s) - 1);
	else if (which == 'p')
		snprintf(s, sizeof(s), "%d", getpid());
	else if (which == 't')
		strftime(s, sizeof(s), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	else
		s[0] = '%';
	add(n, s, strlen(s), true);
}

/* p points to "q{VAR}". Returns the text after it, or NULL. */
static const char *add_variable(struct name *n, const char *p, struct gt_err *err)
{
	const char *end = p[1] == '{' ? strchr(p, '}') : NULL, *value;
	char key[128];

	if (!end || (size_t)(end - p - 2) >= sizeof(key)) {
		gt_err_set(err, -EINVAL, "-o: %%q must be followed by {VARIABLE}");
		return NULL;
	}
	snprintf(key, sizeof(key), "%.*s", (int)(end - p - 2), p + 2);
	value = getenv(key);
	if (!value) {
		gt_err_set(err, -EINVAL, "-o: %s is not set in the environment", key);
		return NULL;
	}
	add(n, value, strlen(value), true);
	return end + 1;
}

static const char *base_name(const char *command)
{
	const char *slash = strrchr(command, '/');

	return slash && slash[1] ? slash + 1 : command;
}

int gt_output_name(
	const char *pattern, const char *command, char *to, size_t size, struct gt_err *err)
{
	struct name n = { to, size, 0, false };

	to[0] = 0;
	if (!pattern) {
		command = base_name(command);
		add(&n, "gt-", 3, false);
		add(&n, command, strnlen(command, 100), true);
		add(&n, "-", 1, false);
		add_word(&n, 't');
		add(&n, "-", 1, false);
		add_word(&n, 'p');
		add(&n, ".zst", 4, false);
		return 0;
	}
	for (const char *p = pattern; *p;) {
		if (*p != '%') {
			add(&n, p++, 1, false);
		} else if (p[1] == 'q') {
			p = add_variable(&n, p + 1, err);
			if (!p)
				return -EINVAL;
		} else if (p[1] && strchr("hpt%", p[1])) {
			add_word(&n, p[1]);
			p += 2;
		} else {
			return gt_err_set(err, -EINVAL,
				"-o: after %% there may be h, p, t, q{VARIABLE} or %%");
		}
	}
	if (!strcmp(to, "-"))
		return gt_err_set(err, -EINVAL,
			"-o -: the standard output is the program's own; ./- is a file of that "
			"name");
	return n.full || !n.len
		? gt_err_set(err, -EINVAL, "-o: the name is %s", n.len ? "too long" : "empty")
		: 0;
}

/* Which standard stream is this file or pipe? NULL: none. All three belong to the program. A
 * device (a terminal, /dev/null) may be the trace nevertheless. */
static const char *standard_stream(const struct stat *file)
{
	static const char *const names[] = { "input", "output", "error" };
	struct stat st;

	if (!S_ISREG(file->st_mode) && !S_ISFIFO(file->st_mode))
		return NULL;
	for (int fd = 0; fd <= 2; fd++)
		if (!fstat(fd, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino)
			return names[fd];
	return NULL;
}

/* Checks a file that exists. Devices and pipes may be written, unless they are the program's
 * streams. */
static int take_over(int fd, bool force, struct gt_err *err)
{
	const char *stream;
	struct stat st;

	if (fstat(fd, &st))
		return gt_err_set(err, -errno, "%s", strerror(errno));
	stream = standard_stream(&st);
	if (stream)
		return gt_err_set(err, -EBUSY, "is the standard %s of the program", stream);
	if (!S_ISREG(st.st_mode))
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return gt_err_set(err, -EBUSY, "is being written by another gtcollect");
	return force ? 0 : gt_err_set(err, -EEXIST, "exists; -f overwrites it");
}

static int open_it(struct gt_output *o, const char *path, bool force, struct gt_err *err)
{
	struct stat st;
	int code, flags = O_RDWR;

	snprintf(o->path, sizeof(o->path), "%s", path);
	o->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	o->created = o->fd >= 0;
	if (o->created) {
		flock(o->fd, LOCK_EX | LOCK_NB);
		return 0;
	}
	if (errno == ENOENT)
		return gt_err_set(err, -errno, "its directory does not exist");
	if (errno != EEXIST)
		return gt_err_set(err, -errno, "%s", strerror(errno));
	/* open would wait for a reader, and not return when a signal arrives */
	if (!stat(path, &st) && S_ISFIFO(st.st_mode))
		flags = O_WRONLY | O_NONBLOCK;
	o->fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	if (o->fd < 0 && flags == O_RDWR)
		o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (o->fd < 0)
		return gt_err_set(err, -errno, "%s",
			errno == ENXIO ? "no process reads it" : strerror(errno));
	code = take_over(o->fd, force, err);
	if (code) {
		close(o->fd);
		o->fd = -1;
	}
	return code;
}

int gt_output_open(struct gt_output *o, const char *path, bool force, struct gt_err *err)
{
	struct stat st;
	int code = open_it(o, path, force, err);

	if (code || fstat(o->fd, &st))
		return code;
	if (S_ISREG(st.st_mode)) {
		o->dev = st.st_dev;
		o->ino = st.st_ino;
	} else {
		fcntl(o->fd, F_SETFL, O_NONBLOCK);
	}
	return 0;
}

int gt_output_empty(const struct gt_output *o, struct gt_err *err)
{
	return !o->ino || !ftruncate(o->fd, 0)
		? 0
		: gt_err_set(err, -errno, "cannot empty it: %s", strerror(errno));
}

int gt_output_check(const struct gt_output *o, struct gt_err *err)
{
	struct stat st;

	if (!o->ino || (!stat(o->path, &st) && st.st_dev == o->dev && st.st_ino == o->ino))
		return 0;
	return gt_err_set(err, -ENOENT,
		"was removed or replaced while it was written: the recording is lost");
}
