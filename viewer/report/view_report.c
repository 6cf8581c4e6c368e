/* Reports of gtanalyze as views, for the visible range. A background thread computes a report
 * (report_job.h); until it is ready the view shows the progress, never figures of another range.
 * For the page and its cursor see report_scroll.h, for drawing report_draw.h. */
#include <stdlib.h>
#include <string.h>
#include "viewer/view/view_common.h"
#include "viewer/report/report_draw.h"

#define SORTS 16u
#define REST_LINES 3u
#define LINES_SEARCHED 4000u /* lines that are searched in a few ms */

struct sort {
	const char *table;
	int column;
	bool descending;
};
struct report {
	const struct gt_analysis *what;
	struct gt_report_result *shown; /* in use; NULL: not available yet */
	struct gt_range range;          /* of the visible or requested report */
	unsigned percent;
	struct gt_report_scroll sheet; /* page and cursor */
	struct sort sorts[SORTS];      /* the user's choice; it also applies to the next range */
	unsigned nsorts;
	struct gt_report_jump *jump; /* search for the event of a row */
	/* when the report is ready, the cursor goes to the row of this time; from == to: none */
	struct gt_range to_row;
	struct gt_item_search *search; /* search in rows, or NULL */
	unsigned width, height, rest;  /* rest: lines for the rest of the cursor's row */
};

/* ---- open and close ---- */

static int report_open(struct gt_view *v, struct gt_err *err)
{
	struct report *r = v->state;

	r->what = gt_analysis_find(v->ops->name);
	return r->what && gt_scene_report_job(v->scene) ? 0
							: gt_err_set(err, -ENOMEM, "out of memory");
}

static void drop(struct gt_view *v)
{
	struct report *r = v->state;

	gt_report_page_release(&r->sheet.page);
	gt_report_job_release(r->shown);
	r->shown = NULL;
}

/* Keeps the sort orders. */
static void report_detach(struct gt_view *v)
{
	struct report *r = v->state;

	drop(v);
	gt_report_jump_free(r->jump);
	r->jump = NULL;
}

static void report_close(struct gt_view *v)
{
	struct report *r = v->state;

	report_detach(v);
	gt_item_search_free(r->search);
}

static bool shows_all(const struct report *r) { return r->range.from == INT64_MIN; }
static bool same_range(struct gt_range a, struct gt_range b)
{
	return a.from == b.from && a.to == b.to;
}

/* ---- the page ---- */

static void sort_again(struct report *r)
{
	for (unsigned i = 0; i < r->sheet.page.ntables; i++)
		for (unsigned k = 0; k < r->nsorts; k++)
			if (!strcmp(r->sorts[k].table,
				    gt_table_name(r->sheet.page.tables[i].table)))
				gt_report_page_sort(&r->sheet.page, i, r->sorts[k].column,
					r->sorts[k].descending);
}

/* The header shows only its notes: first if data are missing, else last. */
static unsigned skipped(const struct gt_report_result *r)
{
	unsigned n = 0;

	while (n < r->n && !strcmp(gt_table_name(r->tables[n]), "header"))
		n++;
	return n;
}

/* The gap that the user went to fills much of the visible range, so it is among the longest, which
 * come first: a search of the first lines finds it. */
static void go_to_row(const struct gt_scene *s, struct report *r)
{
	struct gt_range at;

	for (size_t i = 0;
		r->to_row.from != r->to_row.to && i < r->sheet.page.nlines && i < LINES_SEARCHED;
		i++) {
		int64_t row = gt_report_page_row(&r->sheet.page, i);

		if (row >= 0 &&
			gt_row_time(s, r->shown, gt_report_scroll_table(&r->sheet, i)->table,
				(uint32_t)row, &at) &&
			same_range(at, r->to_row)) {
			gt_report_scroll_to(&r->sheet, i);
			break;
		}
	}
	r->to_row.to = r->to_row.from;
}

static int lay(const struct gt_scene *s, struct report *r, struct gt_err *err)
{
	struct gt_trouble damage;
	const struct gt_report_page_line *l = gt_report_scroll_line(&r->sheet, r->sheet.cursor);
	uint32_t table = l ? l->table : 0;
	int64_t row = gt_report_page_row(&r->sheet.page, r->sheet.cursor);
	unsigned skip;
	int rc;

	if (!r->shown || r->shown->why[0])
		return 0;
	skip = skipped(r->shown);
	rc = gt_report_page_lay(&r->sheet.page, r->shown->tables + skip, r->shown->n - skip,
		r->shown->tables[0], s->lost || s->ntroubles || gt_scene_damage(s, 0, &damage),
		r->width, err);
	if (rc)
		return rc;
	sort_again(r);
	gt_report_scroll_to(&r->sheet, gt_report_page_line_of(&r->sheet.page, table, row));
	go_to_row(s, r);
	return 0;
}

/* ---- the visible report ---- */

/* Takes the report of the visible range, or requests it. 0 or negative. */
static int request_report(struct gt_view *v, struct gt_err *err)
{
	struct report *r = v->state;
	struct gt_range range = gt_scene_range(v->scene);
	int rc;

	if (r->shown && same_range(range, r->range))
		return 0;
	drop(v);
	r->range = range;
	rc = gt_report_job_take(v->scene->report_job, r->what, range, &r->shown, err);
	if (rc > 0)
		rc = lay(v->scene, r, err);
	gt_item_search_restart(r->search);
	return rc;
}

static int report_arrange(struct gt_view *v, unsigned width, unsigned height, struct gt_err *err)
{
	struct report *r = v->state;
	bool other = r->width != width;
	int rc;

	gt_view_common_arrange(v->scene, width, height);
	r->sheet.is_static = v->scene->is_static;
	r->width = width;
	r->height = height;
	r->rest = v->scene->is_static || height < 8 ? 0
		: height < 12                       ? 1
		: height < 20                       ? 2
						    : REST_LINES;
	r->sheet.body = height > r->rest + 2 ? height - r->rest - 2 : 1;
	rc = other ? lay(v->scene, r, err) : 0;
	if (!rc)
		rc = request_report(v, err);
	gt_report_scroll_update(&r->sheet);
	return rc;
}

static int step_jump(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct report *r = v->state;
	struct gt_event_ref found;
	int rc = gt_event_search_step(r->jump->search, us, err);

	if (rc)
		return rc;
	if (gt_event_search_result(r->jump->search, &found))
		gt_scene_show_row(v->scene, &found.lane, found.start, found.dur);
	else
		v->scene->message = "no event of this name begins in the visible time";
	gt_report_jump_free(r->jump);
	r->jump = NULL;
	return 0;
}

/* Moves the cursor to the requested match. */
static void select_match(struct gt_view *v)
{
	struct report *r = v->state;
	const struct gt_items items = gt_report_page_items(&r->sheet.page);
	size_t line = gt_item_search_next(r->search, &items, r->sheet.cursor, v->scene, true);

	if (line != SIZE_MAX)
		gt_report_scroll_to(&r->sheet, line);
}

static int step_search(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct report *r = v->state;
	const struct gt_items items = gt_report_page_items(&r->sheet.page);
	int rc = gt_item_search_step(r->search, &items, us, err);

	if (!rc)
		select_match(v);
	return rc;
}

static int report_step(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct report *r = v->state;
	int rc;

	if (r->jump)
		return step_jump(v, us, err);
	while (!r->shown) {
		rc = gt_report_job_wait(v->scene->report_job, us);
		r->percent = gt_report_job_percent(v->scene->report_job);
		if (rc)
			return 1;
		rc = request_report(v, err);
		if (rc < 0)
			return rc;
	}
	return step_search(v, us, err);
}

/* ---- keys ---- */

static void sort_by(struct report *r, unsigned shown)
{
	const struct gt_report_page_line *l = gt_report_scroll_line(&r->sheet, r->sheet.cursor);
	const struct gt_report_page_table *t = gt_report_scroll_table(&r->sheet, r->sheet.cursor);
	const struct gt_layout_column *columns;
	struct sort *s = r->sorts;
	unsigned n;

	if (!t || !t->layout)
		return;
	columns = gt_layout_columns(t->layout, &n);
	while (s < r->sorts + r->nsorts && strcmp(s->table, gt_table_name(t->table)))
		s++;
	if (shown >= n || s == r->sorts + SORTS)
		return;
	if (s == r->sorts + r->nsorts)
		*(r->sorts + r->nsorts++) = (struct sort){ gt_table_name(t->table), -1, false };
	s->descending = s->column == (int)columns[shown].column
		? !s->descending
		: !gt_table_is_text(t->table, columns[shown].column);
	s->column = (int)columns[shown].column;
	r->sheet.column = shown;
	gt_report_page_sort(&r->sheet.page, l->table, s->column, s->descending);
	/* the new first row is what the user wants to see */
	gt_report_scroll_to(&r->sheet, t->rows);
}

/* Shows the time of a row in the timeline, with marks around it, and the cursor on the row's track.
 */
static bool go_to_time(struct gt_scene *s, const struct gt_report_result *of,
	const struct gt_table *t, uint32_t row)
{
	uint32_t segment, track;
	struct gt_range at;

	if (!gt_row_time(s, of, t, row, &at))
		return false;
	gt_scene_show_range(s, at.from, at.to);
	if (gt_row_track(s, t, row, &segment, &track))
		gt_scene_show_track(s, segment, track);
	if (at.to > at.from)
		gt_marks_jump(&s->marks, at.from, at.to);
	return true;
}

/* Inside a gap there is no row. The cause of a gap is known at its end, so the whole gap becomes
 * visible. */
static void go_to_gap(struct gt_view *v)
{
	struct report *r = v->state;
	struct gt_scene *s = v->scene;
	struct gt_err err = GT_ERR_INIT;
	struct gt_range gap;
	int code = r->what->engine && !shows_all(r) ? gt_gap_around(s, &gap, &err) : 0;

	if (code > 0) {
		gt_window_show(&s->window, &s->extent, gap.from - 1, gap.to + 1);
		r->to_row = gap;
	}
	s->message = code > 0  ? "the whole gap around the visible time"
		: shows_all(r) ? "no row has a time"
			       : "no row has a time: s shows more time";
}

/* Goes to the time of the cursor's row, or to the event that it names. */
static void jump(struct gt_view *v)
{
	struct report *r = v->state;
	int64_t line = gt_report_page_row(&r->sheet.page, r->sheet.cursor);
	struct gt_err err = GT_ERR_INIT;
	const struct gt_table *t;
	uint32_t row = (uint32_t)line;
	char *name;

	if (line < 0) {
		if (r->shown)
			go_to_gap(v);
		return;
	}
	t = gt_report_scroll_table(&r->sheet, r->sheet.cursor)->table;
	if (go_to_time(v->scene, r->shown, t, row))
		return;
	name = gt_row_name(t, row);
	if (!name && gt_row_find_similar(v->scene, r->shown, &t, &row)) {
		go_to_time(v->scene, r->shown, t, row);
		return;
	}
	gt_report_jump_free(r->jump);
	r->jump = name ? gt_report_jump_new(v->scene, name, &err) : NULL;
	if (!r->jump)
		v->scene->message =
			name ? "out of memory" : "this row has no time and no event name";
	free(name);
}

static bool act_on_rows(struct report *r, const struct gt_binding *b)
{
	int64_t page = r->sheet.body > 1 ? r->sheet.body - 1 : 1;

	switch (b->action) {
	case GT_DO_LINE: gt_report_scroll_move(&r->sheet, b->arg); return true;
	case GT_DO_PAGE: gt_report_scroll_move(&r->sheet, b->arg * page); return true;
	case GT_DO_START:
	case GT_DO_TOP:
		gt_report_scroll_move(&r->sheet, INT32_MIN);
		r->sheet.top = 0;
		return true;
	case GT_DO_END:
	case GT_DO_BOTTOM: gt_report_scroll_move(&r->sheet, INT32_MAX); return true;
	case GT_DO_NEXT: gt_report_scroll_next_table(&r->sheet, b->arg); return true;
	case GT_DO_SORT: sort_by(r, r->sheet.column); return true;
	default: return false;
	}
}

/* Marks the time of the cursor's row, or its start. */
static void mark(struct gt_view *v, bool both)
{
	struct report *r = v->state;
	const struct gt_report_page_table *t = gt_report_scroll_table(&r->sheet, r->sheet.cursor);
	int64_t row = gt_report_page_row(&r->sheet.page, r->sheet.cursor);
	struct gt_range at;

	if (row < 0 || !gt_row_time(v->scene, r->shown, t->table, (uint32_t)row, &at)) {
		v->scene->message = "this row has no time to mark";
		return;
	}
	if (both)
		gt_marks_clear(&v->scene->marks);
	gt_marks_set(&v->scene->marks, at.from);
	if (both)
		gt_marks_set(&v->scene->marks, at.to);
	v->scene->message = both ? "marks set: the timeline (1) measures between them"
				 : "mark set: the timeline (1) shows it";
}

static void select_next_match(struct gt_view *v, int by)
{
	struct report *r = v->state;

	if (gt_item_search_request(r->search, v->scene, by) && r->shown &&
		gt_item_search_count_tried(r->search) == r->sheet.page.nrows)
		select_match(v);
}

/* Keys of search and marks; Esc only if there is a search. */
static bool act_on_search(struct gt_view *v, const struct gt_binding *b)
{
	struct report *r = v->state;

	switch (b->action) {
	case GT_DO_FOUND: select_next_match(v, b->arg); return true;
	case GT_DO_MARK: mark(v, false); return true;
	case GT_DO_MARK_BOTH: mark(v, true); return true;
	case GT_DO_ESCAPE:
		if (!r->search)
			return false;
		gt_item_search_start(&r->search, v->scene, "");
		return true;
	default: return false;
	}
}

/* ---- the mouse ---- */

static void point(struct report *r, struct gt_key k)
{
	size_t line = gt_report_scroll_line_at(&r->sheet, k.y);
	const struct gt_report_page_line *l = gt_report_scroll_line(&r->sheet, line);
	const struct gt_layout_column *columns;
	unsigned n = 0;

	if (!l)
		return;
	if (l->kind == GT_LINE_ROW)
		r->sheet.cursor = line;
	columns = r->sheet.page.tables[l->table].layout
		? gt_layout_columns(r->sheet.page.tables[l->table].layout, &n)
		: NULL;
	for (unsigned i = 0; i < n; i++)
		if (k.x + 1 >= (int)columns[i].at && k.x <= columns[i].at + columns[i].width) {
			r->sheet.column = i;
			if (l->kind == GT_LINE_TITLES &&
				gt_report_scroll_table(&r->sheet, r->sheet.cursor) !=
					&r->sheet.page.tables[l->table])
				r->sheet.cursor = r->sheet.page.tables[l->table].rows;
			if (l->kind == GT_LINE_TITLES)
				sort_by(r, i);
			break;
		}
}

static void report_act(struct gt_view *v, const struct gt_binding *b, struct gt_key k)
{
	struct report *r = v->state;
	bool mouse = k.key >= GT_KEY_PRESS && k.key <= GT_KEY_WHEEL_DOWN, jumps = r->jump;

	if (b->action == GT_DO_RELEASE)
		return;
	gt_report_jump_free(r->jump); /* a key cancels the search */
	r->jump = NULL;
	if (jumps && b->action == GT_DO_ESCAPE)
		return;
	if (b->action == GT_DO_POINT || b->action == GT_DO_POINT_FOLD)
		point(r, k);
	if (b->action == GT_DO_FOLD || b->action == GT_DO_SELECT ||
		(b->action == GT_DO_POINT_FOLD &&
			gt_report_page_row(
				&r->sheet.page, gt_report_scroll_line_at(&r->sheet, k.y)) >= 0))
		jump(v);
	else if (b->action == GT_DO_STEP)
		gt_report_scroll_step_column(&r->sheet, b->arg);
	else if (mouse && b->action == GT_DO_ZOOM)
		gt_report_scroll_slide(&r->sheet, -3 * b->arg);
	else if (!mouse && !act_on_rows(r, b) && !act_on_search(v, b))
		gt_view_common_act(v->scene, b);
}

static const char *report_answer(struct gt_view *v, enum gt_action requested, const char *text)
{
	struct report *r = v->state;

	/* the first match becomes visible when the search ends */
	if (requested == GT_DO_FIND)
		return gt_item_search_start(&r->search, v->scene, text);
	return gt_view_common_answer(v->scene, requested, text);
}

static bool report_is_searching(const struct gt_view *v)
{
	return ((const struct report *)v->state)->jump;
}

static void report_draw(const struct gt_view *v, struct gt_screen *to)
{
	const struct report *r = v->state;

	gt_report_draw(&(struct gt_report_picture){ .scene = v->scene,
			       .name = v->ops->name,
			       .sheet = &r->sheet,
			       .shown = r->shown,
			       .percent = r->percent,
			       .all = shows_all(r),
			       .gaps = r->what->engine,
			       .height = r->height,
			       .rest = r->rest,
			       .search = r->search,
			       .jump = r->jump },
		to);
}

static const struct gt_key_hint hints[] = {
	GT_KEY_HINT('?', "Help", 1),
	{ "Arrows", "Move", { .key = GT_KEY_NONE }, 3 },
	{ "Enter", "Show", { .key = GT_KEY_ENTER }, 2 },
	{ "Tab", "Next table", { .key = GT_KEY_TAB }, 4 },
	GT_KEY_HINT('o', "Sort", 3),
	GT_KEY_HINT('/', "Find", 5),
	GT_KEY_HINT('1', "Timeline", 1),
	GT_KEY_HINT('8', "Advice", 6),
	GT_KEY_HINT('q', "Quit", 1),
	{ .label = NULL },
};

/* clang-format off */
#define REPORTS(X) \
	X(top) X(kernels) X(streams) X(gaps) X(ioctls) X(memory) X(advice) X(steps) X(launches) \
	X(copies) X(queues)
/* clang-format on */
#define X(title)                                                                                   \
	const struct gt_view_ops gt_view_##title = {                                               \
		.name = #title,                                                                    \
		.hints = hints,                                                                    \
		.state_size = sizeof(struct report),                                               \
		.open = report_open,                                                               \
		.close = report_close,                                                             \
		.detach = report_detach,                                                           \
		.arrange = report_arrange,                                                         \
		.step = report_step,                                                               \
		.act = report_act,                                                                 \
		.answer = report_answer,                                                           \
		.is_searching = report_is_searching,                                               \
		.draw = report_draw,                                                               \
	};
REPORTS(X)
#undef X
