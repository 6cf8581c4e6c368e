#include "analyze/cli/page_tables.h"

#include <unistd.h>
#include "analyze/core/run.h"
#include "formats/export/html/html_page.h"

#define ROWS_MOST 1000 /* of a table of a page with a timeline */
#define THREADS_MOST 4

static const char *const kinds[] = { [GT_C_TEXT] = "text",
	[GT_C_WHOLE] = "whole",
	[GT_C_DATA] = "data",
	[GT_C_COUNT] = "count",
	[GT_C_NS] = "ns",
	[GT_C_TIME] = "time",
	[GT_C_BYTES] = "bytes",
	[GT_C_PERCENT] = "percent",
	[GT_C_REAL] = "real",
	[GT_C_FIGURE] = "figure" };

static void put_text(struct gt_out *out, const char *s)
{
	if (s)
		gt_out_json(out, s, strlen(s));
	else
		gt_out_str(out, "null");
}

static void describe(const struct gt_table *t, struct gt_out *out)
{
	unsigned n;
	const struct gt_column *columns = gt_table_columns(t, &n);

	gt_out_str(out, "{\"title\":");
	put_text(out, gt_table_title(t));
	gt_out_str(out, ",\"report\":");
	put_text(out, gt_table_report(t));
	gt_out_str(out, ",\"columns\":[");
	for (unsigned i = 0; i < n; i++) {
		gt_out_str(out, i ? ",[" : "[");
		put_text(out, columns[i].key);
		gt_out_str(out, ",");
		put_text(out, columns[i].title);
		gt_out_printf(out, ",\"%s\"]", kinds[columns[i].kind]);
	}
	gt_out_str(out, "]}");
}

int gt_page_document(struct gt_table *const *tables, unsigned n, const char *file,
	struct gt_out *out, struct gt_err *err)
{
	int rc;

	gt_out_str(out, "{\"file\":");
	put_text(out, file);
	gt_out_str(out, ",\"columns\":{");
	for (unsigned i = 0; i < n; i++) {
		gt_out_str(out, i ? ",\n" : "");
		put_text(out, gt_table_name(tables[i]));
		gt_out_str(out, ":");
		describe(tables[i], out);
	}
	gt_out_str(out, "},\n\"tables\":");
	rc = gt_tables_print(tables, n, GT_JSON, NULL, out, err);
	gt_out_str(out, "}\n");
	return rc;
}

static unsigned processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > THREADS_MOST ? THREADS_MOST : (unsigned)n;
}

int gt_page_reports(struct gt_reader *r, const struct gt_filter *filter, const char *file,
	const char *restrictions, struct gt_out *out, struct gt_err *err)
{
	static const char *const of_gpu[] = { "header", "advice", "budget", "top", "kernels",
		"copies", "gaps", "sync", "launches", "steps", "memory", "errors", NULL },
				 *const of_calls[] = { "header", "top", "summary", "threads",
					 "memory", "errors", "steps", NULL };
	const char *const *names = gt_default_use_of(r) == GT_DEFAULT_CALLS ? of_calls : of_gpu;
	const struct gt_analysis *chosen[16];
	struct gt_table *tables[GT_RUN_TABLES] = { NULL };
	struct gt_analysis_options opt = {
		.file = file, .top = ROWS_MOST, .filter = *filter, .restrictions = restrictions
	};
	unsigned n = 0;
	int rc;

	for (; names[n]; n++)
		chosen[n] = gt_analysis_find(names[n]);
	opt.origin = gt_reader_segments(r) ? gt_reader_segment(r, 0)->min_start : 0;
	rc = gt_run(r, chosen, n, &opt, processors(), tables, err);
	gt_out_str(out, "[");
	if (rc >= 0)
		rc = gt_page_document(tables, (unsigned)rc, file, out, err);
	gt_out_str(out, "]");
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	return rc < 0 ? rc : 0;
}

int gt_page_of_reports(const struct gt_out *documents, struct gt_out *out, struct gt_err *err)
{
	struct gt_html_page page = { .sections = { { .len = 0 } } };
	struct gt_buf list = { .len = 0 };
	int rc;

	gt_buf_byte(&list, '[');
	gt_buf_add(&list, documents->data, documents->len);
	gt_buf_byte(&list, ']');
	rc = documents->failed || list.failed
		? -ENOMEM
		: gt_html_page_add(&page, GT_HTML_REPORTS, list.data, list.len);
	if (rc)
		gt_err_set(err, rc, "out of memory");
	else
		gt_html_page_write(&page, out);
	gt_html_page_release(&page);
	gt_buf_release(&list);
	return rc;
}
