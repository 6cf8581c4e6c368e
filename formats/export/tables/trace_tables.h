/* A trace as tables with the names and columns of Nsight Systems' exports (sqlite, parquetdir,
 * arrowdir), so that queries and notebooks written for those run. What Nsight has no table for is
 * in tables that begin with GT_, and in `metadata`. trace_tables.c describes the tables, each with
 * its columns and where their values come from; trace_table_rows.c makes their rows from a trace;
 * Parquet, Arrow and SQLite write what both say.
 *
 * Times are ns since the start of the trace. A name is a number of the table StringIds. A process
 * is a globalPid, a thread a globalTid: (segment + 1) << 48 | pid << 24 | tid. A process or thread
 * whose id does not fit into 24 bits gets a free number; GT_TRACKS has the id. */
#ifndef GT_TRACE_TABLES_H
#define GT_TRACE_TABLES_H
#include "formats/export/exporters.h"

/* A whole number without a value. Such a number in a trace is written as no value, too. */
#define GT_TABLE_NULL INT64_MIN
#define GT_TABLE_COLUMNS 32u /* of a table, at most */
#define GT_TABLE_ROWS 16384u /* of a batch, at most */

enum gt_column_type { GT_COLUMN_INT, GT_COLUMN_REAL, GT_COLUMN_TEXT };
/* Where the value of a column comes from. FIELD: the first field with the role `role`; NTH: the
 * `nth` field with it. The rows of tables with GIVEN columns are made one by one
 * (trace_table_lists.c).
 */
enum gt_column_source {
	GT_FROM_NOTHING, /* the trace does not have it: NULL */
	GT_FROM_START,
	GT_FROM_ENDING, /* NULL: the call did not return */
	GT_FROM_DEVICE,
	GT_FROM_CONTEXT,
	GT_FROM_STREAM,
	GT_FROM_CORRELATION,
	GT_FROM_GLOBAL_PID,
	GT_FROM_GLOBAL_TID,
	GT_FROM_NAME,
	GT_FROM_DEMANGLED,
	GT_FROM_SHORT_NAME,
	GT_FROM_RET,
	GT_FROM_DEPTH,
	GT_FROM_FIELD,
	GT_FROM_NAMED,  /* the field with this name: column.field */
	GT_FROM_STRING, /* as NAMED; the field is a string */
	GT_FROM_STACK,
	GT_FROM_COPY_KIND,
	GT_FROM_MEMORY_KIND, /* of the field with the role */
	GT_FROM_SYNC_TYPE,
	GT_FROM_EVENT_CLASS,
	GT_FROM_RANGE_TYPE,
	GT_FROM_TRACK,
	GT_FROM_KIND_WORD,
	GT_FROM_CATEGORY_WORD,
	GT_FROM_LAYER_WORD,
	GT_FROM_OPERATION_WORD,
	GT_FROM_MEMORY_WORD,     /* of the type: what kind of memory it allocates or counts */
	GT_FROM_VALUE,           /* of a counter */
	GT_FROM_VALUE_KIND_WORD, /* the same: unsigned, integer or real */
	GT_FROM_SCOPE_WORD,
	GT_FROM_COUNT, /* of a loss */
	GT_FROM_LIST
};
/* needed: never NULL (0 if the trace lacks it). sorted: values are close to those before, as times
 * are. key: the primary key of the table. */
struct gt_table_column {
	const char *name;
	uint8_t type, from, role, nth;
	bool needed, sorted, key;
	const char *field;
};
struct gt_trace_table {
	const char *name;
	const struct gt_table_column *columns;
	unsigned ncolumns;
	/* is it a row of this table? NULL: the table is a list */
	bool (*has)(enum gt_kind kind, const struct gt_type *type);
};
extern const struct gt_trace_table gt_trace_tables[];
extern const unsigned gt_trace_tables_count;
#define GT_TRACE_TABLES_MAX 48u
/* The number of the table with this name, or GT_NONE. */
uint32_t gt_trace_table_find(const char *name);
/* The table for rows of this kind and type; type may be NULL for a loss. GT_NONE: none. */
uint32_t gt_trace_table_of(enum gt_kind kind, const struct gt_type *type);

/* Rows of one table, in columns. REAL: the bits of doubles. TEXT: indices of texts. */
struct gt_table_batch {
	const struct gt_trace_table *table;
	uint32_t number, n; /* of the table, of rows */
	int64_t *columns[GT_TABLE_COLUMNS];
	struct gt_string *texts; /* UTF-8 without zeros */
	uint32_t ntexts;
};
/* Takes a batch, borrowed for the call. Batches of different tables come in any order. 0 or
 * negative with err filled in. */
typedef int gt_table_sink(void *arg, const struct gt_table_batch *batch, struct gt_err *err);
/* Passes the rows that opt selects to sink. 0 or negative. A table without rows has no batch; the
 * exporters write its columns if opt->tables names it. */
int gt_trace_tables_write(struct gt_reader *r, const struct gt_export_options *opt,
	gt_table_sink *sink, void *arg, struct gt_err *err);
#endif
