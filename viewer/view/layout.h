/* Lines and columns of the timeline on a screen of a given size. Other views use it for the number
 * of cells, so that all views show the same range of time. */
#ifndef GT_LAYOUT_H
#define GT_LAYOUT_H

/* Positions; -1: no space. */
struct gt_layout {
	unsigned width, height;
	int title, map, bracket, axis, marks, troubles, status, detail; /* lines */
	int lanes; /* the first of nlanes lines */
	unsigned nlanes;
	/* widths of the name column and of the figure column after it (0: none) */
	unsigned label, figure;
	unsigned left, cells; /* the first column of cells, and their number */
};
enum {
	GT_LAYOUT_TROUBLES = 1, /* the line of lost and damaged ranges is needed */
	/* marks or bookmarks exist; without a line of their own they are drawn on the axis */
	GT_LAYOUT_MARKS = 2,
	GT_LAYOUT_STATIC = 4 /* a printed frame without a cursor */
};
struct gt_layout gt_layout_of(unsigned width, unsigned height, unsigned with);
#endif
