/* A report as a page of lines: its tables one below the other, each with its title and notes above
 * its rows. Rows can be sorted; the tables do not change. */
#ifndef GT_REPORT_PAGE_H
#define GT_REPORT_PAGE_H
#include "formats/base/buf.h"
#include "formats/table/table_layout.h"
#include "viewer/view/item_search.h"

enum gt_report_page_line_kind {
	GT_LINE_BLANK,
	GT_LINE_HEADING,
	GT_LINE_WORDS,
	GT_LINE_TITLES,
	GT_LINE_ROW
};
struct gt_report_page_line {
	uint8_t kind;
	uint32_t table;
	/* words: offset in texts; titles: number of the title line; a row: its position in order */
	uint32_t at;
};
struct gt_report_page_table {
	const struct gt_table *table;
	struct gt_table_layout *layout;
	/* rows in display order; NULL: no rows are shown */
	uint32_t *order;
	int sorted; /* by this column of the table; -1: order of the report */
	bool descending;
	size_t titles, rows; /* first lines of its titles and rows */
	size_t before;       /* number of rows of the tables before it */
};
struct gt_report_page { /* zero-initialised is empty */
	struct gt_report_page_table *tables;
	unsigned ntables;
	struct gt_report_page_line *lines;
	size_t nlines, cap, nrows;
	struct gt_buf texts; /* NUL-terminated texts */
};

/* Lays out the tables with their rows in table order. Of `about` (NULL: none) only the notes are
 * shown, above or below all others. The tables are borrowed. 0 or negative; release it in both
 * cases. */
int gt_report_page_lay(struct gt_report_page *p, struct gt_table *const *tables, unsigned n,
	const struct gt_table *about, bool above, unsigned width, struct gt_err *err);
void gt_report_page_release(struct gt_report_page *p);

/* The table row of a line, or -1. */
int64_t gt_report_page_row(const struct gt_report_page *p, size_t line);
/* The line of a row of a table, else the first row line of that table. */
size_t gt_report_page_line_of(const struct gt_report_page *p, uint32_t table, int64_t row);
/* Sorts a table by a column (-1: order of the report); absent values come last. The sort is stable.
 * 0 or -ENOMEM. */
int gt_report_page_sort(struct gt_report_page *p, uint32_t table, int column, bool descending);
/* The next line after `line` (`step` 1 or -1) with a row, or `line` if there is none. */
size_t gt_report_page_next_row(const struct gt_report_page *p, size_t line, int step);
/* The items of a search: rows, numbered in table order, so that sorting and layout do not matter. A
 * row matches if the full text of one of its cells does. Their places are the lines. */
struct gt_items gt_report_page_items(const struct gt_report_page *p);
/* Appends what a row has beyond the visible columns: "Title: text; ...", with a NUL. */
void gt_report_page_rest(const struct gt_report_page *p, uint32_t table, uint32_t row,
	unsigned width, struct gt_buf *to);
#endif
