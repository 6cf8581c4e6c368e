/* How much memory was alive along time, as one line of text: the window in GT_BUSY_STRIP_CELLS
 * cells, in each the most that was. */
#ifndef GT_LIVE_STRIP_H
#define GT_LIVE_STRIP_H
#include "analyze/core/analysis.h"
#include "analyze/core/busy_strip.h"

struct gt_live_strip {
	struct gt_busy_strip_window window;
	uint64_t most[GT_BUSY_STRIP_CELLS]; /* bytes */
	uint64_t value, peak;
	int64_t since; /* `value` holds from then on */
};
/* new; nothing is alive */
struct gt_live_strip *gt_live_strip_new(
	const struct gt_analysis_options *opt, const struct gt_segment *seg);
/* by time; outside the window is at its edge */
void gt_live_strip_set(struct gt_live_strip *s, int64_t at, uint64_t value);
/* A blank for nothing, else one of ".:-=+*#%@" by its part of the peak: "." below a fifth, then a
 * step each tenth, "@" from nine tenths. In `cells` characters, which GT_BUSY_STRIP_CELLS must be a
 * multiple of. Returns text. */
const char *gt_live_strip_text(
	struct gt_live_strip *s, unsigned cells, char text[GT_BUSY_STRIP_CELLS + 1]);
/* that fit a terminal; 0 or SIZE_MAX: there is none */
unsigned gt_live_strip_cells(size_t width);
static inline int64_t gt_live_strip_end(const struct gt_live_strip *s)
{
	return s->window.from + (int64_t)s->window.width;
}
#endif
