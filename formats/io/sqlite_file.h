/* SQLite on an open descriptor. SQLite opens no file: no journal, no lock file, no temporary file,
 * and nothing that stands beside the database is read. So a database may be a file without a name,
 * and a database of others cannot make gt read or write anything else. Of a database in WAL mode,
 * what only its -wal file has is not read. */
#ifndef GT_SQLITE_FILE_H
#define GT_SQLITE_FILE_H
#include <sqlite3.h>
#include <stdbool.h>
#include "formats/base/err.h"

/* Opens the database in fd (borrowed until sqlite3_close), for one thread at a time. write: fd is
 * an empty file, open for reading and writing. NULL with err filled in. */
sqlite3 *gt_sqlite_open(int fd, bool write, struct gt_err *err);
/* Sets err to SQLite's last error, or to the error of the file that caused it. Returns its code. */
int gt_sqlite_error(sqlite3 *db, int code, struct gt_err *err);
/* Runs statements without results. 0 or negative. */
int gt_sqlite_run(sqlite3 *db, const char *sql, struct gt_err *err);
#endif
