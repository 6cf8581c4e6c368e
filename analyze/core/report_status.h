/* Says why a report has no answer, or no rows, in the same way for all reports. */
#ifndef GT_REPORT_STATUS_H
#define GT_REPORT_STATUS_H
#include "analyze/core/report.h"

/* Is there no GPU record although events were lost? All GPU records may be among the lost ones. */
bool gt_has_lost_work(struct gt_reader *r);
/* Why there is no figure of these layers (GT_BIT(enum gt_layer) | ...): none was recorded, or
 * all of it may be lost. NULL: there are figures. */
const char *gt_why_unrecorded(struct gt_reader *r, unsigned layers);
/* If the table has no rows, and none of these layers (GT_BIT(enum gt_layer); ~0: any) was
 * recorded or names were left out while recording: notes that. */
void gt_note_unrecorded(struct gt_table *t, struct gt_reader *r, unsigned layers);
/* Why there is no GPU operation at all, for a report that needs one. */
const char *gt_why_no_work(const struct gt_report_state *a);
/* Why --tid leaves out all GPU operations. NULL: it does not, or that is not the reason. */
const char *gt_why_tid_excludes_work(const struct gt_report_state *a);
/* Does the selected time range leave out the beginning of a recording; its end? */
bool gt_begins_late(const struct gt_report_state *a);
bool gt_ends_early(const struct gt_report_state *a);
/* Would filter.match make the figures of this report wrong? It gets no rows then. */
bool gt_is_blocked_by_match(const struct gt_analysis *a, const struct gt_analysis_options *opt);
/* For each of the n tables of finish() that has no rows: adds the reason. Either the data was not
 * recorded ("cannot answer"), or nothing happened. */
void gt_explain_empty_tables(const struct gt_analysis *of, const struct gt_report_state *a,
	struct gt_table *const *tables, unsigned n);
#endif
