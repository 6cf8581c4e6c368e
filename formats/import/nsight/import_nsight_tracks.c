/* Processes, threads and GPUs. In Nsight's tables they have numbers: a globalTid is
 * VM << 48 | pid << 24 | tid, a globalPid the same without tid. The table GT_TRACKS of gtexport has
 * the tracks of its trace, with their ids, names and parents, and the globalTid that its other
 * tables use for them; so ids of more than 24 bits come back. */
#include "formats/import/nsight/import_nsight_internal.h"

#include <string.h>
#include "formats/import/import_rows.h"

#define PID(global) ((int64_t)((uint64_t)(global) >> 24 & 0xffffff))
#define TID(global) ((int64_t)((uint64_t)(global)&0xffffff))
#define PROCESS_OF(global) ((global) & ~0xffffffll)
#define ANY_CONTEXT (-1) /* of a stream whose context the trace does not have */
#define LEVELS 8         /* of parents */
#define KEY offsetof(struct gt_nsight_place, track)

static uint32_t too_many(struct gt_nsight *n)
{
	gt_err_set(n->err, -E2BIG, "more than %u threads and streams", GT_ROWS_TRACKS);
	return GT_NONE;
}

static uint32_t find_place(const struct gt_nsight *n, const struct gt_nsight_place *at)
{
	uint32_t i = gt_map_find_item(&n->place_map, n->places, sizeof(*at), at, KEY);

	return i == GT_NONE ? GT_NONE : n->places[i].track;
}

/* Adds at, whose key is new. Its track, or GT_NONE. */
static uint32_t add_place(struct gt_nsight *n, const struct gt_nsight_place *at)
{
	if (n->nplaces == GT_ROWS_TRACKS)
		return too_many(n);
	if (at->track == GT_NONE ||
		gt_map_add_item(&n->place_map, &n->places, &n->nplaces, &n->places_cap, sizeof(*at),
			at, KEY) == GT_NONE) {
		gt_nsight_no_memory(n);
		return GT_NONE;
	}
	return at->track;
}

/* at->track is the parent's. */
static uint32_t place(
	struct gt_nsight *n, struct gt_nsight_place *at, enum gt_track_kind kind, int64_t id)
{
	struct gt_track t = { .parent = at->track,
		.name = GT_NONE,
		.source = n->source,
		.kind = (uint8_t)kind,
		.id = id,
		.ns_id = id };
	uint32_t track;

	at->kind = kind;
	track = find_place(n, at);
	if (track != GT_NONE)
		return track;
	if (n->nplaces == GT_ROWS_TRACKS)
		return too_many(n);
	at->track = gt_writer_track(n->w, &t);
	return add_place(n, at);
}

uint32_t gt_nsight_process(struct gt_nsight *n, int64_t global)
{
	struct gt_nsight_place at = { .global = PROCESS_OF(global), .track = GT_NONE };

	return place(n, &at, GT_TRACK_PROCESS, PID(global));
}

uint32_t gt_nsight_thread(struct gt_nsight *n, int64_t global)
{
	struct gt_nsight_place at = { .global = global };

	if (n->last_track && n->last_thread == global)
		return n->last_track - 1;
	at.track = gt_nsight_process(n, global);
	if (at.track == GT_NONE)
		return GT_NONE;
	n->last_track = place(n, &at, GT_TRACK_THREAD, TID(global)) + 1;
	n->last_thread = global;
	return n->last_track - 1;
}

uint32_t gt_nsight_custom(struct gt_nsight *n, int64_t id, uint32_t name)
{
	struct gt_nsight_place at = { .id = id, .track = GT_NONE };
	uint32_t track = place(n, &at, GT_TRACK_CUSTOM, id);

	if (track == GT_NONE || name == GT_NONE)
		return track;
	return gt_writer_track_name(n->w, track, name, n->err) ? GT_NONE : track;
}

/* ---- GPUs ---- */

static uint32_t find_gpu(struct gt_nsight *n, struct gt_nsight_place *at, int64_t device,
	int64_t context, int64_t stream)
{
	uint32_t t = at->track;

	if (t == GT_NONE || device < 0)
		return t;
	at->device = device;
	t = at->track = place(n, at, GT_TRACK_DEVICE, device);
	if (t != GT_NONE && stream >= 0 && n->ntracks) {
		struct gt_nsight_place other = *at;

		other.kind = GT_TRACK_STREAM;
		other.context = ANY_CONTEXT;
		other.id = stream;
		other.track = find_place(n, &other);
		if (other.track != GT_NONE)
			return other.track;
	}
	at->context = ANY_CONTEXT;
	if (t != GT_NONE && context >= 0) {
		at->context = context;
		t = at->track = place(n, at, GT_TRACK_CONTEXT, context);
	}
	if (t != GT_NONE && stream >= 0) {
		at->id = stream;
		t = place(n, at, GT_TRACK_STREAM, stream);
	}
	return t;
}

uint32_t gt_nsight_gpu(
	struct gt_nsight *n, int64_t global, int64_t device, int64_t context, int64_t stream)
{
	struct gt_nsight_place *last = &n->last_stream;
	struct gt_nsight_place at = { .global = PROCESS_OF(global) };

	if (last->kind == GT_TRACK_STREAM && last->global == at.global && last->device == device &&
		last->context == context && last->id == stream)
		return last->track;
	at.track = gt_nsight_process(n, global);
	at.track = find_gpu(n, &at, device, context, stream);
	*last = (struct gt_nsight_place){ GT_TRACK_STREAM, PROCESS_OF(global), device, context,
		stream, at.track };
	return at.track;
}

/* ---- GT_TRACKS ---- */

/* Columns: id, parentId, kindId, osId, nameId, sourceId, globalTid. */
int gt_nsight_see_track(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_nsight_track t = { .id = sqlite3_value_int64(s[0]),
		.parent = gt_nsight_number(s, 1, GT_NSIGHT_NO_ID),
		.kind = gt_nsight_word(n, s, 2, gt_track_kind_word, GT_TRACK_CUSTOM),
		.os_id = sqlite3_value_int64(s[3]),
		.name = gt_nsight_string_or_none(n, s, 4),
		.source = gt_nsight_string_or_none(n, s, 5),
		.global = gt_nsight_number(s, 6, GT_NSIGHT_NO_ID),
		.track = GT_NONE };

	if (gt_map_find_item(&n->track_map, n->tracks, sizeof(t), &t, sizeof(t.id)) != GT_NONE)
		return 0;
	if (n->ntracks == GT_ROWS_TRACKS) {
		too_many(n);
		return n->err->code;
	}
	return gt_map_add_item(&n->track_map, &n->tracks, &n->ntracks, &n->tracks_cap, sizeof(t),
		       &t, sizeof(t.id)) == GT_NONE
		? gt_nsight_no_memory(n)
		: 0;
}

static struct gt_nsight_track *track_with(const struct gt_nsight *n, int64_t id)
{
	uint32_t i =
		gt_map_find_item(&n->track_map, n->tracks, sizeof(*n->tracks), &id, sizeof(id));

	return i == GT_NONE ? NULL : &n->tracks[i];
}

/* Other tables find the track by its key, unless another one has it. */
static int add_key(struct gt_nsight *n, const struct gt_nsight_track *t)
{
	struct gt_nsight_place at = { .kind = t->kind, .track = t->track };
	const struct gt_nsight_track *up = t;

	if (t->global == GT_NSIGHT_NO_ID ||
		!(t->kind >= GT_TRACK_PROCESS && t->kind <= GT_TRACK_STREAM))
		return 0;
	at.global = t->kind == GT_TRACK_THREAD ? t->global : PROCESS_OF(t->global);
	if (t->kind == GT_TRACK_STREAM) {
		at.id = t->os_id;
		at.context = ANY_CONTEXT;
	}
	for (int i = 0; i < LEVELS && up; i++, up = track_with(n, up->parent)) {
		if (up->kind == GT_TRACK_CONTEXT)
			at.context = up->os_id;
		if (up->kind == GT_TRACK_DEVICE)
			at.device = up->os_id;
	}
	return find_place(n, &at) == GT_NONE && add_place(n, &at) == GT_NONE ? n->err->code : 0;
}

/* Makes the track and those above it. */
static int make_track(struct gt_nsight *n, struct gt_nsight_track *t, int level)
{
	struct gt_nsight_track *up =
		t->parent == GT_NSIGHT_NO_ID || level == LEVELS ? NULL : track_with(n, t->parent);
	struct gt_track new = { .parent = GT_NONE,
		.name = t->name,
		.source = t->source == GT_NONE ? n->source : t->source,
		.kind = (uint8_t)t->kind,
		.id = t->os_id,
		.ns_id = t->os_id };
	int rc = up && up->track == GT_NONE ? make_track(n, up, level + 1) : 0;

	if (rc || t->track != GT_NONE) /* a track above itself */
		return rc;
	if (up)
		new.parent = up->track;
	t->track = gt_writer_track(n->w, &new);
	return t->track == GT_NONE ? gt_nsight_no_memory(n) : add_key(n, t);
}

int gt_nsight_end_tracks(struct gt_nsight *n)
{
	int rc = 0;

	for (size_t i = 0; i < n->ntracks && !rc; i++)
		if (n->tracks[i].track == GT_NONE)
			rc = make_track(n, &n->tracks[i], 0);
	return rc;
}

uint32_t gt_nsight_track(struct gt_nsight *n, sqlite3_value **s, int c)
{
	const struct gt_nsight_track *t =
		gt_nsight_has(s, c) ? track_with(n, sqlite3_value_int64(s[c])) : NULL;

	return t ? t->track : GT_NONE;
}
