/* Draws the selection, the marks, the results of a search and the detail pane over the timeline. */
#include "viewer/timeline/timeline_interaction.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "formats/base/numbers.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/cells/unfinished_calls.h"
#include "viewer/search/search_regex.h"
#include "viewer/timeline/link_arrow.h"

/* ---- names in boxes ---- */

#define NAME_LEAST 2 /* columns: a shorter part of a bookmark's name is useless */
#define EDGE 0x258f  /* an eighth of a block, at the left */

/* Draws a box in the cells that it covers in full; its edge is in the first. */
static void draw_box(const struct gt_timeline_interaction *d, const struct gt_event_box *box, int x,
	int y, unsigned width, struct gt_screen *to)
{
	const struct gt_segment *seg = gt_reader_segment(d->scene->reader, box->segment);
	uint8_t category = box->type < seg->ntypes ? seg->types[box->type].category : GT_CAT_OTHER;
	bool found =
		d->name_search && gt_name_search_matches(d->name_search, box->segment, box->type);
	uint8_t paper = found ? GT_INK_FOUND
		: gt_archive_is_communication(d->scene->archive, box->segment, box->type)
		? GT_INK_COMM
		: gt_category_ink(category);
	const struct gt_look look = { box->failed ? GT_INK_ERROR : GT_INK_TEXT, paper,
		box->failed ? GT_BOLD : 0 };

	gt_screen_put(to, x, y, to->ascii ? '|' : EDGE, look);
	gt_screen_text(to, x + 1, y, (int)width - 1, box->name, look);
}

/* An unfinished call has no end: its box continues to the cell in which the recording ended and
 * points to the right. */
static void draw_open_end(
	const struct gt_event_box *box, const struct gt_picture *p, int y, struct gt_screen *to)
{
	int64_t column = gt_window_column(&p->scene->window, box->end - 1);

	if (column >= 0 && column < (int64_t)p->at.cells)
		gt_screen_put(
			to, (int)(p->at.left + column), y, GT_OPEN_END, gt_unfinished_end_look);
}

static void draw_boxes(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to)
{
	for (size_t i = 0; p->heights == GT_HEIGHT_BUSY && i < p->at.nlanes; i++) {
		size_t n;
		const struct gt_event_box *boxes = gt_event_boxes_get(d->boxes, i, &n);

		for (size_t k = 0; k < n; k++) {
			unsigned from, end, next, behind;

			gt_event_box_cells(&boxes[k], &p->scene->window, &from, &end);
			/* of two that overlap the first one's name ends where the second one begins
			 */
			if (k + 1 < n)
				gt_event_box_cells(
					&boxes[k + 1], &p->scene->window, &next, &behind);
			end = k + 1 < n && next < end ? next : end;
			if (end > from)
				draw_box(d, &boxes[k], (int)(p->at.left + from),
					p->at.lanes + (int)i, end - from, to);
			if (boxes[k].open)
				draw_open_end(&boxes[k], p, p->at.lanes + (int)i, to);
		}
	}
}

/* Highlights the selection in its lane by the background of its cells. */
static void draw_picked(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_cell_window *w = &p->scene->window;
	int64_t from, end;
	unsigned a, b;

	if (d->pick.what == GT_SELECTION_NONE)
		return;
	gt_selection_range(&d->pick, &from, &end);
	if (!gt_window_columns(w, from, end > from ? end - 1 : end, &a, &b))
		return;
	for (size_t i = 0; i < p->at.nlanes && p->top + i < p->lanes->n; i++) {
		struct gt_lane_key lane = gt_lane_of_line(&p->lanes->lines[p->top + i]);

		if (p->lanes->lines[p->top + i].aspect && gt_same_lane(&lane, &d->pick.lane))
			gt_screen_set_paper(to, (int)(p->at.left + a), p->at.lanes + (int)i,
				(int)(b - a + 1), 1, GT_INK_SELECTED);
	}
}

/* The union of the calls of a process, for a thread that has no line. */
static const struct gt_lane_line *line_of_process(
	const struct gt_timeline_interaction *d, const struct gt_event_ref *call)
{
	const struct gt_strip_key *of = &call->lane.strip;

	for (size_t i = 0; i < d->lanes->n; i++) {
		const struct gt_lane_line *line = &d->lanes->lines[i];

		if (line->derived && line->aspect == GT_ASPECT_CALLS &&
			line->segment == of->segment &&
			gt_archive_above(d->scene->archive, of->segment, of->track) == line->track)
			return line;
	}
	return NULL;
}

/* The column of a time and the line on the screen, both within the lanes. */
static void place_end(
	const struct gt_picture *p, int64_t t, const struct gt_lane_line *line, int *x, int *y)
{
	int64_t column = gt_window_column(&p->scene->window, t), last = (int64_t)p->at.cells - 1;
	size_t i = (size_t)(line - p->lanes->lines);

	*x = (int)p->at.left + (int)(column < 0 ? 0 : column > last ? last : column);
	*y = p->at.lanes +
		(i < p->top                                  ? -1
				: i - p->top >= p->at.nlanes ? (int)p->at.nlanes
							     : (int)(i - p->top));
}

/* The arrow between the selection and its partner, if any of it is visible. */
static void draw_link(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_selection *s = &d->pick;
	const struct gt_lane_line *call, *work;
	struct gt_link_arrow a;
	int64_t from, until;

	if (!s->is_linked || s->what != GT_SELECTION_ROW)
		return;
	call = gt_interaction_line_of(d, &s->call);
	call = call ? call : line_of_process(d, &s->call);
	work = gt_interaction_line_of(d, s->row.kind == GT_GPU ? &s->row : &s->work);
	from = gt_event_ref_end(&s->call) -
		gt_archive_offset(p->scene->archive, s->call.lane.strip.segment);
	until = s->work.start - gt_archive_offset(p->scene->archive, s->work.lane.strip.segment);
	if (!call || !work || until < p->scene->window.from || from >= p->scene->window.to)
		return;
	place_end(p, from, call, &a.from_x, &a.from_y);
	place_end(p, until, work, &a.to_x, &a.to_y);
	gt_link_arrow_draw(&a, to);
}

static bool stands_on_it(const struct gt_timeline_interaction *d, const struct gt_picture *p)
{
	const struct gt_timeline_cursor at = {
		.line = p->cursor < p->lanes->n ? &p->lanes->lines[p->cursor] : NULL,
		.column = p->column,
		.time = gt_cell_start(&p->scene->window, p->column)
	};
	struct gt_selection_origin from;

	return gt_interaction_place(d, &at, &from) && from.on_it;
}

/* ---- marks and bookmarks ---- */

static int marks_line(const struct gt_picture *p)
{
	return p->at.marks >= 0 ? p->at.marks : p->at.axis;
}

/* Returns the next column with a bookmark or a mark after bookmark i. */
static int64_t next_mark(const struct gt_scene *s, size_t i)
{
	const struct gt_bookmark *b = s->bookmarks.list;
	int64_t column = gt_window_column(&s->window, s->extent.from + b[i].at),
		next = s->window.cells;

	if (i + 1 < s->bookmarks.n &&
		gt_window_column(&s->window, s->extent.from + b[i + 1].at) < next)
		next = gt_window_column(&s->window, s->extent.from + b[i + 1].at);
	for (unsigned k = 0; k < s->marks.n; k++) {
		int64_t mark = gt_window_column(&s->window, s->marks.at[k]);

		next = mark > column && mark < next ? mark : next;
	}
	return next;
}

/* Draws bookmarks; with names if they have their own line and the name fits before the next one. */
static void draw_bookmarks(const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_look look = { GT_INK_TEXT, GT_INK_MARK, 0 };
	const struct gt_scene *s = p->scene;

	for (size_t i = 0; i < s->bookmarks.n; i++) {
		int64_t column =
			gt_window_column(&s->window, s->extent.from + s->bookmarks.list[i].at);
		int x = (int)p->at.left + (int)column, room;

		if (column < 0 || column >= (int64_t)p->at.cells)
			continue;
		gt_screen_put(to, x, marks_line(p), '*', look);
		room = (int)(next_mark(s, i) - column) - 2;
		if (p->at.marks >= 0 && room >= NAME_LEAST)
			gt_screen_text(to, x + 1, p->at.marks, room, s->bookmarks.list[i].name,
				gt_look_faint);
	}
}

/* Draws the figures between the marks. They replace the details of the cell. */
static void draw_marks(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_look look = { GT_INK_TEXT, GT_INK_NONE, GT_BOLD };
	const struct gt_marks_at at = { (int)p->at.left, marks_line(p), p->at.lanes, p->at.nlanes,
		p->at.marks >= 0 };
	char text[300], lane[GT_LANE_LABEL] = "";

	gt_marks_draw(&d->scene->marks, &p->scene->window, &at, to);
	if (p->cursor < p->lanes->n)
		gt_lanes_label(p->lanes, &p->lanes->lines[p->cursor], lane);
	if (p->at.detail < 0 ||
		!gt_marks_describe(&d->scene->marks, &p->scene->times, p->scene->extent.to, lane,
			text, sizeof(text)))
		return;
	gt_screen_fill(to, 0, p->at.detail, (int)p->at.width, 1, ' ', look);
	gt_screen_text(to, 0, p->at.detail, -1, text, look);
}

/* Draws the search expression, or the line of the searched stack, at the right of the title, else
 * of the axis. */
static void draw_finds(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_look look = { GT_INK_TEXT, GT_INK_FOUND, 0 };
	int y = p->at.title >= 0 ? p->at.title : p->at.axis, width;
	const char *expression;
	char text[GT_SEARCH_REGEX_SIZE + 60];
	bool complete;
	uint64_t n;

	if (!d->name_search && !d->stack_search)
		return;
	n = d->name_search ? gt_name_search_count(d->name_search, &complete)
			   : gt_stack_search_count(d->stack_search, &complete);
	expression = d->name_search ? gt_name_search_regex(d->name_search)
				    : gt_stack_search_name(d->stack_search);
	snprintf(text, sizeof(text), " %s%.*s  %s%" PRIu64 " event%s%s ",
		d->name_search ? "/" : "stack of ", gt_search_regex_brief(expression), expression,
		complete ? "" : "at least ", n, gt_plural(n, "s"), complete ? "" : ", counting");
	width = (int)gt_utf8_width(text);
	gt_screen_text(to, (int)p->at.width - width, y, width, text, look);
}

/* Draws the selection in one line if there is no pane. */
static void draw_brief(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_look bad = { GT_INK_ERROR, GT_INK_NONE, 0 };
	int y = p->at.detail, x;

	if (d->pane.height || y < 0 || !d->detail.n || !stands_on_it(d, p))
		return;
	gt_screen_fill(to, 0, y, (int)p->at.width, 1, ' ', gt_look_plain);
	x = gt_screen_text(to, 0, y, (int)p->at.width / 2, d->detail.title, gt_look_heading);
	for (size_t i = 0; i < d->detail.n; i++) {
		const struct gt_detail_line *line = &d->detail.lines[i];

		if (line->ink == GT_INK_ERROR || !strcmp(line->name, "duration") ||
			!strcmp(line->name, "so far") || !strcmp(line->name, "start"))
			x += gt_screen_printf(to, x, y, -1,
				line->ink == GT_INK_ERROR ? bad : gt_look_plain, "  %s %s",
				line->name, line->value);
	}
}

/* Draws the cursor again over the boxes. */
static void draw_cursor(const struct gt_picture *p, struct gt_screen *to)
{
	if (p->cursor >= p->top && p->cursor < p->lanes->n && p->cursor - p->top < p->at.nlanes)
		gt_screen_set_paper(to, (int)(p->at.left + p->column),
			p->at.lanes + (int)(p->cursor - p->top), 1, 1, GT_INK_CURSOR);
}

static void draw_said(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to)
{
	char progress[80];
	const char *said = gt_selection_progress(&d->pick, progress);

	said = said ? said : d->pick.status_text;
	if (!*said || p->at.status < 0)
		return;
	gt_screen_fill(to, 0, p->at.status, (int)p->at.width, 1, ' ', gt_look_alert);
	gt_screen_text(to, 0, p->at.status, -1, said, gt_look_alert);
}

void gt_interaction_draw(
	const struct gt_timeline_interaction *d, const struct gt_picture *p, struct gt_screen *to)
{
	draw_boxes(d, p, to);
	if (p->scene->is_static) {
		draw_marks(d, p, to);
		return;
	}
	draw_picked(d, p, to);
	draw_link(d, p, to);
	draw_cursor(p, to);
	draw_brief(d, p, to);
	draw_bookmarks(p, to);
	draw_marks(d, p, to);
	draw_finds(d, p, to);
	gt_pane_draw(&d->pane, &d->detail, to);
	draw_said(d, p, to);
}
