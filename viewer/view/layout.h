/* Lines and columns of the timeline on a screen of a given size. Other views use it for the number
 * of cells, so that all views show the same range of time. */
#ifndef GT_LAYOUT_H
#define GT_LAYOUT_H

/* Which lines and columns are for what; -1: there is no room for it. */
struct gt_layout {
	unsigned width, height;
	int title, map, bracket, axis, marks, troubles, status, detail; /* lines */
	int lanes; /* the first of nlanes lines */
	unsigned nlanes;
	/* columns of the names, and of the figure behind them (0: none) */
	unsigned label, figure;
	unsigned left, cells; /* the first of so many columns of cells */
};
enum {
	GT_LAYOUT_TROUBLES = 1, /* there is something to be told in that line */
	/* there are marks or bookmarks: without room for a line they stand on the axis */
	GT_LAYOUT_MARKS = 2,
	GT_LAYOUT_STILL = 4 /* there is no cursor, whose cell would be told */
};
struct gt_layout gt_layout_of(unsigned width, unsigned height, unsigned with);
#endif
