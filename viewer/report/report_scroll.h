/* A page on a screen: which of its lines stand where, and a cursor that goes from row to row and is
 * always seen. While rows of a table are seen its titles are, too: they stay at the top when their
 * lines are above it. */
#ifndef GT_REPORT_SCROLL_H
#define GT_REPORT_SCROLL_H
#include <stdbool.h>
#include "viewer/report/report_page.h"

struct gt_report_scroll { /* zero-initialised is empty */
	/* whoever lays it out anew says afterwards where the cursor is */
	struct gt_report_page page;
	size_t top, cursor; /* lines of it */
	unsigned column;    /* at hand, of those of the cursor's table that are shown */
	unsigned body;      /* lines of the screen that it has, from line 1 on */
	bool still;         /* there is no cursor: it begins at its beginning */
};

/* NULL: the page ends before */
const struct gt_report_page_line *gt_report_scroll_line(
	const struct gt_report_scroll *s, size_t line);
/* which that line is of, or NULL */
const struct gt_report_page_table *gt_report_scroll_table(
	const struct gt_report_scroll *s, size_t line);
/* The line of the page that is drawn in line y of the screen, or SIZE_MAX. */
size_t gt_report_scroll_on(const struct gt_report_scroll *s, int y);

/* `body` or the page have changed: the cursor is on the screen, with what stands above the first
 * row of its table, if that can be. */
void gt_report_scroll_by(struct gt_report_scroll *s);
/* The cursor goes to that line, or to the next row after it, or else to the last one before. */
void gt_report_scroll_go(struct gt_report_scroll *s, size_t line);
/* by so many rows, as far as there are any; without rows not at all */
void gt_report_scroll_move(struct gt_report_scroll *s, int64_t by);
/* The page moves by so many lines, and the cursor as little as it must. */
void gt_report_scroll_slide(struct gt_report_scroll *s, int64_t by);
/* to the first row of the next table that has any; by: 1 or -1 */
void gt_report_scroll_next_table(struct gt_report_scroll *s, int by);
/* to a neighbour, if there is one */
void gt_report_scroll_step_column(struct gt_report_scroll *s, int by);
#endif
