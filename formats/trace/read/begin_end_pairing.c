/* Halves that wait for their other half are slots of an array. Each slot is linked four ways: by
 * age (begins and ends separately) to find the oldest, by track to know the depth, by key in a hash
 * table, and, for nested pairing, to the next open begin of the same key. The usual pair needs one
 * insertion and one removal in the table, which stays small because few calls are open at a time.
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
	uint64_t *args;
	uint32_t args_cap;
	/* among the begins or among the ends; newer also links free slots */
	uint32_t older, newer;
	uint32_t below, above; /* begins open on the track */
	/* nested: the earlier and the later open begin of the same key */
	uint32_t outer, inner;
	bool is_end;
};
struct age {
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
	uint32_t top, open;
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
	struct age begins, ends;
	uint32_t *table, mask; /* slot + 1, 0 is free; linear probing */
	uint64_t seed;         /* so that no file can choose keys that all have the same hash */
	struct track *tracks;
	size_t ntracks, tracks_cap;
	size_t args_bytes, lane_bytes;
	uint64_t unmatched;
};

static int no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "no memory to pair begins with ends");
}

struct gt_pairing *gt_pair_new(
	enum gt_pair_mode mode, const struct gt_pair_sink *sink, void *arg, struct gt_err *err)
{
	struct gt_pairing *p = calloc(1, sizeof(*p));

	if (!p || !(p->table = calloc(256, sizeof(*p->table)))) {
		free(p);
		no_memory(err);
		return NULL;
	}
	p->mask = 255;
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
	free(p->table);
	free(p);
}

uint64_t gt_pair_unmatched(const struct gt_pairing *p) { return p->unmatched; }

/* ---- the hash table ---- */

static uint32_t home(const struct gt_pairing *p, const struct gt_half *h)
{
	return (uint32_t)gt_hash_u64(p->seed + h->key + h->scope * 0x9e3779b97f4a7c15ULL) & p->mask;
}

/* The index in the table of this key, or of the free entry for it. */
static uint32_t look_up(const struct gt_pairing *p, const struct gt_half *h)
{
	uint32_t i = home(p, h);

	for (; p->table[i]; i = (i + 1) & p->mask) {
		const struct gt_half *other = &p->slots[p->table[i] - 1].half;

		if (other->key == h->key && other->scope == h->scope)
			break;
	}
	return i;
}

/* Frees entry i: moves later entries of its probe sequence back (backward-shift deletion). */
static void table_remove(struct gt_pairing *p, uint32_t i)
{
	uint32_t j = i;

	for (;;) {
		p->table[i] = 0;
		do {
			j = (j + 1) & p->mask;
			if (!p->table[j])
				return;
			/* an entry must not move before its home */
		} while (((j - home(p, &p->slots[p->table[j] - 1].half)) & p->mask) <
			((j - i) & p->mask));
		p->table[i] = p->table[j];
		i = j;
	}
}

static int table_widen(struct gt_pairing *p)
{
	uint32_t *old = p->table, n = p->mask + 1, *wider = calloc(n * 2, sizeof(*wider));

	if (!wider)
		return -ENOMEM;
	p->table = wider;
	p->mask = n * 2 - 1;
	for (uint32_t i = 0; i < n; i++)
		if (old[i])
			p->table[look_up(p, &p->slots[old[i] - 1].half)] = old[i];
	free(old);
	return 0;
}

/* ---- slots and their chains ---- */

static void age_push(struct gt_pairing *p, struct age *a, uint32_t s)
{
	p->slots[s].older = a->newest;
	p->slots[s].newer = NIL;
	if (a->newest != NIL)
		p->slots[a->newest].newer = s;
	else
		a->oldest = s;
	a->newest = s;
	a->n++;
}

static void age_drop(struct gt_pairing *p, struct age *a, const struct slot *s)
{
	*(s->older != NIL ? &p->slots[s->older].newer : &a->oldest) = s->newer;
	*(s->newer != NIL ? &p->slots[s->newer].older : &a->newest) = s->older;
	a->n--;
}

static void track_push(struct gt_pairing *p, uint32_t s)
{
	struct track *t = &p->tracks[p->slots[s].half.track];

	p->slots[s].below = t->top;
	p->slots[s].above = NIL;
	if (t->top != NIL)
		p->slots[t->top].above = s;
	t->top = s;
	t->open++;
}

static void track_drop(struct gt_pairing *p, const struct slot *s)
{
	struct track *t = &p->tracks[s->half.track];

	*(s->above != NIL ? &p->slots[s->above].below : &t->top) = s->below;
	if (s->below != NIL)
		p->slots[s->below].above = s->above;
	t->open--;
}

static int need_track(struct gt_pairing *p, uint32_t track)
{
	if (track < p->ntracks)
		return 0;
	if (gt_grow(&p->tracks, &p->tracks_cap, (size_t)track + 1, sizeof(*p->tracks)))
		return -ENOMEM;
	for (; p->ntracks <= track; p->ntracks++)
		p->tracks[p->ntracks] = (struct track){ .top = NIL, .latest = INT64_MIN };
	return 0;
}

static int keep_args(struct gt_pairing *p, struct slot *s, const struct gt_half *h)
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
static int take_slot(struct gt_pairing *p, const struct gt_half *h, bool is_end, uint32_t *slot)
{
	uint32_t s = p->free;

	if (s != NIL) {
		p->free = p->slots[s].newer;
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
	return keep_args(p, &p->slots[s], h);
}

static void give_slot(struct gt_pairing *p, uint32_t s)
{
	struct slot *slot = &p->slots[s];

	if (slot->args_cap > KEEP_ARGS) {
		p->args_bytes -= slot->args_cap * sizeof(*slot->args);
		free(slot->args);
		slot->args = NULL;
		slot->args_cap = 0;
	}
	slot->newer = p->free;
	p->free = s;
}

/* Removes the half at index `at` of the table from all lists. The caller must free its slot. */
static uint32_t detach(struct gt_pairing *p, uint32_t at)
{
	uint32_t s = p->table[at] - 1;
	struct slot *slot = &p->slots[s];

	if (slot->outer != NIL) {
		p->table[at] = slot->outer + 1;
		p->slots[slot->outer].inner = NIL;
	} else {
		table_remove(p, at);
	}
	age_drop(p, slot->is_end ? &p->ends : &p->begins, slot);
	if (!slot->is_end)
		track_drop(p, slot);
	return s;
}

static int hand_unmatched(
	struct gt_pairing *p, const struct gt_half *h, bool is_end, struct gt_err *err)
{
	p->unmatched++;
	return p->sink->unmatched(p->arg, h, is_end, err);
}

/* Reports the half at index `at` of the table as unmatched. */
static int give_up(struct gt_pairing *p, uint32_t at, struct gt_err *err)
{
	uint32_t s = detach(p, at);
	int r = hand_unmatched(p, &p->slots[s].half, p->slots[s].is_end, err);

	give_slot(p, s);
	return r;
}

/* Reports the oldest half of this list as unmatched. Nested, the table may hold a
 * later begin of its key; then the table does not change. */
static int give_up_oldest(struct gt_pairing *p, const struct age *a, struct gt_err *err)
{
	uint32_t s = a->oldest;
	struct slot *slot = &p->slots[s];
	int r;

	if (slot->inner == NIL)
		return give_up(p, look_up(p, &slot->half), err);
	p->slots[slot->inner].outer = NIL; /* the oldest has no earlier one */
	age_drop(p, &p->begins, slot);
	track_drop(p, slot);
	r = hand_unmatched(p, &slot->half, false, err);
	give_slot(p, s);
	return r;
}

/* Stores this half until its other half comes. It replaces an open begin of the same key in the
 * table (nested). */
static int wait_for_other(
	struct gt_pairing *p, const struct gt_half *h, bool is_end, struct gt_err *err)
{
	struct age *a = is_end ? &p->ends : &p->begins;
	uint32_t s, at;
	int r = 0;

	if (p->begins.n + p->ends.n >= (p->mask + 1) / 2 && table_widen(p))
		return no_memory(err);
	if (take_slot(p, h, is_end, &s))
		return no_memory(err);
	at = look_up(p, h);
	if (p->table[at]) {
		p->slots[s].outer = p->table[at] - 1;
		p->slots[p->table[at] - 1].inner = s;
	}
	p->table[at] = s + 1;
	age_push(p, a, s);
	if (!is_end)
		track_push(p, s);
	while (!r && a->n > (is_end ? GT_PAIR_ENDS : GT_PAIR_BEGINS))
		r = give_up_oldest(p, a, err);
	while (!r && p->args_bytes > GT_PAIR_ARGS && p->begins.n + p->ends.n > 1)
		r = give_up_oldest(p, p->begins.n ? &p->begins : &p->ends, err);
	return r;
}

/* ---- calls ---- */

static uint8_t depth_above(const struct gt_pairing *p, uint32_t s, int64_t start)
{
	uint8_t depth = 0;

	for (unsigned i = 0; s != NIL && i < DEPTH_MAX; s = p->slots[s].below, i++)
		depth += p->slots[s].half.time <= start;
	return depth;
}

/* Stores the call on this lane unless it partly overlaps a finished call there. true: stored. */
static bool lane_take(struct gt_pairing *p, struct lane *l, int64_t start, int64_t end)
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
		if (!t->open || p->lane_bytes >= GT_PAIR_LANE_BYTES)
			return 0;
		t->lanes = calloc(1, sizeof(*t->lanes));
		if (!t->lanes)
			return 0;
		p->lane_bytes += sizeof(*t->lanes);
	}
	for (lane = 0; lane < GT_PAIR_LANES && !lane_take(p, &t->lanes->lane[lane], start, end);
		lane++)
		;
	for (unsigned i = 0; !t->open && i < GT_PAIR_LANES; i++)
		t->lanes->lane[i].n = 0; /* all later calls begin after these */
	return lane;
}

static bool in_order(const struct track *t) { return t->backwards <= t->halves / 8; }

static int hand_call(struct gt_pairing *p, const struct gt_half *begin, const struct gt_half *end,
	uint32_t below, struct gt_err *err)
{
	struct track *t = &p->tracks[begin->track];

	if (!in_order(t))
		return p->sink->call(p->arg, begin, end, 0, 0, err);
	return p->sink->call(p->arg, begin, end, lane_of(p, t, begin->time, end->time),
		depth_above(p, below, begin->time), err);
}

static int saw(struct gt_pairing *p, const struct gt_half *h, struct gt_err *err)
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

static bool belong(const struct gt_half *begin, const struct gt_half *end)
{
	return begin->name == end->name && begin->time <= end->time;
}

int gt_pair_begin(struct gt_pairing *p, const struct gt_half *h, struct gt_err *err)
{
	uint32_t at = look_up(p, h), s = p->table[at] - 1;
	int r = saw(p, h, err);

	if (r)
		return r;
	if (s == NIL || p->mode == GT_PAIR_NESTED)
		return wait_for_other(p, h, false, err);
	if (!p->slots[s].is_end || !belong(h, &p->slots[s].half)) {
		r = give_up(p, at, err);
		return r ? r : wait_for_other(p, h, false, err);
	}
	detach(p, at);
	r = hand_call(p, h, &p->slots[s].half, p->tracks[h->track].top, err);
	give_slot(p, s);
	return r;
}

int gt_pair_end(struct gt_pairing *p, const struct gt_half *h, struct gt_err *err)
{
	uint32_t at = look_up(p, h), s = p->table[at] - 1;
	int r = saw(p, h, err);

	if (r)
		return r;
	if (s != NIL && !p->slots[s].is_end && belong(&p->slots[s].half, h)) {
		detach(p, at);
		r = hand_call(p, &p->slots[s].half, h, p->slots[s].below, err);
		give_slot(p, s);
		return r;
	}
	if (p->mode == GT_PAIR_NESTED || (s != NIL && !p->slots[s].is_end))
		return hand_unmatched(p, h, true, err);
	if (s != NIL)
		r = give_up(p, at, err);
	return r ? r : wait_for_other(p, h, true, err);
}

bool gt_pair_is_open(const struct gt_pairing *p, uint64_t key, uint32_t scope)
{
	uint32_t s = p->table[look_up(p, &(struct gt_half){ .key = key, .scope = scope })];

	return s && !p->slots[s - 1].is_end;
}

int gt_pair_each_open(struct gt_pairing *p, size_t most, struct gt_err *err)
{
	int r = 0;

	for (uint32_t s = p->begins.oldest; !r && s != NIL && most--; s = p->slots[s].newer) {
		const struct gt_half *h = &p->slots[s].half;

		r = p->sink->open(p->arg, h,
			in_order(&p->tracks[h->track]) ? depth_above(p, p->slots[s].below, h->time)
						       : 0,
			err);
	}
	return r;
}

int gt_pair_finish(struct gt_pairing *p, struct gt_err *err)
{
	int r = 0;

	while (!r && p->ends.n)
		r = give_up_oldest(p, &p->ends, err);
	return r;
}
