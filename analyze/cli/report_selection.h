/* The reports and files that the command line selects. */
#ifndef GT_REPORT_SELECTION_H
#define GT_REPORT_SELECTION_H
#include "analyze/diff/diff.h"
#include "analyze/diff/gate.h"
#include "analyze/core/run.h"

/* Zero-initialised: empty. The owner releases gates. */
struct gt_report_selection {
	const struct gt_analysis *list[GT_RUN_REPORTS];
	unsigned n;
	bool header;                 /* the user named it; it is in the list in any case */
	bool in_default_report;      /* no report was named */
	struct gt_diff_request diff; /* for `diff`, instead of list */
	struct gt_gates gates;
};

/* Reports come before the files; if none is named, those of the default report are selected. The
 * header is always first. Returns the index of the first file. */
int gt_select_reports(struct gt_report_selection *c, char **operands, int n);
/* The same for "diff REPORT... A B". Negative: wrong use. */
int gt_select_diff(struct gt_report_selection *c, char **operands, int n, struct gt_err *err);
/* Fails if a missing file looks like a misspelt or misplaced report. Returns 0 or negative. */
int gt_check_files(char **files, int n, struct gt_err *err);
#endif
