#define _GNU_SOURCE /* versionsort */
#include "analyze/ranks/trace_folders.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "formats/base/buf.h"
#include "formats/import/importers.h"

/* Takes ownership of path. */
static int add(struct gt_files *to, char *path, struct gt_err *err)
{
	if (!path || gt_grow(&to->list, &to->cap, to->n + 1, sizeof(*to->list))) {
		free(path);
		return gt_err_set(err, -ENOMEM, "out of memory (names of the files)");
	}
	to->list[to->n++] = path;
	return 0;
}

static int is_shown(const struct dirent *d) { return d->d_name[0] != '.'; }

static int add_from(struct gt_files *to, const char *folder, const char *name, struct gt_err *err)
{
	size_t len = strlen(folder);
	struct stat st;
	char *path;

	if (asprintf(&path, "%s%s%s", folder, len && folder[len - 1] == '/' ? "" : "/", name) < 0)
		path = NULL;
	if (path && (stat(path, &st) || !S_ISREG(st.st_mode))) {
		free(path);
		return 0;
	}
	if (path && !gt_is_trace(path)) {
		to->left_out++;
		free(path);
		return 0;
	}
	return add(to, path, err);
}

static int add_folder(struct gt_files *to, const char *folder, struct gt_err *err)
{
	struct dirent **found;
	size_t before = to->n;
	int n = scandir(folder, &found, is_shown, versionsort), e = 0;

	if (n < 0)
		return gt_err_set(err, -errno, "cannot read this folder: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		e = e ? e : add_from(to, folder, found[i]->d_name, err);
		free(found[i]);
	}
	free(found);
	return e || to->n > before ? e : gt_err_set(err, -ENOENT, "this folder contains no trace");
}

int gt_files_expand(
	struct gt_files *to, char **operands, int n, const char **bad, struct gt_err *err)
{
	struct stat st;
	int e = 0;

	*bad = NULL;
	for (int i = 0; !e && i < n; i++) {
		bool folder = strcmp(operands[i], "-") && !stat(operands[i], &st) &&
			S_ISDIR(st.st_mode) && !gt_is_trace(operands[i]);

		e = folder ? add_folder(to, operands[i], err) : add(to, strdup(operands[i]), err);
		*bad = e && folder ? operands[i] : NULL;
	}
	return e;
}

void gt_files_release(struct gt_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->list[i]);
	free(f->list);
	*f = (struct gt_files){ 0 };
}
