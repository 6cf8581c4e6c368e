/* Tables of reports in the viewer: the same figures as those of gtanalyze for the same time
 * range, whether the viewer waits or cancels; pages of tables, columns that are cut, sorting,
 * and jumps. */
#define _GNU_SOURCE
#include "tests/unit/viewer/view_stage.h"
#include <regex.h>
#include "viewer/report/report_jump.h"
#include "viewer/view/report_job.h"
#include "viewer/report/report_page.h"

static const char *const names[] = { "top", "kernels", "streams", "gaps", "ioctls", "memory",
	"advice" };
#define NAMES (sizeof(names) / sizeof(*names))
static const char *const two_boots[] = { "a", "b", NULL }, *const one_boot[] = { "a", NULL };

/* ---- the same figures ---- */

/* new */
static char *as_json(struct gt_table *const *tables, unsigned n)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_out out;
	char *text;

	gt_out_memory(&out);
	if (gt_tables_print(tables, n, GT_JSON, NULL, &out, &err))
		return NULL;
	text = strndup(out.data, out.len);
	gt_out_close(&out, &err);
	return text;
}

/* The output of gt_run for it: alone, on one thread, with the range by segment. The caller frees
 * it. */
static char *by_hand(struct stage *st, const struct gt_analysis *what, struct gt_range range)
{
	const struct gt_analysis *chosen[] = { gt_analyses[0], what };
	struct gt_table *tables[GT_RUN_TABLES];
	struct gt_range ranges[2];
	int64_t origins[2];
	struct gt_analysis_options o = { .file = "", .origins = origins };
	bool all = range.from == INT64_MIN;
	char *text;
	int n;

	for (uint32_t i = 0; i < gt_reader_segments(st->reader); i++) {
		int64_t offset = gt_archive_offset(st->s.scene.archive, i);

		origins[i] = gt_reader_segment(st->reader, i)->min_start;
		ranges[i] = (struct gt_range){ range.from + (all ? 0 : offset),
			range.to + (all ? 0 : offset) };
	}
	o.origin = origins[0];
	o.filter = (struct gt_filter){ .ranged = !all,
		.from = ranges[0].from,
		.to = ranges[0].to,
		.ranges = all ? NULL : ranges };
	o.restrictions = all ? NULL : "the visible range";
	n = gt_run(st->reader, chosen, 2, &o, 1, tables, &st->err);
	text = n < 0 ? NULL : as_json(tables, (unsigned)n);
	for (int i = 0; i < n; i++)
		gt_table_free(tables[i]);
	return text;
}

static struct gt_report_result *wait_for(struct gt_report_job *p, const struct gt_analysis *what,
	struct gt_range range, struct gt_err *err)
{
	struct gt_report_result *r = NULL;

	while (!gt_report_job_take(p, what, range, &r, err))
		gt_report_job_wait(p, 0);
	return r;
}

static bool same_report(struct stage *st, struct gt_report_job *p, const struct gt_analysis *what,
	struct gt_range range)
{
	struct gt_report_result *r = wait_for(p, what, range, &st->err);
	char *is = r ? as_json(r->tables, r->n) : NULL, *wanted = by_hand(st, what, range);
	bool same = is && wanted && !strcmp(is, wanted);

	if (!same)
		printf("%s: is %s, not %s\n", what->name, is ? is : "nothing",
			wanted ? wanted : "nothing");
	gt_report_job_release(r);
	free(is);
	free(wanted);
	return same;
}

static void figures_are_those_of_gtanalyze(const char *const *boots)
{
	struct gt_report_job *p;
	struct stage st;

	state = 11;
	stage_up(&st, boots, 1500, 80, 24);
	CHECK((p = gt_report_job_new(st.s.scene.archive, NULL)));
	for (unsigned i = 0; i < NAMES; i++) {
		const struct gt_time_extent *e = &st.s.scene.extent;
		int64_t length = e->to - e->from, from = e->from + below((uint32_t)length),
			to = from + 1 + below((uint32_t)length / 3);

		CHECK(same_report(&st, p, gt_analysis_find(names[i]),
			(struct gt_range){ INT64_MIN, INT64_MAX }));
		CHECK(same_report(
			&st, p, gt_analysis_find(names[i]), (struct gt_range){ from, to }));
		CHECK(same_report(&st, p, gt_analysis_find(names[i]),
			(struct gt_range){ e->to + 5, e->to + 6 }));
	}
	gt_report_job_free(p);
	strike(&st);
}

static void figures_of_one_recording(void) { figures_are_those_of_gtanalyze(one_boot); }
static void figures_of_two_recordings(void) { figures_are_those_of_gtanalyze(two_boots); }

/* ---- waiting and giving up ---- */

static void what_was_made_is_there_at_once(void)
{
	const struct gt_analysis *top = gt_analysis_find("top"), *gaps = gt_analysis_find("gaps");
	struct gt_range all = { INT64_MIN, INT64_MAX }, some = { 123456 + 1000, 123456 + 90000 };
	struct gt_report_result *a = NULL, *b = NULL;
	struct gt_report_job *p;
	struct stage st;

	state = 12;
	stage_up(&st, one_boot, 3000, 80, 24);
	CHECK((p = gt_report_job_new(st.s.scene.archive, NULL)));
	CHECK(!gt_report_job_take(p, top, all, &a, &st.err) && !a);
	for (unsigned i = 0; i < 30; i++) { /* another each time: those before are given up */
		some.to += 17;
		CHECK(!gt_report_job_take(p, i & 1 ? gaps : top, some, &a, &st.err) && !a);
		gt_report_job_wait(p, i * 20 + 1);
	}
	CHECK((a = wait_for(p, gaps, all, &st.err)) && !a->why[0] && a->n > 1);
	CHECK(gt_report_job_take(p, gaps, all, &b, &st.err) == 1 && b == a && a->users == 2);
	gt_report_job_release(b);
	/* it was made before it was given up */
	if (gt_report_job_take(p, top, all, &b, &st.err) == 1)
		gt_report_job_release(b);
	gt_report_job_cancel(p);
	gt_report_job_wait(p, 0);
	CHECK(same_report(&st, p, top, all));
	CHECK_EQ(gt_report_job_take(p, top, all, &b, &st.err), 1);
	gt_report_job_release(a);
	gt_report_job_release(b);
	/* and is freed while it is at work */
	CHECK(!gt_report_job_take(p, top, some, &b, &st.err));
	gt_report_job_free(p);
	strike(&st);
}

/* More tables than the cache keeps: a table that is in use stays unchanged. */
static void what_is_held_stays(void)
{
	const struct gt_analysis *top = gt_analysis_find("top");
	struct gt_report_result *held, *r;
	struct gt_report_job *p;
	struct stage st;
	char *before, *after;

	state = 13;
	stage_up(&st, one_boot, 300, 80, 24);
	CHECK((p = gt_report_job_new(st.s.scene.archive, NULL)));
	CHECK((held = wait_for(p, top, (struct gt_range){ INT64_MIN, INT64_MAX }, &st.err)));
	CHECK((before = as_json(held->tables, held->n)));
	for (int64_t i = 0; i < 40; i++) {
		CHECK((r = wait_for(p, top, (struct gt_range){ 1000, 2000 + i * 50 }, &st.err)));
		gt_report_job_release(r);
	}
	CHECK((after = as_json(held->tables, held->n)) && !strcmp(before, after));
	free(before);
	free(after);
	gt_report_job_release(held);
	gt_report_job_free(p);
	strike(&st);
}

/* ---- pages ---- */

static const struct gt_column columns[] = {
	{ "name", "Name", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "at_ns", "At", GT_C_TIME },
	{ "remedy", NULL, GT_C_TEXT },
};
#define COLUMNS 5

static struct gt_table *table_of(const char *title, unsigned rows)
{
	struct gt_table *t = gt_table_new("t", title, columns, COLUMNS);

	gt_table_set_hideable(t, "total_ns at_ns count");
	gt_table_note(t,
		"a note that is rather long, so that it does not fit into one line of a narrow screen");
	for (unsigned i = 0; i < rows; i++)
		gt_table_add(t,
			(struct gt_cell[COLUMNS]){
				{ .s = i % 2 ? "a-rather-long-name-of-an-operation" : "short" },
				{ .i = (int64_t)(i * 7 % 5) },
				{ .i = (int64_t)i * 1000, .absent = i == 3 },
				{ .i = (int64_t)i * 1000000007 }, { .s = "sleep" } });
	return t;
}

static void pages_have_each_row_once(void)
{
	struct gt_table *tables[] = { table_of("One", 9), table_of("None", 0), table_of("Two", 4) };
	struct gt_err err = GT_ERR_INIT;

	for (unsigned width = 1; width < 130; width++) {
		struct gt_report_page p = { .tables = NULL };
		unsigned rows = 0;

		CHECK(!gt_report_page_lay(&p, tables, 3, NULL, false, width, &err));
		for (size_t i = 0; i < p.nlines; i++)
			if (p.lines[i].kind == GT_LINE_ROW) {
				CHECK(gt_report_page_row(&p, i) == p.lines[i].at &&
					gt_report_page_line_of(
						&p, p.lines[i].table, p.lines[i].at) == i);
				CHECK(gt_report_page_next_row(&p, i, 1) > i
						? gt_report_page_next_row(&p,
							  gt_report_page_next_row(&p, i, 1),
							  -1) == i
						: rows == 12);
				rows++;
			}
		CHECK(rows == 13 && p.ntables == 3);
		gt_report_page_release(&p);
	}
	for (unsigned i = 0; i < 3; i++)
		gt_table_free(tables[i]);
}

static void sorting_keeps_ties_and_puts_absent_last(void)
{
	static const uint32_t by_count[] = { 2, 7, 4, 1, 6, 3, 8, 0, 5 },
			      by_total[] = { 8, 7, 6, 5, 4, 2, 1, 0, 3 };
	struct gt_table *t = table_of("One", 9);
	struct gt_err err = GT_ERR_INIT;
	struct gt_report_page p = { .tables = NULL };

	CHECK(!gt_report_page_lay(&p, &t, 1, NULL, false, 100, &err));
	CHECK(!gt_report_page_sort(&p, 0, 1, true) &&
		!memcmp(p.tables[0].order, by_count, sizeof(by_count)));
	CHECK(!gt_report_page_sort(&p, 0, 2, true) &&
		!memcmp(p.tables[0].order, by_total, sizeof(by_total)));
	CHECK(!gt_report_page_sort(&p, 0, 2, false) && p.tables[0].order[0] == 0 &&
		p.tables[0].order[8] == 3);
	CHECK(!gt_report_page_sort(&p, 0, 0, false) && p.tables[0].order[0] == 1 &&
		p.tables[0].order[4] == 0);
	CHECK(!gt_report_page_sort(&p, 0, -1, false) && p.tables[0].order[5] == 5);
	gt_report_page_release(&p);
	gt_table_free(t);
}

/* At any width: each cell is in its column, or in the text below the table. */
static void nothing_of_a_row_is_lost(void)
{
	struct gt_table *t = table_of("One", 3);
	struct gt_err err = GT_ERR_INIT;

	for (unsigned width = 20; width < 120; width += 3) {
		struct gt_report_page p = { .tables = NULL };
		struct gt_buf rest = { .len = 0 };
		unsigned n;
		const struct gt_layout_column *c;

		CHECK(!gt_report_page_lay(&p, &t, 1, NULL, false, width, &err));
		gt_report_page_rest(&p, 0, 1, width, &rest);
		c = gt_layout_columns(p.tables[0].layout, &n);
		for (unsigned i = 0; i < COLUMNS; i++) {
			char *text = gt_table_cell_text(t, 1, i);
			bool seen = strstr((char *)rest.data, text);

			for (unsigned k = 0; k < n; k++)
				seen |= c[k].column == i && c[k].at + c[k].width <= width &&
					!strcmp(gt_layout_cell(p.tables[0].layout, 1, k).text,
						text);
			CHECK(seen);
			free(text);
		}
		CHECK(strstr((char *)rest.data, "remedy: sleep"));
		CHECK(width > 40 || strstr((char *)rest.data, "Total: 1"));
		CHECK(width < 100 || !strstr((char *)rest.data, "Total: 1"));
		gt_buf_release(&rest);
		gt_report_page_release(&p);
	}
	gt_table_free(t);
}

/* ---- from rows to the timeline ---- */

static void rows_lead_to_their_time(void)
{
	const struct gt_analysis *what[] = { gt_analysis_find("gaps"), gt_analysis_find("streams"),
		gt_analysis_find("advice") };
	struct gt_report_job *p;
	unsigned found = 0;
	struct stage st;

	state = 14;
	stage_up(&st, two_boots, 800, 80, 24);
	p = gt_scene_report_job(&st.s.scene);
	for (unsigned k = 0; k < 3; k++) {
		struct gt_report_result *r =
			wait_for(p, what[k], (struct gt_range){ INT64_MIN, INT64_MAX }, &st.err);

		for (unsigned i = 0; r && i < r->n; i++)
			for (unsigned row = 0; row < gt_table_rows(r->tables[i]); row++) {
				int of = gt_table_column(r->tables[i], "recording"),
				    start = gt_table_column(r->tables[i], "start_ns");
				struct gt_range at;

				if (!gt_row_time(&st.s.scene, r, r->tables[i], row, &at))
					continue;
				found++;
				CHECK(at.from >= st.s.scene.extent.from &&
					at.to <= st.s.scene.extent.to && at.to >= at.from);
				if (start < 0 || of < 0)
					continue;
				of = (int)gt_table_cell(r->tables[i], row, (unsigned)of)->i;
				CHECK(at.from ==
					gt_table_cell(r->tables[i], row, (unsigned)start)->i +
						gt_reader_segment(st.reader, (uint32_t)of)
							->min_start -
						gt_archive_offset(
							st.s.scene.archive, (uint32_t)of));
			}
		gt_report_job_release(r);
	}
	CHECK(found > 20);
	strike(&st);
}

/* The current row, from the status line. */
static int row_at_hand(struct stage *st)
{
	int row = -1, y = line_of(st, "row ");

	return y >= 0 && sscanf(strstr(line(st, y), "row "), "row %d", &row) == 1 ? row : -1;
}

static void rows_are_looked_for(void)
{
	struct stage st;
	int first, second;

	state = 16;
	stage_up(&st, one_boot, 900, 120, 40);
	CHECK(play(&st, "2 n") && on_screen(&st, "no search is active"));
	CHECK(play(&st, "/ '^cu(Call|MemAlloc)$' Enter") &&
		on_screen(&st, "/^cu(Call|MemAlloc)$: 1 of 2"));
	first = row_at_hand(&st);
	CHECK(play(&st, "n") && on_screen(&st, ": 2 of 2"));
	second = row_at_hand(&st);
	CHECK(first > 0 && second > first);
	CHECK(play(&st, "n") && on_screen(&st, "search continued at the first match") &&
		play(&st, "w s") && row_at_hand(&st) == first && on_screen(&st, ": 1 of 2"));
	CHECK(play(&st, "N") && on_screen(&st, "search continued at the last match") &&
		play(&st, "k j") && on_screen(&st, ": 2 of 2"));
	/* however they are sorted */
	CHECK(play(&st, "o") && on_screen(&st, "of 2") && play(&st, "n n") && play(&st, "n"));
	CHECK(play(&st, "w w") && on_screen(&st, "/^cu(Call") && play(&st, "6") &&
		line_of(&st, "/^cu(Call") < 0 && play(&st, "2"));
	CHECK(play(&st, "Esc") && line_of(&st, "/^cu(Call") < 0 && on_screen(&st, "row "));
	CHECK(play(&st, "/ 'no such' Enter") && on_screen(&st, "no row matches 'no such'") &&
		play(&st, "k") && on_screen(&st, "/no such: 0 rows"));
	CHECK(play(&st, "/ '[' Enter") && on_screen(&st, "not a regular expression: ") &&
		play(&st, "/ Enter") && line_of(&st, "no such") < 0);
	CHECK(play(&st, "resize 50x20 / 'cuMem' Enter") && on_screen(&st, "/cuMem: 1 of"));
	strike(&st);
}

/* On pages of any width and order: the same rows, compared by the text of their cells. */
static void found_rows_against_all_cells(void)
{
	static const char *const expressions[] = { "name", "^1", "0$", "na?me [3-7]", "\\.",
		"^-$" };
	struct gt_table *tables[3] = { table_of("One", 30), table_of("Two", 0),
		table_of("Three", 200) };
	struct gt_err err = GT_ERR_INIT;
	struct gt_report_page p = { .tables = NULL };

	for (unsigned e = 0; e < 6; e++) {
		struct gt_item_search *f = NULL;
		struct gt_scene scene = { .message = NULL };
		struct gt_items items;
		size_t wanted = 0, at = 0, seen = 0;
		regex_t re;

		CHECK(!gt_item_search_start(&f, &scene, expressions[e]) && f);
		CHECK(!regcomp(&re, expressions[e], REG_EXTENDED | REG_NOSUB));
		CHECK(!gt_report_page_lay(&p, tables, 3, NULL, false, e % 2 ? 30 : 100, &err) &&
			!gt_report_page_sort(&p, 2, (int)e % 3, e & 1));
		items = gt_report_page_items(&p);
		CHECK_EQ(items.n, 230);
		while (gt_item_search_step(f, &items, 1, &err) > 0)
			CHECK(gt_item_search_count_tried(f) < items.n);
		CHECK_EQ(gt_item_search_count_tried(f), items.n);
		for (size_t l = 0; l < p.nlines; l++) {
			int64_t row = gt_report_page_row(&p, l);
			unsigned n = 0;
			bool has = false;

			for (unsigned c = 0;
				row >= 0 && gt_table_columns(tables[p.lines[l].table], &n) && c < n;
				c++) {
				char *text = gt_table_cell_text(
					tables[p.lines[l].table], (unsigned)row, c);

				has |= !regexec(&re, text, 0, NULL, 0);
				free(text);
			}
			CHECK(has == gt_item_search_has(f, items.item_at(&p, l)));
			wanted += has;
		}
		CHECK_EQ(gt_item_search_count(f), wanted);
		while (wanted && seen <= wanted) {
			if (seen)
				gt_item_search_request(f, &scene, 1);
			at = gt_item_search_next(f, &items, at, &scene, true);
			if (scene.message)
				break;
			seen++;
			CHECK_EQ(gt_item_search_rank(f, &items, at), seen);
		}
		CHECK_EQ(seen, wanted);
		gt_item_search_request(f, &scene, -1);
		CHECK((gt_item_search_next(f, &items, at, &scene, true) == SIZE_MAX) == !wanted);
		regfree(&re);
		gt_item_search_free(f);
		gt_report_page_release(&p);
	}
	for (unsigned i = 0; i < 3; i++)
		gt_table_free(tables[i]);
}

static void rows_are_marked(void)
{
	struct stage st;

	state = 15;
	stage_up(&st, one_boot, 900, 100, 30);
	CHECK(play(&st, "5") && on_screen(&st, "gaps  whole run") && play(&st, "Tab j j M") &&
		on_screen(&st, "marks set: the timeline (1) measures"));
	CHECK(st.s.scene.marks.n == 2 && st.s.scene.marks.at[0] < st.s.scene.marks.at[1] &&
		play(&st, "1") && on_screen(&st, "A-B "));
	CHECK(play(&st, "5 F") && line_of(&st, "whole run") < 0 && on_screen(&st, "gaps  ") &&
		gt_window_column(&st.s.scene.window, st.s.scene.marks.at[0]) >= 0);
	CHECK(gt_window_column(&st.s.scene.window, st.s.scene.marks.at[1]) -
			gt_window_column(&st.s.scene.window, st.s.scene.marks.at[0]) >
		30);
	CHECK(play(&st, "1 Esc Esc Esc 5 F") && on_screen(&st, "no marks: set them") &&
		play(&st, "r"));
	CHECK(play(&st, "2 m") && on_screen(&st, "has no time") && play(&st, "3 : 'mark' Enter") &&
		on_screen(&st, "has no time"));
	CHECK(play(&st, "9 m") &&
		on_screen(&st,
			"m (set mark A, then B, at event edges; measure) works in the timeline: press 1"));
	CHECK(play(&st, ": 'mark' Enter") && on_screen(&st, "mark TIME") && play(&st, "4 e") &&
		on_screen(&st, "works in the timeline: press 1"));
	CHECK(play(&st, "E") && on_screen(&st, "E (next or previous call that failed"));
	strike(&st);
}

static void stage_without_gpu(struct stage *st)
{
	int fd = temp_file();
	struct program p;

	begin(&p, dup(fd), "boot", 1000);
	put(&p, GT_CALL, p.threads[0], p.call, 1000, 2000, 0);
	CHECK(!gt_writer_close(p.w, &p.err));
	stage_open(st, fd, 100, 30);
}

/* Within a gap a table has no rows, and the view says so. */
static void without_rows_it_says_so(void)
{
	struct stage st;
	int64_t a, b;

	state = 15;
	stage_up(&st, one_boot, 900, 100, 30);
	CHECK(play(&st, "5") && play(&st, "Tab M F") && play(&st, "w w") &&
		on_screen(&st, "no GPU operation is in the selected time range"));
	CHECK(on_screen(&st, "the operation that ends a gap decides its cause") &&
		on_screen(&st, "no rows   Enter: the whole gap"));
	a = st.s.scene.marks.at[0], b = st.s.scene.marks.at[1];
	CHECK(gt_cell_start(&st.s.scene.window, 0) > a && gt_window_end(&st.s.scene.window) < b);
	CHECK(play(&st, "Enter") && !strcmp(st.s.view->ops->name, "gaps") &&
		on_screen(&st, "the whole gap"));
	CHECK(gt_cell_start(&st.s.scene.window, 0) < a && gt_window_end(&st.s.scene.window) > b &&
		b - a > gt_window_end(&st.s.scene.window) - b);
	gt_marks_clear(&st.s.scene.marks);
	/* the cursor is on it */
	CHECK(play(&st, "M") && st.s.scene.marks.at[0] == a && st.s.scene.marks.at[1] == b);
	CHECK(play(&st, "w w w") && play(&st, "s s s s") && line_of(&st, "no rows") < 0 &&
		on_screen(&st, "row "));
	CHECK(play(&st, "4 w w w w") && on_screen(&st, "no rows   s:") && play(&st, "Enter") &&
		on_screen(&st, "no row has a time: s shows"));
	strike(&st);
	stage_without_gpu(&st);
	CHECK(play(&st, "5") && on_screen(&st, "no rows   1: the timeline") && play(&st, "Enter") &&
		on_screen(&st, "no row has a time"));
	CHECK(line_of(&st, "s shows") < 0);
	strike(&st);
}

/* The time of a row is described with the figures and the name of the row's own lane, wherever
 * the cursor was, and whatever was folded. */
static void rows_lead_to_their_lane(void)
{
	struct stage st;

	state = 15;
	stage_up(&st, one_boot, 900, 100, 30);
	CHECK(play(&st, "k > z") && play(&st, "5") && play(&st, "Tab Enter") &&
		on_screen(&st, "  GPU 0: busy 0 ns (0%), 0 begin"));
	CHECK(play(&st, "< z r") && play(&st, "5") && play(&st, "Enter") &&
		on_screen(&st, "  GPU 0: busy 0 ns (0%), 0 begin"));
	CHECK(play(&st, "j j j j") && line_of(&st, "GPU 0: busy") < 0 && on_screen(&st, "A-B "));
	CHECK(play(&st, "r 4") && play(&st, "j Enter") && play(&st, "Esc") &&
		on_screen(&st, "GPU 0 > stream 7"));
	strike(&st);
}

static void enter_goes_to_the_timeline(void)
{
	int64_t from, to;
	struct stage st;

	state = 15;
	stage_up(&st, one_boot, 900, 100, 30);
	CHECK(play(&st, "2") && on_screen(&st, "top  whole run") && on_screen(&st, "cuCall") &&
		on_screen(&st, "row 1 of"));
	/* no title contains the folder */
	CHECK(strstr(line(&st, 0), "  trace.zst") && !strstr(line(&st, 0), "some/"));
	from = gt_cell_start(&st.s.scene.window, 0);
	CHECK(play(&st, "Enter") && !strcmp(st.s.view->ops->name, "timeline") &&
		on_screen(&st, "GPU 0") && on_screen(&st, "duration"));
	to = gt_window_end(&st.s.scene.window);
	CHECK(to - gt_cell_start(&st.s.scene.window, 0) < (st.s.scene.extent.to - from) / 4);
	CHECK(play(&st, "r 5") && on_screen(&st, "gaps  whole run") && play(&st, "Tab j j") &&
		play(&st, "Enter") && !strcmp(st.s.view->ops->name, "timeline"));
	CHECK(on_screen(&st, "A-B ")); /* which time that was */
	CHECK(!strncmp(line(&st, 0), "trace.zst  ", 11));
	/* a cause: its longest gap */
	CHECK(play(&st, "Esc Esc Esc r 5 Enter") && !strcmp(st.s.view->ops->name, "timeline") &&
		on_screen(&st, "A-B "));
	CHECK(play(&st, "r 8") && play(&st, "End Enter") &&
		!strcmp(st.s.view->ops->name, "advice") && on_screen(&st, "no event name"));
	CHECK(play(&st, "g 'nonsense' Enter") && on_screen(&st, "invalid time (examples: 1.5s"));
	CHECK(play(&st, "1 2 3 4 5 6 7 8") && on_screen(&st, "advice"));
	strike(&st);
}

static void tables_are_sorted_by_keys_and_clicks(void)
{
	struct stage st;
	int titles;
	char click[40];

	state = 16;
	stage_up(&st, one_boot, 900, 120, 30);
	CHECK(play(&st, "2") && (titles = line_of(&st, "Operation  ")) > 0);
	CHECK(play(&st, "l l o") && on_screen(&st, "by Calls, largest first"));
	CHECK(strstr(line(&st, titles + 1), " cuCall ") &&
		strstr(line(&st, titles + 2), " cuMemAlloc "));
	CHECK(play(&st, "o") && strstr(line(&st, titles + 1), " overhead ") &&
		strstr(line(&st, titles + 12), " cuCall "));
	snprintf(click, sizeof(click), "click 3,%d", titles);
	CHECK(play(&st, click) && on_screen(&st, "by Operation"));
	CHECK(play(&st, "w w") && on_screen(&st, "by Operation") && line_of(&st, "whole run") < 0);
	snprintf(click, sizeof(click), "double 3,%d", titles + 2);
	CHECK(play(&st, click) && !strcmp(st.s.view->ops->name, "timeline"));
	strike(&st);
}

/* Random keys, at all sizes, while reports are computed and cancelled. */
static void monkeys_break_nothing(void)
{
	static const char *const keys[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9", "j", "k",
		"h", "l", "o", "Tab", "S-Tab", "Enter", "Esc", "w", "s", "a", "d", "r", "b", "PgDn",
		"PgUp", "Home", "End", "<", ">", "click 5,3", "double 9,4", "click 20,2",
		"wheel-down 3,3", "wheel-up 3,3", "resize 40x10", "resize 7x3", "resize 1x1",
		"resize 120x40", "t" };
	const char *const *boots[] = { one_boot, two_boots };

	for (unsigned seed = 0; seed < 2; seed++) {
		struct stage st;

		state = 100 + seed;
		stage_up(&st, boots[seed], 400, 80, 24);
		for (unsigned i = 0; i < 700; i++) {
			const char *key = keys[below(sizeof(keys) / sizeof(*keys))];

			if (below(3)) { /* does not wait until all is found out */
				struct key_script s = { .at = key };
				struct gt_key k;

				while (key_script_next(&s, &k) > 0)
					CHECK(!gt_ui_key(&st.s, k, &st.err));
				CHECK(gt_ui_step(&st.s, 1 + below(300), &st.err) >= 0);
				gt_ui_draw(&st.s, &st.screen);
			} else {
				CHECK(play(&st, key));
			}
		}
		strike(&st);
	}
}

T_MAIN(T(figures_of_one_recording), T(figures_of_two_recordings), T(what_was_made_is_there_at_once),
	T(what_is_held_stays), T(pages_have_each_row_once),
	T(sorting_keeps_ties_and_puts_absent_last), T(nothing_of_a_row_is_lost),
	T(rows_lead_to_their_time), T(without_rows_it_says_so), T(rows_lead_to_their_lane),
	T(enter_goes_to_the_timeline), T(rows_are_looked_for), T(found_rows_against_all_cells),
	T(rows_are_marked), T(tables_are_sorted_by_keys_and_clicks), T(monkeys_break_nothing))
