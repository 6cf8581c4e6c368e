/* One pass takes an anchor of the clocks, T, and then walks every ring up to the last record that ended by T. What ended later
 * waits for the next pass, so no time is ever converted that lies beyond the last anchor, and every pass is a clean cut.
 *
 * Closing an epoch is such a cut, with the calls that were running at T reported as open. Where is a call that began by T and
 * had not ended? Either on the thread's stack of open calls, or in the ring already, held back because it ended after T. One
 * store by the guest moves it from the one to the other, so one consistent look (word, stack, word again) sees each exactly
 * once. The ns reported as its start is remembered and used again when its row comes.
 *
 * A launch carries the handle of its function; the name came earlier, perhaps by another thread whose ring is walked later.
 * Such a thread stalls until all rings were searched for names, and goes on in the same pass.
 *
 * The rings are memory that a wild pointer in the program may write to. Nothing in them is believed: indices, sizes and
 * positions are checked, and a ring that lies is given up and counted.
 */
#define _GNU_SOURCE
#include "collect/recorder.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "collect/types.h"
#include "formats/base/buf.h"
#include "formats/clock.h"

#define DEPTHS (GT_RING_OPEN_MAX + 2)	/* nesting depths a record may have, and one more */
#define LOOKS 1000			/* tries to see a busy thread standing still */
#define SECOND 1000000000LL
#define EPOCH SECOND
#define IDLE_EPOCH (9 * SECOND)		/* nothing moves: say so from time to time */
#define ANCHOR_EVERY (5 * SECOND)
#define ROLL_CALL (SECOND / 10)		/* how often we ask who is still alive */
#define GRAVES_MAX 8192
#define MISSING_MAX 512
#define STALL 1

struct process {
	bool used, gone, busy;		/* busy: has threads */
	uint32_t generation, track;
	struct gt_guest guest;
	struct gt_known known;
	uint64_t untraced;		/* already reported */
	int64_t told;			/* ns: until when */
};
struct cursor { uint32_t chunk; uint64_t base, at; };	/* base: position where the chunk begins */
struct pin { uint64_t ticks; int64_t ns; };
struct thread {
	bool used, stalled, broken, dead;
	uint8_t nopen;
	uint32_t generation, proc, track;
	int32_t tid;
	struct cursor c;
	uint64_t word, limit;		/* as last looked at; limit: records lie below */
	uint64_t dropped;		/* already reported */
	int64_t told;
	/* what keeps rows properly nested, see fit() */
	unsigned deepest;
	int64_t last, floor[DEPTHS], child[DEPTHS];
	struct pin pins[DEPTHS];
	struct gt_ring_open open[GT_RING_OPEN_MAX];
};
/* A call whose thread died in it. It is open for ever. */
struct grave { uint32_t track; struct gt_row row; uint64_t args[GT_RING_OPEN_ARGS + GT_FIELDS_MAX]; };

struct gt_recorder {
	struct gt_rings *rings;
	struct gt_door *door;
	struct gt_writer *w;
	struct gt_clock clock;
	struct gt_types types;
	struct process *procs;
	struct thread *threads;
	struct grave *graves;
	size_t ngraves, graves_cap;
	struct gt_missing *missing;
	size_t nmissing, missing_cap;
	uint32_t nprocs, nthreads, payload, high;	/* high: slots in use lie below */
	uint32_t source, version_id;
	int level;
	bool patient;			/* a launch may still wait for its name */
	bool active;			/* something moved since the last epoch */
	uint64_t taken, freed;		/* bytes and chunks in this pass */
	struct gt_anchor now, epoch;
	int64_t anchored, called;	/* ns: last anchor in the file, last roll call */
	struct gt_recorder_totals totals;
};

/* ---- walking a ring ---- */

struct record {
	uint64_t start, end, size;
	uint16_t id;
	uint8_t kind, depth, nargs;
	int32_t ret;
	const uint64_t *words;
};

/* The record at p, of which `room` bytes lie in its chunk. False when it lies. */
static inline bool read_record(const uint8_t *p, uint64_t room, struct record *rec)
{
	struct gt_rec head;

	memcpy(&head, p, sizeof(head));
	*rec = (struct record){ .start = head.start, .end = head.end, .id = head.id, .kind = head.kind_depth >> 5,
				.depth = head.kind_depth & 31, .nargs = head.nargs, .ret = head.ret,
				.words = (const uint64_t *)(p + sizeof(head)) };
	if (rec->kind == GT_REC_CALL) {
		rec->size = sizeof(head) + rec->nargs * 8u;
		return rec->size <= room && rec->depth <= GT_RING_OPEN_MAX && rec->nargs <= GT_FIELDS_MAX &&
		       (rec->id < gt_api_count || (rec->id >= GT_ID_IOCTL && rec->id < GT_IDS));
	}
	if (rec->end > room)
		return false;
	rec->size = sizeof(head) + ((rec->end + 7) & ~7ULL);
	return rec->size <= room && rec->kind <= GT_REC_THREAD;
}

/* Follows the chain to the next chunk; with `owner` the one that is left is free again. */
static bool next_chunk(struct gt_recorder *r, struct cursor *c, struct gt_ring_thread *owner)
{
	uint32_t old = c->chunk, next = __atomic_load_n(&gt_rings_chunk(r->rings, old)->next, __ATOMIC_ACQUIRE);

	if (next >= r->rings->s->nchunks)
		return false;
	c->chunk = next;
	c->base += r->payload;
	c->at = c->base;
	if (owner) {
		__atomic_store_n(&owner->consumed, c->at, __ATOMIC_RELEASE);
		gt_rings_give(r->rings, old);
		r->freed++;
	}
	return true;
}

/* Finds the record at the cursor. 1, 0 when there is none below the limit, -1 when the ring lies. The caller steps over it. */
static inline int find_record(struct gt_recorder *r, struct cursor *c, uint64_t limit, struct gt_ring_thread *owner, struct record *rec)
{
	while (c->at < limit) {
		uint64_t room = r->payload - (c->at - c->base);
		const uint8_t *p = gt_rings_chunk(r->rings, c->chunk)->payload + (c->at - c->base);

		if (room >= sizeof(struct gt_rec) && *(const uint64_t *)p)
			return read_record(p, room < limit - c->at ? room : limit - c->at, rec) ? 1 : -1;
		if (c->base + r->payload >= limit) {
			c->at = limit;
			return c->base + r->payload > limit ? -1 : 0;
		}
		if (!next_chunk(r, c, owner))
			return -1;
	}
	return 0;
}

/* Reads the thread's position; for an epoch also its stack of open calls, at one moment. */
static void look(struct gt_recorder *r, struct thread *t, const struct gt_ring_thread *ring, bool closing)
{
	uint64_t word = __atomic_load_n(&ring->word, __ATOMIC_ACQUIRE), again;

	for (int i = 0; closing && i < LOOKS; i++, word = again) {
		t->nopen = (word & 255) < GT_RING_OPEN_MAX ? (uint8_t)word : GT_RING_OPEN_MAX;
		memcpy(t->open, ring->open, t->nopen * sizeof(*t->open));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		again = __atomic_load_n(&ring->word, __ATOMIC_ACQUIRE);
		if (again == word)
			break;
	}
	r->active |= word != t->word;
	t->word = word;
	t->limit = word >> 8;
	if (t->c.chunk == GT_RING_NIL && t->limit)
		t->c.chunk = __atomic_load_n(&ring->first, __ATOMIC_ACQUIRE);
	if (t->limit < t->c.at || t->limit % 8 || t->limit - t->c.at > (uint64_t)r->rings->s->nchunks * r->payload ||
	    (t->limit && t->c.chunk >= r->rings->s->nchunks))
		t->broken = true;
}

/* ---- rows ---- */

/* Makes a row fit what its track already holds, should clocks or rounding have it off by a few ns. Rows come in the order of
 * their ends. floor[d] is the latest end at depth d or above, below which nothing at depth d may begin; child[d] is the start
 * of the first call at depth d since something above it ended: its parent, still to come, begins no later. */
static inline void fit(struct thread *t, unsigned depth, int64_t *start, int64_t *end)
{
	int64_t low = t->floor[depth < t->deepest ? depth : t->deepest];

	if (*start > t->child[depth + 1])
		*start = t->child[depth + 1];
	t->child[depth + 1] = INT64_MAX;
	if (*start < low)
		*start = low;
	if (*end < t->last)
		*end = t->last;
	if (*end < *start)
		*end = *start;
	for (unsigned d = t->deepest + 1; d < depth; d++)
		t->floor[d] = t->floor[t->deepest];
	t->floor[depth] = t->last = *end;
	t->deepest = depth;
	if (depth && *start < t->child[depth])
		t->child[depth] = *start;
}

static struct gt_known *known_of(struct gt_recorder *r, const struct thread *t) { return &r->procs[t->proc].known; }

/* A name by its key. While the recorder is patient an unknown one may turn up in another ring: STALL. Later it is given up, and
 * that is remembered, so that the next call does not wait again. */
static int resolve(struct gt_recorder *r, const struct thread *t, enum gt_known_kind kind, uint64_t key, uint64_t *string)
{
	struct gt_known *k = known_of(r, t);

	*string = key ? gt_known_get(k, kind, key) : GT_NONE;
	if (!key || *string != GT_NONE)
		return 0;
	if (r->patient && !gt_known_has(k, kind, key))
		return STALL;
	gt_known_add(k, kind, key, GT_NONE, false);
	return 0;
}

/* Turns the words of a record into a row's arguments; missing ones are 0. 0 or STALL. */
static int translate(struct gt_recorder *r, const struct thread *t, const struct gt_call_type *c, const uint64_t *words, unsigned n,
		     uint64_t *args)
{
	for (unsigned i = 0; i < c->nwords; i++) {
		args[i] = i < n ? words[i] : 0;
		if (c->strings >> i & 1 && resolve(r, t, GT_KNOWN_STRING, args[i], &args[i]))
			return STALL;
	}
	return c->func == GT_NO_WORD ? 0 : resolve(r, t, GT_KNOWN_FUNC, args[c->func], &args[c->nwords]);
}

static int64_t ns_of_start(struct gt_recorder *r, const struct thread *t, unsigned depth, uint64_t ticks)
{
	if (ticks <= r->epoch.ticks && t->pins[depth].ticks == ticks)
		return t->pins[depth].ns;
	return gt_clock_ns(&r->clock, ticks);
}

/* A finished call becomes a row. 0, STALL, or negative from the writer. */
static inline int put_call(struct gt_recorder *r, struct thread *t, const struct record *rec, struct gt_err *err)
{
	struct gt_row row = { .ret = rec->ret, .depth = rec->depth };
	uint64_t own[GT_FIELDS_MAX + 1];
	const uint64_t *args = rec->words;

	if (rec->id < gt_api_count) {
		const struct gt_call_type *c = gt_types_call(&r->types, rec->id);

		if (!c->plain || rec->nargs != c->nwords) {
			if (translate(r, t, c, rec->words, rec->nargs, own))
				return STALL;
			args = own;
		}
		row.type = c->type;
		row.nargs = c->nfields;
		if (__builtin_expect(rec->id == r->version_id && c->nwords && !rec->ret, 0))
			r->totals.driver_version = (int32_t)args[0];
	} else {
		if (row.ret == -ENOTTY && r->procs[t->proc].guest.simulated)
			row.ret = 0;	/* the kernel does not know the simulator's files; what counts is the status */
		row.type = gt_types_file(&r->types, rec->id, rec->words, rec->nargs, own, &row.nargs, &row.ret);
		args = own;
	}
	row.start = ns_of_start(r, t, rec->depth, rec->start);
	row.end = gt_clock_ns(&r->clock, rec->end);
	if (t->pins[rec->depth].ticks == rec->start && row.end < r->epoch.monotonic)
		row.end = r->epoch.monotonic;	/* it was seen open then, between its end and its being recorded */
	fit(t, rec->depth, &row.start, &row.end);
	if (__builtin_expect(row.type == GT_NONE, 0)) {
		r->totals.nameless++;
		return gt_writer_lost(r->w, GT_SCOPE_TRACK, t->track, row.start, row.end, 1, err);
	}
	return gt_writer_row(r->w, GT_CALL, t->track, &row, args, err);
}

static void note_missing(struct gt_recorder *r, const char *name, size_t len)
{
	len = len < 200 ? len : 200;
	for (size_t i = 0; i < r->nmissing; i++)
		if (!strncmp(r->missing[i].name, name, len) && !r->missing[i].name[len]) {
			r->missing[i].count++;
			return;
		}
	if (r->nmissing == MISSING_MAX || gt_grow(&r->missing, &r->missing_cap, r->nmissing + 1, sizeof(*r->missing)))
		return;
	r->missing[r->nmissing].name = strndup(name, len);
	r->missing[r->nmissing].count = 1;
	r->nmissing += r->missing[r->nmissing].name != NULL;
}

/* A record that tells a name. early: seen on a search ahead of its turn. */
static int put_text(struct gt_recorder *r, struct thread *t, const struct record *rec, bool early, struct gt_err *err)
{
	const char *text = (const char *)rec->words;

	if (rec->kind == GT_REC_NAME || rec->kind == GT_REC_STRING)
		gt_known_add(known_of(r, t), rec->kind == GT_REC_NAME ? GT_KNOWN_FUNC : GT_KNOWN_STRING, rec->start,
			     gt_writer_string_n(r->w, text, rec->end), !early);
	else if (!early && rec->kind == GT_REC_MISSING)
		note_missing(r, text, rec->end);
	else if (!early && rec->kind == GT_REC_THREAD)
		return gt_writer_track_name(r->w, t->track, gt_writer_string_n(r->w, text, rec->end), err);
	return 0;
}

static int give_up(struct gt_recorder *r, struct thread *t, struct gt_err *err)
{
	t->broken = true;
	t->c.at = t->limit;
	r->totals.broken++;
	return gt_writer_lost(r->w, GT_SCOPE_TRACK, t->track, t->last == INT64_MIN ? r->now.monotonic : t->last, r->now.monotonic,
			      GT_LOST_UNKNOWN, err);
}

/* Most records by far are calls of functions whose words go into the row as they are. This takes as many of them as follow one
 * another in the chunk, and leaves the first that is anything else, or suspicious, to the careful way. */
static inline int take_plain(struct gt_recorder *r, struct thread *t, struct gt_err *err)
{
	const uint64_t until = r->now.ticks, stop = t->limit - t->c.base < r->payload ? t->limit : t->c.base + r->payload;
	const uint8_t *base = gt_rings_chunk(r->rings, t->c.chunk)->payload;
	int code = 0;

	while (!code && stop - t->c.at >= sizeof(struct gt_rec)) {
		const uint64_t *p = (const uint64_t *)(base + (t->c.at - t->c.base));
		uint64_t start = p[0], end = p[1], head = p[2];
		unsigned id = head & 0xffff, n = head >> 16 & 255, depth = head >> 24 & 255;
		struct gt_row row = { .ret = (int32_t)(head >> 32), .nargs = (uint8_t)n, .depth = (uint8_t)depth };
		const struct gt_call_type *c = &r->types.calls[id < GT_API_MAX ? id : 0];

		if (!start || start <= r->epoch.ticks || end > until || depth > GT_RING_OPEN_MAX || id >= gt_api_count ||
		    id == r->version_id || c->type == GT_NONE || !c->plain || c->nwords != n || sizeof(struct gt_rec) + n * 8 > stop - t->c.at)
			break;
		row.type = c->type;
		row.start = gt_clock_ns(&r->clock, start);
		row.end = gt_clock_ns(&r->clock, end);
		fit(t, depth, &row.start, &row.end);
		code = gt_writer_row(r->w, GT_CALL, t->track, &row, p + 3, err);
		t->c.at += sizeof(struct gt_rec) + n * 8;
	}
	return code;
}

/* Takes the records of one thread that ended by now. */
static int drain(struct gt_recorder *r, struct thread *t, struct gt_ring_thread *ring, struct gt_err *err)
{
	uint64_t before = t->c.at, until = r->now.ticks;
	struct record rec;
	int got = 0, code = 0;

	t->stalled = false;
	while (!code && (got = find_record(r, &t->c, t->limit, ring, &rec)) > 0) {
		uint64_t at = t->c.at;

		code = take_plain(r, t, err);
		if (code || t->c.at != at)
			continue;
		if (rec.kind != GT_REC_CALL)
			code = put_text(r, t, &rec, false, err);
		else if (rec.end > until)
			break;
		else
			code = put_call(r, t, &rec, err);
		if (code == STALL) {
			t->stalled = true;
			code = 0;
			break;
		}
		t->c.at += rec.size;
	}
	r->taken += t->c.at - before;
	__atomic_store_n(&ring->consumed, t->c.at, __ATOMIC_RELEASE);
	return code < 0 || got >= 0 ? code : give_up(r, t, err);
}

/* Some launch lacks its name: looks through everything that is in the rings by now. */
static void search_names(struct gt_recorder *r)
{
	for (uint32_t i = 0; i < r->high; i++) {
		struct thread *t = &r->threads[i];
		struct cursor c = t->c;
		struct record rec;
		uint64_t limit;

		if (!t->used || t->broken || c.chunk >= r->rings->s->nchunks)
			continue;
		limit = __atomic_load_n(&r->rings->threads[i].word, __ATOMIC_ACQUIRE) >> 8;
		if (limit - c.at > (uint64_t)r->rings->s->nchunks * r->payload)
			continue;
		while (find_record(r, &c, limit, NULL, &rec) > 0) {
			if (rec.kind != GT_REC_CALL)
				put_text(r, t, &rec, true, NULL);
			c.at += rec.size;
		}
	}
}

/* ---- calls that are open ---- */

struct running { uint64_t start; uint16_t id; uint8_t n; const uint64_t *words; };

/* Fills in the row of a call that has not ended. False when nothing can be said of it. */
static bool open_row(struct gt_recorder *r, struct thread *t, unsigned depth, const struct running *o, struct gt_row *row, uint64_t *args)
{
	unsigned n = o->n;

	*row = (struct gt_row){ .depth = (uint8_t)depth };
	if (o->id < gt_api_count) {
		const struct gt_call_type *c = gt_types_call(&r->types, o->id);

		n = n < c->nwords ? n : c->nwords;
		memcpy(args, o->words, n * sizeof(*args));
		if (!c->plain) {	/* a string that is not known yet must not read as the first string of all */
			translate(r, t, c, o->words, n, args);
			n = c->nfields;
		}
		row->type = c->type;
		row->nargs = (uint8_t)n;
	} else
		row->type = gt_types_file(&r->types, o->id, o->words, n, args, &row->nargs, &row->ret);
	row->ret = 0;
	row->start = row->end = ns_of_start(r, t, depth, o->start);
	return row->type != GT_NONE;
}

/* Collects by depth what was running at the moment of the epoch: the stack, and finished calls that are held back. */
static unsigned find_running(struct gt_recorder *r, const struct thread *t, struct running *by_depth)
{
	struct cursor c = t->c;
	struct record rec;
	unsigned found = 0;

	for (unsigned d = 0; d < t->nopen; d++)
		if (t->open[d].start && t->open[d].start <= r->now.ticks) {
			by_depth[d] = (struct running){ t->open[d].start, t->open[d].id, t->open[d].nargs, t->open[d].args };
			found |= 1u << d;
		}
	while (!t->broken && find_record(r, &c, t->limit, NULL, &rec) > 0) {
		if (rec.kind == GT_REC_CALL && rec.start <= r->now.ticks) {
			by_depth[rec.depth] = (struct running){ rec.start, rec.id, rec.nargs, rec.words };
			found |= 1u << rec.depth;
		}
		if (rec.kind == GT_REC_CALL && !rec.depth)
			break;	/* what follows began later */
		c.at += rec.size;
	}
	return found;
}

typedef int open_fn(struct gt_recorder *r, uint32_t track, const struct gt_row *row, const uint64_t *args, struct gt_err *err);

static int each_open(struct gt_recorder *r, struct thread *t, open_fn *fn, struct gt_err *err)
{
	struct running by_depth[DEPTHS];
	unsigned found = find_running(r, t, by_depth);
	uint64_t args[GT_FIELDS_MAX + 1];
	struct gt_row row;
	int code = 0;

	for (unsigned d = 0; !code && d < DEPTHS; d++) {
		struct running *o = &by_depth[d];
		int64_t low = t->floor[d < t->deepest ? d : t->deepest];

		if (!(found >> d & 1) || o->n > GT_FIELDS_MAX || (o->id >= gt_api_count && (o->id < GT_ID_IOCTL || o->id >= GT_IDS)) ||
		    !open_row(r, t, d, o, &row, args))
			continue;
		if (row.start < low)
			row.start = row.end = low;
		t->pins[d] = (struct pin){ o->start, row.start };
		code = fn(r, t->track, &row, args, err);
	}
	return code;
}

static int report_open(struct gt_recorder *r, uint32_t track, const struct gt_row *row, const uint64_t *args, struct gt_err *err)
{
	r->totals.open++;
	return gt_writer_open_call(r->w, track, row, args, err);
}

static int bury_open(struct gt_recorder *r, uint32_t track, const struct gt_row *row, const uint64_t *args, struct gt_err *err)
{
	struct grave *g;

	if (r->ngraves == GRAVES_MAX || gt_grow(&r->graves, &r->graves_cap, r->ngraves + 1, sizeof(*r->graves)))
		return gt_writer_lost(r->w, GT_SCOPE_TRACK, track, row->start, row->start, 1, err);
	g = &r->graves[r->ngraves++];
	g->track = track;
	g->row = *row;
	memcpy(g->args, args, row->nargs * sizeof(*args));
	r->active = true;
	return 0;
}

/* ---- losses ---- */

static int64_t clamp_ns(struct gt_recorder *r, uint64_t ticks, int64_t low)
{
	int64_t ns = gt_clock_ns(&r->clock, ticks);

	return ns > r->now.monotonic ? r->now.monotonic : ns < low ? low : ns;
}

static int tell_thread_losses(struct gt_recorder *r, struct thread *t, const struct gt_ring_thread *ring, struct gt_err *err)
{
	uint64_t dropped = __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED), more = dropped - t->dropped;
	int64_t from, to;

	if (!more)
		return 0;
	from = clamp_ns(r, ring->dropped_from, t->told);
	to = clamp_ns(r, ring->dropped_to, from);
	t->dropped = dropped;
	t->told = to;
	r->totals.dropped += more;
	r->active = true;
	return gt_writer_lost(r->w, GT_SCOPE_TRACK, t->track, from, to, more, err);
}

static int tell_process_losses(struct gt_recorder *r, struct process *p, const struct gt_ring_proc *slot, struct gt_err *err)
{
	uint64_t untraced = __atomic_load_n(&slot->untraced, __ATOMIC_RELAXED), more = untraced - p->untraced;
	int64_t from = p->told;

	p->told = r->now.monotonic;
	if (!more)
		return 0;
	p->untraced = untraced;
	r->totals.untraced += more;
	r->active = true;
	return gt_writer_lost(r->w, GT_SCOPE_PROCESS, p->track, from, r->now.monotonic, more, err);
}

/* A guest counts what it lets pass for the session, and for its process when it has a slot. What is told of processes is taken
 * off; a little may be told in the next epoch, as the two are not read at one moment. */
static int tell_losses(struct gt_recorder *r, struct gt_err *err)
{
	uint64_t all = __atomic_load_n(&r->rings->s->untraced, __ATOMIC_ACQUIRE);
	int64_t more;
	int code = 0;

	for (uint32_t i = 0; !code && i < r->high; i++)
		if (r->threads[i].used)
			code = tell_thread_losses(r, &r->threads[i], &r->rings->threads[i], err);
	for (uint32_t i = 0; !code && i < r->nprocs; i++)
		if (r->procs[i].used)
			code = tell_process_losses(r, &r->procs[i], &r->rings->procs[i], err);
	more = (int64_t)(all - r->totals.untraced);
	if (code || more <= 0)
		return code;
	r->totals.untraced += (uint64_t)more;
	return gt_writer_lost(r->w, GT_SCOPE_ALL, GT_NONE, r->epoch.monotonic, r->now.monotonic, (uint64_t)more, err);
}

/* ---- who comes ---- */

/* A process as it knocked; or, where nobody saw it knock (a fork that uses its parent's mapping), as /proc knows it. */
static void identify(struct gt_recorder *r, struct process *p, const struct gt_ring_proc *slot)
{
	if (r->door && gt_door_guest(r->door, slot->pid, &p->guest))
		return;
	if (r->door && gt_guest_look(slot->pid, &p->guest) && p->guest.ns_pid == slot->pid)
		return;
	memset(&p->guest, 0, sizeof(p->guest));
	p->guest.ns_pid = slot->pid;
	snprintf(p->guest.comm, sizeof(p->guest.comm), "%.15s", slot->comm);
}

static void adopt_process(struct gt_recorder *r, uint32_t i)
{
	struct gt_ring_proc *slot = &r->rings->procs[i];
	struct process *p = &r->procs[i];
	struct gt_track track = { .parent = GT_NONE, .source = r->source, .kind = GT_TRACK_PROCESS };

	memset(p, 0, sizeof(*p));
	p->used = true;
	p->generation = slot->generation;
	identify(r, p, slot);
	slot->host_pid = p->guest.host_pid;
	for (uint32_t k = 0; k < r->nprocs; k++) {
		struct process *other = &r->procs[k];

		if (k == i || !other->used)
			continue;
		if (p->guest.host_pid && other->guest.host_pid == p->guest.host_pid)	/* it called exec, or its pid was used again */
			*(r->rings->procs[k].start_ticks <= slot->start_ticks ? &other->gone : &p->gone) = true;
		else if (slot->ppid && other->guest.ns_pid == slot->ppid && !other->gone)
			gt_known_copy(&p->known, &other->known);
	}
	track.id = p->guest.host_pid ? p->guest.host_pid : slot->pid;
	track.ns_id = slot->pid;
	track.start = p->guest.start;
	track.name = gt_writer_string(r->w, p->guest.comm[0] ? p->guest.comm : "?");
	p->track = gt_writer_track(r->w, &track);
	p->told = r->now.monotonic;
	r->totals.processes++;
	r->totals.libcuda |= p->guest.libcuda;
	r->totals.simulated |= p->guest.simulated;
	r->active = true;
}

static void adopt_thread(struct gt_recorder *r, uint32_t i)
{
	struct gt_ring_thread *ring = &r->rings->threads[i];
	struct thread *t = &r->threads[i];
	struct gt_track track = { .source = r->source, .kind = GT_TRACK_THREAD, .id = ring->tid, .ns_id = ring->tid, .name = GT_NONE };
	char name[sizeof(ring->name) + 1] = "";

	if (ring->proc >= r->nprocs || !r->procs[ring->proc].used)
		return;
	memset(t, 0, sizeof(*t));
	t->used = true;
	t->generation = ring->generation;
	t->proc = ring->proc;
	t->tid = ring->tid;
	t->c.chunk = GT_RING_NIL;
	t->last = t->floor[0] = INT64_MIN;
	t->told = r->now.monotonic - EPOCH;
	for (unsigned d = 0; d < DEPTHS; d++)
		t->child[d] = INT64_MAX;
	memcpy(name, ring->name, sizeof(ring->name));
	track.parent = r->procs[t->proc].track;
	if (name[0])
		track.name = gt_writer_string(r->w, name);
	t->track = gt_writer_track(r->w, &track);
	r->totals.threads++;
	if (i >= r->high)
		r->high = i + 1;
}

/* Takes note of slots that became live. A slot is the guest's until its state says so. */
static void adopt(struct gt_recorder *r)
{
	for (uint32_t i = 0; i < r->nprocs; i++) {
		uint32_t state = __atomic_load_n(&r->rings->procs[i].state, __ATOMIC_ACQUIRE);

		if (!r->procs[i].used && (state == GT_SLOT_LIVE || state == GT_SLOT_DONE))
			adopt_process(r, i);
	}
	for (uint32_t i = 0; i < r->nthreads; i++) {
		uint32_t state = __atomic_load_n(&r->rings->threads[i].state, __ATOMIC_ACQUIRE);

		if (!r->threads[i].used && (state == GT_SLOT_LIVE || state == GT_SLOT_DONE))
			adopt_thread(r, i);
	}
}

/* ---- who goes ---- */

static bool thread_gone(const struct process *p, int32_t tid)
{
	if (!p->guest.host_pid || p->guest.host_pid != p->guest.ns_pid)
		return false;	/* its thread ids are not ours */
	return syscall(SYS_tgkill, p->guest.host_pid, tid, 0) && errno == ESRCH;
}

static void roll_call(struct gt_recorder *r)
{
	r->called = r->now.monotonic;
	for (uint32_t i = 0; i < r->nprocs; i++)
		if (r->procs[i].used && !r->procs[i].gone && r->procs[i].guest.host_pid)
			r->procs[i].gone = gt_guest_gone(&r->procs[i].guest);
	for (uint32_t i = 0; i < r->high; i++)
		if (r->threads[i].used && !r->threads[i].dead)
			r->threads[i].dead = r->procs[r->threads[i].proc].gone || thread_gone(&r->procs[r->threads[i].proc], r->threads[i].tid);
}

/* A dead thread may have died with a chunk in its hands that is not in its chain yet, so all are looked at. */
static void free_chunks(struct gt_recorder *r, uint32_t slot, const struct thread *t)
{
	uint32_t n = r->rings->s->nchunks, i = t->c.chunk;

	if (i == GT_RING_NIL)
		i = r->rings->threads[slot].first;
	for (uint32_t steps = 0; !t->dead && i < n && steps < n; steps++) {
		uint32_t next = gt_rings_chunk(r->rings, i)->next;

		if (gt_rings_chunk(r->rings, i)->owner != slot)
			break;
		gt_rings_give(r->rings, i);
		i = next;
	}
	for (i = 0; t->dead && i < n; i++)
		if (gt_rings_chunk(r->rings, i)->owner == slot)
			gt_rings_give(r->rings, i);
	r->freed++;
}

static int bury_thread(struct gt_recorder *r, uint32_t i, struct gt_err *err)
{
	struct thread *t = &r->threads[i];
	struct gt_ring_thread *ring = &r->rings->threads[i];
	int code = tell_thread_losses(r, t, ring, err);

	look(r, t, ring, true);
	if (!code && t->dead)
		code = each_open(r, t, bury_open, err);
	r->totals.deep += ring->deep;
	r->totals.sampled_out += ring->sampled_out;
	free_chunks(r, i, t);
	ring->first = GT_RING_NIL;
	t->used = false;
	__atomic_store_n(&ring->state, GT_SLOT_FREE, __ATOMIC_RELEASE);
	return code;
}

/* Slots whose owner is through and whose records are taken are free again. */
static int bury(struct gt_recorder *r, struct gt_err *err)
{
	int code = 0;

	for (uint32_t i = 0; !code && i < r->high; i++) {
		struct thread *t = &r->threads[i];
		const struct gt_ring_thread *ring = &r->rings->threads[i];
		bool done = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) == GT_SLOT_DONE;

		if (t->used && (done || t->dead) && (t->broken || t->c.at == __atomic_load_n(&ring->word, __ATOMIC_ACQUIRE) >> 8))
			code = bury_thread(r, i, err);
		if (t->used && !code)
			r->procs[t->proc].busy = true;
	}
	for (uint32_t i = 0; !code && i < r->nprocs; i++) {
		struct process *p = &r->procs[i];

		if (p->used && p->gone && !p->busy) {
			code = tell_process_losses(r, p, &r->rings->procs[i], err);
			gt_known_release(&p->known);
			p->used = false;
			__atomic_store_n(&r->rings->procs[i].state, GT_SLOT_FREE, __ATOMIC_RELEASE);
		}
		p->busy = false;
	}
	return code;
}

/* ---- a pass ---- */

static int take_all(struct gt_recorder *r, bool closing, struct gt_err *err)
{
	bool stalled = false;
	int code = 0;

	r->patient = true;
	for (uint32_t i = 0; !code && i < r->high; i++) {
		struct thread *t = &r->threads[i];

		if (!t->used || t->broken)
			continue;
		look(r, t, &r->rings->threads[i], closing);
		code = t->broken ? give_up(r, t, err) : t->limit > t->c.at ? drain(r, t, &r->rings->threads[i], err) : 0;
		stalled |= t->stalled;
	}
	r->patient = false;
	if (code || !stalled)
		return code;
	adopt(r);
	search_names(r);
	for (uint32_t i = 0; !code && i < r->high; i++)
		if (r->threads[i].used && r->threads[i].stalled)
			code = drain(r, &r->threads[i], &r->rings->threads[i], err);
	return code;
}

static int put_anchor(struct gt_recorder *r, struct gt_err *err)
{
	r->anchored = r->now.monotonic;
	return gt_writer_anchor(r->w, &r->now, err);
}

static int close_epoch(struct gt_recorder *r, struct gt_err *err)
{
	int code = tell_losses(r, err);

	r->totals.open = 0;
	for (uint32_t i = 0; !code && i < r->high; i++)
		if (r->threads[i].used && !r->threads[i].broken)
			code = each_open(r, &r->threads[i], report_open, err);
	for (size_t i = 0; !code && i < r->ngraves; i++)
		code = report_open(r, r->graves[i].track, &r->graves[i].row, r->graves[i].args, err);
	if (!code && r->now.monotonic - r->anchored >= ANCHOR_EVERY)
		code = put_anchor(r, err);
	if (!code)
		code = gt_writer_epoch(r->w, r->now.monotonic, err);
	gt_clock_forget(&r->clock, r->now.ticks);
	r->epoch = r->now;
	r->active = false;
	return code;
}

/* Packing gets cheaper as the rings fill up, and better again when there is time. */
static void choose_level(struct gt_recorder *r)
{
	uint32_t all = r->rings->s->nchunks, left = __atomic_load_n(&r->rings->s->free_count, __ATOMIC_RELAXED);
	int level = left < all / 2 ? -3 : left < all / 4 * 3 ? 1 : 3;

	if (level == r->level)
		return;
	r->level = level;
	gt_writer_set_level(r->w, level);
}

static void wake_waiting(struct gt_recorder *r)
{
	struct gt_session *s = r->rings->s;

	if (!r->freed || !__atomic_load_n(&s->waiters, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&s->space, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &s->space, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static int64_t pass(struct gt_recorder *r, bool last, struct gt_err *err)
{
	bool closing;
	int64_t age;
	int code;

	r->taken = r->freed = 0;
	r->now = gt_clock_add(&r->clock, gt_clock_anchor(r->clock.ticks));
	age = r->now.monotonic - r->epoch.monotonic;
	closing = last || age >= IDLE_EPOCH || (r->active && (age >= EPOCH || gt_writer_due(r->w, r->now.monotonic)));
	choose_level(r);
	adopt(r);
	if (r->now.monotonic - r->called >= ROLL_CALL)
		roll_call(r);
	code = take_all(r, closing, err);
	if (!code && closing)
		code = close_epoch(r, err);
	if (!code)
		code = bury(r, err);
	wake_waiting(r);
	return code ? code : (int64_t)r->taken;
}

int64_t gt_recorder_pass(struct gt_recorder *r, struct gt_err *err) { return pass(r, false, err); }

static bool all_taken(const struct gt_recorder *r)
{
	for (uint32_t i = 0; i < r->high; i++)
		if (r->threads[i].used && !r->threads[i].broken && r->threads[i].c.at != r->threads[i].limit)
			return false;
	return true;
}

int gt_recorder_finish(struct gt_recorder *r, struct gt_err *err)
{
	int64_t code;

	r->called = 0;
	for (int i = 0; i < 100; i++) {		/* processes that go on stop recording, yet may finish a call */
		code = pass(r, false, err);
		if (code < 0)
			return (int)code;
		if (!code && all_taken(r))
			break;
	}
	r->anchored = 0;
	code = pass(r, true, err);
	return code < 0 ? (int)code : 0;
}

unsigned gt_recorder_alive(struct gt_recorder *r)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < r->nprocs; i++)
		n += r->procs[i].used && !r->procs[i].gone && r->procs[i].guest.host_pid && !gt_guest_gone(&r->procs[i].guest);
	return n;
}

const struct gt_recorder_totals *gt_recorder_totals(struct gt_recorder *r)
{
	r->totals.clock_error = r->clock.max_error;
	r->totals.missing = r->missing;
	r->totals.nmissing = r->nmissing;
	return &r->totals;
}

struct gt_recorder *gt_recorder_open(struct gt_rings *rings, struct gt_door *door, struct gt_writer *w, struct gt_err *err)
{
	struct gt_recorder *r = calloc(1, sizeof(*r));

	if (r) {
		r->nprocs = rings->s->nprocs;
		r->nthreads = rings->s->nthreads;
		r->procs = calloc(r->nprocs, sizeof(*r->procs));
		r->threads = calloc(r->nthreads, sizeof(*r->threads));
	}
	if (!r || !r->procs || !r->threads) {
		gt_err_set(err, -ENOMEM, "out of memory");
		gt_recorder_close(r);
		return NULL;
	}
	r->rings = rings;
	r->door = door;
	r->w = w;
	r->payload = rings->s->chunk_bytes - sizeof(struct gt_ring_chunk);
	r->level = 3;
	r->source = gt_writer_string(w, "preload");
	r->version_id = gt_api_find("cuDriverGetVersion");
	gt_types_init(&r->types, w, rings->s->args);
	gt_clock_init(&r->clock, rings->s->ticks);
	r->now = r->epoch = gt_clock_add(&r->clock, gt_clock_anchor(r->clock.ticks));
	if (put_anchor(r, err)) {
		gt_recorder_close(r);
		return NULL;
	}
	return r;
}

void gt_recorder_close(struct gt_recorder *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; r->procs && i < r->nprocs; i++)
		gt_known_release(&r->procs[i].known);
	for (size_t i = 0; i < r->nmissing; i++)
		free(r->missing[i].name);
	gt_types_release(&r->types);
	free(r->missing);
	free(r->graves);
	free(r->procs);
	free(r->threads);
	free(r);
}
