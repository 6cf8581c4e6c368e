/* The order of lanes, which does not change while a trace is read: the lane above each track, the
 * order of its siblings, and the less busy threads that one line may represent. */
#include "formats/base/sorted.h"
#include "viewer/lanes/lanes_internal.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/gpu_name.h"

#define GPUS_MOST 64    /* GPUs that are checked for several processes */
#define NESTED_MOST 16u /* tracks that nest deeper are siblings of their parent */
#define MINOR_PART 50u  /* threads with less than 1/50 of the rows of the busiest are minor */

static int rank_of(const struct gt_segment *seg, uint32_t track, const bool *has_gpu)
{
	switch (seg->tracks[track].kind) {
	case GT_TRACK_DEVICE: return 0;
	case GT_TRACK_CONTEXT: return 1;
	case GT_TRACK_STREAM: return 2;
	case GT_TRACK_THREAD: return 3;
	case GT_TRACK_PROCESS: return has_gpu[track] ? 4 : 5;
	case GT_TRACK_CPU: return 6;
	case GT_TRACK_CUSTOM: return 7;
	default: return 8;
	}
}

struct place {
	int64_t id;
	uint64_t weight;
	uint32_t track;
	int rank;
	bool main;
};

/* Threads of one class are about equally busy; they are ordered by their ids. */
static unsigned class_of(uint64_t weight)
{
	return weight ? 64 - (unsigned)__builtin_clzll(weight) : 0;
}

/* Threads: the main thread first, then the busiest. */
static int by_place(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	return GT_COMPARE(a->rank, b->rank) ?:
		GT_COMPARE(b->main, a->main) ?:
		GT_COMPARE(class_of(b->weight), class_of(a->weight)) ?:
		GT_COMPARE(a->id, b->id) ?:
		GT_COMPARE(a->track, b->track);
}

/* For each track, the track whose line is above it: its parent, unless that has no line or is too
 * deep. GT_NONE: the top level. new: free it. */
static uint32_t *find_parents(const struct gt_segment *seg, const bool *lone)
{
	uint32_t *up = malloc((seg->ntracks + 1ul) * sizeof(*up));
	uint8_t *deep = calloc(seg->ntracks + 1ul, 1);

	for (uint32_t t = 0; up && deep && t < seg->ntracks; t++) {
		uint32_t parent = seg->tracks[t].parent;

		up[t] = parent >= t                                        ? GT_NONE
			: !lone[parent] && deep[parent] + 1u < NESTED_MOST ? parent
									   : up[parent];
		deep[t] = up[t] == GT_NONE ? 0 : (uint8_t)(deep[up[t]] + 1);
	}
	if (!deep) {
		free(up);
		up = NULL;
	}
	free(deep);
	return up;
}

/* Lists the tracks that have a line by the track above them, in the order of the trace. */
static void group(struct gt_lanes_of *o, const uint32_t *up, const bool *lone)
{
	uint32_t n = o->seg->ntracks, lines;

	for (uint32_t t = 0; t < n; t++)
		o->first[up[t] + 1u + 1u] += !lone[t]; /* GT_NONE + 1 is 0 */
	for (uint32_t p = 0; p <= n; p++)
		o->first[p + 1] += o->first[p];
	lines = o->first[n + 1];
	/* from the end: first[] becomes the start of each list */
	for (uint32_t t = n; t-- > 0;)
		if (!lone[t])
			o->order[--o->first[up[t] + 1u + 1u]] = t;
	memmove(o->first, o->first + 1, (n + 1ul) * sizeof(*o->first));
	o->first[n + 1] = lines;
	for (uint32_t t = 0; t < n; t++)
		o->flags[t] |= lone[t] ? GT_LANES_LONE : 0;
}

/* A single less busy thread is shown itself: a line for it would take the same space. */
static void mark_minor(
	struct gt_lanes_of *o, uint32_t parent, const struct place *places, uint32_t n)
{
	uint64_t busiest = 0;
	uint32_t minor = 0, threads = 0;

	for (uint32_t i = 0; i < n; i++)
		busiest = places[i].weight > busiest ? places[i].weight : busiest;
	for (uint32_t i = 0; i < n; i++) {
		if (o->seg->tracks[places[i].track].kind != GT_TRACK_THREAD)
			continue;
		threads++;
		if (places[i].main || places[i].weight >= busiest / MINOR_PART)
			continue;
		o->flags[places[i].track] |= GT_LANES_MINOR;
		minor++;
	}
	o->flags[parent] |=
		((minor > 1 ? GT_LANES_HAS_MINOR : 0) | (threads > 1 ? GT_LANES_HAS_THREADS : 0));
}

static void sort_children(struct gt_lanes *l, struct gt_lanes_of *o, struct place *room,
	const bool *has_gpu, uint32_t parent)
{
	uint32_t from = o->first[parent + 1u], n = o->first[parent + 2u] - from;
	const struct gt_segment *seg = o->seg;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = o->order[from + i];
		const struct gt_track *track = &seg->tracks[t];

		room[i] = (struct place){
			.id = track->id, .track = t, .rank = rank_of(seg, t, has_gpu)
		};
		if (track->kind == GT_TRACK_THREAD) {
			room[i].main = parent != GT_NONE && seg->tracks[parent].id == track->id;
			room[i].weight = l->callbacks.weight
				? l->callbacks.weight(l->callbacks.arg, seg->index, t)
				: 0;
		}
	}
	if (n > 1)
		qsort(room, n, sizeof(*room), by_place);
	for (uint32_t i = 0; i < n; i++)
		o->order[from + i] = room[i].track;
	if (parent != GT_NONE)
		mark_minor(o, parent, room, n);
}

static void sort_all(struct gt_lanes *l, struct gt_lanes_of *o, struct place *room, bool *has_gpu)
{
	const struct gt_segment *seg = o->seg;

	for (uint32_t t = 0; t < seg->ntracks; t++)
		if (seg->tracks[t].kind == GT_TRACK_DEVICE && gt_track_process(seg, t) != GT_NONE)
			has_gpu[gt_track_process(seg, t)] = true;
	sort_children(l, o, room, has_gpu, GT_NONE);
	for (uint32_t t = 0; t < seg->ntracks; t++)
		sort_children(l, o, room, has_gpu, t);
}

/* Marks the tracks that may have queue lines. The number of launches that wait for a GPU covers
 * all processes, so with several processes only streams have a line. device: memory for two
 * numbers per track: its device, and the number of a device's streams. */
static void mark_queues(struct gt_lanes_of *o, uint32_t *device)
{
	const struct gt_track *tracks = o->seg->tracks;
	uint32_t n = o->seg->ntracks, *streams = device + n;

	unsigned processes[GPUS_MOST] = { 0 }; /* by GPU */

	memset(streams, 0, n * sizeof(*streams));
	for (uint32_t t = 0; t < n; t++) {
		device[t] = tracks[t].kind == GT_TRACK_DEVICE ? t
			: tracks[t].parent < t                ? device[tracks[t].parent]
							      : GT_NONE;
		if (tracks[t].kind == GT_TRACK_STREAM && device[t] != GT_NONE)
			streams[device[t]]++;
		if (tracks[t].kind == GT_TRACK_DEVICE && tracks[t].id >= 0 &&
			tracks[t].id < GPUS_MOST)
			processes[tracks[t].id]++;
	}
	for (uint32_t t = 0; t < n; t++) {
		uint32_t d = tracks[t].kind == GT_TRACK_STREAM ? device[t]
			: streams[t]                           ? t
							       : GT_NONE;
		bool shared = d != GT_NONE && tracks[d].id >= 0 && tracks[d].id < GPUS_MOST &&
			processes[tracks[d].id] > 1;

		if (d != GT_NONE && (d == t ? !shared : shared || streams[d] > 1))
			o->flags[t] |= GT_LANES_QUEUES;
	}
}

static void name_gpus(struct gt_lanes_of *o)
{
	struct gt_gpu_namer namer = { .seg = NULL };

	for (uint32_t t = 0; t < o->seg->ntracks; t++) {
		const struct gt_track *track = &o->seg->tracks[t];

		if (track->kind != GT_TRACK_DEVICE)
			continue;
		gt_gpu_name(&namer, o->seg, track);
		o->gpu = namer.model;
		namer.model = NULL;
		break;
	}
	gt_gpu_namer_release(&namer);
}

int gt_lanes_learn(struct gt_lanes *l, struct gt_lanes_of *o)
{
	size_t n = o->seg->ntracks;
	bool *lone = gt_lone_contexts(o->seg);
	uint32_t *up = lone ? find_parents(o->seg, lone) : NULL;
	struct place *room = malloc((n + 1) * sizeof(*room));
	bool *has_gpu = calloc(n + 1, sizeof(*has_gpu)), fine;
	uint32_t *devices = malloc((2 * n + 1) * sizeof(*devices));

	o->first = calloc(n + 3, sizeof(*o->first));
	o->order = malloc((n + 1) * sizeof(*o->order));
	o->flags = calloc(n + 1, sizeof(*o->flags));
	o->open = true;
	o->n = o->seg->ntracks;
	fine = up && room && has_gpu && devices && o->first && o->order && o->flags;
	if (fine) {
		group(o, up, lone);
		sort_all(l, o, room, has_gpu);
		mark_queues(o, devices);
		name_gpus(o);
	}
	free(lone);
	free(up);
	free(room);
	free(has_gpu);
	free(devices);
	return fine ? 0 : -ENOMEM;
}
