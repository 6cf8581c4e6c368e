/* Finds a lane for each row of a Chrome trace: see chrome_tracks.h.
 *
 * Process ids are unchanged if possible. A second process with the same id (two hosts in one file)
 * gets an id that is a multiple of ten million higher, and its name has the original id.
 */
#include "formats/export/chrome/chrome_tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/export/chrome/chrome_nesting.h"
#include "formats/export/exporters.h"

#define PID_STEP 10000000 /* above every pid of Linux */
#define ID_MAX INT32_MAX
#define DEVICE_ORDER 1000000u /* sort index of the first GPU: behind all processes */
#define LANE_TID 1000000000   /* first made-up thread id */
#define LANES_PER_TRACK 256u
#define LANES_MAX 200000u
#define LANE_STACK 64u

static int no_memory(struct gt_chrome_tracks *c)
{
	return gt_err_set(c->err, -ENOMEM, "out of memory");
}

/* ---- sets of ids ---- */

/* 1: added; 0: it is already in the set; negative. */
static int ids_add(struct gt_ids *s, uint64_t key)
{
	const size_t size = sizeof(key);

	if (gt_map_find_item(&s->map, s->keys, size, &key, size) != UINT32_MAX)
		return 0;
	return gt_map_add_item(&s->map, &s->keys, &s->n, &s->cap, size, &key, size) == UINT32_MAX
		? -ENOMEM
		: 1;
}

static void ids_release(struct gt_ids *s)
{
	gt_map_release(&s->map);
	free(s->keys);
}

/* ---- names, written at the first row of a process or track ---- */

void gt_chrome_separate(struct gt_chrome_tracks *c)
{
	gt_out_str(c->out, c->has_event ? ",\n" : "\n");
	c->has_event = true;
}

static void put_text(struct gt_chrome_tracks *c, const char *what, uint32_t pid, uint32_t tid,
	const char *key, const char *name)
{
	gt_chrome_separate(c);
	gt_out_printf(c->out,
		"{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{\"%s\":", what, pid,
		tid, key);
	gt_out_json(c->out, name, strlen(name));
	gt_out_str(c->out, "}}");
}

static void put_sort_index(
	struct gt_chrome_tracks *c, const char *what, uint32_t pid, uint32_t tid, uint64_t index)
{
	gt_chrome_separate(c);
	gt_out_printf(c->out,
		"{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%" PRIu64
		"}}",
		what, pid, tid, index < ID_MAX ? index : ID_MAX);
}

static void put_process(void *arg, const struct gt_segment *seg, uint32_t track, uint32_t pid,
	const char *name, uint64_t order)
{
	const struct gt_track *t = &seg->tracks[track];
	char label[40];

	put_text(arg, "process_name", pid, 0, "name", name);
	snprintf(label, sizeof(label), t->kind == GT_TRACK_DEVICE ? "GPU %" PRId64 : "CPU", t->id);
	put_text(arg, "process_labels", pid, 0, "labels", label);
	put_sort_index(arg, "process_sort_index", pid, 0, order);
}

static void put_lane(void *arg, const struct gt_segment *seg, uint32_t track, uint32_t pid,
	struct gt_chrome_lane *l, const char *name, uint64_t order)
{
	l->where_len = (uint32_t)snprintf(
		l->where, sizeof(l->where), "%u,\"tid\":%u,\"ts\":", pid, l->tid);
	put_text(arg, "thread_name", pid, l->tid, "name", name);
	put_sort_index(arg, "thread_sort_index", pid, l->tid, order);
}

uint32_t gt_chrome_owner(const struct gt_segment *seg, uint32_t track)
{
	uint32_t device = gt_track_device(seg, track), process = gt_track_process(seg, track), up;

	if (device != GT_NONE || process != GT_NONE)
		return device != GT_NONE ? device : process;
	while ((up = seg->tracks[track].parent) < track && seg->tracks[up].kind != GT_TRACK_MACHINE)
		track = up;
	return track;
}

struct process_key {
	const struct gt_chrome_tracks *c;
	const struct gt_segment *seg;
	uint32_t track;
};

/* Are two tracks, perhaps of two recordings of one machine, the same process? */
static bool same_process(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_chrome_process *p = &((const struct gt_chrome_tracks *)arg)->procs[value];
	const struct process_key *k = key;
	const struct gt_segment *a = gt_reader_segment(k->c->r, p->segment), *b = k->seg;
	const struct gt_track *ta = &a->tracks[p->track], *tb = &b->tracks[k->track];

	if (a == b && p->track == k->track)
		return true;
	if (ta->kind != GT_TRACK_PROCESS || tb->kind != GT_TRACK_PROCESS || ta->id != tb->id ||
		ta->start != tb->start)
		return false;
	return a == b || (ta->start && gt_same_clock(a, b));
}

/* Has a process of the trace this id? */
static bool is_process_id(const struct gt_chrome_tracks *c, int64_t id)
{
	for (uint32_t i = 0; i < gt_reader_segments(c->r); i++) {
		const struct gt_segment *seg = gt_reader_segment(c->r, i);

		for (uint32_t t = 0; t < seg->ntracks; t++)
			if (seg->tracks[t].kind == GT_TRACK_PROCESS && seg->tracks[t].id == id)
				return true;
	}
	return false;
}

static int new_pid(
	struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track, uint32_t *pid)
{
	const struct gt_track *t = &seg->tracks[track];
	/* 0 would be the idle process */
	uint64_t id = t->id <= 0 || t->id > ID_MAX ? PID_STEP : (uint64_t)t->id;
	int rc = 0;

	if (t->kind == GT_TRACK_DEVICE && t->id >= 0 && t->id < PID_STEP) {
		if (gt_track_process(seg, track) != GT_NONE && !is_process_id(c, t->id))
			rc = ids_add(&c->pids, (uint64_t)t->id);
		if (rc > 0)
			return *pid = (uint32_t)t->id, 0;
		if (rc < 0)
			return no_memory(c);
		id = (uint64_t)t->id + PID_STEP; /* 1 would be init */
	}
	while (!(rc = ids_add(&c->pids, id)))
		id = id + PID_STEP <= ID_MAX ? id + PID_STEP : id % PID_STEP + 1;
	*pid = (uint32_t)id;
	return rc < 0 ? no_memory(c) : 0;
}

/* "GPU 0 NVIDIA H200 (python3)", or, if there are several processes, "(python3 4711)". */
static void device_label(const struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, char *to, size_t size)
{
	const struct gt_track *t = &seg->tracks[track];
	uint32_t process = gt_track_process(seg, track), nprocesses = 0;
	const char *name = t->name == GT_NONE ? "" : gt_str(seg, t->name);
	char whose[200];
	int n;

	if (strncmp(name, "GPU", 3))
		n = snprintf(to, size, "GPU %" PRId64 "%s%.100s", t->id, *name ? " " : "", name);
	else
		n = snprintf(to, size, "%.120s", name);
	if (process == GT_NONE || n < 0 || (size_t)n >= size)
		return;
	for (uint32_t i = 0; i < seg->ntracks; i++)
		nprocesses += seg->tracks[i].kind == GT_TRACK_PROCESS;
	gt_export_track_name(seg, process, whose, sizeof(whose));
	if (nprocesses > 1 || gt_reader_segments(c->r) > 1)
		snprintf(to + n, size - (size_t)n, " (%s %" PRId64 ")", whose,
			seg->tracks[process].id);
	else
		snprintf(to + n, size - (size_t)n, " (%s)", whose);
}

/* The sort index: GPUs come after all processes, those of one process together. */
static uint64_t process_order(
	const struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track)
{
	const struct gt_track *t = &seg->tracks[track];
	uint32_t process = gt_track_process(seg, track);

	if (t->kind != GT_TRACK_DEVICE)
		return c->nprocs;
	return DEVICE_ORDER + (uint64_t)(process == GT_NONE ? 0 : process) * 64 +
		(t->id > 0 && t->id < 64 ? (uint64_t)t->id : 0);
}

/* Finds the Chrome process of an owner track, or adds and names it. */
static int process_pid(
	struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track, uint32_t *pid)
{
	const struct gt_track *t = &seg->tracks[track];
	char name[300], label[400];
	uint64_t hash = gt_hash_u64((uint64_t)t->id ^ gt_hash_u64((uint64_t)t->start ^ t->kind));
	struct process_key key = { c, seg, track };
	uint32_t at = gt_map_get(&c->by_identity, hash, same_process, c, &key, sizeof(key));

	if (at != UINT32_MAX)
		return *pid = c->procs[at].pid, 0;
	if (gt_grow(&c->procs, &c->procs_cap, c->nprocs + 1, sizeof(*c->procs)) ||
		gt_map_add(&c->by_identity, hash, (uint32_t)c->nprocs))
		return no_memory(c);
	if (new_pid(c, seg, track, pid))
		return c->err->code;
	c->procs[c->nprocs++] =
		(struct gt_chrome_process){ .segment = seg->index, .track = track, .pid = *pid };
	gt_export_track_name(seg, track, name, sizeof(name));
	if (t->kind == GT_TRACK_DEVICE)
		device_label(c, seg, track, label, sizeof(label));
	else if (*pid == t->id || !t->id)
		snprintf(label, sizeof(label), "%s", name);
	else
		snprintf(label, sizeof(label), "%s (%s %" PRId64 ", %.60s)", name,
			gt_track_kind_word(t->kind), t->id, seg->host ? seg->host : "?");
	c->names.process(c->names.arg, seg, track, *pid, label, process_order(c, seg, track));
	return 0;
}

uint32_t gt_chrome_process(struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track)
{
	uint32_t pid;

	return process_pid(c, seg, gt_chrome_owner(seg, track), &pid) ? 0 : pid;
}

/* The sort index: threads in the order of their first rows, streams in the order of their ids. */
static uint64_t thread_order(
	const struct gt_chrome_tracks *c, const struct gt_track *track, size_t lane)
{
	int64_t id = track->id < 0 ? 0 : track->id > ID_MAX ? ID_MAX : track->id;

	return (track->kind == GT_TRACK_STREAM ? (uint64_t)id : c->ntracks) * LANES_PER_TRACK +
		lane;
}

static void lane_label(const struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, bool waits, char *to, size_t size)
{
	const struct gt_chrome_track *t = &c->tracks[seg->index][track];
	bool ranges = t->spans && t->first_span_lane && seg->tracks[track].kind == GT_TRACK_THREAD;
	size_t which = waits ? (size_t)t->nwaits
		: ranges     ? t->nlanes - t->first_span_lane - t->nwaits
			     : t->nlanes - t->nwaits;
	uint32_t context = gt_track_context(seg, track);
	int n;

	gt_export_track_name(seg, track, to, size - 64);
	n = (int)strlen(to);
	if (context != GT_NONE && context != track && !seg->lone_contexts[context])
		n += snprintf(
			to + n, size - (size_t)n, " of context %" PRId64, seg->tracks[context].id);
	if (waits || ranges)
		n += snprintf(to + n, size - (size_t)n, "%s",
			!waits                                               ? " ranges"
				: seg->tracks[track].kind == GT_TRACK_THREAD ? " off the processor"
									     : " waits");
	if (which > 1 && c->names.numbered)
		snprintf(to + n, size - (size_t)n, " (%zu)", which);
}

/* Adds a thread to this track, names it and sorts it behind the track. */
static struct gt_chrome_lane *add_lane(
	struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track, bool waits)
{
	struct gt_chrome_track *t = &c->tracks[seg->index][track];
	/* a device's id might be that of a stream */
	bool made_up = t->nlanes || seg->tracks[track].kind == GT_TRACK_DEVICE;
	int64_t id = seg->tracks[track].id;
	uint64_t tid = made_up || id <= 0 || id >= LANE_TID ? LANE_TID : (uint64_t)id;
	char name[320];
	struct gt_chrome_lane *l;
	int rc;

	if (gt_grow(&t->lanes, &t->cap, t->nlanes + 1, sizeof(*t->lanes)))
		return NULL;
	if (tid == LANE_TID || !(rc = ids_add(&c->tids, (uint64_t)t->pid << 32 | tid))) {
		tid = LANE_TID + c->nlanes++;
		rc = 1;
	}
	if (rc < 0)
		return NULL;
	l = &t->lanes[t->nlanes++];
	*l = (struct gt_chrome_lane){ .tid = (uint32_t)tid,
		.number = c->nall++,
		.waits = waits,
		.beside = t->nlanes > 1,
		.max_end = INT64_MIN };
	t->nwaits += waits;
	lane_label(c, seg, track, waits, name, sizeof(name));
	c->names.lane(c->names.arg, seg, track, t->pid, l, name,
		thread_order(c, &seg->tracks[track], t->nlanes - 1));
	return l;
}

/* The reader guarantees that ids are in range. */
struct gt_chrome_track *gt_chrome_track(
	struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track)
{
	struct gt_chrome_track *t = &c->tracks[seg->index][track];

	if (t->lanes)
		return t;
	c->ntracks++;
	if (process_pid(c, seg, gt_chrome_owner(seg, track), &t->pid))
		return NULL;
	if (!add_lane(c, seg, track, false)) {
		no_memory(c);
		return NULL;
	}
	return t;
}

/* ---- lanes of rows ---- */

static struct gt_chrome_lane *another_lane(struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, struct gt_chrome_track *t, bool waits)
{
	if (t->nlanes >= LANES_PER_TRACK || c->nlanes >= LANES_MAX)
		return NULL;
	return add_lane(c, seg, track, waits);
}

/* Slices come in no order, so one must begin behind all slices of its lane. */
struct gt_chrome_lane *gt_chrome_lane_beside(struct gt_chrome_tracks *c,
	const struct gt_segment *seg, uint32_t track, int64_t start, int64_t end)
{
	struct gt_chrome_track *t = gt_chrome_track(c, seg, track);
	struct gt_chrome_lane *l = NULL;

	for (size_t i = 1; t && !l && i < t->nlanes; i++)
		if (!t->lanes[i].waits && t->lanes[i].max_end <= start)
			l = &t->lanes[i];
	if (t && !l)
		l = another_lane(c, seg, track, t, false);
	if (l && l->max_end < end)
		l->max_end = end;
	return l;
}

static bool lane_add_span(struct gt_chrome_lane *l, int64_t start, int64_t end)
{
	while (l->nends && l->ends[l->nends - 1] <= start)
		l->nends--;
	if (l->nends && (l->ends[l->nends - 1] < end || l->nends >= LANE_STACK))
		return false;
	if (gt_grow(&l->ends, &l->cap, l->nends + 1, sizeof(*l->ends)))
		return false;
	l->ends[l->nends++] = end;
	return true;
}

struct gt_chrome_lane *gt_chrome_call(struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, int64_t start, int64_t end, unsigned depth, uint32_t epoch)
{
	struct gt_chrome_track *t = gt_chrome_track(c, seg, track);
	struct gt_chrome_lane *l;

	if (!t)
		return NULL;
	t->calls = true;
	if (!gt_chrome_nests(c, t, start, end, depth, epoch))
		return gt_chrome_lane_beside(c, seg, track, start, end);
	l = t->lanes;
	if (l && l->max_end < end)
		l->max_end = end;
	return l;
}

struct gt_chrome_lane *gt_chrome_span(struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, int64_t start, int64_t end, bool waits)
{
	struct gt_chrome_track *t = gt_chrome_track(c, seg, track);
	struct gt_chrome_lane *l;

	if (!t)
		return NULL;
	if (!t->spans) {
		t->spans = true;
		t->first_span_lane = t->calls ? (uint32_t)t->nlanes : 0;
	}
	for (size_t i = t->first_span_lane; i < t->nlanes; i++)
		if (t->lanes[i].waits == waits && lane_add_span(&t->lanes[i], start, end))
			return &t->lanes[i];
	l = another_lane(c, seg, track, t, waits);
	return l && lane_add_span(l, start, end) ? l : NULL;
}

int gt_chrome_tracks_init(
	struct gt_chrome_tracks *c, struct gt_reader *r, struct gt_out *out, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);

	*c = (struct gt_chrome_tracks){
		.r = r, .out = out, .err = err, .tracks = calloc((size_t)n + 1, sizeof(*c->tracks))
	};
	c->names = (struct gt_chrome_names){ put_process, put_lane, c, true };
	for (uint32_t i = 0; c->tracks && i < n; i++) {
		c->tracks[i] = calloc(gt_reader_segment(r, i)->ntracks + 1ul, sizeof(**c->tracks));
		if (!c->tracks[i])
			return no_memory(c);
	}
	return c->tracks ? 0 : no_memory(c);
}

static void release_track(struct gt_chrome_track *t)
{
	for (size_t i = 0; i < t->nlanes; i++)
		free(t->lanes[i].ends);
	free(t->lanes);
	free(t->levels);
}

void gt_chrome_tracks_release(struct gt_chrome_tracks *c)
{
	for (uint32_t i = 0; c->tracks && i < gt_reader_segments(c->r); i++) {
		for (uint32_t j = 0; c->tracks[i] && j < gt_reader_segment(c->r, i)->ntracks; j++)
			release_track(&c->tracks[i][j]);
		free(c->tracks[i]);
	}
	free(c->tracks);
	free(c->procs);
	gt_map_release(&c->by_identity);
	ids_release(&c->pids);
	ids_release(&c->tids);
}
