#include "analyze/strip.h"

#include <stdbool.h>

typedef unsigned __int128 u128;

/* ns from the window's start, within the window. */
static uint64_t offset(const struct gt_window *w, int64_t at)
{
	uint64_t since = at > w->from ? (uint64_t)at - (uint64_t)w->from : 0;

	return since < w->width ? since : w->width;
}

/* The cell that holds this place (in 1/60 ns from the window's start); the last one for the window's end. */
static unsigned cell_of(const struct gt_window *w, u128 place)
{
	u128 cell = w->width ? place / w->width : 0;

	return cell < GT_STRIP_CELLS ? (unsigned)cell : GT_STRIP_CELLS - 1;
}

void gt_strip_add(struct gt_strip *s, const struct gt_window *w, int64_t start, int64_t end)
{
	uint64_t from = offset(w, start), to = offset(w, end);
	u128 place = (u128)from * GT_STRIP_CELLS, stop = (u128)to * GT_STRIP_CELLS;
	unsigned first = cell_of(w, place), last = stop > place ? cell_of(w, stop - 1) : first;

	s->touched |= UINT64_MAX << first & UINT64_MAX >> (63 - last);
	if (to <= s->covered)
		return;
	if (from < s->covered) {
		place = (u128)s->covered * GT_STRIP_CELLS;
		first = cell_of(w, place);
	}
	s->covered = to;
	for (unsigned i = first; place < stop; i++) {
		u128 edge = (u128)(i + 1) * w->width, until = stop < edge ? stop : edge;

		s->busy[i] += (uint64_t)(until - place);
		place = until;
	}
}

void gt_strip_text(const struct gt_strip *s, const struct gt_window *w, unsigned cells, char text[GT_STRIP_CELLS + 1])
{
	static const char levels[] = " .:-=+*#%@";
	const unsigned each = GT_STRIP_CELLS / cells;

	for (unsigned i = 0; i < cells; i++) {
		bool touched = s->touched >> i * each & UINT64_MAX >> (64 - each);
		u128 busy = 0;
		unsigned level;

		for (unsigned k = 0; k < each; k++)
			busy += s->busy[i * each + k];
		level = w->width ? (unsigned)(busy * 10 / ((u128)w->width * each)) : 0;
		text[i] = levels[level > 9 ? 9 : level ? level : touched];
	}
	text[cells] = '\0';
}

uint64_t gt_strip_busy(const struct gt_strip *s)
{
	u128 sum = 0;

	for (unsigned i = 0; i < GT_STRIP_CELLS; i++)
		sum += s->busy[i];
	return (uint64_t)(sum / GT_STRIP_CELLS);
}
