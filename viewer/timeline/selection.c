/* Searches of the whole trace begin behind (or before) where the user is and end there: what is not found until the end of the trace is
 * looked for from its start, and it is said so. So the first failure is one key away wherever one is, and the last one found is found
 * again rather than nothing.
 *
 * A gap is at least one whole cell without anything, at the zoom that is seen: at a finer one nearly every two kernels have some. Cells
 * are gone through a window's worth at a time, and only at the one that is idle are rows looked at, for the exact ends of the gap. */
#include "viewer/timeline/selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP_CELLS 512u		/* that are looked at in one go */

struct gt_choice_job {
	const char *what;		/* that is searched, in words */
	struct gt_lane_of lane;		/* GAP: on which; else on which it is picked, if it is there */
	bool backward;
	/* rows of some kind */
	struct gt_hunt *hunt;
	struct gt_hunt_for wanted;
	char name[400];			/* of rows of the same name */
	int64_t from;			/* where it began, the viewer's time */
	bool again;			/* from the other end of the trace */
	struct gt_found call;
	unsigned below;			/* calls in it that were tried instead of it */
	/* gaps */
	struct gt_strips *strips;
	struct gt_cell_window window;
	bool asked;
};

/* ---- what is picked ---- */

int64_t gt_choice_time(const struct gt_choice *p, const struct gt_found *row)
{
	return row->start - gt_archive_offset(p->archive, row->lane.strip.segment);
}

void gt_choice_range(const struct gt_choice *p, int64_t *from, int64_t *to)
{
	if (p->what == GT_PICKED_HOLE) {
		*from = p->hole.from;
		*to = p->hole.to;
		return;
	}
	*from = gt_choice_time(p, &p->row);
	*to = *from + p->row.dur;
	if (p->what == GT_PICKED_GAP) {
		*from = *to;
		*to = gt_choice_time(p, &p->behind);
	}
}

void gt_choice_nothing(struct gt_choice *p)
{
	p->what = GT_PICKED_NOTHING;
	p->said[0] = 0;
}

int gt_choice_row(struct gt_choice *p, const struct gt_lane_of *lane, const struct gt_found *row)
{
	p->what = GT_PICKED_ROW;
	p->lane = *lane;
	p->row = *row;
	p->go = true;
	return 0;
}

/* Before each jump. */
static void begin_anew(struct gt_choice *p)
{
	gt_choice_stop(p);
	p->said[0] = 0;
}

static int say(struct gt_choice *p, const char *what)
{
	snprintf(p->said, sizeof(p->said), "%s", what);
	return 0;
}

/* Takes over what a look at a lane returned. */
static int pick_or_say(struct gt_choice *p, const struct gt_lane_of *lane, int code, const struct gt_found *row, const char *none)
{
	if (code > 0)
		return gt_choice_row(p, lane, row);
	return code ? code : say(p, none);
}

/* ---- near by ---- */

static int64_t segment_time(const struct gt_choice *p, const struct gt_lane_of *lane, int64_t t)
{
	return t + gt_archive_offset(p->archive, lane->strip.segment);
}

/* Neighbours of a moment: of a row that nobody has, before all or behind all that start then. */
static struct gt_found moment(int64_t t, bool before_all)
{
	static const struct gt_block first = { .entry = 0 }, last = { .entry = UINT32_MAX };

	return (struct gt_found){ .block = before_all ? &first : &last, .row = before_all ? 0 : UINT32_MAX, .start = before_all ? t : t - 1 };
}

/* What starts next may be far away, and is looked for near by first. */
int gt_choice_here(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err)
{
	int64_t from = segment_time(p, &at->lane, at->from), to = segment_time(p, &at->lane, at->to);
	struct gt_found row, none = moment(from, false);
	int code;

	begin_anew(p);
	code = gt_event_at(p->archive, &at->lane, from, from + 1, &row, err);
	if (!code)
		code = gt_event_next(p->archive, &at->lane, &none, &row, err);
	if (code > 0 && row.start >= to)
		code = 0;
	return pick_or_say(p, &at->lane, code, &row, "nothing is here: Tab goes to what comes next");
}

int gt_choice_hole(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err)
{
	struct gt_hole hole;
	int code;

	if (p->what == GT_PICKED_HOLE && at->on_it)
		return gt_choice_here(p, at, err);
	begin_anew(p);
	code = gt_hole_at(p->archive, &at->lane.strip, at->from, at->to, at->to - at->from, &hole, err);
	if (code <= 0)
		return code ? code : gt_choice_here(p, at, err);
	p->what = GT_PICKED_HOLE;
	p->lane = at->lane;
	p->row = (struct gt_found){ .lane = at->lane };
	p->hole = hole;
	p->go = true;
	return 0;
}

/* For jumps that lead from a row, the one here or else the one that is picked: 1; 0: there is none, and that was said; negative. */
static int be_on_row(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err)
{
	int code = 0;

	begin_anew(p);
	if (p->what != GT_PICKED_ROW || !at->on_it)
		code = gt_choice_here(p, at, err);
	if (p->what == GT_PICKED_ROW)
		p->said[0] = 0;
	return code ? code : !p->said[0];
}

int gt_choice_beside(struct gt_choice *p, const struct gt_choice_at *at, int by, struct gt_err *err)
{
	bool own = at->on_it && p->what != GT_PICKED_NOTHING;
	struct gt_found row, from = moment(segment_time(p, &at->lane, at->from), by < 0);
	int code;

	begin_anew(p);
	if (own && p->what == GT_PICKED_GAP)
		return gt_choice_row(p, &p->lane, by < 0 ? &p->row : &p->behind);
	if (own && p->what == GT_PICKED_HOLE)
		from = moment(segment_time(p, &p->lane, by < 0 ? p->hole.from : p->hole.to), by < 0);
	else if (own)
		from = p->row;
	code = by < 0 ? gt_event_before(p->archive, &at->lane, &from, &row, err) : gt_event_next(p->archive, &at->lane, &from, &row, err);
	return pick_or_say(p, &at->lane, code, &row,
			   by < 0 ? "there is nothing before it on this lane" : "there is nothing behind it on this lane");
}

int gt_choice_exactly(struct gt_choice *p, const struct gt_lane_of *lane, int64_t start, uint64_t dur, struct gt_err *err)
{
	struct gt_found row, at = moment(start, false);
	int code;

	begin_anew(p);
	do {
		code = gt_event_next(p->archive, lane, &at, &row, err);
		at = row;
	} while (code > 0 && row.start == start && (uint64_t)row.dur != dur);
	if (code > 0 && row.start != start)
		code = 0;
	return pick_or_say(p, lane, code, &row, "it cannot be read");
}

/* ---- searches of all of the trace ---- */

static struct gt_choice_job *new_job(struct gt_choice *p, const struct gt_choice_at *at, const char *what, bool backward,
				     struct gt_err *err)
{
	begin_anew(p);
	p->job = calloc(1, sizeof(*p->job));
	if (!p->job) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	p->job->what = what;
	p->job->lane = at->lane;
	p->job->backward = p->job->wanted.backward = backward;
	return p->job;
}

static int begin_hunt(struct gt_choice *p, int64_t from, int64_t to, struct gt_err *err)
{
	struct gt_choice_job *j = p->job;

	gt_hunt_free(j->hunt);
	j->wanted.from = from;
	j->wanted.to = to;
	j->hunt = gt_hunt_new(p->archive, &j->wanted, err);
	return j->hunt ? 0 : err->code;
}

/* Behind what is picked, or behind the cell's beginning; backwards before these. */
static int begin_from(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err)
{
	struct gt_choice_job *j = p->job;
	int64_t picked, end;

	j->from = j->backward ? at->from : at->from - 1;
	if (at->on_it && p->what != GT_PICKED_NOTHING) {
		gt_choice_range(p, &picked, &end);
		j->from = picked;
	}
	return j->backward ? begin_hunt(p, INT64_MIN, j->from, err) : begin_hunt(p, j->from + 1, INT64_MAX, err);
}

static bool has_name(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct gt_choice_job *j = arg;

	return !strcmp(gt_str(seg, type->name), j->name);
}

int gt_choice_of_types(struct gt_choice *p, const struct gt_choice_at *at, const struct gt_choice_types *types, int by, struct gt_err *err)
{
	struct gt_choice_job *j = new_job(p, at, types->what, by < 0, err);

	if (!j)
		return err->code;
	j->wanted.what = GT_HUNT_TYPE;
	j->wanted.wants = types->wants;
	j->wanted.arg = types->arg;
	return begin_from(p, at, err);
}

int gt_choice_same(struct gt_choice *p, const struct gt_choice_at *at, int by, struct gt_err *err)
{
	struct gt_choice_job *j;
	const char *name;
	int code = be_on_row(p, at, err);

	if (code <= 0)
		return code;
	name = gt_event_name(p->archive, &p->row);
	j = new_job(p, at, "another of this name", by < 0, err);
	if (!j)
		return err->code;
	if (strlen(name) >= sizeof(j->name)) {
		gt_choice_stop(p);
		return say(p, "its name is too long for that");
	}
	strcpy(j->name, name);
	j->wanted.what = GT_HUNT_TYPE;
	j->wanted.wants = has_name;
	j->wanted.arg = j;
	return begin_from(p, &(struct gt_choice_at){ .on_it = true }, err);
}

int gt_choice_failure(struct gt_choice *p, const struct gt_choice_at *at, int by, struct gt_err *err)
{
	struct gt_choice_job *j = new_job(p, at, "failed call", by < 0, err);

	if (!j)
		return err->code;
	j->wanted.what = GT_HUNT_ERROR;
	return begin_from(p, at, err);
}

static int hunt_launched(struct gt_choice *p, const struct gt_found *call, struct gt_err *err)
{
	struct gt_choice_job *j = p->job;

	j->call = *call;
	j->wanted.what = GT_HUNT_LAUNCHED;
	j->wanted.call = &j->call;
	return begin_hunt(p, gt_choice_time(p, call), INT64_MAX, err);
}

/* Work is searched for only where a call may have launched some: else all of the trace would be gone through for nothing. */
static bool may_launch(const struct gt_choice *p, const struct gt_found *row)
{
	const struct gt_segment *seg = gt_reader_segment(gt_archive_reader(p->archive), row->lane.strip.segment);
	unsigned op = row->type < seg->ntypes ? seg->types[row->type].op : GT_OP_NONE;

	return seg->rows[GT_GPU] && (op == GT_OP_LAUNCH || op == GT_OP_GRAPH_LAUNCH || op == GT_OP_COPY || op == GT_OP_SET || op == GT_OP_MAP);
}

/* The call within a call, or -1: what the runtime's does is done by the driver's in it. */
static int call_within(struct gt_choice *p, const struct gt_found *call, struct gt_found *within, struct gt_err *err)
{
	struct gt_lane_of lane = call->lane;
	struct gt_found from = moment(call->start, false);
	int code;

	lane.depth++;
	code = gt_event_next(p->archive, &lane, &from, within, err);
	while (code > 0 && gt_found_end(within) <= gt_found_end(call) && !may_launch(p, within)) {
		from = *within;
		code = gt_event_next(p->archive, &lane, &from, within, err);
	}
	return code > 0 ? gt_found_end(within) <= gt_found_end(call) : code;
}

/* The innermost call that launches is the one that work knows of. */
static int launched_by(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err)
{
	struct gt_found call = p->row, within;
	int code = 1;

	for (unsigned i = 0; code > 0 && i < 4; i++) {
		code = call_within(p, &call, &within, err);
		if (code > 0)
			call = within;
	}
	if (code < 0)
		return code;
	if (!may_launch(p, &call))
		return say(p, "this call launches no work of a GPU that is recorded");
	return new_job(p, at, "what it launched", false, err) ? hunt_launched(p, &call, err) : err->code;
}

int gt_choice_partner(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err)
{
	struct gt_found call;
	int code = be_on_row(p, at, err);

	if (code <= 0)
		return code;
	if (p->row.kind == GT_CALL || p->row.kind == GT_OPEN)
		return launched_by(p, at, err);
	if (p->row.kind != GT_GPU)
		return say(p, "only a call and what it launched lead to one another");
	code = gt_event_launch(p->archive, &p->row, &call, err);
	return pick_or_say(p, &call.lane, code, &call, "which call launched it is not recorded");
}

/* ---- gaps ---- */

/* The window of cells that comes next: up to where the last one began, or from where it ended. */
static void next_cells(struct gt_choice_job *j) { j->window.first += j->backward ? -(int64_t)GAP_CELLS : (int64_t)GAP_CELLS; }

int gt_choice_gap(struct gt_choice *p, const struct gt_choice_at *at, int by, struct gt_err *err)
{
	struct gt_choice_job *j = new_job(p, at, "gap on this lane", by < 0, err);
	int64_t begin = j && j->backward ? at->from - 1 : at->from, from, to;

	if (!j)
		return err->code;
	if (at->on_it && p->what != GT_PICKED_NOTHING) {
		gt_choice_range(p, &from, &to);
		begin = j->backward ? from - 1 : to;
	}
	j->strips = gt_strips_new(p->archive);
	if (!j->strips)
		return gt_err_set(err, -ENOMEM, "out of memory");
	/* going on: the first whole cell behind it, of which the window begins with; going back: the last one before it ends it */
	j->window = (struct gt_cell_window){ .shift = at->shift, .cells = GAP_CELLS };
	if (j->backward)
		j->window.first = ((begin + 1) >> at->shift) - (int64_t)GAP_CELLS;
	else
		j->window.first = (begin + (int64_t)((1ull << at->shift) - 1)) >> at->shift;
	return 0;
}

static void pick_gap(struct gt_choice *p, const struct gt_found *before, const struct gt_found *behind)
{
	p->what = GT_PICKED_GAP;
	p->lane = p->job->lane;
	p->row = *before;
	p->behind = *behind;
	p->go = true;
}

/* An idle cell is in a gap if there are rows on both of its sides. 1: it was picked, 0: it is none, negative. */
static int try_cell(struct gt_choice *p, int64_t t, struct gt_err *err)
{
	const struct gt_lane_of *lane = &p->job->lane;
	struct gt_found before, behind;
	int code = gt_gap_at(p->archive, lane, segment_time(p, lane, t), &before, &behind, err);

	if (code > 0)
		pick_gap(p, &before, &behind);
	return code;
}

static int look_at_cells(struct gt_choice *p, struct gt_err *err)
{
	struct gt_choice_job *j = p->job;
	struct gt_cell_sums cells[GAP_CELLS];
	int64_t low, high;
	int code = 0;

	gt_archive_extent(p->archive, &low, &high);
	gt_strips_cells(j->strips, 0, j->lane.depth, cells);
	for (unsigned k = 0; !code && k < GAP_CELLS; k++) {
		unsigned i = j->backward ? GAP_CELLS - 1 - k : k;
		int64_t t = gt_cell_start(&j->window, i);
		bool beside = k && !cells[j->backward ? i + 1 : i - 1].busy;	/* this one was tried with the cell before */

		if (cells[i].sureness == GT_CELL_EXACT && !cells[i].busy && !cells[i].count && !beside && t >= low && t <= high)
			code = try_cell(p, t, err);
	}
	return code;
}

/* 1: there is more to do. */
static int step_gap(struct gt_choice *p, uint64_t us, struct gt_err *err)
{
	struct gt_choice_job *j = p->job;
	int64_t low, high;
	int code;

	gt_archive_extent(p->archive, &low, &high);
	if (!j->asked) {
		if (j->backward ? gt_window_end(&j->window) < low : gt_cell_start(&j->window, 0) > high) {
			gt_choice_stop(p);
			return say(p, "there is no further gap as wide as a cell: zoom in for shorter ones");
		}
		j->asked = true;
		code = gt_strips_want(j->strips, &j->window, &j->lane.strip, 1, err);
		if (code)
			return code;
	}
	code = gt_strips_step(j->strips, us, err);
	if (code)
		return code;
	code = look_at_cells(p, err);
	if (code > 0)
		gt_choice_stop(p);
	if (code)
		return code < 0 ? code : 0;
	next_cells(j);
	j->asked = false;
	return 1;
}

/* ---- going on ---- */

static const struct gt_lane_of *lane_for(const struct gt_choice_job *j, const struct gt_found *row)
{
	unsigned depth;

	return j->lane.strip.track == row->lane.strip.track && j->lane.strip.segment == row->lane.strip.segment &&
	       gt_strip_shows(&j->lane.strip, row->lane.strip.aspect, row->lane.depth, &depth) && depth == j->lane.depth ? &j->lane : &row->lane;
}

static int end_hunt(struct gt_choice *p, struct gt_err *err)
{
	struct gt_choice_job *j = p->job;
	struct gt_found row;
	char text[120];
	int code = 0;

	if (gt_hunt_found(j->hunt, &row)) {
		code = gt_choice_row(p, lane_for(j, &row), &row);
		if (j->again && !code)
			say(p, j->backward ? "from the end again" : "from the start again");
	} else if (j->again || j->wanted.what == GT_HUNT_LAUNCHED) {
		snprintf(text, sizeof(text), j->wanted.what == GT_HUNT_LAUNCHED ? "%s is not recorded" : "there is no %s", j->what);
		say(p, text);
	} else {
		j->again = true;
		return begin_hunt(p, j->backward ? j->from : INT64_MIN, j->backward ? INT64_MAX : j->from + 1, err) ? err->code : 1;
	}
	gt_choice_stop(p);
	return code;
}

int gt_choice_step(struct gt_choice *p, uint64_t us, struct gt_err *err)
{
	int code = 1;

	while (code > 0 && p->job) {
		if (!p->job->hunt) {
			code = step_gap(p, us, err);
		} else {
			code = gt_hunt_step(p->job->hunt, us, err);
			if (!code)
				code = end_hunt(p, err);
		}
		if (us)
			break;
	}
	return p->job ? code : code < 0 ? code : 0;
}

bool gt_choice_stop(struct gt_choice *p)
{
	struct gt_choice_job *j = p->job;

	p->job = NULL;
	if (!j)
		return false;
	gt_hunt_free(j->hunt);
	gt_strips_free(j->strips);
	free(j);
	return true;
}

const char *gt_choice_progress(const struct gt_choice *p, char to[80])
{
	const struct gt_choice_job *j = p->job;

	if (!j)
		return NULL;
	if (j->hunt)
		snprintf(to, 80, "looking for %s: %u%%   Esc: stop", j->what, gt_hunt_percent(j->hunt));
	else
		snprintf(to, 80, "looking for a %s   Esc: stop", j->what);
	return to;
}

void gt_choice_let_go(struct gt_choice *p)
{
	struct gt_found *rows[] = { &p->row, &p->behind };

	gt_choice_stop(p);
	for (unsigned i = 0; i < 2; i++)
		if (rows[i]->block) {
			p->kept[i] = *rows[i]->block;
			rows[i]->block = &p->kept[i];
		}
	p->archive = NULL;
}

/* A call that was open is told anew whenever there is more: it is open still, or it has returned. */
static bool is_open_again(struct gt_choice *p, struct gt_found *row, struct gt_err *err)
{
	struct gt_found now;

	if (gt_event_at(p->archive, &row->lane, row->start, row->start + 1, &now, err) <= 0 || now.start != row->start || now.type != row->type)
		return false;
	*row = now;
	return true;
}

static bool is_there_again(struct gt_choice *p, struct gt_found *row, struct gt_err *err)
{
	const struct gt_lane_of *lane = &row->lane;

	row->block = row->block ? gt_archive_same(p->archive, lane->strip.segment, lane->strip.track, row->block) : NULL;
	return row->block || (row->kind == GT_OPEN && is_open_again(p, row, err));
}

int gt_choice_again(struct gt_choice *p, struct gt_archive *a, struct gt_err *err)
{
	struct gt_hole was = p->hole;
	bool there = p->what != GT_PICKED_NOTHING;

	p->archive = a;
	if (p->what == GT_PICKED_HOLE)
		there = gt_hole_at(a, &p->lane.strip, was.from, was.to, was.apart, &p->hole, err) > 0;
	else if (there)
		there = is_there_again(p, &p->row, err);
	if (there && p->what == GT_PICKED_GAP)
		there = is_there_again(p, &p->behind, err);
	if (!there)
		p->what = GT_PICKED_NOTHING;
	return err->code;
}

void gt_choice_release(struct gt_choice *p)
{
	gt_choice_stop(p);
	*p = (struct gt_choice){ .archive = NULL };
}
