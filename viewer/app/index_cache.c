#include "viewer/app/index_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/os/safe_path.h"
#include "formats/trace/wire.h"

#define UNFINISHED ".new-" /* prefix of the names of incomplete copies */
/* version of a copy's content besides the trace format; an increase invalidates old copies */
#define VERSION 2

/* ---- names ---- */

static uint64_t fnv(uint64_t h, const char *text)
{
	while (*text)
		h = (h ^ (uint8_t)*text++) * 0x100000001b3ull;
	return h;
}

void gt_index_cache_key(struct gt_index_cache_key *k, const char *path, const struct stat *of)
{
	char rest[200];

	snprintf(rest, sizeof(rest), "|%" PRIx64 "|%" PRIx64 "|%" PRId64 "|%" PRId64 ".%09ld|%u.%u",
		(uint64_t)of->st_dev, (uint64_t)of->st_ino, (int64_t)of->st_size,
		(int64_t)of->st_mtim.tv_sec, of->st_mtim.tv_nsec, GT_WIRE_VERSION, VERSION);
	snprintf(k->id, sizeof(k->id), "%016" PRIx64 "%016" PRIx64,
		fnv(fnv(0xcbf29ce484222325ull, path), rest),
		fnv(fnv(0x9ae16a3b2f90404full, rest), path));
	snprintf(k->name, sizeof(k->name), "%s" GT_INDEX_CACHE_SUFFIX, k->id);
}

/* Only names of this form are ever removed. */
static bool is_copy(const char *name)
{
	return strspn(name, "0123456789abcdef") == 32 && !strcmp(name + 32, GT_INDEX_CACHE_SUFFIX);
}
static bool is_unfinished(const char *name)
{
	return !strncmp(name, UNFINISHED, strlen(UNFINISHED));
}

/* ---- the folder ---- */

/* The parent folder of the cache. */
static int find_folder(char path[PATH_MAX], struct gt_err *err)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (cache && cache[0] == '/')
		n = snprintf(path, PATH_MAX, "%s", cache);
	else if (home && home[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/.cache", home);
	else
		return gt_err_set(
			err, -ENOENT, "neither XDG_CACHE_HOME nor HOME is an absolute path");
	return n < PATH_MAX ? 0
			    : gt_err_set(err, -ENAMETOOLONG, "the path of the cache is too long");
}

static int open_folder(struct gt_index_cache *c, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	char path[PATH_MAX], real[PATH_MAX];
	int rc = find_folder(path, err);

	if (rc)
		return rc;
	if (gt_safe_folder(path, real, &why))
		return gt_err_set(err, why.code, "cannot use %.80s: %.100s", path, why.text);
	if (snprintf(c->path, sizeof(c->path), "%s/gt", real) >= (int)sizeof(c->path))
		return gt_err_set(err, -ENAMETOOLONG, "the path of the cache is too long");
	if (mkdir(c->path, 0700) && errno != EEXIST)
		rc = -errno;
	if (!rc && (c->folder = open(c->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		rc = -errno;
	return rc ? gt_err_set(err, rc, "cannot use %.120s: %s", c->path, strerror(-rc)) : 0;
}

int gt_index_cache_open(struct gt_index_cache *c, struct gt_err *err)
{
	struct stat st;
	int rc;

	c->folder = -1;
	rc = open_folder(c, err);
	if (rc)
		return rc;
	if (fstat(c->folder, &st) || st.st_uid != geteuid())
		rc = gt_err_set(err, -EPERM, "another user owns %.120s", c->path);
	else if (st.st_mode & 022)
		rc = gt_err_set(err, -EPERM, "other users may write to %.120s", c->path);
	else if (st.st_mode & 055)
		fchmod(c->folder, 0700);
	if (rc)
		gt_index_cache_close(c);
	return rc;
}

void gt_index_cache_close(struct gt_index_cache *c)
{
	if (c->folder >= 0)
		close(c->folder);
	c->folder = -1;
}

/* ---- finding a copy ---- */

int gt_index_cache_find(const struct gt_index_cache *c, const struct gt_index_cache_key *k)
{
	struct stat st;
	int fd = openat(c->folder, k->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -ENOENT;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		!(st.st_mode & 022) && !flock(fd, LOCK_SH | LOCK_NB))
		return fd;
	close(fd);
	return -ENOENT;
}

void gt_index_cache_remove(const struct gt_index_cache *c, const struct gt_index_cache_key *k)
{
	unlinkat(c->folder, k->name, 0);
}

/* ---- a new copy ---- */

int gt_index_cache_begin(
	const struct gt_index_cache *c, struct gt_atomic_file *n, struct gt_err *err)
{
	int rc = gt_atomic_file_create(n, c->folder, UNFINISHED, 0600);

	if (rc)
		return gt_err_set(err, rc, "cannot write to %.120s: %s", c->path, strerror(-rc));
	flock(n->fd, LOCK_SH | LOCK_NB);
	return 0;
}

int gt_index_cache_commit(const struct gt_index_cache *c, struct gt_atomic_file *n,
	const struct gt_index_cache_key *k, struct gt_err *err)
{
	int rc = gt_atomic_file_commit(n, c->folder, UNFINISHED, k->name, true);

	if (rc)
		return gt_err_set(
			err, rc, "cannot store the copy in %.120s: %s", c->path, strerror(-rc));
	fsync(c->folder);
	gt_index_cache_trim(c, GT_INDEX_CACHE_FILES, GT_INDEX_CACHE_BYTES);
	return 0;
}

/* ---- trimming ---- */

struct cached_copy {
	char name[48];
	int64_t used;
	uint64_t bytes;
};

static int by_last_use(const void *pa, const void *pb)
{
	const struct cached_copy *a = pa, *b = pb;

	return GT_COMPARE(a->used, b->used) ?: strcmp(a->name, b->name);
}

/* Every user and writer of a copy holds a lock on it. */
static bool remove_unused(const struct gt_index_cache *c, const char *name)
{
	int fd = openat(c->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool unused = fd < 0 ? errno == ELOOP : !flock(fd, LOCK_EX | LOCK_NB);

	if (unused)
		unused = !unlinkat(c->folder, name, 0);
	if (fd >= 0)
		close(fd);
	return unused;
}

/* Lists the copies; removes incomplete ones of programs that were killed. */
static size_t list(const struct gt_index_cache *c, struct cached_copy **all)
{
	int copy = openat(c->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *e;
	size_t n = 0, cap = 0;
	struct stat st;

	while (dir && (e = readdir(dir))) {
		if (is_unfinished(e->d_name))
			remove_unused(c, e->d_name);
		if (!is_copy(e->d_name) ||
			fstatat(c->folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			S_ISDIR(st.st_mode))
			continue;
		if (gt_grow(all, &cap, n + 1, sizeof(**all)))
			break;
		(*all)[n] = (struct cached_copy){ .used = (int64_t)st.st_mtim.tv_sec * 1000000000 +
				st.st_mtim.tv_nsec,
			.bytes = (uint64_t)st.st_size };
		memcpy((*all)[n++].name, e->d_name, strlen(e->d_name) + 1);
	}
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
	return n;
}

void gt_index_cache_trim(const struct gt_index_cache *c, unsigned files, uint64_t bytes)
{
	struct cached_copy *all = NULL;
	size_t n = list(c, &all), left = n;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += all[i].bytes;
	if (n)
		qsort(all, n, sizeof(*all), by_last_use);
	for (size_t i = 0; i < n && (left > files || sum > bytes); i++)
		if (remove_unused(c, all[i].name)) {
			left--;
			sum -= all[i].bytes;
		}
	free(all);
}
