/* A file beside the trace is visible to all readers of the trace on a shared disk; a
 * reader may lack write permission there. So a file in the user's state folder, if it exists,
 * replaces the file beside the trace; it starts as a copy of it. Bookmarks are written where
 * they were found. The last bookmark removes the file, unless it hides one beside the trace.
 */
#define _GNU_SOURCE /* asprintf, mkostemp */
#include "viewer/view/bookmarks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/os/safe_path.h"
#include "formats/trace/record.h"

#define HEADING "# bookmarks of gtview, 1"
#define FILE_MOST (256u << 10) /* size limit, bytes */

void gt_bookmarks_release(struct gt_bookmarks *b)
{
	free(b->list);
	free(b->path);
	*b = (struct gt_bookmarks){ .n = 0 };
}

/* ---- the list ---- */

const struct gt_bookmark *gt_bookmarks_get(const struct gt_bookmarks *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (!strcmp(b->list[i].name, name))
			return &b->list[i];
	return NULL;
}

bool gt_bookmarks_remove(struct gt_bookmarks *b, const char *name)
{
	const struct gt_bookmark *one = gt_bookmarks_get(b, name);
	size_t i = one ? (size_t)(one - b->list) : 0;

	if (!one)
		return false;
	memmove(&b->list[i], &b->list[i + 1], (--b->n - i) * sizeof(*b->list));
	return true;
}

static int by_time(const void *pa, const void *pb)
{
	const struct gt_bookmark *a = pa, *b = pb;

	return GT_COMPARE(a->at, b->at) ?: strcmp(a->name, b->name);
}

int gt_bookmarks_set(
	struct gt_bookmarks *b, const char *name, int64_t at, unsigned shift, struct gt_err *err)
{
	struct gt_bookmark one = { .at = at, .shift = shift < 63 ? shift : 62 };

	snprintf(one.name, sizeof(one.name), "%.*s", GT_BOOKMARK_NAME - 1,
		name + strspn(name, " \t"));
	for (char *c = one.name; *c; c++)
		*c = (unsigned char)*c < ' ' || *c == 127 ? ' ' : *c;
	for (size_t n = strlen(one.name); n && one.name[n - 1] == ' ';)
		one.name[--n] = 0;
	if (!one.name[0])
		return gt_err_set(err, -EINVAL, "a bookmark needs a name");
	gt_bookmarks_remove(b, one.name);
	if (b->n == GT_BOOKMARKS_MOST)
		return gt_err_set(
			err, -ENOSPC, "the limit of %u bookmarks is reached", GT_BOOKMARKS_MOST);
	if (gt_grow(&b->list, &b->cap, b->n + 1, sizeof(*b->list)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	b->list[b->n++] = one;
	qsort(b->list, b->n, sizeof(*b->list), by_time);
	return 0;
}

/* ---- paths ---- */

/* Root may run with another user's environment, so root needs a safe path. Of a missing folder, the
 * existing parent is checked. */
static bool is_safe(const char *folder)
{
	char part[PATH_MAX], real[PATH_MAX];
	int code = -ENOENT;

	if (geteuid())
		return true;
	snprintf(part, sizeof(part), "%s", folder);
	for (char *end = part + strlen(part); code == -ENOENT && end; end = strrchr(part, '/')) {
		*end = 0;
		code = gt_safe_path(*part ? part : "/", real, NULL);
	}
	return !code;
}

/* The path in the state folder: the trace's full path with '%' for '/'. new: free it; NULL: there
 * is none. */
static char *own_path(const char *trace)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool given = state && *state == '/';
	char *full = realpath(trace, NULL), *path = NULL;

	if (full && (given || (home && *home == '/')) && is_safe(given ? state : home)) {
		for (char *c = full; *c; c++)
			*c = *c == '/' ? '%' : *c;
		if (asprintf(&path, "%s%s/gt/%s.gtmarks", given ? state : home,
			    given ? "" : "/.local/state", full) < 0)
			path = NULL;
	}
	free(full);
	return path;
}

static char *path_beside(const char *trace)
{
	char *path;

	return asprintf(&path, "%s.gtmarks", trace) < 0 ? NULL : path;
}

/* ---- reading ---- */

/* "12345 20 name" */
static bool read_line(struct gt_bookmarks *b, const char *line)
{
	char *end, *name;
	long long at;
	unsigned long shift;

	errno = 0;
	at = strtoll(line, &end, 10);
	if (end == line || *end != ' ' || errno)
		return false;
	if (at < -GT_TIME_MAX || at > GT_TIME_MAX)
		return false;
	shift = strtoul(end + 1, &name, 10);
	return name != end + 1 && *name == ' ' && !errno && shift < 63 &&
		!gt_bookmarks_set(b, name + 1, at, (unsigned)shift, NULL);
}

/* Reads at most FILE_MOST bytes. 1: read, 0: no file, negative. */
static int read_text(const char *path, struct gt_buf *text, struct stat *st, struct gt_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = 0;
	uint8_t *to;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			? 0
			: gt_err_set(err, -errno, "%.120s: %s", path, strerror(errno));
	if (fstat(fd, st) || !S_ISREG(st->st_mode)) {
		close(fd);
		return gt_err_set(
			err, -EILSEQ, "%.120s is not a bookmark file: it is not changed", path);
	}
	to = gt_buf_reserve(text, FILE_MOST + 1);
	while (to && text->len < FILE_MOST &&
		(n = read(fd, to + text->len, FILE_MOST - text->len)) > 0)
		text->len += (size_t)n;
	close(fd);
	if (!to)
		return gt_err_set(err, -ENOMEM, "out of memory");
	to[text->len] = 0;
	return n < 0 ? gt_err_set(err, -EIO, "%.120s cannot be read", path) : 1;
}

/* 1: the file exists. */
static int load(struct gt_bookmarks *b, const char *path, size_t *strange, struct gt_err *err)
{
	struct gt_buf text = { .len = 0 };
	int rc = path ? read_text(path, &text, &b->file, err) : 0;
	char *line, *save = NULL;

	if (rc > 0 && text.len &&
		(strncmp((char *)text.data, HEADING "\n", strlen(HEADING) + 1) ||
			strlen((char *)text.data) != text.len))
		rc = gt_err_set(
			err, -EILSEQ, "%.120s is not a bookmark file: it is not changed", path);
	line = rc > 0 ? strtok_r((char *)text.data, "\n", &save) : NULL;
	while (line && (line = strtok_r(NULL, "\n", &save)))
		*strange += !read_line(b, line);
	gt_buf_release(&text);
	return rc;
}

int gt_bookmarks_load(
	struct gt_bookmarks *b, const char *trace, size_t *strange, struct gt_err *err)
{
	char *near = path_beside(trace), *own = own_path(trace);
	int rc;

	*strange = 0;
	rc = load(b, own, strange, err);
	if (rc > 0)
		b->path = own, own = NULL;
	else if (!rc)
		rc = load(b, near, strange, err);
	if (rc > 0 && !b->path)
		b->path = near, near = NULL;
	b->unreadable = rc < 0;
	free(near);
	free(own);
	return rc < 0 ? rc : 0;
}

void gt_bookmarks_reload(struct gt_bookmarks *b, const char *trace)
{
	struct gt_bookmarks now = { .n = 0 };
	struct gt_err err = GT_ERR_INIT;
	size_t strange;
	int rc = b->unsaved ? 0 : gt_bookmarks_load(&now, trace, &strange, &err);

	b->unreadable |= rc < 0;
	if (!rc && !b->unsaved) {
		gt_bookmarks_release(b);
		*b = now;
	} else {
		gt_bookmarks_release(&now);
	}
}

/* ---- writing ---- */

static int write_all(int fd, const struct gt_bookmarks *b)
{
	struct gt_buf text = { .len = 0 };
	ssize_t n;
	int rc;

	gt_buf_str(&text, HEADING "\n");
	for (size_t i = 0; i < b->n; i++)
		gt_buf_printf(&text, "%" PRId64 " %u %s\n", b->list[i].at, b->list[i].shift,
			b->list[i].name);
	n = text.failed ? 0 : write(fd, text.data, text.len);
	rc = text.failed ? -ENOMEM : n < 0 ? -errno : n == (ssize_t)text.len ? 0 : -ENOSPC;
	gt_buf_release(&text);
	return rc;
}

/* Writes a temporary file and renames it. */
static int save_to(struct gt_bookmarks *b, const char *path)
{
	struct stat st;
	char *new;
	int fd, rc;

	if (asprintf(&new, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(new, O_CLOEXEC);
	rc = fd < 0 ? -errno : 0;
	if (!rc) {
		rc = write_all(fd, b);
		rc = fchmod(fd, 0644) && !rc ? -errno : rc;
		rc = fstat(fd, &st) && !rc ? -errno : rc;
		rc = close(fd) && !rc ? -errno : rc;
		if (!rc && rename(new, path))
			rc = -errno;
		if (rc)
			unlink(new);
		else
			b->file = st;
	}
	free(new);
	return rc;
}

/* Makes the missing folders of a path. */
static void make_folders(char *path)
{
	for (char *c = strchr(path + 1, '/'); c; c = strchr(c + 1, '/')) {
		*c = 0;
		mkdir(path, 0700);
		*c = '/';
	}
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
		a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Without the user's own file, the bookmarks beside the trace would reappear. */
static bool hides_others(const struct gt_bookmarks *b, const char *trace)
{
	char *near = b->path ? path_beside(trace) : NULL;
	struct stat st;
	bool hides = b->path && (!near || (strcmp(b->path, near) && !lstat(near, &st)));

	free(near);
	return hides;
}

/* Removes the file of an empty list; of a symbolic link only the link. 0; 1: the file cannot be
 * removed; negative: it is not the file that was read. */
static int remove_file(struct gt_bookmarks *b, struct gt_err *err)
{
	struct stat st;
	bool there = b->path && !stat(b->path, &st);

	if (b->path && !there && errno != ENOENT && errno != ENOTDIR)
		return 1;
	if (there && !is_same_file(&b->file, &st))
		return gt_err_set(
			err, -ESTALE, "another program changed the bookmarks: nothing was removed");
	if (there && unlink(b->path))
		return 1;
	free(b->path);
	b->path = NULL;
	return 0;
}

/* Writes where the bookmarks were found, else into the state folder. */
static int write_file(struct gt_bookmarks *b, const char *trace, struct gt_err *err)
{
	char *path = b->path ? strdup(b->path) : path_beside(trace);
	int rc = path ? save_to(b, path) : -ENOMEM;

	if (rc) {
		char *own = own_path(trace);

		if (own && (!b->path || strcmp(own, b->path))) {
			make_folders(own);
			rc = save_to(b, own);
			free(path);
			path = own;
		} else {
			free(own);
		}
	}
	if (rc)
		gt_err_set(err, rc, "bookmarks could not be written to %.100s: %s",
			path ? path : trace, strerror(-rc));
	free(rc ? path : b->path);
	if (!rc)
		b->path = path;
	return rc;
}

int gt_bookmarks_save(struct gt_bookmarks *b, const char *trace, struct gt_err *err)
{
	int rc = 1;

	if (b->unreadable) {
		b->unsaved = true;
		return gt_err_set(
			err, -EILSEQ, "the bookmark file cannot be read: it is not changed");
	}
	if (!b->n && !hides_others(b, trace))
		rc = remove_file(b, err);
	if (rc > 0)
		rc = write_file(b, trace, err);
	b->unsaved = rc && rc != -ESTALE;
	if (rc == -ESTALE)
		gt_bookmarks_reload(b, trace);
	return rc;
}
