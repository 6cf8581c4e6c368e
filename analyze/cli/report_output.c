#include "analyze/cli/report_output.h"

#include <string.h>
#include "analyze/cli/page_tables.h"
#include "formats/cmdline/pager.h"
#include "formats/text/printable.h"

void gt_output_page(const struct gt_program_options *o)
{
	if (!o->no_pager && !strcmp(o->output, "-"))
		gt_pager_start();
}

bool gt_output_is_pager_closed(int code) { return code == -EPIPE && gt_pager_is_used(); }

static bool is_header(const struct gt_table *t)
{
	return !strcmp(gt_table_name(t), "header") || !strcmp(gt_table_name(t), "damage");
}

static void print_notes(const char *file, struct gt_table *const *tables, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const char *table = is_header(tables[i]) ? "" : gt_table_name(tables[i]), *note;

		for (size_t k = 0; (note = gt_table_get_note(tables[i], k)); k++)
			gt_message(stderr, "gtanalyze", "%s: %s%s%s", file, table,
				*table ? ": " : "", note);
	}
}

int gt_output_tables(const struct gt_analyze_job *job, const char *file, bool several,
	struct gt_table *const *tables, unsigned n, struct gt_err *err)
{
	enum gt_table_format format = (enum gt_table_format)job->opt->format;
	bool rows_only = format != GT_TEXT && format != GT_JSON;
	unsigned skip = 0;
	int rc;

	if (job->page) {
		gt_out_str(job->page, job->page->len ? "," : "");
		return gt_page_document(tables, n, file, job->page, err);
	}
	for (unsigned i = 0; i < n && job->opt->names != GT_NAME_SHORT; i++)
		gt_table_widen_names(tables[i]);
	while (rows_only && !job->selection->header && skip < n && is_header(tables[skip]))
		skip++;
	gt_output_page(job->opt);
	rc = gt_tables_print(tables + skip, n - skip, format, several ? file : NULL, job->out, err);
	gt_out_flush(job->out); /* also after an error: its message comes after the tables */
	if (gt_output_is_pager_closed(rc))
		rc = 0;
	if (!rc && rows_only)
		print_notes(file, tables, n);
	return rc;
}
