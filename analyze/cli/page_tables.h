/* Tables of reports for an HTML page (formats/export/html/html_page.h): JSON with the tables as
 * `--format json` prints them, and what people see of their columns. A page has a list of
 * documents, one for each file:
 *
 *     {"file": name, "columns": {table: {"title": text or null, "columns": [[key, title or null,
 *      kind], ...]}}, "tables": {...}}
 *
 * kind: text, whole, data, count, ns, time, bytes, percent, real or figure (enum gt_cell_kind). */
#ifndef GT_PAGE_TABLES_H
#define GT_PAGE_TABLES_H
#include "analyze/core/analysis.h"
#include "formats/io/stream_out.h"

/* Writes one document. 0 or negative. */
int gt_page_document(struct gt_table *const *tables, unsigned n, const char *file,
	struct gt_out *out, struct gt_err *err);
/* Runs the reports that a page with a timeline has, and writes the list with their document.
 * restrictions: as in gt_analysis_options. 0 or negative. */
int gt_page_reports(struct gt_reader *r, const struct gt_filter *filter, const char *file,
	const char *restrictions, struct gt_out *out, struct gt_err *err);
/* Writes a page without a timeline. documents: separated by commas. 0 or negative. */
int gt_page_of_reports(const struct gt_out *documents, struct gt_out *out, struct gt_err *err);
#endif
