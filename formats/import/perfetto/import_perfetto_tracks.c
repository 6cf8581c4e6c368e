/* Tracks of a Perfetto trace, and the slices on them.
 *
 * A begin and an end event make a slice: an end ends the innermost open slice of its track, after
 * all events are sorted by time. Most writers write the events of a track in order of time; then
 * the open slices are a stack in memory. If an event of a track is earlier than one before it
 * (PyTorch writes all begins, then all ends), or too many slices are open, its further events go
 * through an external sort: the sort has their times, a temporary file has what else is known of
 * them. */
#include "formats/import/perfetto/import_perfetto.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/os/file.h"

#define DEPTH_MAX 512u       /* open slices of a track in memory */
#define OPEN_MAX 4096u       /* and of all tracks */
#define STACK_MAX (1u << 20) /* and in the sorted pass; further begins are dropped */
#define SORT_BUFFER 32768u
#define PARENTS_MAX 32u
#define KEY offsetof(struct gt_pftrace_track, parent)
/* what the temporary file has of an event */
#define EVENT_BYTES offsetof(struct gt_kineto_event, values)

struct record {
	uint64_t track; /* index; tracks of GPUs come behind others */
	int64_t time;
	uint64_t order, at; /* at: in the temporary file, plus 1; 0: an end */
};

static bool before(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track;
	return x->time != y->time ? x->time < y->time : x->order < y->order;
}

/* ---- tracks ---- */

int64_t gt_pftrace_track_of(struct gt_pftrace *p, uint64_t uuid)
{
	struct gt_pftrace_track t = { .uuid = uuid,
		.pid.word = GT_NONE,
		.tid.word = GT_NONE,
		.name = GT_NONE,
		.device = -1,
		.stream = -1,
		.multiplier = 1,
		.last = INT64_MIN };
	uint32_t i;

	if (p->last_track < p->ntracks && p->tracks[p->last_track].uuid == uuid)
		return (int64_t)p->last_track;
	i = gt_map_find_item(&p->track_map, p->tracks, sizeof(t), &t, KEY);
	p->last_track = i;
	if (i != UINT32_MAX)
		return i;
	if (p->ntracks >= 4 * GT_KINETO_TRACKS)
		return gt_err_set(p->err, -E2BIG, "more than %u tracks", 4 * GT_KINETO_TRACKS);
	i = gt_map_add_item(
		&p->track_map, &p->tracks, &p->ntracks, &p->tracks_cap, sizeof(t), &t, KEY);
	return i == UINT32_MAX ? gt_kineto_no_memory(p->err) : (int64_t)i;
}

static uint32_t intern(struct gt_pftrace *p, const struct gt_proto_field *f)
{
	return gt_kineto_intern(&p->d->k, &(struct gt_kineto_event){ .cat = GT_KINETO_RANGE },
		(const char *)f->bytes, f->value);
}

/* The number behind a word, as in "stream 7 waits" or "GPU #0"; -1: the name has another form. */
static int64_t number_behind(const char *name, const char *word)
{
	size_t n = strlen(word);
	long long v = 0;

	if (strncasecmp(name, word, n))
		return -1;
	return (sscanf(name + n, " %9lld", &v) == 1 || sscanf(name + n, " #%9lld", &v) == 1) &&
			v >= 0
		? v
		: -1;
}

/* Of a process: pid and name; of a thread also tid. */
static int read_owner(struct gt_pftrace *p, struct gt_pftrace_track *t,
	const struct gt_proto_field *message, bool thread)
{
	struct gt_proto_in in = gt_proto_message(message);
	uint32_t name_field = thread ? GT_THREAD_NAME : GT_PROCESS_NAME;
	struct gt_proto_field f;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_PROCESS_PID && f.wire == GT_PROTO_VARINT)
			t->pid.number = (int32_t)f.value;
		if (thread && f.number == GT_THREAD_TID && f.wire == GT_PROTO_VARINT)
			t->tid.number = (int64_t)f.value;
		if (f.number == name_field && f.wire == GT_PROTO_BYTES)
			t->name = intern(p, &f);
	}
	t->is_thread |= thread;
	t->is_process |= !thread;
	return more < 0 ? gt_pftrace_malformed(p, "a track") : 0;
}

static int read_counter(
	struct gt_pftrace *p, struct gt_pftrace_track *t, const struct gt_proto_field *message)
{
	struct gt_proto_in in = gt_proto_message(message);
	struct gt_proto_field f;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_COUNTERS_MULTIPLIER && f.wire == GT_PROTO_VARINT && f.value)
			t->multiplier = (int64_t)f.value;
		if (f.number == GT_COUNTERS_DELTA && f.wire == GT_PROTO_VARINT)
			t->delta = f.value;
	}
	return more < 0 ? gt_pftrace_malformed(p, "a track") : 0;
}

/* Names a process or thread of the trace. */
static int put_name(struct gt_pftrace *p, const struct gt_pftrace_track *t)
{
	struct gt_kineto *k = &p->d->k;
	struct gt_kineto_event ev;

	if (t->name == GT_NONE || (!t->is_thread && !t->is_process))
		return 0;
	gt_kineto_event_init(&ev);
	ev.phase = 'M';
	ev.name = t->is_thread ? k->thread_name : k->process_name;
	ev.pid = t->pid;
	ev.tid = t->tid;
	ev.label = t->name;
	return gt_kineto_set_name(k, &ev, p->err);
}

static int read_descriptor(
	struct gt_pftrace *p, struct gt_pftrace_track *t, const struct gt_proto_field *descriptor)
{
	struct gt_proto_in in = gt_proto_message(descriptor);
	struct gt_proto_field f;
	int more, e = 0;

	while (!e && (more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_TRACKS_PARENT && f.wire == GT_PROTO_VARINT)
			t->parent = f.value;
		if (f.wire != GT_PROTO_BYTES)
			continue;
		switch (f.number) {
		case GT_TRACKS_NAME:
		case GT_TRACKS_STATIC_NAME: t->name = intern(p, &f); break;
		case GT_TRACKS_PROCESS: e = read_owner(p, t, &f, false); break;
		case GT_TRACKS_THREAD: e = read_owner(p, t, &f, true); break;
		case GT_TRACKS_COUNTER: e = read_counter(p, t, &f); break;
		}
	}
	return e ? e : more < 0 ? gt_pftrace_malformed(p, "a track") : 0;
}

int gt_pftrace_describe_track(struct gt_pftrace *p, const struct gt_proto_field *descriptor)
{
	struct gt_proto_in in = gt_proto_message(descriptor);
	struct gt_pftrace_track *t;
	struct gt_proto_field f;
	uint64_t uuid = 0;
	int64_t i;
	int e;

	while (gt_proto_next(&in, &f) > 0)
		if (f.number == GT_TRACKS_UUID && f.wire == GT_PROTO_VARINT)
			uuid = f.value;
	i = gt_pftrace_track_of(p, uuid);
	if (i < 0)
		return (int)i;
	t = &p->tracks[i];
	e = read_descriptor(p, t, descriptor);
	t->described = true;
	t->resolved = false;
	return e ? e : put_name(p, t);
}

/* Finds process and thread of a track: those of the first track above it that has them. Names of
 * tracks of GPUs and streams have their numbers. */
static void resolve(struct gt_pftrace *p, struct gt_pftrace_track *t)
{
	const struct gt_pftrace_track *up = t;
	uint64_t uuid = t->uuid;

	t->resolved = true;
	for (unsigned n = 0; n < PARENTS_MAX; n++) {
		const char *name = up->name == GT_NONE ? "" : gt_writer_text(p->d->k.w, up->name);
		uint32_t i;

		if (t->stream < 0 && !up->is_thread)
			t->stream = number_behind(name, "stream");
		if (t->device < 0 && !up->is_process)
			t->device = number_behind(name, "GPU");
		if (up->is_thread || up->is_process) {
			t->pid = up->pid;
			t->tid = up->is_thread ? up->tid : t->tid;
			t->has_tid = up->is_thread;
			break;
		}
		i = gt_map_find_item(&p->track_map, p->tracks, sizeof(*t), &up->parent, KEY);
		if (!up->parent || i == UINT32_MAX || up->parent == uuid) {
			t->pid.word = up->name != GT_NONE ? up->name : p->d->k.no_name;
			break;
		}
		up = &p->tracks[i];
	}
	if (!t->has_tid && !t->is_process && t->name != GT_NONE && t->pid.word == GT_NONE)
		t->tid.word = t->name;
}

void gt_pftrace_place(struct gt_pftrace *p, size_t track, struct gt_kineto_event *ev)
{
	struct gt_pftrace_track *t = &p->tracks[track];

	if (!t->resolved)
		resolve(p, t);
	ev->pid = t->pid;
	ev->tid = t->tid;
	if (t->has_tid || t->tid.word != GT_NONE)
		ev->has |= GT_KINETO_TID;
	if (ev->cat < GT_KINETO_KERNEL || ev->cat > GT_KINETO_WAIT)
		return;
	t->gpu = true;
	if (!(ev->has & GT_KINETO_DEVICE) && t->device >= 0) {
		ev->gpu.device = t->device;
		ev->has |= GT_KINETO_DEVICE;
	}
	if (!(ev->has & GT_KINETO_STREAM) && t->stream >= 0) {
		ev->gpu.stream = t->stream;
		ev->has |= GT_KINETO_STREAM;
	}
}

/* ---- slices ---- */

int gt_pftrace_put(struct gt_pftrace *p, struct gt_kineto_event *ev)
{
	struct gt_kineto *k = &p->d->k;
	bool gpu = ev->cat >= GT_KINETO_KERNEL && ev->cat <= GT_KINETO_SET;
	int e = gt_kineto_row(k, ev, p->err);

	if (e || !gpu || !(ev->has & GT_KINETO_ID) || ev->has & GT_KINETO_CORRELATION)
		return e;
	return gt_kineto_flow(k, ev, 'f', p->err);
}

static int put_slice(struct gt_pftrace *p, struct gt_kineto_event *ev, int64_t end)
{
	ev->dur = end > ev->ts ? end - ev->ts : 0;
	ev->has |= GT_KINETO_DUR;
	return gt_pftrace_put(p, ev);
}

static int start_sort(struct gt_pftrace *p)
{
	int fd = gt_temporary(p->err);

	if (fd < 0 || (p->spool_fd = dup(fd)) < 0)
		return p->err->code ? p->err->code
				    : gt_err_set(p->err, -EMFILE, "no more descriptors");
	if (gt_out_open_fd(&p->spool, fd, "a temporary file", p->err))
		return p->err->code;
	return gt_sorter_init(&p->sorter, sizeof(struct record), SORT_BUFFER, before, p->err);
}

static int sort_event(
	struct gt_pftrace *p, size_t track, int64_t time, const struct gt_kineto_event *ev)
{
	size_t extra = ev ? ev->nextra * sizeof(*ev->extra_values) : 0;
	struct record *r;

	if (!p->sorter.buffer && start_sort(p))
		return p->err->code;
	r = gt_sorter_add(&p->sorter, p->err);
	if (!r)
		return p->err->code;
	*r = (struct record){ .track = track | (p->tracks[track].gpu ? 1ull << 40 : 0),
		.time = time,
		.order = ++p->order };
	if (!ev)
		return 0;
	r->at = p->spooled + 1;
	gt_out_add(&p->spool, ev, EVENT_BYTES);
	gt_out_add(&p->spool, ev->extra_values, extra);
	p->spooled += EVENT_BYTES + extra;
	return p->spool.failed
		? gt_err_set(p->err, p->spool.failed, "cannot write a temporary file: %s",
			  strerror(-p->spool.failed))
		: 0;
}

/* From here on, the events of the track are sorted. */
static int start_sorting(struct gt_pftrace *p, size_t track)
{
	struct gt_pftrace_track *t = &p->tracks[track];
	int e = 0;

	t->sorted = true;
	for (size_t i = 0; !e && i < t->nopen; i++)
		e = sort_event(p, track, t->open[i].ts, &t->open[i]);
	p->nopen -= t->nopen;
	t->nopen = 0;
	free(t->open);
	t->open = NULL;
	t->cap = 0;
	return e;
}

struct gt_kineto_event *gt_pftrace_open(struct gt_pftrace *p, size_t track, int64_t time)
{
	struct gt_pftrace_track *t = &p->tracks[track];

	if (!t->sorted && (time < t->last || t->nopen >= DEPTH_MAX || p->nopen >= OPEN_MAX) &&
		start_sorting(p, track))
		return NULL;
	if (t->sorted)
		return &p->beginning;
	t->last = time;
	if (gt_grow(&t->open, &t->cap, t->nopen + 1, sizeof(*t->open))) {
		gt_kineto_no_memory(p->err);
		return NULL;
	}
	return &t->open[t->nopen];
}

int gt_pftrace_begin(struct gt_pftrace *p, size_t track, const struct gt_kineto_event *ev)
{
	struct gt_pftrace_track *t = &p->tracks[track];

	if (t->sorted)
		return sort_event(p, track, ev->ts, ev);
	t->nopen++;
	p->nopen++;
	return 0;
}

int gt_pftrace_end(struct gt_pftrace *p, size_t track, int64_t time)
{
	struct gt_pftrace_track *t = &p->tracks[track];

	if (!t->sorted && (time < t->last || !t->nopen) && start_sorting(p, track))
		return p->err->code;
	if (t->sorted)
		return sort_event(p, track, time, NULL);
	t->last = time;
	p->nopen--;
	return put_slice(p, &t->open[--t->nopen], time);
}

/* ---- the sorted pass ---- */

struct sorted {
	const char *events;
	uint64_t bytes, *stack;
	size_t n, cap;
};

/* Puts the event at this place of the temporary file. */
static int put_spooled(struct gt_pftrace *p, const struct sorted *s, uint64_t at, int64_t end)
{
	struct gt_kineto_event ev;

	memcpy(&ev, s->events + at, EVENT_BYTES);
	memcpy(ev.extra_values, s->events + at + EVENT_BYTES, ev.nextra * sizeof(*ev.extra_values));
	return put_slice(p, &ev, end);
}

static int put_open(struct gt_pftrace *p, struct sorted *s)
{
	int e = 0;

	while (!e && s->n)
		e = put_spooled(p, s, s->stack[--s->n] - 1, p->latest);
	return e;
}

static int put_record(struct gt_pftrace *p, struct sorted *s, const struct record *r)
{
	if (r->at) {
		if (s->n >= STACK_MAX)
			return gt_err_set(p->err, -E2BIG,
				"more than %u slices are open on one track", STACK_MAX);
		if (gt_grow(&s->stack, &s->cap, s->n + 1, sizeof(*s->stack)))
			return gt_kineto_no_memory(p->err);
		s->stack[s->n++] = r->at;
		return 0;
	}
	if (s->n)
		return put_spooled(p, s, s->stack[--s->n] - 1, r->time);
	p->without_begin++;
	return 0;
}

static int put_sorted(struct gt_pftrace *p)
{
	struct sorted s = { .bytes = p->spooled };
	uint64_t track = UINT64_MAX;
	struct record r;
	void *map = NULL;
	int more, e = 0;

	gt_out_flush(&p->spool);
	if (p->spool.failed)
		return gt_err_set(p->err, p->spool.failed, "cannot write a temporary file: %s",
			strerror(-p->spool.failed));
	if (p->spooled)
		map = mmap(NULL, p->spooled, PROT_READ, MAP_SHARED, p->spool_fd, 0);
	if (map == MAP_FAILED)
		return gt_kineto_no_memory(p->err);
	s.events = map;
	while (!e && (more = gt_sorter_next(&p->sorter, &r, p->err)) > 0) {
		if (r.track != track)
			e = put_open(p, &s);
		track = r.track;
		if (!e)
			e = put_record(p, &s, &r);
	}
	if (!e)
		e = more < 0 ? more : put_open(p, &s);
	if (map)
		munmap(map, p->spooled);
	free(s.stack);
	return e;
}

int gt_pftrace_tracks_finish(struct gt_pftrace *p)
{
	int e = 0;

	for (size_t i = 0; !e && i < p->ntracks; i++) {
		struct gt_pftrace_track *t = &p->tracks[i];

		while (!e && t->nopen)
			e = put_slice(p, &t->open[--t->nopen], p->latest);
	}
	return !e && p->sorter.buffer ? put_sorted(p) : e;
}

void gt_pftrace_tracks_release(struct gt_pftrace *p)
{
	for (size_t i = 0; i < p->ntracks; i++)
		free(p->tracks[i].open);
	free(p->tracks);
	gt_map_release(&p->track_map);
	gt_sorter_release(&p->sorter);
	if (p->spool_fd > 0) {
		close(p->spool_fd);
		gt_out_close(&p->spool, NULL);
	}
}
