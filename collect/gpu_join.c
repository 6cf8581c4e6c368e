/* Joining. Calls wait in lanes, one a thread, in order of time; CUPTI's records of calls find theirs by thread and time, and then the
 * call is known by its correlation id; work looks its call up by that id, is written, and is done with. Whatever comes too early
 * waits. What has waited for PATIENCE is written as it is: with the call that fits best, marked as inferred, or with none.
 *
 * A call and CUPTI's record of it: ours begins before and ends after, but the clocks are read at different places and converted, so
 * the middle of CUPTI's is looked for, and must lie in ours. Calls on one thread do not overlap.
 *
 * A join is believed only if what ran has the name and the shape that the call asked for. Times are no test of it: the GPU's clock is
 * set to ours now and then only. */
#include "collect/gpu_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda_api_cbid.h"

#define PATIENCE 2000000000ll		/* ns that work waits for its call, and a call for its record */
#define WAITING_MAX 65536u		/* of works, and of records of calls, in a process */
#define CALLS_MAX 65536u		/* that wait in a lane */
#define CALLS_ALL (1u << 20)		/* that wait in all lanes of all processes */
#define CAUSES_MAX (1u << 18)		/* calls known by correlation */
#define TRACKS_MAX 65536u		/* devices and streams: the dictionary has to do for threads, too */
#define LOOK_BACK 512			/* calls looked through for one that fits */
#define FAR 3600000000000ll		/* ns: work that lies further from the run is none */

struct call { struct gt_gpu_call c; bool known, captured; };	/* known: by its correlation; captured: it only became a node of a graph */
struct lane { int32_t tid; struct call *calls; size_t first, n, cap; int64_t used; /* when it was last empty and looked at */ };
struct cause { uint32_t correlation; bool used, captured; uint32_t records; int64_t since; struct gt_gpu_call c; };
struct waiting { int64_t since; struct gt_gpu_event e; };
struct queue { struct waiting *items; size_t n, cap; };
struct place { uint32_t device, stream, context, track; };

struct gt_gpu_process {
	uint32_t track;			/* of the process */
	bool on, ever_on, flushed;	/* flushed: at its end it told all */
	uint32_t context;		/* the only one that work was in; GT_NONE: there were more */
	uint32_t captures;		/* that have begun and not ended */
	struct gt_gpu_waits_of waits;
	int64_t yielded;		/* since when another one has CUPTI; 0: nobody has */
	struct span { int64_t from, to; } *absences; size_t nabsences, absences_cap;	/* when that was so before */
	struct lane *lanes; size_t nlanes, lanes_cap, lane;	/* lane: the last one asked for */
	struct cause *causes; uint32_t ncauses, mask;
	struct queue records, works;
	struct place *devices; size_t ndevices, devices_cap;
	struct place *streams; size_t nstreams, streams_cap;
	struct gt_map by_stream;
	int64_t began;			/* when it was first settled */
};
struct gt_gpu {
	struct gt_writer *w;
	struct gt_gpu_types types;
	uint32_t source;
	bool partly;
	uint32_t tracks;		/* made */
	size_t calls;			/* that wait */
	struct gt_gpu_totals totals;
};

static uint32_t low(uint64_t w) { return (uint32_t)w; }
static uint32_t high(uint64_t w) { return (uint32_t)(w >> 32); }

static struct gt_gpu_process *process(struct gt_gpu_process **p, uint32_t track)
{
	if (!*p && (*p = calloc(1, sizeof(**p))))
		(*p)->track = track;
	return *p;
}

/* ---- calls, by thread ---- */

static struct lane *lane_of(struct gt_gpu_process *p, int32_t tid, bool make)
{
	for (size_t i = 0; i < p->nlanes; i++, p->lane = p->lane + 1 < p->nlanes ? p->lane + 1 : 0)
		if (p->lanes[p->lane].tid == tid)
			return &p->lanes[p->lane];
	if (!make || gt_grow(&p->lanes, &p->lanes_cap, p->nlanes + 1, sizeof(*p->lanes)))
		return NULL;
	p->lane = p->nlanes++;
	p->lanes[p->lane] = (struct lane){ .tid = tid };
	return &p->lanes[p->lane];
}

static void forget_first(struct gt_gpu *g, struct lane *l)
{
	l->first++;
	l->n--;
	g->calls--;
	if (l->first >= 64 && l->first >= l->n) {
		memmove(l->calls, l->calls + l->first, l->n * sizeof(*l->calls));
		l->first = 0;
	}
}

/* No record will come for this call. There was none to come while CUPTI was somebody else's. */
static void count_without_record(struct gt_gpu *g, const struct gt_gpu_process *p, const struct call *c)
{
	bool away = (p->yielded && c->c.end > p->yielded) || (!p->on && !p->nabsences && !p->yielded);

	for (size_t i = 0; i < p->nabsences; i++)
		away |= c->c.end > p->absences[i].from && c->c.start < p->absences[i].to;
	if (c->captured)
		g->totals.captured++;
	else
		g->totals.without_record += !c->known && !away;
}

static int put_call(struct gt_gpu *g, struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	struct lane *l = lane_of(p, c->tid, true);

	if (!l)
		return -ENOMEM;
	if (l->n && (l->n == CALLS_MAX || g->calls >= CALLS_ALL)) {
		count_without_record(g, p, &l->calls[l->first]);
		forget_first(g, l);
	}
	if (g->calls >= CALLS_ALL)
		return 0;
	if (gt_grow(&l->calls, &l->cap, l->first + l->n + 1, sizeof(*l->calls)))
		return -ENOMEM;
	l->calls[l->first + l->n] = (struct call){ *c, false, p->captures > 0 };
	l->calls[l->first + l->n++].c.on = gt_gpu_stream_of(&p->waits, c);
	l->used = 0;
	g->calls++;
	return 0;
}

/* The call of this lane that was running at `when`. */
static struct call *find_call(const struct lane *l, int64_t when)
{
	size_t from = 0, to = l->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		struct call *c = &l->calls[l->first + mid];

		if (when < c->c.start)
			to = mid;
		else if (when > c->c.end)
			from = mid + 1;
		else
			return c->known ? NULL : c;
	}
	return NULL;
}

/* ---- causes: calls by correlation ---- */

static uint32_t slot_of(const struct gt_gpu_process *p, uint32_t correlation) { return correlation * 0x9e3779b1u & p->mask; }

static struct cause *find_cause(const struct gt_gpu_process *p, uint32_t correlation)
{
	if (!p->ncauses)
		return NULL;
	for (uint32_t i = slot_of(p, correlation); p->causes[i].used; i = (i + 1) & p->mask)
		if (p->causes[i].correlation == correlation)
			return &p->causes[i];
	return NULL;
}

static void put_cause(struct gt_gpu_process *p, const struct cause *c)
{
	uint32_t i = slot_of(p, c->correlation);

	while (p->causes[i].used && p->causes[i].correlation != c->correlation)
		i = (i + 1) & p->mask;
	p->ncauses += !p->causes[i].used;
	p->causes[i] = *c;
}

/* Forgotten before anything came of it? */
static void count_cause(struct gt_gpu *g, const struct cause *c)
{
	if (c->used && !c->records)
		*(c->captured ? &g->totals.captured : &g->totals.without_record) += 1;
}

/* Into a table of so many places, less those that came before `since`. */
static int rebuild(struct gt_gpu *g, struct gt_gpu_process *p, uint32_t places, int64_t since)
{
	struct cause *old = p->causes, *new = calloc(places, sizeof(*new));
	uint32_t n = old ? p->mask + 1 : 0;

	if (!new)
		return -ENOMEM;
	p->causes = new;
	p->mask = places - 1;
	p->ncauses = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!old[i].used)
			continue;
		if (old[i].since >= since)
			put_cause(p, &old[i]);
		else
			count_cause(g, &old[i]);
	}
	free(old);
	return 0;
}

static int room_for_cause(struct gt_gpu *g, struct gt_gpu_process *p, int64_t now)
{
	uint32_t places = p->causes ? p->mask + 1 : 0;

	if (2 * (p->ncauses + 1) <= places)
		return 0;
	if (places < CAUSES_MAX)
		return rebuild(g, p, places ? 2 * places : 1024, INT64_MIN);
	return rebuild(g, p, places, p->ncauses > CAUSES_MAX / 2 - 2 ? now - PATIENCE : INT64_MIN) ||
	       (2 * (p->ncauses + 1) > places && rebuild(g, p, places, INT64_MAX)) ? -ENOMEM : 0;
}

/* What follows in the same chain moves up, so that no search ends too early. */
static void drop_cause(struct gt_gpu_process *p, struct cause *c)
{
	uint32_t hole = (uint32_t)(c - p->causes), i = hole;

	p->ncauses--;
	for (;;) {
		p->causes[hole].used = false;
		do {
			i = (i + 1) & p->mask;
			if (!p->causes[i].used)
				return;
		} while (((i - slot_of(p, p->causes[i].correlation)) & p->mask) < ((i - hole) & p->mask));
		p->causes[hole] = p->causes[i];
		hole = i;
	}
}

/* ---- where ---- */

static uint32_t new_track(struct gt_gpu *g, const struct gt_track *t)
{
	return g->tracks < TRACKS_MAX ? g->tracks++, gt_writer_track(g->w, t) : GT_NONE;
}

static uint32_t device_track(struct gt_gpu *g, struct gt_gpu_process *p, uint32_t device)
{
	struct gt_track t = { .parent = p->track, .source = g->source, .kind = GT_TRACK_DEVICE, .id = device, .ns_id = device };
	char name[32];

	for (size_t i = 0; i < p->ndevices; i++)
		if (p->devices[i].device == device)
			return p->devices[i].track;
	if (gt_grow(&p->devices, &p->devices_cap, p->ndevices + 1, sizeof(*p->devices)))
		return GT_NONE;
	snprintf(name, sizeof(name), "GPU %u", device);
	t.name = gt_writer_string(g->w, name);
	p->devices[p->ndevices] = (struct place){ .device = device, .track = new_track(g, &t) };
	return p->devices[p->ndevices].track == GT_NONE ? GT_NONE : p->devices[p->ndevices++].track;
}

static bool same_stream(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !memcmp(&((const struct gt_gpu_process *)arg)->streams[value], key, offsetof(struct place, track));
}

static uint32_t stream_track(struct gt_gpu *g, struct gt_gpu_process *p, uint32_t device, uint32_t context, uint32_t stream)
{
	struct gt_track t = { .source = g->source, .kind = GT_TRACK_STREAM, .id = stream, .ns_id = stream };
	struct place place = { device, stream, context, GT_NONE };
	uint64_t hash = gt_hash(&place, offsetof(struct place, track));
	uint32_t i = gt_map_get(&p->by_stream, hash, same_stream, p, &place, 0);
	char name[32];

	if (i != GT_NONE)
		return p->streams[i].track;
	t.parent = device_track(g, p, device);
	if (t.parent == GT_NONE || gt_grow(&p->streams, &p->streams_cap, p->nstreams + 1, sizeof(*p->streams)))
		return GT_NONE;
	snprintf(name, sizeof(name), "stream %u", stream);
	t.name = gt_writer_string(g->w, name);
	place.track = new_track(g, &t);
	if (place.track == GT_NONE || gt_map_add(&p->by_stream, hash, (uint32_t)p->nstreams))
		return GT_NONE;
	p->context = p->context && p->context != context ? GT_NONE : context;
	p->streams[p->nstreams++] = place;
	return place.track;
}

int gt_gpu_name_stream(struct gt_gpu *g, struct gt_gpu_process **p, uint32_t track, uint64_t handle, uint32_t name, struct gt_err *err)
{
	return process(p, track) ? gt_gpu_stream_named(&(*p)->waits, g->w, handle, name, err) : 0;
}

/* ---- CUPTI's records of calls ---- */

static const char *function_of(uint32_t cbid)
{
	switch (cbid) {
#define X(number, name) case number: return #name;
	GT_CBIDS(X)
#undef X
	}
	return NULL;
}

/* 1: it found its call; 0: not yet. */
static int settle_record(struct gt_gpu *g, struct gt_gpu_process *p, const struct gt_gpu_event *e, int64_t now)
{
	struct lane *l = lane_of(p, (int32_t)low(e->words[1]), false);
	struct call *c = l && e->end >= e->start && e->start > 0 ? find_call(l, e->start + (e->end - e->start) / 2) : NULL;
	const char *function = function_of(high(e->words[0]));

	if (!c || !function || strcmp(function, gt_api[c->c.id].name))
		return 0;
	if (room_for_cause(g, p, now))
		return -ENOMEM;
	put_cause(p, &(struct cause){ low(e->words[0]), true, c->captured, 0, now, c->c });
	c->known = true;
	while (l->n && l->calls[l->first].known)
		forget_first(g, l);
	return 1;
}

/* ---- work ---- */

static bool fits(const struct gt_gpu_call *c, const struct gt_gpu_event *e, uint32_t kernel)
{
	const uint64_t *w = e->words;
	unsigned op = gt_api[c->id].op;

	if (op == GT_OP_GRAPH_LAUNCH)
		return low(w[2]) || w[3];
	if (e->id != GT_EV_KERNEL)
		return op == (e->id == GT_EV_COPY ? GT_OP_COPY : GT_OP_SET) || op == GT_OP_COPY;
	if (op != GT_OP_LAUNCH)
		return op == GT_OP_COPY || op == GT_OP_SET;	/* some copies and sets are done by kernels */
	if (c->kernel != GT_NONE && kernel != GT_NONE && c->kernel != kernel)
		return false;
	return !c->shaped || (c->grid[0] == low(w[4]) && c->grid[1] == high(w[4]) && c->grid[2] == low(w[5]) && c->block[0] == high(w[5]) &&
			      c->block[1] == low(w[6]) && c->block[2] == high(w[6]));
}

/* The earliest call without a record that may have made this. */
static struct call *guess(struct gt_gpu *g, struct gt_gpu_process *p, const struct gt_gpu_event *e, uint32_t kernel)
{
	struct call *best = NULL;

	for (size_t i = 0; i < p->nlanes; i++) {
		struct lane *l = &p->lanes[i];

		while (l->n && l->calls[l->first].known)
			forget_first(g, l);
		for (size_t k = 0; k < l->n && k < LOOK_BACK; k++) {
			struct call *c = &l->calls[l->first + k];

			if (c->c.start > e->start || (best && c->c.start >= best->c.start))
				break;
			if (!c->known && fits(&c->c, e, kernel)) {
				best = c;
				break;
			}
		}
	}
	return best;
}

static void join(struct gt_gpu *g, struct gt_gpu_work *w, const struct gt_gpu_call *c, enum gt_join how)
{
	w->cause = (struct gt_gpu_cause){ how, c->track, c->name, c->start, (uint64_t)(c->end - c->start) };
	*(how == GT_JOIN_CORRELATION ? &g->totals.exact : &g->totals.inferred) += 1;
}

/* Finds what launched it. False: that may still become known. */
static bool find_out(struct gt_gpu *g, struct gt_gpu_process *p, const struct gt_gpu_event *e, uint32_t kernel, bool late, struct gt_gpu_work *w,
		     struct gt_gpu_call *by)
{
	struct cause *c = find_cause(p, w->correlation);
	struct call *likely;

	if (c) {
		if (fits(&c->c, e, kernel)) {
			join(g, w, &c->c, GT_JOIN_CORRELATION);
			*by = c->c;
		} else {
			g->totals.wrong++;
			g->totals.unjoined++;
		}
		c->records++;
		if (gt_api[c->c.id].op == GT_OP_LAUNCH)
			drop_cause(p, c);
		return true;
	}
	if (!late)
		return false;
	likely = p->records.n || w->graph || w->node ? NULL : guess(g, p, e, kernel);
	if (likely) {
		join(g, w, &likely->c, GT_JOIN_ORDER);
		likely->known = true;
	} else {
		g->totals.unjoined++;
	}
	return true;
}

static enum gt_direction direction(uint8_t kind)
{
	static const uint8_t directions[] = { GT_DIR_UNKNOWN, GT_DIR_HTOD, GT_DIR_DTOH, GT_DIR_HTOD, GT_DIR_DTOH, GT_DIR_DTOD, GT_DIR_DTOD,
					      GT_DIR_DTOD, GT_DIR_DTOD, GT_DIR_HTOH, GT_DIR_PEER };

	return (enum gt_direction)directions[kind < sizeof(directions) ? kind : 0];
}

static enum gt_gpu_memory memory(uint8_t kind) { return (enum gt_gpu_memory)(kind < GT_GPU_MEMORY_COUNT ? kind : 0); }

static int put_kernel(struct gt_gpu *g, const struct gt_gpu_work *w, const uint64_t *v, uint32_t name, struct gt_err *err)
{
	struct gt_gpu_kernel k = { name, { low(v[4]), high(v[4]), low(v[5]) }, { high(v[5]), low(v[6]), high(v[6]) }, low(v[7]), high(v[7]),
				   high(v[2]) };

	if (name == GT_NONE)
		k.name = gt_writer_string(g->w, "kernel");
	g->totals.kernels++;
	return gt_gpu_put_kernel(&g->types, w, &k, err);
}

static int put_copy(struct gt_gpu *g, const struct gt_gpu_work *w, const uint64_t *v, struct gt_err *err)
{
	uint32_t kinds = high(v[2]);
	struct gt_gpu_copy c = { direction(kinds & 255), memory(kinds >> 8 & 255), memory(kinds >> 16 & 255), kinds >> 24 & 1, v[4], low(v[5]),
				 high(v[5]) };

	g->totals.copies++;
	return gt_gpu_put_copy(&g->types, w, &c, err);
}

static int put_set(struct gt_gpu *g, const struct gt_gpu_work *w, const uint64_t *v, struct gt_err *err)
{
	struct gt_gpu_set s = { memory(high(v[2]) & 255), v[4], low(v[5]), high(v[2]) >> 16 & 1 };

	g->totals.sets++;
	return gt_gpu_put_set(&g->types, w, &s, err);
}

static bool possible(const struct gt_gpu_process *p, const struct gt_gpu_event *e, int64_t now)
{
	return e->start > 1 && e->end >= e->start && e->start > p->began - FAR && e->end < now + FAR;
}

/* One of a kernel, copy or set. 1: written, or never will be; 0: its call, or its name, may still come; negative. */
static int settle_work(struct gt_gpu *g, struct gt_gpu_process *p, const struct gt_gpu_event *e, int64_t now, bool late, gt_gpu_string *string,
		       void *arg, struct gt_err *err)
{
	const uint64_t *v = e->words;
	struct gt_gpu_work w = { .start = e->start, .end = e->end, .correlation = low(v[0]), .context = low(v[1]), .graph = low(v[2]), .node = v[3] };
	uint32_t kernel = e->id == GT_EV_KERNEL ? string(arg, v[8]) : GT_NONE;
	struct gt_gpu_call by = { .on = 0 };
	int code = 0;

	if (!possible(p, e, now)) {
		g->totals.impossible++;
		return 1;
	}
	if (e->id == GT_EV_KERNEL && kernel == GT_NONE && !late)
		return 0;
	if (!find_out(g, p, e, kernel, late, &w, &by))
		return 0;
	if (g->partly && w.cause.join == GT_JOIN_UNKNOWN) {
		g->totals.unjoined--;
		g->totals.outside++;
		return 1;
	}
	w.track = stream_track(g, p, high(v[0]), w.context, high(v[1]));
	if (w.track != GT_NONE && by.on && gt_api[by.id].op != GT_OP_GRAPH_LAUNCH)
		code = gt_gpu_stream_ran(&p->waits, g->w, by.on, w.track, w.context, err);
	if (code)
		return code;
	code = w.track == GT_NONE ? -ENOMEM : e->id == GT_EV_KERNEL ? put_kernel(g, &w, v, kernel, err) :
	       e->id == GT_EV_COPY ? put_copy(g, &w, v, err) : put_set(g, &w, v, err);
	if (code == -ENOMEM) {		/* there may be memory, but no room in the dictionary */
		g->totals.nameless++;
		code = gt_writer_lost(g->w, GT_SCOPE_PROCESS, p->track, w.start, w.end, 1, err);
	}
	return code ? code : 1;
}

/* What the GPU did while another one had CUPTI is not known. */
static int end_absence(struct gt_gpu *g, struct gt_gpu_process *p, int64_t now, struct gt_err *err)
{
	int64_t from = p->yielded;

	p->yielded = 0;
	if (from && !gt_grow(&p->absences, &p->absences_cap, p->nabsences + 1, sizeof(*p->absences)))
		p->absences[p->nabsences++] = (struct span){ from, now };
	return from ? gt_writer_lost(g->w, GT_SCOPE_PROCESS, p->track, from, now < from ? from : now, GT_LOST_UNKNOWN, err) : 0;
}

/* ---- what comes in ---- */

static int wait_in(struct queue *q, const struct gt_gpu_event *e, int64_t now)
{
	if (gt_grow(&q->items, &q->cap, q->n + 1, sizeof(*q->items)))
		return -ENOMEM;
	q->items[q->n++] = (struct waiting){ now, *e };
	return 0;
}

int gt_gpu_call(struct gt_gpu *g, struct gt_gpu_process **to, uint32_t track, const struct gt_gpu_call *c)
{
	struct gt_gpu_process *p = process(to, track);

	if (!p)
		return -ENOMEM;
	switch (c->does) {
	case GT_GPU_CALL_WAITS:
		return p->captures && c->wait == GT_GPU_WAIT_STREAM_EVENT ? 0 : gt_gpu_wait_in(&p->waits, c);
	case GT_GPU_CALL_CAPTURES:
		p->captures++;
		return 0;
	case GT_GPU_CALL_HAS_CAPTURED:
		p->captures -= p->captures > 0;
		return 0;
	case GT_GPU_CALL_ENDS_STREAM:
		gt_gpu_stream_ended(&p->waits, c);
		return 0;
	default:
		return put_call(g, p, c);
	}
}

static void say(struct gt_gpu *g, bool first, const char *format, const char *text, uint64_t detail)
{
	if (first || !*g->totals.state)
		snprintf(g->totals.state, sizeof(g->totals.state), format, text, (unsigned long long)detail);
}

static int note_state(struct gt_gpu *g, struct gt_gpu_process *p, const struct gt_gpu_event *e, const char *text, struct gt_err *err)
{
	switch ((enum gt_gpu_state)e->words[0]) {
	case GT_GPU_ON:
		p->on = p->ever_on = true;
		g->totals.processes++;
		say(g, true, "CUPTI, %s, API version %llu", text, e->words[2]);
		return 0;
	case GT_GPU_REFUSED:
		p->on = false;
		g->totals.refused += !p->yielded;	/* later, it is an absence that does not end */
		say(g, false, "%s failed: error %llu", text, e->words[2]);
		return 0;
	case GT_GPU_MISSING:
		g->totals.refused++;
		say(g, false, "%s was not found", text, 0);
		return 0;
	case GT_GPU_YIELDED:
		p->on = false;
		p->yielded = e->start;
		g->totals.yields++;
		snprintf(g->totals.other, sizeof(g->totals.other), "%s", text);
		return 0;
	case GT_GPU_RESUMED:
		p->on = true;
		g->totals.resumed++;
		return end_absence(g, p, e->start, err);
	case GT_GPU_SUBSCRIBER: case GT_GPU_FINALIZED:
		snprintf(g->totals.other, sizeof(g->totals.other), "%s", text);
		return 0;
	case GT_GPU_FORKED:
		g->totals.forked++;
		return 0;
	case GT_GPU_OFF:
		p->flushed = true;
		return 0;
	default:
		return 0;
	}
}

int gt_gpu_event(struct gt_gpu *g, struct gt_gpu_process **p, uint32_t track, const struct gt_gpu_event *e)
{
	if (!process(p, track))
		return -ENOMEM;
	if (e->id == GT_EV_GPU_LOST) {
		g->totals.dropped += e->words[0];
		return 0;
	}
	return wait_in(e->id == GT_EV_API ? &(*p)->records : &(*p)->works, e, 0);
}

/* ---- settling ---- */

static int settle_records(struct gt_gpu *g, struct gt_gpu_process *p, int64_t now, bool last)
{
	struct queue *q = &p->records;
	size_t kept = 0;

	for (size_t i = 0; i < q->n; i++) {
		struct waiting *w = &q->items[i];
		int done = settle_record(g, p, &w->e, now);

		if (done < 0)
			return done;
		w->since = w->since ? w->since : now;
		if (!done && !last && now - w->since < PATIENCE && kept < WAITING_MAX)
			q->items[kept++] = *w;
	}
	q->n = kept;
	return 0;
}

static int settle_works(struct gt_gpu *g, struct gt_gpu_process *p, int64_t now, bool last, gt_gpu_string *string, void *arg, struct gt_err *err)
{
	struct queue *q = &p->works;
	size_t kept = 0;
	int done = 0;

	for (size_t i = 0; done >= 0 && i < q->n; i++) {
		struct waiting *w = &q->items[i];

		w->since = w->since ? w->since : now;
		if (w->e.id == GT_EV_GPU_STATE) {
			uint32_t text = string(arg, w->e.words[1]);

			done = note_state(g, p, &w->e, text == GT_NONE ? "?" : gt_writer_text(g->w, text), err);
			continue;
		}
		done = settle_work(g, p, &w->e, now, last || now - w->since >= PATIENCE || kept == WAITING_MAX, string, arg, err);
		if (!done)
			q->items[kept++] = *w;
	}
	q->n = kept;
	return done < 0 ? done : 0;
}

static void drop_lane(struct gt_gpu *g, struct gt_gpu_process *p, size_t i)
{
	g->calls -= p->lanes[i].n;
	free(p->lanes[i].calls);
	p->lanes[i] = p->lanes[--p->nlanes];
	p->lane = 0;
}

/* Calls that no record will come for any more, and lanes of threads that launch no more: there may be a million in a day. */
static void let_go(struct gt_gpu *g, struct gt_gpu_process *p, int64_t now, bool last)
{
	/* where nobody tells records they are not waited for; those of before were told before that */
	int64_t before = last ? INT64_MAX : now - (p->on ? 30 : 1) * PATIENCE;

	for (size_t i = p->nlanes; i-- > 0;) {
		struct lane *l = &p->lanes[i];

		while (l->n && (l->calls[l->first].known || l->calls[l->first].c.end < before)) {
			count_without_record(g, p, &l->calls[l->first]);
			forget_first(g, l);
		}
		if (l->n || !l->used)
			l->used = l->n ? 0 : now;
		else if (now - l->used > PATIENCE)
			drop_lane(g, p, i);
	}
}

/* ---- what a program took with it ---- */

struct missing { uint32_t track; uint64_t n; int64_t from; };
struct all_missing { struct missing *of; size_t n, cap; };

static int add_missing(struct all_missing *m, uint32_t track, int64_t start)
{
	size_t i = 0;

	while (i < m->n && m->of[i].track != track)
		i++;
	if (i == m->n) {
		if (gt_grow(&m->of, &m->cap, i + 1, sizeof(*m->of)))
			return -ENOMEM;
		m->of[m->n++] = (struct missing){ track, 0, start };
	}
	m->of[i].n++;
	m->of[i].from = start < m->of[i].from ? start : m->of[i].from;
	return 0;
}

/* A process that was killed, or left by _exit or exec, took with it what CUPTI had not given back: of each stream, how many launches
 * have nothing to show, and from when on. */
static int tell_missing(struct gt_gpu *g, struct gt_gpu_process *p, int64_t now, struct gt_err *err)
{
	struct all_missing m = { NULL, 0, 0 };
	int code = 0;

	for (uint32_t i = 0; !code && p->causes && i <= p->mask; i++)
		if (p->causes[i].used && !p->causes[i].records && !p->causes[i].captured)
			code = add_missing(&m, gt_gpu_stream_track(&p->waits, p->causes[i].c.on), p->causes[i].c.start);
	for (size_t i = 0; !code && i < p->nlanes; i++)
		for (size_t k = 0; !code && k < p->lanes[i].n; k++) {
			const struct call *c = &p->lanes[i].calls[p->lanes[i].first + k];

			if (!c->known && !c->captured)
				code = add_missing(&m, gt_gpu_stream_track(&p->waits, c->c.on), c->c.start);
		}
	for (size_t i = 0; !code && i < m.n; i++)
		code = gt_writer_lost(g->w, m.of[i].track == GT_NONE ? GT_SCOPE_PROCESS : GT_SCOPE_TRACK,
				      m.of[i].track == GT_NONE ? p->track : m.of[i].track, m.of[i].from, now, m.of[i].n, err);
	free(m.of);
	return code;
}

int gt_gpu_settle(struct gt_gpu *g, struct gt_gpu_process *p, int64_t now, bool last, gt_gpu_string *string, void *arg, struct gt_err *err)
{
	struct gt_gpu_around around = { .track = p->track };
	int code;

	p->began = p->began ? p->began : now;
	code = settle_records(g, p, now, last);
	if (!code)
		code = settle_works(g, p, now, last, string, arg, err);
	around.context = p->context == GT_NONE ? 0 : p->context;
	around.on = p->ever_on;
	if (!code)
		code = gt_gpu_waits_settle(&p->waits, &g->types, &around, now, last, &g->totals, err);
	if (!code && last)
		code = end_absence(g, p, now, err);
	if (!code && last && p->on && !p->flushed)
		code = tell_missing(g, p, now, err);
	let_go(g, p, now, last);
	return code == -ENOMEM ? gt_err_set(err, code, "out of memory") : code;
}

/* ---- life ---- */

struct gt_gpu *gt_gpu_open(struct gt_writer *w, bool partly)
{
	struct gt_gpu *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->w = g->types.w = w;
	g->partly = partly;
	g->source = gt_writer_string(w, "cupti");
	return g;
}

void gt_gpu_process_close(struct gt_gpu *g, struct gt_gpu_process *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; p->causes && i <= p->mask; i++)
		count_cause(g, &p->causes[i]);
	while (p->nlanes)
		drop_lane(g, p, p->nlanes - 1);
	free(p->lanes);
	free(p->causes);
	free(p->absences);
	gt_gpu_waits_release(&p->waits);
	free(p->records.items);
	free(p->works.items);
	free(p->devices);
	free(p->streams);
	gt_map_release(&p->by_stream);
	free(p);
}

void gt_gpu_close(struct gt_gpu *g)
{
	if (!g)
		return;
	gt_gpu_types_release(&g->types);
	free(g);
}

const struct gt_gpu_totals *gt_gpu_totals(const struct gt_gpu *g) { return &g->totals; }
