/* All output of the programs: inline writers fill one buffer, which is written in large pieces.
 *
 * Writers do not check for errors. The first one is stored in `failed`, later output is dropped,
 * and gt_out_close reports the error once, with the file's name. That includes errors that C
 * programs often miss: a full disk that shows only when the file is closed. A closed pipe (head) is
 * no error: SIGPIPE ends the program silently. If the parent process ignores SIGPIPE, EPIPE is an
 * error like any other.
 */
#include "formats/io/stream_out.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "formats/text/printable.h"
#include "formats/text/utf8.h"
#include "formats/os/atomic_file.h"

#define OUT_CAP (256u << 10)
#define ROOM_MAX (64u << 10)
#define PIECE 4096u /* bytes made printable at once */

struct gt_out_sink {
	int fd;
	gzFile gz;     /* NULL: plain */
	uint64_t room; /* bytes that may still be written */
	/* .fd -1: the output is not a new file, but a device, a pipe or an open descriptor */
	struct gt_atomic_file file;
	int folder; /* the file's folder; `base`: its name there */
	char base[NAME_MAX + 1];
	bool replace;
	char name[];
};
/* The buffer if there is no memory for one. Its contents are dropped. */
static char scrap[ROOM_MAX + GT_DIGITS_SPILL];

void gt_out_fail(struct gt_out *o, int code)
{
	if (!o->failed)
		o->failed = code;
}

static void use_scrap(struct gt_out *o)
{
	gt_out_fail(o, -ENOMEM);
	o->data = scrap;
	o->cap = ROOM_MAX;
	o->len = 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int sink_write(struct gt_out_sink *s, const char *data, size_t len)
{
	int code;

	if (!s->gz && len > s->room)
		return -E2BIG;
	s->room -= s->gz ? 0 : len;
	if (!s->gz)
		return write_all(s->fd, data, len);
	if (!len || gzwrite(s->gz, data, (unsigned)len) == (int)len)
		return 0;
	gzerror(s->gz, &code);
	return code == Z_ERRNO && errno ? -errno : -EIO;
}

void gt_out_flush_(struct gt_out *o, size_t room)
{
	if (o->sink || o->failed) {
		if (!o->failed)
			gt_out_fail(o, sink_write(o->sink, o->data, o->len));
		o->len = 0;
	}
	if (o->cap - o->len < room) {
		size_t cap = o->cap * 2 > o->len + room ? o->cap * 2 : o->len + room;
		char *data = o->data == scrap ? NULL : realloc(o->data, cap + GT_DIGITS_SPILL);

		if (!data) {
			if (o->data != scrap)
				free(o->data);
			use_scrap(o);
			return;
		}
		o->data = data;
		o->cap = cap;
	}
}

void gt_out_memory(struct gt_out *o)
{
	memset(o, 0, sizeof(*o));
	o->data = malloc(ROOM_MAX + GT_DIGITS_SPILL);
	o->cap = ROOM_MAX;
	if (!o->data)
		use_scrap(o);
}

static bool stat_file(const char *path, int standard, struct stat *st)
{
	return !(strcmp(path, "-") ? stat(path, st) : fstat(standard, st)) && S_ISREG(st->st_mode);
}

int gt_out_would_destroy(const char *path, const char *input, struct gt_err *err)
{
	struct stat in, out;

	if (!stat_file(input, STDIN_FILENO, &in) || !stat_file(path, STDOUT_FILENO, &out) ||
		in.st_dev != out.st_dev || in.st_ino != out.st_ino)
		return 0;
	return gt_err_set(err, -EEXIST, "%.100s is also the input: write to another file",
		strcmp(path, "-") ? path : "standard output");
}

#define PREFIX ".gt-" /* of the names of unfinished files */

/* A file gets its name in gt_out_close, when it is complete (atomic_file.h). Devices and pipes
 * (/dev/null, /dev/stdout) are written directly, as is a writable file in a folder that is not
 * writable. */
static int open_file(struct gt_out_sink *s, const char *path, bool force)
{
	/* an open descriptor of this process */
	bool descriptor = !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5);
	struct stat st;
	mode_t mode;
	int rc, fd;

	if (!stat(path, &st) && !S_ISDIR(st.st_mode) &&
		(!S_ISREG(st.st_mode) || (descriptor && force))) {
		fd = open(path, O_WRONLY | O_CLOEXEC | (S_ISREG(st.st_mode) ? O_TRUNC : 0));
		return fd < 0 ? -errno : fd;
	}
	rc = gt_atomic_file_place(path, force, &s->folder, s->base, &mode);
	if (rc == -EINVAL)
		rc = -EISDIR;
	if (!rc)
		rc = gt_atomic_file_create(&s->file, s->folder, PREFIX, 0666);
	if (rc == -EACCES && mode && force) {
		fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (!rc && mode && fchmod(s->file.fd, mode))
		rc = -errno;
	if (rc)
		return rc;
	s->replace = force;
	fd = dup(s->file.fd);
	return fd < 0 ? -errno : fd;
}

static int open_gz(struct gt_out_sink *s)
{
	/* gzclose closes the duplicate; close_sink closes s->fd and checks for an error */
	int fd = dup(s->fd);

	if (fd < 0)
		return -errno;
	s->gz = gzdopen(fd, "wb");
	if (!s->gz) {
		close(fd);
		return -ENOMEM;
	}
	gzbuffer(s->gz, OUT_CAP);
	return 0;
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

static int open_sink(struct gt_out *o, int fd)
{
	struct gt_out_sink *s = o->sink;

	s->fd = fd;
	return fd < 0 ? fd : ends_in(s->name, ".gz") ? open_gz(s) : 0;
}

static void free_sink(struct gt_out_sink *s)
{
	if (!s)
		return;
	gt_atomic_file_close(&s->file, s->folder);
	if (s->folder >= 0)
		close(s->folder);
	free(s);
}

/* path NULL: opens fd. */
static int open_out(struct gt_out *o, int fd, const char *path, bool force, const char *name,
	struct gt_err *err)
{
	int rc = -ENOMEM;

	memset(o, 0, sizeof(*o));
	o->sink = calloc(1, sizeof(*o->sink) + strlen(name) + 1);
	o->data = malloc(OUT_CAP + GT_DIGITS_SPILL);
	o->cap = OUT_CAP;
	if (o->sink) {
		o->sink->file.fd = o->sink->folder = -1;
		o->sink->room = UINT64_MAX;
	}
	if (o->sink && o->data) {
		strcpy(o->sink->name, name);
		fd = path ? open_file(o->sink, path, force) : fd;
		rc = open_sink(o, fd);
	}
	if (!rc)
		return 0;
	if (fd >= 0 && fd != STDOUT_FILENO)
		close(fd);
	free_sink(o->sink);
	free(o->data);
	memset(o, 0, sizeof(*o));
	use_scrap(o);
	o->failed = rc;
	if (rc == -EEXIST)
		return gt_err_set(err, rc, "cannot write %s: it exists (-f replaces it)", name);
	return gt_err_set(err, rc, "cannot write %s: %s", name, strerror(-rc));
}

int gt_out_open_fd(struct gt_out *o, int fd, const char *name, struct gt_err *err)
{
	return open_out(o, fd, NULL, false, name, err);
}

int gt_out_open(struct gt_out *o, const char *path, bool force, struct gt_err *err)
{
	if (!strcmp(path, "-"))
		return gt_out_open_fd(o, STDOUT_FILENO, "standard output", err);
	return open_out(o, -1, path, force, path, err);
}

void gt_out_limit(struct gt_out *o, uint64_t bytes)
{
	if (o->sink)
		o->sink->room = bytes;
}

int gt_out_fd(struct gt_out *o)
{
	if (!o->sink || o->sink->gz)
		return -EINVAL;
	gt_out_flush(o);
	return o->failed ? o->failed : o->sink->fd;
}

static void close_sink(struct gt_out *o)
{
	struct gt_out_sink *s = o->sink;
	int rc = 0;

	gt_out_flush(o);
	errno = 0;
	if (s->gz && gzclose(s->gz) != Z_OK)
		rc = errno ? -errno : -EIO;
	if (s->fd != STDOUT_FILENO && close(s->fd) && !rc)
		rc = -errno;
	if (!rc && !o->failed && s->file.fd >= 0)
		rc = gt_atomic_file_commit(&s->file, s->folder, PREFIX, s->base, s->replace);
	if (rc)
		gt_out_fail(o, rc);
}

int gt_out_close(struct gt_out *o, struct gt_err *err)
{
	int rc;

	if (o->sink)
		close_sink(o);
	rc = o->failed;
	if (rc)
		gt_err_set(err, rc, "cannot write %s: %s", o->sink ? o->sink->name : "output",
			strerror(-rc));
	free_sink(o->sink);
	if (o->data != scrap)
		free(o->data);
	memset(o, 0, sizeof(*o));
	return rc;
}

/* Writes many bytes without copying them into the buffer. */
static void write_through(struct gt_out *o, const char *bytes, size_t n)
{
	gt_out_flush(o);
	if (!o->failed)
		gt_out_fail(o, sink_write(o->sink, bytes, n));
}

void gt_out_add(struct gt_out *o, const void *bytes, size_t n)
{
	const char *from = bytes;

	if (n >= ROOM_MAX && n <= INT_MAX && o->sink) {
		write_through(o, from, n);
		return;
	}
	while (n) {
		size_t piece = n < ROOM_MAX ? n : ROOM_MAX;

		memcpy(gt_out_reserve(o, piece), from, piece);
		o->len += piece;
		from += piece;
		n -= piece;
	}
}

int gt_out_add_file(struct gt_out *o, int fd, struct gt_err *err)
{
	ssize_t n = lseek(fd, 0, SEEK_SET) ? -1 : 1;

	while (n > 0 && !o->failed) {
		char *to = gt_out_reserve(o, ROOM_MAX);

		n = read(fd, to, ROOM_MAX);
		if (n > 0)
			gt_out_commit(o, to + n);
	}
	return n < 0 ? gt_err_set(err, -errno, "cannot read a temporary file: %s", strerror(errno))
		     : 0;
}

void gt_out_printable(struct gt_out *o, const char *s)
{
	while (*s && !o->failed)
		gt_out_commit(o, gt_printable_put(gt_out_reserve(o, PIECE), PIECE, &s));
}

void gt_out_printf(struct gt_out *o, const char *fmt, ...)
{
	char small[512], *text = small;
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n >= (int)sizeof(small)) {
		text = malloc((size_t)n + 1);
		if (text)
			vsnprintf(text, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	va_end(ap);
	if (n < 0 || !text)
		gt_out_fail(o, -ENOMEM);
	else
		gt_out_add(o, text, (size_t)n);
	if (text != small)
		free(text);
}

/* ---- JSON strings ---- */

#define REPLACEMENT 0xfffdu

static char *put_escaped(char *p, unsigned char c)
{
	static const char names[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	static const char digits[] = "0123456789abcdef";

	for (const char *n = names; *n; n += 2)
		if ((unsigned char)*n == c) {
			*p++ = '\\';
			*p++ = n[1];
			return p;
		}
	memcpy(p, "\\u00", 4);
	p[4] = digits[c >> 4];
	p[5] = digits[c & 15];
	return p + 6;
}

/* At most 12 bytes: a control character is escaped, beyond U+FFFF as a surrogate pair. */
static char *put_json_char(char *p, uint32_t ch)
{
	if (!gt_utf8_is_control(ch))
		return p + gt_utf8_put(p, ch);
	if (ch > 0xffff)
		p += sprintf(p, "\\u%04x", (unsigned)(0xd800 + ((ch - 0x10000) >> 10)));
	return p + sprintf(p, "\\u%04x", (unsigned)(ch > 0xffff ? 0xdc00 + (ch & 0x3ff) : ch));
}

#define EACH 0x0101010101010101ull
/* Is one of the eight bytes 0? */
static bool has_zero(uint64_t v) { return ((v - EACH) & ~v & EACH << 7) != 0; }

/* Are eight bytes ASCII characters that stand for themselves? */
static bool are_plain(uint64_t v)
{
	return !((v | (v - EACH * 0x20)) & EACH << 7) && !has_zero(v ^ EACH * '"') &&
		!has_zero(v ^ EACH * '\\') && !has_zero(v ^ EACH * 0x7f);
}

void gt_out_json(struct gt_out *o, const char *str, size_t len)
{
	const unsigned char *s = (const unsigned char *)str, *end = s + len;

	*gt_out_reserve(o, 1) = '"';
	o->len++;
	while (s < end) {
		const unsigned char *stop = end - s > 8192 ? s + 8192 : end;
		char *p = gt_out_reserve(o, (size_t)(stop - s) * 6 + 8);
		uint64_t eight;

		while (s < stop) {
			uint32_t ch;

			while (stop - s >= 8 && (memcpy(&eight, s, 8), are_plain(eight))) {
				memcpy(p, s, 8);
				p += 8, s += 8;
			}
			if (s == stop)
				break;
			if (*s < 0x80) {
				if (*s < 0x20 || *s == '"' || *s == '\\' || *s == 0x7f)
					p = put_escaped(p, *s++);
				else
					*p++ = (char)*s++;
				continue;
			}
			s += gt_utf8_get((const char *)s, (size_t)(end - s), &ch);
			p = put_json_char(p, ch == UINT32_MAX ? REPLACEMENT : ch);
		}
		gt_out_commit(o, p);
	}
	*gt_out_reserve(o, 1) = '"';
	o->len++;
}
