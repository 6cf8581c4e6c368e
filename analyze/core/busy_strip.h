/* One line of text that shows when a thread was busy. A time window is divided into 60 cells of
 * equal width. The character of a cell shows how much of it calls cover. Nested and overlapping
 * calls count once. */
#ifndef GT_BUSY_STRIP_H
#define GT_BUSY_STRIP_H
#include <stdbool.h>
#include <stdint.h>
#include "analyze/core/report.h"

#define GT_BUSY_STRIP_CELLS 60u

struct gt_busy_strip_window {
	int64_t from;
	uint64_t width;
}; /* ns */

struct gt_busy_strip { /* zero-initialised: no calls */
	/* in 1/60 ns: a cell is then as wide as the window has ns, and nothing is rounded */
	uint64_t busy[GT_BUSY_STRIP_CELLS];
	uint64_t touched; /* one bit per cell that a call reaches */
	uint64_t covered; /* ns from the window's start: calls were added up to here */
	/* bounds of the cell in which the last call ended, rounded inwards to whole ns; from the
	 * window's start */
	uint64_t from, to;
	unsigned last; /* index of that cell */
};

/* Adds a call from start to end, ns, cut to the window. If calls come in order of their start,
 * the sum is their union. A call that comes late counts only from the end of the earlier ones. */
void gt_busy_strip_add(
	struct gt_busy_strip *s, const struct gt_busy_strip_window *w, int64_t start, int64_t end);
/* The strip as `cells` characters; 60 must be a multiple of `cells`. A blank: no call. Otherwise
 * ".:-=+*#%@": "." below 20 %, then a step each 10 %, "@" from 90 %. */
void gt_busy_strip_text(const struct gt_busy_strip *s, const struct gt_busy_strip_window *w,
	unsigned cells, char text[GT_BUSY_STRIP_CELLS + 1]);
/* As gt_busy_strip_add, but overlaps add up, and each ns counts `weight` times. A strip uses one
 * of the two functions only. */
void gt_busy_strip_add_weighted(struct gt_busy_strip *s, const struct gt_busy_strip_window *w,
	int64_t start, int64_t end, uint64_t weight);
/* The mean weight over cell i of `cells`, rounded down. *touched: does any call reach it? */
uint64_t gt_busy_strip_mean(const struct gt_busy_strip *s, const struct gt_busy_strip_window *w,
	unsigned cells, unsigned i, bool *touched);
/* The window of a recording: its duration, cut to the selected range. */
struct gt_busy_strip_window gt_busy_strip_window(
	const struct gt_analysis_options *opt, const struct gt_segment *seg);
/* The number of cells that fit beside columns of this width: a divisor of 60. */
unsigned gt_busy_strip_cells(const struct gt_analysis_options *opt, unsigned beside);
/* Notes the width of a cell. */
void gt_busy_strip_note(struct gt_table *t, const struct gt_report_state *a,
	const struct gt_segment *seg, const struct gt_busy_strip_window *w, unsigned cells);
uint64_t gt_busy_strip_total(const struct gt_busy_strip *s); /* ns of the window that calls cover */
#endif
