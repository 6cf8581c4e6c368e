/* A report as a page of lines: its tables one below the other, each with what it says above its
 * rows. Rows can be put in another order; the tables stay as they are. */
#ifndef GT_REPORT_PAGE_H
#define GT_REPORT_PAGE_H
#include "formats/base/buf.h"
#include "formats/table/table_layout.h"

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
	/* words: where they begin in texts; titles: which line of them; a row: the how manieth */
	uint32_t at;
};
struct gt_report_page_table {
	const struct gt_table *table;
	struct gt_table_layout *laid;
	/* rows as they stand; NULL: there are none, or they are not shown as rows */
	uint32_t *order;
	int sorted; /* by this column of the table; -1: as the report has it */
	bool descending;
	size_t titles, rows; /* lines: the first of its titles, and of its rows */
};
struct gt_report_page { /* zero-initialised is empty */
	struct gt_report_page_table *tables;
	unsigned ntables;
	struct gt_report_page_line *lines;
	size_t nlines, cap;
	struct gt_buf texts; /* one behind the other, each with a 0 */
};

/* Lays them out anew; orders are as the tables have their rows. Of `about` (NULL: none) only what
 * it notes is there, above or below all others. The tables are borrowed. 0 or negative; to be
 * released in both cases. */
int gt_report_page_lay(struct gt_report_page *p, struct gt_table *const *tables, unsigned n,
	const struct gt_table *about, bool above, unsigned width, struct gt_err *err);
void gt_report_page_release(struct gt_report_page *p);

/* The row of its table that a line has, or -1. */
int64_t gt_report_page_row(const struct gt_report_page *p, size_t line);
/* The line of a row of a table, or of its table's first line that is there. */
size_t gt_report_page_line_of(const struct gt_report_page *p, uint32_t table, int64_t row);
/* Sorts a table by a column (-1: as it came); what is absent comes last. Equal rows stay as they
 * came. 0 or -ENOMEM. */
int gt_report_page_sort(struct gt_report_page *p, uint32_t table, int column, bool descending);
/* From `line` on (`step` 1 or -1) the next one that has a row, or `line` if there is none. */
size_t gt_report_page_next_row(const struct gt_report_page *p, size_t line, int step);
/* What a row says that there is no room for in so many columns, and what stands in no column:
 * "Title: text", one after the other. Appended with a 0. */
void gt_report_page_rest(const struct gt_report_page *p, uint32_t table, uint32_t row,
	unsigned width, struct gt_buf *to);
#endif
