/* Tracks of a Perfetto trace, and the slices on them (import_kineto_slices.c). */
#include "formats/import/perfetto/import_perfetto.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"

#define PARENTS_MAX 32u
#define KEY offsetof(struct gt_pftrace_track, parent)

/* ---- tracks ---- */

static int64_t find_or_add(struct gt_pftrace *p, uint64_t uuid)
{
	struct gt_pftrace_track t = { .uuid = uuid,
		.pid.word = GT_NONE,
		.tid.word = GT_NONE,
		.name = GT_NONE,
		.device = -1,
		.stream = -1,
		.multiplier = 1,
		.lane.last = INT64_MIN };
	uint32_t i;

	i = gt_map_find_item(&p->track_map, p->tracks, sizeof(t), &t, KEY);
	if (i != UINT32_MAX)
		return i;
	if (p->ntracks >= 4 * GT_KINETO_TRACKS)
		return gt_err_set(p->err, -E2BIG, "more than %u tracks", 4 * GT_KINETO_TRACKS);
	i = gt_map_add_item(
		&p->track_map, &p->tracks, &p->ntracks, &p->tracks_cap, sizeof(t), &t, KEY);
	return i == UINT32_MAX ? gt_kineto_no_memory(p->err) : (int64_t)i;
}

int64_t gt_pftrace_track_of(struct gt_pftrace *p, uint64_t uuid)
{
	size_t at = uuid % (sizeof(p->recent_tracks) / sizeof(*p->recent_tracks));
	int64_t i;

	if (p->recent_tracks[at].uuid == uuid && p->recent_tracks[at].track)
		return (int64_t)p->recent_tracks[at].track - 1;
	i = find_or_add(p, uuid);
	if (i >= 0) {
		p->recent_tracks[at].uuid = uuid;
		p->recent_tracks[at].track = (size_t)i + 1;
	}
	return i;
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

static int put(void *arg, struct gt_kineto_event *ev, struct gt_err *err)
{
	return gt_pftrace_put(arg, ev);
}

/* A slice without an end lasts until the trace ends. */
static int put_begin(void *arg, struct gt_kineto_event *ev, struct gt_err *err)
{
	struct gt_pftrace *p = arg;

	ev->dur = p->latest > ev->ts ? p->latest - ev->ts : 0;
	ev->has |= GT_KINETO_DUR;
	return gt_pftrace_put(p, ev);
}

static int put_end(void *arg, struct gt_kineto_event *ev, struct gt_err *err)
{
	struct gt_pftrace *p = arg;

	p->without_begin++;
	return 0;
}

void gt_pftrace_tracks_init(struct gt_pftrace *p)
{
	p->slices.put = put;
	p->slices.put_begin = put_begin;
	p->slices.put_end = put_end;
	p->slices.arg = p;
}

/* Work of GPUs comes after the calls of all threads. */
static uint64_t key_of(const struct gt_pftrace *p, size_t track)
{
	return track | (p->tracks[track].gpu ? 1ull << 40 : 0);
}

struct gt_kineto_event *gt_pftrace_open(struct gt_pftrace *p, size_t track, int64_t time)
{
	return gt_kineto_slice_open(
		&p->slices, &p->tracks[track].lane, key_of(p, track), time, p->err);
}

int gt_pftrace_begin(struct gt_pftrace *p, size_t track, const struct gt_kineto_event *ev)
{
	return gt_kineto_slice_begin(
		&p->slices, &p->tracks[track].lane, key_of(p, track), ev, p->err);
}

int gt_pftrace_end(struct gt_pftrace *p, size_t track, int64_t time)
{
	return gt_kineto_slice_end(
		&p->slices, &p->tracks[track].lane, key_of(p, track), time, NULL, p->err);
}

int gt_pftrace_tracks_finish(struct gt_pftrace *p)
{
	int e = 0;

	for (size_t i = 0; !e && i < p->ntracks; i++)
		e = gt_kineto_lane_finish(&p->slices, &p->tracks[i].lane, p->err);
	return e ? e : gt_kineto_slices_finish(&p->slices, p->err);
}

void gt_pftrace_tracks_release(struct gt_pftrace *p)
{
	for (size_t i = 0; i < p->ntracks; i++)
		free(p->tracks[i].lane.open);
	free(p->tracks);
	gt_map_release(&p->track_map);
	gt_kineto_slices_release(&p->slices);
}
