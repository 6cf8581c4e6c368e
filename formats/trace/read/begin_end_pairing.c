/* Halves that wait for their other half are slots of an array. Each slot is linked four ways: by
 * age (begins and ends separately) to find the oldest, by track to know the depth, by key in a hash
 * table, and, for nested pairing, to the next open begin of the same key. The usual pair needs one
 * insertion and one removal in the map, which stays small because few calls are open at a time.
 *
 * Depth is counted when a call ends: it is nested in each open begin of its track that is not later
 * than its own.
 *
 * That needs input nearly in order: on a track where more than one time in eight goes back, depth
 * is 0.
 *
 * Lanes: for each lane of a track the outermost finished calls are stored while any call of the
 * track is open. A call that finishes replaces those that began inside it. If the last of the
 * others ends after the call's start, the two overlap partly, and the call goes to the next lane. A
 * track whose calls follow one another needs none of this. */
#include "formats/trace/read/begin_end_pairing.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"

#define SLOTS (GT_PAIR_BEGINS + GT_PAIR_ENDS)
#define NIL UINT32_MAX
#define KEEP_ARGS 8 /* a free slot keeps its buffer if it is this small */
/* finished calls stored per lane; beyond it an overlap may be missed */
#define SPANS_MAX 64
#define DEPTH_MAX 255 /* open calls of a track that are counted for a depth */

struct slot {
	struct gt_half half;
	uint64_t hash; /* of its key */
	uint64_t *args;
	uint32_t args_cap;
	/* BY_AGE: among the begins or among the ends; newer also links free slots. BY_TRACK: among
	 * the open begins of a track */
	struct link {
		uint32_t older, newer;
	} link[2];
	/* nested: the earlier and the later open begin of the same key */
	uint32_t outer, inner;
	bool is_end;
};
enum { BY_AGE, BY_TRACK };
struct list {
	uint32_t oldest, newest, n;
};

struct lane {
	struct span {
		int64_t start, end;
	} * spans;
	size_t n, cap;
};
struct lanes {
	struct lane lane[GT_PAIR_LANES];
};
struct track {
	struct list open;
	struct lanes *lanes;
	int64_t latest;
	uint64_t halves, backwards;
};

struct gt_pairing {
	enum gt_pair_mode mode;
	const struct gt_pair_sink *sink;
	void *arg;
	struct slot *slots;
	size_t nslots, slots_cap;
	uint32_t free;
	struct list begins, ends;
	struct gt_map map; /* of slots */
	uint64_t seed;     /* so that no file can choose keys that all have the same hash */
	struct track *tracks;
	size_t ntracks, tracks_cap;
	size_t args_bytes, lane_bytes;
	uint64_t unmatched;
};

static int no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (pairing begins with ends)");
}

struct gt_pairing *gt_pair_new(
	enum gt_pair_mode mode, const struct gt_pair_sink *sink, void *arg, struct gt_err *err)
{
	struct gt_pairing *p = calloc(1, sizeof(*p));

	if (!p) {
		no_memory(err);
		return NULL;
	}
	p->seed = gt_hash_u64((uintptr_t)p);
	p->mode = mode;
	p->sink = sink;
	p->arg = arg;
	p->free = p->begins.oldest = p->begins.newest = p->ends.oldest = p->ends.newest = NIL;
	return p;
}

static void free_lanes(struct gt_pairing *p, struct track *t)
{
	for (unsigned i = 0; t->lanes && i < GT_PAIR_LANES; i++) {
		p->lane_bytes -= t->lanes->lane[i].cap * sizeof(struct span);
		free(t->lanes->lane[i].spans);
	}
	p->lane_bytes -= t->lanes ? sizeof(*t->lanes) : 0;
	free(t->lanes);
	t->lanes = NULL;
}

void gt_pair_free(struct gt_pairing *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nslots; i++)
		free(p->slots[i].args);
	for (size_t i = 0; i < p->ntracks; i++)
		free_lanes(p, &p->tracks[i]);
	free(p->tracks);
	free(p->slots);
	gt_map_release(&p->map);
	free(p);
}

uint64_t gt_pair_count_unmatched(const struct gt_pairing *p) { return p->unmatched; }

/* ---- slots, found by key ---- */

static uint64_t hash_of(const struct gt_pairing *p, const struct gt_half *h)
{
	return gt_hash_u64(p->seed + h->key + h->scope * 0x9e3779b97f4a7c15ULL);
}

static bool same_key(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_half *a = &((const struct gt_pairing *)arg)->slots[value].half, *b = key;

	return a->key == b->key && a->scope == b->scope;
}

/* The slot of this key, or NIL. */
static uint32_t look_up(const struct gt_pairing *p, const struct gt_half *h, uint64_t hash)
{
	return gt_map_get(&p->map, hash, same_key, p, h, sizeof(*h));
}

/* ---- slots and their lists ---- */

static void list_push(struct gt_pairing *p, struct list *l, unsigned which, uint32_t s)
{
	p->slots[s].link[which] = (struct link){ l->newest, NIL };
	*(l->newest != NIL ? &p->slots[l->newest].link[which].newer : &l->oldest) = s;
	l->newest = s;
	l->n++;
}

static void list_drop(struct gt_pairing *p, struct list *l, unsigned which, const struct slot *slot)
{
	struct link k = slot->link[which];

	*(k.older != NIL ? &p->slots[k.older].link[which].newer : &l->oldest) = k.newer;
	*(k.newer != NIL ? &p->slots[k.newer].link[which].older : &l->newest) = k.older;
	l->n--;
}

/* Removes a half from the lists of its age and its track. */
static void drop_from_lists(struct gt_pairing *p, const struct slot *slot)
{
	list_drop(p, slot->is_end ? &p->ends : &p->begins, BY_AGE, slot);
	if (!slot->is_end)
		list_drop(p, &p->tracks[slot->half.track].open, BY_TRACK, slot);
}

static int need_track(struct gt_pairing *p, uint32_t track)
{
	if (track < p->ntracks)
		return 0;
	if (gt_grow(&p->tracks, &p->tracks_cap, (size_t)track + 1, sizeof(*p->tracks)))
		return -ENOMEM;
	for (; p->ntracks <= track; p->ntracks++)
		p->tracks[p->ntracks] =
			(struct track){ .open = { NIL, NIL, 0 }, .latest = INT64_MIN };
	return 0;
}

static int copy_args(struct gt_pairing *p, struct slot *s, const struct gt_half *h)
{
	if (h->nargs > s->args_cap) {
		uint32_t cap = h->nargs > KEEP_ARGS ? h->nargs : KEEP_ARGS;
		uint64_t *args = realloc(s->args, cap * sizeof(*args));

		if (!args)
			return -ENOMEM;
		p->args_bytes += (cap - s->args_cap) * sizeof(*args);
		s->args = args;
		s->args_cap = cap;
	}
	if (h->nargs)
		memcpy(s->args, h->args, h->nargs * sizeof(*s->args));
	s->half.args = s->args;
	return 0;
}

/* Allocates a slot for this half; it is in no list yet. */
static int new_slot(struct gt_pairing *p, const struct gt_half *h, bool is_end, uint32_t *slot)
{
	uint32_t s = p->free;

	if (s != NIL) {
		p->free = p->slots[s].link[BY_AGE].newer;
	} else {
		if (gt_grow(&p->slots, &p->slots_cap, p->nslots + 1, sizeof(*p->slots)))
			return -ENOMEM;
		s = (uint32_t)p->nslots++;
		p->slots[s].args = NULL;
		p->slots[s].args_cap = 0;
	}
	p->slots[s].half = *h;
	p->slots[s].outer = p->slots[s].inner = NIL;
	p->slots[s].is_end = is_end;
	*slot = s;
	return copy_args(p, &p->slots[s], h);
}

static void free_slot(struct gt_pairing *p, uint32_t s)
{
	struct slot *slot = &p->slots[s];

	if (slot->args_cap > KEEP_ARGS) {
		p->args_bytes -= slot->args_cap * sizeof(*slot->args);
		free(slot->args);
		slot->args = NULL;
		slot->args_cap = 0;
	}
	slot->link[BY_AGE].newer = p->free;
	p->free = s;
}

/* Removes a half from the map and all lists. The caller must free its slot. */
static void detach(struct gt_pairing *p, uint32_t s)
{
	struct slot *slot = &p->slots[s];
	if (slot->outer != NIL) {
		gt_map_set(&p->map, slot->hash, s, slot->outer);
		p->slots[slot->outer].inner = NIL;
	} else {
		gt_map_remove(&p->map, slot->hash, s);
	}
	drop_from_lists(p, slot);
}

static int report_unmatched(
	struct gt_pairing *p, const struct gt_half *h, bool is_end, struct gt_err *err)
{
	p->unmatched++;
	return p->sink->unmatched(p->arg, h, is_end, err);
}

/* Reports a waiting half as unmatched. */
static int report_waiting(struct gt_pairing *p, uint32_t s, struct gt_err *err)
{
	int r;

	detach(p, s);
	r = report_unmatched(p, &p->slots[s].half, p->slots[s].is_end, err);
	free_slot(p, s);
	return r;
}

/* Reports the oldest half of this list as unmatched. Nested, the map may hold a
 * later begin of its key; then the map does not change. */
static int report_oldest(struct gt_pairing *p, const struct list *a, struct gt_err *err)
{
	uint32_t s = a->oldest;
	struct slot *slot = &p->slots[s];
	int r;

	if (slot->inner == NIL)
		return report_waiting(p, s, err);
	p->slots[slot->inner].outer = NIL; /* the oldest has no earlier one */
	drop_from_lists(p, slot);
	r = report_unmatched(p, &slot->half, false, err);
	free_slot(p, s);
	return r;
}

/* Stores this half until its other half comes. It replaces an open begin of the same key in the
 * map (nested). */
static int wait_for_other(struct gt_pairing *p, const struct gt_half *h, uint64_t hash, bool is_end,
	struct gt_err *err)
{
	struct list *a = is_end ? &p->ends : &p->begins;
	uint32_t s, other = look_up(p, h, hash);
	int r = 0;

	if (new_slot(p, h, is_end, &s))
		return no_memory(err);
	p->slots[s].hash = hash;
	if (other != NIL) {
		p->slots[s].outer = other;
		p->slots[other].inner = s;
		gt_map_set(&p->map, hash, other, s);
	} else if (gt_map_add(&p->map, hash, s)) {
		free_slot(p, s);
		return no_memory(err);
	}
	list_push(p, a, BY_AGE, s);
	if (!is_end)
		list_push(p, &p->tracks[h->track].open, BY_TRACK, s);
	while (!r && a->n > (is_end ? GT_PAIR_ENDS : GT_PAIR_BEGINS))
		r = report_oldest(p, a, err);
	while (!r && p->args_bytes > GT_PAIR_ARGS && p->begins.n + p->ends.n > 1)
		r = report_oldest(p, p->begins.n ? &p->begins : &p->ends, err);
	return r;
}

/* ---- calls ---- */

static uint8_t depth_above(const struct gt_pairing *p, uint32_t s, int64_t start)
{
	uint8_t depth = 0;

	for (unsigned i = 0; s != NIL && i < DEPTH_MAX; s = p->slots[s].link[BY_TRACK].older, i++)
		depth += p->slots[s].half.time <= start;
	return depth;
}

/* Stores the call on this lane unless it partly overlaps a finished call there. true: stored. */
static bool lane_add(struct gt_pairing *p, struct lane *l, int64_t start, int64_t end)
{
	size_t n = l->n, cap = l->cap;

	while (n && l->spans[n - 1].start >= start)
		n--;
	if (n && l->spans[n - 1].end > start)
		return false;
	if (n == SPANS_MAX) {
		n = SPANS_MAX / 2;
		memmove(l->spans, l->spans + SPANS_MAX - n, n * sizeof(*l->spans));
	}
	if (n < l->cap ||
		(p->lane_bytes < GT_PAIR_LANE_BYTES &&
			!gt_grow(&l->spans, &l->cap, n + 1, sizeof(*l->spans))))
		l->spans[n++] = (struct span){ start, end };
	p->lane_bytes += (l->cap - cap) * sizeof(*l->spans);
	l->n = n;
	return true;
}

static unsigned lane_of(struct gt_pairing *p, struct track *t, int64_t start, int64_t end)
{
	unsigned lane;

	if (!t->lanes) {
		if (!t->open.n || p->lane_bytes >= GT_PAIR_LANE_BYTES)
			return 0;
		t->lanes = calloc(1, sizeof(*t->lanes));
		if (!t->lanes)
			return 0;
		p->lane_bytes += sizeof(*t->lanes);
	}
	for (lane = 0; lane < GT_PAIR_LANES && !lane_add(p, &t->lanes->lane[lane], start, end);
		lane++)
		;
	for (unsigned i = 0; !t->open.n && i < GT_PAIR_LANES; i++)
		t->lanes->lane[i].n = 0; /* all later calls begin after these */
	return lane;
}

static bool in_order(const struct track *t) { return t->backwards <= t->halves / 8; }

static int report_call(struct gt_pairing *p, const struct gt_half *begin, const struct gt_half *end,
	uint32_t below, struct gt_err *err)
{
	struct track *t = &p->tracks[begin->track];

	if (!in_order(t))
		return p->sink->call(p->arg, begin, end, 0, 0, err);
	return p->sink->call(p->arg, begin, end, lane_of(p, t, begin->time, end->time),
		depth_above(p, below, begin->time), err);
}

static int note_time(struct gt_pairing *p, const struct gt_half *h, struct gt_err *err)
{
	struct track *t;

	if (need_track(p, h->track))
		return no_memory(err);
	t = &p->tracks[h->track];
	t->halves++;
	t->backwards += h->time < t->latest;
	t->latest = h->time > t->latest ? h->time : t->latest;
	return 0;
}

static bool is_pair(const struct gt_half *begin, const struct gt_half *end)
{
	return begin->name == end->name && begin->time <= end->time;
}

int gt_pair_begin(struct gt_pairing *p, const struct gt_half *h, struct gt_err *err)
{
	uint64_t hash = hash_of(p, h);
	uint32_t s = look_up(p, h, hash);
	int r = note_time(p, h, err);

	if (r)
		return r;
	if (s == NIL || p->mode == GT_PAIR_NESTED)
		return wait_for_other(p, h, hash, false, err);
	if (!p->slots[s].is_end || !is_pair(h, &p->slots[s].half)) {
		r = report_waiting(p, s, err);
		return r ? r : wait_for_other(p, h, hash, false, err);
	}
	detach(p, s);
	r = report_call(p, h, &p->slots[s].half, p->tracks[h->track].open.newest, err);
	free_slot(p, s);
	return r;
}

int gt_pair_end(struct gt_pairing *p, const struct gt_half *h, struct gt_err *err)
{
	uint64_t hash = hash_of(p, h);
	uint32_t s = look_up(p, h, hash);
	int r = note_time(p, h, err);

	if (r)
		return r;
	if (s != NIL && !p->slots[s].is_end && is_pair(&p->slots[s].half, h)) {
		detach(p, s);
		r = report_call(p, &p->slots[s].half, h, p->slots[s].link[BY_TRACK].older, err);
		free_slot(p, s);
		return r;
	}
	if (p->mode == GT_PAIR_NESTED || (s != NIL && !p->slots[s].is_end))
		return report_unmatched(p, h, true, err);
	if (s != NIL)
		r = report_waiting(p, s, err);
	return r ? r : wait_for_other(p, h, hash, true, err);
}

bool gt_pair_is_open(const struct gt_pairing *p, uint64_t key, uint32_t scope)
{
	const struct gt_half h = { .key = key, .scope = scope };
	uint32_t s = look_up(p, &h, hash_of(p, &h));

	return s != NIL && !p->slots[s].is_end;
}

int gt_pair_each_open(struct gt_pairing *p, size_t most, struct gt_err *err)
{
	int r = 0;

	for (uint32_t s = p->begins.oldest; !r && s != NIL && most--;
		s = p->slots[s].link[BY_AGE].newer) {
		const struct gt_half *h = &p->slots[s].half;

		r = p->sink->open(p->arg, h,
			in_order(&p->tracks[h->track])
				? depth_above(p, p->slots[s].link[BY_TRACK].older, h->time)
				: 0,
			err);
	}
	return r;
}

int gt_pair_finish(struct gt_pairing *p, struct gt_err *err)
{
	int r = 0;

	while (!r && p->ends.n)
		r = report_oldest(p, &p->ends, err);
	return r;
}
