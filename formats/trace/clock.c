#include "formats/trace/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include "formats/arch/arch.h"
#include "formats/base/sorted.h"

#define TRIES 16
#define GOOD_ENOUGH 100 /* ns between the reads around; an idle machine needs 40 to 70 */
#define ONE (1ULL << 32)

bool gt_clock_trusts_ticks(void)
{
	char name[64] = "";
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = 0;
	fclose(f);
	name[strcspn(name, "\n")] = 0;
	return !strcmp(name, GT_ARCH_CLOCKSOURCE);
}

static int64_t read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int64_t gt_clock_monotonic(void) { return read_ns(CLOCK_MONOTONIC); }

/* monotonic, realtime, monotonic, ticks, monotonic: each read lies between two reads
 * of the monotonic clock. */
static struct gt_anchor read_all(bool ticks)
{
	int64_t m0 = gt_clock_monotonic(), real = read_ns(CLOCK_REALTIME),
		m1 = gt_clock_monotonic();
	uint64_t t = ticks ? gt_ticks() : (uint64_t)m1;
	int64_t m2 = ticks ? gt_clock_monotonic() : m1;
	int64_t wide = m2 - m1 > m1 - m0 ? m2 - m1 : m1 - m0;
	struct gt_anchor a = { .monotonic = m1 + (m2 - m1) / 2, .ticks = t };

	a.realtime = real + a.monotonic - (m0 + (m1 - m0) / 2);
	a.error = wide / 2 + 1 < UINT32_MAX ? (uint32_t)(wide / 2 + 1) : UINT32_MAX;
	return a;
}

struct gt_anchor gt_clock_anchor(bool ticks)
{
	struct gt_anchor best = read_all(ticks), a;

	for (int i = 1; i < TRIES && best.error > GOOD_ENOUGH / 2; i++) {
		a = read_all(ticks);
		if (a.error < best.error)
			best = a;
	}
	return best;
}

void gt_clock_init(struct gt_clock *c, bool ticks)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	struct gt_anchor a;

	memset(c, 0, sizeof(*c));
	c->ticks = ticks;
	if (!ticks) {
		c->knot[0] = (struct gt_knot){ .span = UINT64_MAX, .mult = ONE };
		c->n = 1;
		return;
	}
	a = gt_clock_anchor(true);
	c->max_error = a.error;
	c->knot[0] = (struct gt_knot){ .ticks = a.ticks, .ns = a.monotonic, .mult = ONE };
	c->n = 1;
	nanosleep(&pause, NULL);
	gt_clock_add(c, gt_clock_anchor(true));
}

/* Sets the slope of a piece that ends at (ticks, ns), rounded down so that the piece never exceeds
 * ns. */
static void set_slope(struct gt_knot *k, uint64_t ticks, int64_t ns)
{
	k->span = ticks - k->ticks;
	k->mult = (uint64_t)(((unsigned __int128)(ns - k->ns) << 32) / k->span);
}

/* Drops every second knot of the older half: there are too many pieces between two epochs. */
static void drop_knots(struct gt_clock *c)
{
	uint32_t half = c->n / 2, to = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (i >= half || i % 2 == 0)
			c->knot[to++] = c->knot[i];
	c->n = to;
	for (uint32_t i = 0; i + 1 < c->n; i++)
		set_slope(&c->knot[i], c->knot[i + 1].ticks, c->knot[i + 1].ns);
	c->hint = 0;
}

struct gt_anchor gt_clock_add(struct gt_clock *c, struct gt_anchor a)
{
	struct gt_knot *last = &c->knot[c->n - 1];

	if (a.error > c->max_error)
		c->max_error = a.error;
	if (!c->ticks)
		return a;
	if (a.ticks <= last->ticks) /* the counter of another CPU is slightly behind */
		a.ticks = last->ticks + 1;
	if (a.monotonic < last->ns)
		a.monotonic = last->ns;
	set_slope(last, a.ticks, a.monotonic);
	if (c->n == GT_CLOCK_KNOTS)
		drop_knots(c);
	c->knot[c->n] = (struct gt_knot){
		.ticks = a.ticks, .ns = a.monotonic, .mult = c->knot[c->n - 1].mult
	};
	c->n++;
	return a;
}

void gt_clock_drop_before(struct gt_clock *c, uint64_t ticks)
{
	uint32_t keep = 0;

	while (keep + 2 < c->n && c->knot[keep + 1].ticks <= ticks)
		keep++;
	memmove(c->knot, c->knot + keep, (c->n - keep) * sizeof(*c->knot));
	c->n -= keep;
	c->hint = 0;
}

/* The piece of these ticks; the first one for all ticks before it, the last one for
 * all after it. */
static uint32_t piece(const struct gt_clock *c, uint64_t ticks)
{
	return (uint32_t)GT_LOWER_BOUND(k, 1, c->n, c->knot[k].ticks <= ticks) - 1;
}

int64_t gt_clock_find_(struct gt_clock *c, uint64_t ticks)
{
	const struct gt_knot *k;
	unsigned __int128 ns;

	c->hint = piece(c, ticks);
	k = &c->knot[c->hint];
	if (ticks >= k->ticks) {
		ns = (unsigned __int128)(ticks - k->ticks) * k->mult >> 32;
		return ns < (uint64_t)(INT64_MAX - k->ns) ? k->ns + (int64_t)ns : INT64_MAX;
	}
	ns = (unsigned __int128)(k->ticks - ticks) * k->mult >> 32;
	return ns < (uint64_t)k->ns ? k->ns - (int64_t)ns : 0;
}
