#include "analyze/cli/report_list.h"

#include "analyze/core/run.h"

/* The reports of a family. NULL: those without one, or all. */
static struct gt_table *list_family(const char *family, bool all)
{
	static const struct gt_column columns[] = {
		{ "report", "Report", GT_C_WHOLE },
		{ "default", "Default", GT_C_TEXT },
		{ "answers", "Answers", GT_C_WHOLE },
	};
	static const char *const words[] = { [GT_DEFAULT_NEVER] = "no",
		[GT_DEFAULT_ALWAYS] = "yes",
		[GT_DEFAULT_GPU] = "with GPU",
		[GT_DEFAULT_CALLS] = "without GPU" };
	struct gt_table *t = gt_table_new("reports", family, columns, 3);

	for (unsigned i = 0; t && gt_analyses[i]; i++)
		if (all || gt_analyses[i]->family == family)
			gt_table_add(t,
				(struct gt_cell[]){ { .s = gt_analyses[i]->name },
					{ .s = words[gt_analyses[i]->in_default] },
					{ .s = gt_analyses[i]->help } });
	if (t)
		gt_table_gives_way(t, "default");
	return t;
}

/* Programs get one table. Text shows the reports with names of other tools last, under a
 * heading. */
int gt_list_reports(enum gt_table_format format, struct gt_out *out, struct gt_err *err)
{
	bool apart = format == GT_TEXT;
	struct gt_table *tables[GT_RUN_REPORTS] = { list_family(NULL, !apart) };
	unsigned n = 1;
	int rc;

	for (unsigned i = 0; apart && gt_analyses[i]; i++)
		if (gt_analyses[i]->family &&
			(!i || gt_analyses[i]->family != gt_analyses[i - 1]->family))
			tables[n++] = list_family(gt_analyses[i]->family, false);
	rc = gt_tables_print(tables, n, format, NULL, out, err);
	while (n)
		gt_table_free(tables[--n]);
	return rc;
}
