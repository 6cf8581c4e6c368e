#include "analyze/cli/report_trace.h"

#include <string.h>
#include "analyze/cli/command_exit.h"
#include "analyze/cli/report_output.h"
#include "analyze/cli/trace_options.h"
#include "formats/cmdline/progress_line.h"

/* Default rows of a table in the default report: it shows at a glance what limits a program. */
#define PAGE_TOP 8

struct tables {
	struct gt_table *list[GT_RUN_TABLES];
	int n;
};

/* ---- several files as one ---- */

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

/* ---- further tables ---- */

/* The reports that are not repeated for the whole run: they are about the file or the steps. */
static bool is_of_steps(const struct gt_analysis *a)
{
	static const char *const names[] = { "header", "steady", "parts", "phases" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(a->name, names[i]))
			return true;
	return false;
}

/* JSON has the figures of the whole run, too: appends their tables, as "whole_run.budget". */
static int add_whole_run(const struct gt_analyze_job *job, const struct gt_report_subject *s,
	const struct gt_analysis_options *o, struct tables *t, struct gt_err *err)
{
	const struct gt_report_selection *c = job->selection;
	const struct gt_analysis *repeated[GT_RUN_REPORTS];
	struct gt_analysis_options whole = *o;
	struct gt_table *more[GT_RUN_TABLES];
	unsigned n = 0;
	int made;

	for (unsigned i = 0; i < c->n; i++)
		if (!is_of_steps(c->list[i]))
			repeated[n++] = c->list[i];
	whole.filter = o->whole_run;
	whole.steady = NULL;
	whole.only_steady = false;
	made = gt_run(s->reader, repeated, n, &whole, (unsigned)job->opt->threads, more, err);
	for (int i = 0; i < GT_RUN_TABLES; i++)
		if (i < made && more[i] && t->n < GT_RUN_TABLES) {
			gt_table_set_prefix(more[i], "whole_run.");
			t->list[t->n++] = more[i];
		} else
			gt_table_free(more[i]);
	return made < 0 ? made : 0;
}

/* Checks the gates on a trace. Gates need all rows of their tables, whatever --top prints. Adds
 * the table "gates". */
static int check_gates(struct gt_analyze_job *job, const struct gt_report_subject *s,
	struct gt_analysis_options o, struct tables *t, struct gt_err *err)
{
	const struct gt_gates *gates = &job->selection->gates;
	struct gt_diff_request read = { 0 };
	struct gt_side side = { 0 };
	int rc;

	if (!gates->n || t->n >= GT_RUN_TABLES)
		return 0;
	gt_gates_request(gates, &read);
	rc = gt_side_read(&side, s->reader, &read, &o, (unsigned)job->opt->threads, err);
	label_ranks(s->ranks, side.tables, side.n);
	if (!rc)
		rc = gt_gates_check(gates, NULL, &side, NULL, 0, &t->list[t->n++], err);
	if (rc > 0)
		gt_analyze_job_add_status(job, (enum gt_exit)rc);
	gt_side_release(&side);
	return rc < 0 ? rc : 0;
}

/* ---- one trace ---- */

static int set_options(struct gt_trace_options *given, const struct gt_analyze_job *job,
	const struct gt_report_subject *s, struct gt_err *err)
{
	struct gt_analysis_options *o = &given->analysis;
	bool text = job->opt->format == GT_TEXT, page = job->selection->in_default_report;
	int rc = gt_trace_options_set(given, job->opt, s->reader, s->name, s->origins, page, err);

	o->ranks = s->ranks ? s->ranks->names : NULL;
	o->in_default_report = page;
	o->one_page = page && text;
	if (o->one_page && job->opt->top == GT_TOP_DEFAULT)
		o->top = PAGE_TOP;
	o->width = text ? gt_tables_width(job->out) : 0;
	return rc;
}

static int make_tables(struct gt_analyze_job *job, const struct gt_report_subject *s,
	struct gt_analysis_options *o, struct tables *t, struct gt_err *err)
{
	const struct gt_report_selection *c = job->selection;
	int rc;

	t->n = gt_run(s->reader, c->list, c->n, o, (unsigned)job->opt->threads, t->list, err);
	if (t->n < 0)
		return t->n;
	if (!c->in_default_report)
		gt_analyze_job_add_status(job, gt_exit_of_tables(t->list, t->n));
	rc = c->in_default_report && job->opt->format == GT_JSON && o->only_steady
		? add_whole_run(job, s, o, t, err)
		: 0;
	if (!rc && !s->no_header)
		rc = check_gates(job, s, *o, t, err);
	if (t->n && s->ranks) {
		label_ranks(s->ranks, t->list, (unsigned)t->n);
		note_missing_files(s->ranks, t->list[0]);
	}
	return rc;
}

int gt_report_trace(
	struct gt_analyze_job *job, const struct gt_report_subject *s, struct gt_err *err)
{
	struct tables t = { .n = 0 };
	struct gt_trace_options given;
	int rc = set_options(&given, job, s, err), skip = 0;

	if (!rc)
		rc = make_tables(job, s, &given.analysis, &t, err);
	while (s->no_header && skip < t.n && !strcmp(gt_table_name(t.list[skip]), "header"))
		skip++;
	gt_progress_line_stop(); /* rows that are printed while they are read show it themselves */
	if (!rc)
		rc = gt_output_tables(
			job, s->name, s->several, t.list + skip, (unsigned)(t.n - skip), err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(t.list[i]);
	gt_analyze_job_add_status(job, gt_exit_of_damage(s->reader));
	gt_trace_options_release(&given);
	return rc;
}
