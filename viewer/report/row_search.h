/* A search over the rows of a page: those of which a cell, as text has all of it, holds what is
 * looked for. Rows are gone through a portion at a time, and told by their tables' numbers on the
 * page: so it does not matter how they are sorted and laid out. */
#ifndef GT_ROW_SEARCH_H
#define GT_ROW_SEARCH_H
#include "viewer/report/report_page.h"

struct gt_row_search;
/* new: free it. NULL: why not in err */
struct gt_row_search *gt_row_search_new(const char *expression, struct gt_err *err);
/* NULL is fine */
void gt_row_search_free(struct gt_row_search *f);
/* From here on of this page's tables; nothing is found yet. 0 or -ENOMEM. */
int gt_row_search_begin(
	struct gt_row_search *f, const struct gt_report_page *p, struct gt_err *err);
/* 1: there is more to do, 0, negative */
int gt_row_search_step(
	struct gt_row_search *f, const struct gt_report_page *p, uint64_t us, struct gt_err *err);
/* were all rows gone through? */
bool gt_row_search_all(const struct gt_row_search *f);
/* The next line of the page, from `line` on (itself not, unless `here`), that has a row which was
 * found; behind the last one the first one comes again, and *around is set. step: 1 or -1.
 * SIZE_MAX: there is none. */
size_t gt_row_search_next(const struct gt_row_search *f, const struct gt_report_page *p,
	size_t line, int step, bool here, bool *around);
/* How many were found, and the how manieth of them on the page stands in that line: 0 when none
 * does. */
size_t gt_row_search_count(
	const struct gt_row_search *f, const struct gt_report_page *p, size_t line, size_t *rank);
/* was its row found? */
bool gt_row_search_has(const struct gt_row_search *f, const struct gt_report_page *p, size_t line);
bool gt_row_search_is_in(const struct gt_row_search *f, const char *text);
const char *gt_row_search_expression(const struct gt_row_search *f);
#endif
