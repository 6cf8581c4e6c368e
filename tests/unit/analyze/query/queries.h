/* Runs queries on a trace in the same way as gtanalyze. The includer defines _GNU_SOURCE
 * (memfd_create). */
#ifndef QUERIES_H
#define QUERIES_H
#include "tests/unit/reports.h"

/* Closes the reader; takes ownership of q, which may be NULL. Returns the report's output, which
 * the caller frees; NULL: it failed. */
static inline char *answer(struct gt_reader *r, struct gt_query *q, const char *name,
	const struct gt_analysis_options *options, unsigned threads, enum gt_table_format format)
{
	struct gt_analysis report = *gt_analysis_find(name);
	const struct gt_analysis *chosen[] = { &report };
	struct gt_table *tables[GT_RUN_TABLES] = { NULL };
	struct gt_analysis_options o = *options;
	struct gt_err err = GT_ERR_INIT;
	struct gt_out out;
	char *text = NULL;
	int made;

	if (!q)
		return gt_reader_close(r), NULL;
	gt_query_configure(q, &report);
	o.origin = gt_reader_segment(r, 0)->min_start;
	o.report_options = (const struct gt_report_option[]){ { "query", q }, { "histogram", q },
		{ NULL, NULL } };
	made = gt_run(r, chosen, 1, &o, threads, tables, &err);
	gt_out_memory(&out);
	if (made >= 0 && !gt_tables_print(tables, (unsigned)made, format, NULL, &out, &err))
		text = strndup(out.data, out.len);
	gt_out_close(&out, &err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	gt_query_free(q);
	gt_reader_close(r);
	return text;
}

static inline char *ask_text(struct gt_reader *r, const char *where, const char *by,
	const char *agg, const struct gt_analysis_options *options, unsigned threads)
{
	struct gt_err err = GT_ERR_INIT;
	const char *option, *wrong;

	return answer(r, gt_query_new(where, by, agg, NULL, &option, &wrong, &err), "query",
		options, threads, GT_JSON);
}

static inline char *ask_hist(struct gt_reader *r, const char *where, const char *by, const char *of,
	const struct gt_analysis_options *options, enum gt_table_format format)
{
	struct gt_err err = GT_ERR_INIT;
	const char *option, *wrong;

	return answer(r, gt_query_new_hist(where, by, of, &option, &wrong, &err), "histogram",
		options, 1, format);
}

static inline json_t *ask(struct gt_reader *r, const char *where, const char *by, const char *agg,
	const struct gt_analysis_options *o)
{
	char *text = ask_text(r, where, by, agg, o, 1);
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	free(text);
	return json;
}
#endif
