/* Writes a Parquet file of one table: https://parquet.apache.org/docs/file-format/
 *
 * A file has row groups of GT_PARQUET_GROUP rows. In a row group each column is a chunk of pages,
 * one for each batch, compressed by zstd if that pays. Times and the like are differences
 * (DELTA_BINARY_PACKED), all other numbers indices into a dictionary of the chunk while it is
 * small. The chunks of the current row group are in memory, compressed. The footer has the least
 * and the largest value of each chunk of times and numbers, so that readers skip row groups. */
#ifndef GT_PARQUET_FILE_H
#define GT_PARQUET_FILE_H
#include "formats/export/tables/trace_tables.h"

#define GT_PARQUET_GROUP (64 * GT_TABLE_ROWS)

struct gt_parquet;
/* Begins a file in `out`, which is borrowed. new: close it. NULL: no memory. */
struct gt_parquet *gt_parquet_open(const struct gt_trace_table *table, struct gt_out *out);
/* Adds the rows of a batch of that table. 0 or negative. */
int gt_parquet_put(struct gt_parquet *p, const struct gt_table_batch *batch, struct gt_err *err);
/* Writes the last row group and the footer. Frees. NULL is fine. 0 or negative. */
int gt_parquet_close(struct gt_parquet *p, struct gt_err *err);
void gt_parquet_abandon(struct gt_parquet *p); /* frees only; NULL is fine */
#endif
