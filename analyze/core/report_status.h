/* What a report says that has no answer, or nothing to tell, the same for all of them. */
#ifndef GT_REPORT_STATUS_H
#define GT_REPORT_STATUS_H
#include "analyze/core/report.h"

/* Is there nothing of GPUs where something was lost? It may be all that they did. */
bool gt_work_lost(struct gt_reader *r);
/* Why there can be no figure of these layers (GT_BIT(enum gt_layer) | ...): none was recorded, or all of it may be lost; NULL: there can. */
const char *gt_why_unrecorded(struct gt_reader *r, unsigned layers);
/* Says why there can be no figure where none of these layers (GT_BIT(enum gt_layer); ~0: any) was recorded, or names were left out
 * while recording: if so, and if the table has no rows. */
void gt_note_unrecorded(struct gt_table *t, struct gt_reader *r, unsigned layers);
/* Why there is no GPU operation at all, for a report that needs one. */
const char *gt_why_no_work(const struct gt_report_state *a);
/* --tid leaves out what lies on no thread: why there is no work of a GPU, or NULL where that is not why. */
const char *gt_why_tid(const struct gt_report_state *a);
/* Does the time that is chosen leave out the beginning of a recording; its end? */
bool gt_begins_late(const struct gt_report_state *a);
bool gt_ends_early(const struct gt_report_state *a);
/* Is this a report that --match would make wrong? It gets no rows then. */
bool gt_is_blocked_by_match(const struct gt_analysis *a, const struct gt_analysis_options *opt);
/* The n tables of a report, as its finish() left them: says in what has no rows why that is, and tells what cannot be answered from
 * what did not happen. */
void gt_explain_empty_tables(const struct gt_analysis *of, const struct gt_report_state *a, struct gt_table *const *tables, unsigned n);
#endif
