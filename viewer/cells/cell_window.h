/* The visible window: an exact range of time, divided into cells, one per column.
 *
 * Cell i begins at from + floor(i * (to - from) / cells), so the cells divide the range without
 * remainder. If very many rows are in the range, cells between the ends begin at the nearest
 * multiple of 2^shift ns, which is the width of the finest buckets of summaries: then these give
 * exact sums, and no rows are read. shift is 0 otherwise.
 *
 * A window is aligned if its cells are 2^shift ns wide and begin at multiples of that. Cells of
 * one aligned window consist of whole cells of another one that is as fine or finer, so their sums
 * can be reused. */
#ifndef GT_CELL_WINDOW_H
#define GT_CELL_WINDOW_H
#include <stdbool.h>
#include <stdint.h>

struct gt_cell_window {
	int64_t from, to; /* [from, to) of the viewer's time; at least `cells` ns */
	unsigned shift, cells;
};

/* The cells [(first + i) << shift, (first + i + 1) << shift). */
struct gt_cell_window gt_aligned_window(int64_t first, unsigned shift, unsigned cells);
bool gt_window_is_aligned(const struct gt_cell_window *w);
static inline bool gt_same_window(const struct gt_cell_window *a, const struct gt_cell_window *b)
{
	return a->from == b->from && a->to == b->to && a->shift == b->shift && a->cells == b->cells;
}
/* True if each cell of w within `fine` consists of whole cells of `fine`. */
bool gt_window_consists_of(const struct gt_cell_window *w, const struct gt_cell_window *fine);

/* The start of a cell; cells before 0 and after the last continue the window. */
int64_t gt_cell_start(const struct gt_cell_window *w, int64_t cell);
/* the mean width of a cell in ns */
static inline uint64_t gt_window_cell_width(const struct gt_cell_window *w)
{
	return w->cells ? ((uint64_t)w->to - (uint64_t)w->from) / w->cells : 1;
}
static inline uint64_t gt_cell_width(const struct gt_cell_window *w, int64_t cell)
{
	return (uint64_t)gt_cell_start(w, cell + 1) - (uint64_t)gt_cell_start(w, cell);
}
/* log2 of the mean width, rounded to the nearest integer */
unsigned gt_window_log2(const struct gt_cell_window *w);
/* The column of a time: negative, or w->cells or more, if it is outside. */
int64_t gt_window_column(const struct gt_cell_window *w, int64_t t);
/* The first and the last visible column of [from, last]. false: no part of it is visible. */
static inline bool gt_window_columns(
	const struct gt_cell_window *w, int64_t from, int64_t last, unsigned *a, unsigned *b)
{
	int64_t x = gt_window_column(w, from), y = gt_window_column(w, last);

	*a = x > 0 ? (unsigned)x : 0;
	*b = y < (int64_t)w->cells ? (unsigned)y : w->cells - 1;
	return y >= 0 && x < (int64_t)w->cells;
}
static inline int64_t gt_window_end(const struct gt_cell_window *w) { return w->to; }
#endif
