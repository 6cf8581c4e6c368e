#define _GNU_SOURCE
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyze/cli/time_range_option.h"
#include "analyze/cli/report_options.h"
#include "analyze/cli/report_selection.h"
#include "analyze/core/exit_status.h"
#include "analyze/cli/explain.h"
#include "analyze/cli/report_help.h"
#include "analyze/ranks/trace_folders.h"
#include "formats/names/name_patterns.h"
#include "analyze/ranks/ranks.h"
#include "analyze/steps/steady.h"
#include "formats/base/alloc_failure.h"
#include "formats/base/buf.h"
#include "formats/cmdline/interrupts.h"
#include "formats/cmdline/opt.h"
#include "formats/cmdline/pager.h"
#include "formats/cmdline/progress_line.h"
#include "formats/text/printable.h"
#include "formats/cmdline/std_fds.h"
#include "formats/cmdline/terminal.h"
#include "formats/text/utf8.h"
#include "formats/names/globs.h"
#include "formats/import/importers.h"

#define N(a) (sizeof(a) / sizeof(*(a)))
#define NOT_GIVEN UINT64_MAX
#define THREADS_MAX 8 /* more threads gain little: all share the unpacking of blocks */
#define TEXT_TOP 20   /* default rows of a table in text; other formats print all rows */
/* the same for the default report of a trace with GPU rows: it shows at a glance what limits a
 * program */
#define SCREEN_TOP 8

static struct {
	bool help, list, explain, no_pager, no_progress, force, whole, whole_run, steady, per_rank;
	int format, names, colour;
	const char *from, *to, *output;
	uint64_t pid, tid, top, threads;
	struct gt_opt_list match, exclude, fail_if;
} opt = { .output = "-", .top = NOT_GIVEN, .threads = NOT_GIVEN };
static struct gt_report_options report_options;

/* as in enum gt_table_format */
static const char *const formats[] = { "text", "csv", "tsv", "json", NULL };
/* as in enum gt_name_form */
static const char *const name_forms[] = { "short", "full", "mangled", NULL };
/* as in enum gt_colour_when */
static const char *const colour_words[] = { "auto", "always", "never", NULL };
static const struct gt_opt common_options[] = {
	{ 'l', "list", GT_OPT_FLAG, &opt.list, NULL, "list the reports and exit", NULL },
	{ 0, "explain", GT_OPT_FLAG, &opt.explain, NULL,
		"explain the terms of all reports, and exit", NULL },
	{ 0, "format", GT_OPT_WORD, &opt.format, "FORMAT", "output format", formats },
	{ 0, "top", GT_OPT_U64, &opt.top, "N",
		"show at most N rows of a table, 0: all; default: 20 in text, all in the "
		"other formats",
		NULL },
	{ 0, "names", GT_OPT_WORD, &opt.names, "FORM", "kernel name style", name_forms },
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

/* The user may quit the pager before the end of the output. */
static bool is_pager_closed(int code) { return code == -EPIPE && gt_pager_is_used(); }

static void start_pager(void)
{
	if (!opt.no_pager && !strcmp(opt.output, "-"))
		gt_pager_start();
}

static int fail(const char *file, const struct gt_err *err, int status)
{
	gt_progress_line_hide();
	gt_err_print("gtanalyze", file, err);
	return status == GT_EXIT_FAILURE && err->code == -ENOMSG ? GT_EXIT_UNKNOWN : status;
}

/* The width in terminal columns of the first `bytes` bytes of s. */
static unsigned columns_up_to(const char *s, uint64_t bytes)
{
	struct gt_letter l;
	unsigned n = 0;

	for (const char *at = s; *at && (uint64_t)(at - s) < bytes; n += l.columns)
		at = gt_letter_next(at, &l);
	return n;
}

/* Prints the message, then the user's text and a mark under the wrong place. */
static int fail_at(const char *option, const char *text, const struct gt_err *at)
{
	struct gt_err err = *at;

	err.offset = GT_NO_OFFSET;
	gt_err_print("gtanalyze", option, &err);
	if (at->offset == GT_NO_OFFSET)
		return 2;
	fputs("  ", stderr);
	gt_printable_write(stderr, text);
	fprintf(stderr, "\n  %*s^\n", (int)columns_up_to(text, at->offset), "");
	return 2;
}

/* Returns the exit status. */
static int configure_reports(struct gt_report_selection *c)
{
	const struct gt_configured_report *wrong = NULL;
	struct gt_err err = GT_ERR_INIT;
	int rc = gt_report_options_configure(&report_options, c->list, c->n, &wrong, &err);

	if (rc == -EINVAL && wrong->option)
		return fail_at(wrong->option, wrong->text, &err);
	return !rc ? GT_EXIT_CLEAN
		   : fail(NULL, &err, rc == -EINVAL ? GT_EXIT_USAGE : GT_EXIT_FAILURE);
}

/* ---- what to look at ---- */

/* Writes the options that leave rows out as one line, for the header. */
static void put_restrictions(struct gt_buf *b)
{
	const char *sep = "";

#define PUT(given, ...)                                                                            \
	do {                                                                                       \
		if (given) {                                                                       \
			gt_buf_str(b, sep);                                                        \
			gt_buf_printf(b, __VA_ARGS__);                                             \
			sep = ", ";                                                                \
		}                                                                                  \
	} while (0)
	PUT(opt.steady, "--steady");
	PUT(opt.from, "--from %s", opt.from);
	PUT(opt.to, "--to %s", opt.to);
	PUT(opt.pid, "--pid %llu", (unsigned long long)opt.pid);
	PUT(opt.tid, "--tid %llu", (unsigned long long)opt.tid);
	for (size_t i = 0; i < opt.match.n; i++)
		PUT(true, "--match %s", opt.match.items[i]);
	for (size_t i = 0; i < opt.exclude.n; i++)
		PUT(true, "--exclude %s", opt.exclude.items[i]);
#undef PUT
	if (b->len)
		gt_buf_byte(b, 0);
}

/* Processors that this process may run on, at most THREADS_MAX. */
static unsigned processors(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

static int check_options(struct gt_err *err)
{
	int64_t from = INT64_MIN, to = INT64_MAX;

	if (gt_read_time(opt.from, &from, err) || gt_read_time(opt.to, &to, err) ||
		gt_report_options_read_times(&report_options, err))
		return err->code;
	if (from >= to)
		return gt_err_set(err, -EINVAL, "--from must come before --to");
	if (opt.steady && (opt.whole_run || opt.whole))
		return gt_err_set(err, -EINVAL, "--steady and --%s exclude each other",
			opt.whole_run ? "whole-run" : "whole");
	if (opt.threads == NOT_GIVEN)
		opt.threads = processors();
	if (!opt.threads || opt.threads > 1024)
		return gt_err_set(err, -EINVAL, "--threads takes 1 to 1024");
	if ((opt.top > UINT_MAX && opt.top != NOT_GIVEN) || opt.pid > INT64_MAX ||
		opt.tid > INT64_MAX)
		return gt_err_set(err, -EINVAL, "a number is too large");
	if (gt_globs_check(&opt.match, "--match", err))
		return err->code;
	return gt_globs_check(&opt.exclude, "--exclude", err);
}

/* ---- one file ---- */

static bool is_header(const struct gt_table *t)
{
	return !strcmp(gt_table_name(t), "header") || !strcmp(gt_table_name(t), "damage");
}

/* csv and tsv cannot hold notes. A figure must not be read without its limits, so notes go to
 * stderr. */
static void print_notes(const char *file, struct gt_table *const *tables, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const char *table = is_header(tables[i]) ? "" : gt_table_name(tables[i]), *note;

		for (size_t k = 0; (note = gt_table_get_note(tables[i], k)); k++)
			gt_message(stderr, "gtanalyze", "%s: %s%s%s", file, table,
				*table ? ": " : "", note);
	}
}

/* Flushes also after an error: later messages may go to the same place, and must come after the
 * tables. */
static int print_tables(struct gt_table *const *tables, unsigned n, const char *label,
	struct gt_out *out, struct gt_err *err)
{
	int rc;

	start_pager();
	rc = gt_tables_print(tables, n, (enum gt_table_format)opt.format, label, out, err);
	gt_out_flush(out);
	return is_pager_closed(rc) ? 0 : rc;
}

/* In csv and tsv the header is printed only when the user names it: a spreadsheet then gets the
 * table of the report alone. */
static int print(const char *file, const struct gt_report_selection *c,
	struct gt_table *const *tables, unsigned n, bool several, struct gt_out *out,
	struct gt_err *err)
{
	bool rows_only = opt.format == GT_CSV || opt.format == GT_TSV;
	unsigned skip = 0;
	int rc;

	for (unsigned i = 0; i < n && opt.names != GT_NAME_SHORT; i++)
		gt_table_widen_names(tables[i]);
	while (rows_only && !c->header && skip < n && is_header(tables[skip]))
		skip++;
	rc = print_tables(tables + skip, n - skip, several ? file : NULL, out, err);
	if (!rc && rows_only)
		print_notes(file, tables, n);
	return rc;
}

/* The options of the command line, applied to one open trace. Release it after *o: *o borrows
 * from it. */
struct trace_options {
	struct gt_buf restrictions;
	struct gt_time_ranges range;
	struct gt_name_patterns match;
	struct gt_steady steady;
};

/* Narrows the options to the steady steps, if the trace has some. */
static int narrow_to_steady(struct gt_analysis_options *o, struct gt_reader *r,
	struct trace_options *a, struct gt_err *err)
{
	if (gt_steady_find(&a->steady, r, o, err))
		return err->code;
	if (!a->steady.ranges && opt.steady)
		return gt_err_set(err, -ENOMSG, "there are no steady steps: %s", a->steady.why);
	o->steady = &a->steady;
	if (!a->steady.ranges)
		return 0;
	o->only_steady = true;
	o->whole_run = o->filter;
	o->filter.ranged = true;
	o->filter.from = a->steady.ranges[0].from;
	o->filter.to = a->steady.ranges[0].to;
	o->filter.ranges = gt_reader_segments(r) > 1 ? a->steady.ranges : NULL;
	return 0;
}

/* Are only steady steps wanted? by_default: unless an option says otherwise. */
static bool wants_steady(const struct gt_reader *r, bool by_default)
{
	bool wanted = by_default && !opt.whole_run && !opt.whole && !opt.from && !opt.to;

	return opt.steady || (wanted && gt_default_use_of(r) == GT_DEFAULT_GPU);
}

/* origins: NULL, or as in gt_time_ranges_set. */
static int set_options(struct gt_analysis_options *o, struct gt_reader *r, const char *path,
	const int64_t *origins, bool steady_by_default, struct trace_options *a, struct gt_err *err)
{
	const char *unused;
	size_t at = 0;
	int rc;

	memset(a, 0, sizeof(*a));
	*o = (struct gt_analysis_options){ .file = path };
	o->top = opt.top != NOT_GIVEN ? (unsigned)opt.top : opt.format == GT_TEXT ? TEXT_TOP : 0;
	o->filter.pid = (int64_t)opt.pid;
	o->filter.tid = (int64_t)opt.tid;
	if (gt_name_patterns_init(&a->match, &opt.match, &opt.exclude, r, err))
		return err->code;
	gt_name_patterns_set(&a->match, &o->filter);
	o->match_options = !opt.exclude.n ? GT_BY_MATCH : opt.match.n ? GT_BY_BOTH : GT_BY_EXCLUDE;
	while ((unused = gt_name_globs_useless(&a->match.exclude, r, &at))) {
		gt_progress_line_hide();
		gt_message(stderr, "gtanalyze", "%s: no name matches --exclude %s", path, unused);
	}
	o->whole = opt.whole;
	o->names = (enum gt_name_form)opt.names;
	o->report_options = report_options.given;
	put_restrictions(&a->restrictions);
	o->restrictions = a->restrictions.len ? (const char *)a->restrictions.data : NULL;
	rc = gt_time_ranges_set(&a->range, o, r, opt.from, opt.to, origins, err);
	return rc || !wants_steady(r, steady_by_default) ? rc : narrow_to_steady(o, r, a, err);
}

static void release_trace_options(struct trace_options *a)
{
	gt_buf_release(&a->restrictions);
	gt_name_patterns_release(&a->match);
	gt_time_ranges_release(&a->range);
	gt_steady_release(&a->steady);
}

/* The exit status that the tables of reports named by the user lead to. */
static int exit_status_of(struct gt_table *const *tables, int n)
{
	static const enum gt_exit exits[] = { [GT_ANSWERED] = GT_EXIT_CLEAN,
		[GT_FOUND] = GT_EXIT_FOUND,
		[GT_UNANSWERED] = GT_EXIT_UNKNOWN,
		[GT_UNANSWERED_PART] = GT_EXIT_CLEAN };
	enum gt_exit status = GT_EXIT_CLEAN;

	for (int i = 0; i < n; i++)
		status = gt_exit_worse(status, exits[gt_table_answer(tables[i])]);
	return status;
}

/* What a report is run on: one file, several files as one, or one of several files. */
struct subject {
	const char *name; /* in messages */
	struct gt_reader *reader;
	const struct gt_ranks *ranks; /* several files read as one; NULL: one file */
	const int64_t *origins;       /* of times, shared with other files; NULL: the file's own */
	bool several;                 /* tables in csv and tsv have a column with the file name */
	bool no_header;               /* the header was printed before */
};

/* Replaces the recording number of each row by the label of its rank. */
static void label_ranks(const struct gt_ranks *ranks, struct gt_table *const *tables, unsigned n)
{
	static const struct gt_column column = { "rank", "Rank", GT_C_TEXT };

	for (unsigned i = 0; ranks && i < n; i++)
		gt_table_relabel(tables[i], "recording", &column, ranks->labels,
			gt_reader_segments(ranks->all));
}

/* Notes in the header the files that no table includes. */
static void note_missing_files(const struct gt_ranks *ranks, struct gt_table *header)
{
	for (size_t i = ranks->nread; i < ranks->n; i++) {
		const struct gt_rank *r = &ranks->list[i];

		if (r->same)
			gt_table_note(header, "%s is the same recording as %s: it is counted once",
				r->path, r->same);
		else
			gt_table_note(
				header, "%s could not be read: no figure includes it", r->path);
	}
}

/* Checks the gates on a trace. Gates need all rows of their tables, whatever --top prints. Adds
 * the table "gates". */
static int check_gates(const struct gt_report_selection *c, const struct subject *s,
	struct gt_analysis_options o, struct gt_table **tables, int *n, int *status,
	struct gt_err *err)
{
	struct gt_diff_request read = { 0 };
	struct gt_side side = { 0 };
	int rc;

	if (!c->gates.n || *n >= GT_RUN_TABLES)
		return 0;
	gt_gates_request(&c->gates, &read);
	rc = gt_side_read(&side, s->reader, &read, &o, (unsigned)opt.threads, err);
	label_ranks(s->ranks, side.tables, side.n);
	if (!rc)
		rc = gt_gates_check(&c->gates, NULL, &side, NULL, 0, &tables[(*n)++], err);
	if (rc > 0)
		*status = gt_exit_worse((enum gt_exit) * status, (enum gt_exit)rc);
	gt_side_release(&side);
	return rc < 0 ? rc : 0;
}

static bool is_damaged(struct gt_reader *r)
{
	size_t n = 0;

	gt_reader_damage(r, &n);
	return n;
}

/* JSON has the figures of the whole run, too: appends their tables, as "whole_run.budget". */
static int add_whole_run(const struct gt_report_selection *c, const struct subject *s,
	const struct gt_analysis_options *o, struct gt_table **tables, int *n, struct gt_err *err)
{
	struct gt_analysis_options whole = *o;
	struct gt_report_selection some = *c;
	struct gt_table *more[GT_RUN_TABLES];
	int made;

	some.n = 0;
	for (unsigned i = 0; i < c->n; i++)
		if (c->list[i] != gt_analysis_find("header") &&
			c->list[i] != gt_analysis_find("steady") &&
			c->list[i] != gt_analysis_find("parts") &&
			c->list[i] != gt_analysis_find("phases"))
			some.list[some.n++] = c->list[i];
	whole.filter = o->whole_run;
	whole.steady = NULL;
	whole.only_steady = false;
	made = gt_run(s->reader, some.list, some.n, &whole, (unsigned)opt.threads, more, err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		if (more[i] && (int)i < made && *n < GT_RUN_TABLES) {
			gt_table_set_prefix(more[i], "whole_run.");
			tables[(*n)++] = more[i];
		} else
			gt_table_free(more[i]);
	return made < 0 ? made : 0;
}

/* *status becomes worse if gates or damage require it. */
static int report(const struct subject *s, const struct gt_report_selection *c, struct gt_out *out,
	int *status, struct gt_err *err)
{
	struct gt_table *tables[GT_RUN_TABLES];
	struct gt_analysis_options o;
	struct trace_options given;
	unsigned skip = 0;
	int n, rc;

	n = set_options(&o, s->reader, s->name, s->origins, c->in_default_report, &given, err);
	o.ranks = s->ranks ? s->ranks->names : NULL;
	o.in_default_report = c->in_default_report;
	o.one_page = c->in_default_report && opt.format == GT_TEXT;
	if (o.one_page && opt.top == NOT_GIVEN)
		o.top = SCREEN_TOP;
	o.width = opt.format == GT_TEXT ? gt_tables_width(out) : 0;
	memset(tables, 0, sizeof(tables));
	n = n ? n : gt_run(s->reader, c->list, c->n, &o, (unsigned)opt.threads, tables, err);
	if (n >= 0 && !c->in_default_report)
		*status = gt_exit_worse(
			(enum gt_exit) * status, (enum gt_exit)exit_status_of(tables, n));
	rc = n < 0 ? n : 0;
	if (!rc && c->in_default_report && opt.format == GT_JSON && o.only_steady)
		rc = add_whole_run(c, s, &o, tables, &n, err);
	if (!rc && !s->no_header)
		rc = check_gates(c, s, o, tables, &n, status, err);
	if (n > 0 && s->ranks) {
		label_ranks(s->ranks, tables, (unsigned)n);
		note_missing_files(s->ranks, tables[0]);
	}
	while (s->no_header && (int)skip < n && !strcmp(gt_table_name(tables[skip]), "header"))
		skip++;
	gt_progress_line_stop(); /* rows that are printed while they are read show it themselves */
	if (!rc)
		rc = print(s->name, c, tables + skip, (unsigned)n - skip, s->several, out, err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	if (is_damaged(s->reader))
		*status = gt_exit_worse((enum gt_exit) * status, GT_EXIT_FAILURE);
	release_trace_options(&given);
	return rc;
}

/* Reports on each file in turn. A file that cannot be read does not stop the others. */
static int analyze_each(
	const struct gt_report_selection *c, char **files, int n, struct gt_out *out)
{
	int status = GT_EXIT_CLEAN;
	bool any = false;

	for (int i = 0; i < n; i++) {
		struct gt_err err = GT_ERR_INIT;
		struct subject s = { .name = files[i], .several = n > 1 };

		gt_progress_line_start(files[i], !opt.no_progress);
		s.reader = gt_open_any(files[i], &err);
		if (any && s.reader && opt.format != GT_JSON)
			gt_out_str(out, opt.format == GT_CSV ? "\r\n" : "\n");
		any |= s.reader != NULL;
		if (!s.reader || report(&s, c, out, &status, &err))
			status = gt_exit_worse((enum gt_exit)status,
				(enum gt_exit)fail(files[i], &err, GT_EXIT_FAILURE));
		gt_reader_close(s.reader);
	}
	return status;
}

/* ---- several files as ranks ---- */

/* Splits the reports: text prints those with per_recording one rank after the other. Other
 * formats have one table, whose rows name the rank. */
static void split(const struct gt_report_selection *c, struct gt_report_selection *together,
	struct gt_report_selection *apart)
{
	*together = *apart = *c;
	together->n = apart->n = 0;
	for (unsigned i = 0; i < c->n; i++) {
		bool alone = opt.format == GT_TEXT && c->list[i]->per_recording;

		if (!alone || !i)
			together->list[together->n++] = c->list[i];
		if (alone || !i) /* the header comes first in both lists */
			apart->list[apart->n++] = c->list[i];
	}
}

static int report_each_rank(const struct gt_ranks *ranks, const struct gt_report_selection *c,
	struct gt_out *out, int *status)
{
	struct gt_analysis_options o = { .top = 0 };
	struct gt_time_ranges times;
	struct gt_err all = GT_ERR_INIT;
	int rc = gt_time_ranges_set(&times, &o, ranks->all, NULL, NULL, NULL, &all)
		? fail(NULL, &all, GT_EXIT_FAILURE)
		: 0;

	for (size_t i = 0; times.origins && i < ranks->nread; i++) {
		const struct gt_rank *r = &ranks->list[i];
		struct subject s = { .name = r->path,
			.reader = r->reader,
			.origins = times.origins + r->first,
			.no_header = true };
		struct gt_err err = GT_ERR_INIT;

		gt_out_str(out, "\n=== ");
		gt_out_printable(out, ranks->numbered ? r->called : "");
		gt_out_str(out, ranks->numbered ? ": " : "");
		gt_out_printable(out, r->path);
		gt_out_str(out, " ===\n\n");
		if (report(&s, c, out, status, &err))
			rc = gt_exit_worse((enum gt_exit)rc,
				(enum gt_exit)fail(r->path, &err, GT_EXIT_FAILURE));
	}
	gt_time_ranges_release(&times);
	return rc;
}

static int report_ranks(
	const struct gt_ranks *ranks, const struct gt_report_selection *c, struct gt_out *out)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_report_selection together, apart;
	char name[32];
	struct subject s = { .name = name, .reader = ranks->all, .ranks = ranks };
	int status = GT_EXIT_CLEAN;

	split(c, &together, &apart);
	snprintf(name, sizeof(name), "%zu file%s", ranks->nread, gt_plural(ranks->nread, "s"));
	if (report(&s, &together, out, &status, &err))
		return fail(name, &err, GT_EXIT_FAILURE);
	if (apart.n > 1)
		status = gt_exit_worse((enum gt_exit)status,
			(enum gt_exit)report_each_rank(ranks, &apart, out, &status));
	return status;
}

/* Files that cannot be read set the exit status; the reports cover the other files. */
static int analyze_ranks(
	const struct gt_report_selection *c, char **files, int n, struct gt_out *out)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_ranks ranks;
	int status = GT_EXIT_CLEAN, failed;
	char name[32];

	snprintf(name, sizeof(name), "%d files", n);
	gt_progress_line_start(name, !opt.no_progress);
	failed = gt_ranks_open(&ranks, files, (size_t)n, (unsigned)opt.threads, &err);

	if (failed)
		status = fail(NULL, &err, GT_EXIT_FAILURE);
	for (size_t i = ranks.nread; !failed && i < ranks.n; i++)
		if (!ranks.list[i].same)
			status = fail(ranks.list[i].path, &ranks.list[i].err, GT_EXIT_FAILURE);
	if (!failed && ranks.nread)
		status = gt_exit_worse(
			(enum gt_exit)status, (enum gt_exit)report_ranks(&ranks, c, out));
	gt_ranks_release(&ranks);
	return status;
}

/* ---- two files ---- */

static int read_side(struct gt_side *side, const char *path, const struct gt_diff_request *request,
	bool steady, int *status, struct gt_err *err)
{
	struct gt_analysis_options o;
	struct gt_reader *r;
	struct trace_options given;
	int rc;

	gt_progress_line_start(path, !opt.no_progress);
	r = gt_open_any(path, err);
	if (!r) {
		*status = fail(path, err, GT_EXIT_FAILURE);
		return -1;
	}
	rc = set_options(&o, r, path, NULL, steady, &given, err);
	o.compared = true;
	if (!rc)
		rc = gt_side_read(side, r, request, &o, (unsigned)opt.threads, err);
	if (is_damaged(r))
		*status = gt_exit_worse((enum gt_exit) * status, GT_EXIT_FAILURE);
	if (rc)
		*status = fail(path, err, GT_EXIT_FAILURE);
	release_trace_options(&given);
	gt_reader_close(r);
	gt_progress_line_stop();
	return rc;
}

static int print_diff(const struct gt_report_selection *c, const struct gt_side sides[2],
	struct gt_out *out, int *status, struct gt_err *err)
{
	struct gt_diff_request request = c->diff;
	struct gt_table *tables[GT_DIFF_TABLES + 1] = { NULL };
	int n, rc;

	request.form = (enum gt_name_form)opt.names;
	request.top = opt.top != NOT_GIVEN ? (unsigned)opt.top
		: opt.format == GT_TEXT    ? TEXT_TOP
					   : 0;
	n = rc = gt_diff(&sides[0], &sides[1], &request, tables, err);
	if (n >= 0)
		*status = gt_exit_worse(
			(enum gt_exit) * status, (enum gt_exit)exit_status_of(tables, n));
	if (n >= 0 && c->gates.n) {
		rc = gt_gates_check(
			&c->gates, &sides[0], &sides[1], tables, (unsigned)n, &tables[n], err);
		if (rc > 0)
			*status = gt_exit_worse((enum gt_exit) * status, (enum gt_exit)rc);
		n++;
	}
	for (int i = 0; rc >= 0 && i < n && opt.names != GT_NAME_SHORT; i++)
		gt_table_widen_names(tables[i]);
	if (rc >= 0)
		rc = print_tables(tables, (unsigned)n, NULL, out, err);
	if (rc >= 0 && (opt.format == GT_CSV || opt.format == GT_TSV))
		print_notes("diff", tables, (unsigned)n);
	for (unsigned i = 0; i < GT_DIFF_TABLES + 1; i++)
		gt_table_free(tables[i]);
	return rc < 0 ? rc : 0;
}

static int compare(const struct gt_report_selection *c, char **files, struct gt_out *out)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_diff_request read = c->diff;
	struct gt_side sides[2] = { 0 };
	int status = GT_EXIT_CLEAN, rc = 0;

	gt_gates_request(&c->gates, &read);
	for (unsigned i = 0; !rc && i < 2; i++)
		rc = read_side(&sides[i], files[i], &read, true, &status, &err);
	/* if only one of them has steady steps, the whole runs are compared */
	for (unsigned i = 0; !rc && i < 2; i++)
		if (sides[i].steady && !sides[!i].steady) {
			gt_side_release(&sides[i]);
			rc = read_side(&sides[i], files[i], &read, false, &status, &err);
		}
	if (!rc && print_diff(c, sides, out, &status, &err))
		status = fail(NULL, &err, GT_EXIT_FAILURE);
	gt_side_release(&sides[0]);
	gt_side_release(&sides[1]);
	return status;
}

/* Reads the options and operands: reports, files, gates. Returns the index of the first file, or
 * a negative number for wrong use. */
static int read_command_line(
	struct gt_report_selection *c, char **operands, int n, bool *diff, struct gt_err *err)
{
	int first;

	/* with --help the reports of diff are explained, or without any the program */
	*diff = n && !strcmp(operands[0], "diff");
	if (*diff && opt.help) {
		*diff = false;
		operands++;
		n--;
	}
	if (check_options(err))
		return -EINVAL;
	if (gt_gates_parse(&c->gates, &opt.fail_if, *diff, err))
		return -EINVAL;
	first = *diff ? gt_select_diff(c, operands, n, err) : gt_select_reports(c, operands, n);
	if (opt.help && !first && n)
		return gt_check_files(operands, n, err) ? -EINVAL : first;
	if (first < 0 || opt.list || opt.explain || opt.help)
		return first;
	if (first == n)
		return gt_err_set(
			err, -EINVAL, "no FILE given: gtanalyze [options] [REPORT...] FILE...");
	return gt_check_files(operands + first, n - first, err) ||
			gt_report_options_check(&report_options, c->list, c->n, err)
		? -EINVAL
		: first;
}

/* Explains the named reports, or without any the program. */
static int print_help(const struct gt_report_selection *c)
{
	bool colours = gt_terminal_colours(STDOUT_FILENO, (enum gt_colour_when)opt.colour);
	struct gt_err err = GT_ERR_INIT;

	start_pager();
	if (c->in_default_report)
		gt_opt_help(&command, stdout);
	if ((fflush(stdout) || ferror(stdout)) && !is_pager_closed(-errno))
		return fail(NULL,
			(gt_err_set(
				 &err, -EIO, "cannot write standard output: %s", strerror(errno)),
				&err),
			GT_EXIT_FAILURE);
	for (unsigned i = c->header ? 0 : 1; !c->in_default_report && i < c->n; i++)
		if (gt_report_help(c->list[i], &report_options, colours, &err) &&
			!is_pager_closed(err.code))
			return fail(NULL, &err, GT_EXIT_FAILURE);
	return GT_EXIT_CLEAN;
}

/* Runs what the command line asks for and writes it to the output. */
static int run_command(const struct gt_report_selection *c, char **files, int n, bool diff)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_out out;
	int status = GT_EXIT_CLEAN;

	for (int i = 0; i < n && !opt.list && !opt.explain; i++)
		if (gt_out_would_destroy(opt.output, files[i], &err))
			return fail(NULL, &err, GT_EXIT_FAILURE);
	if (gt_out_open(&out, opt.output, opt.force, &err))
		return fail(NULL, &err, GT_EXIT_FAILURE);
	out.colours = gt_terminal_colours(gt_out_fd(&out), (enum gt_colour_when)opt.colour);
	if (opt.explain || opt.list)
		start_pager();
	if (opt.explain)
		gt_explain(c->list + 1, c->in_default_report ? 0 : c->n - 1, &out);
	else if (opt.list)
		status = gt_list_reports((enum gt_table_format)opt.format, &out, &err)
			? fail(NULL, &err, GT_EXIT_FAILURE)
			: GT_EXIT_CLEAN;
	else
		status = diff                    ? compare(c, files, &out)
			: n > 1 && !opt.per_rank ? analyze_ranks(c, files, n, &out)
						 : analyze_each(c, files, n, &out);
	err = (struct gt_err)GT_ERR_INIT;
	if (status != GT_EXIT_FAILURE && gt_alloc_failed()) {
		gt_err_set(&err, -ENOMEM, GT_ALLOC_FAILURE_TEXT);
		gt_out_fail(&out, -ENOMEM);
	}
	return gt_out_close(&out, &err) && !is_pager_closed(err.code)
		? fail(NULL, &err, GT_EXIT_FAILURE)
		: status;
}

/* diff needs two files; all other commands also take folders. */
static int name_files(struct gt_files *files, char **operands, int n, bool diff)
{
	struct gt_err err = GT_ERR_INIT;
	const char *folder;

	if (!opt.list && !opt.explain && gt_files_expand(files, operands, n, &folder, &err))
		return fail(folder, &err, GT_EXIT_FAILURE);
	if (diff && files->n != 2)
		return fail(NULL,
			(gt_err_set(&err, -EINVAL, "diff compares two files; the folder has %zu",
				 files->n - 1),
				&err),
			GT_EXIT_USAGE);
	if (files->left_out)
		gt_message(stderr, "gtanalyze",
			"files in the folder that are not traces, and are skipped: %zu",
			files->left_out);
	return GT_EXIT_CLEAN;
}

int main(int argc, char **argv)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_report_selection chosen = { .n = 0 };
	struct gt_files files = { .n = 0 };
	int n, first, status, rc;
	bool diff;

	gt_std_fds_occupy();
	gt_interrupts_install();
	/* reports allocate rarely, and each thread would map an arena of 64 MiB */
	mallopt(M_ARENA_MAX, 1);
	command.noptions = gt_report_options_table(
		&report_options, common_options, N(common_options), options);
	rc = gt_opt_parse(&command, argc, argv, &n, &err);
	if (rc)
		return rc > 0 ? GT_EXIT_CLEAN
			      : fail(NULL, &err, rc == -EINVAL ? GT_EXIT_USAGE : GT_EXIT_FAILURE);
	first = read_command_line(&chosen, argv + 1, n, &diff, &err);
	status = first < 0 ? fail(NULL, &err, GT_EXIT_USAGE) : configure_reports(&chosen);
	if (!status && opt.help)
		status = print_help(&chosen);
	else if (!status)
		status = name_files(&files, argv + 1 + first, n - first, diff);
	if (!status && !opt.help)
		status = run_command(&chosen, files.list, (int)files.n, diff);
	gt_progress_line_stop();
	gt_pager_finish();
	gt_files_release(&files);
	gt_gates_release(&chosen.gates);
	gt_opt_list_release(&opt.match);
	gt_opt_list_release(&opt.exclude);
	gt_opt_list_release(&opt.fail_if);
	gt_report_options_release(&report_options);
	return status;
}
