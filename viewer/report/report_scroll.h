/* Scrolling of a page: which lines are on the screen, and a cursor that moves from row to row and
 * stays visible. While rows of a table are visible, its titles are, too: they stay at the top. */
#ifndef GT_REPORT_SCROLL_H
#define GT_REPORT_SCROLL_H
#include <stdbool.h>
#include "viewer/report/report_page.h"

struct gt_report_scroll { /* zero-initialised is empty */
	/* after a new layout set the cursor */
	struct gt_report_page page;
	size_t top, cursor; /* lines of the page */
	unsigned column;    /* current column, of the visible columns of the cursor's table */
	unsigned body;      /* screen lines of the page, from line 1 on */
	bool is_static;     /* a printed frame: no cursor, shown from the start */
};

/* NULL: after the end of the page */
const struct gt_report_page_line *gt_report_scroll_line(
	const struct gt_report_scroll *s, size_t line);
/* the table of a line, or NULL */
const struct gt_report_page_table *gt_report_scroll_table(
	const struct gt_report_scroll *s, size_t line);
/* The page line on line y of the screen, or SIZE_MAX. */
size_t gt_report_scroll_line_at(const struct gt_report_scroll *s, int y);

/* Call it after a change of `body` or the page: makes the cursor visible, with the titles above it
 * if possible. */
void gt_report_scroll_update(struct gt_report_scroll *s);
/* Moves the cursor to that line, or the next row after it, else the last row before it. */
void gt_report_scroll_to(struct gt_report_scroll *s, size_t line);
/* by at most so many rows */
void gt_report_scroll_move(struct gt_report_scroll *s, int64_t by);
/* Scrolls by so many lines, and moves the cursor as little as needed. */
void gt_report_scroll_slide(struct gt_report_scroll *s, int64_t by);
/* to the first row of the next table with rows; by: 1 or -1 */
void gt_report_scroll_next_table(struct gt_report_scroll *s, int by);
/* to a neighbouring column, if there is one */
void gt_report_scroll_step_column(struct gt_report_scroll *s, int by);
#endif
