#include "formats/os/safe_path.h"

#include <stdio.h>
#include <stdlib.h>

int gt_safe_path(const char *path, char real[PATH_MAX], struct gt_err *err)
{
	char unsafe[PATH_MAX];
	struct stat st;
	int code;

	if (!realpath(path, real))
		return gt_err_set(err, -errno, "%.100s: %s", path, strerror(errno));
	strcpy(unsafe, real);
	code = gt_safe_path_cut(unsafe, &st);
	if (code == -EPERM && st.st_mode & 022)
		return gt_err_set(err, code, "other users may write to %.100s", unsafe);
	if (code == -EPERM)
		return gt_err_set(
			err, code, "%.100s belongs to user %u", unsafe, (unsigned)st.st_uid);
	return code ? gt_err_set(err, code, "%.100s: %s", unsafe, strerror(-code)) : 0;
}

static int make_folder(const char *path, char real[PATH_MAX], struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	int code = gt_safe_path(path, real, &why);

	if (code == -ENOENT && !mkdir(path, 0700))
		return gt_safe_path(path, real, err);
	return code ? gt_err_set(err, code, "%s", why.text) : 0;
}

int gt_safe_folder(const char *path, char real[PATH_MAX], struct gt_err *err)
{
	size_t end, from = strspn(path, "/");
	int code = gt_safe_path("/", real, err);
	char part[PATH_MAX];

	for (; !code && path[from]; from = end + strspn(path + end, "/")) {
		end = from + strcspn(path + from, "/");
		if (end >= sizeof(part))
			return gt_err_set(
				err, -ENAMETOOLONG, "%.100s: %s", path, strerror(ENAMETOOLONG));
		memcpy(part, path, end);
		part[end] = 0;
		code = make_folder(part, real, err);
	}
	return code;
}
