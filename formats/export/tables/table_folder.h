/* A folder with one file for each table: DIR/TABLE.SUFFIX. Files get their names only when all are
 * complete. */
#ifndef GT_TABLE_FOLDER_H
#define GT_TABLE_FOLDER_H
#include "formats/export/tables/trace_tables.h"

struct gt_table_folder {
	char *path;
	const char *suffix;
	bool created, replace, whole;
	uint64_t most; /* bytes of all files, with which -E2BIG is the result; 0: no limit */
	bool open[GT_TRACE_TABLES_MAX];
	struct gt_out files[GT_TRACE_TABLES_MAX]; /* by table */
};
/* Creates the folder. It may exist if it is empty or with `replace`. 0 or negative. With `whole`,
 * replacing also removes files of tables that the trace does not have. */
int gt_table_folder_open(struct gt_table_folder *f, const char *path, const char *suffix,
	bool replace, bool whole, struct gt_err *err);
/* The file of a table, created at the first call; NULL with err filled in. */
struct gt_out *gt_table_folder_file(struct gt_table_folder *f, uint32_t table, struct gt_err *err);
/* Names the files, or if rc is negative or one failed, removes all. Returns rc, or negative with
 * err filled in. Frees. */
int gt_table_folder_close(struct gt_table_folder *f, int rc, struct gt_err *err);
#endif
