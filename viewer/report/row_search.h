/* Search in the rows of a page: a row matches if the full text of one of its cells does. It works
 * in steps. Rows are identified by their numbers in the tables, so sorting and layout do not
 * matter. */
#ifndef GT_ROW_SEARCH_H
#define GT_ROW_SEARCH_H
#include "viewer/report/report_page.h"

struct gt_row_search;
/* new: free it. NULL: err has the reason */
struct gt_row_search *gt_row_search_new(const char *expression, struct gt_err *err);
/* NULL is fine */
void gt_row_search_free(struct gt_row_search *f);
/* Restarts for this page's tables, without matches. 0 or -ENOMEM. */
int gt_row_search_begin(
	struct gt_row_search *f, const struct gt_report_page *p, struct gt_err *err);
/* 1: there is more to do, 0, negative */
int gt_row_search_step(
	struct gt_row_search *f, const struct gt_report_page *p, uint64_t us, struct gt_err *err);
/* are all rows searched? */
bool gt_row_search_all(const struct gt_row_search *f);
/* The next line of the page after `line` (also `line` itself if `here`) whose row matches; after
 * the last one the first, with *around set. step: 1 or -1. SIZE_MAX: none. */
size_t gt_row_search_next(const struct gt_row_search *f, const struct gt_report_page *p,
	size_t line, int step, bool here, bool *around);
/* The number of matches; *rank: the match number (from 1) of the row on `line`, 0 if it does not
 * match. */
size_t gt_row_search_count(
	const struct gt_row_search *f, const struct gt_report_page *p, size_t line, size_t *rank);
/* does the row of this line match? */
bool gt_row_search_has(const struct gt_row_search *f, const struct gt_report_page *p, size_t line);
bool gt_row_search_is_in(const struct gt_row_search *f, const char *text);
const char *gt_row_search_expression(const struct gt_row_search *f);
#endif
