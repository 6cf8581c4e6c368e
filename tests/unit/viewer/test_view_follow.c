/* A trace that grows while it is viewed: the view equals that of a viewer that opens the trace
 * then, and the user's settings stay. */
#include "tests/unit/viewer/view_stage.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/timeline/timeline_draw.h"

#define WIDTH 130
/* space for all lanes: new lanes are then unfolded, as in a newly opened trace */
#define HEIGHT 180

/* A recording that comes in pieces to a file that is looked at. */
struct growing {
	uint8_t *bytes;
	size_t n, at;
	int fd;
	struct stage st;
};

static void write_more(struct growing *g, size_t n)
{
	n = n > g->n - g->at ? g->n - g->at : n;
	CHECK(write(g->fd, g->bytes + g->at, n) == (ssize_t)n);
	g->at += n;
}

static void begin_to_grow(
	struct growing *g, unsigned seed, unsigned turns, bool several, size_t first)
{
	int whole = temp_file();

	state = seed;
	*g = (struct growing){ .fd = temp_file(), .st.err = GT_ERR_INIT };
	make(dup(whole), "b", 1000, turns);
	if (several)
		make(dup(whole), "c", 1700, turns / 2);
	g->bytes = file_bytes(whole, &g->n);
	close(whole);
	write_more(g, first < g->n / 20 ? g->n / 20 : first);
	CHECK((g->st.reader = gt_reader_open_growing(dup(g->fd), UINT64_MAX, &g->st.err)));
	CHECK(!gt_ui_open(&g->st.s, g->st.reader, "some/trace.zst", gt_views[0], &g->st.err));
	gt_scene_set_growing(&g->st.s.scene, true);
	CHECK(!gt_ui_resize(&g->st.s, WIDTH, HEIGHT, &g->st.err));
}

static bool grows(struct growing *g, size_t n)
{
	struct stage *st = &g->st;

	write_more(g, n);
	gt_ui_detach(&st->s);
	while (gt_reader_grow(st->reader, UINT64_MAX, &st->err) > 0)
		;
	return !st->err.code && !gt_ui_reopen(&st->s, st->reader, &st->err) && play(st, "");
}

static void end_growing(struct growing *g)
{
	strike(&g->st);
	close(g->fd);
	free(g->bytes);
}

/* Do these lines equal those of a viewer that opens the trace now, goes to that window (NULL:
 * stays) and gets the same keys? */
static bool is_as_new_there(struct growing *g, const struct gt_cell_window *there,
	const char *script, int first, int end)
{
	struct stage now = { .err = GT_ERR_INIT };
	char *have;
	bool same;

	now.reader = gt_reader_open_growing(dup(g->fd), UINT64_MAX, &now.err);
	same = now.reader &&
		!gt_ui_open(&now.s, now.reader, "some/trace.zst", gt_views[0], &now.err) &&
		(gt_scene_set_growing(&now.s.scene, true),
			!gt_ui_resize(&now.s, WIDTH, HEIGHT, &now.err)) &&
		play(&now, "");
	if (same && there)
		now.s.scene.window = *there;
	same = same && play(&now, script);
	for (int y = first; same && y < end; y++) {
		have = strdup(line(&g->st, y));
		same = !strcmp(have, line(&now, y));
		if (!same)
			printf("after %zu of %zu bytes, '%s', line %d is\n%s\nand is to be\n%s\n",
				g->at, g->n, script, y, have, line(&now, y));
		free(have);
	}
	strike(&now);
	return same;
}

static bool is_as_new(struct growing *g, const char *script, int first, int end)
{
	return is_as_new_there(g, NULL, script, first, end);
}

static void what_has_grown_is_as_new(void)
{
	for (unsigned seed = 1; seed < 5; seed++) {
		struct growing g;

		begin_to_grow(&g, seed, 3000, seed % 2, below(9000));
		CHECK(play(&g.st, "") && is_as_new(&g, "", 0, HEIGHT));
		for (unsigned i = 1; g.at < g.n; i++)
			CHECK(grows(&g, 1 + below(i % 3 ? 4000 : (unsigned)g.n / 6)) &&
				play(&g.st, "< Home") && is_as_new(&g, "< Home", 0, HEIGHT));
		end_growing(&g);
	}
}

/* In any window between two growths, and while not all is known again; with another view between
 * some of them. */
static void what_is_seen_of_it_is_as_new(void)
{
	static const char *const moves[] = { "d", "a", "w", "s", "L", "H", "End", "Home", "2 1",
		"2", "1", "w w", "s s", "" };

	for (unsigned seed = 10; seed < 13; seed++) {
		struct growing g;

		begin_to_grow(&g, seed, 4000, false, 40000);
		CHECK(play(&g.st, "") && play(&g.st, "w"));
		for (unsigned i = 0; g.at < g.n; i++) {
			struct key_script s = {
				.at = moves[below(sizeof(moves) / sizeof(*moves))]
			};
			struct gt_key key;

			while (key_script_next(&s, &key) > 0)
				CHECK(!gt_ui_key(&g.st.s, key, &g.st.err));
			for (unsigned steps = below(4); steps; steps--)
				CHECK(gt_ui_step(&g.st.s, 1, &g.st.err) >= 0);
			write_more(&g, 1 + below(6000));
			gt_ui_detach(&g.st.s);
			while (gt_reader_grow(g.st.reader, UINT64_MAX, &g.st.err) > 0)
				;
			CHECK(!gt_ui_reopen(&g.st.s, g.st.reader, &g.st.err));
			/* the set of lanes depends on the earlier state */
			if (i % 3 || gt_archive_has_uppers(g.st.s.scene.archive, 0))
				continue;
			CHECK(play(&g.st, "1 Z < click 60,9 Esc"));
			CHECK(is_as_new_there(
				&g, &g.st.s.scene.window, "1 Z < click 60,9 Esc", 0, HEIGHT - 13));
		}
		end_growing(&g);
	}
}

/* Folded and filtered lanes, and the contents of cells. If the user changed the lanes, new lanes
 * are not unfolded. */
static void lanes_stay_as_they_are(void)
{
	struct growing g;

	begin_to_grow(&g, 20, 3000, false, 55000);
	CHECK(play(&g.st, "") && play(&g.st, "b b z j Space \\ 'stream' Enter") &&
		line_of(&g.st, "thread") < 0);
	while (g.at < g.n)
		CHECK(grows(&g, g.n / 5) && on_screen(&g.st, "longest") &&
			line_of(&g.st, "thread 1") < 0 && on_screen(&g.st, "▸ stream 7"));
	CHECK(play(&g.st, "Esc < x") && line_of(&g.st, "pid 1") < 0);
	CHECK(grows(&g, 0) && line_of(&g.st, "pid 1") < 0 && play(&g.st, "X") &&
		on_screen(&g.st, "pid 1"));
	end_growing(&g);
}

/* The selection, marks and searches: the pane at the bottom, and the counts. */
static void what_was_laid_out_stays(void)
{
	static const char *const scripts[] = {
		"/ 'cuLaunch' Enter M Enter",
		"/ 'cuCall' Enter Enter c",
		"/ 'range' Enter n n m ] m Enter",
		"/ 'cuMemAlloc' Enter } Enter",
	};

	for (unsigned k = 0; k < sizeof(scripts) / sizeof(*scripts); k++) {
		struct growing g;

		begin_to_grow(&g, 20 + k, 3000, false, 55000);
		CHECK(play(&g.st, "") && play(&g.st, scripts[k]) && on_screen(&g.st, "duration"));
		while (g.at < g.n) {
			CHECK(grows(&g, g.n / 5) && on_screen(&g.st, "duration"));
			/* the lanes above may differ, and so the legend in the first line */
			CHECK(is_as_new(&g, scripts[k], HEIGHT - 14, HEIGHT - 2));
		}
		end_growing(&g);
	}
}

/* An open call is written again with each piece, and stays selected, also after it has returned;
 * so does a gap before such a call. */
static void open_calls_stay_selected(void)
{
	struct growing g = { .fd = temp_file(), .st.err = GT_ERR_INIT };
	struct gt_row hangs = { .start = 9000, .depth = 0 };
	struct program p;

	state = 5;
	begin(&p, dup(g.fd), "b", 1000);
	hangs.type = p.call;
	for (int piece = 0; piece < 4; piece++) {
		put(&p, GT_CALL, p.threads[0], p.call, 1000 + 200 * piece, 1100 + 200 * piece, 0);
		put(&p, GT_CALL, p.threads[1], p.call, 11000 + 5000 * piece, 12000 + 5000 * piece,
			0);
		if (piece < 3)
			CHECK(!gt_writer_open_call(p.w, p.threads[0], &hangs, NULL, &p.err));
		else
			put(&p, GT_CALL, p.threads[0], p.call, hangs.start, 26000, 0);
		CHECK(!gt_writer_epoch(p.w, 15000 + 5000 * piece, &p.err));
		if (!piece) {
			CHECK((g.st.reader =
					gt_reader_open_growing(dup(g.fd), UINT64_MAX, &g.st.err)));
			CHECK(!gt_ui_open(&g.st.s, g.st.reader, "a", gt_views[0], &g.st.err));
			CHECK(!gt_ui_resize(&g.st.s, WIDTH, HEIGHT, &g.st.err) &&
				play(&g.st, ": 'open' Enter"));
		} else {
			CHECK(grows(&g, 0));
		}
		CHECK(on_screen(
			&g.st, piece < 3 ? "call that had not returned" : "kind            call,"));
		CHECK(on_screen(&g.st,
			(const char *[]){ "so far          6", "so far          11",
				"so far          16", "duration        17" }[piece]));
	}
	gt_gpu_types_release(&p.types);
	CHECK(!gt_writer_close(p.w, &p.err));
	end_growing(&g);
}

/* A damaged block has the same effect when more blocks follow it. */
static void holes_stay_selected(void)
{
	struct growing g;
	struct gt_block_list blocks;
	char script[100], title[80] = "";

	begin_to_grow(&g, 40, 40000, false, 700000);
	blocks = gt_archive_blocks(g.st.s.scene.archive, 0, 2);
	CHECK(g.at < g.n && blocks.n > 3);
	snprintf(script, sizeof(script), "Z w w w w w w w w w w w w g '%lldns' Enter",
		(long long)(blocks.blocks[2].start - g.st.s.scene.extent.from));
	break_block(g.fd, blocks.blocks[1].number);
	break_block(g.fd, blocks.blocks[2].number);
	/* the earlier result is discarded */
	CHECK(grows(&g, 0) && play(&g.st, script));
	sprintf(script, "click %d,%d Enter", 20, line_of(&g.st, "▾ thread 10"));
	CHECK(play(&g.st, script) && play(&g.st, "i i") && on_screen(&g.st, "hole: "));
	snprintf(title, sizeof(title), "%.79s", line(&g.st, line_of(&g.st, "hole: ")));
	while (g.at < g.n)
		CHECK(grows(&g, g.n / 6) && on_screen(&g.st, "hole: ") &&
			!strncmp(title, line(&g.st, line_of(&g.st, "hole: ")), strlen(title)));
	end_growing(&g);
}

/* A window inside the known time stays in its place; one that shows the end moves with the end. */
static void windows_stay_or_go_along(void)
{
	struct growing g;
	struct gt_cell_window *w = &g.st.s.scene.window, before;

	begin_to_grow(&g, 9, 4000, false, 15000);
	CHECK(play(&g.st, "w w w w w") && !gt_window_shows_all(w, &g.st.s.scene.extent));
	before = *w;
	for (unsigned i = 0; i < 4; i++)
		CHECK(grows(&g, g.n / 12) && gt_same_window(w, &before));
	CHECK(play(&g.st, "End"));
	for (int64_t end = g.st.s.scene.extent.to; g.st.s.scene.extent.to == end;)
		CHECK(gt_window_end(w) >= end && g.at < g.n && grows(&g, g.n / 12));
	CHECK(gt_window_end(w) >= g.st.s.scene.extent.to &&
		gt_window_log2(w) == gt_window_log2(&before));
	end_growing(&g);
}

/* Known values are shown until they are known again, and no claim is made about the new part. */
static void what_was_known_is_shown_meanwhile(void)
{
	struct growing g;
	struct gt_layout at = gt_layout_of(WIDTH, HEIGHT, GT_LAYOUT_TROUBLES);
	const struct gt_cell_window *w = &g.st.s.scene.window;

	for (unsigned k = 0; k < 4; k++) {
		struct gt_cell_window before;
		int64_t end;
		int y;

		begin_to_grow(&g, 60 + k, 4000, false, 40000);
		CHECK(play(&g.st, ""));
		before = *w;
		end = g.st.s.scene.extent.to;
		write_more(&g, g.n / 4);
		gt_ui_detach(&g.st.s);
		while (gt_reader_grow(g.st.reader, UINT64_MAX, &g.st.err) > 0)
			;
		CHECK(!gt_ui_reopen(&g.st.s, g.st.reader, &g.st.err));
		gt_ui_draw(&g.st.s, &g.st.screen);
		CHECK(gt_window_log2(w) >= gt_window_log2(&before));
		for (unsigned l = 0; l < 2; l++) {
			CHECK((y = line_of(&g.st, l ? "queue depth" : "pid 1")) > 0);
			for (unsigned i = 0;
				i < w->cells && gt_cell_start(w, i) < g.st.s.scene.extent.to; i++) {
				uint32_t have =
					g.st.screen.spots[(size_t)y * WIDTH + at.left + i].ch;

				CHECK(gt_cell_start(w, i + 1ll) <=
							gt_cell_start(&before,
								gt_window_column(&before, end - 1))
						? have != 0xb7
						: gt_cell_start(w, i) < end || have == 0xb7);
			}
		}
		end_growing(&g);
	}
}

/* Another view may have changed the time range or the size since the timeline was last drawn:
 * the timeline does not draw its old cells as if they belonged to the new range. */
static void what_was_seen_is_of_its_time(void)
{
	static const char *const scripts[] = { "2 w w w", "2 resize 300x100",
		"2 w w d d resize 90x60", "2 w resize 200x120 d" };

	for (unsigned k = 0; k < sizeof(scripts) / sizeof(*scripts); k++) {
		struct growing g;
		struct gt_screen now = { .ascii = false };
		struct gt_key one = { .key = '1' };

		begin_to_grow(&g, 70 + k, 4000, false, 60000);
		CHECK(play(&g.st, "") && play(&g.st, scripts[k]));
		write_more(&g, g.n / 5);
		gt_ui_detach(&g.st.s);
		while (gt_reader_grow(g.st.reader, UINT64_MAX, &g.st.err) > 0)
			;
		CHECK(!gt_ui_reopen(&g.st.s, g.st.reader, &g.st.err) &&
			!gt_ui_key(&g.st.s, one, &g.st.err));
		gt_ui_draw(&g.st.s, &now);
		CHECK(play(&g.st, "") && now.width == g.st.screen.width &&
			now.height == g.st.screen.height);
		for (size_t i = 0; i < (size_t)now.width * now.height; i++) {
			uint32_t was = now.spots[i].ch, is = g.st.screen.spots[i].ch;

			/* a bar with a rough value is dim; any other bar is exact or unknown */
			CHECK(was == is || was < 0x2581 || was > 0x2588 ||
				now.spots[i].look.paper >= GT_INK_CATEGORY ||
				g.st.screen.spots[i].look.paper >= GT_INK_CATEGORY);
		}
		gt_screen_release(&now);
		end_growing(&g);
	}
}

/* Every view, during a search or a report, before and after it was shown; and a view that is not
 * shown. */
static void every_view_grows(void)
{
	for (unsigned k = 0; k < GT_VIEWS_MOST && gt_views[k]; k++) {
		struct growing g;
		char turn[] = { (char)('1' + k), 0 };

		if (k > 8)
			break;
		begin_to_grow(&g, 40 + k, 2000, k % 2, 30000);
		CHECK(play(&g.st, "") && play(&g.st, turn));
		for (unsigned i = 0; g.at < g.n; i++) {
			struct key_script s = { .at = i % 2 ? "1" : turn };
			struct gt_key key;

			while (key_script_next(&s, &key) > 0)
				CHECK(!gt_ui_key(&g.st.s, key, &g.st.err));
			CHECK(gt_ui_step(&g.st.s, 1, &g.st.err) >= 0 && grows(&g, g.n / 6));
			CHECK(play(&g.st, turn));
			for (unsigned n = 0;
				k == 8 && n < 2 && !on_screen(&g.st, "flame graph of calls"); n++)
				/* which has it show its next picture */
				CHECK(play(&g.st, turn));
			CHECK(is_as_new(&g, turn, 0, HEIGHT));
		}
		gt_ui_detach(&g.st.s); /* and it may end there */
		end_growing(&g);
	}
}

/* During an export the program has work to do, but the displayed data is complete. */
static void the_display_is_complete_during_an_export(void)
{
	char file[] = "/tmp/gt-follow-XXXXXX", script[60];
	struct growing g;
	bool idle = false;
	int fd = mkstemp(file), rc;

	CHECK(fd >= 0);
	snprintf(script, sizeof(script), ": 'export! jsonl %s' Enter", file);
	begin_to_grow(&g, 3, 3000, false, 30000);
	CHECK(play(&g.st, "") && !g.st.s.busy);
	for (struct key_script s = { .at = script };;) {
		struct gt_key key;

		if (key_script_next(&s, &key) <= 0)
			break;
		CHECK(!gt_ui_key(&g.st.s, key, &g.st.err) && g.st.s.busy);
	}
	CHECK(g.st.s.export_job);
	while (g.st.s.export_job) {
		CHECK((rc = gt_ui_step(&g.st.s, 200, &g.st.err)) >= 0);
		idle |= rc == 1 && !g.st.s.busy;
	}
	CHECK(idle && grows(&g, g.n / 3));
	end_growing(&g);
	unlink(file);
	close(fd);
}

T_MAIN(T(what_has_grown_is_as_new), T(what_is_seen_of_it_is_as_new), T(lanes_stay_as_they_are),
	T(what_was_laid_out_stays), T(open_calls_stay_selected), T(holes_stay_selected),
	T(windows_stay_or_go_along), T(what_was_known_is_shown_meanwhile),
	T(what_was_seen_is_of_its_time), T(every_view_grows),
	T(the_display_is_complete_during_an_export))
