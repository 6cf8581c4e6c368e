/* The timeline: lanes over time below an overview of the whole run. It requests only the cells
 * on the screen. Known cells are drawn immediately, the others while no key is pressed. More
 * lanes become known while blocks are read; the list is then rebuilt and the cursor stays on its
 * lane. */
#include "viewer/timeline/view_timeline_internal.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "viewer/util/deadline.h"
#include "viewer/timeline/timeline_draw.h"

#define LEARN_LINES 5000u /* a longer list is not rebuilt when a lane is found late */

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

size_t gt_timeline_shown_lines(const struct timeline *t)
{
	size_t left = t->lanes.n - (t->top < t->lanes.n ? t->top : t->lanes.n);

	return left < t->at.nlanes ? left : t->at.nlanes;
}

int64_t gt_timeline_cursor_time(const struct gt_view *v)
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
		v->scene->target_time = gt_timeline_cursor_time(v);
		v->scene->has_target_time = true;
	}
	if (t->arranged)
		gt_stale_cells_save(&t->before, gt_lane_cells_window(t->strips),
			v->scene->extent.to - 1, t->lanes.lines + t->top,
			gt_timeline_shown_lines(t), t->cells, t->gauge_cells);
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
	size_t lines = gt_timeline_shown_lines(t);

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
	size_t lines = gt_timeline_shown_lines(t), n = 0, k;
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
	size_t lines = gt_timeline_shown_lines(t), cells = t->at.cells;

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

void gt_timeline_put_cursor(struct gt_view *v, int64_t time)
{
	struct timeline *t = v->state;
	int64_t column = gt_window_column(&v->scene->window, time);

	t->column = column < 0                   ? 0
		: column >= (int64_t)t->at.cells ? t->at.cells - 1
						 : (unsigned)column;
	t->moment = time;
}

void gt_timeline_scroll(struct timeline *t)
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

struct gt_timeline_cursor gt_timeline_cursor(const struct gt_view *v)
{
	const struct timeline *t = v->state;

	return (struct gt_timeline_cursor){ .line = t->lanes.n ? &t->cursor_line : NULL,
		.column = t->column,
		.time = gt_timeline_cursor_time(v),
		.cells = t->cells + (t->cursor - t->top) * t->at.cells };
}

void gt_timeline_follow_selection(struct gt_view *v);

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

void gt_timeline_move_to_gpu(struct timeline *t)
{
	if (t->cursor_line.aspect == GT_ASPECT_WORK)
		return;
	for (size_t i = t->top; i < t->top + gt_timeline_shown_lines(t); i++)
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
		int64_t time = gt_timeline_cursor_time(v);

		gt_window_resize(&v->scene->window, &v->scene->extent, t->at.cells);
		gt_timeline_put_cursor(v, time);
	}
	if (v->scene->has_target_time)
		gt_timeline_put_cursor(v, v->scene->target_time);
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
		gt_timeline_follow_selection(v);
	if (!rc && picked)
		rc = list(t, false, err);
	gt_timeline_scroll(t);
	if (v->scene->target_gpu)
		gt_timeline_move_to_gpu(t);
	v->scene->target_gpu = false;
	if (!rc)
		rc = ask_lanes(v, err);
	if (!rc)
		rc = gt_counter_lanes_request(
			&t->gauges, t->lanes.lines + t->top, gt_timeline_shown_lines(t), err);
	if (!rc)
		rc = gt_interaction_show(&t->desk, t->top, gt_timeline_shown_lines(t), t->cursor,
			t->strips, t->strip_of, err);
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

/* ---- work ---- */

/* The search that the user waits for comes first. The thread that counts launches starts, and is
 * waited for, when no other work is left. */
static int step_all(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct timeline *t = v->state;
	uint64_t deadline = gt_deadline(us);
	int rc = gt_selection_step(&t->desk.pick, us, err);
	bool found;

	if (!rc && t->desk.pick.is_new) {
		gt_timeline_follow_selection(v);
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

static const char *timeline_answer(struct gt_view *v, enum gt_action asked, const char *text)
{
	struct timeline *t = v->state;
	struct gt_timeline_cursor at = gt_timeline_cursor(v);
	const char *why;
	int64_t time;

	if (asked == GT_DO_FIND) {
		why = gt_interaction_search(&t->desk, text, &at);

		gt_timeline_follow_selection(v);
		return why;
	}
	if (asked == GT_DO_FILTER) {
		gt_lanes_filter(&t->lanes, text);
		t->relist = t->touched = true;
		return NULL;
	}
	why = gt_scene_time(v->scene, text, &time);
	if (!why)
		gt_timeline_go_to(v, time);
	return why;
}

static int64_t timeline_moment(const struct gt_view *v)
{
	const struct timeline *t = v->state;
	struct gt_timeline_cursor at = gt_timeline_cursor(v);

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
	GT_KEY_HINT('r', "Whole run", 7),
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
	.act = gt_timeline_act,
	.answer = timeline_answer,
	.moment = timeline_moment,
	.is_searching = timeline_looks,
	.draw = timeline_draw,
};
