/* Which reports are asked for, of which files. */
#ifndef GT_REPORT_SELECTION_H
#define GT_REPORT_SELECTION_H
#include "analyze/diff/diff.h"
#include "analyze/diff/gate.h"
#include "analyze/query/histogram_gaps.h"
#include "analyze/query/query.h"
#include "analyze/core/run.h"

/* Zero-initialised. gates, query and histogram are its owner's to release. */
struct gt_report_selection {
	const struct gt_analysis *list[GT_RUN_REPORTS];
	unsigned n;
	bool header;	/* it was asked for, and not only put in front */
	bool in_default_report;	/* no report was named */
	struct gt_diff_request diff;	/* instead of all that, if it compares */
	struct gt_gates gates;
	/* What these reports are asked, and how they go about it; NULL: they are not among them. */
	struct gt_query *query, *histogram;
	struct gt_analysis fitted_query, fitted_histogram;
	struct gt_gap_by gaps_by;	/* of a histogram of gaps, which is no query */
};

/* Reports stand before the files; none named: those of the screen. The header heads everything. Returns the first operand that is a file. */
int gt_select_reports(struct gt_report_selection *c, char **operands, int n);
/* "diff REPORT... A B": likewise. Negative: bad use. */
int gt_select_diff(struct gt_report_selection *c, char **operands, int n, struct gt_err *err);
/* A report at the wrong place, or written wrong, would be taken for a file that is not there: negative. */
int gt_check_files(char **files, int n, struct gt_err *err);
bool gt_is_selected(const struct gt_report_selection *c, const char *report);	/* the header apart */
/* `by` in its place, if it is among them. Borrowed. */
void gt_replace_report(struct gt_report_selection *c, const char *report, const struct gt_analysis *by);
#endif
