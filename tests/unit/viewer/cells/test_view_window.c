/* The window and the axis, compared with the plainest computation of their documented results. */
#include "tests/unit/t.h"
#include "viewer/lanes/time_axis.h"

static int64_t any(int64_t n)
{
	return n > 0 ? (int64_t)((((uint64_t)rand() << 31) ^ (uint64_t)rand()) % (uint64_t)n) : 0;
}

static struct gt_time_extent any_extent(void)
{
	int64_t from = any(1ll << (rand() % 40)) - any(1ll << (rand() % 40));

	return (struct gt_time_extent){ from, from + 1 + any(1ll << (rand() % 44)), .widest = 60 };
}

/* The window shows the whole trace, or nothing outside of it, as far as whole cells permit it. */
static bool is_inside(const struct gt_cell_window *w, const struct gt_time_extent *e)
{
	int64_t first = e->from >> w->shift, last = (e->to - 1) >> w->shift,
		at = w->from >> w->shift;

	if (!gt_window_is_aligned(w))
		return w->from >= e->from && w->to <= e->to;
	if (last - first + 1 <= (int64_t)w->cells)
		return at == first && gt_window_shows_all(w, e);
	return at >= first && at + w->cells - 1 <= last && !gt_window_shows_all(w, e);
}

/* Cell i begins at from + floor(i * span / cells), or at the nearest multiple of 2^shift. */
static void check_cells(const struct gt_cell_window *w)
{
	int64_t span = w->to - w->from, multiple = 1ll << w->shift;

	CHECK(gt_cell_start(w, 0) == w->from && gt_cell_start(w, w->cells) == w->to);
	for (unsigned i = 0; i < w->cells; i++) {
		int64_t t = gt_cell_start(w, i), end = gt_cell_start(w, i + 1),
			want = w->from + (int64_t)((__int128)i * span / w->cells);

		CHECK(w->shift ? t - want <= multiple / 2 && want - t <= multiple / 2 : t == want);
		CHECK(!i || t % multiple == 0);
		CHECK(t < end && gt_window_column(w, t) == i && gt_window_column(w, end - 1) == i);
	}
	CHECK(gt_window_column(w, w->from - 1) < 0 && gt_window_column(w, w->to) >= w->cells);
}

static void shows_the_whole_run(void)
{
	for (int i = 0; i < 20000; i++) {
		struct gt_time_extent e = any_extent();
		struct gt_cell_window w = { .cells = 2 + (unsigned)rand() % 300 };

		gt_window_fit(&w, &e);
		CHECK(gt_window_shows_all(&w, &e) && is_inside(&w, &e));
		CHECK(e.to - e.from < w.cells || (w.from == e.from && w.to == e.to));
		e.grows = true;
		gt_window_fit(&w, &e);
		CHECK(gt_window_shows_all(&w, &e) && is_inside(&w, &e) && gt_window_is_aligned(&w));
		if (w.shift) /* half as wide would not do */
			CHECK(((e.to - 1) >> (w.shift - 1)) - (e.from >> (w.shift - 1)) + 1 >
				(int64_t)w.cells);
	}
}

static void shows_exactly_a_range(void)
{
	for (int i = 0; i < 20000; i++) {
		struct gt_time_extent e = any_extent();
		struct gt_cell_window w = { .cells = 2 + (unsigned)rand() % 300 };
		int64_t from = e.from + any(e.to - e.from), to = from + 1 + any(e.to - from);

		if (rand() % 2) { /* a large trace */
			e.rows = 1000000000;
			e.finest = rand() % 2 ? (unsigned)rand() % 20 : 0;
		}
		gt_window_show(&w, &e, from, to);
		CHECK(is_inside(&w, &e) && w.from <= from && w.to >= to);
		CHECK(to - from < w.cells || (w.from == from && w.to == to));
		if (i % 50 == 0 && !gt_window_is_aligned(&w))
			check_cells(&w);
		gt_window_resize(&w, &e, 2 + (unsigned)rand() % 300);
		CHECK(to - from < 302 || (w.from == from && w.to == to));
		gt_window_show(&w, &e, INT64_MIN, INT64_MAX);
		CHECK(gt_window_shows_all(&w, &e));
	}
}

/* Cells of a large trace are moved by a sixteenth at most: if buckets of summaries are wider than
 * an eighth of a cell, its rows are read, except those of more than 8 million in view. */
static void cells_of_a_large_trace_are_in_their_places(void)
{
	for (unsigned log = 8; log < 30; log++)
		for (unsigned finest = 0; finest < 34; finest++)
			for (uint64_t rows = 1000000; rows < 100000000; rows *= 3) {
				struct gt_time_extent e = { .to = (100ll << log) + 5,
					.widest = 60,
					.finest = finest,
					.rows = rows };
				struct gt_cell_window w = { .cells = 100 };
				bool wide = finest + 3 > log, fits = finest && finest <= log;

				gt_window_show(&w, &e, 5, e.to);
				CHECK_EQ(w.shift,
					!fits || rows <= 2000000 || (wide && rows <= 8000000)
						? 0
						: finest);
				if (!wide)
					check_cells(&w);
			}
}

static void zooms_about_a_column(void)
{
	for (int i = 0; i < 20000; i++) {
		struct gt_time_extent e = any_extent();
		struct gt_cell_window w = { .cells = 2 + (unsigned)rand() % 300 }, was;
		int64_t column, t;
		int steps = 1 + rand() % 4;

		gt_window_fit(&w, &e);
		gt_window_zoom(&w, &e, rand() % 30, rand() % (int)w.cells);
		was = w;
		column = rand() % (int)w.cells;
		t = gt_cell_start(&w, column);
		gt_window_zoom(&w, &e, steps, column);
		CHECK(w.cells == was.cells && is_inside(&w, &e) && gt_window_is_aligned(&w));
		CHECK(w.shift == (was.shift > (unsigned)steps ? was.shift - (unsigned)steps : 0));
		/* the moment is where it was, unless an end of the trace came in between */
		CHECK(gt_window_column(&w, t) == column || w.from <= e.from || w.to >= e.to);
		gt_window_zoom(&w, &e, -steps, column);
		CHECK(is_inside(&w, &e) && gt_window_log2(&w) >= was.shift);
		gt_window_zoom(&w, &e, -100, column);
		CHECK(gt_window_shows_all(&w, &e));
	}
}

/* From a window of any width, keys lead to aligned cells of about the half or double width. */
static void zooms_from_any_range(void)
{
	for (int i = 0; i < 20000; i++) {
		struct gt_time_extent e = { 0, 1000000000000, .widest = 60 };
		struct gt_cell_window w = { .cells = 2 + (unsigned)rand() % 300 };
		int64_t from = any(e.to / 2), column = rand() % (int)w.cells, t, span;
		int in = rand() % 2;

		gt_window_show(&w, &e, from, from + 1000 + any(e.to / 8));
		span = w.to - w.from;
		t = gt_cell_start(&w, column);
		gt_window_zoom(&w, &e, in ? 1 : -1, column);
		CHECK(gt_window_is_aligned(&w) && is_inside(&w, &e));
		CHECK(gt_window_column(&w, t) == column || w.from <= e.from || w.to >= e.to);
		if (span > 100 * w.cells)
			CHECK(in ? w.to - w.from > span / 3 && w.to - w.from < span * 3 / 4
				 : w.to - w.from < span * 3 && w.to - w.from > span * 4 / 3);
	}
}

static void pans_within_the_trace(void)
{
	for (int i = 0; i < 20000; i++) {
		struct gt_time_extent e = any_extent();
		struct gt_cell_window w = { .cells = 2 + (unsigned)rand() % 300 }, was;
		int64_t by = any(2000) - 1000, span, t;

		gt_window_fit(&w, &e);
		if (rand() % 2)
			gt_window_show(&w, &e, e.from + any(e.to - e.from), e.to);
		else
			gt_window_zoom(&w, &e, rand() % 12, rand() % (int)w.cells);
		was = w;
		span = w.to - w.from;
		gt_window_pan(&w, &e, by);
		CHECK(is_inside(&w, &e) && w.shift == was.shift && w.to - w.from == span);
		t = gt_cell_start(&w, 0);
		CHECK(w.from <= e.from || w.to >= e.to ||
			t - was.from == (int64_t)((__int128)span * by / w.cells));
		gt_window_pan(&w, &e, INT64_MIN);
		CHECK(w.from <= e.from && is_inside(&w, &e));
		gt_window_pan(&w, &e, INT64_MAX);
		CHECK(is_inside(&w, &e));
		t = e.from + any(e.to - e.from);
		gt_window_goto(&w, &e, t, w.cells / 2);
		CHECK(is_inside(&w, &e) && w.to - w.from == span);
		CHECK(gt_window_column(&w, t) == w.cells / 2 || w.from <= e.from ||
			w.to + (1ll << w.shift) > e.to);
		gt_window_resize(&w, &e, 1 + (unsigned)rand() % 400);
		CHECK(is_inside(&w, &e));
	}
}

static void aligned_cells_are_never_wider_than_the_widest(void)
{
	struct gt_time_extent e = { 0, 1000000, .widest = 10, .grows = true };
	struct gt_cell_window w = { .cells = 10 };

	gt_window_fit(&w, &e);
	CHECK(w.shift == 10 && w.from == 0 && !gt_window_shows_all(&w, &e));
	gt_window_zoom(&w, &e, -3, 5);
	CHECK_EQ(w.shift, 10);
}

/* ---- the axis ---- */

static bool is_round(int64_t step)
{
	static const int64_t parts[] = { 20, 60, 120, 300, 600, 1200, 3600, 7200, 21600, 43200,
		86400 };

	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (step == parts[i] * 1000000000)
			return true;
	if (step > 86400ll * 1000000000)
		return step % (86400ll * 1000000000) == 0;
	while (step % 10 == 0)
		step /= 10;
	return step == 1 || step == 2 || step == 5;
}

static void labels_are_round_and_never_touch(void)
{
	static struct gt_tick ticks[512];

	for (int i = 0; i < 20000; i++) {
		struct gt_time_extent e = any_extent();
		struct gt_cell_window w = { .cells = 1 + (unsigned)rand() % 400 };
		struct gt_time_shown how = { .start = e.from,
			.to_wall = any(1ll << 60),
			.has_wall = true,
			.by_wall = rand() % 2 };
		unsigned n, behind = 0;

		gt_window_fit(&w, &e);
		gt_window_zoom(&w, &e, rand() % 40, rand() % (int)w.cells);
		n = gt_time_axis(&w, &how, ticks, 512);
		for (unsigned k = 0; k < n; k++) {
			CHECK(k == 0 || ticks[k].column >= behind + 2);
			behind = ticks[k].column + 1 + (unsigned)strlen(ticks[k].label);
			CHECK(behind <= w.cells);
			CHECK(k == 0 || strcmp(ticks[k].label, ticks[k - 1].label));
		}
	}
}

static void ticks_stand_where_they_say(void)
{
	struct gt_time_extent e = { 123456, 123456 + 10000000000, .widest = 60 };
	struct gt_cell_window w = { .cells = 100 };
	struct gt_time_shown how = { .start = e.from };
	struct gt_tick ticks[64];
	int64_t t, step = 0;
	unsigned n;

	gt_window_fit(&w, &e);
	for (int zoom = 0; zoom < 12; zoom++, gt_window_zoom(&w, &e, 1, 37)) {
		n = gt_time_axis(&w, &how, ticks, 64);
		CHECK(n >= 2);
		for (unsigned i = 0; i < n; i++) {
			CHECK(!gt_time_parse(&how, ticks[i].label, &t));
			CHECK(gt_window_column(&w, t) == ticks[i].column);
			if (i) {
				int64_t before;

				CHECK(!gt_time_parse(&how, ticks[i - 1].label, &before));
				CHECK(i == 1 || t - before == step);
				step = t - before;
				CHECK(is_round(step));
			}
		}
	}
}

static const char *said(int64_t start, int64_t t, int64_t step, int64_t most)
{
	static char text[GT_TIME_ROOM];
	struct gt_time_shown how = { .start = start };

	return gt_time_text(&how, t, step, most, text) == strlen(text) ? text : "another length";
}

static void times_in_words(void)
{
	struct gt_time_shown how = { .to_wall = 86399500000000, .by_wall = true };
	char text[GT_TIME_ROOM];

	CHECK_STR(said(0, 0, 1000000000, 5000000000), "0s");
	CHECK_STR(said(0, 1500000000, 500000000, 5000000000), "1.5s");
	CHECK_STR(said(100, 1500000100, 1, 5000000000), "1.500000000s");
	CHECK_STR(said(0, 250000000, 10000000, 900000000), "250ms");
	CHECK_STR(said(0, 250500000, 100000, 900000000), "250.5ms");
	CHECK_STR(said(0, 12, 1, 900), "12ns");
	CHECK_STR(said(0, 1200, 200, 90000), "1.2us");
	CHECK_STR(said(0, 65500000000, 500000000, 100000000000), "1:05.5");
	CHECK_STR(said(0, 3661000000000, 1000000000, 4000000000000), "1:01:01");
	CHECK_STR(said(10, 0, 1, 900), "-10ns");
	gt_time_text(&how, 0, 100000000, 1, text);
	CHECK_STR(text, "23:59:59.5");
	gt_time_text(&how, 500000000, 1000000000, 1, text);
	CHECK_STR(text, "00:00:00");
}

static void times_that_are_typed(void)
{
	struct gt_time_shown how = { .start = 1000 },
			     wall = { .start = 1000,
				     .to_wall = 86400000000000 * 3 + 3600000000000,
				     .by_wall = true };
	int64_t t;

	CHECK(!gt_time_parse(&how, "1.5s", &t) && t == 1500001000);
	CHECK(!gt_time_parse(&how, "2", &t) && t == 2000001000);
	CHECK(!gt_time_parse(&how, "1:05.5", &t) && t == 65500001000);
	CHECK(!gt_time_parse(&how, "1:00:01", &t) && t == 3601000001000);
	CHECK(gt_time_parse(&how, "", &t) && gt_time_parse(&how, "x", &t) &&
		gt_time_parse(&how, "1:2:3:4", &t) && gt_time_parse(&how, "1:", &t) &&
		gt_time_parse(&how, "-1s", &t) && gt_time_parse(&how, "99999999999s", &t));
	/* by the wall clock: the first such time of a day that is not before the start */
	CHECK(!gt_time_parse(&wall, "01:00:01", &t) && t == 1000000000);
	CHECK(!gt_time_parse(&wall, "00:00:01", &t) &&
		t == 86400000000000 - 3600000000000 + 1000000000);
	CHECK(!gt_time_parse(&wall, "1.5s", &t) && t == 1500001000);
}

T_MAIN(T(shows_the_whole_run), T(shows_exactly_a_range),
	T(cells_of_a_large_trace_are_in_their_places), T(zooms_about_a_column),
	T(zooms_from_any_range), T(pans_within_the_trace),
	T(aligned_cells_are_never_wider_than_the_widest), T(labels_are_round_and_never_touch),
	T(ticks_stand_where_they_say), T(times_in_words), T(times_that_are_typed))
