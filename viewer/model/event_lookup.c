#include <stdlib.h>
#include <string.h>

#include "formats/base/sorted.h"
#include "formats/export/exporters.h"
#include "formats/cuda/gpu_rows.h"
#include "viewer/model/event_lookup.h"

/* ---- search of blocks ---- */

/* A search for the best row of a lane in a time range. */
struct look {
	struct gt_archive *archive;
	const struct gt_lane_key *lane;
	struct gt_block_schedule visits;
	struct gt_event_ref best;
	bool any;
};
/* True if the row is better than the best one so far (NULL: there is none). */
typedef bool better_fn(
	const void *arg, const struct gt_event_ref *row, const struct gt_event_ref *best);

/* By start, then in the order of the file. */
static int compare(const struct gt_event_ref *a, const struct gt_event_ref *b)
{
	return GT_COMPARE(a->start, b->start) ?:
		GT_COMPARE(a->block->entry, b->block->entry) ?:
		GT_COMPARE(a->row, b->row);
}

struct gt_event_ref gt_event_ref_of_row(
	const struct gt_open_block *r, const struct gt_block *block, uint32_t track, uint32_t i)
{
	unsigned aspect = gt_aspect_is_copies(r->aspect[i]) ? GT_ASPECT_WORK
		: r->aspect[i] == GT_ASPECT_IOCTLS          ? GT_ASPECT_CALLS
							    : r->aspect[i];

	return (struct gt_event_ref){ .lane = { { r->segment, track, aspect, false },
					      gt_aspect_depth(aspect, r->depth[i]) },
		.block = block,
		.row = i,
		.kind = r->kind,
		.start = r->start[i],
		.dur = r->dur[i],
		.type = r->type[i],
		.ret = r->ret ? r->ret[i] : 0,
		.bytes = r->bytes ? r->bytes[i] : 0 };
}

struct gt_event_ref gt_event_ref_of_time(int64_t t, bool forward)
{
	static const struct gt_block first = { .entry = 0 }, last = { .entry = UINT32_MAX };

	return (struct gt_event_ref){ .block = forward ? &last : &first,
		.row = forward ? UINT32_MAX : 0,
		.start = forward ? t - 1 : t };
}

static bool on_lane(const struct gt_lane_key *lane, const struct gt_open_block *r, uint32_t i)
{
	unsigned depth;

	return gt_strip_shows(&lane->strip, r->aspect[i], r->depth[i], &depth) &&
		(depth == lane->depth || lane->depth == GT_DEPTH_ANY);
}

static void look_at_run(struct look *l, const struct gt_open_block *r, const struct gt_block *block,
	const struct gt_rows_run *run, struct gt_range range, better_fn *better, const void *arg)
{
	for (uint32_t i = run->first; i < run->first + run->n && r->start[i] < range.to; i++) {
		struct gt_event_ref row;

		if ((r->start[i] < range.from && r->start[i] + r->dur[i] <= range.from) ||
			!on_lane(l->lane, r, i))
			continue;
		row = gt_event_ref_of_row(r, block, run->track, i);
		if (better(arg, &row, l->any ? &l->best : NULL)) {
			l->best = row;
			l->any = true;
		}
	}
}

/* Rows that overlap the range, or start at its beginning. */
static int look_in(struct look *l, struct gt_range range, better_fn *better, const void *arg,
	struct gt_err *err)
{
	uint32_t segment = l->lane->strip.segment;
	int code;

	l->any = false;
	gt_block_schedule_clear(&l->visits);
	code = gt_block_schedule_add(&l->visits, l->archive, &l->lane->strip, 0);
	if (!code)
		code = gt_block_schedule_find(&l->visits, l->archive, segment, range);
	for (size_t i = 0; !code && i < l->visits.ntodo; i++) {
		const struct gt_block *block = l->visits.todo[i].block;
		const struct gt_open_block *r = gt_archive_rows(l->archive, segment, block, err);

		if (!r)
			code = -ENOMEM;
		for (uint32_t k = 0; r && k < r->nruns; k++)
			GT_EACH_TARGET(&l->visits, to, r->runs[k].track)
		if (to->kinds & GT_BIT(r->kind))
			look_at_run(l, r, block, &r->runs[k], range, better, arg);
	}
	return code ? gt_err_set(err, code, "out of memory") : l->any;
}

static int look(struct gt_archive *a, const struct gt_lane_key *lane, struct gt_range range,
	better_fn *better, const void *arg, struct gt_event_ref *found, struct gt_err *err)
{
	struct look l = { .archive = a, .lane = lane };
	int code = look_in(&l, range, better, arg, err);

	gt_block_schedule_release(&l.visits);
	if (code > 0)
		*found = l.best;
	return code;
}

/* ---- at a time ---- */

static bool covers(const void *arg, const struct gt_event_ref *row, const struct gt_event_ref *best)
{
	int64_t at = *(const int64_t *)arg;

	return row->start <= at && (row->start == at || gt_event_ref_end(row) > at) &&
		(!best || compare(row, best) > 0);
}

static bool first_from(
	const void *arg, const struct gt_event_ref *row, const struct gt_event_ref *best)
{
	return row->start >= *(const int64_t *)arg && (!best || compare(row, best) < 0);
}

int gt_event_at(struct gt_archive *a, const struct gt_lane_key *lane, int64_t at, int64_t to,
	struct gt_event_ref *found, struct gt_err *err)
{
	int code = look(a, lane, (struct gt_range){ at, at + 1 }, covers, &at, found, err);

	return code ? code
		    : look(a, lane, (struct gt_range){ at, to }, first_from, &at, found, err);
}

/* ---- neighbours ---- */

static bool first_behind(
	const void *arg, const struct gt_event_ref *row, const struct gt_event_ref *best)
{
	return compare(row, arg) > 0 && (!best || compare(row, best) < 0);
}

static bool last_before(
	const void *arg, const struct gt_event_ref *row, const struct gt_event_ref *best)
{
	return compare(row, arg) < 0 && (!best || compare(row, best) > 0);
}

/* Searches a short range first, then ever longer ranges: the distance of the next row is
 * unknown. */
int gt_event_next(struct gt_archive *a, const struct gt_lane_key *lane,
	const struct gt_event_ref *from, bool forward, struct gt_event_ref *found,
	struct gt_err *err)
{
	const struct gt_segment *seg = gt_reader_segment(gt_archive_reader(a), lane->strip.segment);
	int64_t low = seg->min_start, high = seg->max_end + 1, span = 1000;
	int code = 0;
	bool all = false;

	for (; !code && !all; span = all ? span : span * 8) {
		struct gt_range r = { from->start, from->start + 1 };

		all = span > INT64_MAX / 8 ||
			(forward ? span >= high - from->start : span >= from->start - low);
		if (forward)
			r.to = all ? high : from->start + span;
		else
			r.from = all ? low : from->start - span;
		code = look(a, lane, r, forward ? first_behind : last_before, from, found, err);
		if (code > 0 && !forward && found->start < r.from)
			/* the row starts before the range; a row after it may start later */
			code = 0;
	}
	return code;
}

/* ---- gaps ---- */

static bool ends_last(
	const void *arg, const struct gt_event_ref *row, const struct gt_event_ref *best)
{
	return row->start < *(const int64_t *)arg &&
		(!best || gt_event_ref_end(row) > gt_event_ref_end(best));
}

/* A row that ends before the start of the last row before `at` cannot be the one with the latest
 * end. */
int gt_gap_at(struct gt_archive *a, const struct gt_lane_key *lane, int64_t at,
	struct gt_event_ref *before, struct gt_event_ref *after, struct gt_err *err)
{
	struct gt_event_ref here = gt_event_ref_of_time(at, false), last;
	int code = gt_event_next(a, lane, &here, false, &last, err);

	if (code > 0)
		code = look(
			a, lane, (struct gt_range){ last.start, at }, ends_last, &at, before, err);
	if (code > 0 && gt_event_ref_end(before) > at)
		return 0;
	here = gt_event_ref_of_time(at, true);
	return code > 0 ? gt_event_next(a, lane, &here, true, after, err) : code;
}

/* ---- fields of a row ---- */

typedef int value_fn(
	void *arg, const struct gt_segment *seg, const struct gt_field *field, uint64_t value);
struct values {
	const struct gt_event_ref *of;
	uint32_t row; /* the first row of the current run */
	value_fn *fn;
	void *arg;
};

/* The values of a row are stored with those of the other rows of its code. */
static int tell_row(const struct values *v, const struct gt_cols *c, uint32_t i)
{
	uint32_t code = c->code ? c->code[i] : 0, k = 0, n;
	const struct gt_type *type =
		c->types[code] == GT_NONE ? NULL : &c->seg->types[c->types[code]];
	int result = 0;

	for (uint32_t j = 0; j < i; j++)
		k += (c->code ? c->code[j] : 0) == code;
	for (uint32_t f = 0; type && !result && f < type->nfields; f++) {
		const uint64_t *values = gt_cols_args(c, code, f, &n);

		if (values && k < n)
			result = v->fn(v->arg, c->seg, &type->fields[f], values[k]);
	}
	return result;
}

static int find_row(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct values *v = arg;
	uint32_t first = v->row;

	v->row += c->n;
	return v->of->row >= first && v->of->row < v->row ? tell_row(v, c, v->of->row - first) : 0;
}

static int each_value(struct gt_archive *a, const struct gt_event_ref *of, value_fn *fn, void *arg,
	struct gt_err *err)
{
	struct values v = { .of = of, .fn = fn, .arg = arg };

	return gt_archive_scan(a, of->lane.strip.segment, of->block, true, find_row, &v, err);
}

struct teller {
	gt_field_fn *fn;
	void *arg;
	bool open;
};

static int tell(
	void *arg, const struct gt_segment *seg, const struct gt_field *field, uint64_t value)
{
	const struct teller *to = arg;
	const char *name = gt_str(seg, field->name);
	char text[80];

	if (to->open && !value) /* fields that a call has not recorded yet are 0 */
		return to->fn(to->arg, name, field->kind == GT_F_STR ? "" : "0, or not known yet");
	if (field->kind == GT_F_STR)
		return to->fn(
			to->arg, name, value < seg->nstrings ? gt_str(seg, (uint32_t)value) : "");
	if (field->role == GT_R_DIRECTION)
		return to->fn(to->arg, name, gt_direction_word((unsigned)value));
	*gt_put_value(text, field->kind, value) = 0;
	if (text[0] != '"')
		return to->fn(to->arg, name, text);
	/* JSON puts quotes around numbers that it cannot hold */
	text[strlen(text) - 1] = 0;
	return to->fn(to->arg, name, text + 1);
}

int gt_event_fields(struct gt_archive *a, const struct gt_event_ref *of, gt_field_fn *fn, void *arg,
	struct gt_err *err)
{
	return each_value(a, of, tell, &(struct teller){ fn, arg, of->kind == GT_OPEN }, err);
}

const char *gt_event_name(struct gt_archive *a, const struct gt_event_ref *f)
{
	return gt_type_name(
		gt_reader_segment(gt_archive_reader(a), f->lane.strip.segment), f->type);
}

static int note_stack(
	void *arg, const struct gt_segment *seg, const struct gt_field *field, uint64_t value)
{
	if (field->role == GT_R_STACK && value < seg->nstacks)
		*(uint64_t *)arg = value;
	return 0;
}

int gt_event_stack(
	struct gt_archive *a, const struct gt_event_ref *of, uint64_t *stack, struct gt_err *err)
{
	int rc;

	*stack = GT_NONE;
	rc = each_value(a, of, note_stack, stack, err);
	return rc < 0 ? rc : *stack != GT_NONE;
}

/* ---- the launching call ---- */

struct launch {
	uint64_t track, start, join;
};

static int note_launch(
	void *arg, const struct gt_segment *seg, const struct gt_field *field, uint64_t value)
{
	struct launch *l = arg;

	if (field->role == GT_R_LAUNCH_TRACK)
		l->track = value;
	else if (field->role == GT_R_LAUNCH_START)
		l->start = value;
	else if (field->role == GT_R_LAUNCH_JOIN)
		l->join = value;
	return 0;
}

/* The innermost call that starts there: a runtime call launches by the driver call inside it. */
static bool starts_there(
	const void *arg, const struct gt_event_ref *row, const struct gt_event_ref *best)
{
	return row->start == *(const int64_t *)arg && (!best || row->lane.depth > best->lane.depth);
}

int gt_event_launch(struct gt_archive *a, const struct gt_event_ref *work,
	struct gt_event_ref *call, struct gt_err *err)
{
	uint32_t segment = work->lane.strip.segment;
	struct launch l = { .track = GT_NONE };
	int code = work->kind == GT_GPU ? each_value(a, work, note_launch, &l, err) : 0;
	int64_t start = (int64_t)l.start;

	if (code || !l.join || l.track >= gt_reader_segment(gt_archive_reader(a), segment)->ntracks)
		return code;
	return look(a,
		&(struct gt_lane_key){
			{ segment, (uint32_t)l.track, GT_ASPECT_CALLS, false }, GT_DEPTH_ANY },
		(struct gt_range){ start, start + 1 }, starts_there, &start, call, err);
}
