/* Writes an Arrow IPC stream of one table:
 * https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format
 * A schema, whose metadata has the table's name as `table_name`, a record batch for each batch, and
 * the mark of the end. Nothing is compressed. */
#ifndef GT_ARROW_STREAM_H
#define GT_ARROW_STREAM_H
#include "formats/export/tables/trace_tables.h"

/* Each: 0 or negative. */
int gt_arrow_schema(const struct gt_trace_table *table, struct gt_out *out, struct gt_err *err);
int gt_arrow_batch(const struct gt_table_batch *batch, struct gt_out *out, struct gt_err *err);
int gt_arrow_end(struct gt_out *out);
#endif
