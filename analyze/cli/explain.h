/* Prints the terms of all reports (--explain), and the list of reports (--list). */
#ifndef GT_EXPLAIN_H
#define GT_EXPLAIN_H
#include "analyze/core/analysis.h"
#include "formats/io/stream_out.h"
#include "formats/table/table.h"

/* Prints the terms that all reports share, and the question that each of these reports answers. */
void gt_explain(const struct gt_analysis *const *chosen, unsigned n, struct gt_out *out);
/* The width of lines of words on `out`, and a text in such lines: `first` before the first line, as
 * many blanks before the others. */
size_t gt_explain_width(struct gt_out *out);
void gt_explain_put_words(struct gt_out *out, size_t width, const char *first, const char *text);
/* 0 or negative */
int gt_list_reports(enum gt_table_format format, struct gt_out *out, struct gt_err *err);
#endif
