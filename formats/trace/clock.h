/* Reads clocks together, and converts counter ticks to CLOCK_MONOTONIC ns.
 *
 * A record holds raw ticks, because reading the counter costs half as much as clock_gettime. The
 * recorder reads both clocks in every pass (an "anchor"). Between two anchors the conversion is
 * linear, so the whole conversion is one monotonic polyline. Because it is ONE function of ticks,
 * nesting stays intact: equal ticks give equal ns, and later ticks never give earlier ns. So a
 * child stays inside its parent and siblings never overlap, whatever the rounding.
 *
 * Error: the error of an anchor is the time between the clock reads around it, measured each time
 * (typically 30 ns, retried above 100 ns). Within a piece, the error of the line is at most that of
 * its two ends: the kernel adjusts its own clock by a few ppm, and pieces are milliseconds long.
 */
#ifndef GT_CLOCK_H
#define GT_CLOCK_H
#include <stdbool.h>
#include "formats/trace/record.h"

#define GT_CLOCK_KNOTS 4096
/* ns: the documented limit; gt_clock.max_error is the measured error */
#define GT_CLOCK_ERROR_MAX 200

/* Piece i covers ticks [knot[i].ticks, + span). */
struct gt_knot {
	uint64_t ticks, span, mult;
	int64_t ns;
};
struct gt_clock {
	bool ticks; /* the input is gt_ticks(); else it is in ns */
	uint32_t n, hint;
	uint32_t max_error; /* ns: the largest error of an anchor */
	struct gt_knot knot[GT_CLOCK_KNOTS];
};

/* Does the kernel use the counter that gt_ticks() reads as its clock source? If not,
 * use CLOCK_MONOTONIC throughout. */
bool gt_clock_trusts_ticks(void);
int64_t gt_clock_monotonic(void);
/* Reads all clocks at one moment: the try with the smallest error. ticks false: .ticks is
 * .monotonic. */
struct gt_anchor gt_clock_anchor(bool ticks);

/* Takes two anchors 2 ms apart, so that it can convert at once. */
void gt_clock_init(struct gt_clock *c, bool ticks);
/* Adds the end of a new piece and returns it, moved forward if time would run backwards. */
struct gt_anchor gt_clock_add(struct gt_clock *c, struct gt_anchor a);
/* Drops the pieces before `ticks`. Earlier ticks are converted by extending the
 * first piece that is left. */
void gt_clock_drop_before(struct gt_clock *c, uint64_t ticks);
int64_t gt_clock_find_(struct gt_clock *c, uint64_t ticks);

/* The ns of a tick count on this piece. */
static inline int64_t gt_clock_on(const struct gt_knot *k, uint64_t ticks)
{
	return k->ns + (int64_t)((unsigned __int128)(ticks - k->ticks) * k->mult >> 32);
}

/* The ns of a tick count. Ticks after the last anchor extend the last piece. */
static inline int64_t gt_clock_ns(struct gt_clock *c, uint64_t ticks)
{
	const struct gt_knot *k = &c->knot[c->hint];

	if (__builtin_expect(ticks - k->ticks >= k->span, 0))
		return gt_clock_find_(c, ticks);
	return gt_clock_on(k, ticks);
}
#endif
