/* Clocks: reading them together, and turning counter ticks into CLOCK_MONOTONIC ns.
 *
 * A record carries raw ticks, because reading the counter is half the price of clock_gettime. The
 * recorder reads both clocks at every pass ("anchors"); between two anchors time runs in a straight
 * line, so the whole conversion is one rising polyline. That it is ONE function of ticks is what
 * keeps nesting intact: equal ticks give equal ns, and later ticks never give earlier ns, so a
 * child stays inside its parent and siblings never overlap, whatever the rounding.
 *
 * Error: an anchor is as good as the gap between the clock reads around it, measured each time
 * (typically 30 ns, retried above 100); within a piece the line is off by at most its two ends'
 * errors, as the kernel bends its own clock by a few ppm and pieces are milliseconds long.
 */
#ifndef GT_CLOCK_H
#define GT_CLOCK_H
#include <stdbool.h>
#include "formats/trace/record.h"

#define GT_CLOCK_KNOTS 4096
#define GT_CLOCK_ERROR_MAX 200 /* ns: what we promise; gt_clock.max_error is what was measured */

/* Piece i covers ticks [knot[i].ticks, + span). */
struct gt_knot {
	uint64_t ticks, span, mult;
	int64_t ns;
};
struct gt_clock {
	bool ticks; /* input is gt_ticks(); else it is ns already */
	uint32_t n, hint;
	uint32_t max_error; /* ns: of the worst anchor used */
	struct gt_knot knot[GT_CLOCK_KNOTS];
};

/* Does the kernel itself keep time by the counter that gt_ticks() reads? If not, use
 * CLOCK_MONOTONIC throughout. */
bool gt_clock_trusts_ticks(void);
int64_t gt_clock_monotonic(void);
/* One moment on all clocks: the tightest of some tries. ticks false: .ticks is .monotonic. */
struct gt_anchor gt_clock_anchor(bool ticks);

/* Starts with two anchors a little apart (2 ms), so that it can convert at once. */
void gt_clock_init(struct gt_clock *c, bool ticks);
/* Adds the end of a new piece and returns it, nudged forward where it would make time run
 * backwards. */
struct gt_anchor gt_clock_add(struct gt_clock *c, struct gt_anchor a);
/* Ticks before this one will not be asked for any more (if they are, the first piece is prolonged
 * backwards). */
void gt_clock_drop_before(struct gt_clock *c, uint64_t ticks);
int64_t gt_clock_find_(struct gt_clock *c, uint64_t ticks);

/* ns of a tick count that lies on this piece. */
static inline int64_t gt_clock_on(const struct gt_knot *k, uint64_t ticks)
{
	return k->ns + (int64_t)((unsigned __int128)(ticks - k->ticks) * k->mult >> 32);
}

/* ns of a tick count. Ticks behind the last anchor prolong the last piece. */
static inline int64_t gt_clock_ns(struct gt_clock *c, uint64_t ticks)
{
	const struct gt_knot *k = &c->knot[c->hint];

	if (__builtin_expect(ticks - k->ticks >= k->span, 0))
		return gt_clock_find_(c, ticks);
	return gt_clock_on(k, ticks);
}
#endif
