/* The figures of each step: a third reading of the trace, when the starts of steps are known. A GPU
 * operation belongs to the step that launched it, whenever it ran (if its launch is unknown, to the
 * step in whose time it ran, and to no sequence). A call belongs to the step in whose host time it
 * began. The time of a step is GPU time: from the start of its first operation to the start of the
 * next step. Busy is the union of all operations that ran in it, of any step. So the steps divide
 * the trace without remainder. */
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/steps/steps.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

struct busy {
	struct gt_union done;
	size_t step;
}; /* of a lane */
/* of a stream: 1 + the current step, 0: none; hash of its operations in it */
struct order {
	uint64_t hash;
	uint32_t step;
};
struct fill {
	struct gt_steps *s;
	struct gt_steps_walk walk;
	uint32_t *lane_of;    /* by device's track: 1 + lane */
	uint32_t *first_lane; /* by process' track: 1 + its first lane */
	struct busy busy[GT_STEPS_LANES];
	size_t hint[GT_STEPS_LANES];
	struct order *streams; /* by track */
};

/* The last step that begins at this time or earlier, 0 .. n - 1; n: none. at: GPU time, else host
 * time. */
static size_t step_at(const struct gt_steps_lane *lane, int64_t time, bool at, size_t hint)
{
	const struct gt_step *list = lane->steps;
	size_t low;

#define BEGINS(i) (at ? list[i].at : list[i].host)
	if (!lane->n || time < BEGINS(0) || time >= BEGINS(lane->n))
		return lane->n;
	if (hint < lane->n && BEGINS(hint) <= time && time < BEGINS(hint + 1))
		return hint;
	low = GT_LOWER_BOUND(k, 1, lane->n + 1, BEGINS(k) <= time) - 1;
#undef BEGINS
	return low;
}

static void add_time(struct gt_steps *s, const struct gt_step *step, uint32_t name, int64_t ns)
{
	uint64_t *to;

	if (!step->picked)
		return;
	to = &s->times[(step->picked - 1ul) * (GT_STEPS_NAMES + 1) +
		(name < GT_STEPS_NAMES ? name : GT_STEPS_NAMES)];
	*to = gt_sat_add(*to, (uint64_t)ns);
}

/* ---- GPU operations ---- */

static void count_row(
	struct gt_steps *s, struct gt_step *step, const struct gt_steps_row *row, int64_t ns)
{
	step->ops++;
	step->kernels += row->what == GT_GPU_KERNEL;
	step->copies += row->what == GT_GPU_COPY;
	step->sets += row->what == GT_GPU_SET;
	step->bytes = gt_sat_add(step->bytes, row->bytes);
	add_time(s, step, row->name, ns);
}

static int gpu_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	struct fill *f = arg;
	uint32_t number = gt_time_ordered_track(&f->s->order, cols->seg, cols->track),
		 i = f->lane_of[f->s->device_of[number]];
	struct gt_steps_lane *lane = i ? &f->s->lanes[i - 1] : NULL;
	struct gt_steps_row row;
	struct gt_moment *m;

	if (!lane || !lane->n)
		return 0;
	m = gt_time_ordered_run(&f->s->order, cols, err);
	if (!m || gt_steps_walk_run(&f->walk, cols, err))
		return err->code;
	for (uint32_t k = 0; k < cols->n; k++) {
		bool on_gpu;
		size_t at;

		if (gt_steps_walk_row(f->s, &f->walk, cols, k, &row, err))
			return err->code;
		on_gpu = lane->by_gpu || !row.joined;
		at = step_at(lane, on_gpu ? cols->start[k] : row.launch, on_gpu, f->hint[i - 1]);
		/* part of the sequence of its step */
		m[k].addr = at < lane->n && (lane->by_gpu || row.joined) ? at + 1 : 0;
		if (at == lane->n)
			continue;
		f->hint[i - 1] = at;
		count_row(f->s, &lane->steps[at], &row, cols->dur[k]);
	}
	return 0;
}

/* Adds the sequence of a stream to its step. */
static void close_order(struct gt_steps_lane *lane, struct order *o)
{
	if (o->step)
		lane->steps[o->step - 1].signature += gt_hash_u64(o->hash);
	*o = (struct order){ 0 };
}

static void add_busy(struct gt_steps_lane *lane, struct busy *b, int64_t start, int64_t end)
{
	int64_t from = b->done.any && b->done.end > start ? b->done.end : start;

	gt_union_add(&b->done, start, end);
	from = from < lane->steps[0].at ? lane->steps[0].at : from;
	for (; from < end; b->step++) {
		int64_t next, until;

		while (b->step < lane->n && lane->steps[b->step + 1].at <= from)
			b->step++;
		if (b->step == lane->n)
			return;
		next = lane->steps[b->step + 1].at;
		until = end < next ? end : next;
		lane->steps[b->step].busy += (uint64_t)until - (uint64_t)from;
		from = until;
		if (until < next)
			return;
	}
}

static int on_row(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct fill *f = arg;
	uint32_t lane = f->lane_of[f->s->device_of[m->place]] - 1;
	struct order *o = &f->streams[m->place];

	add_busy(&f->s->lanes[lane], &f->busy[lane], m->at, m->end);
	if (!m->addr)
		return 0;
	if (o->step != m->addr) {
		close_order(&f->s->lanes[lane], o);
		o->step = (uint32_t)m->addr;
	}
	o->hash = o->hash * 0x9e3779b97f4a7c15ull + f->s->names.of_type[m->what];
	return 0;
}

static void close_orders(struct fill *f)
{
	for (size_t i = 0; i < f->s->nstreams; i++) {
		uint32_t number = f->s->streams[i].number,
			 lane = f->lane_of[f->s->device_of[number]];

		if (lane)
			close_order(&f->s->lanes[lane - 1], &f->streams[number]);
	}
}

/* ---- calls ---- */

static int count_call(struct gt_steps *s, struct gt_step *step, const struct gt_cols *cols,
	uint32_t i, struct gt_err *err)
{
	uint32_t type = cols->types[cols->code ? cols->code[i] : 0], name;
	unsigned layer = cols->seg->types[type].layer;

	step->calls += layer == GT_LAYER_API;
	step->runtime_calls += layer == GT_LAYER_RUNTIME;
	if (!step->picked ||
		(layer != GT_LAYER_API && layer != GT_LAYER_RUNTIME && layer != GT_LAYER_IOCTL))
		return 0;
	name = gt_steps_name(s, cols->seg, type, err);
	if (name)
		add_time(s, step, name - 1, cols->dur[i]);
	return name ? 0 : err->code;
}

/* Rows of a run and steps are both sorted. */
static int calls_of_lane(struct gt_steps *s, struct gt_steps_lane *lane, const struct gt_cols *cols,
	struct gt_err *err)
{
	size_t at = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < cols->n; i++) {
		int64_t start = cols->start[i];

		if (start < lane->steps[0].host || start >= lane->steps[lane->n].host)
			continue;
		if (start >= lane->steps[at + 1].host || start < lane->steps[at].host)
			at = step_at(lane, start, false, at + 1);
		rc = count_call(s, &lane->steps[at], cols, i, err);
	}
	return rc;
}

static int call_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	struct fill *f = arg;
	uint32_t process = gt_track_process(cols->seg, cols->track), lane = GT_NONE;
	int rc = 0;

	if (process != GT_NONE)
		lane = f->first_lane[gt_time_ordered_track(&f->s->order, cols->seg, process)] - 1;
	for (; !rc && lane != GT_NONE; lane = f->s->lanes[lane].next)
		if (f->s->lanes[lane].n)
			rc = calls_of_lane(f->s, &f->s->lanes[lane], cols, err);
	return rc;
}

static int prepare(struct fill *f, struct gt_err *err)
{
	struct gt_steps *s = f->s;
	size_t tracks = s->order.tracks[s->order.nsegs] + 1ul;

	f->lane_of = calloc(tracks, sizeof(*f->lane_of));
	f->first_lane = calloc(tracks, sizeof(*f->first_lane));
	f->streams = calloc(tracks, sizeof(*f->streams));
	if (!f->lane_of || !f->first_lane || !f->streams)
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	for (uint32_t i = 0; i < s->nlanes; i++) {
		struct gt_steps_lane *lane = &s->lanes[i];
		uint32_t *first = NULL;

		f->lane_of[lane->number] = i + 1;
		lane->next = GT_NONE;
		for (size_t k = 0; k < lane->n; k++) /* it may be called twice */
			lane->steps[k] = (struct gt_step){ lane->steps[k].host, lane->steps[k].at,
				.picked = lane->steps[k].picked };
		if (lane->process == GT_NONE)
			continue;
		first = &f->first_lane[gt_time_ordered_track(&s->order, lane->seg, lane->process)];
		lane->next = *first - 1;
		*first = i + 1;
	}
	return 0;
}

/* The filter of the reading: from the start of the first step; operations of the last step may run
 * after the selected range. */
static struct gt_filter needed(const struct gt_steps *s)
{
	struct gt_filter filter = s->report.opt->filter;

	filter.kinds = GT_BIT(GT_GPU);
	filter.args = true;
	filter.ranged = true;
	filter.ranges = NULL;
	filter.from = filter.to = INT64_MAX;
	for (uint32_t i = 0; i < s->nlanes; i++) {
		const struct gt_step *first = s->lanes[i].steps;

		if (s->lanes[i].n && first->at < filter.from)
			filter.from = first->at;
		if (s->lanes[i].n && first->host < filter.from)
			filter.from = first->host;
	}
	return filter;
}

int gt_steps_fill(struct gt_steps *s, struct gt_err *err)
{
	struct gt_filter filter = needed(s);
	struct fill *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	f->s = s;
	gt_time_ordered_rewind(&s->order, on_row, f);
	rc = prepare(f, err);
	if (!rc)
		rc = gt_reread_trace(s->report.reader, &filter, GT_BY_TIME, gpu_run, f, err);
	if (!rc)
		rc = gt_time_ordered_flush(&s->order, err);
	filter.kinds = GT_BIT(GT_CALL);
	filter.args = false; /* arguments are most of the bytes */
	if (!rc && !s->gpu_only)
		rc = gt_reread_trace(s->report.reader, &filter, GT_BY_TIME, call_run, f, err);
	if (!rc)
		close_orders(f);
	s->late += gt_time_ordered_late(&s->order);
	free(f->walk.codes);
	free(f->lane_of);
	free(f->first_lane);
	free(f->streams);
	free(f);
	return rc;
}
