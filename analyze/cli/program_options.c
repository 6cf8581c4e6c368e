#define _GNU_SOURCE /* sched_getaffinity */
#include "analyze/cli/program_options.h"

#include <limits.h>
#include <sched.h>
#include "analyze/cli/time_range_option.h"
#include "formats/names/globs.h"

#define N(a) (sizeof(a) / sizeof(*(a)))
#define THREADS_DEFAULT UINT64_MAX
#define THREADS_MAX 8 /* more threads gain little: all share the unpacking of blocks */
#define TEXT_TOP 20   /* default rows of a table in text; other formats print all rows */

static struct gt_program_options opt = {
	.output = "-", .top = GT_TOP_DEFAULT, .threads = THREADS_DEFAULT
};

/* as in enum gt_table_format */
static const char *const formats[] = { "text", "csv", "tsv", "json", "openmetrics", NULL };
/* as in enum gt_name_form */
static const char *const name_forms[] = { "short", "full", "mangled", NULL };
/* as in enum gt_colour_when */
static const char *const colour_words[] = { "auto", "always", "never", NULL };
static const struct gt_opt common_options[] = {
	{ 'l', "list", GT_OPT_FLAG, &opt.list, NULL, "list the reports and exit", NULL },
	{ 0, "explain", GT_OPT_FLAG, &opt.explain, NULL,
		"explain the terms of all reports, and exit", NULL },
	{ 0, "format", GT_OPT_WORD, &opt.format, "FORMAT", "output format", formats },
	{ 0, "html", GT_OPT_FLAG, &opt.html, NULL,
		"write one HTML file with sortable tables and charts, for any browser (-o FILE)",
		NULL },
	{ 0, "top", GT_OPT_U64, &opt.top, "N",
		"show at most N rows of a table, 0: all; default: 20 in text, all in the "
		"other formats",
		NULL },
	{ 0, "names", GT_OPT_WORD, &opt.names, "FORM", "kernel name style", name_forms },
	{ 0, "symbols", GT_OPT_LIST, &opt.symbols, "DIR",
		"functions and lines of native code by the ELF and debug files in DIR that have the recorded build ids; repeatable",
		NULL },
	{ 0, "color", GT_OPT_WORD, &opt.colour, "WHEN",
		"colour text output; auto: on a terminal, unless NO_COLOR is set", colour_words },
	GT_OPTIONS_OF_REPORTS(GT_HEADING_OPTIONS),
	{ 0, "per-rank", GT_OPT_FLAG, &opt.per_rank, NULL,
		"report on each file separately, not on all files as ranks of one run", NULL },
	{ 'o', "output", GT_OPT_STR, &opt.output, "FILE",
		"write to FILE instead of standard output", NULL },
	{ 'f', "force", GT_OPT_FLAG, &opt.force, NULL, "overwrite FILE if it exists", NULL },
	{ 0, "no-pager", GT_OPT_FLAG, &opt.no_pager, NULL,
		"print on a terminal directly, not through GT_PAGER, PAGER or less", NULL },
	{ 0, "no-progress", GT_OPT_FLAG, &opt.no_progress, NULL,
		"do not show on a terminal how far reading is, if it takes more than 1 s", NULL },
	{ 'j', "threads", GT_OPT_U64, &opt.threads, "N",
		"use N threads; default: one for each processor, 8 at most", NULL },
	{ 0, "fail-if", GT_OPT_LIST, &opt.fail_if, "GATE",
		"exit with 3 if a figure passes a limit ('kernels.p99 > 5ms'), or, with diff, changes by more than a limit ('kernels.p99 > +5%'); "
		"repeatable",
		NULL },
	{ 0, NULL, GT_OPT_TEXT, NULL, NULL, GT_HEADING_ROWS, NULL },
	{ 0, "from", GT_OPT_STR, &opt.from, "TIME",
		"leave out rows that end before TIME (1.5s, 250ms after the start)", NULL },
	{ 0, "to", GT_OPT_STR, &opt.to, "TIME", "leave out rows that begin at TIME or later",
		NULL },
	{ 0, "steady", GT_OPT_FLAG, &opt.steady, NULL,
		"only the steady steps, as the default report and diff show", NULL },
	{ 0, "whole-run", GT_OPT_FLAG, &opt.whole_run, NULL,
		"default report and diff: the whole run, not only its steady steps", NULL },
	{ 0, "whole", GT_OPT_FLAG, &opt.whole, NULL,
		"analyze GPUs over the whole recording, not only from their first to "
		"their last operation",
		NULL },
	GT_OPTIONS_OF_REPORTS(GT_HEADING_ROWS),
	{ 0, "pid", GT_OPT_U64, &opt.pid, "PID", "only this process", NULL },
	{ 0, "tid", GT_OPT_U64, &opt.tid, "TID", "only this thread", NULL },
	{ 'm', "match", GT_OPT_LIST, &opt.match, "GLOB",
		"only operations whose full name matches, or @CATEGORY; repeatable", NULL },
	{ 0, "exclude", GT_OPT_LIST, &opt.exclude, "GLOB",
		"no operations whose full name matches, or @CATEGORY; repeatable", NULL },
};
static struct gt_opt options[N(common_options) + 2 * GT_REPORT_OPTIONS_MOST];
static struct gt_command command = {
	.name = "gtanalyze",
	.usage = "[options] [REPORT...] FILE...\n       gtanalyze [options] diff [REPORT...] A B",
	.about =
		"Analyzes traces: which calls and GPU operations ran, how long they took, what the program waited for.",
	.options = options,
	.help = &opt.help,
	.after =
		"Without REPORT gtanalyze prints the default report; --list lists its parts.\n"
		"gtanalyze REPORT --help explains a report.\n"
		"diff compares B with A: slower, faster, added and gone operations.\n"
		"Reports come before the files. To open a file that has the name of a report, give a\n"
		"path (./top). Exit status: 0 clean, 1 something failed or a file is damaged,\n"
		"2 wrong usage, 3 a finding or gate failed, 4 cannot answer.\n",
};

/* Processors that this process may run on, at most THREADS_MAX. */
static unsigned processors(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

static int check(struct gt_err *err)
{
	int64_t from = INT64_MIN, to = INT64_MAX;

	if (gt_read_time(opt.from, &from, err) || gt_read_time(opt.to, &to, err) ||
		gt_report_options_read_times(&opt.reports, err))
		return err->code;
	if (from >= to)
		return gt_err_set(err, -EINVAL, "--from must come before --to");
	if (opt.steady && (opt.whole_run || opt.whole))
		return gt_err_set(err, -EINVAL, "--steady and --%s exclude each other",
			opt.whole_run ? "whole-run" : "whole");
	if (opt.html && opt.format != GT_TEXT)
		return gt_err_set(err, -EINVAL, "--html and --format exclude each other");
	if (opt.html)
		opt.format = GT_JSON;
	if (opt.format == GT_OPENMETRICS && opt.per_rank)
		return gt_err_set(err, -EINVAL,
			"--format openmetrics and --per-rank exclude each other: its families have all ranks");
	if (opt.threads == THREADS_DEFAULT)
		opt.threads = processors();
	if (!opt.threads || opt.threads > 1024)
		return gt_err_set(err, -EINVAL, "--threads takes 1 to 1024");
	if ((opt.top > UINT_MAX && opt.top != GT_TOP_DEFAULT) || opt.pid > INT64_MAX ||
		opt.tid > INT64_MAX)
		return gt_err_set(err, -EINVAL, "a number is too large");
	if (gt_globs_check(&opt.match, "--match", err))
		return err->code;
	return gt_globs_check(&opt.exclude, "--exclude", err);
}

int gt_program_options_parse(
	struct gt_program_options **o, int argc, char **argv, int *operands, struct gt_err *err)
{
	int rc;

	*o = &opt;
	command.noptions =
		gt_report_options_table(&opt.reports, common_options, N(common_options), options);
	rc = gt_opt_parse(&command, argc, argv, operands, err);
	return rc ? rc : check(err);
}

void gt_program_options_release(struct gt_program_options *o)
{
	gt_opt_list_release(&o->symbols);
	gt_opt_list_release(&o->match);
	gt_opt_list_release(&o->exclude);
	gt_opt_list_release(&o->fail_if);
	gt_report_options_release(&o->reports);
}

void gt_program_options_help(FILE *to) { gt_opt_help(&command, to); }

unsigned gt_program_options_top(const struct gt_program_options *o)
{
	return o->top != GT_TOP_DEFAULT ? (unsigned)o->top : o->format == GT_TEXT ? TEXT_TOP : 0;
}
