/* Draws the overview of the whole run (a line of cells) and the bracket at the visible range below
 * it. A column is the sum of the known cells that it overlaps, each weighted by the part of the
 * cell that is in the column. */
#include "viewer/timeline/timeline_draw_internal.h"

int64_t gt_overview_column(const struct gt_time_extent *e, int64_t t, unsigned n)
{
	return (int64_t)((__int128)(t - e->from) * n / (e->to - e->from));
}

int64_t gt_overview_time(const struct gt_time_extent *e, int64_t column, unsigned n)
{
	return e->from + (int64_t)((__int128)(e->to - e->from) * column / n);
}

static void add_part(struct gt_cell_sums *to, const struct gt_cell_sums *c, double part,
	double weight[GT_CELL_COMMUNICATION + 1])
{
	to->busy += (uint64_t)((double)c->busy * part + 0.5);
	if (c->busy && !to->busy)
		to->busy = 1;
	if (c->sureness > to->sureness)
		to->sureness = c->sureness;
	if (c->category <= GT_CELL_COMMUNICATION)
		weight[c->category] += (double)c->busy * part;
}

static void overview_column(const struct gt_cell_sums *map, const struct gt_cell_window *w,
	int64_t from, int64_t to, struct gt_cell_sums *sum)
{
	double weight[GT_CELL_COMMUNICATION + 1] = { 0 }, width = (double)gt_window_cell_width(w);
	int64_t first = gt_window_column(w, from), last = gt_window_column(w, to - 1);

	*sum = (struct gt_cell_sums){ GT_CELL_EXACT };
	for (int64_t i = first < 0 ? 0 : first; i <= last && i < w->cells; i++) {
		int64_t a = gt_cell_start(w, i) > from ? gt_cell_start(w, i) : from;
		int64_t b = gt_cell_start(w, i + 1) < to ? gt_cell_start(w, i + 1) : to;

		add_part(sum, &map[i], (double)(b - a) / width, weight);
	}
	if (sum->busy > (uint64_t)(to - from))
		sum->busy = (uint64_t)(to - from);
	for (unsigned c = 1; c <= GT_CELL_COMMUNICATION; c++)
		if (weight[c] > weight[sum->category])
			sum->category = (uint8_t)c;
}

void gt_overview(const struct gt_cell_sums *map, const struct gt_cell_window *w,
	const struct gt_time_extent *e, unsigned n, struct gt_cell_sums *to)
{
	for (unsigned x = 0; x < n; x++) {
		int64_t from = gt_overview_time(e, x, n), end = gt_overview_time(e, x + 1, n);

		overview_column(map, w, from, end > from ? end : from + 1, &to[x]);
	}
}

void gt_overview_draw(const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_time_extent *e = &p->scene->extent;
	struct gt_cell_sums columns[GT_SCREEN_MOST];
	unsigned n = p->at.cells < GT_SCREEN_MOST ? p->at.cells : GT_SCREEN_MOST;
	uint64_t width = (uint64_t)(e->to - e->from) / n;

	gt_screen_text(to, 0, p->at.map, (int)(p->at.left - 1), "whole run", gt_look_faint);
	gt_screen_put(to, (int)p->at.left - 1, p->at.map, LINE_DOWN, gt_look_axis);
	if (!p->map)
		return;
	gt_overview(p->map, &p->map_window, e, n, columns);
	for (unsigned x = 0; x < n; x++)
		gt_cell_draw(to, (int)(p->at.left + x), p->at.map, &columns[x],
			gt_busy_eighths(columns[x].busy, width ? width : 1));
}

void gt_bracket_draw(const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_cell_window *w = &p->scene->window;
	const struct gt_time_extent *e = &p->scene->extent;
	int64_t last = gt_window_end(w) - 1, from = gt_cell_start(w, 0);
	int left = (int)p->at.left, a, b;

	a = (int)gt_overview_column(e, from < e->from ? e->from : from, p->at.cells);
	b = (int)gt_overview_column(e, last > e->to - 1 ? e->to - 1 : last, p->at.cells);
	if (p->at.bracket < 0) {
		if (p->at.map >= 0 && !gt_window_shows_all(w, e))
			gt_screen_set_paper(to, left + a, p->at.map, b - a + 1, 1, GT_INK_SELECTED);
		return;
	}
	gt_screen_fill(to, left + a, p->at.bracket, b - a + 1, 1, LINE_ACROSS, gt_look_axis);
	gt_screen_put(to, left + a, p->at.bracket, a == b ? 0x2534 : 0x2514, gt_look_axis);
	if (a < b)
		gt_screen_put(to, left + b, p->at.bracket, 0x2518, gt_look_axis);
}
