/* The timeline: lanes over time below an overview of the whole run. It requests only the cells
 * on the screen. Known cells are drawn immediately, the others while no key is pressed. More
 * lanes become known while blocks are read; the list is then rebuilt and the cursor stays on its
 * lane. */
#include "viewer/view/view.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "viewer/lanes/idle_streams.h"
#include "viewer/lanes/stale_cells.h"
#include "viewer/util/deadline.h"
#include "viewer/timeline/timeline_interaction.h"
#include "viewer/view/counter_lanes.h"
#include "viewer/timeline/overview_bar.h"
#include "viewer/lanes/unfinished_edges.h"
#include "viewer/timeline/timeline_draw.h"

#define LEARN_LINES 5000u /* a longer list is not rebuilt when a lane is found late */

struct timeline {
	struct gt_lanes lanes;
	struct gt_lane_cells *strips;
	struct gt_overview_bar map;
	struct gt_counter_lanes gauges;
	struct gt_unfinished_edges heads;
	struct gt_idle_streams idle;
	uint32_t *strip_of; /* of each line that is shown: number of its strip */
	size_t strip_of_cap;
	struct gt_layout at;
	struct gt_lane_line cursor_line; /* the line of the cursor */
	size_t top, cursor;
	unsigned column;
	/* the target of the last jump; valid while it is in the cursor's cell */
	int64_t moment;
	unsigned width, height; /* of the last timeline_arrange */
	enum gt_height heights;
	struct gt_cell_sums *cells, *entering;
	struct gt_counter_cell *gauge_cells;
	size_t cells_cap, entering_cap, gauge_cells_cap;
	bool arranged; /* once at least */
	/* relist: lanes changed; touched: the user folded or moved some */
	bool relist, touched;
	bool grown; /* the trace has changed since lanes were unfolded */
	/* this trace replaces an earlier one: visible lanes are not folded automatically */
	bool again;
	struct gt_stale_cells before;               /* previous cells, until all are known */
	bool learned;                               /* the list has all lanes found so far */
	enum { NOTHING, MAP, AXIS, CELLS } grabbed; /* the part that the mouse drags */
	int dragged;                                /* last column of the mouse */
	unsigned grip;                              /* the cell where it was pressed */
	bool drawn;                                 /* it has moved to another cell since */
	struct gt_timeline_interaction desk;
};

/* ---- open and close ---- */

static int timeline_open(struct gt_view *v, struct gt_err *err)
{
	struct timeline *t = v->state;
	struct gt_lanes_callbacks known = gt_scene_lanes_callbacks(v->scene);
	bool again = t->desk.scene;
	int rc = again ? gt_counter_lanes_reopen(&t->gauges, err)
		       : gt_counter_lanes_init(&t->gauges, v->scene, err);

	gt_counter_lanes_describe(&t->gauges, &known);
	if (!rc)
		rc = (again ? gt_lanes_reopen : gt_lanes_init)(
			&t->lanes, v->scene->reader, &known, err);
	if (again) {
		gt_lane_cells_reopen(t->strips, v->scene->archive);
		gt_overview_bar_reopen(&t->map, v->scene->archive);
	} else {
		t->strips = gt_lane_cells_new(v->scene->archive);
		if (!rc && (gt_overview_bar_init(&t->map, v->scene->archive) || !t->strips))
			rc = gt_err_set(err, -ENOMEM, "out of memory (timeline)");
	}
	t->relist = t->grown = true;
	t->again = again;
	return (again ? gt_interaction_reopen(&t->desk, err)
		      : gt_interaction_init(&t->desk, v->scene, &t->lanes, err))
		? err->code
		: rc;
}

static size_t shown_lines(const struct timeline *t)
{
	size_t left = t->lanes.n - (t->top < t->lanes.n ? t->top : t->lanes.n);

	return left < t->at.nlanes ? left : t->at.nlanes;
}

/* The target of the last jump if it is in the cursor's cell: a wide cell starts long before it. */
static int64_t cursor_time(const struct gt_view *v)
{
	const struct timeline *t = v->state;
	const struct gt_cell_window *w = &v->scene->window;

	return gt_window_column(w, t->moment) == (int64_t)t->column ? t->moment
								    : gt_cell_start(w, t->column);
}

static void timeline_detach(struct gt_view *v)
{
	struct timeline *t = v->state;

	if (!v->scene->has_target_time && t->arranged) { /* the cursor's time */
		v->scene->target_time = cursor_time(v);
		v->scene->has_target_time = true;
	}
	if (t->arranged)
		gt_stale_cells_save(&t->before, gt_lane_cells_window(t->strips),
			v->scene->extent.to - 1, t->lanes.lines + t->top, shown_lines(t), t->cells,
			t->gauge_cells);
	gt_interaction_detach(&t->desk);
	gt_lane_cells_detach(t->strips);
	gt_overview_bar_detach(&t->map);
	gt_counter_lanes_detach(&t->gauges);
	gt_unfinished_edges_release(&t->heads);
	t->idle.archive = NULL;
}

static void timeline_close(struct gt_view *v)
{
	struct timeline *t = v->state;

	timeline_detach(v);
	gt_lane_cells_free(t->strips);
	gt_overview_bar_release(&t->map);
	gt_counter_lanes_release(&t->gauges);
	gt_stale_cells_release(&t->before);
	gt_interaction_release(&t->desk);
	gt_lanes_release(&t->lanes);
	free(t->gauge_cells);
	free(t->entering);
	free(t->strip_of);
	free(t->cells);
}

/* ---- requests for cells ---- */

static int ask_heads(struct gt_view *v, struct gt_err *err)
{
	struct timeline *t = v->state;
	struct gt_lane_key lanes[GT_SCREEN_MOST];
	size_t lines = shown_lines(t);

	for (size_t i = 0; i < lines; i++)
		lanes[i] = gt_lane_of_line(&t->lanes.lines[t->top + i]);
	return gt_unfinished_edges_request(
		&t->heads, v->scene->archive, &v->scene->window, lanes, lines, err);
}

/* Lines of one track at several depths share a strip. */
static int ask_lanes(struct gt_view *v, struct gt_err *err)
{
	struct timeline *t = v->state;
	struct gt_strip_key of[GT_SCREEN_MOST];
	size_t lines = shown_lines(t), n = 0, k;
	int rc;

	if (gt_grow(&t->strip_of, &t->strip_of_cap, lines + 1, sizeof(*t->strip_of)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < lines; i++) {
		const struct gt_lane_line *line = &t->lanes.lines[t->top + i];
		struct gt_strip_key one = gt_lane_of_line(line).strip;

		for (k = n; k > 0 && !gt_same_strip(&of[k - 1], &one); k--)
			;
		t->strip_of[i] = (uint32_t)(k ? k - 1 : n);
		if (!k && line->aspect)
			of[n++] = one;
	}
	gt_lane_cells_count_entering(t->strips, t->heights != GT_HEIGHT_BUSY);
	rc = gt_lane_cells_request(t->strips, &v->scene->window, of, n, err);
	t->learned &= rc <= 0;
	return rc < 0 ? rc : ask_heads(v, err);
}

/* ---- display ---- */

static int refresh(struct gt_view *v, struct gt_err *err)
{
	struct timeline *t = v->state;
	size_t lines = shown_lines(t), cells = t->at.cells;

	if (gt_grow(&t->cells, &t->cells_cap, (lines + 1) * cells, sizeof(*t->cells)) ||
		gt_grow(&t->entering, &t->entering_cap, lines + 1, sizeof(*t->entering)) ||
		gt_overview_bar_refresh(&t->map) ||
		gt_grow(&t->gauge_cells, &t->gauge_cells_cap, (lines + 1) * cells,
			sizeof(*t->gauge_cells)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	/* where no lane has a line, the cursor is on this one: unknown */
	memset(t->cells + lines * cells, 0, cells * sizeof(*t->cells));
	memset(t->gauge_cells + lines * cells, 0, cells * sizeof(*t->gauge_cells));
	for (size_t i = 0; i < lines; i++) {
		const struct gt_lane_line *line = &t->lanes.lines[t->top + i];

		if (gt_lane_is_counter(line)) {
			gt_counter_lanes_get(&t->gauges, line, t->gauge_cells + i * cells);
			gt_stale_cells_fill_counter(
				&t->before, &v->scene->window, line, t->gauge_cells + i * cells);
		}
		if (line->aspect) {
			struct gt_lane_key lane = gt_lane_of_line(line);

			gt_lane_cells_get(
				t->strips, t->strip_of[i], line->depth, t->cells + i * cells);
			t->entering[i] =
				gt_lane_cells_entering(t->strips, t->strip_of[i], line->depth);
			if (gt_lane_cells_percent(t->strips) == 100)
				gt_unfinished_edges_fill(&t->heads, &lane, t->cells + i * cells);
			gt_stale_cells_fill(
				&t->before, &v->scene->window, line, t->cells + i * cells);
		} else {
			memset(t->cells + i * cells, 0, cells * sizeof(*t->cells));
		}
	}
	return 0;
}

/* Rebuilds the list if needed and moves the cursor to its lane's new line. */
static int list(struct timeline *t, bool unfold, struct gt_err *err)
{
	int rc = 0;

	if (unfold) {
		gt_lanes_fold_all(&t->lanes, true);
		rc = gt_lanes_unfold_to(&t->lanes, t->at.nlanes);
	} else if (t->relist) {
		rc = gt_lanes_list(&t->lanes);
	}
	if (rc)
		return gt_err_set(err, rc, "out of memory (lanes)");
	if (t->lanes.n && (unfold || t->relist))
		t->cursor = t->arranged ? gt_lanes_find(&t->lanes, &t->cursor_line) : 0;
	t->relist = false;
	return 0;
}

/* Moves the cursor to the column of this time. */
static void put_cursor(struct gt_view *v, int64_t time)
{
	struct timeline *t = v->state;
	int64_t column = gt_window_column(&v->scene->window, time);

	t->column = column < 0                   ? 0
		: column >= (int64_t)t->at.cells ? t->at.cells - 1
						 : (unsigned)column;
	t->moment = time;
}

/* The cursor stays on the screen, and the screen on the list. */
static void scroll(struct timeline *t)
{
	size_t n = t->lanes.n, most = t->at.nlanes ? t->at.nlanes : 1;

	if (t->cursor >= n)
		t->cursor = n ? n - 1 : 0;
	if (t->top + most > n)
		t->top = n > most ? n - most : 0;
	if (t->cursor < t->top)
		t->top = t->cursor;
	if (t->cursor >= t->top + most)
		t->top = t->cursor - most + 1;
	if (n)
		t->cursor_line = t->lanes.lines[t->cursor];
	if (t->column >= t->at.cells)
		t->column = t->at.cells - 1;
}

static struct gt_timeline_cursor cursor_at(const struct gt_view *v)
{
	const struct timeline *t = v->state;

	return (struct gt_timeline_cursor){ .line = t->lanes.n ? &t->cursor_line : NULL,
		.column = t->column,
		.time = cursor_time(v),
		.cells = t->cells + (t->cursor - t->top) * t->at.cells };
}

static void follow_desk(struct gt_view *v);

/* The jump from another view; before gt_interaction_arrange, so that the pane describes it at
 * once. */
static bool select_target_row(struct gt_view *v)
{
	bool wanted = v->scene->target_row.is_set;

	v->scene->target_row.is_set = false;
	if (wanted)
		gt_interaction_select(&((struct timeline *)v->state)->desk, &v->scene->target_row);
	return wanted;
}

/* The jump to a lane from another view; the lanes must be listed. */
static int go_to_target_track(struct gt_view *v, struct gt_err *err)
{
	struct timeline *t = v->state;
	struct gt_lane_line line = { .segment = v->scene->target_track.segment,
		.track = v->scene->target_track.track,
		.kind = GT_LANE_TRACK };
	bool wanted = v->scene->target_track.is_set;

	v->scene->target_track.is_set = false;
	if (!wanted)
		return 0;
	gt_lanes_unfold_above(&t->lanes, line.segment, line.track);
	t->cursor_line = line;
	t->relist = t->touched = true;
	return list(t, false, err);
}

/* Unfolds new lanes too if all lanes fit. */
static bool may_unfold(struct timeline *t)
{
	return !t->again || (!gt_lanes_list(&t->lanes) && t->lanes.n <= t->at.nlanes);
}

/* The optional lines of the layout that are needed. */
static unsigned needs_lines(const struct gt_scene *s)
{
	struct gt_trouble damage;

	return (s->ntroubles || gt_scene_damage(s, 0, &damage) ? GT_LAYOUT_TROUBLES : 0) |
		(s->is_static ? GT_LAYOUT_STATIC : 0) |
		(s->marks.n || s->bookmarks.n ? GT_LAYOUT_MARKS : 0);
}

/* Moves the cursor to the first visible GPU unless its lane shows GPU work. */
static void move_to_gpu(struct timeline *t)
{
	if (t->cursor_line.aspect == GT_ASPECT_WORK)
		return;
	for (size_t i = t->top; i < t->top + shown_lines(t); i++)
		if (t->lanes.lines[i].aspect == GT_ASPECT_WORK) {
			t->cursor = i;
			t->cursor_line = t->lanes.lines[i];
			return;
		}
}

static int timeline_arrange(struct gt_view *v, unsigned width, unsigned height, struct gt_err *err)
{
	struct timeline *t = v->state;
	unsigned lines = t->at.nlanes;
	bool picked = select_target_row(v);
	int rc, failed, idle;

	t->width = width;
	t->height = height;
	t->at = gt_layout_of(width, height, needs_lines(v->scene));
	failed = gt_interaction_arrange(&t->desk, &t->at, err);
	if (v->scene->window.cells != t->at.cells) {
		int64_t time = cursor_time(v);

		gt_window_resize(&v->scene->window, &v->scene->extent, t->at.cells);
		put_cursor(v, time);
	}
	if (v->scene->has_target_time)
		put_cursor(v, v->scene->target_time);
	v->scene->has_target_time = false;
	idle = failed ? failed
		      : gt_idle_streams_update(&t->idle, v->scene->archive, &v->scene->window,
				t->arranged ? &t->cursor_line : NULL, &t->lanes, err);
	t->relist |= idle > 0;
	failed = idle < 0 ? idle : failed;
	rc = failed ? failed
		    : list(t, !t->touched && (lines != t->at.nlanes || (t->grown && may_unfold(t))),
			      err);
	t->grown = false;
	t->arranged = true;
	if (!rc)
		rc = go_to_target_track(v, err);
	if (picked)
		follow_desk(v);
	if (!rc && picked)
		rc = list(t, false, err);
	scroll(t);
	if (v->scene->target_gpu)
		move_to_gpu(t);
	v->scene->target_gpu = false;
	if (!rc)
		rc = ask_lanes(v, err);
	if (!rc)
		rc = gt_counter_lanes_request(
			&t->gauges, t->lanes.lines + t->top, shown_lines(t), err);
	if (!rc)
		rc = gt_interaction_show(
			&t->desk, t->top, shown_lines(t), t->cursor, t->strips, t->strip_of, err);
	if (!rc)
		rc = gt_overview_bar_request(&t->map, &v->scene->extent, &t->lanes,
			t->at.map < 0 ? 0 : t->at.cells, err);
	return rc ? rc : refresh(v, err);
}

/* ---- steps ---- */

/* The blocks read for the cells may have revealed new lanes. */
static int learn(struct gt_view *v, struct gt_err *err)
{
	struct timeline *t = v->state;
	size_t before = t->lanes.n;
	int rc;

	t->learned = true;
	if (before > LEARN_LINES)
		return 0;
	gt_scene_update_lanes_callbacks(v->scene);
	t->relist = true;
	rc = list(t, false, err);
	if (!rc && !t->touched && t->lanes.n != before && may_unfold(t))
		rc = list(t, true, err);
	return rc ? rc : timeline_arrange(v, t->width, t->height, err);
}

/* Lanes first, then which ones there are, then their cells in which open calls begin, then the
 * overview. */
static int step_once(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct timeline *t = v->state;
	uint64_t deadline = gt_deadline(us);
	int rc = gt_lane_cells_step(t->strips, us, err);

	if (rc)
		return rc;
	if (!t->learned) {
		rc = learn(v, err);
		return rc ? rc : 1;
	}
	rc = gt_counter_cells_step(t->gauges.gauges, gt_left_us(deadline), err);
	if (!rc)
		rc = gt_unfinished_edges_step(&t->heads, gt_left_us(deadline), err);
	return rc ? rc : gt_overview_bar_step(&t->map, gt_left_us(deadline), err);
}

/* ---- keys ---- */

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
	int64_t time = cursor_time(v), at = mouse ? (int64_t)k.x - t->at.left : t->column;

	gt_window_zoom(&v->scene->window, &v->scene->extent, steps, at < 0 ? 0 : at);
	if (!mouse)
		gt_window_goto(&v->scene->window, &v->scene->extent, time, at);
	put_cursor(v, time);
}

static void go_to(struct gt_view *v, int64_t time)
{
	struct timeline *t = v->state;

	gt_window_goto(&v->scene->window, &v->scene->extent, time, t->at.cells / 2);
	put_cursor(v, time);
}

/* Moves to the selection: its lane, and its start if none of it is visible. */
static void follow_desk(struct gt_view *v)
{
	struct timeline *t = v->state;
	const struct gt_cell_window *w = &v->scene->window;
	int64_t from, to;

	if (!t->lanes.n ||
		!gt_interaction_take_jump(&t->desk, &t->cursor_line, &t->cursor_line, &from, &to))
		return;
	t->relist = t->touched = true;
	if (from >= gt_window_end(w) || (to <= gt_cell_start(w, 0) && from < gt_cell_start(w, 0)))
		go_to(v, from);
	else
		put_cursor(v, from);
}

/* The search that the user waits for comes first. The thread that counts launches starts, and is
 * waited for, when no other work is left. */
static int step_all(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct timeline *t = v->state;
	uint64_t deadline = gt_deadline(us);
	int rc = gt_selection_step(&t->desk.pick, us, err);
	bool found;

	if (!rc && t->desk.pick.is_new) {
		follow_desk(v);
		rc = timeline_arrange(v, t->width, t->height, err);
	}
	if (!rc)
		rc = step_once(v, gt_left_us(deadline), err);
	if (!rc)
		rc = gt_interaction_step_last(&t->desk, gt_left_us(deadline), err);
	if (rc)
		return rc;
	rc = gt_counter_lanes_wait(&t->gauges, gt_left_us(deadline), &found, err);
	t->learned &= !found;
	return found && rc >= 0 ? 1 : rc > 0 ? GT_VIEW_WAITING : rc;
}

static int timeline_step(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	int rc;

	do {
		rc = step_all(v, us, err);
	} while (rc > 0 && !us);
	if (!rc || rc == GT_VIEW_WAITING) /* all cells are known again */
		gt_stale_cells_release(&((struct timeline *)v->state)->before);
	return rc >= 0 && refresh(v, err) ? err->code : rc;
}

static void timeline_leave(struct gt_view *v)
{
	gt_queue_lanes_pause(((struct timeline *)v->state)->gauges.queues);
}
static void timeline_rest(struct gt_view *v)
{
	gt_queue_lanes_stop(((struct timeline *)v->state)->gauges.queues);
}

static void move_cursor(struct timeline *t, int64_t by)
{
	int64_t to = (int64_t)t->cursor + by;

	t->cursor = to < 0 ? 0 : (size_t)to;
	scroll(t);
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
	int64_t time = cursor_time(v), cells = (int64_t)t->at.cells * b->arg / 8, from = 0, to = 0;

	switch (b->action) {
	case GT_DO_STEP: step_columns(v, b->arg); return true;
	case GT_DO_PAN: gt_window_pan(&s->window, &s->extent, cells ? cells : b->arg); return true;
	case GT_DO_ZOOM: zoom(v, b->arg, k); return true;
	case GT_DO_FIT:
		if (!b->arg)
			gt_window_fit(&s->window, &s->extent);
		else if (gt_interaction_range(&t->desk, &from, &to))
			show_range(s, from, to > from ? to : from + 1);
		put_cursor(v, b->arg && from < to ? from : time);
		return true;
	case GT_DO_START: go_to(v, s->extent.from); return true;
	case GT_DO_END: go_to(v, s->extent.to - 1); return true;
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

	go_to(v, gt_overview_time(&v->scene->extent, (int64_t)k.x - t->at.left, t->at.cells));
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
	if (line >= 0 && (size_t)line < shown_lines(t)) {
		t->cursor = t->top + (size_t)line;
		scroll(t);
		t->grabbed = k.x >= t->at.left ? CELLS : NOTHING;
	}
	if (t->grabbed != MAP && k.x >= t->at.left && k.x < t->at.left + t->at.cells)
		put_cursor(v, gt_cell_start(&v->scene->window, t->grip = k.x - t->at.left));
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
	struct gt_timeline_cursor at = cursor_at(v);

	if (t->grabbed == CELLS && t->drawn)
		gt_interaction_drop(&t->desk, &at, t->grip);
	else if (t->grabbed == CELLS && at.line && at.line->aspect)
		gt_interaction_act(&t->desk, &(struct gt_binding){ .action = GT_DO_SELECT }, &at);
	t->grabbed = NOTHING;
	follow_desk(v);
}

static void timeline_act(struct gt_view *v, const struct gt_binding *b, struct gt_key k)
{
	struct timeline *t = v->state;
	struct gt_timeline_cursor at;

	if (b->action == GT_DO_LONGEST_GAP)
		move_to_gpu(t);
	at = cursor_at(v);
	if (gt_interaction_act(&t->desk, b, &at)) {
		t->touched = true;
		follow_desk(v);
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

static const char *timeline_answer(struct gt_view *v, enum gt_action asked, const char *text)
{
	struct timeline *t = v->state;
	struct gt_timeline_cursor at = cursor_at(v);
	const char *why;
	int64_t time;

	if (asked == GT_DO_FIND) {
		why = gt_interaction_search(&t->desk, text, &at);

		follow_desk(v);
		return why;
	}
	if (asked == GT_DO_FILTER) {
		gt_lanes_filter(&t->lanes, text);
		t->relist = t->touched = true;
		return NULL;
	}
	why = gt_scene_time(v->scene, text, &time);
	if (!why)
		go_to(v, time);
	return why;
}

static int64_t timeline_moment(const struct gt_view *v)
{
	const struct timeline *t = v->state;
	struct gt_timeline_cursor at = cursor_at(v);

	return gt_interaction_time(&t->desk, &at);
}

static bool timeline_looks(const struct gt_view *v)
{
	return ((const struct timeline *)v->state)->desk.pick.job;
}

/* ---- drawing ---- */

static unsigned percent(const struct timeline *t)
{
	unsigned strips = gt_lane_cells_percent(t->strips);

	return strips < 100 ? strips : gt_queue_lanes_percent(t->gauges.queues);
}

static void timeline_draw(const struct gt_view *v, struct gt_screen *to)
{
	const struct timeline *t = v->state;
	struct gt_picture p = {
		.at = t->at,
		.scene = v->scene,
		.lanes = &t->lanes,
		.top = t->top,
		.cursor = t->cursor,
		.column = t->column,
		.heights = t->heights,
		.cells = t->cells,
		.entering = t->entering,
		.gauges = t->gauge_cells,
		.map = t->at.map >= 0 ? t->map.cells : NULL,
		.map_window = t->map.window,
		.percent = percent(t),
		.no_legend = t->desk.name_search,
	};

	gt_picture_draw(&p, to);
	gt_interaction_draw(&t->desk, &p, to);
}

static const struct gt_key_hint hints[] = {
	GT_KEY_HINT('?', "Help", 1),
	{ "Arrows", "Move", { .key = GT_KEY_NONE }, 2 },
	{ "w s", "Zoom", { .key = 'w' }, 2 },
	GT_KEY_HINT('f', "Whole run", 7),
	{ "Enter", "Select", { .key = GT_KEY_ENTER }, 3 },
	{ "Tab", "Next", { .key = GT_KEY_TAB }, 9 },
	GT_KEY_HINT('c', "Call/work", 10),
	GT_KEY_HINT('/', "Find", 4),
	GT_KEY_HINT('G', "Max gap", 5),
	{ "Space", "Fold", { .key = ' ' }, 8 },
	GT_KEY_HINT('m', "Mark", 11),
	GT_KEY_HINT('b', "Values", 13),
	{ "Mouse", "click drag wheel", { .key = GT_KEY_NONE }, 14 },
	GT_KEY_HINT('8', "Advice", 4),
	GT_KEY_HINT('9', "Flames", 12),
	GT_KEY_HINT('q', "Quit", 1),
	{ .label = NULL },
};

const struct gt_view_ops gt_view_timeline = {
	.name = "timeline",
	.hints = hints,
	.state_size = sizeof(struct timeline),
	.open = timeline_open,
	.close = timeline_close,
	.detach = timeline_detach,
	.arrange = timeline_arrange,
	.step = timeline_step,
	.leave = timeline_leave,
	.stop_threads = timeline_rest,
	.act = timeline_act,
	.answer = timeline_answer,
	.moment = timeline_moment,
	.is_searching = timeline_looks,
	.draw = timeline_draw,
};
