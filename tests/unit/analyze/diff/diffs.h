/* Two traces compared: reads both, gives the tables as JSON. The includer defines _GNU_SOURCE. */
#ifndef DIFFS_H
#define DIFFS_H
#include "analyze/core/exit_status.h"
#include "analyze/diff/gate.h"
#include "tests/unit/reports.h"

/* Closes the reader. */
static inline bool read_side(struct gt_side *s, struct gt_reader *r,
	const struct gt_diff_request *asked, unsigned threads)
{
	struct gt_analysis_options o = plain;
	struct gt_err err = GT_ERR_INIT;
	int rc;

	memset(s, 0, sizeof(*s));
	if (!r)
		return false;
	o.origin = gt_reader_segments(r) ? gt_reader_segment(r, 0)->min_start : 0;
	rc = gt_side_read(s, r, asked, &o, threads, &err);
	if (rc)
		gt_err_print("test", NULL, &err);
	gt_reader_close(r);
	return !rc;
}

static inline json_t *tables_as_json(struct gt_table **tables, unsigned n)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_out out;
	json_t *json = NULL;

	gt_out_memory(&out);
	if (!gt_tables_print(tables, n, GT_JSON, NULL, &out, &err))
		json = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	gt_out_close(&out, &err);
	return json;
}

/* reports: NULL-terminated; NULL: the default. gates likewise; NULL: none. *status: of the gates.
 * new. */
static inline json_t *compared(struct gt_reader *a, struct gt_reader *b, const char *const *reports,
	const char *const *gates, int *status)
{
	struct gt_diff_request asked = { 0 }, read;
	struct gt_table *tables[GT_DIFF_TABLES + 1] = { NULL };
	struct gt_opt_list texts = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct gt_gates g = { 0 };
	struct gt_side sides[2];
	json_t *json = NULL;
	int n = -1;
	bool both;

	for (; gates && gates[texts.n]; texts.n++)
		;
	texts.items = (const char **)gates;
	for (size_t i = 0; reports && reports[i]; i++)
		gt_diff_request_report(&asked, reports[i]);
	if (!reports)
		gt_diff_request_report(&asked, NULL);
	read = asked;
	if (!gt_gates_parse(&g, &texts, true, &err))
		gt_gates_request(&g, &read);
	both = read_side(&sides[0], a, &read, 1) & read_side(&sides[1], b, &read, 3);
	if (both && !err.code)
		n = gt_diff(&sides[0], &sides[1], &asked, tables, &err);
	if (n > 0 && gates)
		*status = gt_gates_check(
			&g, &sides[0], &sides[1], tables, (unsigned)n, &tables[n], &err),
		n++;
	if (err.code)
		gt_err_print("test", NULL, &err);
	else if (n > 0)
		json = tables_as_json(tables, (unsigned)n);
	for (unsigned i = 0; i < GT_DIFF_TABLES + 1; i++)
		gt_table_free(tables[i]);
	gt_side_release(&sides[0]);
	gt_side_release(&sides[1]);
	gt_gates_release(&g);
	return json;
}

static inline const json_t *figure_row(const json_t *j, const char *figure, const char *of_row)
{
	for (size_t i = 0; i < rows(j, "figures"); i++)
		if (is(row(j, "figures", i), "figure", figure) &&
			is(row(j, "figures", i), "row", of_row))
			return row(j, "figures", i);
	return NULL;
}

/* A thread that calls each of these so often, for so long on average: the durations go up and down
 * around it by `by` percent, in turn. */
struct made {
	int type, count, ns, by;
};
static inline struct gt_reader *made_of(const struct made *m)
{
	struct trace t;
	int64_t at = 1000;

	begin(&t, true);
	for (; m->count; m++)
		for (int i = 0; i < m->count; i++, at += 100000) {
			int off = (i % 2 ? -1 : 1) * m->ns * m->by / 100 * (i < m->count / 2 * 2);

			call(&t, 0, m->type, at, at + m->ns + off, 0, 0,
				m->type == ALLOC ? 1000 : 0,
				m->type == ALLOC ? 0xa000 + (uint64_t)i : 0);
		}
	gt_writer_epoch(t.w, at, &t.err);
	return end(&t);
}
#endif
