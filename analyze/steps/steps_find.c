/* Finds the starts of steps. While the trace is read, the sequence of each stream is collected,
 * within a limit of memory. A stream runs its operations in order, so its sequence is the
 * program's, whatever other streams do. At the end the period of the busiest streams of each GPU is
 * searched (period.h), and a second reading of the trace finds each of its occurrences. */
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/steps/steps.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define TRIES 3 /* streams of a GPU that are searched */

/* ---- rows ---- */

int gt_steps_walk_run(struct gt_steps_walk *w, const struct gt_cols *cols, struct gt_err *err)
{
	size_t had = w->cap;

	if (gt_grow(&w->codes, &w->cap, cols->ntypes, sizeof(*w->codes)))
		return gt_err_set(err, -ENOMEM, "out of memory (%u types)", cols->ntypes);
	memset(w->codes + had, 0, (w->cap - had) * sizeof(*w->codes));
	w->stamp++;
	return 0;
}

/* The first row of this code in the run. */
static int begin_code(struct gt_steps *s, struct gt_steps_walk *w, const struct gt_cols *cols,
	uint32_t code, struct gt_err *err)
{
	struct gt_steps_code *c = &w->codes[code];

	*c = (struct gt_steps_code){ .stamp = w->stamp,
		.what = gt_gpu_what(gt_cols_type(cols, code)) };
	c->name = gt_steps_name(s, cols->seg, cols->types[code], err);
	gt_launch_fields_read(&c->launch, cols, code, GT_LAUNCH_START);
	c->bytes = gt_cols_role(cols, code, GT_R_BYTES, &c->nbytes);
	return c->name ? 0 : err->code;
}

int gt_steps_walk_row(struct gt_steps *s, struct gt_steps_walk *w, const struct gt_cols *cols,
	uint32_t i, struct gt_steps_row *row, struct gt_err *err)
{
	uint32_t code = cols->code ? cols->code[i] : 0, nth;
	struct gt_steps_code *c = &w->codes[code];
	struct gt_launch_call call;

	if (c->stamp != w->stamp && begin_code(s, w, cols, code, err))
		return err->code;
	nth = c->nth++;
	row->name = c->name - 1;
	row->what = c->what;
	row->joined = gt_launch_fields_call(&c->launch, cols->seg, nth, &call);
	row->launch = row->joined ? call.start : 0;
	row->bytes = nth < c->nbytes ? c->bytes[nth] : 0;
	return 0;
}

/* ---- lanes ---- */

static int by_ops(const void *pa, const void *pb)
{
	const struct gt_steps_stream *a = pa, *b = pb;

	return GT_COMPARE(b->ops, a->ops) ?: GT_COMPARE(a->number, b->number);
}

static struct gt_steps_lane *lane_of(struct gt_steps *s, uint32_t device)
{
	struct gt_steps_lane *lane = s->lanes;
	const struct gt_segment *seg;
	uint32_t track;

	while (lane < s->lanes + s->nlanes && lane->number != device)
		lane++;
	if (lane < s->lanes + s->nlanes)
		return lane;
	if (s->nlanes == GT_STEPS_LANES)
		return NULL;
	seg = gt_segment_of_number(s->order.tracks, s->report.reader, device);
	track = device - s->order.tracks[seg->index];
	*lane = (struct gt_steps_lane){ .seg = seg,
		.number = device,
		.process = gt_track_process(seg, track),
		.stream = GT_NONE,
		.next = GT_NONE };
	s->nlanes++;
	return lane;
}

static int by_number(const void *pa, const void *pb)
{
	const struct gt_steps_lane *a = pa, *b = pb;

	return GT_COMPARE(a->number, b->number);
}

/* Makes lanes of the GPUs with the most work, in the order of the trace. */
static int find_lanes(struct gt_steps *s, struct gt_err *err)
{
	s->lanes = calloc(GT_STEPS_LANES, sizeof(*s->lanes));
	if (!s->lanes)
		return gt_err_set(err, -ENOMEM, "out of memory (list of GPUs)");
	GT_SORT(s->streams, s->nstreams, by_ops);
	for (size_t i = 0; i < s->nstreams; i++) {
		const struct gt_steps_stream *one = &s->streams[i];
		struct gt_steps_lane *lane = lane_of(s, s->device_of[one->number]);

		s->lanes_left_out += !lane;
		if (!lane)
			continue;
		lane->first = !lane->ops || one->first < lane->first ? one->first : lane->first;
		lane->last = !lane->ops || one->last > lane->last ? one->last : lane->last;
		lane->last_end = !lane->ops || one->last_end > lane->last_end ? one->last_end
									      : lane->last_end;
		lane->ops += one->ops;
	}
	GT_SORT(s->lanes, s->nlanes, by_number);
	return 0;
}

/* Searches the period in the busiest streams of a GPU. */
static int search_streams(struct gt_steps *s, struct gt_steps_lane *lane, struct gt_err *err)
{
	int rc = 0, tries = 0;

	for (size_t i = 0; !rc && i < s->nstreams && tries < TRIES; i++) {
		const struct gt_steps_stream *one = &s->streams[i];
		const char *why = NULL;

		if (s->device_of[one->number] != lane->number)
			continue;
		rc = gt_period_find(
			one->list, one->n, (uint32_t)s->nsigns, &lane->period, &why, err);
		lane->why = tries++ ? lane->why : why;
		if (rc == 1)
			lane->stream = one->number;
	}
	return rc < 0 ? rc : 0;
}

/* ---- occurrences ---- */

struct gt_step *gt_steps_add(struct gt_steps *s, struct gt_steps_lane *lane, struct gt_err *err)
{
	if (s->nsteps == GT_STEPS_MAX) {
		s->steps_left_out = true;
		return NULL;
	}
	if (gt_grow(&lane->steps, &lane->cap, lane->n + 1, sizeof(*lane->steps))) {
		gt_err_set(err, -ENOMEM, "out of memory (%zu steps)", lane->n);
		return NULL;
	}
	s->nsteps++;
	lane->steps[lane->n] = (struct gt_step){ 0 };
	return &lane->steps[lane->n++];
}

struct begun {
	int64_t at, launch;
	bool joined;
};
struct places { /* state of the second reading */
	struct gt_steps *s;
	struct gt_steps_walk walk;
	uint32_t *lane; /* by track: 1 + the lane that uses this stream */
	/* by lane: ring of the last GT_PERIOD_BEFORE + 1 operations on its stream */
	struct begun *last;
	uint64_t *seen; /* by lane: operations on its stream */
};

/* At an anchor: adds the step, which began some operations before. */
static int add_place(
	struct places *p, struct gt_steps_lane *lane, const struct begun *b, struct gt_err *err)
{
	struct gt_step *step, *before;

	if (lane->n && b->at < lane->steps[lane->n - 1].at)
		return 0; /* the row came too late: a note counts it */
	step = gt_steps_add(p->s, lane, err);
	if (!step)
		return err->code;
	step->at = b->at;
	step->host = b->launch;
	before = lane->n > 1 ? step - 1 : NULL;
	lane->by_gpu |= !b->joined || (before && before->host > step->host);
	return 0;
}

static int on_place(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct places *p = arg;
	uint32_t i = p->lane[m->place] - 1, name = p->s->names.of_type[m->what] - 1;
	struct gt_steps_lane *lane = &p->s->lanes[i];
	struct begun *ring = p->last + (size_t)i * (GT_PERIOD_BEFORE + 1);
	uint64_t nth;

	if (gt_steps_begins_early(p->s, lane->seg, m->at))
		return 0;
	nth = p->seen[i]++;
	ring[nth % (GT_PERIOD_BEFORE + 1)] =
		(struct begun){ m->at, (int64_t)m->addr, (int64_t)m->addr != INT64_MIN };
	if (name != lane->period.anchor || nth < lane->period.before)
		return 0;
	return add_place(p, lane, &ring[(nth - lane->period.before) % (GT_PERIOD_BEFORE + 1)], err);
}

static int place_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	struct places *p = arg;
	struct gt_steps_row row;
	struct gt_moment *m;

	if (!p->lane[gt_time_ordered_track(&p->s->order, cols->seg, cols->track)])
		return 0;
	m = gt_time_ordered_run(&p->s->order, cols, err);
	if (!m || gt_steps_walk_run(&p->walk, cols, err))
		return err->code;
	for (uint32_t i = 0; i < cols->n; i++) {
		if (gt_steps_walk_row(p->s, &p->walk, cols, i, &row, err))
			return err->code;
		m[i].addr = (uint64_t)(row.joined ? row.launch : INT64_MIN);
	}
	return 0;
}

static int find_places(struct gt_steps *s, struct gt_err *err)
{
	struct gt_filter filter = s->report.opt->filter;
	struct places p = { .s = s };
	int rc = 0;

	filter.kinds = GT_BIT(GT_GPU);
	filter.args = true;
	gt_time_ordered_rewind(&s->order, on_place, &p);
	p.lane = calloc(s->order.tracks[s->order.nsegs] + 1ul, sizeof(*p.lane));
	p.last = calloc(s->nlanes * (GT_PERIOD_BEFORE + 1ul) + 1, sizeof(*p.last));
	p.seen = calloc(s->nlanes + 1ul, sizeof(*p.seen));
	if (!p.lane || !p.last || !p.seen)
		rc = gt_err_set(err, -ENOMEM, "out of memory (steps)");
	for (uint32_t i = 0; !rc && i < s->nlanes; i++)
		if (s->lanes[i].stream != GT_NONE)
			p.lane[s->lanes[i].stream] = i + 1;
	if (!rc)
		rc = gt_reread_trace(s->report.reader, &filter, GT_BY_TIME, place_run, &p, err);
	if (!rc)
		rc = gt_time_ordered_flush(&s->order, err);
	s->late += gt_time_ordered_late(&s->order);
	free(p.walk.codes);
	free(p.lane);
	free(p.last);
	free(p.seen);
	return rc;
}

/* The last occurrence is the end of the last whole step. */
static void close_lane(struct gt_steps_lane *lane)
{
	lane->n -= lane->n > 0;
	for (size_t i = 0; lane->by_gpu && i < lane->n + 1; i++)
		lane->steps[i].host = lane->steps[i].at;
	if (!lane->n && !lane->why)
		lane->why = "the sequence occurs less than twice in the selected range";
}

int gt_steps_find(struct gt_steps *s, struct gt_err *err)
{
	bool any = false;
	int rc = find_lanes(s, err);

	if (!rc)
		rc = gt_steps_marks(s, err);
	for (uint32_t i = 0; !rc && i < s->nlanes; i++)
		if (!s->lanes[i].mark) {
			rc = search_streams(s, &s->lanes[i], err);
			any |= s->lanes[i].stream != GT_NONE;
		}
	if (!rc && any)
		rc = find_places(s, err);
	for (uint32_t i = 0; !rc && i < s->nlanes; i++)
		close_lane(&s->lanes[i]);
	return rc;
}
