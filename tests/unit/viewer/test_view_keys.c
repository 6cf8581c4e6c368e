/* Keys in, frames out: scripts of keys compared with the expected screen, cells of frames at
 * every zoom compared with a count of every row, and random keys. */
#define _GNU_SOURCE
#include "tests/unit/viewer/view_stage.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/timeline/timeline_draw.h"

/* ---- cells against a count ---- */

struct rows {
	int64_t *start, *end;
	size_t n, cap[2];
};
static struct rows rows_of[32]; /* by track: GPU work, or calls at depth 0 */

static void read_rows(struct gt_reader *r)
{
	struct gt_filter all = { .kinds = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_GPU) };
	struct gt_err err = GT_ERR_INIT;
	struct gt_iter *it = gt_iter_open(r, &all, &err);
	struct gt_event ev;

	for (unsigned i = 0; i < 32; i++)
		rows_of[i].n = 0;
	while (it && gt_iter_next(it, &ev, &err) > 0) {
		struct rows *to = &rows_of[ev.track];

		if (ev.row.depth && ev.kind != GT_GPU)
			continue;
		CHECK(!gt_grow(&to->start, &to->cap[0], to->n + 1, sizeof(int64_t)) &&
			!gt_grow(&to->end, &to->cap[1], to->n + 1, sizeof(int64_t)));
		to->start[to->n] = ev.row.start;
		to->end[to->n++] = ev.row.end;
	}
	gt_iter_close(it);
	CHECK(!err.code);
}

/* How much of [from, to) rows of some tracks cover; rows come by start. */
static uint64_t covered(const uint32_t *tracks, unsigned n, int64_t from, int64_t to)
{
	static uint8_t cell[1 << 16];
	int64_t width = to - from;
	uint64_t sum = 0;
	int64_t done = from;

	if (n == 1) {
		const struct rows *r = &rows_of[tracks[0]];

		for (size_t i = 0; i < r->n && r->start[i] < to; i++) {
			int64_t a = r->start[i] > done ? r->start[i] : done,
				b = r->end[i] < to ? r->end[i] : to;

			if (b > a) {
				sum += (uint64_t)(b - a);
				done = b;
			}
		}
		return sum;
	}
	if (width > (int64_t)sizeof(cell))
		return UINT64_MAX;
	memset(cell, 0, (size_t)width);
	for (unsigned k = 0; k < n; k++)
		for (size_t i = 0; i < rows_of[tracks[k]].n; i++) {
			int64_t a = rows_of[tracks[k]].start[i], b = rows_of[tracks[k]].end[i];

			a = a > from ? a : from;
			b = b < to ? b : to;
			if (b > a)
				memset(cell + (a - from), 1, (size_t)(b - a));
		}
	for (int64_t i = 0; i < width; i++)
		sum += cell[i];
	return sum;
}

/* The line of a track, and not that of its ranges. */
static int line_of_track(struct stage *st, const char *label)
{
	char padded[40];
	int y;

	snprintf(padded, sizeof(padded), "  %s", label); /* behind a mark, or none */
	y = line_of(st, padded);
	snprintf(padded, sizeof(padded), "▾ %s", label);
	return y >= 0 ? y : line_of(st, padded);
}

/* Every cell of the line of that label is as high as the count says. */
static bool is_counted(struct stage *st, const char *label, const uint32_t *tracks, unsigned n)
{
	const struct gt_cell_window *w = &st->s.scene.window;
	struct gt_layout at = gt_layout_of(st->s.width, st->s.height, 0);
	int y = line_of_track(st, label);

	if (y < 0 || at.cells != w->cells)
		return on_screen(st, label);
	for (unsigned i = 0; i < w->cells; i++) {
		uint64_t busy = covered(tracks, n, gt_cell_start(w, i), gt_cell_start(w, i + 1ll));
		const struct gt_spot *spot =
			&st->screen.spots[(size_t)y * st->screen.width + at.left + i];
		/* part of a name in a box */
		uint32_t have = spot->look.paper >= GT_INK_CATEGORY ? gt_block_glyph(8) : spot->ch;

		if (gt_cell_start(w, i) >= st->s.scene.extent.to || busy == UINT64_MAX)
			continue;
		have = have == 0x2506 ? ' ' : have; /* a line of the grid */
		if (spot->ch == GT_OPEN_END && busy &&
			gt_cell_start(w, i + 1ll) >= st->s.scene.extent.to)
			continue;
		if (have != gt_block_glyph(gt_busy_eighths(busy, gt_cell_width(w, i)))) {
			printf("%s: cell %u of 2^%u ns: %llu busy\n", label, i, gt_window_log2(w),
				(unsigned long long)busy);
			return false;
		}
	}
	return true;
}

static void cells_are_counted_at_every_zoom(void)
{
	const char *const one[] = { "b", NULL };
	struct stage st;

	for (state = 1; state < 4; state++) {
		uint64_t seed = state;

		stage_up(&st, one, 4000, 120, 60);
		read_rows(st.reader);
		CHECK(play(&st, "x")); /* the user has changed the lanes: they stay */
		CHECK(play(&st, "X Z < r"));
		for (int zoom = 0; zoom < 24; zoom++) {
			uint32_t threads[] = { 2, 3, 4 }, streams[] = { 14, 15, 16 };

			CHECK(is_counted(&st, "thread 10", &threads[0], 1) &&
				is_counted(&st, "thread 11", &threads[1], 1) &&
				is_counted(&st, "thread 12", &threads[2], 1));
			CHECK(is_counted(&st, "stream 7", &streams[0], 1) &&
				is_counted(&st, "stream 8", &streams[1], 1) &&
				is_counted(&st, "GPU 0", streams, 3));
			CHECK(play(&st, zoom % 3 ? "w L l" : "w h a"));
		}
		CHECK_EQ(gt_window_cell_width(&st.s.scene.window), 1);
		strike(&st);
		state = seed;
	}
}

/* ---- scripts ---- */

static const char *const once[] = { "b", NULL };

static void keys_move_in_time(void)
{
	struct stage st;
	const struct gt_cell_window *w = &st.s.scene.window;
	int64_t from;
	unsigned all;

	state = 11;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, ""));
	all = gt_window_log2(w);
	CHECK(gt_window_shows_all(w, &st.s.scene.extent) && all > 3);
	CHECK(play(&st, "w w w") && w->shift == all - 3);
	CHECK(play(&st, "s") && w->shift == all - 2);
	CHECK(play(&st, "+ = -") && w->shift == all - 3);
	CHECK(play(&st, "End"));
	CHECK(gt_window_end(w) >= st.s.scene.extent.to);
	from = w->from;
	CHECK(play(&st, "a") && w->from == from - (int64_t)(w->cells / 4) * (1 << w->shift));
	CHECK(play(&st, "d D") && w->from == from);
	CHECK(play(&st, "Home") && w->from >> w->shift == st.s.scene.extent.from >> w->shift);
	CHECK(play(&st, "Left Left") && w->from >> w->shift == st.s.scene.extent.from >> w->shift);
	CHECK(play(&st, "g '2us' Enter"));
	CHECK(gt_window_column(w, st.s.scene.extent.from + 2000) == w->cells / 2 ||
		w->from >> w->shift == st.s.scene.extent.from >> w->shift);
	CHECK(on_screen(&st, "2us"));
	/* that moment, not where its wide cell began */
	CHECK(play(&st, "r g '70.003us' Enter w w w w w w w w w w w w w w w w w w"));
	CHECK(w->shift == 0 && gt_window_column(w, st.s.scene.extent.from + 70003) >= 0 &&
		gt_window_column(w, st.s.scene.extent.from + 70003) < (int64_t)w->cells &&
		on_screen(&st, "70.003us  "));
	CHECK(play(&st, "r w w w"));
	CHECK(play(&st, "g '99s' Enter") && on_screen(&st, "this time is outside the trace"));
	CHECK(play(&st, "g 'soon' Enter") && on_screen(&st, "invalid time (examples: 1.5s"));
	CHECK(play(&st, "j") && line_of(&st, "a time is") < 0);
	CHECK(play(&st, "g '1:0' Backspace '7'") && on_screen(&st, "go to: 1:7"));
	CHECK(play(&st, "Esc r") && gt_window_shows_all(w, &st.s.scene.extent) &&
		line_of(&st, "go to") < 0);
	strike(&st);
}

static void the_wheel_zooms_where_the_mouse_is(void)
{
	struct stage st;
	const struct gt_cell_window *w = &st.s.scene.window;
	struct gt_layout at = gt_layout_of(100, 40, 0);
	int64_t t;
	char script[100];

	state = 12;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "w w w w"));
	gt_window_goto(&st.s.scene.window, &st.s.scene.extent,
		(st.s.scene.extent.from + st.s.scene.extent.to) / 2, 20);
	t = gt_cell_start(w, 17);
	sprintf(script, "wheel-up %u,20 wheel-up %u,20", at.left + 17, at.left + 17);
	CHECK(play(&st, script) && gt_window_column(w, t) == 17);
	sprintf(script, "wheel-down %u,20", at.left + 17);
	CHECK(play(&st, script) && gt_window_column(w, t) == 17);
	sprintf(script, "drag %u,%d %u,%d", at.left + 17, at.axis, at.left + 27, at.axis);
	CHECK(play(&st, script) && gt_window_column(w, t) == 27);
	sprintf(script, "click %u,%d", at.left, at.map);
	CHECK(play(&st, script) && w->from >> w->shift == st.s.scene.extent.from >> w->shift);
	strike(&st);
}

/* A key without a meaning is reported; `g TIME` goes to exactly that time. */
static void keys_and_times_are_what_they_say(void)
{
	struct stage st;
	char script[60];

	state = 12;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "y") && on_screen(&st, "key y has no function: ? lists the keys") &&
		play(&st, "j") && line_of(&st, "does nothing") < 0);
	for (unsigned i = 0; i < 20; i++) {
		int64_t t = 5000 + 777 * i, at;

		sprintf(script, "Esc Esc Esc r g '%lldns' Enter Tab i i", (long long)t);
		CHECK(play(&st, script) && st.s.scene.is_static == false);
		sprintf(script, "g '%lldns' Enter m", (long long)t);
		CHECK(play(&st, script) && st.s.scene.marks.n >= 1);
		at = st.s.scene.marks.at[st.s.scene.marks.n - 1] - st.s.scene.extent.from;
		/* at or behind it, within its cell */
		CHECK(at >= t && at - t <= (int64_t)gt_window_cell_width(&st.s.scene.window));
		play(&st, "Esc Esc Esc Esc");
	}
	strike(&st);
}

static void what_is_drawn_over_is_marked(void)
{
	struct stage st;
	const struct gt_cell_window *w = &st.s.scene.window;
	struct gt_layout at = gt_layout_of(100, 40, 0);
	struct gt_cell_window before;
	char script[100];
	int y;

	state = 12;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "Z w w w w") && (y = line_of_track(&st, "stream 7")) > 0);
	before = *w;
	sprintf(script, "drag %u,%d %u,%d", at.left + 10, y, at.left + 30, y);
	CHECK(play(&st, script) && on_screen(&st, "A-B ") && on_screen(&st, " begin"));
	CHECK(gt_same_window(w, &before) && line_of(&st, "duration") < 0);
	CHECK(play(&st, "F") && w->to - w->from < before.to - before.from &&
		on_screen(&st, "A-B "));
	/* the other way is the same */
	sprintf(script, "r w w w w drag %u,%d %u,%d", at.left + 30, y, at.left + 10, y);
	CHECK(play(&st, script) && on_screen(&st, "A-B "));
	sprintf(script, "Esc drag %u,%d %u,%d", at.left + 30, y, at.left + 30, y);
	CHECK(play(&st, script) && line_of(&st, "A-B ") < 0); /* that is a click */
	CHECK(play(&st, "Esc Esc Esc F") && on_screen(&st, "no marks and no selection"));
	strike(&st);
}

static void lanes_fold_hide_and_filter(void)
{
	struct stage st;

	state = 13;
	stage_up(&st, once, 3000, 100, 60);
	CHECK(play(&st, "z") && on_screen(&st, "▸ pid 1"));
	CHECK(line_of(&st, "GPU 0") < 0);
	CHECK(play(&st, "Space") && on_screen(&st, "▾ pid 1") && on_screen(&st, "▸ GPU 0"));
	CHECK(play(&st, "j Space") && on_screen(&st, "stream 7") && on_screen(&st, "copies HtoD"));
	/* folds the lane that contains this one */
	CHECK(play(&st, "j Space") && line_of(&st, "copies HtoD") < 0);
	CHECK(play(&st, "Space \\ 'STREAM 8' Enter") && on_screen(&st, "stream 8") &&
		on_screen(&st, "lanes with 'STREAM 8'"));
	CHECK(line_of(&st, "stream 7") < 0 && line_of(&st, "thread 10") < 0);
	CHECK(play(&st, "Esc") && on_screen(&st, "stream 7") && on_screen(&st, "thread 10"));
	CHECK(play(&st, "Z < j x") && line_of(&st, "GPU 0") < 0 && on_screen(&st, "thread 10"));
	CHECK(play(&st, "X") && on_screen(&st, "GPU 0"));
	strike(&st);
}

/* A GPU has a line with the launches that wait for it, and so has each of several streams. */
static void launches_that_wait_have_a_line(void)
{
	struct stage st;
	int y;

	state = 15;
	stage_up(&st, once, 3000, 120, 60);
	CHECK(play(&st, "Z") && (y = line_of(&st, "queue depth")) > line_of(&st, "stream 7") &&
		y < line_of(&st, "stream 8"));
	for (y = 0;
		!strstr(line(&st, (int)st.screen.height - 3), "> stream 7 > queue depth") && y < 40;
		y++)
		CHECK(play(&st, "j"));
	/* for some work of this trace the launching call is unknown */
	CHECK(y < 40 && on_screen(&st, "at least "));
	CHECK(on_screen(&st, " launches wait  ") || on_screen(&st, " launch waits  "));
	CHECK(play(&st, "w w w w w w w w") && line_of(&st, "not known") < 0 &&
		on_screen(&st, "> queue depth"));
	CHECK(play(&st, "x") && line_of(&st, "> stream 7 > queue depth") < 0 &&
		line_of(&st, "queue depth") > 0);
	CHECK(play(&st, "X 2 1") && on_screen(&st, "queue depth"));
	strike(&st);
}

static void cells_can_show_other_things(void)
{
	struct stage st;

	state = 14;
	stage_up(&st, once, 3000, 100, 30);
	CHECK(play(&st, "") && on_screen(&st, "busy share"));
	CHECK(play(&st, "b") && on_screen(&st, "count  0us to "));
	CHECK(play(&st, "b") && on_screen(&st, "longest  0us to "));
	CHECK(play(&st, "b") && on_screen(&st, "bytes  0us to "));
	CHECK(play(&st, "b") && on_screen(&st, "busy share"));
	CHECK(play(&st, "B") && on_screen(&st, "bytes  0us to "));
	CHECK(play(&st, "t") && on_screen(&st, "the trace has no wall-clock time"));
	CHECK(play(&st, "9 t") && on_screen(&st, "the trace has no wall-clock time") &&
		play(&st, "1"));
	strike(&st);
}

/* The last line names keys, and a click on one presses it. A narrow screen has fewer of them. */
static void the_key_bar(void)
{
	struct stage st;
	const char *bar;

	state = 15;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "") && (bar = line(&st, 39)) && strstr(bar, "? Help") &&
		strstr(bar, "G Max gap") && strstr(bar, "q Quit"));
	CHECK(play(&st, "click 0,39") && on_screen(&st, "longest gap of the GPU"));
	CHECK(strstr(line(&st, 39), "Esc Back") && play(&st, "click 1,39") &&
		line_of(&st, "longest gap of the GPU") < 0);
	CHECK(play(&st, ":") && strstr(line(&st, 39), "Tab Complete") && play(&st, "Esc"));
	CHECK(play(&st, "3") && strstr(line(&st, 39), "1 Timeline") && play(&st, "1"));
	CHECK(play(&st, "resize 40x15") && (bar = line(&st, 14)) && strstr(bar, "? Help") &&
		strstr(bar, "q Quit") && !strstr(bar, "Find"));
	CHECK(play(&st, "resize 100x10") && strstr(line(&st, 9), "busy share"));
	strike(&st);
}

/* From a thread it goes to the GPU, on a stream it stays there; the pane says how long it is. */
static void the_longest_gap(void)
{
	struct stage st;
	const struct gt_cell_window *w = &st.s.scene.window;
	struct gt_filter all = { .kinds = GT_BIT(GT_GPU) };
	int64_t longest = 0, end = INT64_MAX;
	struct gt_iter *it;
	struct gt_event ev;

	state = 15;
	stage_up(&st, once, 3000, 100, 40);
	it = gt_iter_open(st.reader, &all, &st.err);
	while (it && gt_iter_next(it, &ev, &st.err) > 0) {
		if (ev.track != 15) /* stream 8 */
			continue;
		longest = ev.row.start - end > longest && end < ev.row.start ? ev.row.start - end
									     : longest;
		end = end == INT64_MAX || ev.row.end > end ? ev.row.end : end;
	}
	gt_iter_close(it);
	CHECK(play(&st, "r") && play(&st, "G") && on_screen(&st, "gap of ") &&
		on_screen(&st, "on              GPU 0") && on_screen(&st, "F zooms to this gap"));
	CHECK(play(&st, "Esc Esc \\ 'stream 8' Enter < j j") && play(&st, "G") &&
		on_screen(&st, "on              GPU 0 > stream 8") && play(&st, "F"));
	/* with a margin of a quarter on each side */
	CHECK(longest > 100 && w->to - w->from == longest + longest / 4 * 2);
	strike(&st);
}

/* What --at requests: a range with a margin, between two marks, with the cursor on a GPU; or a time
 * in the middle. */
static void a_requested_time_is_shown(void)
{
	struct stage st;
	const struct gt_cell_window *w = &st.s.scene.window;
	int64_t start;

	state = 15;
	stage_up(&st, once, 3000, 100, 40);
	start = st.s.scene.extent.from;
	CHECK(!gt_ui_show_times(&st.s, &(struct gt_ui_times){ GT_UI_SPAN, 20000, 40000 }, &st.err));
	CHECK(w->from == start + 15000 && w->to == start + 45000);
	CHECK(play(&st, "") && on_screen(&st, "A-B 20.00 us  GPU 0: busy "));
	CHECK(!gt_ui_show_times(
		&st.s, &(struct gt_ui_times){ GT_UI_MIDDLE, 50000, 50000 }, &st.err));
	CHECK(w->to - w->from < 2000 && w->from + w->to == 2 * (start + 50000));
	CHECK(!gt_ui_show_times(
		      &st.s, &(struct gt_ui_times){ GT_UI_SPAN, 1 << 30, INT64_MAX }, &st.err) &&
		play(&st, ""));
	strike(&st);
}

static void help_lists_the_keys(void)
{
	struct stage st;

	state = 15;
	stage_up(&st, once, 1000, 80, 12);
	CHECK(play(&st, "?") && on_screen(&st, "In time") && line_of(&st, "redraw the screen") < 0);
	CHECK(play(&st, "End") && on_screen(&st, "scheduler") &&
		on_screen(&st, "redraw the screen") && on_screen(&st, "quit"));
	CHECK(play(&st, "Home PgDn j k") && line_of(&st, "In time") < 0);
	CHECK(play(&st, "q") && on_screen(&st, "GPU 0") && !st.s.quit);
	CHECK(play(&st, "C-l") && st.s.redraw);
	CHECK(play(&st, "q") && st.s.quit);
	strike(&st);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static void the_cursor_stays_on_its_lane(void)
{
	struct stage st;
	int y;

	state = 16;
	stage_up(&st, once, 3000, 100, 60);
	CHECK(play(&st, "Z <"));
	for (int i = 0; i < 60 && !ends_with(line(&st, (int)st.screen.height - 3), "  thread 12");
		i++)
		CHECK(play(&st, "j"));
	y = line_of_track(&st, "thread 12");
	CHECK(play(&st, "resize 100x30") && play(&st, "resize 60x12") &&
		play(&st, "resize 100x60"));
	CHECK(line_of(&st, "thread 12") >= 0 && y >= 0);
	CHECK(ends_with(line(&st, (int)st.screen.height - 3), "  thread 12"));
	strike(&st);
}

/* ---- random keys ---- */

static struct gt_key any_key(void)
{
	static const uint32_t special[] = { GT_KEY_TAB, GT_KEY_ENTER, GT_KEY_ESC, GT_KEY_BACKSPACE,
		GT_KEY_HOME, GT_KEY_END, GT_KEY_PRESS, GT_KEY_DRAG, GT_KEY_RELEASE, GT_KEY_DOUBLE,
		GT_KEY_WHEEL_UP, GT_KEY_WHEEL_DOWN, GT_KEY_PAGE_UP, GT_KEY_PAGE_DOWN, GT_KEY_LEFT,
		GT_KEY_RIGHT, GT_KEY_UP, GT_KEY_DOWN, GT_KEY_RESIZE };
	struct gt_key k = { .x = (uint16_t)below(140),
		.y = (uint16_t)below(50),
		.modifiers = (uint8_t)(below(9) ? 0 : below(8)) };

	k.key = below(3) ? below(96) + 31 : special[below(sizeof(special) / sizeof(*special))];
	if (k.key == GT_KEY_RESIZE && below(6))
		k.key = '?';
	if (k.key == 'q' || k.key == 31)
		k.key = 'w';
	return k;
}

static void a_monkey_breaks_nothing(void)
{
	const char *const sets[3][4] = { { "a", NULL }, { "a", "a", NULL },
		{ "a", "b", "a", NULL } };
	struct stage st;

	for (unsigned set = 0; set < 3; set++) {
		state = 100 + set;
		stage_up(&st, sets[set], 1500, 80, 24);
		for (int i = 0; i < 3500; i++) {
			CHECK(!gt_ui_key(&st.s, any_key(), &st.err));
			CHECK(below(3) || gt_ui_step(&st.s, below(20) ? 50 : 0, &st.err) >= 0);
			if (!below(4))
				gt_ui_draw(&st.s, &st.screen);
		}
		CHECK(play(&st, "Esc Esc Esc resize 100x30 Esc r"));
		CHECK(on_screen(&st, "trace.zst"));
		strike(&st);
	}
}

T_MAIN(T(cells_are_counted_at_every_zoom), T(keys_move_in_time),
	T(the_wheel_zooms_where_the_mouse_is), T(keys_and_times_are_what_they_say),
	T(what_is_drawn_over_is_marked), T(lanes_fold_hide_and_filter),
	T(launches_that_wait_have_a_line), T(cells_can_show_other_things), T(help_lists_the_keys),
	T(the_key_bar), T(a_requested_time_is_shown), T(the_longest_gap),
	T(the_cursor_stays_on_its_lane), T(a_monkey_breaks_nothing))
