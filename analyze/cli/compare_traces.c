#include "analyze/cli/compare_traces.h"

#include "analyze/cli/command_exit.h"
#include "analyze/cli/report_output.h"
#include "analyze/cli/trace_options.h"
#include "formats/cmdline/progress_line.h"
#include "formats/import/importers.h"

static int read_side(struct gt_side *side, struct gt_analyze_job *job, const char *path,
	const struct gt_diff_request *request, bool steady)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_trace_options given;
	struct gt_reader *r;
	int rc;

	gt_progress_line_start(path, !job->opt->no_progress);
	r = gt_open_any(path, &err);
	if (!r) {
		gt_analyze_job_add_status(job, gt_fail(path, &err, GT_EXIT_FAILURE));
		return -1;
	}
	rc = gt_trace_options_set(&given, job->opt, r, path, NULL, steady, &err);
	given.analysis.compared = true;
	if (!rc)
		rc = gt_side_read(
			side, r, request, &given.analysis, (unsigned)job->opt->threads, &err);
	gt_analyze_job_add_status(job, gt_exit_of_damage(r));
	if (rc)
		gt_analyze_job_add_status(job, gt_fail(path, &err, GT_EXIT_FAILURE));
	gt_trace_options_release(&given);
	gt_reader_close(r);
	gt_progress_line_stop();
	return rc;
}

static int read_sides(struct gt_side sides[2], struct gt_analyze_job *job, char *const files[2])
{
	struct gt_diff_request request = job->selection->diff;
	int rc = 0;

	gt_gates_request(&job->selection->gates, &request);
	for (unsigned i = 0; !rc && i < 2; i++)
		rc = read_side(&sides[i], job, files[i], &request, true);
	/* if only one of them has steady steps, the whole runs are compared */
	for (unsigned i = 0; !rc && i < 2; i++)
		if (sides[i].steady && !sides[!i].steady) {
			gt_side_release(&sides[i]);
			rc = read_side(&sides[i], job, files[i], &request, false);
		}
	return rc;
}

/* Checks the gates on the n tables of the comparison, and appends the table "gates". */
static int check_gates(struct gt_analyze_job *job, const struct gt_side sides[2],
	struct gt_table **tables, int n, struct gt_err *err)
{
	int rc = gt_gates_check(
		&job->selection->gates, &sides[0], &sides[1], tables, (unsigned)n, &tables[n], err);

	if (rc > 0)
		gt_analyze_job_add_status(job, (enum gt_exit)rc);
	return rc < 0 ? rc : n + 1;
}

static int print_diff(struct gt_analyze_job *job, const struct gt_side sides[2], struct gt_err *err)
{
	struct gt_diff_request request = job->selection->diff;
	struct gt_table *tables[GT_DIFF_TABLES + 1] = { NULL };
	int n;

	request.form = (enum gt_name_form)job->opt->names;
	request.top = gt_program_options_top(job->opt);
	n = gt_diff(&sides[0], &sides[1], &request, tables, err);
	if (n >= 0)
		gt_analyze_job_add_status(job, gt_exit_of_tables(tables, n));
	if (n >= 0 && job->selection->gates.n)
		n = check_gates(job, sides, tables, n, err);
	if (n >= 0)
		n = gt_output_tables(job, "diff", false, tables, (unsigned)n, err);
	for (unsigned i = 0; i < GT_DIFF_TABLES + 1; i++)
		gt_table_free(tables[i]);
	return n;
}

void gt_compare_traces(struct gt_analyze_job *job, char *const files[2])
{
	struct gt_side sides[2] = { 0 };
	struct gt_err err = GT_ERR_INIT;

	if (!read_sides(sides, job, files) && print_diff(job, sides, &err))
		gt_analyze_job_add_status(job, gt_fail(NULL, &err, GT_EXIT_FAILURE));
	gt_side_release(&sides[0]);
	gt_side_release(&sides[1]);
}
