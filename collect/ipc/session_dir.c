/* LD_PRELOAD names the installed library, which outlives the session: a program that goes on
 * running can start others, under any user. The folder has a link or a copy of the library in two
 * cases only: LD_PRELOAD cannot name the installed one (the list is split at colons and blanks),
 * or root's program could become a user who may not read it there.
 *
 * The folder is in a place where no other user can rename it (safe_path.h): such a user could put
 * another library there. */
#define _GNU_SOURCE
#include "collect/ipc/session_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include "formats/os/program_folder.h"
#include "formats/os/safe_path.h"

#define LIBRARY "libgtpreload.so"
#define PREFIX "gt-session-"
#define SEPARATORS ": \t\n$" /* separators of LD_PRELOAD, and the loader's expansion character */

/* ---- the library ---- */

static int library_from_environment(const char *given, char *path, size_t size, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	char real[PATH_MAX];

	if (access(given, R_OK))
		return gt_err_set(err, -ENOENT, "GT_GUEST=%.120s: %s", given, strerror(errno));
	if (!geteuid() && gt_safe_path(given, real, &why))
		return gt_err_set(err, -EPERM, "GT_GUEST=%.60s: %.110s", given, why.text);
	snprintf(path, size, "%s", geteuid() ? given : real);
	return 0;
}

int gt_session_library(char *path, size_t size, struct gt_err *err)
{
	static const char *const places[] = { "%s/" LIBRARY, "%s/../lib/gt/" LIBRARY,
		"%s/../lib/" LIBRARY };
	char self[4096], found[4096 + 64];
	const char *given = getenv("GT_GUEST");

	if (given && *given)
		return library_from_environment(given, path, size, err);
	gt_program_folder(self, sizeof(self));
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(found, sizeof(found), places[i], self);
		if (!access(found, R_OK) && strlen(found) < size) {
			strcpy(path, found);
			return 0;
		}
	}
	return gt_err_set(err, -ENOENT,
		LIBRARY " is neither in %.80s nor in its ../lib/gt; GT_GUEST may name it", self);
}

/* True: every user may read this file or enter this folder. The path contains no links. */
static bool is_reachable_by_all(char *real)
{
	bool may = true, last = false;
	struct stat st;

	for (char *end = real; may && !last;) {
		end += 1 + strcspn(end + 1, "/");
		last = !*end;
		*end = 0;
		may = !stat(real, &st) && st.st_mode & (S_ISDIR(st.st_mode) ? S_IXOTH : S_IROTH);
		if (!last)
			*end = '/';
	}
	return may;
}

static int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	struct stat st;
	ssize_t n = 0;
	int code = in < 0 || out < 0 || fstat(in, &st) || fchmod(out, 0755) ? -errno : 0;

	for (off_t at = 0; !code && at < st.st_size; at += n) {
		n = sendfile(out, in, NULL, (size_t)(st.st_size - at));
		if (n <= 0)
			code = n ? -errno : -EIO;
	}
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && !code)
		code = -errno;
	return code;
}

/* ---- removal ---- */

static bool file_contains(const char *path, const char *text)
{
	static char bytes[256 << 10];
	size_t keep = 0, length = strlen(text);
	bool found = false;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (!found && (n = read(fd, bytes + keep, sizeof(bytes) - keep)) > 0) {
		keep += (size_t)n;
		found = memmem(bytes, keep, text, length);
		if (keep > length) {
			memmove(bytes, bytes + keep - length, length);
			keep = length;
		}
	}
	close(fd);
	return found;
}

/* True: a running process has this folder in its environment, or a library from it in its memory.
 * A daemon may have overwritten its environment. */
static bool is_in_use(const char *dir)
{
	struct dirent *e;
	bool used = false;
	DIR *proc = opendir("/proc");
	char path[64];

	while (proc && !used && (e = readdir(proc))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/environ", e->d_name);
		used = file_contains(path, dir);
		snprintf(path, sizeof(path), "/proc/%.20s/maps", e->d_name);
		used = used || file_contains(path, dir);
	}
	if (proc)
		closedir(proc);
	return used;
}

static void remove_dir(const char *dir)
{
	char path[GT_SESSION_PATH + 32];

	snprintf(path, sizeof(path), "%s/sock", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/" LIBRARY, dir);
	if (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) && is_in_use(dir))
		return;
	unlink(path);
	rmdir(dir);
}

/* Removes folders of this user that are not locked and one minute old: a killed gtcollect has
 * left them. */
static void remove_stale_dirs(const char *base)
{
	char dir[GT_SESSION_PATH];
	struct dirent *e;
	struct stat st;
	DIR *all = opendir(base);
	int fd;

	while (all && (e = readdir(all))) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) ||
			strlen(e->d_name) != strlen(PREFIX) + 6)
			continue;
		snprintf(dir, sizeof(dir), "%.60s/%.30s", base, e->d_name);
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && st.st_uid == geteuid() && time(NULL) - st.st_mtime > 60 &&
			!flock(fd, LOCK_EX | LOCK_NB))
			remove_dir(dir);
		close(fd);
	}
	if (all)
		closedir(all);
}

void gt_session_dir_remove(struct gt_session_dir *d)
{
	if (d->path[0])
		remove_dir(d->path);
	d->path[0] = 0;
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

/* ---- the folder ---- */

/* Requirements for the place of the folder. */
struct dir_needs {
	bool all_reach;   /* every user may enter it: a program may become another user */
	bool can_execute; /* a library can be loaded from it */
};

static bool can_execute(const char *path)
{
	struct statvfs fs;

	return !statvfs(path, &fs) && !(fs.f_flag & ST_NOEXEC);
}

static int make_in(
	struct gt_session_dir *d, const char *base, struct dir_needs dir_needs, struct gt_err *err)
{
	char real[PATH_MAX];
	int code = gt_safe_path(base, real, err);

	if (code)
		return code;
	if (strpbrk(real, SEPARATORS) || strlen(real) > 60)
		return gt_err_set(err, -ENAMETOOLONG,
			"%.100s: its path is too long or has a blank, a colon or a dollar sign",
			real);
	if ((dir_needs.all_reach && !is_reachable_by_all(real)) ||
		(dir_needs.can_execute && !can_execute(real)))
		return gt_err_set(
			err, -EACCES, "%.100s: the program cannot use it as another user", real);
	remove_stale_dirs(real);
	snprintf(d->path, sizeof(d->path), "%.60s/" PREFIX "XXXXXX", real[1] ? real : "");
	if (!mkdtemp(d->path)) {
		d->path[0] = 0;
		return gt_err_set(err, -errno, "%.100s: %s", real, strerror(errno));
	}
	if (dir_needs.all_reach)
		chmod(d->path, 0711);
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd >= 0)
		flock(d->fd, LOCK_EX);
	return 0;
}

/* Makes the folder in the first place that meets all needs, else in the first possible one. err:
 * why the last place is not possible. */
static int make_dir(struct gt_session_dir *d, struct dir_needs dir_needs, struct gt_err *err)
{
	const char *bases[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/run", "/tmp" };
	struct gt_err why = GT_ERR_INIT;

	d->path[0] = 0;
	d->fd = -1;
	for (unsigned i = 0; i < 8; i++) {
		const char *base = bases[i % 4];

		why = (struct gt_err)GT_ERR_INIT;
		if (i == 4)
			dir_needs = (struct dir_needs){ false, false };
		if (base && base[0] == '/' && !make_in(d, base, dir_needs, &why))
			return 0;
	}
	return gt_err_set(err, why.code,
		"no folder for the session can be made in "
		"$XDG_RUNTIME_DIR, $TMPDIR, /run or /tmp: %.100s",
		why.text);
}

int gt_session_base(char base[GT_SESSION_PATH], struct gt_err *err)
{
	struct gt_session_dir d;
	int code = make_dir(&d, (struct dir_needs){ .all_reach = !geteuid() }, err);

	if (code)
		return code;
	snprintf(base, GT_SESSION_PATH, "%s", d.path);
	*strrchr(base, '/') = 0;
	gt_session_dir_remove(&d);
	return 0;
}

int gt_session_dir_make(struct gt_session_dir *d, struct gt_err *err)
{
	char library[4200], real[PATH_MAX];
	bool in_place;
	int code = gt_session_library(library, sizeof(library), err);

	d->path[0] = 0;
	d->fd = -1;
	if (code)
		return code;
	if (!realpath(library, real))
		return gt_err_set(err, -errno, "%.100s: %s", library, strerror(errno));
	/* only root's program can become another user without losing LD_PRELOAD */
	in_place = !strpbrk(real, SEPARATORS) && (geteuid() || is_reachable_by_all(real));
	code = make_dir(
		d, (struct dir_needs){ .all_reach = !geteuid(), .can_execute = !in_place }, err);
	if (code)
		return code;
	snprintf(d->library, sizeof(d->library), "%s/" LIBRARY, d->path);
	if (in_place)
		strcpy(d->library, real);
	else if (can_execute(d->path))
		code = copy_file(real, d->library);
	else
		code = symlink(real, d->library) ? -errno : 0;
	return code ? gt_err_set(err, code, "%.100s: %s", d->library, strerror(-code)) : 0;
}
