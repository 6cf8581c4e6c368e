/* The picture of the timeline: everything that a frame shows, and nothing of where it comes from. */
#ifndef GT_TIMELINE_DRAW_H
#define GT_TIMELINE_DRAW_H
#include "viewer/view/layout.h"
#include "viewer/view/scene.h"
#include "viewer/term/screen.h"

enum gt_height { GT_HEIGHT_BUSY, GT_HEIGHT_COUNT, GT_HEIGHT_LONGEST, GT_HEIGHT_BYTES, GT_HEIGHT_KINDS };

struct gt_picture {
	struct gt_layout at;
	const struct gt_scene *scene;
	const struct gt_lanes *lanes;
	size_t top, cursor;		/* lines of lanes: the first that is shown, the one of the cursor */
	unsigned column;		/* cell of the cursor */
	enum gt_height heights;
	const struct gt_cell_sums *cells;	/* at.cells for each line from top on, at.nlanes at most */
	const struct gt_counter_cell *gauges;	/* the same for lines of counters */
	const struct gt_cell_sums *map;		/* of the whole run: map_window.cells; NULL: nothing is known of it */
	struct gt_cell_window map_window;
	unsigned percent;		/* refined */
};
/* Where a call was still open when the recording ended: an end that points out of it. */
#define GT_OPEN_END 0x25ba
extern const struct gt_look gt_unfinished_end_look;
void gt_picture_draw(const struct gt_picture *p, struct gt_screen *to);

/* Eighths of a cell of this width: 0 only when nothing was, 8 only when all of it was busy. */
unsigned gt_busy_eighths(uint64_t busy, uint64_t width);
/* Of the largest one there is: 0 only when there is none, 8 for the largest. */
unsigned gt_part_eighths(uint64_t value, uint64_t largest);
/* Of a counter between the least and the most that is shown of it, where 0 is always: how high what it rose to is. */
unsigned gt_counter_eighths(double value, double least, double most);
uint64_t gt_height_of(const struct gt_cell_sums *c, enum gt_height m);
/* The overview: cells of the whole run made into n columns of equal widths: what of them was busy, and with what. */
void gt_overview(const struct gt_cell_sums *map, const struct gt_cell_window *w, const struct gt_time_extent *e, unsigned n, struct gt_cell_sums *to);
/* The column of the overview, of n, that a moment is in, and the moment at which a column begins. */
int64_t gt_overview_column(const struct gt_time_extent *e, int64_t t, unsigned n);
int64_t gt_overview_time(const struct gt_time_extent *e, int64_t column, unsigned n);
#endif
