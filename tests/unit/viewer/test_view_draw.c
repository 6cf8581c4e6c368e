/* The picture of the timeline, from cells made by hand. */
#define _GNU_SOURCE
#include "tests/unit/viewer/screen_lines.h"
#include "tests/unit/t.h"
#include "tests/unit/traces.h"
#include "viewer/util/number_text.h"
#include "viewer/timeline/timeline_draw.h"

static unsigned none_known(
	void *arg, uint32_t segment, uint32_t track, enum gt_aspect aspect, bool derived)
{
	return 0;
}
static const struct gt_lanes_callbacks known = { .depths = none_known };

/* A process with two threads and a GPU with one stream, from 0 to 1 ms; the test fills its
 * lanes. */
struct stage {
	struct tiny t;
	struct gt_scene scene;
	struct gt_lanes lanes;
	struct gt_picture p;
	struct gt_screen screen;
	struct gt_cell_sums cells[64 * 200];
	struct gt_cell_sums map[200];
	uint32_t bytes; /* type of a counter of bytes */
	struct gt_err err;
};

static struct gt_reader *stage_reader(struct stage *s, bool closed)
{
	int fd = temp_file();
	uint32_t device;

	tiny_open(&s->t, dup(fd), false);
	device = gt_writer_track(s->t.w,
		&(struct gt_track){ .parent = s->t.process,
			.name = GT_NONE,
			.source = s->t.source,
			.kind = GT_TRACK_DEVICE });
	gt_writer_track(s->t.w,
		&(struct gt_track){ .parent = device,
			.name = GT_NONE,
			.source = s->t.source,
			.kind = GT_TRACK_STREAM,
			.id = 7 });
	s->bytes = gt_writer_type(
		s->t.w, &(struct gt_type){ .name = gt_writer_string(s->t.w, "live_bytes") });
	tiny_call(&s->t, s->t.thread[0], s->t.get, 0, 1000000, 0, 0, 0, 0);
	gt_writer_loss(s->t.w, GT_SCOPE_ALL, GT_NONE, 500000, 501000, 7, &s->t.err);
	gt_writer_epoch(s->t.w, 1000000, &s->t.err);
	if (closed)
		gt_writer_close(s->t.w, &s->t.err);
	else
		gt_writer_abandon(s->t.w);
	return gt_reader_open_fd(fd, &s->err);
}

static void stage_up(struct stage *s, unsigned width, unsigned height, bool closed)
{
	memset(s, 0, sizeof(*s));
	s->err.offset = GT_NO_OFFSET;
	CHECK(!gt_scene_open(&s->scene, stage_reader(s, closed), "dir/tiny.zst", &s->err));
	CHECK(!gt_lanes_init(&s->lanes, s->scene.reader, &known, &s->err));
	gt_lanes_fold_all(&s->lanes, false);
	CHECK(!gt_lanes_list(&s->lanes) && s->lanes.n == 8);
	CHECK(!gt_screen_resize(&s->screen, width, height));
	s->p = (struct gt_picture){
		.scene = &s->scene, .lanes = &s->lanes, .cells = s->cells, .percent = 100
	};
	s->p.at = gt_layout_of(width, height, GT_LAYOUT_TROUBLES);
	gt_window_resize(&s->scene.window, &s->scene.extent, s->p.at.cells);
	s->p.map_window = s->scene.window;
}

static void strike(struct stage *s)
{
	struct gt_reader *r = s->scene.reader;

	gt_screen_release(&s->screen);
	gt_lanes_release(&s->lanes);
	gt_scene_release(&s->scene);
	gt_reader_close(r);
}

static const char *line(struct stage *s, int y) { return line_of_screen(&s->screen, y); }

static struct gt_cell_sums *cells_of(struct stage *s, size_t i)
{
	return s->cells + i * s->p.at.cells;
}

static void eighths_never_lie(void)
{
	for (uint64_t width = 1; width <= 64; width++)
		for (uint64_t busy = 0; busy <= width; busy++) {
			unsigned e = gt_busy_eighths(busy, width);

			CHECK((e == 0) == (busy == 0) && (e == 8) == (busy == width && busy));
			CHECK(e <= 1 || e == 8 || (e - 1) * width <= busy * 8);
			CHECK(e >= 7 || (e + 1) * width >= busy * 8);
		}
	CHECK(gt_busy_eighths(1, 1ull << 60) == 1 &&
		gt_busy_eighths((1ull << 60) - 1, 1ull << 60) == 7);
	CHECK(gt_part_eighths(0, 0) == 0 && gt_part_eighths(5, 5) == 8 &&
		gt_part_eighths(UINT64_MAX, UINT64_MAX) == 8);
	CHECK(gt_part_eighths(1, UINT64_MAX) == 1 && gt_part_eighths(0, 9) == 0);
}

static void layouts_leave_no_line_out(void)
{
	for (unsigned w = 1; w <= 300; w += 7)
		for (unsigned h = 1; h <= 70; h++)
			for (unsigned with = 0; with < 8; with++) {
				struct gt_layout at = gt_layout_of(w, h, with);
				int lines[] = { at.title, at.map, at.bracket, at.axis, at.marks,
					at.troubles, at.status, at.detail };
				unsigned used = at.nlanes;

				for (unsigned i = 0; i < 8; i++) {
					used += lines[i] >= 0;
					CHECK(lines[i] < (int)h);
					CHECK(lines[i] < at.lanes ||
						lines[i] >= at.lanes + (int)at.nlanes);
				}
				CHECK(used == h);
				CHECK(at.cells >= 1 && at.left + at.cells == w);
				CHECK(at.label + at.figure + (w > 1) == at.left);
			}
	CHECK(gt_layout_of(40, 10, GT_LAYOUT_MARKS).nlanes >= 5 &&
		gt_layout_of(40, 10, GT_LAYOUT_MARKS).marks > 0);
	CHECK(gt_layout_of(40, 10, 0).nlanes >= 6 && gt_layout_of(40, 10, 0).cells >= 27);
}

static void cells_show_what_they_are(void)
{
	static struct stage s;
	uint64_t width;
	struct gt_cell_sums *c;

	stage_up(&s, 80, 20, true);
	width = gt_cell_width(&s.scene.window, 0);
	c = cells_of(&s, 0);
	c[0] = (struct gt_cell_sums){ GT_CELL_EXACT, .busy = width, .category = GT_CAT_KERNEL };
	c[1] = (struct gt_cell_sums){ GT_CELL_EXACT, .busy = 1, .category = GT_CAT_COPY };
	c[2] = (struct gt_cell_sums){ GT_CELL_ROUGH, .busy = width / 2, .category = GT_CAT_COPY };
	c[3].sureness = GT_CELL_DAMAGED;
	c[4] = (struct gt_cell_sums){ GT_CELL_EXACT, .busy = width - 1 };
	cells_of(&s, 4)[0].sureness = GT_CELL_UNKNOWN;
	s.scene.is_static = true;
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.lanes), "app (pid 100)"));
	CHECK(strstr(line(&s, s.p.at.lanes), "│█▁▄╳▇"));
	CHECK(strstr(line(&s, s.p.at.lanes + 4), "?│·"));
	CHECK(s.screen.spots[(size_t)s.p.at.lanes * 80 + s.p.at.left].look.ink ==
		GT_INK_CATEGORY + GT_CAT_KERNEL);
	CHECK(!(s.screen.spots[(size_t)s.p.at.lanes * 80 + s.p.at.left + 1].look.style & GT_DIM));
	CHECK(s.screen.spots[(size_t)s.p.at.lanes * 80 + s.p.at.left + 2].look.style & GT_DIM);
	s.screen.ascii = true;
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.lanes), "|@.=X#") || strstr(line(&s, s.p.at.lanes), "|@.-X#"));
	CHECK(strstr(line(&s, s.p.at.lanes + 4), "?|?"));
	for (size_t i = 0; i < 80 * 20; i++)
		CHECK(s.screen.spots[i].ch < 127);
	strike(&s);
}

static void figures_stand_beside_their_lines(void)
{
	static const struct {
		enum gt_height heights;
		const char *figure;
	} wanted[] = {
		{ GT_HEIGHT_BUSY, "25.0%" },
		{ GT_HEIGHT_COUNT, "12k" },
		{ GT_HEIGHT_LONGEST, "1.5ms" },
		{ GT_HEIGHT_BYTES, "4.0M" },
	};
	static struct stage s;
	struct gt_cell_sums *c;

	stage_up(&s, 80, 20, true);
	c = cells_of(&s, 0);
	c[0] = (struct gt_cell_sums){ GT_CELL_EXACT, .busy = 200000, .count = 2000,
		.bytes = 1 << 20, .longest = 1000 };
	c[1] = (struct gt_cell_sums){ GT_CELL_EXACT, .busy = 50000, .count = 10000,
		.bytes = 3 << 20, .longest = 1500000 };
	for (unsigned i = 0; i < 4; i++) {
		s.p.heights = wanted[i].heights;
		gt_picture_draw(&s.p, &s.screen);
		if (!strstr(line(&s, s.p.at.lanes), wanted[i].figure))
			printf("%s\n", line(&s, s.p.at.lanes));
		CHECK(strstr(line(&s, s.p.at.lanes), wanted[i].figure));
	}
	CHECK(strstr(line(&s, s.p.at.lanes), "│▃█")); /* of the largest */
	strike(&s);
}

/* Bandwidths are in powers of 1000 everywhere, sizes in powers of 1024. */
static void rates_are_those_of_reports(void)
{
	static const struct {
		uint64_t bytes, ns;
		const char *said;
	} rates[] = {
		{ 230686720, 4799373, "48.07 GB/s" },
		{ 1, 1000000000, "1 B/s" },
		{ 999, 1000000, "999.0 kB/s" },
		{ 99996, 100000, "1.000 GB/s" },
		{ 4800, 1, "4.800 TB/s" },
		{ 0, 5, "0 B/s" },
		{ 1, 0, "1.000 GB/s" },
		{ 1, 3000000000, "0.333 B/s" },
	};
	char said[GT_NUMBER_TEXT];

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		CHECK(!strcmp(
			gt_number_text_rate(said, rates[i].bytes, rates[i].ns), rates[i].said));
}

static void counters_show_how_high_they_rose(void)
{
	static struct gt_counter_cell gauges[64 * 200];
	static struct stage s;
	struct gt_counter_cell *g;

	CHECK(gt_counter_level(0, 0, 0) == 0 && gt_counter_level(5, 5, 5) == 0 &&
		gt_counter_level(1, 0, 1e300) == 1);
	CHECK(gt_counter_level(8, 0, 8) == 3 && gt_counter_level(7.99, 0, 8) == 2 &&
		gt_counter_level(4, 0, 8) == 1 && gt_counter_level(6, 0, 8) == 2);
	CHECK(gt_counter_level(0, -8, 8) == 1 && gt_counter_level(-8, -8, 8) == 0);
	stage_up(&s, 80, 20, true);
	s.lanes.lines[1].kind = GT_LANE_COUNTER;
	s.lanes.lines[1].type = s.t.launch;
	s.p.gauges = gauges;
	memset(gauges, 0, sizeof(gauges));
	g = gauges + s.p.at.cells;
	g[1] = (struct gt_counter_cell){ .known = true, .low = 1000, .high = 4000, .last = 2000 };
	g[2] = (struct gt_counter_cell){ .known = true, .low = 0, .high = 0, .last = 0 };
	g[3] = (struct gt_counter_cell){ .known = true, .low = 1, .high = 2000, .last = 1 };
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.lanes + 1), "cuLaunchKernel"));
	CHECK(strstr(line(&s, s.p.at.lanes + 1), "4k│·⠧ ⠤·"));
	s.p.cursor = s.p.column = 1;
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.detail), "  1000 to 4000, then 2000  "));
	s.lanes.lines[1].type = s.bytes;
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.lanes + 1), "live_bytes") &&
		strstr(line(&s, s.p.at.lanes + 1), "3.9K│·⠧ ⠤·"));
	CHECK(strstr(line(&s, s.p.at.detail), "  1000 B to 3.906 KiB, then 1.953 KiB  "));
	strike(&s);
}

/* The largest number of waiting launches is unknown before all cells are known, and a possible
 * larger number is marked as such. */
static void queues_say_what_they_do_not_know(void)
{
	static struct gt_counter_cell gauges[64 * 200];
	static struct stage s;
	struct gt_counter_cell *g;

	stage_up(&s, 80, 20, true);
	s.lanes.lines[1].kind = GT_LANE_QUEUE;
	s.p.gauges = gauges;
	s.p.cursor = 1;
	g = gauges + s.p.at.cells;
	for (unsigned i = 0; i < s.p.at.cells; i++)
		g[i] = (struct gt_counter_cell){
			.known = i != 1, .low = 1, .high = 1 + i % 3, .last = 1
		};
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.lanes + 1), "queue depth ") &&
		strstr(line(&s, s.p.at.lanes + 1), " ?│⠤·⠧⠤⠦⠧"));
	CHECK(strstr(line(&s, s.p.at.detail), "  1 launch waits  "));
	s.p.column = 1;
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.detail), "  not known yet  "));
	for (unsigned i = 0; i < s.p.at.cells; i++)
		g[i].known = g[i].is_lower_bound = true;
	s.p.column = 2;
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.lanes + 1), " ~3│⠤⠦⠧⠤⠦⠧"));
	CHECK(strstr(line(&s, s.p.at.detail), "  at least 1 to 3, then 1 launch waits  "));
	strike(&s);
}

static void missing_data_are_reported(void)
{
	static struct stage s;

	stage_up(&s, 80, 20, false);
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.troubles), "not recorded or read"));
	CHECK(strstr(line(&s, s.p.at.troubles), "!"));
	CHECK(strstr(line(&s, s.p.at.status), "1 LOSS  NOT CLOSED  busy share"));
	strike(&s);
	stage_up(&s, 80, 20, true);
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.status), "1 LOSS  busy share") &&
		!strstr(line(&s, s.p.at.status), "NOT CLOSED"));
	strike(&s);
}

static void the_overview_keeps_what_there_is(void)
{
	struct gt_time_extent e = { 1000, 1000 + 4096, .widest = 60 };
	struct gt_cell_window w = { .cells = 64 };
	struct gt_cell_sums map[64] = { 0 }, to[200];
	uint64_t sum, all = 0;

	gt_window_fit_aligned(&w, &e);
	for (unsigned i = 0; i < 64; i += 3) {
		map[i].busy = (1ull << w.shift) / (1 + i % 4);
		map[i].category = GT_CAT_COPY;
	}
	for (unsigned n = 1; n < 200; n += 11) {
		gt_overview(map, &w, &e, n, to);
		sum = all = 0;
		for (unsigned i = 0; i < 64; i++) { /* the part of a cell within the trace */
			int64_t a = gt_cell_start(&w, i) > e.from ? gt_cell_start(&w, i) : e.from;
			int64_t b =
				gt_cell_start(&w, i + 1) < e.to ? gt_cell_start(&w, i + 1) : e.to;

			all += b > a ? map[i].busy * (uint64_t)(b - a) >> w.shift : 0;
		}
		for (unsigned x = 0; x < n; x++) {
			sum += to[x].busy;
			CHECK(!to[x].busy || to[x].category == GT_CAT_COPY);
		}
		CHECK(sum + 64 + n > all && sum < all + 64 + n);
	}
	for (unsigned n = 1; n < 300; n++)
		for (unsigned x = 0; x < n; x++) {
			int64_t t = gt_overview_time(&e, x, n);

			CHECK(t >= e.from && t < e.to &&
				(gt_overview_column(&e, t, n) == x ||
					gt_overview_column(&e, t + 1, n) == x));
		}
}

static void small_screens_are_drawn(void)
{
	static struct stage s;

	for (unsigned width = 1; width < 60; width += 3)
		for (unsigned height = 1; height < 20; height += 2) {
			stage_up(&s, width, height, true);
			s.p.map = s.map;
			s.p.map_window.cells = s.p.at.cells < 200 ? s.p.at.cells : 200;
			gt_picture_draw(&s.p, &s.screen);
			strike(&s);
		}
	stage_up(&s, 40, 10, true);
	gt_picture_draw(&s.p, &s.screen);
	CHECK(strstr(line(&s, s.p.at.axis), "│0.0ms") && strstr(line(&s, s.p.at.axis), "│0.5ms"));
	CHECK(strstr(line(&s, s.p.at.lanes), "app (…100)│"));
	CHECK(strstr(line(&s, s.p.at.status), "SIMULATED GPU  1 LOSS  busy share"));
	strike(&s);
}

T_MAIN(T(eighths_never_lie), T(layouts_leave_no_line_out), T(cells_show_what_they_are),
	T(figures_stand_beside_their_lines), T(rates_are_those_of_reports),
	T(counters_show_how_high_they_rose), T(queues_say_what_they_do_not_know),
	T(missing_data_are_reported), T(the_overview_keeps_what_there_is),
	T(small_screens_are_drawn))
