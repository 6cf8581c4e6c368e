/* Live memory over time as a line of text: the window has GT_BUSY_STRIP_CELLS cells, each with the
 * maximum. */
#ifndef GT_LIVE_STRIP_H
#define GT_LIVE_STRIP_H
#include "analyze/core/analysis.h"
#include "analyze/core/busy_strip.h"

struct gt_live_strip {
	struct gt_busy_strip_window window;
	uint64_t most[GT_BUSY_STRIP_CELLS]; /* bytes */
	uint64_t value, peak;
	int64_t since; /* `value` is valid from then on */
};
/* a new strip without live memory */
struct gt_live_strip *gt_live_strip_new(
	const struct gt_analysis_options *opt, const struct gt_segment *seg);
/* in order of time; times outside the window count at its edge */
void gt_live_strip_set(struct gt_live_strip *s, int64_t at, uint64_t value);
/* A blank for 0, else one of ".:-=+*#%@" by the share of the peak: "." below 20 %, then one step
 * per 10 %,
 * "@" from 90 % on. `cells` characters; GT_BUSY_STRIP_CELLS is a multiple of it. Returns text. */
const char *gt_live_strip_text(
	struct gt_live_strip *s, unsigned cells, char text[GT_BUSY_STRIP_CELLS + 1]);
/* cells that fit a terminal; 0 or SIZE_MAX: no terminal */
unsigned gt_live_strip_cells(size_t width);
static inline int64_t gt_live_strip_end(const struct gt_live_strip *s)
{
	return s->window.from + (int64_t)s->window.width;
}
#endif
