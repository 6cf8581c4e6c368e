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

/* The columns of a table of calls: one of each kind of figure. */
static const struct gt_column call_columns[] = {
	{ "name", "Name", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "peak_bytes", "Peak", GT_C_BYTES },
	{ "share_percent", "Share", GT_C_PERCENT },
	{ "at_ns", "At", GT_C_TIME },
	{ "rate", "Rate", GT_C_REAL },
};
#define CALL_COLUMNS (sizeof(call_columns) / sizeof(*call_columns))

static inline void add_call(struct gt_table *t, const char *name, int64_t count, int64_t ns,
	int64_t bytes, int64_t share)
{
	gt_table_add(t,
		(struct gt_cell[]){ { .s = name }, { .i = count }, { .i = ns }, { .i = bytes },
			{ .i = share }, { .i = 1500000000 }, { .d = 2.5 } });
}
#endif
