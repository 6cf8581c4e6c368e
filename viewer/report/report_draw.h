/* The picture of a report: what a frame shows of its page, and in words what the row of the cursor
 * says besides and where one is; nothing of where it comes from. A line of the screen is a line of
 * the page; what a row says that has no room in its columns stands at the bottom. */
#ifndef GT_REPORT_DRAW_H
#define GT_REPORT_DRAW_H
#include "viewer/report/report_jump.h"
#include "viewer/report/row_search.h"
#include "viewer/term/screen.h"
#include "viewer/report/report_scroll.h"

struct gt_report_picture {
	const struct gt_scene *scene;
	const char *name;                     /* of the view */
	const struct gt_report_scroll *sheet; /* arranged for a screen of this size */
	const struct gt_report_result *shown; /* NULL: it is not there yet */
	unsigned percent;                     /* then: how far it is, or 0 */
	/* it is of all of the time: there is no more to be seen */
	bool all;
	/* what is seen may be within one of its rows, a gap, to all of which a key leads */
	bool gaps;
	/* lines below the page, for what the row of the cursor says besides */
	unsigned rest;
	const struct gt_row_search *finds; /* NULL: nothing is looked for */
	const struct gt_report_jump *jump; /* a row's name is looked for, or NULL */
};
void gt_report_draw(const struct gt_report_picture *p, struct gt_screen *to);
#endif
