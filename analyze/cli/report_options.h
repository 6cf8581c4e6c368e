/* The options that reports declare (struct gt_option_row): their rows in the command line's table,
 * their values, and the check that a selected report takes them. Knows no single report. */
#ifndef GT_REPORT_OPTIONS_H
#define GT_REPORT_OPTIONS_H
#include "analyze/core/run.h"

#define GT_REPORT_OPTIONS_MOST 64 /* options of all reports: more than exist */

struct gt_option_value {
	const struct gt_option_row *row;
	/* where the parser of the command line stores it; a time is stored as text at first */
	union {
		bool flag;
		int n;
		uint64_t number;
		const char *text;
		struct gt_opt_list list;
	} parsed;
	int64_t ns; /* of GT_OPT_NS */
};
/* Zero-initialised: no options. */
struct gt_report_options {
	struct gt_option_value values[GT_REPORT_OPTIONS_MOST]; /* by heading */
	unsigned n;
	struct gt_configured_report configured[GT_RUN_REPORTS];
	unsigned nconfigured;
	/* what reports get: values that were given, and settings of configured reports */
	struct gt_report_option given[GT_REPORT_OPTIONS_MOST + GT_RUN_REPORTS + 1];
	unsigned ngiven;
};

/* A row of a table of options that stands for the options of reports with this heading. */
#define GT_OPTIONS_OF_REPORTS(heading)                                                             \
	{                                                                                          \
		0, NULL, GT_OPT_TEXT, NULL, heading, NULL, NULL                                    \
	}
/* Collects the options of all reports, and writes the table of the command line: the n rows of
 * `common`, then options that need their report. to[] has n + 2 * GT_REPORT_OPTIONS_MOST elements.
 * Returns the number of rows. */
size_t gt_report_options_table(
	struct gt_report_options *o, const struct gt_opt *common, size_t n, struct gt_opt *to);
/* Reads the times, once the command line is parsed. Returns 0 or -EINVAL. */
int gt_report_options_read_times(struct gt_report_options *o, struct gt_err *err);
/* Does the report, or its engine, declare this option? */
bool gt_report_takes(const struct gt_analysis *a, const struct gt_option_row *row);
/* Fails if none of the n selected reports takes an option that needs its report, or if another
 * report is selected beside it. Returns 0 or -EINVAL. */
int gt_report_options_check(const struct gt_report_options *o,
	const struct gt_analysis *const *list, unsigned n, struct gt_err *err);
/* Configures the selected reports (gt_analysis.configure) and completes o->given. list[] then
 * holds the adapted descriptors, which *o owns. After an error *wrong is the report that refused
 * its options. */
int gt_report_options_configure(struct gt_report_options *o, const struct gt_analysis **list,
	unsigned n, const struct gt_configured_report **wrong, struct gt_err *err);
void gt_report_options_release(struct gt_report_options *o);
#endif
