/* Shared by the tests of tables. */
#ifndef TABLES_H
#define TABLES_H
#include "formats/table/table.h"

/* The output of the tables: static, valid until the next call. */
static inline const char *print(struct gt_table **t, unsigned n, enum gt_table_format f)
{
	static char text[100000];
	struct gt_out o;

	gt_out_memory(&o);
	if (gt_tables_print(t, n, f, NULL, &o, NULL))
		return "failed";
	snprintf(text, sizeof(text), "%.*s", (int)o.len, o.data);
	gt_out_close(&o, NULL);
	return text;
}
#endif
