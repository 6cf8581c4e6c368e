/* Prints the tables of reports as the options of gtanalyze say. */
#ifndef GT_REPORT_OUTPUT_H
#define GT_REPORT_OUTPUT_H
#include "analyze/cli/analyze_job.h"

/* Starts the pager, if the output goes to a terminal and the options do not forbid it. */
void gt_output_page(const struct gt_program_options *o);
/* Is this error the end of the pager? The user may quit it before the end of the output. */
bool gt_output_is_pager_closed(int code);
/* Prints n tables. several: csv and tsv name the file with each table. csv and tsv print the header
 * only if the user named it: a spreadsheet then gets the table of the report alone. They cannot
 * hold notes, which go to stderr: a figure must not be read without its limits. Messages that are
 * printed later come after the tables. Returns 0 or negative. */
int gt_output_tables(const struct gt_analyze_job *job, const char *file, bool several,
	struct gt_table *const *tables, unsigned n, struct gt_err *err);
#endif
