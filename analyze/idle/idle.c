/* Operations into windows, devices and gaps.
 *
 * GPU operations come in order of their start (time_ordered.h). When one begins, all operations
 * that run at that time have begun. So the use of the time since the operation before follows from
 * the latest end of each kind of work, the name with the latest end, and the latest end of all
 * other names: no list of running operations is needed. The activity of threads does not need this
 * order: calls of a thread are sorted, and they are kept from the start of the oldest gap that is
 * not complete. When an operation starts, all calls that began before it have been read, because
 * blocks are read in order of their first row. */
#include "analyze/idle/idle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/idle/idle_internal.h"
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/cuda/gpu_rows.h"

/* intervals of host activity in memory before unneeded ones are first dropped */
#define DROP_MIN 65536u
#define WAITS 8192u /* waits for events of a stream in memory */
/* ns, more than four years: a longer recording is an error of a clock */
#define WIDEST (1ll << 57)

/* ---- types and names ---- */

/* The number of a name; GT_NONE: no memory. */
static uint32_t find_name(
	struct gt_idle *s, const struct gt_segment *seg, const struct gt_type *type)
{
	struct gt_string text = gt_name_text(seg, type->name);
	uint32_t i = gt_name_interner_find(&s->ids, text, 0, &(struct gt_err)GT_ERR_INIT);

	if (i == GT_NONE || gt_grow(&s->names, &s->names_cap, i + 1ul, sizeof(*s->names)))
		return GT_NONE;
	if (i == s->nnames)
		s->names[s->nnames++] = (struct gt_idle_name){
			.text = text.ptr, .len = text.len, .kind = gt_work_kind(seg, type)
		};
	return i;
}

/* A copy from or to pageable memory: the driver copies it on the host. */
static bool is_pageable(const struct gt_segment *seg, const struct gt_type *type)
{
	return type->op == GT_OP_COPY &&
		strstr(gt_str(seg, type->name), gt_gpu_memory_word(GT_GPU_MEM_PAGEABLE));
}

/* The properties of a type of operations; NULL: no memory. */
static const struct gt_idle_type *type_of(
	struct gt_idle *s, const struct gt_segment *seg, uint32_t number)
{
	struct gt_idle_type *t = &s->types[number];
	const struct gt_type *type = &seg->types[number - s->order.types[seg->index]];

	if (t->known)
		return t;
	t->kind = (uint8_t)gt_work_kind(seg, type);
	t->pageable = is_pageable(seg, type);
	t->graph = gt_type_field(type, GT_R_GRAPH) != GT_NONE;
	t->name = find_name(s, seg, type);
	t->known = t->name != GT_NONE;
	return t->known ? t : NULL;
}

/* ---- time ---- */

/* Adds exposed communication; it extends the last one if it follows without a gap. */
static void add_exposed_communication(struct gt_idle_device *d, int64_t from, int64_t to)
{
	d->exposed_communication = (struct gt_idle_time){ d->exposed_communication.to == from &&
				d->exposed_communication.from < from
			? d->exposed_communication.from
			: from,
		to };
	if (d->exposed_communication.to - d->exposed_communication.from >
		d->longest_exposed.to - d->longest_exposed.from)
		d->longest_exposed = d->exposed_communication;
}

/* Adds the time up to `to` to the figures; no further operation begins before `to`. A moment counts
 * for the first kind that has not ended; a name is exposed after all others have ended. */
static void advance_to(struct gt_idle *s, struct gt_idle_device *d, int64_t to)
{
	struct gt_idle_running *r = &d->running;
	int64_t at = r->at > s->window->from ? r->at : s->window->from,
		alone = r->others > at ? r->others : at;

	r->at = to > r->at ? to : r->at;
	to = to < s->window->to ? to : s->window->to;
	if (r->last > alone && to > alone) {
		uint64_t *exposed = &s->names[r->name].exposed;

		*exposed = gt_sat_add(
			*exposed, (uint64_t)(r->last < to ? r->last : to) - (uint64_t)alone);
	}
	for (unsigned k = 0; k < GT_WORK_KINDS; k++) {
		int64_t end = r->kinds[k] < to ? r->kinds[k] : to;

		if (end <= at)
			continue;
		d->kind[k] = gt_sat_add(d->kind[k], (uint64_t)end - (uint64_t)at);
		if (k == GT_WORK_COMPUTE && s->migrations[d->number])
			d->migrating = gt_sat_add(
				d->migrating, gt_migrations_ns(s->migrations[d->number], at, end));
		if (k == GT_WORK_COMMUNICATION)
			add_exposed_communication(d, at, end);
		at = end;
	}
}

/* An operation has begun that runs until `end`. */
static void note_running(struct gt_idle_running *r, int64_t end, uint32_t kind, uint32_t name)
{
	r->kinds[kind] = end > r->kinds[kind] ? end : r->kinds[kind];
	if (name != r->name && end > r->last) {
		r->others = r->last;
		r->name = name;
	} else if (name != r->name) {
		r->others = end > r->others ? end : r->others;
	}
	r->last = end > r->last ? end : r->last;
}

static int close_pending_gap(struct gt_idle *s, struct gt_idle_device *d, struct gt_err *err)
{
	if (!d->closing)
		return 0;
	d->closing = false;
	return gt_idle_close_gap(s, d, d->gap_from, d->next.start, &d->next, err);
}

/* ---- operations ---- */

static struct gt_idle_device *find_device(struct gt_idle *s, uint32_t stream, int64_t start)
{
	uint32_t number = s->device_of[stream], track = number - s->order.tracks[s->seg->index];
	struct gt_idle_device *d;

	if (s->slot_of_device[number])
		return &s->devices[s->slot_of_device[number] - 1];
	if (gt_grow(&s->devices, &s->devices_cap, s->ndevices + 1, sizeof(*s->devices)))
		return NULL;
	d = &s->devices[s->ndevices];
	*d = (struct gt_idle_device){ .seg = s->seg,
		.track = track,
		.number = number,
		.before = GT_NONE,
		.process = gt_process_slot_of(&s->places, s->seg, track),
		.busy_to = s->window->from,
		.running = { start, { start, start, start }, start, start, GT_NONE } };
	d->first = !s->processes[d->process].works;
	s->processes[d->process].works = true;
	s->slot_of_device[number] = (uint32_t)++s->ndevices;
	return d;
}

/* Finds device and process of a stream at its first operation, and whether it is the first of the
 * process. */
static int init_stream(struct gt_idle *s, struct gt_idle_stream *st, uint32_t number,
	struct gt_idle_op *op, struct gt_err *err)
{
	uint32_t process =
		gt_process_slot_of(&s->places, s->seg, number - s->order.tracks[s->seg->index]);
	struct gt_idle_device *d;

	op->first = !s->processes[process].works;
	d = find_device(s, number, op->start);
	if (!d)
		return gt_err_set(err, -ENOMEM, "out of memory (list of GPUs)");
	st->slot = s->slot_of_device[d->number];
	d->shared |= process != d->process;
	s->processes[process].works = true;
	return 0;
}

static struct gt_idle_stream *stream_of(struct gt_idle *s, uint32_t number)
{
	if (!s->streams[number]) {
		s->streams[number] = calloc(1, sizeof(**s->streams));
		if (s->streams[number])
			s->streams[number]->last_launch = INT64_MIN;
	}
	return s->streams[number];
}

/* Did the stream wait for an event between the operation before and this one? The wait is ordered
 * by its call, which may be long before the wait. */
static bool waited_for_event(struct gt_idle_stream *st, const struct gt_idle_op *op)
{
	bool any = false;

	for (; st->nwaits && st->waits[st->first] <= op->launched; st->first++, st->nwaits--)
		any |= st->waits[st->first] > st->last_launch;
	return any;
}

/* Beyond WAITS the oldest are dropped: they are needed only if the launch of the work is known. */
static int add_wait(struct gt_idle_stream *st, int64_t at, struct gt_err *err)
{
	if (st->nwaits == WAITS)
		st->first++, st->nwaits--;
	if (st->first + st->nwaits == st->cap && st->first > st->nwaits) {
		memcpy(st->waits, st->waits + st->first, st->nwaits * sizeof(*st->waits));
		st->first = 0;
	}
	if (gt_grow(&st->waits, &st->cap, st->first + st->nwaits + 1, sizeof(*st->waits)))
		return gt_err_set(err, -ENOMEM, "out of memory (waits)");
	st->waits[st->first + st->nwaits++] = at;
	return 0;
}

static void free_stream(struct gt_idle_stream *st)
{
	if (st) {
		free(st->waits);
		free(st->full.starts);
	}
	free(st);
}

/* Of operations that begin at once, the one that was launched first ends the gap. */
static bool is_earlier(const struct gt_idle_op *a, const struct gt_idle_op *b)
{
	if (a->joined != b->joined)
		return a->joined;
	if (a->joined && a->launched != b->launched)
		return a->launched < b->launched;
	return a->stream != b->stream ? a->stream < b->stream : a->end < b->end;
}

static void add_launch(struct gt_idle *s, const struct gt_moment *m, struct gt_idle_op *op)
{
	const struct gt_idle_launch *l;

	if (!m->addr)
		return;
	l = gt_time_merge_record(s->timeline, m->addr - 1);
	op->joined = true;
	op->thread = gt_time_ordered_track(&s->order, s->seg, l->track);
	op->launched = l->start;
	op->returned = l->end;
	op->stack = l->stack;
}

static int add_op(struct gt_idle *s, struct gt_idle_device *d, const struct gt_idle_op *op,
	const struct gt_idle_type *type, struct gt_err *err)
{
	struct gt_idle_name *name = &s->names[type->name];
	int rc = 0;

	if (d->closing && op->start > d->next.start)
		rc = close_pending_gap(s, d, err);
	else if (d->closing && is_earlier(op, &d->next))
		d->next = *op;
	if (rc)
		return rc;
	advance_to(s, d, op->start);
	if (!d->closing && op->start > d->busy_to) {
		d->closing = true;
		d->gap_from = d->busy_to;
		d->gap_before = d->before;
		d->next = *op;
	}
	if (d->before == GT_NONE || op->end > d->busy_to)
		d->before = op->type;
	d->busy_to = op->end > d->busy_to ? op->end : d->busy_to;
	name->count++;
	name->total = gt_sat_add(name->total, (uint64_t)(op->end - op->start));
	note_running(&d->running, op->end, type->kind, type->name);
	return 0;
}

/* Adds the stall if the launching call waited for a full queue. It is needed if a gap that is not
 * complete overlaps it. */
static int find_stall(struct gt_idle *s, struct gt_idle_stream *st, const struct gt_idle_op *op,
	struct gt_err *err)
{
	struct gt_stall t;
	int rc = gt_stalls_on_start(&s->full, &st->full, op->start, op->graph,
		(struct gt_stall_call){ op->launched, op->thread }, op->returned, &t, err);
	bool needed = false;

	for (size_t i = s->first_device; rc > 0 && !needed && i < s->ndevices; i++)
		needed = (s->devices[i].closing ? s->devices[i].gap_from : s->devices[i].busy_to) <
			t.to;
	return rc > 0 ? gt_stalls_add(&s->full, &t, needed, err) : rc;
}

static inline int on_operation(
	struct gt_idle *s, const struct gt_moment *m, struct gt_idle_stream *st, struct gt_err *err)
{
	const struct gt_idle_type *type = type_of(s, s->seg, m->what);
	struct gt_idle_op op = { .start = m->at,
		.end = m->end,
		.stream = m->place,
		.type = m->what,
		.thread = GT_NONE };
	struct gt_idle_device *d;

	if (!type)
		return gt_err_set(err, -ENOMEM, "out of memory (list of GPU work)");
	op.graph = type->graph;
	s->begun++;
	s->ops++;
	add_launch(s, m, &op);
	s->unjoined += !op.joined;
	if (!s->full.known && find_stall(s, st, &op, err))
		return err->code;
	if (op.joined) {
		op.waited_for_event = waited_for_event(st, &op);
		st->last_launch = op.launched;
		if (type->pageable && op.thread != GT_NONE && s->lines[op.thread] &&
			gt_host_add_copy(s->lines[op.thread], op.launched, op.start, err))
			return err->code;
	}
	gt_gpu_window_add(s->window, m->at, m->end);
	if (!st->slot && init_stream(s, st, m->place, &op, err))
		return err->code;
	d = &s->devices[st->slot - 1];
	for (const struct gt_idle_listener *l = s->listeners; l < s->listeners + s->nlisteners; l++)
		if (l->op && l->op(l->arg, d, &op, err))
			return err->code;
	return add_op(s, d, &op, type, err);
}

static int on_moment(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_idle *s = arg;
	struct gt_idle_stream *st = stream_of(s, m->place);

	if (!st)
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	if (m->addr != GT_IDLE_SPAN)
		return m->what == GT_NONE ? 0 : on_operation(s, m, st, err);
	return m->what == GT_NONE ? add_wait(st, m->at, err)
				  : 0; /* its stream waits for an event */
}

/* ---- segments ---- */

static void open_segment(struct gt_idle *s, const struct gt_segment *seg)
{
	s->seg = seg;
	s->first_device = s->ndevices;
	s->calls = gt_is_recorded_in(seg, GT_LAYER_API) || gt_is_recorded_in(seg, GT_LAYER_RUNTIME);
	s->window = &s->windows[seg->index];
	s->timeline = &s->order.lines[seg->index];
	gt_gpu_window_open(s->window, s->report.opt, seg);
	s->begun = 0;
}

static int close_device(struct gt_idle *s, struct gt_idle_device *d, struct gt_err *err)
{
	int rc = close_pending_gap(s, d, err);

	advance_to(s, d, INT64_MAX);
	d->gap_before = d->before;
	if (!rc)
		rc = gt_idle_close_gap(s, d, d->busy_to, s->window->to, NULL, err);
	d->window = gt_gpu_window_ns(s->window);
	return rc;
}

static void release_threads(struct gt_idle *s)
{
	uint32_t i = s->order.tracks[s->seg->index], end = s->order.tracks[s->seg->index + 1];

	for (; i < end; i++) {
		if (s->lines[i])
			gt_host_release(s->lines[i]);
		free(s->lines[i]);
		free_stream(s->streams[i]);
		gt_migrations_free(s->migrations[i]);
		s->migrations[i] = NULL;
		s->lines[i] = NULL;
		s->streams[i] = NULL;
	}
	s->nintervals = s->nlosses = 0;
	s->last_thread.track = 0;
	s->drop_at = DROP_MIN;
}

static int close_segment(struct gt_idle *s, struct gt_err *err)
{
	int rc =
		s->seg ? gt_time_merge_flush(&s->order.lines[s->seg->index], on_moment, s, err) : 0;

	if (!s->seg)
		return 0;
	gt_gpu_window_close(s->window);
	for (size_t i = s->first_device; !rc && i < s->ndevices; i++)
		rc = close_device(s, &s->devices[i], err);
	release_threads(s);
	s->seg = NULL;
	return rc;
}

/* ---- rows ---- */

/* Computes the time from which activity of each process' threads is needed. */
static void find_needed(struct gt_idle *s, int64_t floor)
{
	int64_t by_all = INT64_MAX;

	/* a process without an operation yet: from the start of the window, if it is known */
	for (size_t i = 0; i < s->places.n; i++)
		s->processes[i].needed = s->processes[i].works ? INT64_MAX
			: s->window->opened                    ? s->window->from
							       : floor;
	for (size_t i = s->first_device; i < s->ndevices; i++) {
		const struct gt_idle_device *d = &s->devices[i];
		int64_t *needed = &s->processes[d->process].needed,
			from = d->closing ? d->gap_from : d->busy_to;

		*needed = from < *needed ? from : *needed;
		by_all = d->shared && from < by_all ? from : by_all;
	}
	for (size_t i = 0; by_all < INT64_MAX && i < s->places.n; i++)
		s->processes[i].needed =
			by_all < s->processes[i].needed ? by_all : s->processes[i].needed;
}

static void drop_unneeded(struct gt_idle *s, int64_t floor)
{
	uint32_t first = s->order.tracks[s->seg->index];

	find_needed(s, floor);
	for (uint32_t i = 0; i < s->seg->ntracks; i++) {
		struct gt_host_activity **line = &s->lines[first + i];

		if (!*line)
			continue;
		gt_host_drop_before(*line,
			s->processes[gt_process_slot_of(&s->places, s->seg, i)].needed,
			&s->nintervals);
		/* a hundred thousand threads may have a call or two each */
		if (gt_host_is_empty(*line)) {
			gt_host_release(*line);
			free(*line);
			*line = NULL;
		}
	}
	s->drop_at = s->nintervals * 2 > DROP_MIN ? s->nintervals * 2 : DROP_MIN;
}

static int read_types(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	if (gt_grow(&s->levels, &s->levels_cap, cols->ntypes + 1ul, sizeof(*s->levels)) ||
		gt_grow(&s->numbers, &s->numbers_cap, cols->ntypes + 1ul, sizeof(*s->numbers)))
		return gt_err_set(err, -ENOMEM, "out of memory (block)");
	s->present = 0;
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		unsigned level = type ? gt_idle_level(cols->seg, type, cols->kind) : GT_HOST_LEVELS;

		s->numbers[c] = gt_time_ordered_type(&s->order, cols->seg, cols->types[c]);
		s->levels[c] = (uint8_t)level;
		s->present |= 1u << level;
	}
	return 0;
}

static int begin_block(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	if (s->seg != cols->seg) {
		rc = close_segment(s, err);
		open_segment(s, cols->seg);
	}
	if (!rc)
		rc = gt_time_ordered_block(&s->order, cols, err);
	s->block = cols->block;
	if (rc)
		return rc;
	if (s->nintervals > s->drop_at)
		drop_unneeded(s, cols->floor);
	return read_types(s, cols, err);
}

int gt_idle_block(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	s->too_wide |= cols->seg->max_end - cols->seg->min_start > WIDEST;
	if (s->too_wide || s->crowded)
		return 0;
	if (s->seg != cols->seg || s->block != cols->block)
		rc = begin_block(s, cols, err);
	/* no GPU operations: no gaps; samples still count as processor time */
	if (!rc && !cols->seg->rows[GT_GPU] && (cols->kind != GT_INSTANT || !s->shares.all))
		return 0;
	return rc ? rc : gt_idle_rows(s, cols, err);
}

/* ---- start and end ---- */

static bool is_crowded(struct gt_reader *r)
{
	uint64_t devices = 0, streams = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		for (uint32_t t = 0; t < seg->ntracks; t++) {
			devices += seg->tracks[t].kind == GT_TRACK_DEVICE;
			streams += seg->tracks[t].kind == GT_TRACK_STREAM;
		}
	}
	return devices > GT_IDLE_DEVICES || streams > GT_IDLE_STREAMS;
}

int gt_idle_init(struct gt_idle *s, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err)
{
	const int64_t *min = gt_report_option(opt, "min");
	int rc = gt_time_ordered_init(&s->order, r, on_moment, s, err);
	uint32_t tracks = s->order.tracks ? s->order.tracks[s->order.nsegs] : 0;

	s->report = (struct gt_report_state){ r, opt };
	s->min_ns = min ? *min : 0;
	s->crowded = is_crowded(r);
	if (!rc)
		rc = gt_process_slots_init(&s->places, r, err);
	if (rc)
		return rc;
	s->device_of = gt_gpu_devices(&s->order, r);
	s->slot_of_device = calloc(tracks + 1ul, sizeof(*s->slot_of_device));
	s->types = calloc(s->order.types[s->order.nsegs] + 1ul, sizeof(*s->types));
	s->lines = calloc(tracks + 1ul, sizeof(struct gt_host_activity *));
	s->streams = calloc(tracks + 1ul, sizeof(struct gt_idle_stream *));
	s->migrations = calloc(tracks + 1ul, sizeof(struct gt_migrations *));
	s->processes = calloc(s->places.n + 1, sizeof(*s->processes));
	s->windows = calloc(gt_reader_segments(r) + 1ul, sizeof(*s->windows));
	s->drop_at = DROP_MIN;
	gt_host_shares_init(&s->shares);
	if (s->order.types[s->order.nsegs] >= GT_HOST_TYPES)
		return gt_err_set(
			err, -EOVERFLOW, "more than %u different operations", GT_HOST_TYPES);
	if (!s->device_of || !s->slot_of_device || !s->types || !s->lines || !s->streams ||
		!s->migrations || !s->processes || !s->windows)
		return gt_err_set(err, -ENOMEM, "out of memory (tracks)");
	return 0;
}

void gt_idle_listen(struct gt_idle *s, const struct gt_idle_listener *l)
{
	if (s->nlisteners == GT_IDLE_LISTENERS)
		return;
	s->listeners[s->nlisteners++] = *l;
	s->has_gap_listener |= l->gap != NULL;
}

void gt_idle_want_shares(struct gt_idle *s, bool all)
{
	s->shares.wanted |=
		all || gt_has_samples(s->report.reader) || gt_has_thread_states(s->report.reader);
	s->shares.all |= all;
}

void gt_idle_add_grouped(struct gt_idle *s, struct gt_host_shares *h)
{
	if (s->ngrouped == GT_IDLE_GROUPED)
		return;
	h->wanted = h->all = true;
	s->grouped[s->ngrouped++] = h;
}

const struct gt_idle_stack *gt_idle_gap_samples(
	const struct gt_idle *s, const struct gt_idle_gap *gap, size_t *n)
{
	const struct gt_host_activity *l =
		gap->next.thread == GT_NONE ? NULL : s->lines[gap->next.thread];
	size_t first = l ? gt_host_first_stack(&l->samples, gap->from) : 0;

	*n = l ? gt_host_first_stack(&l->samples, gap->to) - first : 0;
	return *n ? &l->samples.list[first] : NULL;
}

static int by_number(const void *pa, const void *pb)
{
	const struct gt_idle_device *a = pa, *b = pb;

	return GT_COMPARE(a->number, b->number);
}

int gt_idle_by_time(const void *pa, const void *pb)
{
	const struct gt_idle_sum *a = pa, *b = pb;

	return GT_COMPARE(b->ns, a->ns) ?:
		GT_COMPARE(a->cause, b->cause) ?:
		GT_COMPARE(a->type, b->type);
}

static int on_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_idle_block(arg, cols, err);
}

/* Reads the file a second time: now it is known which calls waited for a full queue. */
static int read_second_time(struct gt_idle *s, struct gt_err *err)
{
	struct gt_idle fresh = { .nlisteners = s->nlisteners,
		.has_gap_listener = s->has_gap_listener,
		.full = s->full,
		.shares = { .wanted = s->shares.wanted,
			.all = s->shares.all,
			.by_thread = s->shares.by_thread },
		.ngrouped = s->ngrouped,
		.report = s->report };
	struct gt_report_state report = s->report;
	struct gt_filter filter = report.opt->filter;
	int rc;

	memcpy(fresh.listeners, s->listeners, sizeof(fresh.listeners));
	memcpy(fresh.grouped, s->grouped, sizeof(fresh.grouped));
	for (unsigned k = 0; k < s->ngrouped; k++)
		gt_host_shares_reset(s->grouped[k]);
	gt_stalls_finish(&fresh.full);
	s->full = (struct gt_queue_stalls){ .room = 0 }; /* it has moved to `fresh` */
	gt_idle_release(s);
	*s = fresh;
	for (unsigned k = 0; k < s->nlisteners; k++)
		if (s->listeners[k].restart)
			s->listeners[k].restart(s->listeners[k].arg);
	rc = gt_idle_init(s, report.reader, report.opt, err);
	filter.kinds = GT_IDLE_WANTS;
	filter.args = true;
	if (!rc)
		rc = gt_reread_trace(report.reader, &filter, GT_BY_TIME, on_run, s, err);
	return rc ? rc : close_segment(s, err);
}

int gt_idle_finish(struct gt_idle *s, struct gt_err *err)
{
	int rc = close_segment(s, err);

	if (!rc && s->full.ntimes)
		rc = read_second_time(s, err);
	if (!rc && s->shares.wanted)
		rc = gt_host_shares_finish(
			&s->shares, s->report.reader, gt_has_thread_states(s->report.reader), err);
	for (unsigned k = 0; !rc && k < s->ngrouped; k++)
		rc = gt_host_shares_finish(s->grouped[k], s->report.reader,
			gt_has_thread_states(s->report.reader), err);
	GT_SORT(s->devices, s->ndevices, by_number);
	return rc;
}

const char *gt_idle_why_unanswered(const struct gt_idle *s)
{
	const struct gt_filter *f = &s->report.opt->filter;

	if (f->match || f->tid)
		return f->match ? GT_MATCH_TEXT(s->report.opt, "",
					  " leaves rows out, and their time would look idle")
				: "--tid leaves rows out, and their time would look idle";
	if (s->too_wide)
		return "the recording lasts for more than four years: a clock jumped";
	if (gt_is_merged(s->report.reader))
		return "gtexport --max-size merged short events, and their time would look idle";
	if (s->ndevices && gt_has_only_collectives(s->report.reader))
		return "the file has collectives, but not what else GPUs did: gtanalyze collectives";
	if (s->crowded)
		return "there are more than 16,384 GPUs, or more than 65,536 streams";
	if (s->ndevices)
		return NULL;
	return gt_why_no_work(&s->report);
}

void gt_idle_note_late(const struct gt_idle *s, struct gt_table *t)
{
	gt_note_unordered(t, gt_time_ordered_late(&s->order), "times");
}

void gt_idle_release(struct gt_idle *s)
{
	for (uint32_t i = 0;
		s->lines && s->streams && s->migrations && i < s->order.tracks[s->order.nsegs];
		i++) {
		if (s->lines[i])
			gt_host_release(s->lines[i]);
		free(s->lines[i]);
		free_stream(s->streams[i]);
		gt_migrations_free(s->migrations[i]);
	}
	gt_map_release(&s->sums_map);
	gt_name_interner_release(&s->ids);
	gt_stalls_release(&s->full);
	gt_host_shares_release(&s->shares);
	gt_process_slots_release(&s->places);
	free(s->devices), free(s->sums), free(s->names), free(s->device_of),
		free(s->slot_of_device), free(s->types);
	free(s->lines), free(s->streams), free(s->migrations), free(s->processes), free(s->levels),
		free(s->numbers), free(s->columns);
	free(s->losses), free(s->parts), free(s->windows);
	gt_time_ordered_release(&s->order);
}

/* ---- the engine ---- */

static int idle_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return gt_idle_init(state, r, opt, err);
}

static int idle_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_idle *s = state;

	for (unsigned k = 0; k < s->nlisteners; k++)
		if (s->listeners[k].rows && s->listeners[k].rows(s->listeners[k].arg, cols, err))
			return err->code;
	return gt_idle_block(s, cols, err);
}

static int idle_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	return gt_idle_finish(state, err);
}
static void idle_release(void *state) { gt_idle_release(state); }

static const struct gt_option_row min_option = {
	.opt = { .name = "min",
		.kind = GT_OPT_NS,
		.arg = "TIME",
		.help = "ignore GPU gaps shorter than TIME" },
	.heading = GT_HEADING_ROWS,
};

const struct gt_analysis gt_idle_engine = {
	.name = "idle",
	.wants = GT_IDLE_WANTS,
	.wants_args = true,
	.order = GT_BY_TIME,
	.options = (const struct gt_option_row *const[]){ &min_option, NULL },
	.state_size = sizeof(struct gt_idle),
	.init = idle_init,
	.block = idle_block,
	.finish = idle_finish,
	.release = idle_release,
};
