/* A table's rows laid out as text has them, for who draws them elsewhere: which columns there is
 * room for, how wide each is, what their titles and cells say. */
#ifndef GT_TABLE_LAID_H
#define GT_TABLE_LAID_H
#include "formats/table/table.h"

struct gt_laid;
/* the table's column; from which column of the screen on; aligned left? */
struct gt_laid_column {
	unsigned column, at, width;
	bool left;
};
/* borrowed as long as it is laid out */
struct gt_laid_cell {
	const char *text;
	unsigned width;
	enum gt_tone tone;
};

/* The table is borrowed, and must not change meanwhile. new: free it. NULL with err filled in. */
struct gt_laid *gt_table_lay(const struct gt_table *t, size_t width, struct gt_err *err);
void gt_laid_free(struct gt_laid *l); /* NULL is fine */
/* those that are shown. A line may run over */
const struct gt_laid_column *gt_laid_columns(const struct gt_laid *l, unsigned *n);
unsigned gt_laid_title_lines(const struct gt_laid *l);
/* of the i-th that is shown; *len 0: nothing there */
const char *gt_laid_title(const struct gt_laid *l, unsigned i, unsigned line, size_t *len);
struct gt_laid_cell gt_laid_cell(const struct gt_laid *l, unsigned row, unsigned i);
#endif
