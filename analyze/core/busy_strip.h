/* One line of text that shows when a thread was busy: a window of time in 60 cells of the same width, each a character that
 * says how much of it calls cover. Nested and overlapping calls count once. */
#ifndef GT_BUSY_STRIP_H
#define GT_BUSY_STRIP_H
#include <stdbool.h>
#include <stdint.h>
#include "analyze/core/report.h"

#define GT_BUSY_STRIP_CELLS 60u

struct gt_busy_strip_window { int64_t from; uint64_t width; };	/* ns */

struct gt_busy_strip {		/* zero-initialised: no calls */
	uint64_t busy[GT_BUSY_STRIP_CELLS];	/* in 1/60 ns: so a cell is as wide as the window has ns, and nothing is rounded */
	uint64_t touched;		/* one bit per cell that a call reaches into, however shortly */
	uint64_t covered;		/* ns from the window's start up to which calls were added */
	uint64_t from, to;		/* the cell in which the last one ended, less what of a ns reaches into others; from the window's start */
	unsigned last;			/* which one that is */
};

/* A call from start to end, ns, cut to the window. Where calls come by start the sum is their union; one that comes late counts
 * only from the end of those before it on. */
void gt_busy_strip_add(struct gt_busy_strip *s, const struct gt_busy_strip_window *w, int64_t start, int64_t end);
/* A blank where no call is, else one of ".:-=+*#%@": "." below a fifth, then a step each tenth, "@" from nine tenths. */
/* In `cells` characters, which 60 must be a multiple of. */
void gt_busy_strip_text(const struct gt_busy_strip *s, const struct gt_busy_strip_window *w, unsigned cells, char text[GT_BUSY_STRIP_CELLS + 1]);
/* As gt_busy_strip_add, but what overlaps adds up, and each ns counts `weight` times. A strip is added to or weighed, not both. */
void gt_busy_strip_add_weighted(struct gt_busy_strip *s, const struct gt_busy_strip_window *w, int64_t start, int64_t end, uint64_t weight);
/* The mean weight over cell i of `cells`, rounded down; *touched: does anything reach into it? */
uint64_t gt_busy_strip_mean(const struct gt_busy_strip *s, const struct gt_busy_strip_window *w, unsigned cells, unsigned i, bool *touched);
/* The window of a recording: all of it, cut to the range that was asked for. */
struct gt_busy_strip_window gt_busy_strip_window(const struct gt_analysis_options *opt, const struct gt_segment *seg);
/* How many cells fit beside columns of this width: a number that 60 can be divided by. */
unsigned gt_busy_strip_cells(const struct gt_analysis_options *opt, unsigned beside);
/* How wide a cell is, as a note. */
void gt_busy_strip_note(struct gt_table *t, const struct gt_report_state *a, const struct gt_segment *seg, const struct gt_busy_strip_window *w, unsigned cells);
uint64_t gt_busy_strip_total(const struct gt_busy_strip *s);	/* ns in the window that calls cover */
#endif
