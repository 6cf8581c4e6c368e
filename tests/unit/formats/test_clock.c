/* Ticks to ns: one increasing function, exact at the anchors, after any change of the list of
 * pieces. */
#include "formats/trace/clock.h"
#include "tests/unit/t.h"

static struct gt_clock c;

/* A counter of 3 GHz that drifts against the clock: anchors every ms, the clock a little faster or
 * slower in each. */
static struct gt_anchor at(int i)
{
	return (struct gt_anchor){ .ticks = 1000000ull + (uint64_t)i * 3000000,
		.monotonic = 5000000000ll + i * 1000000ll + i % 7 * 13,
		.error = 40 };
}

static void fresh(void)
{
	/* by hand: two pieces of our own instead of the machine's */
	gt_clock_init(&c, false);
	c.ticks = true;
	c.knot[0] = (struct gt_knot){ .ticks = at(0).ticks, .ns = at(0).monotonic };
	c.n = 1;
}

static bool rises(uint64_t from, uint64_t to, uint64_t step)
{
	int64_t last = gt_clock_ns(&c, from);

	for (uint64_t t = from; t <= to; t += step) {
		int64_t ns = gt_clock_ns(&c, t);

		if (ns < last)
			return false;
		last = ns;
	}
	return true;
}

static void clock_is_exact_at_anchors(void)
{
	fresh();
	for (int i = 1; i < 100; i++)
		gt_clock_add(&c, at(i));
	for (int i = 0; i < 100; i++)
		CHECK(gt_clock_ns(&c, at(i).ticks) == at(i).monotonic);
}

static void clock_rises(void)
{
	CHECK(rises(at(0).ticks, at(99).ticks, 997));
	for (int i = 1; i < 99; i++) /* across each joint, tick by tick */
		CHECK(rises(at(i).ticks - 50, at(i).ticks + 50, 1));
}

static void clock_gives_equal_ns_for_equal_ticks(void)
{
	for (int i = 1; i < 99; i++) {
		int64_t ns = gt_clock_ns(&c, at(i).ticks);

		gt_clock_ns(&c, at(0).ticks); /* comes from another piece */
		CHECK(gt_clock_ns(&c, at(i).ticks) == ns);
		gt_clock_ns(&c, at(98).ticks);
		CHECK(gt_clock_ns(&c, at(i).ticks) == ns);
	}
}

static void clock_forgets_the_past_only(void)
{
	int64_t ns = gt_clock_ns(&c, at(60).ticks + 1234);

	gt_clock_drop_before(&c, at(50).ticks + 7);
	CHECK_EQ(c.n, 50);
	CHECK(gt_clock_ns(&c, at(60).ticks + 1234) == ns);
	CHECK(gt_clock_ns(&c, at(50).ticks) == at(50).monotonic);
	/* the first piece also converts earlier times */
	CHECK(rises(at(10).ticks, at(99).ticks, 1009));
}

static void clock_thins_out_and_still_rises(void)
{
	fresh();
	for (int i = 1; i < 3 * GT_CLOCK_KNOTS; i++)
		gt_clock_add(&c, at(i));
	CHECK(c.n <= GT_CLOCK_KNOTS);
	CHECK(rises(at(0).ticks, at(3 * GT_CLOCK_KNOTS - 1).ticks, 99991));
	CHECK(gt_clock_ns(&c, at(3 * GT_CLOCK_KNOTS - 1).ticks) ==
		at(3 * GT_CLOCK_KNOTS - 1).monotonic);
}

static void clock_never_goes_back(void)
{
	struct gt_anchor a = at(10);

	fresh();
	gt_clock_add(&c, at(20));
	a = gt_clock_add(&c, a); /* an anchor from the past */
	CHECK(a.ticks > at(20).ticks && a.monotonic >= at(20).monotonic);
	CHECK(rises(at(0).ticks, at(30).ticks, 1013));
}

static void clock_survives_absurd_ticks(void)
{
	fresh();
	gt_clock_add(&c, at(1));
	CHECK(gt_clock_ns(&c, UINT64_MAX) >= at(1).monotonic);
	CHECK(gt_clock_ns(&c, 0) >= 0);
}

static void clock_without_counter_is_identity(void)
{
	gt_clock_init(&c, false);
	CHECK(gt_clock_ns(&c, 0) == 0 && gt_clock_ns(&c, 123456789012345) == 123456789012345);
	gt_clock_add(&c, gt_clock_anchor(false));
	gt_clock_drop_before(&c, 1000);
	CHECK_EQ(gt_clock_ns(&c, 77), 77);
}

static void clock_of_this_machine(void)
{
	struct gt_anchor a, b;

	if (!gt_clock_trusts_ticks())
		SKIP("the kernel's clock source is not the tick counter");
	gt_clock_init(&c, true);
	CHECK_EQ(c.n, 2);
	a = gt_clock_add(&c, gt_clock_anchor(true));
	b = gt_clock_add(&c, gt_clock_anchor(true));
	CHECK(gt_clock_ns(&c, a.ticks) == a.monotonic && gt_clock_ns(&c, b.ticks) == b.monotonic);
	CHECK(a.realtime > 0 && c.max_error >= a.error);
}

T_MAIN(T(clock_is_exact_at_anchors), T(clock_rises), T(clock_gives_equal_ns_for_equal_ticks),
	T(clock_forgets_the_past_only), T(clock_thins_out_and_still_rises),
	T(clock_never_goes_back), T(clock_survives_absurd_ticks),
	T(clock_without_counter_is_identity), T(clock_of_this_machine))
