/* Parquet files as tables of a SQLite database in memory, so that what reads Nsight's tables by SQL
 * reads these, too. A table is a virtual one, read-only, and scanned from its first to its last
 * row; a scan opens the file and reads only the columns that the statement has. */
#ifndef GT_PARQUET_TABLES_H
#define GT_PARQUET_TABLES_H
#include <sqlite3.h>
#include "formats/base/err.h"

#define GT_PARQUET_SUFFIX ".parquet"

struct gt_parquet_tables {
	sqlite3 *db;       /* closed by gt_parquet_tables_close() */
	int file;          /* the file of all tables, borrowed; or -1 */
	int folder;        /* the folder with TABLE.parquet, borrowed; or -1 */
	uint64_t nested;   /* columns that are not in a table because they are nested */
	struct gt_err err; /* of the last scan; it names the file of a folder */
};
/* Opens the database, without tables. 0 or negative. */
int gt_parquet_tables_open(struct gt_parquet_tables *t, struct gt_err *err);
/* Adds a table. 0 or negative. */
int gt_parquet_tables_add(struct gt_parquet_tables *t, const char *name, struct gt_err *err);
void gt_parquet_tables_close(struct gt_parquet_tables *t);
#endif
