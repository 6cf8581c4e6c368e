#include "analyze/cli/report_ranks.h"

#include <stdio.h>
#include "analyze/cli/command_exit.h"
#include "analyze/cli/report_trace.h"
#include "analyze/cli/time_range_option.h"
#include "formats/cmdline/progress_line.h"

static void report(struct gt_analyze_job *job, const struct gt_report_subject *s)
{
	struct gt_err err = GT_ERR_INIT;

	if (gt_report_trace(job, s, &err))
		gt_analyze_job_add_status(job, gt_fail(s->name, &err, GT_EXIT_FAILURE));
}

static void report_each(struct gt_analyze_job *job, const struct gt_ranks *ranks)
{
	struct gt_analysis_options o = { .top = 0 };
	struct gt_time_ranges times;
	struct gt_err err = GT_ERR_INIT;

	if (gt_time_ranges_set(&times, &o, ranks->all, NULL, NULL, NULL, &err))
		gt_analyze_job_add_status(job, gt_fail(NULL, &err, GT_EXIT_FAILURE));
	for (size_t i = 0; times.origins && i < ranks->nread; i++) {
		const struct gt_rank *r = &ranks->list[i];

		gt_out_str(job->out, "\n=== ");
		gt_out_printable(job->out, ranks->numbered ? r->called : "");
		gt_out_str(job->out, ranks->numbered ? ": " : "");
		gt_out_printable(job->out, r->path);
		gt_out_str(job->out, " ===\n\n");
		report(job,
			&(struct gt_report_subject){ .name = r->path,
				.reader = r->reader,
				.origins = times.origins + r->first,
				.no_header = true });
	}
	gt_time_ranges_release(&times);
}

/* Splits the reports: text prints those with per_recording one rank after the other. Other
 * formats have one table, whose rows name the rank. */
static void split(const struct gt_analyze_job *job, struct gt_report_selection *together,
	struct gt_report_selection *apart)
{
	const struct gt_report_selection *c = job->selection;

	*together = *apart = *c;
	together->n = apart->n = 0;
	for (unsigned i = 0; i < c->n; i++) {
		bool alone = job->opt->format == GT_TEXT && c->list[i]->per_recording;

		if (!alone || !i)
			together->list[together->n++] = c->list[i];
		if (alone || !i) /* the header comes first in both lists */
			apart->list[apart->n++] = c->list[i];
	}
}

static void report_ranks(struct gt_analyze_job *job, const struct gt_ranks *ranks)
{
	const struct gt_report_selection *all = job->selection;
	static struct gt_report_selection together, apart; /* job refers to them */
	struct gt_err err = GT_ERR_INIT;
	char name[32];
	int rc;

	split(job, &together, &apart);
	snprintf(name, sizeof(name), "%zu file%s", ranks->nread, gt_plural(ranks->nread, "s"));
	job->selection = &together;
	rc = gt_report_trace(job,
		&(struct gt_report_subject){ .name = name, .reader = ranks->all, .ranks = ranks },
		&err);
	if (rc)
		gt_analyze_job_add_status(job, gt_fail(name, &err, GT_EXIT_FAILURE));
	job->selection = &apart;
	if (!rc && apart.n > 1)
		report_each(job, ranks);
	job->selection = all;
}

void gt_report_ranks(struct gt_analyze_job *job, char **files, int n)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_ranks ranks;
	char name[32];
	int failed;

	snprintf(name, sizeof(name), "%d files", n);
	gt_progress_line_start(name, !job->opt->no_progress);
	failed = gt_ranks_open(&ranks, files, (size_t)n, (unsigned)job->opt->threads, &err);
	if (failed)
		gt_analyze_job_add_status(job, gt_fail(NULL, &err, GT_EXIT_FAILURE));
	for (size_t i = ranks.nread; !failed && i < ranks.n; i++)
		if (!ranks.list[i].same)
			gt_analyze_job_add_status(job,
				gt_fail(ranks.list[i].path, &ranks.list[i].err, GT_EXIT_FAILURE));
	if (!failed && ranks.nread)
		report_ranks(job, &ranks);
	gt_ranks_release(&ranks);
}
