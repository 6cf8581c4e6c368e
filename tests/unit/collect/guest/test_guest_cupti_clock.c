/* The clock that CUPTI reads: close to CLOCK_MONOTONIC, never decreasing, and correct again soon
 * after any disturbance. */
#include "collect/guest/cupti/guest_cupti_clock.h"
#include "tests/unit/t.h"

#define LOOK 250000000ll /* ns between two looks */

/* A counter of 2.1 GHz; from a given time the true clock runs faster by `ppm`. */
static int64_t ppm, turn_ticks, turn_ns;
static int64_t truth(int64_t ticks)
{
	int64_t since = ticks - turn_ticks;

	return turn_ns + (int64_t)((__int128)since * 10 / 21) +
		(int64_t)((__int128)since * 10 / 21 * ppm / 1000000);
}

static void turn(int64_t ticks, int64_t to_ppm, int64_t jump)
{
	turn_ns = truth(ticks) + jump;
	turn_ticks = ticks;
	ppm = to_ppm;
}

static uint64_t seed = 1;
static int64_t noise(int64_t most)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (int64_t)(seed >> 33) % (2 * most + 1) - most;
}

/* Looks n times, from ticks on, as a thread does that comes a little late or early. *worst: how far
 * off it ever was; false: it went back. */
static bool go(struct gt_tick_clock *c, int64_t *ticks, int n, int64_t *worst)
{
	uint64_t last = 0, ns;

	*worst = 0;
	for (int i = 0; i < n; i++) {
		int64_t until = *ticks + (LOOK + noise(LOOK / 10)) * 21 / 10;

		gt_tick_clock_update(c, (uint64_t)*ticks, (uint64_t)(truth(*ticks) + noise(20)));
		for (; *ticks < until; *ticks += 1000003) {
			if (!gt_tick_clock_at(c, (uint64_t)*ticks, &ns))
				continue;
			if (ns < last)
				return false;
			last = ns;
			if (llabs((int64_t)ns - truth(*ticks)) > *worst)
				*worst = llabs((int64_t)ns - truth(*ticks));
		}
	}
	return true;
}

static int64_t fresh(struct gt_tick_clock *c)
{
	*c = (struct gt_tick_clock){ 0 };
	ppm = 0, turn_ticks = 0, turn_ns = 1000000000;
	return 5000000000;
}

static void says_nothing_before_it_knows(void)
{
	struct gt_tick_clock c;
	int64_t ticks = fresh(&c);
	uint64_t ns;

	CHECK(!gt_tick_clock_at(&c, (uint64_t)ticks, &ns));
	gt_tick_clock_update(&c, (uint64_t)ticks, (uint64_t)truth(ticks));
	CHECK(!gt_tick_clock_at(&c, (uint64_t)ticks, &ns));
	ticks += 21000000; /* 10 ms later: too short for a rate */
	gt_tick_clock_update(&c, (uint64_t)ticks, (uint64_t)truth(ticks));
	CHECK(!gt_tick_clock_at(&c, (uint64_t)ticks, &ns));
}

static void is_close_and_rises(void)
{
	struct gt_tick_clock c;
	int64_t ticks = fresh(&c), worst;

	for (int64_t drift = -40; drift <= 40; drift += 20) {
		turn(ticks, drift, 0);
		go(&c, &ticks, 4, &worst);
		CHECK(go(&c, &ticks, 200, &worst));
		CHECK(worst < 150);
	}
}

/* The clock is steered to run 400 ppm faster: 100 us are missed in a span. */
static void follows_a_clock_that_is_steered(void)
{
	struct gt_tick_clock c;
	int64_t ticks = fresh(&c), worst;

	CHECK(go(&c, &ticks, 10, &worst));
	turn(ticks, 400, 0);
	go(&c, &ticks, 1, &worst);
	CHECK(worst > 50000 && worst < 150000);
	go(&c, &ticks, 2, &worst);
	CHECK(go(&c, &ticks, 20, &worst));
	CHECK(worst < 150);
	turn(ticks, 420, 0); /* a little more: corrected without a step */
	CHECK(go(&c, &ticks, 3, &worst));
	CHECK(worst < 10000);
	CHECK(go(&c, &ticks, 20, &worst));
	CHECK(worst < 150);
}

/* The counter continued while the machine was suspended. */
static void is_invalid_if_far_off(void)
{
	struct gt_tick_clock c;
	int64_t ticks = fresh(&c), worst;

	CHECK(go(&c, &ticks, 10, &worst));
	turn(ticks, 0, -1000000000);
	CHECK(go(&c, &ticks, 20, &worst));
	CHECK(worst < 150);
	ticks += 21000000000; /* ten seconds, in which the clock did not advance */
	turn(ticks, 0, -10000000000);
	CHECK(go(&c, &ticks, 20, &worst));
	CHECK(worst < 150);
}

static void is_invalid_if_not_updated(void)
{
	struct gt_tick_clock c;
	int64_t ticks = fresh(&c), worst;
	uint64_t ns;

	CHECK(go(&c, &ticks, 10, &worst));
	CHECK(gt_tick_clock_at(&c, (uint64_t)ticks + 1050000000ull, &ns));
	CHECK(!gt_tick_clock_at(&c, (uint64_t)ticks + 7000000000ull, &ns));
	c.turn++; /* it is being written */
	CHECK(!gt_tick_clock_at(&c, (uint64_t)ticks, &ns));
}

T_MAIN(T(says_nothing_before_it_knows), T(is_close_and_rises), T(follows_a_clock_that_is_steered),
	T(is_invalid_if_far_off), T(is_invalid_if_not_updated))
