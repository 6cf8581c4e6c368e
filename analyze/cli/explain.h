/* Prints the terms of all reports (--explain), and the list of reports (--list). */
#ifndef GT_EXPLAIN_H
#define GT_EXPLAIN_H
#include "analyze/core/analysis.h"
#include "formats/io/stream_out.h"
#include "formats/table/table.h"

/* Prints the terms that all reports share, and the question that each of these reports answers. */
void gt_explain(const struct gt_analysis *const *chosen, unsigned n, struct gt_out *out);
/* 0 or negative */
int gt_list_reports(enum gt_table_format format, struct gt_out *out, struct gt_err *err);
#endif
