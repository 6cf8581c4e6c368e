#include "analyze/core/busy_strip.h"

#include <stdio.h>
#include "analyze/core/report.h"

typedef unsigned __int128 u128;

/* ns from the window's start, clamped to the window. */
static uint64_t offset(const struct gt_busy_strip_window *w, int64_t at)
{
	uint64_t since = at > w->from ? (uint64_t)at - (uint64_t)w->from : 0;

	return since < w->width ? since : w->width;
}

/* The cell of a position in 1/60 ns from the window's start; the last cell for the window's end. */
static unsigned cell_of(const struct gt_busy_strip_window *w, u128 place)
{
	u128 cell = 0;

	if (w->width) /* 64 bits hold a year, and their division is much faster */
		cell = place <= UINT64_MAX ? (uint64_t)place / w->width : place / w->width;
	return cell < GT_BUSY_STRIP_CELLS ? (unsigned)cell : GT_BUSY_STRIP_CELLS - 1;
}

/* Marks cells `first` to `last`, and remembers the bounds of `last`. */
static void touch(struct gt_busy_strip *s, const struct gt_busy_strip_window *w, unsigned first,
	unsigned last)
{
	/* more than ten years: products overflow */
	bool wide = w->width > UINT64_MAX / GT_BUSY_STRIP_CELLS;

	s->touched |= UINT64_MAX << first & UINT64_MAX >> (63 - last);
	s->last = last;
	s->from = wide ? 0 : (last * w->width + GT_BUSY_STRIP_CELLS - 1) / GT_BUSY_STRIP_CELLS;
	s->to = wide ? 0 : (last + 1) * w->width / GT_BUSY_STRIP_CELLS;
}

/* Adds a span from `place` in cell `first` to `stop`, in 1/60 ns, to its cells. */
static void spread(struct gt_busy_strip *s, const struct gt_busy_strip_window *w, u128 place,
	u128 stop, unsigned first, uint64_t weight)
{
	for (unsigned i = first; place < stop; i++) {
		u128 edge = (u128)(i + 1) * w->width, until = stop < edge ? stop : edge;
		uint64_t more;

		if (__builtin_mul_overflow((uint64_t)(until - place), weight, &more))
			more = UINT64_MAX;
		s->busy[i] = gt_sat_add(s->busy[i], more);
		place = until;
	}
}

/* Most calls lie in the cell in which the previous one ended: they need no division. ns from the
 * window's start. */
static inline bool in_last(const struct gt_busy_strip *s, uint64_t from, uint64_t to)
{
	return from < to && from >= s->from && to <= s->to;
}

static void add_to_last(struct gt_busy_strip *s, uint64_t ns, uint64_t weight)
{
	uint64_t more;

	if (__builtin_mul_overflow(ns * GT_BUSY_STRIP_CELLS, weight, &more))
		more = UINT64_MAX;
	s->busy[s->last] = gt_sat_add(s->busy[s->last], more);
}

static __attribute__((noinline)) void add_anywhere(
	struct gt_busy_strip *s, const struct gt_busy_strip_window *w, int64_t start, int64_t end)
{
	uint64_t from = offset(w, start), to = offset(w, end);
	u128 place = (u128)from * GT_BUSY_STRIP_CELLS, stop = (u128)to * GT_BUSY_STRIP_CELLS;
	unsigned first = cell_of(w, place);

	touch(s, w, first, stop > place ? cell_of(w, stop - 1) : first);
	if (to <= s->covered)
		return;
	if (from < s->covered) {
		place = (u128)s->covered * GT_BUSY_STRIP_CELLS;
		first = cell_of(w, place);
	}
	s->covered = to;
	spread(s, w, place, stop, first, 1);
}

void gt_busy_strip_add(
	struct gt_busy_strip *s, const struct gt_busy_strip_window *w, int64_t start, int64_t end)
{
	uint64_t from = (uint64_t)start - (uint64_t)w->from, to = (uint64_t)end - (uint64_t)w->from;

	/* also true for calls that begin before the window */
	if (from < s->covered || !in_last(s, from, to)) {
		add_anywhere(s, w, start, end);
		return;
	}
	add_to_last(s, to - from, 1);
	s->covered = to;
}

void gt_busy_strip_add_weighted(struct gt_busy_strip *s, const struct gt_busy_strip_window *w,
	int64_t start, int64_t end, uint64_t weight)
{
	uint64_t from = offset(w, start), to = offset(w, end);
	u128 place = (u128)from * GT_BUSY_STRIP_CELLS, stop = (u128)to * GT_BUSY_STRIP_CELLS;
	unsigned first;

	if (to <= from || !weight)
		return;
	if (in_last(s, from, to)) {
		add_to_last(s, to - from, weight);
		return;
	}
	first = cell_of(w, place);
	touch(s, w, first, cell_of(w, stop - 1));
	spread(s, w, place, stop, first, weight);
}

/* The sum of cell i of `cells`, in 1/60 ns. */
static u128 sum_of(const struct gt_busy_strip *s, unsigned cells, unsigned i, bool *touched)
{
	const unsigned each = GT_BUSY_STRIP_CELLS / cells;
	u128 sum = 0;

	for (unsigned k = 0; k < each; k++)
		sum += s->busy[i * each + k];
	*touched = s->touched >> i * each & UINT64_MAX >> (64 - each);
	return sum;
}

uint64_t gt_busy_strip_mean(const struct gt_busy_strip *s, const struct gt_busy_strip_window *w,
	unsigned cells, unsigned i, bool *touched)
{
	u128 sum = sum_of(s, cells, i, touched);

	return w->width ? (uint64_t)(sum / ((u128)w->width * (GT_BUSY_STRIP_CELLS / cells))) : 0;
}

void gt_busy_strip_text(const struct gt_busy_strip *s, const struct gt_busy_strip_window *w,
	unsigned cells, char text[GT_BUSY_STRIP_CELLS + 1])
{
	static const char levels[] = " .:-=+*#%@";
	const unsigned each = GT_BUSY_STRIP_CELLS / cells;

	for (unsigned i = 0; i < cells; i++) {
		bool touched;
		u128 busy = sum_of(s, cells, i, &touched);
		unsigned level = w->width ? (unsigned)(busy * 10 / ((u128)w->width * each)) : 0;

		text[i] = levels[level > 9 ? 9 : level ? level : touched];
	}
	text[cells] = '\0';
}

uint64_t gt_busy_strip_total(const struct gt_busy_strip *s)
{
	u128 sum = 0;

	for (unsigned i = 0; i < GT_BUSY_STRIP_CELLS; i++)
		sum += s->busy[i];
	return (uint64_t)(sum / GT_BUSY_STRIP_CELLS);
}

struct gt_busy_strip_window gt_busy_strip_window(
	const struct gt_analysis_options *opt, const struct gt_segment *seg)
{
	int64_t from = gt_range_of(&opt->filter, seg).from;

	return (struct gt_busy_strip_window){ from > seg->min_start ? from : seg->min_start,
		gt_span_of(opt, seg) };
}

unsigned gt_busy_strip_cells(const struct gt_analysis_options *opt, unsigned beside)
{
	static const unsigned some[] = { GT_BUSY_STRIP_CELLS, 30, 20, 15 };

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		if (!opt->width || opt->width >= some[i] + beside)
			return some[i];
	return 12;
}

void gt_busy_strip_note(struct gt_table *t, const struct gt_report_state *a,
	const struct gt_segment *seg, const struct gt_busy_strip_window *w, unsigned cells)
{
	static const struct {
		double by;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	double ns = (double)w->width / cells;
	unsigned u = 0;

	while (u < 3 && ns < units[u].by)
		u++;
	gt_table_note(t, "%s%u cells of %.4g %s each", gt_recording_prefix(a, seg).text, cells,
		ns / units[u].by, units[u].unit);
}
