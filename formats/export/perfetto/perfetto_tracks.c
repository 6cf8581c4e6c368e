/* Tracks of a Perfetto trace: processes with their threads; GPUs below their processes, with their
 * streams; further lanes of a thread below it. Lanes of one stream have the same name, and viewers
 * draw them as one. The order is that of gtview: processes with GPUs first; in a process, GPUs
 * before threads. */
#include "formats/export/perfetto/perfetto.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/base/numbers.h"

#define RANK_THREADS 1000   /* GPUs come before it */
#define RANK_NO_GPU 1000000 /* processes without a GPU */
#define RANK_OTHERS 2000000 /* tracks of no process */
#define NAME_MAX_BYTES 600u
#define BY_RANK 3         /* child_ordering */
#define TRACKS_MAX 10000u /* of a recording in which GPUs of a process are searched for */

static uint64_t new_uuid(struct gt_perfetto *x) { return x->uuid_base + ++x->nuuids; }

/* A descriptor: its text and the fields around it. */
struct descriptor {
	char bytes[2 * NAME_MAX_BYTES + 20 * GT_PROTO_FIELD_MAX], *p;
	struct gt_buf name;
};

static void open_descriptor(struct descriptor *d, uint64_t uuid, const char *name)
{
	d->name = (struct gt_buf){ 0 };
	gt_perfetto_put_text(&d->name, name, strlen(name), NAME_MAX_BYTES);
	d->p = gt_proto_u64(d->bytes, GT_TRACKS_UUID, uuid);
}

static void put_name(struct descriptor *d, uint32_t field)
{
	if (d->name.len)
		d->p = gt_proto_bytes(d->p, field, (char *)d->name.data, d->name.len);
}

static void close_descriptor(
	struct gt_perfetto *x, struct descriptor *d, uint64_t parent, uint64_t rank)
{
	if (parent)
		d->p = gt_proto_u64(d->p, GT_TRACKS_PARENT, parent);
	d->p = gt_proto_u64(d->p, GT_TRACKS_CHILD_ORDER, BY_RANK);
	d->p = gt_proto_u64(d->p, GT_TRACKS_RANK, rank < INT32_MAX ? rank : INT32_MAX);
	gt_perfetto_put_packet(x, GT_PACKET_TRACK, d->bytes, (size_t)(d->p - d->bytes), true);
	if (d->name.failed)
		gt_err_set(x->err, -ENOMEM, "out of memory");
	gt_buf_release(&d->name);
}

static void put_track(
	struct gt_perfetto *x, uint64_t uuid, const char *name, uint64_t parent, uint64_t rank)
{
	struct descriptor d;

	open_descriptor(&d, uuid, name);
	put_name(&d, GT_TRACKS_NAME);
	close_descriptor(x, &d, parent, rank);
}

/* ---- processes ---- */

static uint64_t process_uuid(const struct gt_perfetto *x, uint64_t pid)
{
	uint32_t i = gt_map_find_item(
		&x->process_map, x->processes, sizeof(*x->processes), &pid, sizeof(pid));

	return i == UINT32_MAX ? 0 : x->processes[i].uuid;
}

static bool has_gpu(const struct gt_segment *seg, uint32_t process)
{
	for (uint32_t t = process; t < seg->ntracks && t - process < TRACKS_MAX; t++)
		if (seg->tracks[t].kind == GT_TRACK_DEVICE && gt_track_process(seg, t) == process)
			return true;
	return false;
}

static void name_process(void *arg, const struct gt_segment *seg, uint32_t track, uint32_t pid,
	const char *name, uint64_t order)
{
	const struct gt_track *t = &seg->tracks[track];
	struct gt_perfetto *x = arg;
	struct gt_perfetto_process one = { pid, new_uuid(x) };
	uint32_t above = t->kind == GT_TRACK_DEVICE ? gt_track_process(seg, track) : GT_NONE;
	uint64_t parent = 0;
	struct descriptor d;
	char *mark;

	if (gt_map_add_item(&x->process_map, &x->processes, &x->nprocesses, &x->processes_cap,
		    sizeof(one), &one, sizeof(one.pid)) == UINT32_MAX)
		gt_err_set(x->err, -ENOMEM, "out of memory");
	if (t->kind != GT_TRACK_PROCESS) {
		if (above != GT_NONE)
			parent = process_uuid(x, gt_chrome_process(&x->tracks, seg, above));
		put_track(x, one.uuid, name, parent,
			parent ? (uint64_t)(t->id > 0 ? t->id : 0) % RANK_THREADS
			       : RANK_OTHERS + order);
		return;
	}
	open_descriptor(&d, one.uuid, name);
	mark = gt_proto_open(&d.p, GT_TRACKS_PROCESS);
	d.p = gt_proto_u64(d.p, GT_PROCESS_PID, pid);
	put_name(&d, GT_PROCESS_NAME);
	d.p = gt_proto_close(mark, d.p);
	d.p = gt_proto_u64(d.p, GT_TRACKS_THREAD_ORDER, 1);
	close_descriptor(x, &d, 0, (has_gpu(seg, track) ? 0 : RANK_NO_GPU) + order);
}

/* ---- lanes ---- */

static void put_thread(struct gt_perfetto *x, uint64_t uuid, uint32_t pid, uint32_t tid,
	const char *name, uint64_t order)
{
	struct descriptor d;
	char *mark;

	open_descriptor(&d, uuid, name);
	mark = gt_proto_open(&d.p, GT_TRACKS_THREAD);
	d.p = gt_proto_u64(d.p, GT_THREAD_PID, pid);
	d.p = gt_proto_u64(d.p, GT_THREAD_TID, tid);
	put_name(&d, GT_THREAD_NAME);
	d.p = gt_proto_close(mark, d.p);
	close_descriptor(
		x, &d, process_uuid(x, pid), tid == pid ? RANK_THREADS : RANK_THREADS + 1 + order);
}

static void name_lane(void *arg, const struct gt_segment *seg, uint32_t track, uint32_t pid,
	struct gt_chrome_lane *l, const char *name, uint64_t order)
{
	struct gt_perfetto *x = arg;
	uint64_t *first = &x->segs[seg->index].uuids[track], uuid;
	bool thread = seg->tracks[track].kind == GT_TRACK_THREAD;

	if (!l->beside && gt_chrome_owner(seg, track) == track) {
		uuid = process_uuid(x, pid); /* of the process or GPU itself */
	} else if (!l->beside && thread) {
		uuid = new_uuid(x);
		put_thread(x, uuid, pid, l->tid, name, order);
	} else {
		uuid = new_uuid(x);
		put_track(
			x, uuid, name, l->beside && thread ? *first : process_uuid(x, pid), order);
	}
	if (!*first)
		*first = uuid;
	l->where_len = (uint32_t)(gt_proto_u64(l->where, GT_EVENT_TRACK, uuid) - l->where);
}

uint64_t gt_perfetto_lone_track(struct gt_perfetto *x, const struct gt_segment *seg, uint32_t track)
{
	uint64_t uuid = new_uuid(x);
	char name[320];

	gt_export_track_name(seg, track, name, sizeof(name));
	put_track(x, uuid, name, x->segs[seg->index].uuids[track], UINT32_MAX);
	return uuid;
}

uint64_t gt_perfetto_root(struct gt_perfetto *x)
{
	if (!x->root) {
		x->root = new_uuid(x);
		put_track(x, x->root, "recording", 0, RANK_OTHERS);
	}
	return x->root;
}

/* ---- counters ---- */

static void put_counter(struct gt_perfetto *x, const struct gt_event *ev, uint64_t uuid)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];
	uint64_t parent = x->segs[ev->seg->index].uuids[ev->track];
	struct descriptor d;
	char *mark;

	open_descriptor(&d, uuid, gt_type_name(ev->seg, ev->row.type));
	put_name(&d, GT_TRACKS_NAME);
	mark = gt_proto_open(&d.p, GT_TRACKS_COUNTER);
	if (type->nfields && type->fields[0].role == GT_R_BYTES)
		d.p = gt_proto_u64(d.p, GT_COUNTERS_UNIT, GT_COUNTERS_BYTES);
	d.p = gt_proto_close(mark, d.p);
	close_descriptor(x, &d, parent, x->ncounters);
}

uint64_t gt_perfetto_counter(struct gt_perfetto *x, const struct gt_event *ev)
{
	struct gt_perfetto_counter one = {
		.segment = ev->seg->index, .track = ev->track, .type = ev->row.type
	};
	const size_t key = offsetof(struct gt_perfetto_counter, uuid);
	uint32_t i = gt_map_find_item(&x->counter_map, x->counters, sizeof(one), &one, key);

	if (i != UINT32_MAX)
		return x->counters[i].uuid;
	if (!gt_chrome_track(&x->tracks, ev->seg, ev->track))
		return 0;
	one.uuid = new_uuid(x);
	if (gt_map_add_item(&x->counter_map, &x->counters, &x->ncounters, &x->counters_cap,
		    sizeof(one), &one, key) == UINT32_MAX) {
		gt_err_set(x->err, -ENOMEM, "out of memory");
		return 0;
	}
	put_counter(x, ev, one.uuid);
	return one.uuid;
}

/* ---- all tracks ---- */

int gt_perfetto_tracks_init(struct gt_perfetto *x)
{
	static const char ordered[] = { GT_TRACKS_UUID << 3, 0, GT_TRACKS_CHILD_ORDER << 3, BY_RANK,
		(char)((GT_TRACKS_PROCESS_ORDER << 3 & 0x7f) | 0x80), GT_TRACKS_PROCESS_ORDER >> 4,
		1 };
	int rc = gt_chrome_tracks_init(&x->tracks, x->r, x->out, x->err);

	x->tracks.names = (struct gt_chrome_names){ name_process, name_lane, x, false };
	gt_perfetto_put_packet(x, GT_PACKET_TRACK, ordered, sizeof(ordered), true);
	return rc;
}

void gt_perfetto_tracks_release(struct gt_perfetto *x)
{
	if (x->tracks.r)
		gt_chrome_tracks_release(&x->tracks);
	free(x->processes);
	free(x->counters);
	gt_map_release(&x->process_map);
	gt_map_release(&x->counter_map);
}
