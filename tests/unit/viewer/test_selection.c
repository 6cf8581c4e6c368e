/* The selection, jumps, boxes, marks and searches by name, compared with a list of all rows. */
#define _GNU_SOURCE
#include "tests/unit/viewer/view_rows.h"
#include "viewer/lanes/event_boxes.h"
#include "viewer/search/name_search.h"
#include "viewer/view/marks.h"
#include "viewer/timeline/selection.h"

static struct gt_selection_origin at_cell(
	const struct gt_lane_key *lane, int64_t from, unsigned shift)
{
	return (struct gt_selection_origin){ .lane = *lane,
		.from = from >> shift << shift,
		.to = ((from >> shift) + 1) << shift,
		.shift = shift };
}

/* One jump, to its end. Has something been picked by it? */
static bool has_gone(struct gt_selection *p, int code)
{
	bool went;

	if (code || gt_selection_step(p, 0, &err))
		return false;
	went = p->is_new;
	p->is_new = false;
	return went;
}

/* ---- along a lane ---- */

static void tab_walks_the_lane(void)
{
	open_program(21, 400);
	for (size_t l = 0; l < NLANES - 1; l++) {
		struct gt_selection p = { .archive = archive };
		struct gt_selection_origin at = at_cell(&lanes[l], 0, 0);
		size_t n = 0, steps = 0;
		int64_t last = INT64_MIN;

		for (size_t i = 0; i < nones; i++)
			n += is_on(&ones[i], &lanes[l]);
		while (has_gone(&p, gt_select_neighbour(&p, &at, 1, &err))) {
			CHECK(p.row.start >= last);
			last = p.row.start;
			at.on_it = true;
			steps++;
		}
		CHECK(steps == n && (!n || strstr(p.status_text, "no later event")));
		for (; steps > 1; steps--)
			CHECK(has_gone(&p, gt_select_neighbour(&p, &at, -1, &err)));
		CHECK(!n ||
			(!has_gone(&p, gt_select_neighbour(&p, &at, -1, &err)) &&
				strstr(p.status_text, "no earlier event")));
		gt_selection_release(&p);
	}
	close_program();
}

/* ---- gaps ---- */

struct stretch {
	int64_t from, to;
};

/* Where a lane has no row for at least a whole cell. */
static size_t list_gaps(
	const struct gt_lane_key *lane, unsigned shift, struct stretch *to, size_t room)
{
	int64_t end = INT64_MIN;
	size_t n = 0;

	for (size_t i = 0; i < nones; i++) {
		int64_t cell = end > INT64_MIN ? ((end + (1ll << shift) - 1) >> shift) << shift : 0;

		if (!is_on(&ones[i], lane))
			continue;
		if (end > INT64_MIN && cell + (1ll << shift) <= ones[i].start && n < room)
			to[n++] = (struct stretch){ end, ones[i].start };
		end = ones[i].end > end ? ones[i].end : end;
	}
	return n;
}

static void gaps_are_those_that_a_list_has(void)
{
	static struct stretch gaps[20000];
	size_t seen = 0;

	open_program(22, 1500);
	for (size_t l = 0; l < NLANES - 1; l++)
		for (unsigned shift = 3; shift < 12; shift += 4) {
			struct gt_selection p = { .archive = archive };
			struct gt_selection_origin at =
				at_cell(&lanes[l], ones[0].start - 5000, shift);
			size_t n = list_gaps(&lanes[l], shift, gaps, 20000), most = n < 60 ? n : 60;
			int64_t from, to;

			for (size_t i = 0; i < most; i++) {
				CHECK(has_gone(&p, gt_select_gap(&p, &at, 1, &err)) &&
					p.what == GT_SELECTION_GAP);
				gt_selection_range(&p, &from, &to);
				CHECK(from == gaps[i].from && to == gaps[i].to);
				at.on_it = true;
			}
			for (size_t i = most; i-- > 1;) {
				CHECK(has_gone(&p, gt_select_gap(&p, &at, -1, &err)));
				gt_selection_range(&p, &from, &to);
				CHECK(from == gaps[i - 1].from && to == gaps[i - 1].to);
			}
			CHECK(!has_gone(&p, gt_select_gap(&p, &at, -1, &err)) &&
				strstr(p.status_text, "no further gap"));
			gt_selection_release(&p);
			seen += most;
		}
	CHECK(seen > 300);
	close_program();
}

/* ---- anywhere ---- */

static bool named(const struct one *o, const char *name)
{
	return !strcmp(gt_type_name(gt_reader_segment(reader, 0), o->type), name);
}

static void the_next_of_the_same_name(void)
{
	open_program(23, 300);
	for (unsigned k = 0; k < 60; k++) {
		const struct one *o = &ones[below((uint32_t)nones)];
		const char *name = gt_type_name(gt_reader_segment(reader, 0), o->type);
		struct gt_lane_key lane = {
			{ 0, o->track, o->kind == GT_CALL ? GT_ASPECT_CALLS : GT_ASPECT_WORK,
				false },
			o->kind == GT_CALL ? o->depth : 0
		};
		struct gt_selection p = { .archive = archive };
		struct gt_selection_origin at = at_cell(&lane, o->start, 0);
		int64_t next = INT64_MAX, before = INT64_MIN;

		if (o->kind == GT_SPAN || !has_gone(&p, gt_select_cell(&p, &at, &err)) ||
			p.row.start != o->start || p.row.type != o->type)
			continue;
		at.on_it = true;
		for (size_t i = 0; i < nones; i++) {
			if (named(&ones[i], name) && ones[i].start > o->start &&
				ones[i].start < next)
				next = ones[i].start;
			if (named(&ones[i], name) && ones[i].start < o->start &&
				ones[i].start > before)
				before = ones[i].start;
		}
		CHECK(has_gone(&p, gt_select_same_name(&p, &at, 1, &err)));
		CHECK(next < INT64_MAX ? p.row.start == next && !p.status_text[0]
				       : !strcmp(p.status_text, "search continued from the start"));
		CHECK(has_gone(&p, gt_select_row(&p, &lane, &p.row)));
		if (next < INT64_MAX) {
			CHECK(has_gone(&p, gt_select_same_name(&p, &at, -1, &err)) &&
				p.row.start == o->start);
			CHECK(has_gone(&p, gt_select_same_name(&p, &at, -1, &err)));
			CHECK(before > INT64_MIN
					? p.row.start == before
					: !strcmp(p.status_text, "search continued from the end"));
		}
		gt_selection_release(&p);
	}
	close_program();
}

static void failures_are_gone_through_and_begin_again(void)
{
	struct gt_selection p;
	struct gt_selection_origin at;
	size_t n = 0;
	int64_t last = INT64_MIN;

	open_program(24, 1500);
	p = (struct gt_selection){ .archive = archive };
	at = at_cell(&lanes[0], ones[0].start, 4);
	for (size_t i = 0; i < nones; i++)
		/* two that begin at one time are one jump */
		if (ones[i].ret && ones[i].start > last) {
			CHECK(has_gone(&p, gt_select_failure(&p, &at, 1, &err)) &&
				!p.status_text[0]);
			CHECK(p.row.ret == 700 && p.row.start == ones[i].start);
			last = ones[i].start;
			at.on_it = true;
			n++;
		}
	CHECK(n > 10);
	CHECK(has_gone(&p, gt_select_failure(&p, &at, 1, &err)) &&
		!strcmp(p.status_text, "search continued from the start"));
	CHECK(has_gone(&p, gt_select_failure(&p, &at, -1, &err)) &&
		!strcmp(p.status_text, "search continued from the end") && p.row.start == last);
	CHECK(!gt_select_failure(&p, &at, 1, &err) && gt_selection_progress(&p, (char[80]){ 0 }) &&
		gt_selection_stop(&p) && !gt_selection_stop(&p));
	gt_selection_release(&p);
	close_program();
}

/* A call of the runtime, the driver's in it, and the kernel that it launched. */
static void a_call_and_its_kernel_lead_to_each_other(void)
{
	struct gt_lane_key outer, stream;
	int fd = temp_file(), keep = dup(fd);
	struct gt_selection p;
	struct gt_selection_origin at;
	struct program g;
	uint32_t runtime, driver;

	begin(&g, fd, "boot", 1000);
	runtime = gt_writer_type(g.w,
		&(struct gt_type){ .name = gt_writer_string(g.w, "cudaLaunchKernel"),
			.category = GT_CAT_LAUNCH,
			.op = GT_OP_LAUNCH,
			.layer = GT_LAYER_RUNTIME });
	driver = gt_writer_type(g.w,
		&(struct gt_type){ .name = gt_writer_string(g.w, "cuLaunchKernel"),
			.category = GT_CAT_LAUNCH,
			.op = GT_OP_LAUNCH });
	put(&g, GT_CALL, g.threads[0], driver, 1010, 1020, 1);
	put(&g, GT_CALL, g.threads[0], runtime, 1000, 1030, 0);
	put(&g, GT_CALL, g.threads[0], driver, 1110, 1120, 1);
	put(&g, GT_CALL, g.threads[0], runtime, 1100, 1130, 0);
	put(&g, GT_CALL, g.threads[0], g.call, 1200, 1210, 0);
	CHECK(!gt_gpu_put_kernel(&g.types,
		&(struct gt_gpu_work){ .track = g.streams[0],
			.start = 1300,
			.end = 1400,
			.cause = { GT_JOIN_CORRELATION, g.threads[0], g.name, 1110, 10 } },
		&(struct gt_gpu_kernel){ .name = gt_writer_string(g.w, "_Z3addPf"),
			.grid = { 2, 1, 1 },
			.block = { 32, 1, 1 } },
		&g.err));
	gt_gpu_types_release(&g.types);
	CHECK(!gt_writer_close(g.w, &g.err));
	CHECK((reader = gt_reader_open_fd(keep, &err)) &&
		(archive = gt_archive_open(reader, &err)));

	outer = (struct gt_lane_key){ { 0, g.threads[0], GT_ASPECT_CALLS, false }, 0 };
	stream = (struct gt_lane_key){ { 0, g.streams[0], GT_ASPECT_WORK, false }, 0 };
	p = (struct gt_selection){ .archive = archive };
	at = at_cell(&outer, 1100, 0);
	/* first the event here, then its partner */
	CHECK(has_gone(&p, gt_select_partner(&p, &at, &err)));
	CHECK(p.what == GT_SELECTION_ROW && p.row.kind == GT_GPU && p.row.start == 1300);
	at = at_cell(&stream, 1350, 0);
	at.on_it = true;
	CHECK(has_gone(&p, gt_select_partner(&p, &at, &err)) && p.row.kind == GT_CALL &&
		p.row.start == 1110 && p.row.lane.depth == 1);
	at = at_cell(&outer, 1000, 0);
	CHECK(has_gone(&p, gt_select_cell(&p, &at, &err)));
	at.on_it = true;
	CHECK(!has_gone(&p, gt_select_partner(&p, &at, &err)) &&
		!strcmp(p.status_text, "the GPU work of this call is not recorded"));
	at = at_cell(&outer, 1200, 0);
	CHECK(has_gone(&p, gt_select_cell(&p, &at, &err)) && p.row.start == 1200);
	at.on_it = true;
	CHECK(!has_gone(&p, gt_select_partner(&p, &at, &err)) &&
		strstr(p.status_text, "launches no work"));
	gt_selection_release(&p);
	close_program();
}

/* ---- boxes ---- */

static bool is_boxed(const struct gt_event_box *boxes, size_t n, const struct one *o)
{
	for (size_t i = 0; i < n; i++)
		if (boxes[i].start == o->start && boxes[i].end == o->end &&
			boxes[i].type == o->type &&
			boxes[i].failed == (o->kind == GT_CALL && o->ret))
			return true;
	return false;
}

/* The boxes of a window are exactly those rows of a list that are wide enough. */
static void hold_boxes_against_list(
	struct gt_event_boxes *b, const struct gt_cell_window *w, size_t *seen)
{
	for (size_t l = 0; l < NLANES - 1; l++) {
		size_t n, want = 0;
		const struct gt_event_box *boxes = gt_event_boxes_get(b, l, &n);

		for (size_t i = 0; i < nones; i++) {
			int64_t from = gt_window_column(w, ones[i].start - 1) + 1,
				to = gt_window_column(w, ones[i].end);

			from = from < 0 ? 0 : from;
			to = to > w->cells ? w->cells : to;
			if (!is_on(&ones[i], &lanes[l]) || to - from < 4)
				continue;
			CHECK(is_boxed(boxes, n, &ones[i]));
			want++;
		}
		CHECK(want == n);
		*seen += n;
	}
}

static void hold_boxes_against_boxes(const struct gt_event_boxes *a, const struct gt_event_boxes *b)
{
	for (size_t l = 0; l < NLANES - 1; l++) {
		size_t n, m;
		const struct gt_event_box *one = gt_event_boxes_get(a, l, &n),
					  *other = gt_event_boxes_get(b, l, &m);

		CHECK(n == m);
		for (size_t i = 0; i < n && i < m; i++)
			CHECK(one[i].start == other[i].start && one[i].end == other[i].end &&
				one[i].type == other[i].type && one[i].name == other[i].name &&
				one[i].failed == other[i].failed && one[i].open == other[i].open);
	}
}

/* Boxes found by reading all blocks of a lane, and by the values of its cells: the same, at
 * every zoom; at least `least` boxes. */
static void boxes_in_windows(unsigned windows, unsigned widest, size_t least)
{
	struct gt_display_name spell = { .reader = reader };
	struct gt_event_boxes *all = gt_event_boxes_new(archive, &spell, SIZE_MAX),
			      *few = gt_event_boxes_new(archive, &spell, 0);
	struct gt_lane_cells *strips = gt_lane_cells_new(archive);
	struct gt_strip_key of[NLANES];
	uint32_t numbers[NLANES];
	size_t seen = 0;

	for (uint32_t l = 0; l < NLANES; l++) {
		of[l] = lanes[l].strip;
		numbers[l] = l;
	}
	CHECK(all && few && strips);
	for (unsigned k = 0; k < windows; k++) {
		unsigned shift = below(widest), cells = 20 + below(100);
		struct gt_cell_window w = gt_aligned_window(
			(ones[below((uint32_t)nones)].start >> shift) - (int64_t)below(cells),
			shift, cells);
		struct gt_event_box_lanes wanted = { lanes, strips, numbers };

		CHECK(gt_lane_cells_request(strips, &w, of, NLANES - 1, &err) >= 0 &&
			!gt_lane_cells_step(strips, 0, &err));
		CHECK(!gt_event_boxes_request(all, &w, &wanted, NLANES - 1, &err) &&
			!gt_event_boxes_request(few, &w, &wanted, NLANES - 1, &err));
		CHECK(!gt_event_boxes_step(all, 0, &err));
		while (gt_event_boxes_step(few, 1, &err) > 0)
			;
		hold_boxes_against_boxes(all, few);
		hold_boxes_against_list(all, &w, &seen);
	}
	CHECK(seen > least);
	gt_lane_cells_free(strips);
	gt_event_boxes_free(all);
	gt_event_boxes_free(few);
	gt_display_name_release(&spell);
}

static void boxes_are_all_that_are_wide_enough(void)
{
	open_program(25, 160);
	boxes_in_windows(120, 8, 300);
	close_program();
	/* lanes of many blocks, and some rows that last for several */
	open_program(27, 20000);
	boxes_in_windows(40, 13, 100);
	close_program();
}

/* ---- holes ---- */

/* Each cell that is drawn as a hole is in one, no other is, and of those beside one another it is
 * one. */
static void hold_holes_against_cells(const struct gt_lane_key *lane, int64_t at, size_t *seen)
{
	struct gt_cell_window w = gt_aligned_window(at >> 3, 3, 300);
	struct gt_lane_cells *s = gt_lane_cells_new(archive);
	struct gt_cell_sums cells[300];
	struct gt_damaged_range hole, before = { .n = 0 };

	CHECK(s && gt_lane_cells_request(s, &w, &lane->strip, 1, &err) >= 0 &&
		!gt_lane_cells_step(s, 0, &err));
	gt_lane_cells_get(s, 0, lane->depth, cells);
	for (unsigned c = 0; c < w.cells; c++) {
		int64_t from = gt_cell_start(&w, c), to = gt_cell_start(&w, c + 1ll);
		bool is = cells[c].sureness == GT_CELL_DAMAGED;

		CHECK(gt_damaged_range_at(archive, &lane->strip, from, to, 8, &hole, &err) == is);
		if (!is)
			continue;
		CHECK(hole.from < to && hole.to > from && hole.n && hole.n <= hole.blocks &&
			hole.rows >= hole.blocks);
		CHECK(!c || cells[c - 1].sureness != GT_CELL_DAMAGED ||
			(hole.from == before.from && hole.to == before.to));
		before = hole;
		++*seen;
	}
	gt_lane_cells_free(s);
}

static void open_file(int fd)
{
	CHECK((reader = gt_reader_open_fd(dup(fd), &err)) &&
		(archive = gt_archive_open(reader, &err)));
}

static void holes_are_where_blocks_cannot_be_read(void)
{
	const struct gt_strip_key neighbour = { 0, 3, GT_ASPECT_CALLS, false };
	struct gt_block_list own, shared;
	struct gt_damaged_range hole;
	size_t seen = 0, i;
	int fd = temp_file();

	state = 28;
	make(dup(fd), "boot", 777, 60000);
	open_file(fd);
	own = gt_archive_blocks(archive, 0, lanes[0].strip.track);
	CHECK(own.n > 5);
	break_block(fd, own.blocks[1].number);
	break_block(fd, own.blocks[2].number);
	for (size_t l = 0; l < NLANES - 1; l++) {
		hold_holes_against_cells(&lanes[l], own.blocks[1].start - 300, &seen);
		hold_holes_against_cells(&lanes[l], own.blocks[2].end - 300, &seen);
	}
	CHECK(seen > 300);
	CHECK(!gt_damaged_range_at(archive, &neighbour, own.blocks[1].start,
		own.blocks[1].start + 1, 100, &hole, &err));
	CHECK_EQ(gt_damaged_range_at(archive, &lanes[0].strip, own.blocks[2].start,
			 own.blocks[2].start + 1, 100, &hole, &err),
		1);
	CHECK(hole.n == 2 && hole.from == own.blocks[1].start && hole.to == own.blocks[2].end + 1 &&
		!hole.list[0].shared);
	CHECK(hole.list[0].number == own.blocks[1].number &&
		hole.rows == own.blocks[1].rows + (uint64_t)own.blocks[2].rows);
	close_program();
	open_file(fd);
	shared = gt_archive_blocks(archive, 0, GT_NONE);
	for (i = 0; i < shared.n && shared.blocks[i].kind != GT_CALL; i++)
		;
	CHECK(i < shared.n);
	break_block(fd, shared.blocks[i].number);
	for (size_t l = 0; l < NLANES - 1; l++)
		hold_holes_against_cells(&lanes[l], shared.blocks[i].end - 300, &seen);
	CHECK(gt_damaged_range_at(archive, &neighbour, INT64_MIN, INT64_MAX, 0, &hole, &err) == 1 &&
		hole.n == 1 && hole.list[0].shared);
	close_program();
	close(fd);
}

/* ---- marks ---- */

/* Calls of one depth of a thread do not overlap, so the nearest edge is the nearest of all. */
static void marks_snap_to_the_nearest_edge(void)
{
	open_program(26, 500);
	for (unsigned k = 0; k < 300; k++) {
		const struct gt_lane_key *lane = &lanes[below(2)];
		int64_t from = ones[below((uint32_t)nones)].start - below(60),
			to = from + 1 + below(90), edge, best;

		best = to;
		for (size_t i = 0; i < nones; i++) {
			if (!is_on(&ones[i], lane))
				continue;
			if (ones[i].start >= from && ones[i].start < best)
				best = ones[i].start;
			if (ones[i].end >= from && ones[i].end < best && ones[i].start < from &&
				ones[i].end > from)
				best = ones[i].end;
		}
		CHECK(!gt_marks_snap(archive, lane, from, to, &edge, &err));
		CHECK(edge == (best < to ? best : from));
	}
	close_program();
}

static void marks_measure_what_is_between(void)
{
	struct gt_time_shown times = { .start = 0 };
	struct gt_marks m;
	char text[300], want[80];

	open_program(27, 500);
	m = (struct gt_marks){ .archive = archive };
	CHECK(!gt_marks_describe(&m, &times, 1000000, "the lane", text, sizeof(text)));
	for (unsigned k = 0; k < 50; k++) {
		int64_t a = ones[below((uint32_t)nones)].start, b = a + 1 + below(3000);
		const struct gt_lane_key *lane = &lanes[below(2)];
		uint64_t count = 0;

		gt_marks_set(&m, k % 2 ? a : b);
		CHECK(m.n == 1 && !gt_marks_select_lane(&m, lane, &err) && !m.measure);
		gt_marks_set(&m, k % 2 ? b : a);
		CHECK(m.n == 2 && !gt_marks_select_lane(&m, lane, &err) && m.measure);
		CHECK(gt_marks_describe(&m, &times, 1000000, "the lane", text, sizeof(text)) &&
			strstr(text, "measuring"));
		CHECK(!gt_marks_step(&m, 0, &err) && m.exact);
		for (size_t i = 0; i < nones; i++)
			count += is_on(&ones[i], lane) && ones[i].start >= a && ones[i].start < b;
		snprintf(want, sizeof(want), ", %llu begin", (unsigned long long)count);
		CHECK(gt_marks_describe(&m, &times, 1000000, "the lane", text, sizeof(text)) &&
			strstr(text, want));
	}
	gt_marks_clear(&m);
	CHECK(!m.n && !gt_marks_describe(&m, &times, 1000000, "the lane", text, sizeof(text)));
	gt_marks_release(&m);
	close_program();
}

/* ---- searches by name ---- */

static void names_are_found_and_counted(void)
{
	static const struct {
		const char *expression;
		const char *names[4];
	} tries[] = {
		{ "^cuCall$", { "cuCall" } },
		{ "cu(Call|MemAlloc)", { "cuCall", "cuMemAlloc" } },
		{ "CUCALL", { NULL } },
		{ "^(ioctl|range)$", { "ioctl", "range" } },
		{ "no such name", { NULL } },
	};
	struct gt_display_name spell = { .reader = NULL };
	struct gt_err bad = GT_ERR_INIT;

	open_program(28, 800);
	spell.reader = reader;
	for (unsigned k = 0; k < sizeof(tries) / sizeof(*tries); k++) {
		struct gt_name_search *f =
			gt_name_search_new(archive, &spell, tries[k].expression, &err);
		uint64_t want = 0;
		bool complete;

		CHECK(f && gt_name_search_has_names(f) == (tries[k].names[0] != NULL));
		for (size_t i = 0; i < nones; i++) {
			bool is = false;

			for (unsigned n = 0; tries[k].names[n]; n++)
				is |= named(&ones[i], tries[k].names[n]);
			CHECK(gt_name_search_matches(f, 0, ones[i].type) == is);
			want += is;
		}
		CHECK(!want || (!gt_name_search_count(f, &complete) && !complete));
		CHECK(!gt_name_search_step(f, 0, &err) &&
			gt_name_search_count(f, &complete) == want && complete);
		gt_name_search_free(f);
	}
	CHECK(!gt_name_search_new(archive, &spell, "a(b", &bad) && bad.code == -EINVAL &&
		strstr(bad.text, "not a regular expression"));
	gt_display_name_release(&spell);
	close_program();
}

T_MAIN(T(tab_walks_the_lane), T(gaps_are_those_that_a_list_has), T(the_next_of_the_same_name),
	T(failures_are_gone_through_and_begin_again), T(a_call_and_its_kernel_lead_to_each_other),
	T(boxes_are_all_that_are_wide_enough), T(holes_are_where_blocks_cannot_be_read),
	T(marks_snap_to_the_nearest_edge), T(marks_measure_what_is_between),
	T(names_are_found_and_counted))
