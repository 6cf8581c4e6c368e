/* The rows of a memory snapshot: one for each event, on the track of its device, and counters of
 * live and reserved bytes.
 *
 * Events have times in microseconds. Events with the same time, or without one, follow each other
 * by 1 ns, so that their order stays. Allocations from before the trace come 1 us before its first
 * event, with a name of their own. */
#include <stdlib.h>
#include <string.h>
#include "formats/import/torch/import_torch_memory.h"

#define OUT_OF_MEMORY 2 /* cudaErrorMemoryAllocation, the result of an oom event */

static void classify(const char *name, unsigned group, struct gt_type *type)
{
	type->layer = GT_LAYER_USER;
	type->category = group == GT_TORCH_RANGES ? GT_CAT_USER : GT_CAT_MEMORY;
	if (group == GT_TORCH_ALLOCATES || group == GT_TORCH_FREES || group == GT_TORCH_COUNTS)
		type->memkind = GT_MEM_POOL;
	if (group == GT_TORCH_ALLOCATES || group == GT_TORCH_FREES)
		type->op = group == GT_TORCH_ALLOCATES ? GT_OP_ALLOC : GT_OP_FREE;
}

static uint8_t role(unsigned group, const char *key, unsigned kind)
{
	if (!strcmp(key, "value"))
		return GT_R_VALUE;
	return !strcmp(key, "stack") ? GT_R_STACK : GT_R_NONE;
}

const struct gt_rows_config gt_torch_rows = { .importer = "torch-memory",
	.mode = GT_PAIR_NESTED,
	.classify = classify,
	.role = role,
	.notes_lines = true };

/* A row with the current arguments. */
static int put_row(struct gt_torch_import *t, enum gt_kind kind, const struct gt_torch_device *d,
	const char *name, size_t len, unsigned group, int32_t ret, struct gt_err *err)
{
	int64_t n = gt_rows_name(t->rows, name, len, group, err);
	struct gt_row row = { .start = d->at, .end = d->at, .ret = ret };
	uint32_t track = kind == GT_COUNTER ? d->track : d->events_track;

	return n < 0 ? (int)n : gt_rows_row(t->rows, kind, track, (uint32_t)n, &row, err);
}

static int put_counter(struct gt_torch_import *t, const struct gt_torch_device *d, const char *name,
	unsigned group, uint64_t value, struct gt_err *err)
{
	gt_rows_no_args(t->rows);
	gt_rows_number(t->rows, "value", value);
	return put_row(t, GT_COUNTER, d, name, strlen(name), group, 0, err);
}

static int put_live(struct gt_torch_import *t, const struct gt_torch_device *d, struct gt_err *err)
{
	return put_counter(t, d, "live_pool_bytes", GT_TORCH_COUNTS, d->live, err);
}

static int put_reserved(
	struct gt_torch_import *t, const struct gt_torch_device *d, struct gt_err *err)
{
	if (!t->has_segments || d->reserved > INT64_MAX)
		return 0;
	return put_counter(t, d, "reserved_bytes", GT_TORCH_RESERVES, d->reserved, err);
}

/* ---- arguments ---- */

static void add_arg(
	struct gt_import_rows *r, unsigned *n, const char *key, unsigned kind, uint64_t value)
{
	gt_rows_set_arg(r, (*n)++, key, kind, value);
}

static int set_args(struct gt_torch_import *t, const struct gt_torch_event *e, struct gt_err *err)
{
	struct gt_import_rows *r = t->rows;
	uint32_t stack;
	unsigned n = 0;
	int rc = gt_torch_stack(t, e->frames, &stack, err);

	gt_rows_no_args(r);
	if (e->has_addr)
		add_arg(r, &n, "addr", GT_F_HEX, e->addr);
	if (e->has_bytes)
		add_arg(r, &n, "bytes", GT_F_U64, e->bytes);
	if (e->has_device_free)
		add_arg(r, &n, "device_free", GT_F_U64, e->device_free);
	if (e->has_stream)
		add_arg(r, &n, "stream", GT_F_HEX, (uint64_t)e->stream);
	if (stack != GT_NONE)
		add_arg(r, &n, "stack", GT_F_U64, stack);
	if (e->context_len && strncmp(e->context, "N/A", e->context_len))
		gt_rows_text(r, "compile_context", e->context, e->context_len);
	if (e->metadata_len)
		gt_rows_text(r, "user_metadata", e->metadata, e->metadata_len);
	return rc;
}

/* ---- allocations that are no events ---- */

static int put_block(struct gt_torch_import *t, const struct gt_torch_address *a, bool before,
	struct gt_err *err)
{
	static const char *const names[] = { "alloc (after the trace)",
		"alloc (before the trace)" };
	bool block = !before || !a->in_trace;
	struct gt_torch_device *d = &t->devices[a->device];
	struct gt_torch_event e = { .addr = a->addr,
		.bytes = block ? a->block_bytes : a->bytes,
		.stream = a->stream,
		.frames = block ? a->frames : GT_TORCH_NO_VALUE,
		.has_addr = true,
		.has_bytes = true,
		.has_stream = true };
	int rc = set_args(t, &e, err);

	d->live += e.bytes;
	return rc ? rc
		  : put_row(t, GT_INSTANT, d, names[before], strlen(names[before]),
			    GT_TORCH_ALLOCATES, 0, err);
}

/* Blocks that were allocated before the trace, or after it. */
static int put_blocks(struct gt_torch_import *t, bool before, struct gt_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->naddresses; i++) {
		const struct gt_torch_address *a = &t->addresses[i];

		if (before ? a->before : a->in_segments && a->in_trace && !a->live)
			rc = put_block(t, a, before, err);
	}
	for (size_t i = 0; !rc && i < t->ndevices; i++) {
		if (before || t->after)
			rc = put_live(t, &t->devices[i], err);
		if (!rc && before)
			rc = put_reserved(t, &t->devices[i], err);
	}
	return rc;
}

/* ---- events ---- */

static int put_event(struct gt_torch_import *t, struct gt_torch_device *d, struct gt_err *err)
{
	const struct gt_torch_event *e = &d->next;
	bool allocates = e->action == GT_TORCH_ALLOC, frees = gt_torch_is_free(d, e),
	     oom = e->action == GT_TORCH_OOM;
	int rc = set_args(t, e, err);

	if (!rc)
		rc = put_row(t, GT_INSTANT, d, e->name, e->name_len,
			allocates || oom ? GT_TORCH_ALLOCATES
				: frees  ? GT_TORCH_FREES
					 : GT_TORCH_PLAIN,
			oom ? OUT_OF_MEMORY : 0, err);
	if (!rc && (allocates || frees)) {
		d->live = allocates          ? d->live + e->bytes
			: d->live > e->bytes ? d->live - e->bytes
					     : 0;
		rc = put_live(t, d, err);
	}
	if (e->action == GT_TORCH_SEGMENT_ALLOC)
		d->reserved += e->bytes;
	else if (e->action == GT_TORCH_SEGMENT_FREE)
		d->reserved -= e->bytes;
	else
		return rc;
	return rc ? rc : put_reserved(t, d, err);
}

/* Reads the next event of a device, and its time. */
static int advance(struct gt_torch_import *t, struct gt_torch_device *d, struct gt_err *err)
{
	int more = gt_torch_next_event(t, &d->cursor, &d->next, err);

	d->has_next = more > 0;
	if (more <= 0)
		return more;
	t->untimed += !d->next.has_time;
	d->at++;
	if (d->next.has_time && d->next.time_us * 1000 > d->at)
		d->at = d->next.time_us * 1000;
	return 0;
}

/* The device with the earliest event; NULL: there are no more events. */
static struct gt_torch_device *earliest(struct gt_torch_import *t)
{
	struct gt_torch_device *best = NULL;

	for (size_t i = 0; i < t->ndevices; i++)
		if (t->devices[i].has_next && (!best || t->devices[i].at < best->at))
			best = &t->devices[i];
	return best;
}

int64_t gt_torch_track(struct gt_torch_import *t, int64_t device, int64_t number, const char *name,
	struct gt_err *err)
{
	struct gt_rows_place at;
	int64_t track;
	uint32_t id;
	int e;

	memset(&at, 0, sizeof(at));
	at.kind = GT_TRACK_CUSTOM;
	at.id = number;
	at.device = device;
	at.on_device = true;
	track = gt_rows_place(t->rows, &at, err);
	if (track < t->named)
		return track;
	t->named = track + 1; /* numbers of new tracks are larger than all before */
	id = gt_rows_track_id(t->rows, (uint32_t)track);
	if (id == GT_NONE)
		return gt_torch_no_memory(err);
	e = gt_writer_track_name(t->w, id, gt_writer_string(t->w, name), err);
	return e ? e : track;
}

/* Events are on a track of their own below the device: the device's is for GPU work. */
static int add_tracks(struct gt_torch_import *t, struct gt_torch_device *d, struct gt_err *err)
{
	struct gt_rows_place at;
	int64_t track;

	memset(&at, 0, sizeof(at));
	at.kind = GT_TRACK_DEVICE;
	at.id = d->number;
	track = gt_rows_place(t->rows, &at, err);
	if (track < 0)
		return (int)track;
	d->track = (uint32_t)track;
	track = gt_torch_track(t, d->number, 0, "allocator", err);
	d->events_track = (uint32_t)track;
	return track < 0 ? (int)track : 0;
}

int gt_torch_write_rows(struct gt_torch_import *t, struct gt_err *err)
{
	int64_t last = t->first_us == INT64_MAX ? 0 : (t->first_us - 1) * 1000;
	struct gt_torch_device *d;
	int rc = 0;

	for (size_t i = 0; !rc && i < t->ndevices; i++) {
		t->devices[i].at = last;
		rc = add_tracks(t, &t->devices[i], err);
	}
	if (!rc)
		rc = put_blocks(t, true, err);
	for (size_t i = 0; !rc && i < t->ndevices; i++)
		if (t->devices[i].events != GT_TORCH_NO_VALUE) {
			rc = gt_torch_begin_events(t, &t->devices[i], err);
			rc = rc ? rc : advance(t, &t->devices[i], err);
		}
	while (!rc && (d = earliest(t))) {
		rc = put_event(t, d, err);
		last = d->at;
		rc = rc ? rc : advance(t, d, err);
	}
	for (size_t i = 0; t->after && i < t->ndevices; i++)
		t->devices[i].at = last + 1;
	return rc || !t->after ? rc : put_blocks(t, false, err);
}
