#define _GNU_SOURCE
#include "formats/export/tables/table_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	bool empty = d != NULL;

	while (d && empty && (e = readdir(d)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return empty;
}

int gt_table_folder_open(struct gt_table_folder *f, const char *path, const char *suffix,
	bool replace, bool whole, struct gt_err *err)
{
	struct stat st;

	*f = (struct gt_table_folder){ .suffix = suffix, .replace = replace, .whole = whole };
	if (mkdir(path, 0777) == 0)
		f->created = true;
	else if (errno != EEXIST)
		return gt_err_set(err, -errno, "cannot create %s: %s", path, strerror(errno));
	else if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return gt_err_set(err, -ENOTDIR, "%s is not a folder", path);
	else if (!replace && !is_empty(path))
		return gt_err_set(err, -EEXIST,
			"%s exists and is not empty (use --force to replace its files)", path);
	f->path = strdup(path);
	return f->path ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

static char *file_name(const struct gt_table_folder *f, uint32_t table)
{
	char *name;

	return asprintf(&name, "%s/%s.%s", f->path, gt_trace_tables[table].name, f->suffix) < 0
		? NULL
		: name;
}

struct gt_out *gt_table_folder_file(struct gt_table_folder *f, uint32_t table, struct gt_err *err)
{
	char *name;
	int rc;

	if (f->open[table])
		return &f->files[table];
	name = file_name(f, table);
	rc = name ? gt_out_open(&f->files[table], name, f->replace, err)
		  : gt_err_set(err, -ENOMEM, "out of memory");
	free(name);
	if (!rc && f->most)
		gt_out_limit(&f->files[table], f->most);
	f->open[table] = !rc;
	return rc ? NULL : &f->files[table];
}

static void remove_other_tables(const struct gt_table_folder *f)
{
	for (uint32_t t = 0; t < gt_trace_tables_count; t++) {
		char *name = f->open[t] ? NULL : file_name(f, t);

		if (name)
			unlink(name);
		free(name);
	}
}

/* The bytes of all files. */
static uint64_t count_bytes(struct gt_table_folder *f)
{
	uint64_t bytes = 0;
	struct stat st;

	for (uint32_t t = 0; t < gt_trace_tables_count; t++)
		if (f->open[t] && !fstat(gt_out_fd(&f->files[t]), &st))
			bytes += (uint64_t)st.st_size;
	return bytes;
}

int gt_table_folder_close(struct gt_table_folder *f, int rc, struct gt_err *err)
{
	for (uint32_t t = 0; t < gt_trace_tables_count; t++) {
		if (!f->open[t])
			continue;
		gt_out_flush(&f->files[t]);
		rc = rc ? rc : f->files[t].failed;
	}
	if (!rc && f->most && count_bytes(f) > f->most)
		rc = -E2BIG;
	if (f->path && f->replace && f->whole && !rc)
		remove_other_tables(f);
	for (uint32_t t = 0; t < gt_trace_tables_count; t++) {
		struct gt_err why = GT_ERR_INIT;

		if (!f->open[t])
			continue;
		if (rc)
			gt_out_fail(&f->files[t], rc);
		if (gt_out_close(&f->files[t], &why)) {
			rc = rc ? rc : why.code;
			if (!err->code)
				*err = why;
		}
	}
	if (rc && f->created)
		rmdir(f->path);
	free(f->path);
	return rc;
}
