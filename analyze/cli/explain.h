/* Prints the terms of all reports: --explain. */
#ifndef GT_EXPLAIN_H
#define GT_EXPLAIN_H
#include "analyze/core/analysis.h"
#include "formats/io/stream_out.h"

/* Prints the terms that all reports share, and the question that each of these reports answers. */
void gt_explain(const struct gt_analysis *const *chosen, unsigned n, struct gt_out *out);
#endif
