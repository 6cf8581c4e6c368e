/* Draws a report: its page, the rest of the cursor's row that does not fit into its columns, and
 * the status line. */
#ifndef GT_REPORT_DRAW_H
#define GT_REPORT_DRAW_H
#include "viewer/report/report_jump.h"
#include "viewer/term/screen.h"
#include "viewer/report/report_scroll.h"

struct gt_report_picture {
	const struct gt_scene *scene;
	const char *name;                     /* of the view */
	const struct gt_report_scroll *sheet; /* arranged for the size of the screen */
	const struct gt_report_result *shown; /* NULL: not available yet */
	unsigned percent;                     /* progress then, or 0 */
	/* the whole run is visible */
	bool all;
	/* the visible range may be inside a gap, which Enter shows */
	bool gaps;
	unsigned height; /* lines of the screen for it */
	/* lines below the page for the rest of the cursor's row */
	unsigned rest;
	const struct gt_item_search *search; /* NULL: no search */
	const struct gt_report_jump *jump;   /* search for the event of a row, or NULL */
};
void gt_report_draw(const struct gt_report_picture *p, struct gt_screen *to);
#endif
