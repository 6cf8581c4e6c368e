/* Parquet exports of Nsight Systems (nsys export --type parquetdir: NAME_pqtdir with TABLE.parquet
 * for each table of its SQLite export) and of gtexport --parquet: a folder, or one of its files.
 * Their tables become those of a SQLite database (parquet_tables.h), which Nsight's importer reads.
 * Of a single file only its own table is read: names are missing without StringIds. Its table is
 * the one that it names in its metadata, or else its file name is that of the table. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/import/importers.h"
#include "formats/import/nsight/import_nsight.h"
#include "formats/import/parquet/parquet_in.h"
#include "formats/import/parquet/parquet_tables.h"
#include "formats/io/stream_in.h"

#define MAGIC "PAR1"
#define FILES_MAX 1000u

/* names_missing: why, or NULL. */
static int import_tables(struct gt_parquet_tables *t, const char *names_missing,
	struct gt_writer *w, struct gt_err *err)
{
	char meta[200];
	int rc = gt_nsight_import_database(t->db, w, err);

	/* SQLite has only the text of an error */
	if (rc == -EILSEQ && t->err.code)
		*err = t->err;
	snprintf(meta, sizeof(meta), "{\"nested_columns\":%llu%s%s%s}",
		(unsigned long long)t->nested, names_missing ? ",\"names_missing\":\"" : "",
		names_missing ? names_missing : "", names_missing ? "\"" : "");
	if (!rc && (t->nested || names_missing))
		rc = gt_writer_meta(w, meta, err);
	return rc ? err->code : 0;
}

/* ---- a file ---- */

/* Sets the table from the name of the file; "" if that is unknown. */
static void table_of_path(const struct gt_in *in, char *table, size_t size)
{
	char link[64], path[PATH_MAX] = "";
	const char *name = gt_in_name(in), *end;
	ssize_t n;

	if ((!name || !strcmp(name, "-")) && gt_in_plain_file(in) >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", gt_in_plain_file(in));
		n = readlink(link, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = 0;
	}
	name = *path || !name ? path : name;
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	end = strcasestr(name, GT_PARQUET_SUFFIX);
	snprintf(table, size, "%.*s", end ? (int)(end - name) : (int)strlen(name), name);
}

/* Sets the table of the file. 0 or negative. */
static int find_table(const struct gt_in *in, int fd, char *table, size_t size, struct gt_err *err)
{
	struct gt_parquet_in *file = gt_parquet_in_open(fd, err);

	if (!file)
		return err->code;
	if (gt_parquet_in_table(file))
		snprintf(table, size, "%s", gt_parquet_in_table(file));
	else
		table_of_path(in, table, size);
	gt_parquet_in_close(file);
	return *table
		? 0
		: gt_err_set(err, -EILSEQ, "a Parquet file that does not say which table it is");
}

static int parquet_import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct gt_parquet_tables t = { .file = gt_in_random_access(in, err), .folder = -1 };
	char table[256] = "";
	int rc = t.file < 0 ? t.file : find_table(in, t.file, table, sizeof(table), err);

	if (!rc)
		rc = gt_parquet_tables_open(&t, err);
	if (!rc)
		rc = gt_parquet_tables_add(&t, table, err);
	if (!rc)
		rc = import_tables(&t,
			strcasecmp(table, "StringIds")
				? "this is one table; the folder has their table, StringIds"
				: NULL,
			w, err);
	gt_parquet_tables_close(&t);
	if (t.file >= 0)
		close(t.file);
	return rc;
}

static int parquet_sniff(const char *head, size_t len)
{
	return len >= strlen(MAGIC) && !memcmp(head, MAGIC, strlen(MAGIC)) ? 100 : 0;
}

/* ---- a folder ---- */

static bool is_parquet(int folder, const char *name)
{
	size_t len = strlen(name), suffix = strlen(GT_PARQUET_SUFFIX);
	struct stat st;

	return len > suffix && name[0] != '.' && !strcmp(name + len - suffix, GT_PARQUET_SUFFIX) &&
		strncasecmp(name, "sqlite_", 7) && !fstatat(folder, name, &st, 0) &&
		S_ISREG(st.st_mode);
}

/* Has it the name of one of Nsight's main tables? Recordings of ranks may be in a folder with other
 * Parquet files. */
static bool is_of_nsight(const char *name)
{
	static const char *const begins[] = { "StringIds.", "CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS.",
		"OSRT_API." };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static DIR *open_list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static bool parquet_is_folder(int folder)
{
	DIR *dir = open_list(folder);
	struct dirent *e;
	bool is = false;

	while (dir && !is && (e = readdir(dir)))
		is = is_of_nsight(e->d_name) && is_parquet(folder, e->d_name);
	if (dir)
		closedir(dir);
	return is;
}

static int add_files(struct gt_parquet_tables *t, DIR *dir, bool *has_names, struct gt_err *err)
{
	char table[256];
	struct dirent *e;
	unsigned n = 0;
	int rc = 0;

	while (!rc && (e = readdir(dir))) {
		if (!is_parquet(t->folder, e->d_name))
			continue;
		if (n++ == FILES_MAX)
			return gt_err_set(err, -E2BIG, "more than %u files", FILES_MAX);
		snprintf(table, sizeof(table), "%.*s",
			(int)(strlen(e->d_name) - strlen(GT_PARQUET_SUFFIX)), e->d_name);
		*has_names |= !strcasecmp(table, "StringIds");
		rc = gt_parquet_tables_add(t, table, err);
	}
	return rc;
}

static int parquet_import_folder(int folder, struct gt_writer *w, struct gt_err *err)
{
	struct gt_parquet_tables t = { .file = -1, .folder = folder };
	DIR *dir = open_list(folder);
	bool has_names = false;
	int rc = dir ? gt_parquet_tables_open(&t, err)
		     : gt_err_set(err, -errno, "cannot list the folder: %s", strerror(errno));

	if (!rc)
		rc = add_files(&t, dir, &has_names, err);
	if (!rc)
		rc = import_tables(
			&t, has_names ? NULL : "the folder has no StringIds.parquet", w, err);
	gt_parquet_tables_close(&t);
	if (dir)
		closedir(dir);
	return rc;
}

const struct gt_importer gt_import_parquet = {
	.name = "parquet",
	.help = "Parquet exports of Nsight Systems and of gtexport --parquet: a folder or a file",
	.sniff = parquet_sniff,
	.import = parquet_import,
	.is_folder = parquet_is_folder,
	.import_folder = parquet_import_folder,
};
