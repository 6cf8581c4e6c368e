#define _GNU_SOURCE
#include "collect/ipc/process_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define PLACES 64u /* bits of gt_name_places */
#define GLOB_MAX 255u

/* ---- names ---- */

/* How many bytes of the glob are its next character: "x", "?", "\\x" or "[...]". */
static size_t length_of_character(const char *glob)
{
	const char *p = glob + 1;

	if (*glob == '\\')
		return glob[1] ? 2 : 1;
	if (*glob != '[')
		return 1;
	p += *p == '!' || *p == '^';
	do { /* a bracket at the begin is one of the characters */
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '[' && (p[1] == ':' || p[1] == '=' || p[1] == '.')) {
			const char end[] = { p[1], ']', 0 }, *to = strstr(p + 2, end);

			p = to ? to + 1 : p;
		}
		if (!*p)
			return 1; /* without an end it is the character '[' */
		p++;
	} while (*p != ']');
	return (size_t)(p - glob) + 1;
}

static void add_character(struct gt_process_filter *f, const char *glob, size_t n, unsigned place)
{
	char one[GLOB_MAX + 2] = "", text[2] = "";

	memcpy(one, n == 1 && *glob == '[' ? "\\[" : glob, n == 1 && *glob == '[' ? 2 : n);
	for (unsigned c = 1; c < 256; c++) {
		*text = (char)c;
		if (!fnmatch(one, text, 0))
			f->accepts[c] |= 1ull << place;
	}
}

/* place: of the first character; it becomes that of the next glob's. */
static int add_glob(
	struct gt_process_filter *f, const char *glob, unsigned *place, struct gt_err *err)
{
	unsigned at = *place, end = at + GT_PROCESS_NAME - 1;

	if (!*glob)
		return gt_err_set(err, -EINVAL, "--comm '': the name is empty");
	if (strlen(glob) > GLOB_MAX)
		return gt_err_set(err, -EINVAL, "--comm %.40s... is too long", glob);
	for (const char *p = glob; *p && at < PLACES;) {
		size_t n = length_of_character(p);

		if (*p == '*')
			f->repeats |= 1ull << at;
		else if (at == end)
			return gt_err_set(err, -EINVAL,
				"--comm %.200s matches no process: a name has at most %d characters",
				glob, GT_PROCESS_NAME - 1);
		else
			add_character(f, p, n, at++);
		p += n;
	}
	if (at >= PLACES)
		return gt_err_set(err, -EINVAL,
			"--comm %.200s: the names are too long together: %u characters are possible",
			glob, PLACES - 1);
	f->first |= 1ull << *place;
	f->last |= 1ull << at;
	*place = at + 1;
	return 0;
}

/* ---- cgroup ---- */

static void set_parent(struct gt_process_filter *f, const char *real, dev_t device)
{
	const char *name = strrchr(real, '/') + 1;
	char above[PATH_MAX + 4];
	struct stat st;

	snprintf(above, sizeof(above), "%s/..", real);
	if (strlen(name) >= sizeof(f->name) || stat(above, &st) || st.st_dev != device)
		return;
	f->parent = st.st_ino;
	memcpy(f->name, name, strlen(name));
}

static int set_cgroup(struct gt_process_filter *f, const char *folder, struct gt_err *err)
{
	char real[PATH_MAX];
	struct statfs fs;
	struct stat st;

	if (!realpath(folder, real) || stat(real, &st) || statfs(real, &fs))
		return gt_err_set(err, -EINVAL, "--cgroup %.200s: %s", folder, strerror(errno));
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode))
		return gt_err_set(err, -EINVAL,
			"--cgroup %.200s is no folder of cgroup v2 (on most systems they are below /sys/fs/cgroup)",
			folder);
	f->cgroup = st.st_ino;
	set_parent(f, real, st.st_dev);
	return 0;
}

/* ---- both ---- */

int gt_process_filter_init(struct gt_process_filter *f, const struct gt_opt_list *names,
	const char *folder, struct gt_err *err)
{
	unsigned place = 0;
	int rc = 0;

	*f = (struct gt_process_filter){ 0 };
	for (size_t i = 0; !rc && i < names->n; i++)
		rc = add_glob(f, names->items[i], &place, err);
	return rc || !folder ? rc : set_cgroup(f, folder, err);
}

bool gt_process_filter_selects(const struct gt_process_filter *f) { return f->first || f->cgroup; }
