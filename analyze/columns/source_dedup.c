/* Counts each call from one source only.
 *
 * The preloaded library, CUPTI and eBPF may all see the same thread, each on its own track: the
 * same calls are then recorded several times. For each thread (process id, thread id) and layer
 * one source counts: the best source that recorded anything of that layer, in the order of
 * `ranked`, then other sources by their first track. The reader hides rows of that layer on the
 * other tracks of the thread from all analyses. A layer that the best source did not record (the
 * scheduler, for example) comes from the next source.
 *
 * The decision uses the whole file, so a time range or a name filter does not change it. Tracks
 * of one source are never duplicates: thread ids are reused. Processes that began at different
 * times are different processes.
 *
 * Tracks show which threads may have duplicates. Only then their blocks are read: once for their
 * layers, once to count the hidden rows. */
#include "analyze/columns/source_dedup.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/sorted.h"
#include "formats/trace/recorder_threads.h"

/* pairs of sources that a segment tells apart; the last entry takes all others */
#define PAIRS_MAX 8
#define SAME_START 1000000000ull /* ns: sources read the start of a process from coarse clocks */
#define ALL_LAYERS (GT_BIT(GT_LAYER_COUNT) - 1)
#define KINDS                                                                                      \
	(GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU) |                    \
		GT_BIT(GT_INSTANT) | GT_BIT(GT_COUNTER))

static const char *const ranked[] = { "preload", "injection", "cupti", "ebpf" };
#define NRANKED (sizeof(ranked) / sizeof(*ranked))

struct track_owner {             /* a track of a thread or process */
	int64_t pid, tid, start; /* start: of the process */
	bool thread;             /* false: the process itself; tid is 0 */
	uint64_t rank;           /* of its source; the lowest is the best */
	uint32_t track;
	uint32_t group; /* the same for all tracks of a thread */
};
struct track_layers { /* of a track */
	/* duplicated: another source has this thread. has, hidden: bits of layers */
	uint8_t duplicated, has, hidden;
	uint8_t pair[GT_LAYER_COUNT]; /* by hidden layer: index in pairs */
};
struct part {                       /* of one segment */
	struct track_owner *owners; /* owners of one thread are adjacent, the best source first */
	size_t nowners;
	struct track_layers *marks; /* one per track; NULL: no thread has two sources */
	struct gt_source_pair pairs[PAIRS_MAX];
	struct gt_duplicate_counts out;
	bool *recorders; /* by track: its thread is gt's or CUPTI's; NULL: none is */
};
struct gt_source_dedup {
	struct part *parts;
	uint32_t nparts;
};

/* ---- owners of tracks ---- */

static int by_thread(const void *pa, const void *pb)
{
	const struct track_owner *a = pa, *b = pb;

	return GT_COMPARE(a->pid, b->pid) ?:
		GT_COMPARE(a->thread, b->thread) ?:
		GT_COMPARE(a->tid, b->tid) ?:
		GT_COMPARE(a->start, b->start) ?:
		GT_COMPARE(a->track, b->track);
}

static int by_rank(const void *pa, const void *pb)
{
	const struct track_owner *a = pa, *b = pb;

	return GT_COMPARE(a->rank, b->rank) ?: GT_COMPARE(a->track, b->track);
}

/* The end of the adjacent owners that are one thread. A start of 0 is unknown, and comes first. */
static struct track_owner *end_of(struct track_owner *from, const struct track_owner *end)
{
	struct track_owner *s = from + 1;

	while (s < end && s->pid == from->pid && s->thread == from->thread && s->tid == from->tid &&
		(!s[-1].start || (uint64_t)s->start - (uint64_t)s[-1].start <= SAME_START))
		s++;
	return s;
}

static bool one_source(const struct gt_segment *seg)
{
	for (uint32_t t = 1; t < seg->ntracks; t++)
		if (seg->tracks[t].source != seg->tracks[0].source)
			return false;
	return true;
}

/* first: by source, the first track that has it. */
static uint64_t rank_of(const struct gt_segment *seg, uint32_t source, const uint32_t *first)
{
	for (size_t i = 0; i < NRANKED; i++)
		if (source != GT_NONE && !strcmp(gt_str(seg, source), ranked[i]))
			return i;
	return NRANKED + first[source < seg->nstrings ? source : seg->nstrings];
}

static int collect_owners(struct part *p, const struct gt_segment *seg)
{
	uint32_t *first = malloc((seg->nstrings + 1ul) * sizeof(*first));

	p->owners = calloc(seg->ntracks + 1ul, sizeof(*p->owners));
	if (!first || !p->owners) {
		free(first);
		return -ENOMEM;
	}
	for (uint32_t t = seg->ntracks; t--;)
		first[seg->tracks[t].source < seg->nstrings ? seg->tracks[t].source
							    : seg->nstrings] = t;
	for (uint32_t t = 0; t < seg->ntracks; t++) {
		const struct gt_track *track = &seg->tracks[t];
		uint32_t process = gt_track_process(seg, t);
		bool thread = track->kind == GT_TRACK_THREAD;

		if (process != GT_NONE && (thread || track->kind == GT_TRACK_PROCESS))
			p->owners[p->nowners++] =
				(struct track_owner){ .pid = seg->tracks[process].id,
					.tid = thread ? track->id : 0,
					.start = seg->tracks[process].start,
					.thread = thread,
					.rank = rank_of(seg, track->source, first),
					.track = t };
	}
	free(first);
	GT_SORT(p->owners, p->nowners, by_thread);
	return 0;
}

/* Marks threads that have tracks of two sources, and removes all other owners. */
static int find_duplicates(struct part *p, const struct gt_segment *seg)
{
	struct track_owner *end, *last;
	size_t kept = 0;

	if (one_source(seg))
		return 0;
	if (collect_owners(p, seg) || !(p->marks = calloc(seg->ntracks + 1ul, sizeof(*p->marks))))
		return -ENOMEM;
	last = p->owners + p->nowners;
	for (struct track_owner *s = p->owners; s < last; s = end) {
		uint64_t best;

		end = end_of(s, last);
		GT_SORT(s, (size_t)(end - s), by_rank);
		best = s->rank;
		for (uint32_t group = s->track; best != end[-1].rank && s < end; s++) {
			*(s->thread ? &p->out.threads : &p->out.processes) += s->rank != best;
			p->marks[s->track].duplicated = s->thread;
			s->group = group;
			if (s->thread)
				p->owners[kept++] = *s;
		}
	}
	p->nowners = kept;
	return 0;
}

/* ---- choice of sources ---- */

/* The index of a pair of sources. */
static uint8_t pair_of(struct part *p, uint32_t from, uint32_t by)
{
	uint32_t i = 0;

	while (i < p->out.n && (p->pairs[i].from != from || p->pairs[i].by != by) &&
		i < PAIRS_MAX - 1)
		i++;
	if (i == p->out.n) {
		p->out.n++;
		p->pairs[i] = (struct gt_source_pair){ GT_NONE, GT_NONE, 0, 0 };
		if (i < PAIRS_MAX - 1)
			p->pairs[i] = (struct gt_source_pair){ from, by, 0, 0 };
	}
	return (uint8_t)i;
}

/* Decides the layers of one thread. Its tracks come with the best source first. */
static void choose_sources_of_thread(struct part *p, const struct gt_segment *seg,
	const struct track_owner *s, const struct track_owner *end)
{
	uint32_t by[GT_LAYER_COUNT] = { 0 }, taken = 0, next;

	for (const struct track_owner *same; s < end; taken = next) {
		next = taken;
		for (same = s; s < end && s->rank == same->rank; s++) {
			struct track_layers *m = &p->marks[s->track];

			m->hidden = (uint8_t)(m->has & taken);
			next |= m->has;
			for (unsigned l = 0; l < GT_LAYER_COUNT; l++) {
				if (m->hidden & GT_BIT(l))
					m->pair[l] =
						pair_of(p, seg->tracks[s->track].source, by[l]);
				else if (m->has & GT_BIT(l))
					by[l] = seg->tracks[s->track].source;
			}
		}
	}
}

static void choose_sources(struct part *p, const struct gt_segment *seg)
{
	size_t end;

	for (size_t i = 0; i < p->nowners; i = end) {
		for (end = i; end < p->nowners && p->owners[end].group == p->owners[i].group;)
			end++;
		choose_sources_of_thread(p, seg, p->owners + i, p->owners + end);
	}
}

/* ---- scans ---- */

static uint32_t hide_all_but_duplicated(const struct gt_segment *seg, uint32_t track, void *arg)
{
	const struct part *p = &((const struct gt_source_dedup *)arg)->parts[seg->index];

	return p->nowners && p->marks[track].duplicated ? 0 : ALL_LAYERS;
}

static unsigned layer_of(const struct gt_cols *c, uint32_t row)
{
	/* only losses have no type, and losses are not scanned */
	return c->seg->types[c->types[c->code ? c->code[row] : 0]].layer;
}

static int note_layers(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct track_layers *m =
		&((struct gt_source_dedup *)arg)->parts[c->seg->index].marks[c->track];

	for (uint32_t i = 0; i < c->n; i++)
		m->has |= (uint8_t)GT_BIT(layer_of(c, i));
	return 0;
}

static uint32_t hide_duplicates(const struct gt_segment *seg, uint32_t track, void *arg)
{
	const struct part *p = &((const struct gt_source_dedup *)arg)->parts[seg->index];

	if (p->recorders && p->recorders[track])
		return ALL_LAYERS;
	return p->nowners ? p->marks[track].hidden : 0;
}

static uint32_t hide_all_but_duplicates(const struct gt_segment *seg, uint32_t track, void *arg)
{
	const struct part *p = &((const struct gt_source_dedup *)arg)->parts[seg->index];

	return p->recorders && p->recorders[track] ? ALL_LAYERS
						   : ALL_LAYERS & ~hide_duplicates(seg, track, arg);
}

static int count_duplicates(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct part *p = &((struct gt_source_dedup *)arg)->parts[c->seg->index];
	bool calls = c->kind == GT_CALL || c->kind == GT_OPEN;

	p->out.rows[c->kind] += c->n;
	for (uint32_t i = 0; i < c->n; i++) {
		struct gt_source_pair *two = &p->pairs[p->marks[c->track].pair[layer_of(c, i)]];

		*(calls ? &two->calls : &two->others) += 1;
	}
	return 0;
}

static bool is_recorder_thread(const struct gt_segment *seg, const struct gt_track *track)
{
	return track->kind == GT_TRACK_THREAD &&
		gt_is_recorder_thread_name(gt_str(seg, track->name));
}

static int find_recorder_threads(struct part *p, const struct gt_segment *seg)
{
	for (uint32_t t = 0; t < seg->ntracks; t++) {
		if (!is_recorder_thread(seg, &seg->tracks[t]))
			continue;
		if (!p->recorders && !(p->recorders = calloc(seg->ntracks, sizeof(*p->recorders))))
			return -ENOMEM;
		p->recorders[t] = true;
		p->out.recorder_threads++;
	}
	return 0;
}

/* Reads the file: first the layers that each track has, then the number of hidden rows. */
static int read_sources(struct gt_source_dedup *s, struct gt_reader *r, struct gt_err *err)
{
	struct gt_filter filter = {
		.kinds = KINDS, .hide = hide_all_but_duplicated, .hide_arg = s
	};
	bool duplicated = false, duplicates = false;
	int code;

	for (uint32_t i = 0; i < s->nparts; i++) {
		if (find_recorder_threads(&s->parts[i], gt_reader_segment(r, i)) ||
			find_duplicates(&s->parts[i], gt_reader_segment(r, i)))
			return gt_err_set(err, -ENOMEM, "out of memory (sources of tracks)");
		duplicated |= s->parts[i].nowners > 0;
	}
	code = duplicated ? gt_scan(r, &filter, GT_ANY_ORDER, 1, note_layers, s, err) : 0;
	for (uint32_t i = 0; !code && i < s->nparts; i++) {
		choose_sources(&s->parts[i], gt_reader_segment(r, i));
		duplicates |= s->parts[i].out.n > 0;
	}
	filter.hide = hide_all_but_duplicates;
	return code || !duplicates ? code
				   : gt_scan(r, &filter, GT_ANY_ORDER, 1, count_duplicates, s, err);
}

struct gt_source_dedup *gt_source_dedup_new(struct gt_reader *r, struct gt_err *err)
{
	struct gt_source_dedup *s = calloc(1, sizeof(*s));

	if (s && (s->parts = calloc(gt_reader_segments(r) + 1ul, sizeof(*s->parts)))) {
		s->nparts = gt_reader_segments(r);
		if (!read_sources(s, r, err)) {
			for (uint32_t i = 0; i < s->nparts; i++)
				s->parts[i].out.list = s->parts[i].pairs;
			return s;
		}
	} else {
		gt_err_set(err, -ENOMEM, "out of memory (sources of tracks)");
	}
	gt_source_dedup_free(s);
	return NULL;
}

void gt_source_dedup_free(struct gt_source_dedup *s)
{
	for (uint32_t i = 0; s && i < s->nparts; i++) {
		free(s->parts[i].owners);
		free(s->parts[i].marks);
		free(s->parts[i].recorders);
	}
	if (s)
		free(s->parts);
	free(s);
}

void gt_source_dedup_hide(const struct gt_source_dedup *s, struct gt_filter *filter)
{
	filter->hide = NULL;
	for (uint32_t i = 0; i < s->nparts; i++)
		if (s->parts[i].out.n || s->parts[i].recorders)
			filter->hide = hide_duplicates;
	filter->hide_arg = (void *)(uintptr_t)s;
}

const struct gt_duplicate_counts *gt_source_dedup_counts(
	const struct gt_source_dedup *s, uint32_t segment)
{
	return &s->parts[segment].out;
}

void gt_source_dedup_map_threads(const struct gt_source_dedup *s, uint32_t segment, uint32_t *of)
{
	const struct part *p = &s->parts[segment];

	for (size_t i = 0; i < p->nowners; i++)
		of[p->owners[i].track] = p->owners[i].group;
}
