/* A search starts after (or before) the cursor. If it reaches the end of the trace, it continues
 * from the other end, and the status text says so. So one key finds the first failure from
 * anywhere, and the only match is found again.
 *
 * A gap is at least one whole cell without events at the current zoom: at a finer zoom there is
 * one between nearly any two kernels. Cells are searched one window at a time. Rows are read
 * only at an idle cell, for the exact ends of the gap. */
#include "viewer/timeline/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "viewer/cells/lane_cells.h"

#define GAP_CELLS 512u /* cells per step */

struct gt_selection_job {
	const char *what; /* the word for the target in messages */
	/* of a gap: the lane to search; else the lane to select on, if the row is on it */
	struct gt_lane_key lane;
	bool backward;
	/* rows of some kind */
	struct gt_event_search *search;
	struct gt_search_spec spec;
	int64_t from; /* start of the search, the viewer's time */
	bool again;   /* the search continues from the other end of the trace */
	/* gaps */
	struct gt_lane_cells *strips;
	struct gt_cell_window window;
	bool is_requested; /* the cells of the window */
	bool longest;      /* the longest gap of the window */
};

/* ---- the selection ---- */

static int64_t viewer_time(const struct gt_selection *p, const struct gt_event_ref *row)
{
	return row->start - gt_archive_offset(p->archive, row->lane.strip.segment);
}

void gt_selection_range(const struct gt_selection *p, int64_t *from, int64_t *to)
{
	if (p->what == GT_SELECTION_DAMAGED) {
		*from = p->hole.from;
		*to = p->hole.to;
		return;
	}
	*from = viewer_time(p, &p->row);
	*to = *from + p->row.dur;
	if (p->what == GT_SELECTION_GAP) {
		*from = *to;
		*to = viewer_time(p, &p->after);
	}
}

void gt_select_nothing(struct gt_selection *p)
{
	p->what = GT_SELECTION_NONE;
	p->status_text[0] = 0;
}

int gt_select_row(
	struct gt_selection *p, const struct gt_lane_key *lane, const struct gt_event_ref *row)
{
	p->what = GT_SELECTION_ROW;
	p->lane = *lane;
	p->row = *row;
	p->is_new = true;
	return 0;
}

/* Stops the search and clears the status text before each jump. */
static void begin_anew(struct gt_selection *p)
{
	gt_selection_stop(p);
	p->status_text[0] = 0;
}

static int say(struct gt_selection *p, const char *what)
{
	snprintf(p->status_text, sizeof(p->status_text), "%s", what);
	return 0;
}

/* Selects the row that a lookup returned, or sets the status text. */
static int pick_or_say(struct gt_selection *p, const struct gt_lane_key *lane, int code,
	const struct gt_event_ref *row, const char *none)
{
	if (code > 0)
		return gt_select_row(p, lane, row);
	return code ? code : say(p, none);
}

/* ---- rows nearby ---- */

static int64_t segment_time(const struct gt_selection *p, const struct gt_lane_key *lane, int64_t t)
{
	return t + gt_archive_offset(p->archive, lane->strip.segment);
}

/* The next start may be far away, so the covering row is searched first. */
int gt_select_cell(struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err)
{
	int64_t from = segment_time(p, &at->lane, at->from),
		to = segment_time(p, &at->lane, at->to);
	struct gt_event_ref row, none = gt_event_ref_of_time(from, true);
	int code;

	begin_anew(p);
	code = gt_event_at(p->archive, &at->lane, from, from + 1, &row, err);
	if (!code)
		code = gt_event_next(p->archive, &at->lane, &none, true, &row, err);
	if (code > 0 && row.start >= to)
		code = 0;
	return pick_or_say(p, &at->lane, code, &row, "no event here; Tab: next event");
}

int gt_select_damaged(
	struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err)
{
	struct gt_damaged_range hole;
	int code;

	if (p->what == GT_SELECTION_DAMAGED && at->on_it)
		return gt_select_cell(p, at, err);
	begin_anew(p);
	code = gt_damaged_range_at(
		p->archive, &at->lane.strip, at->from, at->to, at->to - at->from, &hole, err);
	if (code <= 0)
		return code ? code : gt_select_cell(p, at, err);
	p->what = GT_SELECTION_DAMAGED;
	p->lane = at->lane;
	p->row = (struct gt_event_ref){ .lane = at->lane };
	p->hole = hole;
	p->is_new = true;
	return 0;
}

/* For jumps that start from a row: selects the row here unless one is selected. 1; 0: there is
 * none, and the status text says so; negative: error. */
static int select_row(
	struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err)
{
	int code = 0;

	begin_anew(p);
	if (p->what != GT_SELECTION_ROW || !at->on_it)
		code = gt_select_cell(p, at, err);
	if (p->what == GT_SELECTION_ROW)
		p->status_text[0] = 0;
	return code ? code : !p->status_text[0];
}

int gt_select_neighbour(
	struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err)
{
	bool own = at->on_it && p->what != GT_SELECTION_NONE;
	struct gt_event_ref row,
		from = gt_event_ref_of_time(segment_time(p, &at->lane, at->from), by > 0);
	int code;

	begin_anew(p);
	if (own && p->what == GT_SELECTION_GAP)
		return gt_select_row(p, &p->lane, by < 0 ? &p->row : &p->after);
	if (own && p->what == GT_SELECTION_DAMAGED)
		from = gt_event_ref_of_time(
			segment_time(p, &p->lane, by < 0 ? p->hole.from : p->hole.to), by > 0);
	else if (own)
		from = p->row;
	code = gt_event_next(p->archive, &at->lane, &from, by > 0, &row, err);
	return pick_or_say(p, &at->lane, code, &row,
		by < 0 ? "no earlier event on this lane" : "no later event on this lane");
}

int gt_select_exact(struct gt_selection *p, const struct gt_lane_key *lane, int64_t start,
	uint64_t dur, struct gt_err *err)
{
	struct gt_event_ref row, at = gt_event_ref_of_time(start, true);
	int code;

	begin_anew(p);
	do {
		code = gt_event_next(p->archive, lane, &at, true, &row, err);
		at = row;
	} while (code > 0 && row.start == start && (uint64_t)row.dur != dur);
	if (code > 0 && row.start != start)
		code = 0;
	return pick_or_say(p, lane, code, &row, "it cannot be read");
}

/* ---- searches of all of the trace ---- */

static struct gt_selection_job *new_job(struct gt_selection *p,
	const struct gt_selection_origin *at, const char *what, bool backward, struct gt_err *err)
{
	begin_anew(p);
	p->job = calloc(1, sizeof(*p->job));
	if (!p->job) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	p->job->what = what;
	p->job->lane = at->lane;
	p->job->backward = backward;
	return p->job;
}

static int begin_event_search(struct gt_selection *p, int64_t from, int64_t to, struct gt_err *err)
{
	struct gt_selection_job *j = p->job;

	gt_event_search_free(j->search);
	j->spec.from = from;
	j->spec.to = to;
	j->search = gt_event_search_new(p->archive, &j->spec, err);
	return j->search ? 0 : err->code;
}

/* Starts a search after the selection or the cell's start; backwards: before it. */
static int begin_from(struct gt_selection *p, const struct gt_selection_origin *at,
	const char *what, int by, struct gt_search_spec spec, struct gt_err *err)
{
	struct gt_selection_job *j = new_job(p, at, what, by < 0, err);
	int64_t end;

	if (!j)
		return err->code;
	spec.backward = j->backward;
	j->spec = spec;
	j->from = j->backward ? at->from : at->from - 1;
	if (at->on_it && p->what != GT_SELECTION_NONE)
		gt_selection_range(p, &j->from, &end);
	return j->backward ? begin_event_search(p, INT64_MIN, j->from, err)
			   : begin_event_search(p, j->from + 1, INT64_MAX, err);
}

int gt_select_of_types(struct gt_selection *p, const struct gt_selection_origin *at,
	const struct gt_selection_types *types, int by, struct gt_err *err)
{
	return begin_from(p, at, types->what, by,
		(struct gt_search_spec){
			.what = GT_SEARCH_TYPE, .wants = types->wants, .arg = types->arg },
		err);
}

int gt_select_of_stack(struct gt_selection *p, const struct gt_selection_origin *at,
	const struct gt_stack_search *stack, int by, struct gt_err *err)
{
	return begin_from(p, at, "other event of this stack", by,
		(struct gt_search_spec){ .what = GT_SEARCH_STACK, .stack = stack }, err);
}

static bool has_name(const struct gt_segment *seg, const struct gt_type *type, void *name)
{
	return !strcmp(gt_str(seg, type->name), name);
}

int gt_select_same_name(
	struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err)
{
	struct gt_selection_origin here = *at;
	struct gt_search_spec spec = { .what = GT_SEARCH_TYPE, .wants = has_name };
	int code = select_row(p, at, err);

	if (code <= 0)
		return code;
	here.on_it = true;
	spec.arg = (void *)(uintptr_t)gt_event_name(p->archive, &p->row);
	return begin_from(p, &here, "another of this name", by, spec, err);
}

int gt_select_failure(
	struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err)
{
	return begin_from(
		p, at, "failed call", by, (struct gt_search_spec){ .what = GT_SEARCH_ERROR }, err);
}

static int search_launched(
	struct gt_selection *p, const struct gt_event_ref *call, struct gt_err *err)
{
	struct gt_selection_job *j = p->job;

	j->spec.what = GT_SEARCH_LAUNCHED;
	j->spec.call = call;
	return begin_event_search(p, viewer_time(p, call), INT64_MAX, err);
}

/* True if the call may have launched work: a search from any other call would read the whole
 * trace for nothing. */
static bool may_launch(const struct gt_selection *p, const struct gt_event_ref *row)
{
	const struct gt_segment *seg =
		gt_reader_segment(gt_archive_reader(p->archive), row->lane.strip.segment);
	unsigned op = row->type < seg->ntypes ? seg->types[row->type].op : GT_OP_NONE;

	return seg->rows[GT_GPU] &&
		(op == GT_OP_LAUNCH || op == GT_OP_GRAPH_LAUNCH || op == GT_OP_COPY ||
			op == GT_OP_SET || op == GT_OP_MAP);
}

/* Finds the call within a call: a runtime call contains the driver call that does the work. */
static int call_within(struct gt_selection *p, const struct gt_event_ref *call,
	struct gt_event_ref *within, struct gt_err *err)
{
	struct gt_lane_key lane = call->lane;
	struct gt_event_ref from = gt_event_ref_of_time(call->start, true);
	int code;

	lane.depth++;
	code = gt_event_next(p->archive, &lane, &from, true, within, err);
	while (code > 0 && gt_event_ref_end(within) <= gt_event_ref_end(call) &&
		!may_launch(p, within)) {
		from = *within;
		code = gt_event_next(p->archive, &lane, &from, true, within, err);
	}
	return code > 0 ? gt_event_ref_end(within) <= gt_event_ref_end(call) : code;
}

/* The selected call, or the innermost call in it that launches: GPU work refers to that one. 1; 0:
 * it launches nothing; negative: error. */
static int launching_call(struct gt_selection *p, struct gt_event_ref *call, struct gt_err *err)
{
	struct gt_event_ref within;
	int code = 1;

	*call = p->row;
	for (unsigned i = 0; code > 0 && i < 4; i++) {
		code = call_within(p, call, &within, err);
		if (code > 0)
			*call = within;
	}
	return code < 0 ? code : may_launch(p, call);
}

static int launched_by(
	struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err)
{
	struct gt_event_ref call;
	int code = launching_call(p, &call, err);

	if (code < 0)
		return code;
	if (!code)
		return say(p, "this call launches no work of a GPU that is recorded");
	return new_job(p, at, "the GPU work of this call", false, err)
		? search_launched(p, &call, err)
		: err->code;
}

int gt_select_partner(
	struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err)
{
	struct gt_event_ref call;
	int code = select_row(p, at, err);

	if (code <= 0)
		return code;
	if (p->row.kind == GT_CALL || p->row.kind == GT_OPEN)
		return launched_by(p, at, err);
	if (p->row.kind != GT_GPU)
		return say(p, "select a call or GPU work first");
	code = gt_event_launch(p->archive, &p->row, &call, err);
	return pick_or_say(p, &call.lane, code, &call, "the launching call is not recorded");
}

static bool is_row(const struct gt_event_ref *a, const struct gt_event_ref *b)
{
	return gt_same_lane(&a->lane, &b->lane) && a->start == b->start && a->dur == b->dur &&
		a->type == b->type;
}

static void unlink_partner(struct gt_selection *p)
{
	gt_event_search_free(p->link_search);
	p->link_search = NULL;
	p->is_linked = false;
}

#define LINK_NS 1000000000 /* work that starts later is not searched */

/* Starts the search for the work of the selected call. */
static int search_work(struct gt_selection *p, struct gt_err *err)
{
	struct gt_search_spec spec = { .what = GT_SEARCH_LAUNCHED, .call = &p->call };
	int code = launching_call(p, &p->call, err);

	if (code <= 0)
		return code;
	spec.from = viewer_time(p, &p->call);
	spec.to = spec.from + p->call.dur + LINK_NS;
	p->link_search = gt_event_search_new(p->archive, &spec, err);
	return p->link_search ? 0 : err->code;
}

int gt_selection_link(struct gt_selection *p, struct gt_err *err)
{
	bool row = p->what == GT_SELECTION_ROW;
	int code;

	if (row && p->is_linked && (is_row(&p->row, &p->call) || is_row(&p->row, &p->work)))
		return 0;
	unlink_partner(p);
	if (row && p->row.kind == GT_CALL)
		return search_work(p, err);
	if (!row || p->row.kind != GT_GPU)
		return 0;
	code = gt_event_launch(p->archive, &p->row, &p->call, err);
	p->work = p->row;
	p->is_linked = code > 0;
	return code < 0 ? code : 0;
}

int gt_selection_step_link(struct gt_selection *p, uint64_t us, struct gt_err *err)
{
	int code = p->link_search ? gt_event_search_step(p->link_search, us, err) : 0;

	if (code || !p->link_search)
		return code;
	p->is_linked = gt_event_search_result(p->link_search, &p->work);
	gt_event_search_free(p->link_search);
	p->link_search = NULL;
	return 0;
}

/* ---- gaps ---- */

/* Moves to the next window of cells in the direction of the search. */
static void next_cells(struct gt_selection_job *j)
{
	unsigned shift = j->window.shift;
	int64_t first = j->window.from >> shift;

	j->window = gt_aligned_window(
		first + (j->backward ? -(int64_t)GAP_CELLS : (int64_t)GAP_CELLS), shift, GAP_CELLS);
}

int gt_select_gap(
	struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err)
{
	struct gt_selection_job *j = new_job(p, at, "gap on this lane", by < 0, err);
	int64_t begin = j && j->backward ? at->from - 1 : at->from, from, to, first;

	if (!j)
		return err->code;
	if (at->on_it && p->what != GT_SELECTION_NONE) {
		gt_selection_range(p, &from, &to);
		begin = j->backward ? from - 1 : to;
	}
	j->strips = gt_lane_cells_new(p->archive);
	if (!j->strips)
		return gt_err_set(err, -ENOMEM, "out of memory");
	/* forward: the window begins with the first whole cell after `begin`; backward: it ends
	 * with the last whole cell before it */
	if (j->backward)
		first = ((begin + 1) >> at->shift) - (int64_t)GAP_CELLS;
	else
		first = (begin + (int64_t)((1ull << at->shift) - 1)) >> at->shift;
	j->window = gt_aligned_window(first, at->shift, GAP_CELLS);
	return 0;
}

static void pick_gap(struct gt_selection *p, const struct gt_lane_key *lane,
	const struct gt_event_ref *before, const struct gt_event_ref *after)
{
	p->what = GT_SELECTION_GAP;
	p->lane = *lane;
	p->row = *before;
	p->after = *after;
	p->is_new = true;
}

/* Selects the gap around an idle cell if there are rows on both sides. 1; 0: there is no gap;
 * negative: error. */
static int try_cell(struct gt_selection *p, int64_t t, struct gt_err *err)
{
	const struct gt_lane_key *lane = &p->job->lane;
	struct gt_event_ref before, after;
	int code = gt_gap_at(p->archive, lane, segment_time(p, lane, t), &before, &after, err);

	if (code > 0)
		pick_gap(p, lane, &before, &after);
	return code;
}

static int look_at_cells(struct gt_selection *p, struct gt_err *err)
{
	struct gt_selection_job *j = p->job;
	struct gt_cell_sums cells[GAP_CELLS];
	int64_t low, high;
	int code = 0;

	gt_archive_extent(p->archive, &low, &high);
	gt_lane_cells_get(j->strips, 0, j->lane.depth, cells);
	for (unsigned k = 0; !code && k < GAP_CELLS; k++) {
		unsigned i = j->backward ? GAP_CELLS - 1 - k : k;
		int64_t t = gt_cell_start(&j->window, i);
		/* the previous cell was in the same gap */
		bool beside = k && !cells[j->backward ? i + 1 : i - 1].busy;

		if (cells[i].sureness == GT_CELL_EXACT && !cells[i].busy && !cells[i].count &&
			!beside && t >= low && t <= high)
			code = try_cell(p, t, err);
	}
	return code;
}

/* 1: there is more to do. */
static int step_gap(struct gt_selection *p, uint64_t us, struct gt_err *err)
{
	struct gt_selection_job *j = p->job;
	int64_t low, high;
	int code;

	gt_archive_extent(p->archive, &low, &high);
	if (!j->is_requested) {
		if (j->backward ? gt_window_end(&j->window) < low
				: gt_cell_start(&j->window, 0) > high) {
			gt_selection_stop(p);
			return say(p,
				"there is no further gap as wide as a cell: zoom in for shorter ones");
		}
		j->is_requested = true;
		code = gt_lane_cells_request(j->strips, &j->window, &j->lane.strip, 1, err);
		if (code < 0)
			return code;
	}
	code = gt_lane_cells_step(j->strips, us, err);
	if (code)
		return code;
	code = look_at_cells(p, err);
	if (code > 0)
		gt_selection_stop(p);
	if (code)
		return code < 0 ? code : 0;
	next_cells(j);
	j->is_requested = false;
	return 1;
}

/* ---- steps of a search ---- */

static const struct gt_lane_key *lane_for(
	const struct gt_selection_job *j, const struct gt_event_ref *row)
{
	unsigned depth;

	return j->lane.strip.track == row->lane.strip.track &&
			j->lane.strip.segment == row->lane.strip.segment &&
			gt_strip_shows(
				&j->lane.strip, row->lane.strip.aspect, row->lane.depth, &depth) &&
			depth == j->lane.depth
		? &j->lane
		: &row->lane;
}

static int end_event_search(struct gt_selection *p, struct gt_err *err)
{
	struct gt_selection_job *j = p->job;
	struct gt_event_ref row;
	char text[120];
	int code = 0;

	if (gt_event_search_result(j->search, &row)) {
		code = gt_select_row(p, lane_for(j, &row), &row);
		if (j->again && !code)
			say(p,
				j->backward ? "search continued from the end"
					    : "search continued from the start");
	} else if (j->again || j->spec.what == GT_SEARCH_LAUNCHED) {
		snprintf(text, sizeof(text),
			j->spec.what == GT_SEARCH_LAUNCHED ? "%s is not recorded"
							   : "there is no %s",
			j->what);
		say(p, text);
	} else {
		j->again = true;
		return begin_event_search(p, j->backward ? j->from : INT64_MIN,
			       j->backward ? INT64_MAX : j->from + 1, err)
			? err->code
			: 1;
	}
	gt_selection_stop(p);
	return code;
}

/* ---- the longest gap ---- */

#define FINE_CELLS 16384u /* of the window: a gap of a few of them is found */

int gt_select_longest_gap(struct gt_selection *p, const struct gt_selection_origin *at,
	const struct gt_cell_window *w, struct gt_err *err)
{
	struct gt_selection_job *j = new_job(p, at, "longest gap", false, err);
	uint64_t span = (uint64_t)w->to - (uint64_t)w->from;

	if (!j)
		return err->code;
	j->longest = true;
	j->window = (struct gt_cell_window){ .from = w->from,
		.to = w->to,
		.cells = span < FINE_CELLS ? (unsigned)span : FINE_CELLS };
	j->strips = gt_lane_cells_new(p->archive);
	if (!j->strips ||
		gt_lane_cells_request(j->strips, &j->window, &j->lane.strip, 1, err) < 0) {
		gt_selection_stop(p);
		return gt_err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* The number of idle cells from cell i on. */
static unsigned idle_cells(const struct gt_cell_sums *cells, unsigned i, unsigned n)
{
	unsigned k = i;

	while (k < n && cells[k].sureness == GT_CELL_EXACT && !cells[k].busy && !cells[k].count)
		k++;
	return k - i;
}

/* Selects the longest gap around idle cells. A gap of n idle cells is shorter than one of n + 2. 1;
 * 0: there is none; negative: error. */
static int pick_longest(
	struct gt_selection *p, const struct gt_cell_sums *cells, struct gt_err *err)
{
	const struct gt_lane_key lane = p->job->lane;
	const struct gt_cell_window w = p->job->window;
	unsigned most = 0, n;
	int64_t longest = 0;

	for (unsigned i = 0; i < w.cells; i += n + !n) {
		struct gt_event_ref before, after;
		int code;

		n = idle_cells(cells, i, w.cells);
		if (!n || n + 2 < most)
			continue;
		code = gt_gap_at(p->archive, &lane,
			segment_time(p, &lane, gt_cell_start(&w, i + n / 2)), &before, &after, err);
		if (code < 0)
			return code;
		if (!code || after.start - gt_event_ref_end(&before) <= longest)
			continue;
		most = n > most ? n : most;
		longest = after.start - gt_event_ref_end(&before);
		pick_gap(p, &lane, &before, &after);
	}
	return longest > 0;
}

/* 1: there is more to do. */
static int step_longest(struct gt_selection *p, uint64_t us, struct gt_err *err)
{
	struct gt_selection_job *j = p->job;
	struct gt_cell_sums *cells;
	int code = gt_lane_cells_step(j->strips, us, err);

	if (code)
		return code;
	cells = malloc(j->window.cells * sizeof(*cells));
	if (!cells)
		return gt_err_set(err, -ENOMEM, "out of memory");
	gt_lane_cells_get(j->strips, 0, j->lane.depth, cells);
	code = pick_longest(p, cells, err);
	free(cells);
	gt_selection_stop(p);
	return code < 0 ? code
			: say(p,
				  code ? "F zooms to this gap"
				       : "no gap between two events of this lane is visible");
}

int gt_selection_step(struct gt_selection *p, uint64_t us, struct gt_err *err)
{
	int code = 1;

	while (code > 0 && p->job) {
		if (!p->job->search) {
			code = p->job->longest ? step_longest(p, us, err) : step_gap(p, us, err);
		} else {
			code = gt_event_search_step(p->job->search, us, err);
			if (!code)
				code = end_event_search(p, err);
		}
		if (us)
			break;
	}
	return p->job ? code : code < 0 ? code : 0;
}

bool gt_selection_stop(struct gt_selection *p)
{
	struct gt_selection_job *j = p->job;

	p->job = NULL;
	if (!j)
		return false;
	gt_event_search_free(j->search);
	gt_lane_cells_free(j->strips);
	free(j);
	return true;
}

const char *gt_selection_progress(const struct gt_selection *p, char to[80])
{
	const struct gt_selection_job *j = p->job;

	if (!j)
		return NULL;
	if (j->search)
		snprintf(to, 80, "searching for %s: %u%%   Esc: stop", j->what,
			gt_event_search_percent(j->search));
	else
		snprintf(to, 80, "searching for %s %s   Esc: stop", j->longest ? "the" : "a",
			j->what);
	return to;
}

void gt_selection_detach(struct gt_selection *p)
{
	struct gt_event_ref *rows[] = { &p->row, &p->after };

	gt_selection_stop(p);
	unlink_partner(p);
	for (unsigned i = 0; i < 2; i++)
		if (rows[i]->block) {
			p->saved_blocks[i] = *rows[i]->block;
			rows[i]->block = &p->saved_blocks[i];
		}
	p->archive = NULL;
}

/* An unfinished call is written again with every epoch: it is still open or has returned. */
static bool is_open_again(struct gt_selection *p, struct gt_event_ref *row, struct gt_err *err)
{
	struct gt_event_ref now;

	if (gt_event_at(p->archive, &row->lane, row->start, row->start + 1, &now, err) <= 0 ||
		now.start != row->start || now.type != row->type)
		return false;
	*row = now;
	return true;
}

static bool is_there_again(struct gt_selection *p, struct gt_event_ref *row, struct gt_err *err)
{
	const struct gt_lane_key *lane = &row->lane;

	row->block = row->block ? gt_archive_same_block(p->archive, lane->strip.segment,
					  lane->strip.track, row->block)
				: NULL;
	return row->block || (row->kind == GT_OPEN && is_open_again(p, row, err));
}

int gt_selection_reopen(struct gt_selection *p, struct gt_archive *a, struct gt_err *err)
{
	struct gt_damaged_range was = p->hole;
	bool there = p->what != GT_SELECTION_NONE;

	p->archive = a;
	if (p->what == GT_SELECTION_DAMAGED)
		there = gt_damaged_range_at(
				a, &p->lane.strip, was.from, was.to, was.apart, &p->hole, err) > 0;
	else if (there)
		there = is_there_again(p, &p->row, err);
	if (there && p->what == GT_SELECTION_GAP)
		there = is_there_again(p, &p->after, err);
	if (!there)
		p->what = GT_SELECTION_NONE;
	return err->code;
}

void gt_selection_release(struct gt_selection *p)
{
	gt_event_search_free(p->link_search);
	gt_selection_stop(p);
	*p = (struct gt_selection){ .archive = NULL };
}
