/* Round times are multiples of a round step, counted from the start or from midnight. A smaller
 * step needs labels with more digits, so the smallest step is used whose labels fit between two
 * of its times. */
#include "viewer/lanes/time_axis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/cmdline/opt.h"

#define SECOND 1000000000ll
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* Uses the wall clock at the start for all times, even if the clock was set later, so that
 * differences of times stay correct. */
struct gt_time_shown gt_time_shown_of(const struct gt_segment *seg, int64_t start, int64_t offset)
{
	struct gt_time_shown how = { .start = start };

	if (seg && seg->nanchors && seg->anchors[0].realtime) {
		how.has_wall = true;
		how.to_wall = seg->anchors[0].realtime - seg->anchors[0].monotonic + offset;
	}
	return how;
}

/* ---- times as text ---- */

static const struct unit {
	int64_t ns;
	unsigned digits;
	const char *word;
} units[] = {
	{ SECOND, 9, "s" },
	{ 1000000, 6, "ms" },
	{ 1000, 3, "us" },
	{ 1, 0, "ns" },
};

/* The number of decimal places, at most `digits`, that distinguishes multiples of the step. */
static unsigned decimals(int64_t step, unsigned digits)
{
	for (; digits && step % 10 == 0; step /= 10)
		digits--;
	return digits;
}

static int put_fraction(char *to, size_t room, uint64_t ns, unsigned digits, unsigned shown)
{
	for (unsigned i = shown; i < digits; i++)
		ns /= 10;
	return shown ? snprintf(to, room, ".%0*" PRIu64, (int)shown, ns) : 0;
}

static unsigned in_unit(const struct unit *u, uint64_t v, const char *sign, int64_t step, char *to)
{
	unsigned n = (unsigned)snprintf(to, GT_TIME_ROOM, "%s%" PRIu64, sign, v / (uint64_t)u->ns);

	n += (unsigned)put_fraction(to + n, GT_TIME_ROOM - n, v % (uint64_t)u->ns, u->digits,
		decimals(step, u->digits));
	return n + (unsigned)snprintf(to + n, GT_TIME_ROOM - n, "%s", u->word);
}

/* hours: write them too; wall: with two digits. */
static unsigned by_clock(
	uint64_t v, const char *sign, bool hours, bool wall, int64_t step, char *to)
{
	uint64_t s = v / SECOND, m = s / 60;
	int n;

	if (hours)
		n = snprintf(to, GT_TIME_ROOM, "%s%0*" PRIu64 ":%02u:%02u", sign, wall ? 2 : 1,
			m / 60, (unsigned)(m % 60), (unsigned)(s % 60));
	else
		n = snprintf(to, GT_TIME_ROOM, "%s%" PRIu64 ":%02u", sign, m, (unsigned)(s % 60));
	n += put_fraction(to + n, GT_TIME_ROOM - (size_t)n, v % SECOND, 9, decimals(step, 9));
	return (unsigned)n;
}

unsigned gt_time_text(const struct gt_time_shown *how, int64_t t, int64_t step, int64_t most,
	char to[GT_TIME_ROOM])
{
	int64_t since = t - how->start, largest = most - how->start;
	uint64_t v = since < 0 ? -(uint64_t)since : (uint64_t)since;
	const char *sign = since < 0 ? "-" : "";
	const struct unit *u = units;

	if (how->by_wall) {
		int64_t of_day = (t + how->to_wall) % DAY;

		return by_clock(
			(uint64_t)(of_day < 0 ? of_day + DAY : of_day), "", true, true, step, to);
	}
	if (largest >= MINUTE)
		return by_clock(v, sign, largest >= HOUR, false, step, to);
	while (u->ns > 1 && largest < u->ns)
		u++;
	return in_unit(u, v, sign, step, to);
}

int64_t gt_time_step(const struct gt_cell_window *w)
{
	int64_t step = 1;

	while (step <= INT64_MAX / 10 && (uint64_t)step * 10 <= gt_window_cell_width(w))
		step *= 10;
	return step;
}

/* "1:05.5", "4:31:44": ns. */
static int parse_clock(const char *text, int64_t *ns)
{
	int64_t whole = 0, part;

	for (unsigned i = 0; i < 2; i++) {
		const char *colon = strchr(text, ':');
		size_t n = strspn(text, "0123456789");

		if (!colon)
			break;
		if (!n || n > 6 || text + n != colon)
			return -EINVAL;
		whole = (whole + strtoll(text, NULL, 10)) * 60;
		text = colon + 1;
	}
	if (!*text || text[strspn(text, "0123456789.")] || gt_parse_ns(text, &part) ||
		__builtin_add_overflow(whole * SECOND, part, ns))
		return -EINVAL;
	return 0;
}

/* The first time at or after the start at which the wall clock shows this time of day. */
static int64_t from_wall(const struct gt_time_shown *how, int64_t of_day)
{
	int64_t ahead = (of_day - (how->start + how->to_wall)) % DAY;

	return ahead < 0 ? ahead + DAY : ahead;
}

int gt_time_parse(const struct gt_time_shown *how, const char *text, int64_t *t)
{
	bool clock = strchr(text, ':');
	int64_t ns;

	if (!*text || (clock ? parse_clock(text, &ns) : gt_parse_ns(text, &ns)))
		return -EINVAL;
	if (clock && how->by_wall)
		ns = from_wall(how, ns);
	return __builtin_add_overflow(how->start, ns, t) ? -EINVAL : 0;
}

/* ---- the axis ---- */

static int64_t next_step(int64_t step)
{
	static const int64_t long_ones[] = { 20 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE,
		10 * MINUTE, 20 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY };
	int64_t lead = step;

	for (unsigned i = 0; i + 1 < sizeof(long_ones) / sizeof(*long_ones); i++)
		if (step == long_ones[i])
			return long_ones[i + 1];
	if (step >= DAY)
		return step * 2;
	while (lead >= 10)
		lead /= 10;
	return lead == 2 ? step / 2 * 5 : step * 2; /* 1, 2, 5, 10 */
}

/* The first multiple of step, counted from zero, at or after t. */
static int64_t round_up(int64_t t, int64_t zero, int64_t step)
{
	int64_t rest = (t - zero) % step;

	return rest == 0 ? t : t - rest + (rest > 0 ? step : 0);
}

/* True if the labels of this step fit. The label of the latest time is the longest. */
static bool has_room(const struct gt_cell_window *w, const struct gt_time_shown *how, int64_t step)
{
	char label[GT_TIME_ROOM];
	int64_t end = gt_window_end(w);
	/* at least as wide as each cell, apart from rounded starts */
	uint64_t width = gt_window_cell_width(w) + !gt_window_is_aligned(w);
	/* the mark, and two free columns */
	int64_t columns = gt_time_text(how, end, step, end, label) + 3;

	return step / (int64_t)width >= columns;
}

unsigned gt_time_axis(const struct gt_cell_window *w, const struct gt_time_shown *how,
	struct gt_tick *to, unsigned most)
{
	int64_t zero = how->by_wall ? -(how->to_wall % DAY) : how->start, step = 1,
		from = gt_cell_start(w, 0), end = gt_window_end(w);
	unsigned n = 0;

	if (!how->by_wall && from < how->start)
		from = how->start;
	while (!has_room(w, how, step) && step < INT64_MAX / 4)
		step = next_step(step);
	for (int64_t t = round_up(from, zero, step); n < most && t < end; t += step) {
		unsigned len = gt_time_text(how, t, step, end, to[n].label);

		to[n].column = (unsigned)gt_window_column(w, t);
		if (to[n].column + 1 + len <= w->cells)
			n++;
	}
	return n;
}
