/* The number of waiting launches, cell by cell, compared with a count at each time at which the
 * number changes: over random programs, at all zoom levels, in all windows. */
#define _GNU_SOURCE
#include "tests/unit/launch_programs.h"
#include "viewer/util/deadline.h"
#include "viewer/view/queue_lanes.h"

struct stage {
	struct gt_reader *reader;
	struct gt_archive *archive;
	struct gt_queue_lanes *rows;
	struct gt_time_extent extent;
	struct gt_queue_id of[6]; /* of each device it and its two streams */
	struct gt_err err;
};

static void stage_up(struct stage *st, int epochs)
{
	*st = (struct stage){ .reader = make(epochs), .extent.widest = 60, .err = GT_ERR_INIT };
	find_work();
	CHECK((st->archive = gt_archive_open(st->reader, &st->err)));
	gt_archive_extent(st->archive, &st->extent.from, &st->extent.to);
	st->extent.to++;
	CHECK((st->rows = gt_queue_lanes_new(st->archive, &st->extent)));
	for (uint32_t t = 0; t < gt_reader_segment(st->reader, 0)->ntracks; t++) {
		const struct gt_track *k = &gt_reader_segment(st->reader, 0)->tracks[t];

		if (k->kind == GT_TRACK_DEVICE)
			st->of[k->id * 3].track = t;
		if (k->kind == GT_TRACK_STREAM)
			st->of[gt_reader_segment(st->reader, 0)->tracks[k->parent].id * 3 + k->id -
				  6]
				.track = t;
	}
}

static void strike(struct stage *st)
{
	gt_queue_lanes_free(st->rows);
	gt_archive_close(st->archive);
	gt_reader_close(st->reader);
}

/* Of number i of a stage's. */
static uint64_t count_at(int64_t t, int i)
{
	uint64_t depth[2] = { 0 };
	bool calling;

	for (int s = 0; s < 2; s++)
		if (i % 3 == 0 || i % 3 == s + 1)
			depth_at(t, i / 3, s, &depth[s], &calling);
	return depth[0] + depth[1];
}

static struct gt_counter_cell count_cell(const struct stage *st, int i, int64_t from, int64_t to)
{
	struct gt_counter_cell c = { .known = true };

	from = from > st->extent.from ? from : st->extent.from;
	if (from >= to)
		return c;
	c.low = c.high = (double)count_at(from, i);
	c.last = (double)count_at(to - 1, i);
	for (int call = 0; call < prog.ncalls; call++) {
		int64_t changes[2] = { prog.calls[call].end,
			work[call].first ? work[call].start : INT64_MIN };

		for (int k = 0; k < 2; k++) {
			double n = changes[k] > from && changes[k] < to
				? (double)count_at(changes[k], i)
				: c.low;

			c.low = n < c.low ? n : c.low;
			c.high = n > c.high ? n : c.high;
		}
	}
	return c;
}

/* If some launches are unknown, or joined by order only, all cells say so. */
static bool is_said(const struct gt_counter_cell *c)
{
	bool some = false, likely = false;

	for (int i = 0; i < prog.nops; i++) {
		some |= prog.ops[i].call < 0;
		likely |= prog.ops[i].call >= 0 && prog.ops[i].by_order;
	}
	return c->is_lower_bound == some && c->is_estimate == likely;
}

static bool same_cells(const struct stage *st, const struct gt_cell_window *w)
{
	struct gt_counter_cell got[64];

	for (int i = 0; i < 6; i++) {
		gt_queue_lanes_get(st->rows, &st->of[i], got);
		for (unsigned c = 0; c < w->cells; c++) {
			int64_t from = gt_cell_start(w, c), to = gt_cell_start(w, c + 1);
			struct gt_counter_cell want = count_cell(st, i, from, to);

			if (from >= st->extent.to || to <= st->extent.from)
				continue;
			if (!got[c].known || got[c].low != want.low || got[c].high != want.high ||
				got[c].last != want.last || !is_said(&got[c]))
				return printf("# queue %d, 2^%u ns, cell %u: %d %.0f to %.0f, then %.0f; not %.0f to %.0f, then %.0f\n",
					       i, gt_window_log2(w), c, got[c].known, got[c].low,
					       got[c].high, got[c].last, want.low, want.high,
					       want.last),
				       false;
		}
	}
	return true;
}

/* A window at any place, with any width from a few ns to the whole trace. */
static struct gt_cell_window look_somewhere(const struct stage *st)
{
	struct gt_cell_window w = { .cells = 1 + (unsigned)rp_below(64) };

	gt_window_fit(&w, &st->extent);
	if (rp_below(2))
		gt_window_show(&w, &st->extent, st->extent.from + rp_below(100000),
			st->extent.from + 100000 + rp_below(1000000));
	else
		gt_window_zoom(&w, &st->extent, rp_below((int)gt_window_log2(&w) + 1), 0);
	gt_window_goto(&w, &st->extent,
		st->extent.from + (st->extent.to - st->extent.from) / 1000 * rp_below(1000), 0);
	return w;
}

static bool agrees_somewhere(struct stage *st)
{
	struct gt_cell_window w = look_somewhere(st);

	if (gt_queue_lanes_request(st->rows, &w, st->of, 6, &st->err) ||
		gt_queue_lanes_step(st->rows, 0, &st->err))
		return false;
	return same_cells(st, &w) && gt_queue_lanes_percent(st->rows) == 100;
}

static void cells_are_as_counted(void)
{
	for (unsigned seed = 1; seed <= 40; seed++) {
		struct stage st;
		bool good = true;

		srand(seed);
		random_program(seed);
		stage_up(&st, 1 + (int)seed % 7);
		CHECK(gt_queue_lanes_has_queue(st.rows, 0) && !gt_queue_lanes_read_count(st.rows));
		for (int i = 0; good && i < 12; i++)
			good = agrees_somewhere(&st);
		if (!good)
			printf("# seed %u\n", seed);
		CHECK(good && gt_queue_lanes_has_queue(st.rows, 0) &&
			gt_queue_lanes_read_count(st.rows));
		strike(&st);
	}
}

/* A launch whose work starts long after the window waits in the window; a graph whose first node
 * ran long before is not counted as a launch again. */
static void what_is_far_away_counts(void)
{
	struct stage st;
	int graph;

	clear_program();
	graph = add_call(0, 1000, 1100);
	for (int i = 0; i < 600; i++)
		add_op(0, i % 2, 0, graph, 2000 + i * 100000, 2010 + i * 100000)->graph = 3;
	for (int i = 0; i < 300; i++)
		add_op(1, 0, 1, add_call(1, 5000 + i * 10, 5005 + i * 10), 70000000 + i * 1000,
			70000500 + i * 1000);
	stage_up(&st, 9);
	for (int i = 0; i < 12; i++)
		CHECK(agrees_somewhere(&st));
	for (unsigned shift = 0; shift < 8; shift++) {
		struct gt_cell_window w =
			gt_aligned_window((30000000 + st.extent.from) >> shift, shift, 50);

		CHECK(!gt_queue_lanes_request(st.rows, &w, st.of, 6, &st.err) &&
			!gt_queue_lanes_step(st.rows, 0, &st.err));
		CHECK(same_cells(&st, &w) && count_at(gt_cell_start(&w, 0), 3) == 300 &&
			count_at(gt_cell_start(&w, 0), 1) == 0);
	}
	strike(&st);
}

static bool says_nothing(const struct stage *st)
{
	struct gt_counter_cell got[64];

	gt_queue_lanes_get(st->rows, &st->of[0], got);
	return !got[0].known && !got[39].known;
}

/* No cell is shown before it is known, a key press takes no time, and an interrupted scan is
 * started again. */
static void until_it_is_known(void)
{
	struct stage st;
	struct gt_cell_window w = { .cells = 40 };
	bool on_values = false;

	srand(2);
	random_program(2);
	stage_up(&st, 3);
	gt_window_fit(&w, &st.extent);
	CHECK(!gt_queue_lanes_request(st.rows, &w, st.of, 6, &st.err) && says_nothing(&st));
	for (int i = 0; gt_queue_lanes_step(st.rows, 1000, &st.err) == 1; i++)
		if (i % 50 == 0 && i < 1000)
			gt_queue_lanes_pause(st.rows);
	CHECK(same_cells(&st, &w));
	for (int i = 0; i < 20; i++) { /* as a key each time: it does not begin at once */
		uint64_t before = gt_now_us();
		bool waits;

		gt_window_show(&w, &st.extent, st.extent.from + 1000 + 100 * i,
			st.extent.from + 1030 + 100 * i);
		CHECK(!gt_queue_lanes_request(st.rows, &w, st.of, 6, &st.err));
		waits = gt_queue_lanes_step(st.rows, 1, &st.err) == 1 && says_nothing(&st) &&
			gt_queue_lanes_percent(st.rows) == 100;
		/* the machine was slow, and therefore the keys */
		on_values |= gt_now_us() - before > 100000;
		CHECK(waits || on_values);
	}
	CHECK(gt_queue_lanes_step(st.rows, 0, &st.err) == 0 && same_cells(&st, &w));
	gt_window_pan(&w, &st.extent, 20); /* is known by now, or nearer */
	CHECK(!gt_queue_lanes_request(st.rows, &w, st.of, 6, &st.err) &&
		gt_queue_lanes_step(st.rows, 1, &st.err) == 0 && same_cells(&st, &w));
	gt_window_zoom(&w, &st.extent, 2, 20);
	CHECK(!gt_queue_lanes_request(st.rows, &w, st.of, 6, &st.err) &&
		gt_queue_lanes_step(st.rows, 1, &st.err) == 0 && same_cells(&st, &w));
	strike(&st);
}

/* After a trace has grown, the known values are shown up to their end, marked as a lower bound,
 * until the whole trace has been read again. */
static void known_as_far_as_it_went(void)
{
	for (int k = 0; k < 20; k++) {
		struct stage st;
		struct gt_counter_cell got[64];
		struct gt_cell_window w = { .cells = 60 };
		int64_t end;
		bool more;

		srand((unsigned)k);
		random_program(2);
		stage_up(&st, 3);
		st.extent.grows = true;
		gt_window_fit(&w, &st.extent);
		CHECK(!gt_queue_lanes_request(st.rows, &w, st.of, 6, &st.err));
		CHECK(k % 2 ? gt_queue_lanes_step(st.rows, 1, &st.err) >= 0
			    : !gt_queue_lanes_step(st.rows, 0, &st.err));
		/* while the thread is working, and when it has finished */
		gt_queue_lanes_detach(st.rows);
		gt_archive_close(st.archive);
		CHECK((st.archive = gt_archive_open(st.reader, &st.err)));
		end = st.extent.to;
		st.extent.to += (st.extent.to - st.extent.from) / 3;
		CHECK(!gt_queue_lanes_reopen(st.rows, st.archive, &st.extent));
		gt_window_fit(&w, &st.extent);
		CHECK(!gt_queue_lanes_request(st.rows, &w, st.of, 6, &st.err));
		gt_queue_lanes_get(st.rows, &st.of[0], got);
		for (unsigned c = 0; c < w.cells; c++) {
			struct gt_counter_cell want =
				count_cell(&st, 0, gt_cell_start(&w, c), gt_cell_start(&w, c + 1));

			CHECK(k % 2 || got[c].known == (gt_cell_start(&w, c + 1) <= end));
			CHECK(!got[c].known ||
				(got[c].is_lower_bound && got[c].low == want.low &&
					got[c].high == want.high && got[c].last == want.last));
		}
		/* or its thread was done before we looked */
		more = gt_queue_lanes_step(st.rows, 1, &st.err) == 1;
		CHECK(k % 2 || more || gt_queue_lanes_read_count(st.rows) == 2);
		CHECK(!gt_queue_lanes_step(st.rows, 0, &st.err) && same_cells(&st, &w));
		CHECK(k % 2 || gt_queue_lanes_read_count(st.rows) == 2);
		strike(&st);
	}
}

/* If no work is joined to a call there is nothing to show, which is known after reading the
 * whole trace. */
static void no_launches(void)
{
	struct stage st;
	struct gt_cell_window w = { .cells = 40 };

	clear_program();
	for (int i = 0; i < 20; i++)
		add_op(0, 0, 0, -1, 1000 + i * 100, 1050 + i * 100);
	stage_up(&st, 1);
	gt_window_fit(&w, &st.extent);
	CHECK(gt_queue_lanes_has_queue(st.rows, 0));
	CHECK(!gt_queue_lanes_request(st.rows, &w, st.of, 6, &st.err) &&
		!gt_queue_lanes_step(st.rows, 0, &st.err));
	CHECK(gt_queue_lanes_read_count(st.rows) && !gt_queue_lanes_has_queue(st.rows, 0));
	strike(&st);
}

T_MAIN(T(cells_are_as_counted), T(what_is_far_away_counts), T(until_it_is_known),
	T(known_as_far_as_it_went), T(no_launches))
