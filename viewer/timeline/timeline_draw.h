/* Draws the timeline: struct gt_picture has everything that a frame shows. */
#ifndef GT_TIMELINE_DRAW_H
#define GT_TIMELINE_DRAW_H
#include "viewer/view/layout.h"
#include "viewer/view/scene.h"
#include "viewer/term/screen.h"

enum gt_height {
	GT_HEIGHT_BUSY,
	GT_HEIGHT_COUNT,
	GT_HEIGHT_LONGEST,
	GT_HEIGHT_BYTES,
	GT_HEIGHT_KINDS
};

struct gt_picture {
	struct gt_layout at;
	const struct gt_scene *scene;
	const struct gt_lanes *lanes;
	size_t top, cursor; /* lines of lanes: the first one shown, and the cursor's */
	unsigned column;    /* cell of the cursor */
	enum gt_height heights;
	/* at.cells for each line from `top` on, at.nlanes lines at most */
	const struct gt_cell_sums *cells;
	/* for each of these lines: the events that begin before the visible time and reach into it;
	 * NULL: not counted */
	const struct gt_cell_sums *entering;
	const struct gt_counter_cell *gauges; /* the same for lines of counters */
	/* of the whole run: map_window.cells; NULL: unknown */
	const struct gt_cell_sums *map;
	struct gt_cell_window map_window;
	unsigned percent; /* how much is exact */
	bool no_legend;   /* its place is used by a search */
};
/* Symbol for the end of an unfinished call: points to the right. */
#define GT_OPEN_END 0x25ba
extern const struct gt_look gt_unfinished_end_look;
void gt_picture_draw(const struct gt_picture *p, struct gt_screen *to);

/* The ink of a category of cells. */
uint8_t gt_category_ink(unsigned category);
/* Eighths of a cell of this width: 0 only if it was never busy, 8 only if it was always busy. */
unsigned gt_busy_eighths(uint64_t busy, uint64_t width);
/* Eighths of the largest value: 0 only if the value is 0, 8 for the largest. */
unsigned gt_part_eighths(uint64_t value, uint64_t largest);
/* The level of a counter's value in a line of GT_COUNTER_LEVELS levels, on a scale from `least` to
 * `most` that always includes 0: 0 only for `least`, the highest only for `most`. */
#define GT_COUNTER_LEVELS 4u
unsigned gt_counter_level(double value, double least, double most);
/* The overview: converts the cells of the whole run to n columns of equal width, with busy time
 * and category. */
void gt_overview(const struct gt_cell_sums *map, const struct gt_cell_window *w,
	const struct gt_time_extent *e, unsigned n, struct gt_cell_sums *to);
/* The column (of n) of the overview at a time, and the start time of a column. */
int64_t gt_overview_column(const struct gt_time_extent *e, int64_t t, unsigned n);
int64_t gt_overview_time(const struct gt_time_extent *e, int64_t column, unsigned n);
#endif
