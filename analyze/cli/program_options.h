/* The options of gtanalyze: their table, their values, and the checks of each by itself. */
#ifndef GT_PROGRAM_OPTIONS_H
#define GT_PROGRAM_OPTIONS_H
#include "analyze/cli/report_options.h"
#include "formats/cmdline/opt.h"

struct gt_program_options {
	/* html: format is then GT_JSON */
	bool html, help, list, explain, no_pager, no_progress, force, whole, whole_run, steady,
		per_rank;
	int format; /* enum gt_table_format */
	int names;  /* enum gt_name_form */
	int colour; /* enum gt_colour_when */
	const char *from, *to, *output;
	uint64_t pid, tid, top, threads; /* top: GT_TOP_DEFAULT if not given */
	struct gt_opt_list match, exclude, fail_if, symbols;
	struct gt_report_options reports; /* those that reports declare */
};
#define GT_TOP_DEFAULT UINT64_MAX

/* Parses argv[1..] as gt_opt_parse() and checks the values. With --help it prints nothing. The
 * options live as long as the program, which releases their memory at its end. */
int gt_program_options_parse(
	struct gt_program_options **o, int argc, char **argv, int *operands, struct gt_err *err);
void gt_program_options_release(struct gt_program_options *o);
void gt_program_options_help(FILE *to);
/* Rows of a table, 0: all. */
unsigned gt_program_options_top(const struct gt_program_options *o);
#endif
