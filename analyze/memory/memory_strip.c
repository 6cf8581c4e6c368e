#include "analyze/memory/memory_strip.h"

#include <stdlib.h>
#include "analyze/core/report.h"

struct gt_live_strip *gt_live_strip_new(
	const struct gt_analysis_options *opt, const struct gt_segment *seg)
{
	struct gt_live_strip *s = calloc(1, sizeof(*s));
	int64_t from = gt_range_of(&opt->filter, seg).from;

	if (s) {
		s->window = (struct gt_busy_strip_window){
			from > seg->min_start ? from : seg->min_start, gt_span_of(opt, seg)
		};
		s->since = s->window.from;
	}
	return s;
}

static unsigned cell_of(const struct gt_live_strip *s, int64_t at)
{
	uint64_t since = at > s->window.from ? (uint64_t)at - (uint64_t)s->window.from : 0;
	unsigned __int128 cell = s->window.width
		? (unsigned __int128)since * GT_BUSY_STRIP_CELLS / s->window.width
		: 0;

	return cell < GT_BUSY_STRIP_CELLS ? (unsigned)cell : GT_BUSY_STRIP_CELLS - 1;
}

static void most(struct gt_live_strip *s, unsigned cell)
{
	if (s->value > s->most[cell])
		s->most[cell] = s->value;
}

void gt_live_strip_set(struct gt_live_strip *s, int64_t at, uint64_t value)
{
	unsigned to = cell_of(s, at);

	for (unsigned i = cell_of(s, s->since); i < to; i++)
		most(s, i);
	if (at > s->since &&
		at > s->window.from +
				(int64_t)((unsigned __int128)s->window.width * to /
					GT_BUSY_STRIP_CELLS))
		most(s, to); /* it was valid in this cell, too */
	s->since = at > s->since ? at : s->since;
	s->value = value;
	s->peak = value > s->peak ? value : s->peak;
	most(s, to);
}

const char *gt_live_strip_text(
	struct gt_live_strip *s, unsigned cells, char text[GT_BUSY_STRIP_CELLS + 1])
{
	static const char levels[] = " .:-=+*#%@";
	const unsigned each = GT_BUSY_STRIP_CELLS / cells;

	gt_live_strip_set(s, gt_live_strip_end(s), s->value);
	for (unsigned i = 0; i < cells; i++) {
		uint64_t value = 0;
		unsigned level;

		for (unsigned k = 0; k < each; k++)
			value = s->most[i * each + k] > value ? s->most[i * each + k] : value;
		level = s->peak ? (unsigned)((unsigned __int128)value * 10 / s->peak) : 0;
		text[i] = levels[level > 9 ? 9 : level ? level : value > 0];
	}
	text[cells] = '\0';
	return text;
}

unsigned gt_live_strip_cells(size_t width)
{
	static const unsigned sizes[] = { 60, 30, 20, 15, 12 };
	unsigned i = 0;

	while (width && i < 4 && sizes[i] + 2 > width)
		i++;
	return sizes[i];
}
