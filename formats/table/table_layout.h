/* A table's rows laid out as text, for the viewer, which draws them itself: which columns fit, how
 * wide they are, and the texts of titles and cells. */
#ifndef GT_TABLE_LAYOUT_H
#define GT_TABLE_LAYOUT_H
#include "formats/table/table.h"

struct gt_table_layout;
/* column: of the table; at: its first column on the screen; align_left: else right */
struct gt_layout_column {
	unsigned column, at, width;
	bool align_left;
};
struct gt_layout_cell { /* borrowed from the layout */
	const char *text;
	unsigned width;
	enum gt_tone tone;
};

/* new: free it. The table is borrowed, and must not change. NULL with err filled in. */
struct gt_table_layout *gt_table_layout_new(
	const struct gt_table *t, size_t width, struct gt_err *err);
void gt_table_layout_free(struct gt_table_layout *l); /* NULL is fine */
/* The columns that are shown. Together they may be wider than `width`. */
const struct gt_layout_column *gt_layout_columns(const struct gt_table_layout *l, unsigned *n);
unsigned gt_layout_title_lines(const struct gt_table_layout *l);
/* A line of the title of the i-th shown column. *len 0: it is empty. */
const char *gt_layout_title(
	const struct gt_table_layout *l, unsigned i, unsigned line, size_t *len);
struct gt_layout_cell gt_layout_cell(const struct gt_table_layout *l, unsigned row, unsigned i);
#endif
