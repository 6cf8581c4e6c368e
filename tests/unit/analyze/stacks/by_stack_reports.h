/* Runs reports with --by in the same way as gtanalyze. The includer defines _GNU_SOURCE. */
#ifndef BY_STACK_REPORTS_H
#define BY_STACK_REPORTS_H
#include "tests/unit/reports.h"
#include "tests/unit/stack_program.h"

/* The report's output, which the caller frees; closes the reader. by NULL: without --by. NULL: it
 * failed. */
static inline char *by_stack_text(struct gt_reader *r, const char *name, const char *by,
	unsigned threads, enum gt_table_format format, struct gt_err *err)
{
	struct gt_configured_report c = { .report = *gt_analysis_find(name) };
	const struct gt_analysis *chosen[] = { &c.report };
	struct gt_table *tables[GT_RUN_TABLES] = { NULL };
	struct gt_report_option given[3] = { { "by", by } };
	struct gt_analysis_options o = { .file = "trace", .report_options = given };
	struct gt_out out;
	char *text = NULL;
	int made = 0;

	if (!by)
		given[0].name = NULL;
	else if (c.report.configure)
		made = c.report.configure(&c, &o, err);
	if (c.settings)
		given[1] = (struct gt_report_option){ name, c.settings };
	o.origin = gt_reader_segment(r, 0)->min_start;
	if (!made)
		made = gt_run(r, chosen, 1, &o, threads, tables, err);
	gt_out_memory(&out);
	if (made >= 0 && !gt_tables_print(tables, (unsigned)made, format, NULL, &out, err))
		text = strndup(out.data, out.len);
	gt_out_close(&out, NULL);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	if (c.settings)
		c.report.free_settings(c.settings);
	gt_reader_close(r);
	return text;
}

static inline json_t *by_stack(struct gt_reader *r, const char *name, const char *by)
{
	struct gt_err err = GT_ERR_INIT;
	char *text = by_stack_text(r, name, by, 1, GT_JSON, &err);
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	if (!json)
		gt_err_print("test", NULL, &err);
	free(text);
	return json;
}
#endif
