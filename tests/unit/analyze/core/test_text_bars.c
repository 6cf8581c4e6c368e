#define _GNU_SOURCE /* setenv */
/* Histogram steps contain the values that they state, and drawings have the requested width and
 * height. */
#include "analyze/stats/text_bars.h"
#include "tests/unit/t.h"

static void steps_have_edges(void)
{
	for (unsigned cut = 0; cut <= 6; cut++) {
		struct gt_bar_scale s = { .cut = cut };

		CHECK(gt_bar_step_of(&s, 0) == 0 && gt_bar_step_low(&s, 0) == 0);
		for (unsigned step = 1 + (cut << cut); step < 1 + (62u << cut); step++) {
			uint64_t low = gt_bar_step_low(&s, step),
				 next = gt_bar_step_low(&s, step + 1);

			CHECK(low < next && gt_bar_step_of(&s, low) == step &&
				gt_bar_step_of(&s, next - 1) == step);
		}
	}
}

static void steps_are_fine_where_values_are_close(void)
{
	struct gt_hist h = { 0 };
	struct gt_bar_scale s;

	gt_bar_scale_make(&s, &h, 16);
	CHECK(!s.n);
	for (int i = 0; i < 100; i++)
		gt_hist_add(&h, 33000 + i * 20);
	gt_bar_scale_make(&s, &h, 16);
	CHECK(s.cut == 6 && s.n == 5 && s.total == 100);
	gt_hist_add(&h, 50000);
	gt_bar_scale_make(&s, &h, 16);
	CHECK(s.cut == 4 && s.total == 101);
	gt_hist_add(&h, INT64_MAX);
	gt_hist_add(&h, 0);
	gt_bar_scale_make(&s, &h, 16);
	CHECK(s.cut == 0 && s.first == 0 && s.n == 64 && s.total == 103 && s.counts[0] == 1 &&
		s.counts[16] == 101 && s.most == 101);
	gt_hist_release(&h);
	gt_hist_add(&h, 0);
	gt_hist_add(&h, 2);
	gt_bar_scale_make(&s, &h, 16); /* 0, 1 and 2 to 3: nothing is finer than a whole number */
	CHECK(s.cut == 0 && s.n == 3 && gt_bar_step_low(&s, 1) == 1 &&
		gt_bar_step_low(&s, 2) == 2 && s.counts[2] == 1);
	gt_hist_release(&h);
}

static void bars_are_as_long_as_they_should_be(void)
{
	char to[200];

	gt_bar(to, 10, 10, 5, false);
	CHECK_STR(to, "#####");
	gt_bar(to, 1, 1000, 5, false);
	CHECK_STR(to, ".");
	gt_bar(to, 0, 1000, 5, false);
	CHECK(!*to);
	gt_bar(to, 10, 10, 5, true);
	CHECK_STR(to, "█████");
	gt_bar(to, 9, 16, 2, true);
	CHECK_STR(to, "█▏");
	gt_bar(to, 1, 1000, 5, true);
	CHECK_STR(to, "▏");
	gt_bar(to, UINT64_MAX, UINT64_MAX, 60, true);
	CHECK_EQ(strlen(to), 180);
}

static void lines_share_a_scale(void)
{
	struct gt_spark_scale scale = { 0 };
	char text[3 * GT_SPARK_CELLS + 1];
	struct gt_hist a = { 0 }, b = { 0 };

	for (int i = 0; i < 8; i++)
		gt_hist_add(&a, 100);
	gt_hist_add(&a, 5000);
	gt_hist_add(&b, 3000000);
	gt_spark_scale_add(&scale, &a);
	gt_spark_scale_add(&scale, &b);
	gt_spark(text, &scale, &a, false);
	CHECK_STR(text, "@     .         "); /* 64 to 128 first, 2^21 to 2^22 last */
	gt_spark(text, &scale, &b, true);
	CHECK_STR(text, "               █");
	gt_hist_add(&b, 0);
	gt_hist_add(&b, INT64_MAX);
	gt_spark_scale_add(&scale, &b);
	gt_spark(text, &scale, &b, false);
	/* three powers of two to a cell: 0, 22 and 63 bits */
	CHECK_STR(text, "@      @             @");
	gt_hist_release(&a);
	gt_hist_release(&b);
}

static void close_values_have_finer_cells(void)
{
	struct gt_spark_scale scale = { 0 };
	char text[3 * GT_SPARK_CELLS + 1];
	struct gt_hist h = { 0 };

	gt_hist_add(&h, 1024);
	gt_hist_add(&h, 1300);
	gt_hist_add(&h, 1300);
	gt_hist_add(&h, 3000);
	gt_spark_scale_add(&scale, &h);
	gt_spark(text, &scale, &h, false);
	/* eight to each: 1024, 1152, 1280 ... 2816 to 3072 */
	CHECK_STR(text, "= @        =");
	gt_hist_release(&h);
}

static void blocks_are_for_utf8(void)
{
	setenv("LC_ALL", "", 1);
	setenv("LC_CTYPE", "en_US.utf8", 1);
	setenv("LANG", "C", 1);
	CHECK(gt_bars_utf8());
	setenv("LC_ALL", "C", 1);
	CHECK(!gt_bars_utf8());
	setenv("LC_ALL", "C.UTF-8", 1);
	CHECK(gt_bars_utf8());
}

T_MAIN(T(steps_have_edges), T(steps_are_fine_where_values_are_close),
	T(bars_are_as_long_as_they_should_be), T(lines_share_a_scale),
	T(close_values_have_finer_cells), T(blocks_are_for_utf8))
