#include "viewer/before.h"

#include <stdlib.h>
#include <string.h>
#include "viewer/window.h"

#define WIDER_MOST 8u

void gt_before_release(struct gt_before *b)
{
	free(b->lines);
	free(b->cells);
	*b = (struct gt_before){ .n = 0 };
}

void gt_before_keep(struct gt_before *b, const struct gt_window *w, int64_t end, const struct gt_lane_line *lines, size_t n,
		    const struct gt_cell_sums *cells)
{
	int64_t column = gt_window_column(w, end);

	gt_before_release(b);
	b->lines = malloc((n + 1) * sizeof(*lines));
	b->cells = malloc((n * w->cells + 1) * sizeof(*cells));
	if (!b->lines || !b->cells || !n || !cells)
		return;
	memcpy(b->lines, lines, n * sizeof(*lines));
	memcpy(b->cells, cells, n * w->cells * sizeof(*cells));
	b->window = *w;
	b->n = n;
	b->end = column < 0 ? 0 : column < w->cells ? (unsigned)column : w->cells;
}

static bool same(const struct gt_lane_line *a, const struct gt_lane_line *b)
{
	return a->segment == b->segment && a->track == b->track && a->aspect == b->aspect && a->derived == b->derived && a->depth == b->depth;
}

static bool is_sure(const struct gt_cell_sums *c) { return c->sureness == GT_CELL_EXACT || c->sureness == GT_CELL_HOLE; }

/* What was in a cell that is as wide as 2^wider of those before, as far as it was known. false: nothing was. */
static bool put_together(const struct gt_before *b, size_t line, int64_t at, unsigned wider, struct gt_cell_sums *to)
{
	const struct gt_cell_sums *was = b->cells + line * b->window.cells;
	uint64_t most = 0;
	bool any = false;

	*to = (struct gt_cell_sums){ .sureness = GT_CELL_ROUGH };
	for (int64_t i = at < 0 ? 0 : at; i < at + (1ll << wider) && i < b->end; i++) {
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

void gt_before_fill(const struct gt_before *b, const struct gt_window *w, const struct gt_lane_line *line, struct gt_cell_sums *cells)
{
	unsigned wider = w->shift - b->window.shift;
	struct gt_cell_sums one;
	size_t i = 0;

	while (i < b->n && !same(&b->lines[i], line))
		i++;
	if (i == b->n || w->shift < b->window.shift || wider > WIDER_MOST)
		return;
	for (unsigned k = 0; k < w->cells; k++) {
		int64_t at = ((w->first + k) << wider) - b->window.first;

		if (!is_sure(&cells[k]) && put_together(b, i, at, wider, &one))
			cells[k] = one;
	}
}
