#include "viewer/timeline/timeline_interaction.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/numbers.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/search/search_regex.h"
#include "viewer/cells/unfinished_calls.h"
#include "viewer/timeline/link_arrow.h"

static void __attribute__((format(printf, 2, 3)))
set_status(struct gt_timeline_interaction *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->pick.status_text, sizeof(d->pick.status_text), fmt, ap);
	va_end(ap);
}

int gt_interaction_init(struct gt_timeline_interaction *d, struct gt_scene *scene,
	struct gt_lanes *lanes, struct gt_err *err)
{
	*d = (struct gt_timeline_interaction){ .scene = scene,
		.lanes = lanes,
		.spell.reader = scene->reader,
		.pick.archive = scene->archive,
		.err = GT_ERR_INIT };
	d->boxes = gt_event_boxes_new(scene->archive, &d->spell, GT_EVENT_BOX_BLOCKS);
	return d->boxes ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

void gt_interaction_detach(struct gt_timeline_interaction *d)
{
	gt_event_boxes_free(d->boxes);
	d->boxes = NULL;
	gt_selection_detach(&d->pick);
	if (d->name_search)
		d->looked_for = strdup(gt_name_search_regex(d->name_search));
	gt_name_search_free(d->name_search);
	gt_stack_search_free(d->stack_search);
	d->name_search = NULL;
	d->stack_search = NULL;
	gt_display_name_release(&d->spell);
}

int gt_interaction_reopen(struct gt_timeline_interaction *d, struct gt_err *err)
{
	struct gt_archive *a = d->scene->archive;

	d->spell.reader = d->scene->reader;
	if (gt_selection_reopen(&d->pick, a, err))
		return err->code;
	d->boxes = gt_event_boxes_new(a, &d->spell, GT_EVENT_BOX_BLOCKS);
	if (d->looked_for)
		d->name_search = gt_name_search_new(a, &d->spell, d->looked_for, err);
	free(d->looked_for);
	d->looked_for = NULL;
	d->is_described = false;
	return d->boxes && !err->code ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

void gt_interaction_release(struct gt_timeline_interaction *d)
{
	if (!d->scene)
		return;
	gt_event_boxes_free(d->boxes);
	gt_name_search_free(d->name_search);
	gt_stack_search_free(d->stack_search);
	free(d->looked_for);
	gt_selection_release(&d->pick);
	gt_detail_pane_release(&d->detail);
	gt_display_name_release(&d->spell);
}

/* ---- the cursor ---- */

bool gt_interaction_place(const struct gt_timeline_interaction *d,
	const struct gt_timeline_cursor *at, struct gt_selection_origin *to)
{
	const struct gt_cell_window *w = &d->scene->window;
	int64_t from, end;

	if (!at->line || !at->line->aspect)
		return false;
	*to = (struct gt_selection_origin){ .lane = gt_lane_of_line(at->line),
		.from = at->time,
		.to = gt_cell_start(w, at->column + 1ll),
		.shift = gt_window_log2(w) };
	if (d->pick.what != GT_SELECTION_NONE && gt_same_lane(&to->lane, &d->pick.lane)) {
		gt_selection_range(&d->pick, &from, &end);
		to->on_it = from < to->to && (end > to->from || from >= to->from);
	}
	return true;
}

/* ---- keys ---- */

static int pick_longest(struct gt_timeline_interaction *d, const struct gt_timeline_cursor *at,
	const struct gt_lane_key *lane)
{
	const struct gt_cell_sums *best = NULL;

	for (unsigned i = 0; i < d->scene->window.cells; i++) {
		const struct gt_cell_sums *c = &at->cells[i];

		if (c->sureness == GT_CELL_ROUGH || c->sureness == GT_CELL_UNKNOWN) {
			set_status(d, "this lane is still being read: try again");
			return 0;
		}
		if (c->count && (!best || c->longest > best->longest))
			best = c;
	}
	if (best)
		return gt_select_exact(&d->pick, lane, best->longest_at, best->longest, &d->err);
	set_status(d, "no event of this lane starts in the visible time");
	return 0;
}

static int jump_to_found(
	struct gt_timeline_interaction *d, int by, const struct gt_selection_origin *from)
{
	const struct gt_selection_types types = { gt_name_search_matches_type, d->name_search,
		"event of such a name" };

	if (d->stack_search)
		return gt_select_of_stack(&d->pick, from, d->stack_search, by, &d->err);
	if (!d->name_search)
		set_status(d, "no search is active: press / to search");
	else if (!gt_name_search_has_names(d->name_search))
		set_status(d, "no name matches '%.60s'", gt_name_search_regex(d->name_search));
	else
		return gt_select_of_types(&d->pick, from, &types, by, &d->err);
	return 0;
}

/* Stops the event search first: it uses the other searches. */
static void stop_finding(struct gt_timeline_interaction *d)
{
	gt_selection_stop(&d->pick);
	gt_name_search_free(d->name_search);
	gt_stack_search_free(d->stack_search);
	d->name_search = NULL;
	d->stack_search = NULL;
}

/* Starts a search for the stack of the selection, or of the event at the cursor, and goes to the
 * next event. */
static int find_stack(struct gt_timeline_interaction *d, const struct gt_selection_origin *at)
{
	struct gt_selection *p = &d->pick;
	struct gt_selection_origin from = *at;
	uint64_t stack;
	int rc = p->what == GT_SELECTION_ROW && at->on_it ? 0 : gt_select_cell(p, at, &d->err);

	if (rc || p->what != GT_SELECTION_ROW || p->status_text[0])
		return rc;
	rc = gt_event_stack(d->scene->archive, &p->row, &stack, &d->err);
	if (rc <= 0) {
		if (!rc)
			set_status(
				d, "this event has no call stack (gtcollect --stacks, -e samples)");
		return rc;
	}
	if (!d->stack_search || !gt_stack_search_is_of(d->stack_search, &p->row, stack)) {
		stop_finding(d);
		d->stack_search = gt_stack_search_new(d->scene->archive, &p->row, stack, &d->err);
	}
	from.on_it = true;
	return d->stack_search ? jump_to_found(d, 1, &from) : d->err.code;
}

/* Sets a mark at an end of the selection, or of a row in the cell. */
static int mark(struct gt_timeline_interaction *d, const struct gt_selection_origin *at)
{
	int64_t offset = gt_archive_offset(d->scene->archive, at->lane.strip.segment), from, to,
		edge;
	struct gt_event_ref row;
	int rc = 0;

	if (at->on_it && d->pick.what != GT_SELECTION_NONE) {
		gt_selection_range(&d->pick, &from, &to);
		edge = from < at->from && to < at->to ? to : from;
	} else {
		rc = gt_marks_snap(d->scene->archive, &at->lane, at->from, at->to, &edge, &d->err);
	}
	if (!rc)
		gt_marks_set(&d->scene->marks, edge);
	if (!rc && edge == at->from && !at->on_it &&
		gt_event_at(d->scene->archive, &at->lane, edge + offset, edge + offset + 1, &row,
			&d->err) <= 0)
		set_status(d, "no event starts or ends in this cell: the mark is at its start");
	return rc;
}

static void mark_from_to(struct gt_timeline_interaction *d, int64_t from, int64_t to)
{
	gt_marks_clear(&d->scene->marks);
	gt_marks_set(&d->scene->marks, from);
	gt_marks_set(&d->scene->marks, to);
}

static void mark_both(struct gt_timeline_interaction *d)
{
	int64_t from, to;

	if (d->pick.what == GT_SELECTION_NONE) {
		set_status(d, "no selection: press Enter on an event");
		return;
	}
	gt_selection_range(&d->pick, &from, &to);
	mark_from_to(d, from, to);
}

void gt_interaction_drag(struct gt_timeline_interaction *d, unsigned from, unsigned to)
{
	const struct gt_cell_window *w = &d->scene->window;

	mark_from_to(d, gt_cell_start(w, from < to ? from : to),
		gt_cell_start(w, 1ll + (from < to ? to : from)));
}

void gt_interaction_drop(
	struct gt_timeline_interaction *d, const struct gt_timeline_cursor *at, unsigned from)
{
	const struct gt_cell_window *w = &d->scene->window;
	unsigned first = from < at->column ? from : at->column,
		 last = from < at->column ? at->column : from;
	int64_t a = gt_cell_start(w, first), b = gt_cell_start(w, last),
		end = gt_cell_start(w, last + 1ll), edge;
	struct gt_lane_key lane;

	if (!at->line || !at->line->aspect)
		return;
	lane = gt_lane_of_line(at->line);
	if (gt_marks_snap(
		    d->scene->archive, &lane, a, gt_cell_start(w, first + 1ll), &a, &d->err) ||
		gt_marks_snap(d->scene->archive, &lane, b, end, &edge, &d->err))
		return;
	/* without any edge in the last cell: to its end */
	mark_from_to(d, a, edge > b ? edge : end);
}

bool gt_interaction_range(struct gt_timeline_interaction *d, int64_t *from, int64_t *to)
{
	if (gt_marks_between(&d->scene->marks, from, to))
		return true;
	if (d->pick.what != GT_SELECTION_NONE)
		gt_selection_range(&d->pick, from, to);
	else
		set_status(d, "no marks and no selection: press m or Enter first");
	return d->pick.what != GT_SELECTION_NONE;
}

/* The longest row must start in the window: cells know only the rows that start in them. */
static int jump(struct gt_timeline_interaction *d, const struct gt_binding *b,
	const struct gt_timeline_cursor *at, const struct gt_selection_origin *from)
{
	struct gt_selection *p = &d->pick;

	switch (b->action) {
	case GT_DO_SELECT:
		return at->cells[at->column].sureness == GT_CELL_DAMAGED
			? gt_select_damaged(p, from, &d->err)
			: gt_select_cell(p, from, &d->err);
	case GT_DO_NEXT: return gt_select_neighbour(p, from, b->arg, &d->err);
	case GT_DO_SAME: return gt_select_same_name(p, from, b->arg, &d->err);
	case GT_DO_SAME_STACK: return find_stack(d, from);
	case GT_DO_PARTNER: return gt_select_partner(p, from, &d->err);
	case GT_DO_GAP: return gt_select_gap(p, from, b->arg, &d->err);
	case GT_DO_LONGEST_GAP: return gt_select_longest_gap(p, from, &d->scene->window, &d->err);
	case GT_DO_FAILURE: return gt_select_failure(p, from, b->arg, &d->err);
	case GT_DO_FOUND: return jump_to_found(d, b->arg, from);
	case GT_DO_MARK: return mark(d, from);
	case GT_DO_LONGEST: return pick_longest(d, at, &from->lane);
	default: return 0;
	}
}

static bool is_jump(enum gt_action a)
{
	return a == GT_DO_SELECT || a == GT_DO_NEXT || a == GT_DO_SAME || a == GT_DO_SAME_STACK ||
		a == GT_DO_PARTNER || a == GT_DO_GAP || a == GT_DO_LONGEST_GAP ||
		a == GT_DO_FAILURE || a == GT_DO_LONGEST || a == GT_DO_FOUND || a == GT_DO_MARK;
}

/* Sets the status text to the reader's error if the cursor's cell is damaged. */
static void say_damage(struct gt_timeline_interaction *d, const struct gt_timeline_cursor *at,
	const struct gt_selection_origin *from)
{
	size_t n;
	const struct gt_damage *damage = gt_reader_damage(d->scene->reader, &n);
	struct gt_trouble t;

	if (at->cells[at->column].sureness != GT_CELL_DAMAGED)
		return;
	for (size_t i = 0; i < n && gt_scene_damage(d->scene, i, &t); i++)
		if (t.from < from->to && t.to >= from->from)
			set_status(d, "cannot be read: %.100s", damage[i].text);
}

static bool escape(struct gt_timeline_interaction *d)
{
	if (gt_selection_stop(&d->pick))
		set_status(d, "stopped");
	else if (d->size)
		d->size = GT_PANE_NONE;
	else if (d->scene->marks.n)
		gt_marks_clear(&d->scene->marks);
	else if (d->name_search || d->stack_search)
		stop_finding(d);
	else if (d->pick.what)
		gt_select_nothing(&d->pick);
	else
		return false;
	d->is_described = false;
	return true;
}

/* The pane opens with the first selection and afterwards keeps its size. */
static void after_jump(struct gt_timeline_interaction *d, enum gt_action a)
{
	if (d->pick.is_new && d->size == GT_PANE_NONE && a == GT_DO_SELECT)
		d->size = GT_PANE_USUAL;
	d->opens_pane = a == GT_DO_LONGEST_GAP;
	d->is_described &= !d->pick.is_new;
}

/* Selects the unfinished call with the earliest start; if an unfinished call is selected, the
 * next one. */
static int go_to_open(struct gt_timeline_interaction *d, struct gt_err *err)
{
	bool on_open = d->pick.what == GT_SELECTION_ROW && d->pick.row.kind == GT_OPEN;
	size_t n;
	const struct gt_unfinished_call *calls = gt_archive_unfinished_calls(d->scene->archive, &n),
					*last = NULL, *next;
	const struct gt_event_ref *row = &d->pick.row;

	for (size_t i = 0; on_open && i < n; i++)
		if (calls[i].segment == row->lane.strip.segment &&
			calls[i].track == row->lane.strip.track && calls[i].start == row->start &&
			calls[i].depth == row->lane.depth)
			last = &calls[i];
	next = gt_unfinished_calls_next(d->scene->archive, last);
	if (!next)
		return gt_err_set(err, -ENOENT,
			gt_archive_unfinished_count(d->scene->archive)
				? "the calls that were still open cannot be read"
				: "all calls had returned when the recording ended");
	if (d->size == GT_PANE_NONE)
		d->size = GT_PANE_USUAL;
	return gt_select_exact(&d->pick,
		&(struct gt_lane_key){
			{ next->segment, next->track, GT_ASPECT_CALLS, false }, next->depth },
		next->start, (uint64_t)(next->end - next->start), err);
}

static void scroll_detail(struct gt_timeline_interaction *d, int by)
{
	size_t page = d->pane.height > 2 ? d->pane.height - 2 : 1;

	if (!d->pane.height)
		set_status(d, "no details are shown: press i");
	else if (by < 0)
		d->detail.top -= d->detail.top < page ? d->detail.top : page;
	else if (d->detail.top + page < d->detail.n)
		d->detail.top += page;
}

bool gt_interaction_act(struct gt_timeline_interaction *d, const struct gt_binding *b,
	const struct gt_timeline_cursor *at)
{
	struct gt_selection_origin from;

	d->pick.status_text[0] = 0;
	if (b->action == GT_DO_ESCAPE)
		return escape(d);
	if (b->action == GT_DO_DETAIL) {
		d->size = (enum gt_pane_size)((d->size + 1) % GT_PANE_SIZES);
		d->pane_requested = d->size != GT_PANE_NONE;
		return true;
	}
	if (b->action == GT_DO_DETAIL_SCROLL) {
		scroll_detail(d, b->arg);
		return true;
	}
	if (b->action == GT_DO_MARK_BOTH) {
		mark_both(d);
		return true;
	}
	if (b->action == GT_DO_OPEN_CALL) {
		struct gt_err why = GT_ERR_INIT;

		if (go_to_open(d, &why))
			set_status(d, "%.115s", why.text);
		return true;
	}
	if (!is_jump(b->action))
		return false;
	if (!gt_interaction_place(d, at, &from)) {
		set_status(d, "this lane has no events");
		return b->action != GT_DO_SELECT;
	}
	jump(d, b, at, &from);
	if (d->pick.status_text[0])
		say_damage(d, at, &from);
	after_jump(d, b->action);
	return true;
}

const char *gt_interaction_search(struct gt_timeline_interaction *d, const char *expression,
	const struct gt_timeline_cursor *at)
{
	struct gt_err err = GT_ERR_INIT;

	d->pick.status_text[0] = 0;
	stop_finding(d);
	if (!*expression)
		return NULL;
	d->name_search = gt_name_search_new(d->scene->archive, &d->spell, expression, &err);
	if (d->name_search)
		gt_interaction_act(d, &(struct gt_binding){ .action = GT_DO_FOUND, .arg = 1 }, at);
	else
		set_status(d, "%.110s", err.text);
	return d->pick.status_text[0] ? d->pick.status_text : NULL;
}

void gt_interaction_select(struct gt_timeline_interaction *d, const struct gt_scene_row *row)
{
	d->pick.status_text[0] = 0;
	gt_select_exact(&d->pick, &row->lane, row->start, (uint64_t)row->dur, &d->err);
	after_jump(d, GT_DO_LONGEST);
}

int64_t gt_interaction_time(
	const struct gt_timeline_interaction *d, const struct gt_timeline_cursor *at)
{
	int64_t t = gt_cell_start(&d->scene->window, at->column), end;
	struct gt_selection_origin here;

	if (gt_interaction_place(d, at, &here) && here.on_it)
		gt_selection_range(&d->pick, &t, &end);
	return t;
}

/* ---- jumps ---- */

const struct gt_lane_line *gt_interaction_line_of(
	const struct gt_timeline_interaction *d, const struct gt_event_ref *row)
{
	const struct gt_lane_key *own = &row->lane;
	const struct gt_lane_line *other = NULL;
	unsigned depth;

	for (size_t i = 0; i < d->lanes->n; i++) {
		const struct gt_lane_line *line = &d->lanes->lines[i];
		struct gt_lane_key lane = gt_lane_of_line(line);

		if (!line->aspect || line->segment != own->strip.segment)
			continue;
		if (row == &d->pick.row && gt_same_lane(&lane, &d->pick.lane))
			return line;
		if (line->track == own->strip.track && !line->derived &&
			gt_strip_shows(&lane.strip, own->strip.aspect, own->depth, &depth) &&
			depth == lane.depth && !other)
			other = line;
	}
	return other;
}

bool gt_interaction_take_jump(struct gt_timeline_interaction *d, const struct gt_lane_line *cursor,
	struct gt_lane_line *line, int64_t *from, int64_t *to)
{
	const struct gt_lane_line *found;

	if (!d->pick.is_new)
		return false;
	d->pick.is_new = d->is_described = false;
	if (d->opens_pane && d->size == GT_PANE_NONE)
		d->size = GT_PANE_USUAL;
	d->opens_pane = false;
	gt_selection_range(&d->pick, from, to);
	found = gt_interaction_line_of(d, &d->pick.row);
	if (!found) {
		gt_lanes_unfold_above(
			d->lanes, d->pick.row.lane.strip.segment, d->pick.row.lane.strip.track);
		gt_lanes_unfold_track(
			d->lanes, d->pick.row.lane.strip.segment, d->pick.row.lane.strip.track);
		if (gt_lanes_list(d->lanes))
			gt_err_set(&d->err, -ENOMEM, "out of memory (lanes)");
		found = gt_interaction_line_of(d, &d->pick.row);
	}
	if (found)
		d->pick.lane = gt_lane_of_line(found);
	else
		set_status(d, "its lane is not shown: X shows hidden lanes, Esc clears the filter");
	*line = found ? *found : *cursor;
	return true;
}

/* ---- display ---- */

int gt_interaction_arrange(
	struct gt_timeline_interaction *d, struct gt_layout *layout, struct gt_err *err)
{
	const struct gt_detail_source from = { d->scene, d->lanes, &d->spell };
	int rc = d->err.code;

	d->pane = gt_pane_place(layout, d->scene->is_static ? GT_PANE_NONE : d->size);
	if (d->pane_requested && !d->pane.height) {
		set_status(d, "the screen is too small for a pane");
		d->size = GT_PANE_NONE;
	}
	d->pane_requested = false;
	if (!rc && !d->is_described)
		rc = gt_detail_pane_fill(&d->detail, &from, &d->pick, &d->err);
	if (!rc && !d->is_described)
		rc = gt_selection_link(&d->pick, &d->err);
	d->is_described = true;
	return rc ? gt_err_set(err, rc, "%s", d->err.text) : 0;
}

int gt_interaction_show(struct gt_timeline_interaction *d, size_t top, size_t nlines, size_t cursor,
	const struct gt_lane_cells *strips, const uint32_t *strip_of, struct gt_err *err)
{
	struct gt_lane_key of[GT_SCREEN_MOST], on = { .depth = 0 };

	if (cursor < d->lanes->n)
		on = gt_lane_of_line(&d->lanes->lines[cursor]);
	for (size_t i = 0; i < nlines; i++)
		of[i] = gt_lane_of_line(&d->lanes->lines[top + i]);
	if (gt_marks_select_lane(&d->scene->marks, &on, err))
		return err->code;
	return gt_event_boxes_request(d->boxes, &d->scene->window,
		&(struct gt_event_box_lanes){ of, strips, strip_of }, nlines, err);
}

int gt_interaction_step_last(struct gt_timeline_interaction *d, uint64_t us, struct gt_err *err)
{
	int rc = gt_event_boxes_step(d->boxes, us, err);

	if (!rc)
		rc = gt_selection_step_link(&d->pick, us, err);
	if (!rc)
		rc = gt_marks_step(&d->scene->marks, us, err);
	if (!rc && d->stack_search)
		rc = gt_stack_search_step(d->stack_search, us, err);
	return rc || !d->name_search ? rc : gt_name_search_step(d->name_search, us, err);
}
