/* What keys and the mouse do in the timeline. */
#include "viewer/timeline/view_timeline_internal.h"

static void step_columns(struct gt_view *v, int by)
{
	struct timeline *t = v->state;
	int64_t to = (int64_t)t->column + by, last = t->at.cells - 1;

	if (to < 0 || to > last)
		gt_window_pan(&v->scene->window, &v->scene->extent, to < 0 ? to : to - last);
	t->column = to < 0 ? 0 : to > last ? (unsigned)last : (unsigned)to;
}

static void zoom(struct gt_view *v, int steps, struct gt_key k)
{
	struct timeline *t = v->state;
	bool mouse = k.key >= GT_KEY_PRESS && k.key <= GT_KEY_WHEEL_DOWN;
	int64_t time = gt_timeline_cursor_time(v),
		at = mouse ? (int64_t)k.x - t->at.left : t->column;

	gt_window_zoom(&v->scene->window, &v->scene->extent, steps, at < 0 ? 0 : at);
	if (!mouse)
		gt_window_goto(&v->scene->window, &v->scene->extent, time, at);
	gt_timeline_put_cursor(v, time);
}

void gt_timeline_go_to(struct gt_view *v, int64_t time)
{
	struct timeline *t = v->state;

	gt_window_goto(&v->scene->window, &v->scene->extent, time, t->at.cells / 2);
	gt_timeline_put_cursor(v, time);
}

void gt_timeline_follow_selection(struct gt_view *v)
{
	struct timeline *t = v->state;
	const struct gt_cell_window *w = &v->scene->window;
	int64_t from, to;

	if (!t->lanes.n ||
		!gt_interaction_take_jump(&t->desk, &t->cursor_line, &t->cursor_line, &from, &to))
		return;
	t->relist = t->touched = true;
	if (from >= gt_window_end(w) || (to <= gt_cell_start(w, 0) && from < gt_cell_start(w, 0)))
		gt_timeline_go_to(v, from);
	else
		gt_timeline_put_cursor(v, from);
}

static void move_cursor(struct timeline *t, int64_t by)
{
	int64_t to = (int64_t)t->cursor + by;

	t->cursor = to < 0 ? 0 : (size_t)to;
	gt_timeline_scroll(t);
}

/* Returns the line itself if it can be folded, else the line above it. */
static void fold(struct timeline *t)
{
	const struct gt_lane_line *line = &t->lanes.lines[t->cursor], *up = line;

	while (!up->is_foldable && up > t->lanes.lines &&
		(up == line || up->indent >= line->indent))
		up--;
	if (!up->is_foldable)
		return;
	gt_lanes_fold(&t->lanes, up, !up->folded);
	t->cursor_line = *up;
}

static void hide(struct timeline *t)
{
	struct gt_lane_line next = t->lanes.lines[t->cursor + 1 < t->lanes.n ? t->cursor + 1
			: t->cursor                                          ? t->cursor - 1
									     : 0];

	if (gt_lanes_hide(&t->lanes, &t->cursor_line))
		t->cursor_line = next;
}

static bool act_on_lanes(struct timeline *t, const struct gt_binding *b)
{
	if (!t->lanes.n && b->action != GT_DO_SHOW_HIDDEN)
		return false;
	switch (b->action) {
	case GT_DO_SELECT:
		if (!t->cursor_line.is_foldable)
			return false;
		fold(t);
		break;
	case GT_DO_FOLD: fold(t); break;
	case GT_DO_FOLD_ALL: gt_lanes_fold_all(&t->lanes, b->arg); break;
	case GT_DO_HIDE: hide(t); break;
	case GT_DO_SHOW_HIDDEN: gt_lanes_show_hidden(&t->lanes); break;
	case GT_DO_MOVE: gt_lanes_move(&t->lanes, &t->cursor_line, b->arg); break;
	default: return false;
	}
	t->relist = t->touched = true;
	return true;
}

static bool act_on_cursor(struct timeline *t, const struct gt_binding *b)
{
	switch (b->action) {
	case GT_DO_LINE: move_cursor(t, b->arg); return true;
	case GT_DO_PAGE:
		move_cursor(t, (int64_t)b->arg * (t->at.nlanes > 1 ? t->at.nlanes - 1 : 1));
		return true;
	case GT_DO_TOP: move_cursor(t, INT32_MIN); return true;
	case GT_DO_BOTTOM: move_cursor(t, INT32_MAX); return true;
	default: return false;
	}
}

/* The time between the marks exactly; a selection with a margin of a quarter on each side. */
static void show_range(struct gt_scene *s, int64_t from, int64_t to)
{
	int64_t a, b, margin = gt_marks_between(&s->marks, &a, &b) ? 0 : (to - from) / 4;

	gt_window_show(&s->window, &s->extent, from - margin, to + margin);
}

static bool act_on_time(struct gt_view *v, const struct gt_binding *b, struct gt_key k)
{
	struct timeline *t = v->state;
	struct gt_scene *s = v->scene;
	int64_t time = gt_timeline_cursor_time(v), cells = (int64_t)t->at.cells * b->arg / 8,
		from = 0, to = 0;

	switch (b->action) {
	case GT_DO_STEP: step_columns(v, b->arg); return true;
	case GT_DO_PAN: gt_window_pan(&s->window, &s->extent, cells ? cells : b->arg); return true;
	case GT_DO_ZOOM: zoom(v, b->arg, k); return true;
	case GT_DO_FIT:
		if (!b->arg)
			gt_window_fit(&s->window, &s->extent);
		else if (gt_interaction_range(&t->desk, &from, &to))
			show_range(s, from, to > from ? to : from + 1);
		gt_timeline_put_cursor(v, b->arg && from < to ? from : time);
		return true;
	case GT_DO_START: gt_timeline_go_to(v, s->extent.from); return true;
	case GT_DO_END: gt_timeline_go_to(v, s->extent.to - 1); return true;
	default: return false;
	}
}

/* ---- the mouse ---- */

static bool is_on_map(const struct timeline *t, struct gt_key k)
{
	return k.x >= t->at.left && k.y < t->at.axis && (k.y == t->at.map || k.y == t->at.bracket);
}

static void go_by_map(struct gt_view *v, struct gt_key k)
{
	const struct timeline *t = v->state;

	gt_timeline_go_to(
		v, gt_overview_time(&v->scene->extent, (int64_t)k.x - t->at.left, t->at.cells));
}

static void point(struct gt_view *v, struct gt_key k)
{
	struct timeline *t = v->state;
	int line = k.y - t->at.lanes;

	t->dragged = k.x;
	t->drawn = false;
	t->grabbed = is_on_map(t, k)                      ? MAP
		: k.y == t->at.axis || k.y == t->at.marks ? AXIS
							  : NOTHING;
	if (t->grabbed == MAP)
		go_by_map(v, k);
	if (line >= 0 && (size_t)line < gt_timeline_shown_lines(t)) {
		t->cursor = t->top + (size_t)line;
		gt_timeline_scroll(t);
		t->grabbed = k.x >= t->at.left ? CELLS : NOTHING;
	}
	if (t->grabbed != MAP && k.x >= t->at.left && k.x < t->at.left + t->at.cells)
		gt_timeline_put_cursor(
			v, gt_cell_start(&v->scene->window, t->grip = k.x - t->at.left));
}

static void drag(struct gt_view *v, struct gt_key k)
{
	struct timeline *t = v->state;

	int64_t column = (int64_t)k.x - t->at.left, last = t->at.cells - 1;

	if (t->grabbed == MAP)
		go_by_map(v, k);
	if (t->grabbed == AXIS)
		gt_window_pan(&v->scene->window, &v->scene->extent, t->dragged - k.x);
	t->dragged = k.x;
	if (t->grabbed != CELLS)
		return;
	t->column = column < 0 ? 0 : column > last ? (unsigned)last : (unsigned)column;
	t->drawn |= t->column != t->grip;
	if (t->drawn)
		gt_interaction_drag(&t->desk, t->grip, t->column);
}

/* A click selects the event under it; dragging over cells sets both marks. */
static void release(struct gt_view *v)
{
	struct timeline *t = v->state;
	struct gt_timeline_cursor at = gt_timeline_cursor(v);

	if (t->grabbed == CELLS && t->drawn)
		gt_interaction_drop(&t->desk, &at, t->grip);
	else if (t->grabbed == CELLS && at.line && at.line->aspect)
		gt_interaction_act(&t->desk, &(struct gt_binding){ .action = GT_DO_SELECT }, &at);
	t->grabbed = NOTHING;
	gt_timeline_follow_selection(v);
}

void gt_timeline_act(struct gt_view *v, const struct gt_binding *b, struct gt_key k)
{
	struct timeline *t = v->state;
	struct gt_timeline_cursor at;

	if (b->action == GT_DO_LONGEST_GAP)
		gt_timeline_move_to_gpu(t);
	at = gt_timeline_cursor(v);
	if (gt_interaction_act(&t->desk, b, &at)) {
		t->touched = true;
		gt_timeline_follow_selection(v);
		return;
	}
	if (act_on_time(v, b, k) || act_on_cursor(t, b) || act_on_lanes(t, b))
		return;
	switch (b->action) {
	case GT_DO_HEIGHTS:
		t->heights = (enum gt_height)(
			((int)t->heights + b->arg + GT_HEIGHT_KINDS) % GT_HEIGHT_KINDS);
		break;
	case GT_DO_CLOCK: gt_scene_toggle_clock(v->scene); break;
	case GT_DO_POINT: point(v, k); break;
	case GT_DO_DRAG: drag(v, k); break;
	case GT_DO_RELEASE: release(v); break;
	case GT_DO_POINT_FOLD:
		point(v, k);
		if (k.y >= t->at.lanes && t->lanes.n) {
			fold(t);
			t->relist = t->touched = true;
		}
		break;
	case GT_DO_ESCAPE:
		t->relist |= t->lanes.filter[0];
		gt_lanes_filter(&t->lanes, "");
		break;
	default: break;
	}
}
