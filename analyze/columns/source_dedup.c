/* One call is counted from one source.
 *
 * A preloaded library, CUPTI and eBPF may all see the same thread, each on a track of its own; what they saw is the same calls.
 * Which of them counts is decided per thread (process id, thread id) and per layer: the best source that recorded anything of
 * that layer there, in the order of `ranked`, then others by their first track. Rows of the layer on the thread's other tracks
 * are hidden from all analyses, by the reader. What the best source has nothing of (the scheduler, say) comes from the next one.
 *
 * It is decided by the whole file, so that a range or a name asked for does not change who is believed. Tracks of one source
 * are never doubles: thread ids are used again. Nor are processes that began at different times.
 *
 * Tracks tell who could be a double. Only if some could, their blocks are read: once for the layers they have, once to count
 * what is hidden.
 */
#include "analyze/columns/source_dedup.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 8			/* of sources that are told apart in a segment; the last one takes all others */
#define SAME_START 1000000000ull	/* ns: sources read a process's start from clocks that are coarse */
#define ALL_LAYERS (GT_BIT(GT_LAYER_COUNT) - 1)
#define KINDS (GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU) | GT_BIT(GT_INSTANT) | GT_BIT(GT_COUNTER))

static const char *const ranked[] = { "preload", "injection", "cupti", "ebpf" };
#define NRANKED (sizeof(ranked) / sizeof(*ranked))

struct seat {				/* a track, and whose it is */
	int64_t pid, tid, start;	/* start: the process's */
	bool thread;			/* or the process itself, whose tid is 0 */
	uint64_t rank;			/* of its source; the lowest is the best */
	uint32_t track;
	uint32_t group;			/* the same for all of a thread */
};
struct mark {				/* of a track */
	uint8_t rival, has, hidden;	/* has, hidden: layers */
	uint8_t pair[GT_LAYER_COUNT];	/* by layer that is hidden: number in pairs */
};
struct part {				/* one segment */
	struct seat *seats;		/* those of one thread are neighbours, the best first */
	size_t nseats;
	struct mark *marks;		/* one per track; NULL: nobody has a rival */
	struct gt_source_pair pairs[PAIRS_MAX];
	struct gt_duplicate_counts out;
};
struct gt_source_dedup {
	struct part *parts;
	uint32_t nparts;
};

/* ---- seats ---- */

static int by_seat(const void *pa, const void *pb)
{
	const struct seat *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread ? 1 : -1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->track > b->track) - (a->track < b->track);
}

static int by_rank(const void *pa, const void *pb)
{
	const struct seat *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->track > b->track) - (a->track < b->track);
}

/* The end of the neighbours that are one thread. A start of 0 is unknown, and comes first. */
static struct seat *end_of(struct seat *from, const struct seat *end)
{
	struct seat *s = from + 1;

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

/* first: by source, the first track that names it. */
static uint64_t rank_of(const struct gt_segment *seg, uint32_t source, const uint32_t *first)
{
	for (size_t i = 0; i < NRANKED; i++)
		if (source != GT_NONE && !strcmp(gt_str(seg, source), ranked[i]))
			return i;
	return NRANKED + first[source < seg->nstrings ? source : seg->nstrings];
}

static int take_seats(struct part *p, const struct gt_segment *seg)
{
	uint32_t *first = malloc((seg->nstrings + 1ul) * sizeof(*first));

	p->seats = calloc(seg->ntracks + 1ul, sizeof(*p->seats));
	if (!first || !p->seats) {
		free(first);
		return -ENOMEM;
	}
	for (uint32_t t = seg->ntracks; t--; )
		first[seg->tracks[t].source < seg->nstrings ? seg->tracks[t].source : seg->nstrings] = t;
	for (uint32_t t = 0; t < seg->ntracks; t++) {
		const struct gt_track *track = &seg->tracks[t];
		uint32_t process = gt_track_process(seg, t);
		bool thread = track->kind == GT_TRACK_THREAD;

		if (process != GT_NONE && (thread || track->kind == GT_TRACK_PROCESS))
			p->seats[p->nseats++] = (struct seat){
				.pid = seg->tracks[process].id, .tid = thread ? track->id : 0, .start = seg->tracks[process].start,
				.thread = thread, .rank = rank_of(seg, track->source, first), .track = t };
	}
	free(first);
	qsort(p->seats, p->nseats, sizeof(*p->seats), by_seat);
	return 0;
}

/* Marks threads that have tracks of two sources, and keeps no seats but theirs. */
static int find_rivals(struct part *p, const struct gt_segment *seg)
{
	struct seat *end, *last;
	size_t kept = 0;

	if (one_source(seg))
		return 0;
	if (take_seats(p, seg) || !(p->marks = calloc(seg->ntracks + 1ul, sizeof(*p->marks))))
		return -ENOMEM;
	last = p->seats + p->nseats;
	for (struct seat *s = p->seats; s < last; s = end) {
		uint64_t best;

		end = end_of(s, last);
		qsort(s, (size_t)(end - s), sizeof(*s), by_rank);
		best = s->rank;
		for (uint32_t group = s->track; best != end[-1].rank && s < end; s++) {
			*(s->thread ? &p->out.threads : &p->out.processes) += s->rank != best;
			p->marks[s->track].rival = s->thread;
			s->group = group;
			if (s->thread)
				p->seats[kept++] = *s;
		}
	}
	p->nseats = kept;
	return 0;
}

/* ---- who counts ---- */

/* The number of a pair of sources. */
static uint8_t pair_of(struct part *p, uint32_t from, uint32_t by)
{
	uint32_t i = 0;

	while (i < p->out.n && (p->pairs[i].from != from || p->pairs[i].by != by) && i < PAIRS_MAX - 1)
		i++;
	if (i == p->out.n) {
		p->out.n++;
		p->pairs[i] = (struct gt_source_pair){ GT_NONE, GT_NONE, 0, 0 };
		if (i < PAIRS_MAX - 1)
			p->pairs[i] = (struct gt_source_pair){ from, by, 0, 0 };
	}
	return (uint8_t)i;
}

/* The tracks of one thread, the best source first. */
static void settle_thread(struct part *p, const struct gt_segment *seg, const struct seat *s, const struct seat *end)
{
	uint32_t by[GT_LAYER_COUNT] = { 0 }, taken = 0, next;

	for (const struct seat *same; s < end; taken = next) {
		next = taken;
		for (same = s; s < end && s->rank == same->rank; s++) {
			struct mark *m = &p->marks[s->track];

			m->hidden = (uint8_t)(m->has & taken);
			next |= m->has;
			for (unsigned l = 0; l < GT_LAYER_COUNT; l++) {
				if (m->hidden & GT_BIT(l))
					m->pair[l] = pair_of(p, seg->tracks[s->track].source, by[l]);
				else if (m->has & GT_BIT(l))
					by[l] = seg->tracks[s->track].source;
			}
		}
	}
}

static void settle(struct part *p, const struct gt_segment *seg)
{
	size_t end;

	for (size_t i = 0; i < p->nseats; i = end) {
		for (end = i; end < p->nseats && p->seats[end].group == p->seats[i].group; )
			end++;
		settle_thread(p, seg, p->seats + i, p->seats + end);
	}
}

/* ---- what there is ---- */

static uint32_t hide_all_but_rivals(const struct gt_segment *seg, uint32_t track, void *arg)
{
	const struct part *p = &((const struct gt_source_dedup *)arg)->parts[seg->index];

	return p->nseats && p->marks[track].rival ? 0 : ALL_LAYERS;
}

static unsigned layer_of(const struct gt_cols *c, uint32_t row)
{
	return c->seg->types[c->types[c->code ? c->code[row] : 0]].layer;	/* of all kinds losses alone have no type */
}

static int note_layers(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct mark *m = &((struct gt_source_dedup *)arg)->parts[c->seg->index].marks[c->track];

	for (uint32_t i = 0; i < c->n; i++)
		m->has |= (uint8_t)GT_BIT(layer_of(c, i));
	return 0;
}

static uint32_t hide_doubles(const struct gt_segment *seg, uint32_t track, void *arg)
{
	const struct part *p = &((const struct gt_source_dedup *)arg)->parts[seg->index];

	return p->nseats ? p->marks[track].hidden : 0;
}

static uint32_t hide_all_but_doubles(const struct gt_segment *seg, uint32_t track, void *arg)
{
	return ALL_LAYERS & ~hide_doubles(seg, track, arg);
}

static int count_doubles(void *arg, unsigned worker, const struct gt_cols *c)
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

/* Reads all there is to know: first who has what, then how much of it is double. */
static int look(struct gt_source_dedup *s, struct gt_reader *r, struct gt_err *err)
{
	struct gt_filter filter = { .kinds = KINDS, .hide = hide_all_but_rivals, .hide_arg = s };
	bool rivals = false, doubles = false;
	int code;

	for (uint32_t i = 0; i < s->nparts; i++) {
		if (find_rivals(&s->parts[i], gt_reader_segment(r, i)))
			return gt_err_set(err, -ENOMEM, "no memory for the sources of tracks");
		rivals |= s->parts[i].nseats > 0;
	}
	code = rivals ? gt_scan(r, &filter, GT_ANY_ORDER, 1, note_layers, s, err) : 0;
	for (uint32_t i = 0; !code && i < s->nparts; i++) {
		settle(&s->parts[i], gt_reader_segment(r, i));
		doubles |= s->parts[i].out.n > 0;
	}
	filter.hide = hide_all_but_doubles;
	return code || !doubles ? code : gt_scan(r, &filter, GT_ANY_ORDER, 1, count_doubles, s, err);
}

struct gt_source_dedup *gt_source_dedup_new(struct gt_reader *r, struct gt_err *err)
{
	struct gt_source_dedup *s = calloc(1, sizeof(*s));

	if (s && (s->parts = calloc(gt_reader_segments(r) + 1ul, sizeof(*s->parts)))) {
		s->nparts = gt_reader_segments(r);
		if (!look(s, r, err)) {
			for (uint32_t i = 0; i < s->nparts; i++)
				s->parts[i].out.list = s->parts[i].pairs;
			return s;
		}
	} else {
		gt_err_set(err, -ENOMEM, "no memory for the sources of tracks");
	}
	gt_source_dedup_free(s);
	return NULL;
}

void gt_source_dedup_free(struct gt_source_dedup *s)
{
	for (uint32_t i = 0; s && i < s->nparts; i++) {
		free(s->parts[i].seats);
		free(s->parts[i].marks);
	}
	if (s)
		free(s->parts);
	free(s);
}

void gt_source_dedup_hide(const struct gt_source_dedup *s, struct gt_filter *filter)
{
	filter->hide = NULL;
	for (uint32_t i = 0; i < s->nparts; i++)
		if (s->parts[i].out.n)
			filter->hide = hide_doubles;
	filter->hide_arg = (void *)(uintptr_t)s;
}

const struct gt_duplicate_counts *gt_source_dedup_counts(const struct gt_source_dedup *s, uint32_t segment)
{
	return &s->parts[segment].out;
}

void gt_source_dedup_map_threads(const struct gt_source_dedup *s, uint32_t segment, uint32_t *of)
{
	const struct part *p = &s->parts[segment];

	for (size_t i = 0; i < p->nseats; i++)
		of[p->seats[i].track] = p->seats[i].group;
}
