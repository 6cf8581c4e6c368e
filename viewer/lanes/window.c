#include "viewer/lanes/window.h"

/* The number of grid cells that overlap [from, to). */
static int64_t cells_of(int64_t from, int64_t to, unsigned shift)
{
	return ((to - 1) >> shift) - (from >> shift) + 1;
}

static unsigned narrowest(int64_t from, int64_t to, unsigned cells, unsigned widest)
{
	unsigned shift = 0;

	while (shift < widest && cells_of(from, to, shift) > cells)
		shift++;
	return shift;
}

static void keep_inside(struct gt_cell_window *w, const struct gt_time_extent *e)
{
	int64_t first = e->from >> w->shift, last = (e->to - 1) >> w->shift;

	if (w->first > last - w->cells + 1)
		w->first = last - w->cells + 1;
	if (w->first < first) /* also if the trace is shorter than the window */
		w->first = first;
}

void gt_window_fit(struct gt_cell_window *w, const struct gt_time_extent *e)
{
	gt_window_show(w, e, e->from, e->to);
}

void gt_window_show(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t from, int64_t to)
{
	int64_t spare;

	if (from < e->from)
		from = e->from;
	if (to > e->to)
		to = e->to;
	if (to <= from)
		to = from + 1;
	w->shift = narrowest(from, to, w->cells, e->widest);
	spare = (int64_t)w->cells - cells_of(from, to, w->shift);
	w->first = (from >> w->shift) - (spare > 0 ? spare / 2 : 0);
	keep_inside(w, e);
}

void gt_window_zoom(
	struct gt_cell_window *w, const struct gt_time_extent *e, int steps, int64_t column)
{
	unsigned widest = narrowest(e->from, e->to, w->cells, e->widest);
	int64_t cell = w->first + column;

	for (; steps > 0 && w->shift > 0; steps--, w->shift--)
		cell *= 2;
	for (; steps < 0 && w->shift < widest; steps++, w->shift++)
		cell >>= 1;
	w->first = cell - column;
	keep_inside(w, e);
}

void gt_window_pan(struct gt_cell_window *w, const struct gt_time_extent *e, int64_t cells)
{
	if (__builtin_add_overflow(w->first, cells, &w->first))
		w->first = cells < 0 ? e->from >> w->shift : e->to >> w->shift;
	keep_inside(w, e);
}

void gt_window_goto(
	struct gt_cell_window *w, const struct gt_time_extent *e, int64_t t, int64_t column)
{
	w->first = (t >> w->shift) - column;
	keep_inside(w, e);
}

void gt_window_resize(struct gt_cell_window *w, const struct gt_time_extent *e, unsigned cells)
{
	bool all = gt_window_shows_all(w, e);
	int64_t middle = w->first + w->cells / 2;

	w->cells = cells;
	if (all || w->shift > narrowest(e->from, e->to, cells, e->widest)) {
		gt_window_fit(w, e);
		return;
	}
	w->first = middle - cells / 2;
	keep_inside(w, e);
}

bool gt_window_shows_all(const struct gt_cell_window *w, const struct gt_time_extent *e)
{
	return w->first <= e->from >> w->shift && w->first + w->cells > (e->to - 1) >> w->shift;
}
