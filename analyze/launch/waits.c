/* Calls that may wait and GPU operations are sorted by time together. A call has ended when the
 * time has reached its end: then all operations that began during it have been seen. The busy time
 * of a device during a call is the busy time up to its end minus the busy time up to its start.
 * Operations come in order of start, so both are known when they are needed.
 *
 * Events at one moment come in any order, so nothing here may depend on their order: a wait lasts
 * at least until the moment after its start; the row with its stream may come before or after it,
 * and so may the call around it. */
#include "analyze/launch/waits_internal.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/heap.h"

struct gt_waits_place { /* a stream, a device, a process */
	struct gt_union busy;
	int64_t last; /* the latest end */
	/* indices in the array of places: its device and its process; a place without one stores
	 * its own index */
	uint32_t device, process;
	bool any, several; /* of a process: has work; has several devices */
};
struct gt_waits_thread {
	uint32_t open; /* 1 + index of the current wait, or 0 */
	/* the last row of a wait: stream number, start and end of the call */
	uint32_t stream;
	struct {
		int64_t start, end;
	} target;
	/* the last copy: start of the call, end of the copy */
	struct {
		int64_t start, end;
		bool is_pageable;
	} copied;
};
struct gt_waits_open {
	struct gt_wait w;
	int64_t over;           /* the moment from which it counts as ended */
	uint64_t busy;          /* busy ns before its start */
	int64_t until;          /* the latest end of pending work, or INT64_MIN */
	int64_t copied;         /* the latest end of its copies, or INT64_MIN */
	uint32_t place, thread; /* place: its target: a stream, or the process */
	uint32_t listed;        /* 1 + its index in `unsettled`, or 0 */
	uint32_t next;          /* next free entry */
	uint8_t depth, how;
	bool async, unsure, dropped;
};

const char *gt_wait_word(enum gt_wait_for what)
{
	static const char *const words[GT_WAIT_FORS] = { "stream", "event", "context", "device",
		"unknown", "copy", "free" };

	return words[what];
}

/* ---- places ---- */

/* 1 + the index of a track's place; 0 with err filled in. */
static uint32_t place_of(struct gt_waits *w, uint32_t number, struct gt_err *err)
{
	if (!w->slot[number]) {
		if (gt_grow(&w->places, &w->places_cap, w->nplaces + 1, sizeof(*w->places)))
			return gt_err_set(err, -ENOMEM, "out of memory (streams)"), 0;
		w->places[w->nplaces] = (struct gt_waits_place){ .last = INT64_MIN,
			.device = (uint32_t)w->nplaces,
			.process = (uint32_t)w->nplaces,
			.several = w->devices[number] > 1 };
		w->slot[number] = (uint32_t)++w->nplaces;
	}
	return w->slot[number];
}

/* The place of a track's process, or of its device where there is none: 1 + index; 0 with err
 * filled in. */
static uint32_t process_of(struct gt_waits *w, uint32_t number, struct gt_err *err)
{
	uint32_t first = w->order.tracks[w->seg->index],
		 process = gt_track_process(w->seg, number - first);

	return place_of(w, process == GT_NONE ? w->device[number] : first + process, err);
}

/* The place of a stream, with those above it. */
static uint32_t stream_of(struct gt_waits *w, uint32_t number, struct gt_err *err)
{
	uint32_t have = w->slot[number], device, process, at;

	if (have && w->places[have - 1].process != have - 1)
		return have;
	device = place_of(w, w->device[number], err);
	process = device ? process_of(w, number, err) : 0;
	at = process ? place_of(w, number, err) : 0;
	if (!at)
		return 0;
	w->places[at - 1].device = device - 1;
	w->places[at - 1].process = process - 1;
	return at;
}

static int64_t in_range(const struct gt_waits *w, int64_t at)
{
	struct gt_range in;

	if (!w->report.opt->filter.ranged)
		return at;
	in = gt_range_of(&w->report.opt->filter, w->seg);
	return at < in.from ? in.from : at > in.to ? in.to : at;
}

/* Busy ns of the target before `at`: of the stream's device, or of the process' devices. */
static uint64_t worked(const struct gt_waits *w, uint32_t place, int64_t at)
{
	return gt_union_before(&w->places[w->places[place].device].busy, in_range(w, at));
}

/* ---- waits that have not ended ---- */

static bool ends_first(const void *arg, const uint32_t *a, const uint32_t *b)
{
	const struct gt_waits *w = arg;

	return w->open_waits[*a].over < w->open_waits[*b].over;
}

GT_HEAP(open_waits, uint32_t, ends_first)

static void remove_from_unsettled(struct gt_waits *w, struct gt_waits_open *o)
{
	uint32_t last;

	if (!o->listed)
		return;
	last = w->unsettled[--w->nunsettled];
	w->unsettled[o->listed - 1] = last;
	w->open_waits[last].listed = o->listed;
	o->listed = 0;
}

/* Adds a wait to the heap. 1 + index; 0 with err filled in. */
static uint32_t new_open(struct gt_waits *w, const struct gt_waits_open *o, struct gt_err *err)
{
	uint32_t i = w->free ? w->free - 1 : (uint32_t)w->nopens;

	if (gt_grow(&w->open_waits, &w->opens_cap, w->nopens + 1, sizeof(*w->open_waits)) ||
		gt_grow(&w->heap, &w->heap_cap, w->nopens + 1, sizeof(*w->heap)) ||
		gt_grow(&w->unsettled, &w->unsettled_cap, w->nopens + 1, sizeof(*w->unsettled)))
		return gt_err_set(err, -ENOMEM, "out of memory (calls that wait)"), 0;
	if (w->free)
		w->free = w->open_waits[i].next;
	else
		w->nopens++;
	w->open_waits[i] = *o;
	open_waits_up(w, w->heap, w->nheap++, i);
	w->unsettled[w->nunsettled++] = i;
	w->open_waits[i].listed = (uint32_t)w->nunsettled;
	return i + 1;
}

/* Work of the target ends at `end`: it was pending if that is after the start of the wait. */
static void pending(struct gt_waits_open *o, int64_t end)
{
	if (end > o->w.start && end > o->until)
		o->until = end;
}

/* May records of pending work be missing? */
static bool may_miss(const struct gt_waits *w, const struct gt_wait *one)
{
	const struct gt_segment *seg = one->seg;
	struct gt_range in = gt_range_of(&w->report.opt->filter, seg);

	return one->open || seg->rows[GT_LOST] || (!seg->closed && one->end > seg->complete_to) ||
		one->start < in.from || one->end > in.to;
}

static enum gt_wait_need need_of(const struct gt_waits *w, const struct gt_waits_open *o)
{
	bool stream = o->w.stream != GT_NONE;
	bool all = stream ||
		((o->w.what == GT_WAIT_CONTEXT || o->w.what == GT_WAIT_DEVICE ||
			 o->w.what == GT_WAIT_FREE) &&
			!w->places[o->place].several);

	if (o->w.what == GT_WAIT_COPY)
		return GT_WAIT_NEEDED;
	if (o->until != INT64_MIN)
		return all ? GT_WAIT_NEEDED : GT_WAIT_UNKNOWN;
	return o->unsure || may_miss(w, &o->w) ? GT_WAIT_UNKNOWN : GT_WAIT_NEEDLESS;
}

static bool has_waited(struct gt_waits *w, struct gt_waits_open *o)
{
	bool all_over = o->until != INT64_MIN && o->until <= o->w.end;

	if (o->dropped ||
		(o->how == GT_WAITS_IF_COPIED && (o->copied == INT64_MIN || o->copied > o->w.end)))
		return false;
	if (o->how != GT_WAITS_IF_PENDING)
		return true;
	w->frees_unknown += all_over && o->w.need == GT_WAIT_UNKNOWN;
	return all_over && o->w.need == GT_WAIT_NEEDED;
}

static int close_first(struct gt_waits *w, struct gt_err *err)
{
	uint32_t i = w->heap[0];
	struct gt_waits_open *o = &w->open_waits[i];
	struct gt_waits_thread *thread = &w->threads[o->thread];
	struct gt_wait done;
	bool waited;

	o->w.need = need_of(w, o);
	o->w.busy = worked(w, o->place, o->w.end);
	/* it is smaller only if rows came too late */
	o->w.busy -= o->busy < o->w.busy ? o->busy : o->w.busy;
	o->w.looked = (uint64_t)in_range(w, o->w.end) - (uint64_t)in_range(w, o->w.start);
	waited = has_waited(w, o);
	done = o->w;
	if (thread->open == i + 1)
		thread->open = 0;
	remove_from_unsettled(w, o);
	o->next = w->free;
	w->free = i + 1;
	w->nheap--;
	open_waits_down(w, w->heap, w->nheap, 0, w->heap[w->nheap]);
	return waited ? w->fn(w->arg, &done, err) : 0;
}

static int close_until(struct gt_waits *w, int64_t at, struct gt_err *err)
{
	int rc = 0;

	while (!rc && w->nheap && w->open_waits[w->heap[0]].over <= at)
		rc = close_first(w, err);
	return rc;
}

/* ---- moments ---- */

static struct gt_waits_thread *thread_of(struct gt_waits *w, uint32_t number, struct gt_err *err)
{
	if (!w->thread[number]) {
		if (gt_grow(&w->threads, &w->threads_cap, w->nthreads + 1, sizeof(*w->threads))) {
			gt_err_set(err, -ENOMEM, "out of memory (threads that wait)");
			return NULL;
		}
		w->threads[w->nthreads] = (struct gt_waits_thread){ .target.start = INT64_MIN,
			.copied.start = INT64_MIN };
		w->thread[number] = (uint32_t)++w->nthreads;
	}
	return &w->threads[w->thread[number] - 1];
}

/* Sets the target of a wait, with the work seen so far. */
static void set_target(struct gt_waits *w, struct gt_waits_open *o, uint32_t place, uint32_t stream)
{
	o->place = place;
	o->w.stream = stream;
	o->busy = worked(w, place, o->w.start);
	o->until = INT64_MIN;
	pending(o, w->places[place].last);
}

/* Sets the target of the current wait if the last row of a wait belongs to it. */
static int apply_target(struct gt_waits *w, const struct gt_waits_thread *t, struct gt_err *err)
{
	struct gt_waits_open *o = t->open ? &w->open_waits[t->open - 1] : NULL;
	uint32_t place;

	if (!o || o->how != GT_WAITS_SURE || o->w.what == GT_WAIT_COPY ||
		o->w.start != t->target.start || o->w.end != t->target.end)
		return 0;
	place = stream_of(w, t->stream, err);
	if (place)
		set_target(w, o, place - 1, t->stream - w->order.tracks[w->seg->index]);
	return place ? 0 : err->code;
}

static int on_target(struct gt_waits *w, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_waits_thread *t = thread_of(w, m->place, err);

	if (!t)
		return err->code;
	t->stream = (uint32_t)m->addr;
	t->target.start = m->at;
	t->target.end = m->end;
	return apply_target(w, t, err);
}

static void apply_copy(struct gt_waits *w, const struct gt_waits_thread *t)
{
	struct gt_waits_open *o = t->open ? &w->open_waits[t->open - 1] : NULL;

	if (o && o->w.start == t->copied.start && o->how == GT_WAITS_IF_COPIED &&
		(t->copied.is_pageable || !o->async))
		o->copied = t->copied.end > o->copied ? t->copied.end : o->copied;
}

static int on_copied(struct gt_waits *w, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_waits_thread *t = thread_of(w, m->place, err);

	if (!t)
		return err->code;
	t->copied.start = (int64_t)m->addr;
	t->copied.end = m->end;
	t->copied.is_pageable = m->what & GT_WAITS_PAGEABLE;
	apply_copy(w, t);
	return 0;
}

static bool is_within(int64_t start, int64_t end, const struct gt_waits_open *o)
{
	return start >= o->w.start && end <= o->w.end;
}

/* Is the call part of a call that waits? The outer call may come second if both begin at one
 * moment. If the outer call only may wait, and the inner one waits for certain, the inner one
 * counts. */
static bool is_nested(struct gt_waits *w, struct gt_waits_thread *t, const struct gt_moment *m,
	uint8_t depth, unsigned how)
{
	struct gt_waits_open *o = t->open ? &w->open_waits[t->open - 1] : NULL;

	if (!o || o->depth == depth)
		return false;
	if (depth > o->depth && is_within(m->at, m->end, o)) {
		o->dropped |= how == GT_WAITS_SURE && o->how != GT_WAITS_SURE;
		if (o->dropped)
			t->open = 0;
		return !o->dropped;
	}
	if (depth < o->depth && o->w.start == m->at && o->w.end <= m->end) {
		if (how != GT_WAITS_SURE && o->how == GT_WAITS_SURE)
			return true;
		o->dropped = true;
	}
	return false;
}

static int on_call(struct gt_waits *w, const struct gt_moment *m, struct gt_err *err)
{
	uint32_t first = w->order.tracks[w->seg->index], process = process_of(w, m->place, err), i;
	struct gt_waits_thread *t = process ? thread_of(w, m->place, err) : NULL;
	struct gt_waits_open o = {
		.w = { .seg = w->seg,
			.track = m->place - first,
			.type = m->what - w->order.types[w->seg->index],
			.stream = GT_NONE,
			.start = m->at,
			.end = m->end,
			.open = m->addr & GT_WAITS_OPEN,
			.what = (enum gt_wait_for)(m->addr >> GT_WAITS_WHAT_SHIFT) },
		.over = m->end > m->at ? m->end : m->at + 1,
		.copied = INT64_MIN,
		.depth = m->addr & GT_WAITS_DEPTH,
		.how = m->addr >> GT_WAITS_HOW_SHIFT & 15,
		.async = m->addr & GT_WAITS_ASYNC,
	};

	if (!t)
		return err->code;
	if (is_nested(w, t, m, o.depth, o.how))
		return 0;
	o.thread = (uint32_t)(t - w->threads);
	set_target(w, &o, process - 1, GT_NONE);
	i = new_open(w, &o, err);
	if (!i)
		return err->code;
	t = &w->threads[o.thread];
	/* of two that begin together, the longer one */
	if (!t->open || w->open_waits[t->open - 1].w.end <= m->end)
		t->open = i;
	if (t->open != i)
		return 0;
	apply_copy(w, t);
	return apply_target(w, t, err);
}

/* Adds an operation to the current waits for which it was pending. A wait is removed from the list
 * when one pending operation is known; a free needs the latest end of all. */
static void add_pending_work(
	struct gt_waits *w, const struct gt_moment *m, uint32_t place, uint32_t process)
{
	int64_t launched = (int64_t)m->addr;

	/* removal moves the last entry to the free place */
	for (size_t k = w->nunsettled; k--;) {
		struct gt_waits_open *o = &w->open_waits[w->unsettled[k]];

		if ((o->place != place && o->place != process) || m->end <= o->w.start)
			continue;
		if (m->at <= o->w.start || launched < o->w.start)
			pending(o, m->end);
		else
			o->unsure |= launched == GT_WAITS_UNJOINED;
		if (o->until != INT64_MIN && o->how != GT_WAITS_IF_PENDING && o->w.start < m->at)
			remove_from_unsettled(w, o);
	}
}

static int on_work(struct gt_waits *w, const struct gt_moment *m, struct gt_err *err)
{
	uint32_t at = stream_of(w, m->place, err);
	struct gt_waits_place *p, *device, *process;
	int64_t from, to;

	if (!at)
		return err->code;
	p = &w->places[at - 1];
	device = &w->places[p->device];
	process = &w->places[p->process];
	from = in_range(w, m->at);
	to = in_range(w, m->end);
	gt_union_add(&device->busy, from, to);
	if (process != device)
		gt_union_add(&process->busy, from, to);
	p->last = m->end > p->last ? m->end : p->last;
	process->last = m->end > process->last ? m->end : process->last;
	process->any = true;
	add_pending_work(w, m, at - 1, p->process);
	return 0;
}

static int on_moment(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_waits *w = arg;
	const struct gt_segment *seg = gt_time_ordered_segment(&w->order, w->report.reader, m);
	/* another recording may have another clock */
	int rc = close_until(w, w->seg == seg ? m->at : INT64_MAX, err);

	w->seg = seg;
	if (rc)
		return rc;
	switch (m->what & GT_WAITS_MARKS) {
	case GT_WAITS_WORK: return on_work(w, m, err);
	case GT_WAITS_COPIED: return on_copied(w, m, err);
	case GT_WAITS_TARGET: return on_target(w, m, err);
	default: return on_call(w, m, err);
	}
}

/* ---- rows ---- */

/* Counts the devices of each process, up to two. */
static void count_devices(struct gt_waits *w, const struct gt_segment *seg)
{
	for (uint32_t t = 0; t < seg->ntracks; t++) {
		uint32_t process =
			seg->tracks[t].kind == GT_TRACK_DEVICE ? gt_track_process(seg, t) : GT_NONE;
		uint8_t *n = process == GT_NONE
			? NULL
			: &w->devices[w->order.tracks[seg->index] + process];

		if (n && *n < 2)
			++*n;
	}
}

int gt_waits_init(struct gt_waits *w, struct gt_reader *r, const struct gt_analysis_options *opt,
	gt_waits_fn *fn, void *arg, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);
	int rc = gt_time_ordered_init(&w->order, r, on_moment, w, err);

	w->report = (struct gt_report_state){ r, opt };
	w->fn = fn;
	w->arg = arg;
	if (rc)
		return rc;
	if (w->order.types[n] >= GT_WAITS_WORK)
		return gt_err_set(err, -EOVERFLOW, "too many types");
	w->segs = calloc(n + 1ul, sizeof(*w->segs));
	w->slot = calloc(w->order.tracks[n] + 1ul, sizeof(*w->slot));
	w->thread = calloc(w->order.tracks[n] + 1ul, sizeof(*w->thread));
	w->devices = calloc(w->order.tracks[n] + 1ul, sizeof(*w->devices));
	w->device = gt_gpu_process_devices(&w->order, r);
	if (!w->segs || !w->slot || !w->thread || !w->devices || !w->device)
		return gt_err_set(err, -ENOMEM, "out of memory (calls that wait)");
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		count_devices(w, seg);
		w->segs[i].has_gpu = gt_is_recorded_in(seg, GT_LAYER_GPU) && !opt->filter.match &&
			!opt->filter.tid;
		w->segs[i].runtime = gt_waits_uses_runtime_calls(seg);
	}
	return 0;
}

int gt_waits_finish(struct gt_waits *w, struct gt_err *err)
{
	int rc = gt_time_ordered_flush(&w->order, err);

	return rc ? rc : close_until(w, INT64_MAX, err);
}

bool gt_waits_has_gpu(const struct gt_waits *w, const struct gt_segment *seg, uint32_t track)
{
	uint32_t process = gt_track_process(seg, track), slot;

	slot = process == GT_NONE ? 0 : w->slot[w->order.tracks[seg->index] + process];
	return w->segs[seg->index].has_gpu && slot && w->places[slot - 1].any;
}

void gt_waits_release(struct gt_waits *w)
{
	gt_time_ordered_release(&w->order);
	free(w->segs);
	free(w->slot);
	free(w->device);
	free(w->devices);
	free(w->places);
	free(w->threads);
	free(w->thread);
	free(w->open_waits);
	free(w->heap);
	free(w->unsettled);
	free(w->roles);
	free(w->nth);
}
