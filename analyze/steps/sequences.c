/* If nothing repeats, nearly each launch ends six new sequences that never occur again. They are
 * stored as one chain: the launches of the longest of them. A sequence that occurs a second time
 * gets its own entry in the list, the shortest first; the chain keeps the longer ones.
 *
 * Lookups read random places in several MiB. So a launch is counted only after a few more launches,
 * and its memory is prefetched meanwhile: first the slots of the map, then the entries. */
#include "analyze/steps/sequences.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/aggregate.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define SHORTEST GT_SEQUENCE_SHORTEST
#define LONGEST GT_SEQUENCE_LONGEST

/* sequences of n to `most` launches that occurred once; each ends the next longer one */
struct gt_sequence_chain {
	uint32_t stream, n, most;
	struct gt_sequence_tail tail; /* of the stream at their end */
};
#define CHAIN (1u << 31)                  /* marks the number of a chain in the map */
#define CHAINS_MAX (GT_SEQUENCES_MAX / 4) /* 7 MiB */

static bool same_chain(const struct gt_sequence_chain *have, const struct gt_sequence *want)
{
	bool same = have->stream == want->stream && have->n == want->n;

	for (uint32_t i = 1; same && i <= have->n; i++)
		same = have->tail.names[(have->tail.n - i) % LONGEST] == want->names[LONGEST - i];
	return same;
}

static bool same_sequence(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_sequences *q = arg;
	const struct gt_sequence *have, *want = key;

	if (value & CHAIN)
		return same_chain(&q->chains[value & ~CHAIN], want);
	have = &q->list[value];
	return have->stream == want->stream && have->n == want->n &&
		!memcmp(have->names + LONGEST - have->n, want->names + LONGEST - want->n,
			want->n * sizeof(*want->names));
}

/* From the last name to the first, so that the hash of a longer sequence extends the hash of a
 * shorter one. */
static inline uint64_t hash_on(uint64_t hash, uint32_t name)
{
	hash = (hash ^ (name + 1ull)) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* Adds the launch before the first one. Returns the hash. */
static uint64_t longer(
	struct gt_sequence *one, const struct gt_sequence_tail *stream, uint64_t hash)
{
	uint64_t at = (stream->n - ++one->n) % LONGEST;

	one->names[LONGEST - one->n] = stream->names[at];
	one->call_ns = gt_sat_add(one->call_ns, stream->call_ns[at]);
	one->first = stream->n - one->n;
	one->first_at = stream->at[at];
	return hash_on(hash, stream->names[at]);
}

static uint64_t hash_of(const struct gt_sequence *s)
{
	uint64_t hash = s->stream;

	for (uint32_t i = 1; i <= s->n; i++)
		hash = hash_on(hash, s->names[LONGEST - i]);
	return hash;
}

/* Drops sequences that occurred once. Those that survived before stay. 0 or -ENOMEM. */
static int allocate(struct gt_sequences *q)
{
	size_t kept = q->nsettled;

	for (size_t i = kept; i < q->nlist; i++)
		if (q->list[i].count > 1) {
			q->list[kept] = q->list[i];
			if (gt_map_add(&q->settled, hash_of(&q->list[kept]), (uint32_t)kept))
				return -ENOMEM;
			kept++;
		}
	q->forgotten += q->n - kept;
	q->n = q->nlist = q->nsettled = kept;
	q->nchains = 0;
	q->crowded = kept > GT_SEQUENCES_MAX / 4 * 3;
	gt_map_clear(&q->map);
	return 0;
}

static uint32_t find(const struct gt_sequences *q, const struct gt_sequence *one, uint64_t hash)
{
	uint32_t i = gt_map_get(&q->settled, hash, same_sequence, q, one, sizeof(*one));

	return i != UINT32_MAX ? i : gt_map_get(&q->map, hash, same_sequence, q, one, sizeof(*one));
}

/* Adds a new sequence, and each longer one that ends with it. */
static int add_new(struct gt_sequences *q, const struct gt_sequence_tail *stream,
	struct gt_sequence *one, uint64_t hash)
{
	uint64_t before = stream->n - stream->since;
	uint32_t more = (before < LONGEST ? (uint32_t)before : LONGEST) - one->n + 1;
	size_t room = GT_SEQUENCES_MAX - q->n;

	q->missed += more > room ? more - room : 0;
	more = more > room ? (uint32_t)room : more;
	q->n += more;
	if (more && q->nchains < CHAINS_MAX) {
		if (gt_grow(&q->chains, &q->chains_cap, q->nchains + 1, sizeof(*q->chains)))
			return -ENOMEM;
		q->chains[q->nchains] = (struct gt_sequence_chain){ one->stream, one->n,
			one->n + more - 1, *stream };
		return gt_map_add(&q->map, hash, CHAIN | (uint32_t)q->nchains++);
	}
	for (; more; more--) {
		if (gt_grow(&q->list, &q->cap, q->nlist + 1, sizeof(*q->list)) ||
			gt_map_add(&q->map, hash, (uint32_t)q->nlist))
			return -ENOMEM;
		q->list[q->nlist++] = *one;
		if (more > 1)
			hash = longer(one, stream, hash);
	}
	return 0;
}

/* Gives the shortest sequence of a chain its own entry. Its index, or UINT32_MAX: no memory. */
static uint32_t add_from_chain(struct gt_sequences *q, uint32_t number, uint64_t hash)
{
	struct gt_sequence_chain *c = &q->chains[number & ~CHAIN];
	struct gt_sequence one = { .stream = c->stream, .count = 1, .end = c->tail.n };
	uint64_t next = c->stream;

	if (gt_grow(&q->list, &q->cap, q->nlist + 1, sizeof(*q->list)))
		return UINT32_MAX;
	while (one.n < c->n)
		next = longer(&one, &c->tail, next);
	q->list[q->nlist] = one;
	gt_map_set(&q->map, hash, number, (uint32_t)q->nlist);
	if (c->n++ < c->most && gt_map_add(&q->map, longer(&one, &c->tail, next), number))
		return UINT32_MAX;
	return (uint32_t)q->nlist++;
}

/* The last launch ends a sequence of each length. If one of them is new, all longer ones are new: a
 * longer one occurs at most as often as the shorter one that it ends with. 0 or -ENOMEM. */
static int count(struct gt_sequences *q, const struct gt_sequence_end *e)
{
	const struct gt_sequence_tail *stream = &e->tail;
	struct gt_sequence one = { .stream = e->stream, .count = 1, .end = stream->n };
	uint32_t name = stream->names[(stream->n - 1) % LONGEST];
	uint64_t hash = e->stream;
	bool alike = true;

	if (q->n + LONGEST > GT_SEQUENCES_MAX && !q->crowded && allocate(q))
		return -ENOMEM;
	while (one.n < LONGEST && stream->n - stream->since > one.n) {
		struct gt_sequence *have;
		uint32_t i;

		hash = longer(&one, stream, hash);
		alike &= one.names[LONGEST - one.n] == name;
		if (one.n < SHORTEST || alike)
			continue;
		i = find(q, &one, hash);
		if (i == UINT32_MAX)
			return add_new(q, stream, &one, hash);
		if (i & CHAIN && (i = add_from_chain(q, i, hash)) == UINT32_MAX)
			return -ENOMEM;
		have = &q->list[i];
		if (one.first >= have->end) {
			have->count++;
			have->end = stream->n;
			have->call_ns = gt_sat_add(have->call_ns, one.call_ns);
		}
	}
	return 0;
}

/* Prefetches the slots of the two shortest sequences: if nothing repeats, only these are looked up.
 */
static void fetch_places(const struct gt_sequences *q, struct gt_sequence_end *e)
{
	const struct gt_sequence_tail *t = &e->tail;
	uint32_t name = t->names[(t->n - 1) % LONGEST];
	uint64_t hash = e->stream;
	bool alike = true;

	e->known = false;
	for (uint32_t n = 1, fetched = 0; n <= LONGEST && n <= t->n - t->since && fetched < 2;
		n++) {
		uint32_t before = t->names[(t->n - n) % LONGEST];

		hash = hash_on(hash, before);
		alike &= before == name;
		if (n < SHORTEST || alike)
			continue;
		if (!fetched++)
			e->hash = hash;
		e->known = true;
		gt_map_fetch(&q->settled, hash);
		gt_map_fetch(&q->map, hash);
	}
}

/* Prefetches the entry of the shortest sequence: if it is new, the longer ones have none. */
static void fetch_sequence(const struct gt_sequences *q, const struct gt_sequence_end *e)
{
	uint32_t value = e->known ? gt_map_first(&q->settled, e->hash) : UINT32_MAX;
	const char *at;

	if (value == UINT32_MAX && e->known)
		value = gt_map_first(&q->map, e->hash);
	if (value == UINT32_MAX)
		return;
	at = value & CHAIN ? (const char *)&q->chains[value & ~CHAIN]
			   : (const char *)&q->list[value];
	__builtin_prefetch(at);
	__builtin_prefetch(at + 64);
}

static inline void push(struct gt_sequence_tail *t, const struct gt_sequence_launch *launch)
{
	uint64_t at = t->n++ % LONGEST;

	t->names[at] = launch->name;
	t->at[at] = launch->at;
	t->call_ns[at] = launch->call_ns;
}

int gt_sequences_add(struct gt_sequences *q, struct gt_sequence_tail *stream, uint32_t number,
	const struct gt_sequence_launch *launch, struct gt_err *err)
{
	struct gt_sequence_end *e = &q->ends[q->nends % GT_SEQUENCE_ENDS];

	if (q->nends - q->counted == GT_SEQUENCE_ENDS &&
		count(q, &q->ends[q->counted++ % GT_SEQUENCE_ENDS]))
		return gt_err_set(err, -ENOMEM, "out of memory (sequences)");
	e->stream = number;
	e->tail = *stream; /* reading data that was just written would stall */
	push(&e->tail, launch);
	push(stream, launch);
	fetch_places(q, e);
	if (++q->nends - q->counted > GT_SEQUENCE_ENDS / 2)
		fetch_sequence(q, &q->ends[(q->counted + GT_SEQUENCE_ENDS / 2) % GT_SEQUENCE_ENDS]);
	return 0;
}

/* ---- selection ---- */

static int by_covered(const void *pa, const void *pb)
{
	const struct gt_sequence *a = pa, *b = pb;

	return GT_COMPARE(b->count * b->n, a->count * a->n) ?:
		GT_COMPARE(a->n, b->n) ?:
		GT_COMPARE(a->stream, b->stream) ?:
		GT_COMPARE(a->first, b->first);
}

/* Is it a shorter one repeated? Two names that alternate are too short for a sequence, so they are
 * one of four launches. */
static bool repeats(const struct gt_sequence *s)
{
	const uint32_t *names = s->names + LONGEST - s->n;

	for (uint32_t period = SHORTEST; period <= s->n / 2; period++)
		if (s->n % period == 0 &&
			!memcmp(names, names + period, (s->n - period) * sizeof(*names)))
			return true;
	return false;
}

/* parts of three launches of the selected sequences */
struct listed {
	const struct gt_sequence *list;
	struct gt_map map;
};

static uint64_t hash_part(const struct gt_sequence *part)
{
	return gt_hash(part->names, SHORTEST * sizeof(*part->names)) ^ part->stream;
}

/* The three names from the k-th on; the first follows the last, as if the sequence is repeated. */
static struct gt_sequence part_of(const struct gt_sequence *s, uint32_t k)
{
	struct gt_sequence part = { .stream = s->stream };

	for (uint32_t i = 0; i < SHORTEST; i++)
		part.names[i] = s->names[LONGEST - s->n + (k + i) % s->n];
	return part;
}

static bool same_part(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_sequence have = part_of(
					 &((const struct listed *)arg)->list[value / LONGEST],
					 value % LONGEST),
				 *want = key;

	return have.stream == want->stream &&
		!memcmp(have.names, want->names, SHORTEST * sizeof(*want->names));
}

/* Is no part of sequence i listed? Then lists its parts. 1, 0 or -ENOMEM. */
static int is_new(struct listed *l, uint32_t i)
{
	const struct gt_sequence *s = &l->list[i];

	for (uint32_t k = 0; k + SHORTEST <= s->n; k++) {
		struct gt_sequence part = part_of(s, k);

		if (gt_map_get(&l->map, hash_part(&part), same_part, l, &part, sizeof(part)) !=
			UINT32_MAX)
			return 0;
	}
	for (uint32_t k = 0; k < s->n; k++) {
		struct gt_sequence part = part_of(s, k);

		if (gt_map_add(&l->map, hash_part(&part), i * LONGEST + k))
			return -ENOMEM;
	}
	return 1;
}

int gt_sequences_select(struct gt_sequences *q, struct gt_err *err)
{
	struct listed listed = { .list = NULL };
	size_t n;
	int rc = 0;

	while (!rc && q->counted < q->nends)
		rc = count(q, &q->ends[q->counted++ % GT_SEQUENCE_ENDS]);
	listed.list = q->list;
	n = q->nlist; /* sequences in chains occurred once */
	GT_SORT(q->list, n, by_covered);
	q->n = 0;
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		if (q->list[i].count < 2 || repeats(&q->list[i]))
			continue;
		q->list[q->n] = q->list[i];
		rc = is_new(&listed, (uint32_t)q->n);
		q->n += rc > 0;
	}
	gt_map_release(&listed.map);
	return rc < 0 ? gt_err_set(err, rc, "out of memory (sequences)") : 0;
}

void gt_sequences_release(struct gt_sequences *q)
{
	free(q->list);
	free(q->chains);
	gt_map_release(&q->settled);
	gt_map_release(&q->map);
}
