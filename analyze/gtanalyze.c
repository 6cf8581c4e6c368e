/* gtanalyze: reads the command line (cli/program_options.h, cli/report_selection.h), runs the
 * selected reports on the files, and prints their tables. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "analyze/cli/command_exit.h"
#include "analyze/cli/compare_traces.h"
#include "analyze/cli/explain.h"
#include "analyze/cli/page_tables.h"
#include "analyze/cli/report_help.h"
#include "analyze/cli/report_output.h"
#include "analyze/cli/report_ranks.h"
#include "analyze/cli/report_trace.h"
#include "analyze/ranks/trace_folders.h"
#include "formats/base/alloc_failure.h"
#include "formats/cmdline/interrupts.h"
#include "formats/cmdline/pager.h"
#include "formats/cmdline/progress_line.h"
#include "formats/cmdline/std_fds.h"
#include "formats/cmdline/terminal.h"
#include "formats/import/importers.h"
#include "formats/symbols/trace_symbols.h"
#include "formats/text/printable.h"

/* ---- the command line ---- */

struct command {
	struct gt_program_options *opt;
	struct gt_report_selection selection;
	bool diff;
	struct gt_files files;
};

/* Reads the operands: reports, files; and the gates. Returns the index of the first file, or a
 * negative number for wrong use. */
static int read_operands(struct command *c, char **operands, int n, struct gt_err *err)
{
	const struct gt_program_options *opt = c->opt;
	struct gt_report_selection *s = &c->selection;
	int first;

	/* with --help the reports of diff are explained, or without any the program */
	c->diff = n && !strcmp(operands[0], "diff");
	if (c->diff && opt->help) {
		c->diff = false;
		operands++;
		n--;
	}
	if (gt_gates_parse(&s->gates, &opt->fail_if, c->diff, err))
		return -EINVAL;
	first = c->diff ? gt_select_diff(s, operands, n, err) : gt_select_reports(s, operands, n);
	if (opt->help && !first && n)
		return gt_check_files(operands, n, err) ? -EINVAL : first;
	if (first < 0 || opt->list || opt->explain || opt->help)
		return first;
	if (first == n)
		return gt_err_set(
			err, -EINVAL, "no FILE given: gtanalyze [options] [REPORT...] FILE...");
	return gt_check_files(operands + first, n - first, err) ||
			gt_report_options_check(&opt->reports, s->list, s->n, err)
		? -EINVAL
		: first;
}

static enum gt_exit configure_reports(struct command *c)
{
	const struct gt_configured_report *wrong = NULL;
	struct gt_err err = GT_ERR_INIT;
	int rc = gt_report_options_configure(
		&c->opt->reports, c->selection.list, c->selection.n, &wrong, &err);

	if (rc == -EINVAL && wrong->option)
		return gt_fail_at(wrong->option, wrong->text, &err);
	return !rc ? GT_EXIT_CLEAN
		   : gt_fail(NULL, &err, rc == -EINVAL ? GT_EXIT_USAGE : GT_EXIT_FAILURE);
}

/* diff needs two files; all other commands also take folders. */
static enum gt_exit name_files(struct command *c, char **operands, int n)
{
	struct gt_err err = GT_ERR_INIT;
	const char *folder;

	if (!c->opt->list && !c->opt->explain &&
		gt_files_expand(&c->files, operands, n, &folder, &err))
		return gt_fail(folder, &err, GT_EXIT_FAILURE);
	if (c->diff && c->files.n != 2) {
		gt_err_set(&err, -EINVAL, "diff compares two files; the folder has %zu",
			c->files.n - 1);
		return gt_fail(NULL, &err, GT_EXIT_USAGE);
	}
	if (c->files.left_out)
		gt_message(stderr, "gtanalyze",
			"files in the folder that are not traces, and are skipped: %zu",
			c->files.left_out);
	return GT_EXIT_CLEAN;
}

/* ---- running it ---- */

/* Explains the named reports, or without any the program. */
static enum gt_exit print_help(const struct command *c)
{
	const struct gt_report_selection *s = &c->selection;
	bool colours = gt_terminal_colours(STDOUT_FILENO, (enum gt_colour_when)c->opt->colour);
	struct gt_err err = GT_ERR_INIT;

	gt_output_page(c->opt);
	if (s->in_default_report)
		gt_program_options_help(stdout);
	if ((fflush(stdout) || ferror(stdout)) && !gt_output_is_pager_closed(-errno)) {
		gt_err_set(&err, -EIO, "cannot write standard output: %s", strerror(errno));
		return gt_fail(NULL, &err, GT_EXIT_FAILURE);
	}
	for (unsigned i = s->header ? 0 : 1; !s->in_default_report && i < s->n; i++)
		if (gt_report_help(s->list[i], &c->opt->reports, colours, &err) &&
			!gt_output_is_pager_closed(err.code))
			return gt_fail(NULL, &err, GT_EXIT_FAILURE);
	return GT_EXIT_CLEAN;
}

static enum gt_exit print_lists(const struct command *c, struct gt_out *out)
{
	const struct gt_report_selection *s = &c->selection;
	struct gt_err err = GT_ERR_INIT;

	gt_output_page(c->opt);
	if (c->opt->explain)
		gt_explain(s->list + 1, s->in_default_report ? 0 : s->n - 1, out);
	else if (gt_list_reports((enum gt_table_format)c->opt->format, out, &err))
		return gt_fail(NULL, &err, GT_EXIT_FAILURE);
	return GT_EXIT_CLEAN;
}

/* Reports on each file in turn. A file that cannot be read does not stop the others. */
static void report_each(struct gt_analyze_job *job, const struct gt_files *files)
{
	bool any = false;

	for (size_t i = 0; i < files->n; i++) {
		struct gt_err err = GT_ERR_INIT;
		struct gt_report_subject s = { .name = files->list[i], .several = files->n > 1 };

		gt_progress_line_start(s.name, !job->opt->no_progress);
		s.reader = gt_open_any(s.name, &err);
		if (any && s.reader && job->opt->format != GT_JSON)
			gt_out_str(job->out, job->opt->format == GT_CSV ? "\r\n" : "\n");
		any |= s.reader != NULL;
		if (!s.reader || gt_report_trace(job, &s, &err))
			gt_analyze_job_add_status(job, gt_fail(s.name, &err, GT_EXIT_FAILURE));
		gt_reader_close(s.reader);
	}
}

static enum gt_exit report(const struct command *c, struct gt_out *out)
{
	struct gt_analyze_job job = { .opt = c->opt, .selection = &c->selection, .out = out };
	struct gt_err err = GT_ERR_INIT;
	struct gt_out page;

	gt_out_memory(&page);
	job.page = c->opt->html ? &page : NULL;
	if (c->diff)
		gt_compare_traces(&job, c->files.list);
	else if (c->files.n > 1 && !c->opt->per_rank)
		gt_report_ranks(&job, c->files.list, (int)c->files.n);
	else
		report_each(&job, &c->files);
	if (job.page && page.len && gt_page_of_reports(&page, out, &err))
		gt_analyze_job_add_status(&job, gt_fail(NULL, &err, GT_EXIT_FAILURE));
	gt_out_close(&page, &err);
	return job.status;
}

/* Does what the command line asks for and writes it to the output. */
static enum gt_exit run_command(const struct command *c)
{
	const struct gt_program_options *opt = c->opt;
	bool lists = opt->list || opt->explain;
	struct gt_err err = GT_ERR_INIT;
	enum gt_exit status;
	struct gt_out out;

	for (size_t i = 0; i < c->files.n && !lists; i++)
		if (gt_out_would_destroy(opt->output, c->files.list[i], &err))
			return gt_fail(NULL, &err, GT_EXIT_FAILURE);
	if (gt_trace_symbols_start(opt->symbols.items, opt->symbols.n, &err))
		return gt_fail(NULL, &err, GT_EXIT_USAGE);
	if (gt_out_open(&out, opt->output, opt->force, &err))
		return gt_fail(NULL, &err, GT_EXIT_FAILURE);
	out.colours = gt_terminal_colours(gt_out_fd(&out), (enum gt_colour_when)opt->colour);
	status = lists ? print_lists(c, &out) : report(c, &out);
	if (status != GT_EXIT_FAILURE && gt_alloc_failed()) {
		gt_err_set(&err, -ENOMEM, GT_ALLOC_FAILURE_TEXT);
		gt_out_fail(&out, -ENOMEM);
	}
	return gt_out_close(&out, &err) && !gt_output_is_pager_closed(err.code)
		? gt_fail(NULL, &err, GT_EXIT_FAILURE)
		: status;
}

int main(int argc, char **argv)
{
	struct gt_err err = GT_ERR_INIT;
	struct command c = { .opt = NULL };
	enum gt_exit status;
	int n, first, rc;

	gt_std_fds_occupy();
	gt_interrupts_install();
	/* reports allocate rarely, and each thread would map an arena of 64 MiB */
	mallopt(M_ARENA_MAX, 1);
	rc = gt_program_options_parse(&c.opt, argc, argv, &n, &err);
	if (rc)
		return rc > 0
			? GT_EXIT_CLEAN
			: gt_fail(NULL, &err, rc == -EINVAL ? GT_EXIT_USAGE : GT_EXIT_FAILURE);
	first = read_operands(&c, argv + 1, n, &err);
	status = first < 0 ? gt_fail(NULL, &err, GT_EXIT_USAGE) : configure_reports(&c);
	if (!status && c.opt->help)
		status = print_help(&c);
	else if (!status)
		status = name_files(&c, argv + 1 + first, n - first);
	if (!status && !c.opt->help)
		status = run_command(&c);
	gt_progress_line_stop();
	gt_trace_symbols_report("gtanalyze");
	gt_trace_symbols_finish();
	gt_pager_finish();
	gt_files_release(&c.files);
	gt_gates_release(&c.selection.gates);
	gt_program_options_release(c.opt);
	return status;
}
