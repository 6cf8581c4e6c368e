#include "viewer/lanes/stale_cells.h"

#include <stdlib.h>
#include <string.h>
#include "viewer/lanes/window.h"

#define WIDER_MOST 8u /* log2 */

struct overlap { /* saved cells [from, to) */
	int64_t from, to;
};

void gt_stale_cells_release(struct gt_stale_cells *b)
{
	free(b->lines);
	free(b->cells);
	free(b->gauges);
	*b = (struct gt_stale_cells){ .n = 0 };
}

void gt_stale_cells_save(struct gt_stale_cells *b, const struct gt_cell_window *w, int64_t end,
	const struct gt_lane_line *lines, size_t n, const struct gt_cell_sums *cells,
	const struct gt_counter_cell *gauges)
{
	int64_t column = gt_window_column(w, end);

	gt_stale_cells_release(b);
	b->lines = malloc((n + 1) * sizeof(*lines));
	b->cells = malloc((n * w->cells + 1) * sizeof(*cells));
	b->gauges = malloc((n * w->cells + 1) * sizeof(*gauges));
	if (!b->lines || !b->cells || !b->gauges || !n || !cells || !gauges)
		return;
	memcpy(b->lines, lines, n * sizeof(*lines));
	memcpy(b->cells, cells, n * w->cells * sizeof(*cells));
	memcpy(b->gauges, gauges, n * w->cells * sizeof(*gauges));
	b->window = *w;
	b->n = n;
	b->end = column < 0 ? 0 : column < w->cells ? (unsigned)column : w->cells;
}

static bool is_sure(const struct gt_cell_sums *c)
{
	return c->sureness == GT_CELL_EXACT || c->sureness == GT_CELL_DAMAGED;
}

/* The saved cells that overlap a cell, as a sum. false: unknown. */
static bool merge_cells(
	const struct gt_stale_cells *b, size_t line, struct overlap at, struct gt_cell_sums *to)
{
	const struct gt_cell_sums *was = b->cells + line * b->window.cells;
	uint64_t most = 0;
	bool any = false;

	*to = (struct gt_cell_sums){ .sureness = GT_CELL_ROUGH };
	for (int64_t i = at.from; i < at.to; i++) {
		if (was[i].sureness == GT_CELL_UNKNOWN)
			continue;
		any = true;
		to->busy += was[i].busy;
		to->count += was[i].count;
		to->bytes += was[i].bytes;
		to->longest = was[i].longest > to->longest ? was[i].longest : to->longest;
		if (was[i].busy > most) {
			most = was[i].busy;
			to->category = was[i].category;
		}
	}
	return any;
}

/* The same for a counter; the value may have been larger. */
static bool merge_counter_cells(
	const struct gt_stale_cells *b, size_t line, struct overlap at, struct gt_counter_cell *to)
{
	const struct gt_counter_cell *was = b->gauges + line * b->window.cells;
	bool any = false;

	for (int64_t i = at.from; i < at.to; i++) {
		if (!was[i].known)
			continue;
		if (!any)
			*to = was[i];
		to->low = was[i].low < to->low ? was[i].low : to->low;
		to->high = was[i].high > to->high ? was[i].high : to->high;
		to->last = was[i].last;
		to->is_lower_bound = any = true;
	}
	return any;
}

/* *i: the saved line. false: the line was not saved, or its cells do not form cells of w. */
static bool find(const struct gt_stale_cells *b, const struct gt_cell_window *w,
	const struct gt_lane_line *line, size_t *i)
{
	for (*i = 0; *i < b->n && !gt_same_lane_line(&b->lines[*i], line);)
		++*i;
	return *i < b->n && gt_window_consists_of(w, &b->window) &&
		gt_window_cell_width(w) >> WIDER_MOST <= gt_window_cell_width(&b->window);
}

/* The saved cells that form a cell of w. */
static struct overlap overlap_of(
	const struct gt_stale_cells *b, const struct gt_cell_window *w, unsigned cell)
{
	int64_t from = gt_window_column(&b->window, gt_cell_start(w, cell)),
		to = gt_window_column(&b->window, gt_cell_start(w, cell + 1ll) - 1) + 1;

	return (struct overlap){ from < 0 ? 0 : from, to < b->end ? to : b->end };
}

void gt_stale_cells_fill(const struct gt_stale_cells *b, const struct gt_cell_window *w,
	const struct gt_lane_line *line, struct gt_cell_sums *cells)
{
	struct gt_cell_sums one;
	size_t i;

	if (!find(b, w, line, &i))
		return;
	for (unsigned k = 0; k < w->cells; k++)
		if (!is_sure(&cells[k]) && merge_cells(b, i, overlap_of(b, w, k), &one))
			cells[k] = one;
}

void gt_stale_cells_fill_counter(const struct gt_stale_cells *b, const struct gt_cell_window *w,
	const struct gt_lane_line *line, struct gt_counter_cell *cells)
{
	struct gt_counter_cell one;
	size_t i;

	if (!find(b, w, line, &i))
		return;
	for (unsigned k = 0; k < w->cells; k++)
		if (!cells[k].known && merge_counter_cells(b, i, overlap_of(b, w, k), &one))
			cells[k] = one;
}
