/* Import of Nsight Systems' tables (nsys export --type sqlite, gtexport --sqlite), and of gt's own,
 * which begin with GT_. formats/export/tables/trace_tables.c describes those that gtexport writes.
 *
 * Tables have their rows in any order, have other columns from version to version, and are absent
 * if they would be empty. So rows become records, which are sorted in bounded memory: calls by
 * thread and time, GPU work and its launches by process and correlation id. */
#ifndef GT_IMPORT_NSIGHT_H
#define GT_IMPORT_NSIGHT_H
#include <sqlite3.h>
#include "formats/trace/write/writer.h"

/* The SQL function that gets the columns of each row, while the import runs. */
#define GT_NSIGHT_FUNCTION "gt_nsight_row"
/* Imports the tables of an open database (borrowed; an authorizer must allow GT_NSIGHT_FUNCTION).
 * Each is read by one SELECT of its columns from the first row to the last, so virtual tables
 * without an index or row ids serve, too. Views and virtual tables are read only of a database in
 * memory, which the caller has made: those in a file could do anything. 0 or negative with err
 * filled in. */
int gt_nsight_import_database(sqlite3 *db, struct gt_writer *w, struct gt_err *err);
#endif
