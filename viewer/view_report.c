/* Reports of gtanalyze as views: the tables of one, of the stretch of time that is seen. A report reads the trace, which takes as long as
 * it takes, so a thread makes it (reporter.h), and until it is there the screen says how far it is: figures of another stretch of time are
 * never shown meanwhile. A line of the screen is a line of the page (page.h); the cursor goes from row to row, and what a row says that has
 * no room in its columns stands at the bottom. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "viewer/aside.h"
#include "viewer/expression.h"
#include "viewer/page.h"
#include "viewer/report_jump.h"
#include "viewer/row_finds.h"

#define SORTS 16u
#define REST_LINES 3u
#define LOOKED_AT 4000u		/* lines, in a few ms */

struct sort { const char *table; int column; bool descending; };
struct report {
	const struct gt_analysis *what;
	struct gt_reported *shown;	/* held; NULL: it is not there yet */
	struct gt_range range;		/* of what is shown, or made */
	bool asked;			/* for that range */
	unsigned percent;
	struct gt_page page;
	size_t top, cursor;		/* lines of it */
	unsigned column;		/* at hand, of those of the cursor's table that are shown */
	struct sort sorts[SORTS];	/* what was chosen; for the next range, too */
	unsigned nsorts;
	struct gt_jump *jump;		/* a row's name is looked for */
	struct gt_range to_row;		/* the cursor goes to the row of this time once it is there; from == to: to none */
	struct gt_row_finds *finds;	/* what is looked for in the rows, or NULL */
	int next;			/* when it is found: to the next one, or the one before; 0: nowhere */
	bool here;			/* the row at hand may be that one */
	bool still;			/* as of a scene */
	unsigned width, height, body, rest;	/* lines: of the page, from line 1 on; of what a row says besides */
};

/* ---- open and close ---- */

static int report_open(struct gt_view *v, struct gt_err *err)
{
	struct report *r = v->state;

	r->what = gt_analysis_find(v->ops->name);
	return r->what && gt_scene_reporter(v->scene) ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

static void drop(struct gt_view *v)
{
	struct report *r = v->state;

	gt_page_release(&r->page);
	gt_reporter_release(v->scene->reporter, r->shown);
	r->shown = NULL;
}

/* What it is sorted by is kept. */
static void report_let_go(struct gt_view *v)
{
	struct report *r = v->state;

	drop(v);
	gt_jump_free(r->jump);
	r->jump = NULL;
}

static void report_close(struct gt_view *v)
{
	struct report *r = v->state;

	report_let_go(v);
	gt_row_finds_free(r->finds);
}

static bool shows_all(const struct report *r) { return r->range.from == INT64_MIN; }
static bool same_range(struct gt_range a, struct gt_range b) { return a.from == b.from && a.to == b.to; }

/* ---- the page ---- */

static const struct gt_page_line *line_at(const struct report *r, size_t line)
{
	return line < r->page.nlines ? &r->page.lines[line] : NULL;
}

static const struct gt_page_table *table_at(const struct report *r, size_t line)
{
	const struct gt_page_line *l = line_at(r, line);

	return l ? &r->page.tables[l->table] : NULL;
}

/* How many titles stand at the top of the screen although their lines are above it. */
static unsigned kept_titles(const struct report *r, size_t top)
{
	const struct gt_page_table *t = table_at(r, top);
	unsigned n = t && t->laid ? gt_laid_title_lines(t->laid) : 0;

	return n && n + 1 < r->body && top > t->titles && gt_page_row(&r->page, top + n) >= 0 && table_at(r, top + n) == t ? n : 0;
}

/* The cursor is on the screen, with what stands above the first row of its table, if that can be. */
static void scroll(struct report *r)
{
	size_t n = r->page.nlines, body = r->body ? r->body : 1;

	if (r->still) {			/* there is no cursor: it begins at its beginning */
		r->top = 0;
		return;
	}
	if (r->cursor < n && gt_page_next_row(&r->page, r->cursor, -1) == r->cursor && r->cursor < body)
		r->top = 0;
	if (r->cursor >= r->top + body)
		r->top = r->cursor - body + 1;
	if (r->top + body > n)
		r->top = n > body ? n - body : 0;
	if (r->cursor < r->top)
		r->top = r->cursor;
	while (r->top && r->cursor < r->top + kept_titles(r, r->top))
		r->top--;
}

static void move_to_row(struct report *r, size_t line)
{
	r->cursor = line < r->page.nlines ? line : r->page.nlines ? r->page.nlines - 1 : 0;
	if (gt_page_row(&r->page, r->cursor) < 0)
		r->cursor = gt_page_next_row(&r->page, r->cursor, 1);
	if (gt_page_row(&r->page, r->cursor) < 0)
		r->cursor = gt_page_next_row(&r->page, r->cursor, -1);
	scroll(r);
}

static void sort_again(struct report *r)
{
	for (unsigned i = 0; i < r->page.ntables; i++)
		for (unsigned k = 0; k < r->nsorts; k++)
			if (!strcmp(r->sorts[k].table, gt_table_name(r->page.tables[i].table)))
				gt_page_sort(&r->page, i, r->sorts[k].column, r->sorts[k].descending);
}

/* Of the header only what it notes is shown: before all else when something is missing in the trace, else at the end. */
static unsigned skipped(const struct gt_reported *r)
{
	unsigned n = 0;

	while (n < r->n && !strcmp(gt_table_name(r->tables[n]), "header"))
		n++;
	return n;
}

/* A gap that was gone to is a good part of what is seen, so it is among the longest, which come first: not all rows are looked at. */
static void go_to_row(const struct gt_scene *s, struct report *r)
{
	struct gt_range at;

	for (size_t i = 0; r->to_row.from != r->to_row.to && i < r->page.nlines && i < LOOKED_AT; i++) {
		int64_t row = gt_page_row(&r->page, i);

		if (row >= 0 && gt_row_time(s, r->shown, table_at(r, i)->table, (uint32_t)row, &at) && same_range(at, r->to_row)) {
			move_to_row(r, i);
			break;
		}
	}
	r->to_row.to = r->to_row.from;
}

static int lay(const struct gt_scene *s, struct report *r, struct gt_err *err)
{
	struct gt_trouble damage;
	const struct gt_page_line *l = line_at(r, r->cursor);
	uint32_t table = l ? l->table : 0;
	int64_t row = gt_page_row(&r->page, r->cursor);
	unsigned skip;
	int rc;

	if (!r->shown || r->shown->why[0])
		return 0;
	skip = skipped(r->shown);
	rc = gt_page_lay(&r->page, r->shown->tables + skip, r->shown->n - skip, r->shown->tables[0],
			 s->lost || s->ntroubles || gt_scene_damage(s, 0, &damage), r->width, err);
	if (rc)
		return rc;
	sort_again(r);
	move_to_row(r, gt_page_line_of(&r->page, table, row));
	go_to_row(s, r);
	return 0;
}

/* ---- what is shown ---- */

/* Takes the report of the range that is seen, or has it made. 0 or negative. */
static int ask(struct gt_view *v, struct gt_err *err)
{
	struct report *r = v->state;
	struct gt_range range = gt_scene_range(v->scene);
	int rc;

	if (r->shown && same_range(range, r->range))
		return 0;
	drop(v);
	r->range = range;
	rc = gt_reporter_take(v->scene->reporter, r->what, range, &r->shown, err);
	r->asked = !rc;
	if (rc > 0)
		rc = lay(v->scene, r, err);
	return rc || !r->finds ? rc : gt_row_finds_begin(r->finds, &r->page, err);
}

static int report_arrange(struct gt_view *v, unsigned width, unsigned height, struct gt_err *err)
{
	struct report *r = v->state;
	bool other = r->width != width;
	int rc;

	gt_aside_arrange(v->scene, width, height);
	r->still = v->scene->still;
	r->width = width;
	r->height = height;
	r->rest = v->scene->still || height < 8 ? 0 : height < 12 ? 1 : height < 20 ? 2 : REST_LINES;
	r->body = height > r->rest + 2 ? height - r->rest - 2 : 1;
	rc = other ? lay(v->scene, r, err) : 0;
	if (!rc)
		rc = ask(v, err);
	scroll(r);
	return rc;
}

static int step_jump(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct report *r = v->state;
	struct gt_found found;
	int rc = gt_jump_step(r->jump, us, err);

	if (rc)
		return rc;
	if (gt_jump_found(r->jump, &found))
		gt_scene_pick(v->scene, &found.lane, found.start, found.dur);
	else
		v->scene->message = "no event of that name begins in the time that is seen";
	gt_jump_free(r->jump);
	r->jump = NULL;
	return 0;
}

/* What was asked for when it was not known yet. */
static void go_to_found(struct gt_view *v)
{
	struct report *r = v->state;
	bool around;
	size_t line = gt_row_finds_next(r->finds, &r->page, r->cursor, r->next, r->here, &around);

	if (line == SIZE_MAX)
		gt_scene_say(v->scene, "no row has '%.60s'", gt_row_finds_expression(r->finds));
	else
		move_to_row(r, line);
	if (line != SIZE_MAX && around)
		v->scene->message = r->next > 0 ? "behind the last one: the first one again" : "before the first one: the last one again";
	r->next = 0;
}

static int step_finds(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct report *r = v->state;
	int rc = gt_row_finds_step(r->finds, &r->page, us, err);

	if (!rc && r->next)
		go_to_found(v);
	return rc;
}

static int report_step(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct report *r = v->state;
	int rc;

	if (r->jump)
		return step_jump(v, us, err);
	while (!r->shown) {
		rc = gt_reporter_wait(v->scene->reporter, us);
		r->percent = gt_reporter_percent(v->scene->reporter);
		if (rc)
			return 1;
		rc = ask(v, err);
		if (rc < 0)
			return rc;
	}
	return r->finds ? step_finds(v, us, err) : 0;
}

/* ---- keys ---- */

static void sort_by(struct report *r, unsigned shown)
{
	const struct gt_page_line *l = line_at(r, r->cursor);
	const struct gt_page_table *t = table_at(r, r->cursor);
	const struct gt_laid_column *columns;
	struct sort *s = r->sorts;
	unsigned n;

	if (!t || !t->laid)
		return;
	columns = gt_laid_columns(t->laid, &n);
	while (s < r->sorts + r->nsorts && strcmp(s->table, gt_table_name(t->table)))
		s++;
	if (shown >= n || s == r->sorts + SORTS)
		return;
	if (s == r->sorts + r->nsorts)
		*(r->sorts + r->nsorts++) = (struct sort){ gt_table_name(t->table), -1, false };
	s->descending = s->column == (int)columns[shown].column ? !s->descending : !gt_table_is_text(t->table, columns[shown].column);
	s->column = (int)columns[shown].column;
	r->column = shown;
	gt_page_sort(&r->page, l->table, s->column, s->descending);
	move_to_row(r, t->rows);	/* what comes first now is what one wanted to see */
}

/* Marks show which time that is, and the cursor is on the lane that the row tells of, so that what is said of that time is said of that. */
static bool go_to_time(struct gt_scene *s, const struct gt_reported *of, const struct gt_table *t, uint32_t row)
{
	uint32_t segment, track;
	struct gt_range at;

	if (!gt_row_time(s, of, t, row, &at))
		return false;
	gt_scene_go(s, at.from, at.to);
	if (gt_row_track(s, t, row, &segment, &track))
		gt_scene_go_track(s, segment, track);
	if (at.to > at.from)
		gt_marks_jump(&s->marks, at.from, at.to);
	return true;
}

/* Within a gap there is no row: its cause is known where its end is seen, so that is where it goes. */
static void go_to_gap(struct gt_view *v)
{
	struct report *r = v->state;
	struct gt_scene *s = v->scene;
	struct gt_err err = GT_ERR_INIT;
	struct gt_range gap;
	int code = r->what->idle && !shows_all(r) ? gt_gap_around(s, &gap, &err) : 0;

	if (code > 0) {
		gt_window_show(&s->window, &s->extent, gap.from - 1, gap.to + 1);
		r->to_row = gap;
	}
	s->message = code > 0 ? "all of the gap that was seen" : shows_all(r) ? "there are no rows that lead anywhere" :
		     "there are no rows that lead anywhere: s shows more time";
}

/* To the time of the row at hand, or to what it names. */
static void jump(struct gt_view *v)
{
	struct report *r = v->state;
	int64_t line = gt_page_row(&r->page, r->cursor);
	struct gt_err err = GT_ERR_INIT;
	const struct gt_table *t;
	uint32_t row = (uint32_t)line;
	char *name;

	if (line < 0) {
		if (r->shown)
			go_to_gap(v);
		return;
	}
	t = table_at(r, r->cursor)->table;
	if (go_to_time(v->scene, r->shown, t, row))
		return;
	name = gt_row_name(t, row);
	if (!name && gt_row_like(v->scene, r->shown, &t, &row)) {
		go_to_time(v->scene, r->shown, t, row);
		return;
	}
	gt_jump_free(r->jump);
	r->jump = name ? gt_jump_new(v->scene, name, &err) : NULL;
	if (!r->jump)
		v->scene->message = name ? "out of memory" : "this row tells no time, and names nothing that has one";
	free(name);
}

static void move_rows(struct report *r, int64_t by)
{
	for (size_t at = r->cursor, next; by; by += by > 0 ? -1 : 1, at = next) {
		next = gt_page_next_row(&r->page, at, by > 0 ? 1 : -1);
		r->cursor = next;
		if (next == at)
			break;
	}
	scroll(r);
}

/* Without rows, or with the wheel, the page moves as such. */
static void move_page(struct report *r, int64_t by)
{
	int64_t top = (int64_t)r->top + by, most = (int64_t)r->page.nlines - r->body;

	top = top > most ? most : top;
	r->top = top < 0 ? 0 : (size_t)top;
	if (r->cursor < r->top + kept_titles(r, r->top))
		r->cursor = gt_page_next_row(&r->page, r->top + kept_titles(r, r->top) - 1, 1);
	if (r->cursor >= r->top + r->body)
		r->cursor = gt_page_next_row(&r->page, r->top + r->body, -1);
}

static void next_table(struct report *r, int by)
{
	const struct gt_page_line *l = line_at(r, r->cursor);
	int64_t i = l ? l->table : 0;

	for (i += by; i >= 0 && i < r->page.ntables; i += by)
		if (r->page.tables[i].order) {
			r->top = r->page.tables[i].rows;
			while (r->top && r->page.lines[r->top - 1].table == i && r->page.lines[r->top - 1].kind != GT_LINE_BLANK)
				r->top--;	/* with its title */
			r->cursor = r->page.tables[i].rows;
			r->column = 0;
			scroll(r);
			return;
		}
}

static bool act_on_rows(struct report *r, const struct gt_binding *b)
{
	int64_t page = r->body > 1 ? r->body - 1 : 1;

	switch (b->action) {
	case GT_DO_LINE: move_rows(r, b->arg); return true;
	case GT_DO_PAGE: move_rows(r, b->arg * page); return true;
	case GT_DO_START:
	case GT_DO_TOP: move_rows(r, INT32_MIN); r->top = 0; return true;
	case GT_DO_END:
	case GT_DO_BOTTOM: move_rows(r, INT32_MAX); return true;
	case GT_DO_NEXT: next_table(r, b->arg); return true;
	case GT_DO_SORT: sort_by(r, r->column); return true;
	default: return false;
	}
}

/* The time of the row at hand becomes that between the marks, or one of them. */
static void mark(struct gt_view *v, bool both)
{
	struct report *r = v->state;
	const struct gt_page_table *t = table_at(r, r->cursor);
	int64_t row = gt_page_row(&r->page, r->cursor);
	struct gt_range at;

	if (row < 0 || !gt_row_time(v->scene, r->shown, t->table, (uint32_t)row, &at)) {
		v->scene->message = "this row tells no time that could be marked";
		return;
	}
	if (both)
		gt_marks_clear(&v->scene->marks);
	gt_marks_set(&v->scene->marks, at.from);
	if (both)
		gt_marks_set(&v->scene->marks, at.to);
	v->scene->message = both ? "marked: the timeline (1) says what is between" : "marked: the timeline (1) shows it";
}

static void next_found(struct gt_view *v, int by)
{
	struct report *r = v->state;

	r->here = false;
	r->next = r->finds ? by : 0;
	if (!r->finds)
		v->scene->message = "nothing is looked for: / does that";
	else if (r->shown && gt_row_finds_all(r->finds))
		go_to_found(v);
}

/* What has to do with what is looked for and marked; Esc only if something is. */
static bool act_on_finds(struct gt_view *v, const struct gt_binding *b)
{
	struct report *r = v->state;

	switch (b->action) {
	case GT_DO_FOUND: next_found(v, b->arg); return true;
	case GT_DO_MARK: mark(v, false); return true;
	case GT_DO_MARK_BOTH: mark(v, true); return true;
	case GT_DO_ESCAPE:
		if (!r->finds)
			return false;
		gt_row_finds_free(r->finds);
		r->finds = NULL;
		return true;
	default: return false;
	}
}

static void step_column(struct report *r, int by)
{
	const struct gt_page_table *t = table_at(r, r->cursor);
	int64_t to = (int64_t)r->column + (by > 0 ? 1 : -1);
	unsigned n = 0;

	if (t && t->laid)
		gt_laid_columns(t->laid, &n);
	r->column = to < 0 || !n ? 0 : to >= n ? n - 1 : (unsigned)to;
}

/* ---- the mouse ---- */

/* The line of the page that is drawn there, or SIZE_MAX. */
static size_t line_on(const struct report *r, int y)
{
	size_t i = y < 1 ? SIZE_MAX : (size_t)y - 1;
	unsigned kept = kept_titles(r, r->top);

	if (i >= r->body || r->top + i >= r->page.nlines)
		return SIZE_MAX;
	return i < kept ? table_at(r, r->top)->titles + i : r->top + i;
}

static void point(struct report *r, struct gt_key k)
{
	size_t line = line_on(r, k.y);
	const struct gt_page_line *l = line_at(r, line);
	const struct gt_laid_column *columns;
	unsigned n = 0;

	if (!l)
		return;
	if (l->kind == GT_LINE_ROW)
		r->cursor = line;
	columns = r->page.tables[l->table].laid ? gt_laid_columns(r->page.tables[l->table].laid, &n) : NULL;
	for (unsigned i = 0; i < n; i++)
		if (k.x + 1 >= (int)columns[i].at && k.x <= columns[i].at + columns[i].width) {
			r->column = i;
			if (l->kind == GT_LINE_TITLES && table_at(r, r->cursor) != &r->page.tables[l->table])
				r->cursor = r->page.tables[l->table].rows;
			if (l->kind == GT_LINE_TITLES)
				sort_by(r, i);
			break;
		}
}

static enum gt_view_result report_act(struct gt_view *v, const struct gt_binding *b, struct gt_key k)
{
	struct report *r = v->state;
	bool mouse = k.key >= GT_KEY_PRESS && k.key <= GT_KEY_WHEEL_DOWN, jumps = r->jump;

	if (b->action == GT_DO_RELEASE)
		return GT_VIEW_PASS;
	gt_jump_free(r->jump);		/* whoever presses a key does not wait any more */
	r->jump = NULL;
	if (jumps && b->action == GT_DO_ESCAPE)
		return GT_VIEW_DONE;
	if (b->action == GT_DO_POINT || b->action == GT_DO_POINT_FOLD)
		point(r, k);
	if (b->action == GT_DO_FOLD || b->action == GT_DO_SELECT || (b->action == GT_DO_POINT_FOLD && gt_page_row(&r->page, line_on(r, k.y)) >= 0))
		jump(v);
	else if (b->action == GT_DO_STEP)
		step_column(r, b->arg);
	else if (mouse && b->action == GT_DO_ZOOM)
		move_page(r, -3 * b->arg);
	else if (!mouse && !act_on_rows(r, b) && !act_on_finds(v, b))
		return gt_aside_act(v->scene, b);
	return GT_VIEW_DONE;
}

/* Where it is found first is seen when it was looked for. */
static const char *find(struct gt_view *v, const char *expression)
{
	struct report *r = v->state;
	struct gt_err err = GT_ERR_INIT;

	gt_row_finds_free(r->finds);
	r->finds = *expression ? gt_row_finds_new(expression, &err) : NULL;
	if (r->finds && r->shown)
		gt_row_finds_begin(r->finds, &r->page, &err);
	r->next = 1;
	r->here = true;
	if (err.code)
		gt_scene_say(v->scene, "%s", err.text);
	return v->scene->message;
}

static const char *report_answer(struct gt_view *v, enum gt_action asked, const char *text)
{
	if (asked == GT_DO_FIND)
		return find(v, text);
	return gt_aside_answer(v->scene, asked, text);
}

static bool report_looks(const struct gt_view *v) { return ((const struct report *)v->state)->jump; }

/* ---- drawing ---- */

#define LOOK(ink, style) ((struct gt_look){ ink, GT_INK_NONE, style })

static struct gt_look look_of(enum gt_tone tone)
{
	static const uint8_t inks[GT_TONES] = {
		[GT_TONE_NONE] = GT_INK_TEXT, [GT_TONE_HEADING] = GT_INK_TITLE, [GT_TONE_NOTE] = GT_INK_FAINT, [GT_TONE_GOOD] = GT_INK_TEXT,
		[GT_TONE_DOUBT] = GT_INK_WARN, [GT_TONE_BAD] = GT_INK_ERROR, [GT_TONE_COMPUTE] = GT_INK_CATEGORY + GT_CAT_KERNEL,
		[GT_TONE_COMMUNICATION] = GT_INK_COMM, [GT_TONE_COPY] = GT_INK_CATEGORY + GT_CAT_COPY, [GT_TONE_IDLE] = GT_INK_FAINT,
		[GT_TONE_MARKS] = GT_INK_TEXT,
	};

	return LOOK(inks[tone], 0);
}

static void draw_titles(const struct report *r, struct gt_screen *to, int y, uint32_t table, unsigned line, bool at_hand)
{
	const struct gt_page_table *t = &r->page.tables[table];
	unsigned n;
	const struct gt_laid_column *c = gt_laid_columns(t->laid, &n);

	for (unsigned i = 0; i < n; i++) {
		size_t len;
		const char *title = gt_laid_title(t->laid, i, line, &len);
		struct gt_look look = LOOK(GT_INK_TITLE, GT_BOLD | (at_hand && i == r->column ? GT_REVERSE : 0));
		int x = (int)(c[i].at + (c[i].left || len > c[i].width ? 0 : c[i].width - len));

		if (t->sorted == (int)c[i].column)
			look.style |= GT_UNDERLINE;
		gt_screen_printf(to, x, y, -1, look, "%.*s", (int)len, title);
	}
}

/* A figure that is cut would be a wrong one: what has no room for all of it is left out, and it is marked that there is more. */
static void draw_row(const struct report *r, struct gt_screen *to, int y, size_t line)
{
	const struct gt_page_table *t = table_at(r, line);
	uint32_t row = (uint32_t)gt_page_row(&r->page, line);
	bool found = r->finds && gt_row_finds_has(r->finds, &r->page, line);
	unsigned n;
	const struct gt_laid_column *c = gt_laid_columns(t->laid, &n);

	for (unsigned i = 0; i < n; i++) {
		struct gt_laid_cell cell = gt_laid_cell(t->laid, row, i);
		struct gt_look look;
		unsigned x = c[i].at + (c[i].left || cell.width > c[i].width ? 0 : c[i].width - cell.width);

		if (x + cell.width > to->width && !gt_table_is_text(t->table, c[i].column)) {
			gt_screen_put(to, (int)to->width - 1, y, 0x2026, LOOK(GT_INK_FAINT, 0));
			break;
		}
		look = look_of(cell.tone);
		if (found && gt_row_finds_is_in(r->finds, cell.text))
			look.paper = GT_INK_FOUND;
		gt_screen_text(to, (int)x, y, -1, cell.text, look);
	}
}

static void draw_line(const struct gt_view *v, struct gt_screen *to, int y, size_t line)
{
	const struct report *r = v->state;
	const struct gt_page_line *l = &r->page.lines[line];
	const struct gt_page_line *cursor = line_at(r, r->cursor);
	const char *text = (const char *)r->page.texts.data + l->at;

	switch (l->kind) {
	case GT_LINE_HEADING: gt_screen_text(to, 0, y, -1, text, LOOK(GT_INK_TITLE, GT_BOLD)); break;
	case GT_LINE_WORDS:
		gt_screen_text(to, 0, y, -1, text, strstr(text, "cannot answer") ? LOOK(GT_INK_WARN, 0) : LOOK(GT_INK_FAINT, 0));
		break;
	case GT_LINE_TITLES: draw_titles(r, to, y, l->table, l->at, !v->scene->still && cursor && cursor->table == l->table); break;
	case GT_LINE_ROW:
		draw_row(r, to, y, line);
		if (line == r->cursor && !v->scene->still)
			gt_screen_style(to, 0, y, (int)to->width, 1, GT_REVERSE);
		break;
	default: break;
	}
}

static void draw_page(const struct gt_view *v, struct gt_screen *to)
{
	const struct report *r = v->state;

	for (unsigned i = 0; i < r->body; i++) {
		size_t line = line_on(r, (int)i + 1);

		if (line != SIZE_MAX)
			draw_line(v, to, (int)i + 1, line);
	}
}

static void draw_waiting(const struct gt_view *v, struct gt_screen *to)
{
	const struct report *r = v->state;

	if (r->percent)
		gt_screen_printf(to, 1, 2, -1, LOOK(GT_INK_FAINT, 0), "reading ... %u %%", r->percent);
	else
		gt_screen_text(to, 1, 2, -1, "reading ...", LOOK(GT_INK_FAINT, 0));
}

static void draw_rest(const struct report *r, struct gt_screen *to)
{
	const struct gt_page_line *l = line_at(r, r->cursor);
	int64_t row = gt_page_row(&r->page, r->cursor);
	struct gt_buf text = { .len = 0 };
	int y = (int)(r->height - 1 - r->rest);

	if (row < 0 || !r->rest)
		return;
	gt_page_rest(&r->page, l->table, (uint32_t)row, r->width, &text);
	if (!text.failed)
		gt_screen_lines(to, 0, y, r->width, r->rest, (char *)text.data, LOOK(GT_INK_AXIS, 0));
	gt_buf_release(&text);
}

/* "/cuMem.*: 3 of 17" */
static int draw_finds(const struct report *r, struct gt_screen *to, int x, int y)
{
	const struct gt_look look = { GT_INK_TEXT, GT_INK_FOUND, 0 };
	const char *expression = gt_row_finds_expression(r->finds);
	int len = gt_expression_brief(expression);
	size_t rank, n = gt_row_finds_count(r->finds, &r->page, r->cursor, &rank);

	if (!gt_row_finds_all(r->finds))
		return gt_screen_printf(to, x, y, -1, look, " /%.*s: %zu so far ", len, expression, n);
	if (rank)
		return gt_screen_printf(to, x, y, -1, look, " /%.*s: %zu of %zu ", len, expression, rank, n);
	return gt_screen_printf(to, x, y, -1, look, " /%.*s: %zu row%s ", len, expression, n, n == 1 ? "" : "s");
}

static void draw_status(const struct gt_view *v, struct gt_screen *to)
{
	const struct report *r = v->state;
	const struct gt_page_table *t = table_at(r, r->cursor);
	int y = (int)r->height - 1, x;
	unsigned n;

	if (r->jump) {
		gt_screen_printf(to, 0, y, -1, LOOK(GT_INK_TITLE, 0), "looking for the first one ... %u %%", gt_jump_percent(r->jump));
		return;
	}
	if (!t || !t->order) {
		if (!v->scene->still)
			gt_screen_printf(to, 0, y, -1, LOOK(GT_INK_FAINT, 0), "no rows   %s%s1: the timeline   ?: keys",
					 shows_all(r) || !r->what->idle ? "" : "Enter: all of the gap   ", shows_all(r) ? "" : "s: more time   ");
		return;
	}
	if (v->scene->still) {
		gt_screen_printf(to, 0, y, -1, LOOK(GT_INK_FAINT, 0), "lines %zu to %zu of %zu", r->top + 1,
				 r->top + r->body < r->page.nlines ? r->top + r->body : r->page.nlines, r->page.nlines);
		return;
	}
	x = gt_screen_printf(to, 0, y, -1, LOOK(GT_INK_FAINT, 0), "row %zu of %u", r->cursor - t->rows + 1, gt_table_rows(t->table));
	if (t->sorted >= 0)
		x += gt_screen_printf(to, x, y, -1, LOOK(GT_INK_FAINT, 0), ", by %s%s", gt_table_columns(t->table, &n)[t->sorted].title,
				      t->descending ? ", largest first" : "");
	if (r->finds)
		x += 2 + draw_finds(r, to, x + 2, y);
	gt_screen_text(to, x, y, -1, "   Enter: in the timeline   o: sort   ?: keys", LOOK(GT_INK_FAINT, 0));
}

static void report_draw(const struct gt_view *v, struct gt_screen *to)
{
	const struct report *r = v->state;

	gt_screen_clear(to);
	if (!r->shown)
		draw_waiting(v, to);
	else if (r->shown->why[0])
		gt_screen_printf(to, 1, 2, -1, LOOK(GT_INK_ERROR, 0), "cannot answer: %s", r->shown->why);
	else
		draw_page(v, to);
	if (r->height > 1)
		gt_aside_draw_top(v->scene, v->ops->name, to);
	if (r->height > 2 && r->shown) {
		if (!v->scene->still)
			draw_rest(r, to);
		draw_status(v, to);
	}
}

#define REPORTS(X) \
	X(top, "time by name") X(kernels, "kernels, how long they take and wait") X(streams, "GPUs and their streams") \
	X(gaps, "why GPUs are idle") X(ioctls, "ioctls by name") X(memory, "what is allocated") X(advice, "what could be won") \
	X(steps, "how long steps take, and what they are made of") X(launches, "what launching costs") X(copies, "copies and their bandwidth") \
	X(queues, "how many launches wait")
#define X(title, words) \
	const struct gt_view_ops gt_view_##title = { \
		.name = #title, .help = words, .state_size = sizeof(struct report), .open = report_open, .close = report_close, \
		.let_go = report_let_go, .arrange = report_arrange, .step = report_step, .act = report_act, .answer = report_answer, \
		.looks = report_looks, .draw = report_draw, \
	};
REPORTS(X)
#undef X
