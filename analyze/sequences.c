#include "analyze/sequences.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/fold.h"
#include "formats/base/buf.h"

#define SHORTEST GT_SEQUENCE_SHORTEST
#define LONGEST GT_SEQUENCE_LONGEST

static bool same_sequence(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_sequence *have = &((const struct gt_sequences *)arg)->list[value], *want = key;

	return have->stream == want->stream && have->n == want->n &&
	       !memcmp(have->names + LONGEST - have->n, want->names + LONGEST - want->n, want->n * sizeof(*want->names));
}

/* From the last name to the first, so that a longer one goes on where the shorter one ends. */
static uint64_t hash_on(uint64_t hash, uint32_t name) { return gt_hash_u64(hash ^ (name + 1ull)); }

static uint64_t hash_of(const struct gt_sequence *s)
{
	uint64_t hash = s->stream;

	for (unsigned i = 1; i <= s->n; i++)
		hash = hash_on(hash, s->names[LONGEST - i]);
	return hash;
}

/* Forgets what was met only once. 0 or -ENOMEM. */
static int make_room(struct gt_sequences *q)
{
	size_t kept = 0;

	for (size_t i = 0; i < q->n; i++)
		if (q->list[i].count > 1)
			q->list[kept++] = q->list[i];
	q->forgotten += q->n - kept;
	q->n = kept;
	q->crowded = kept > GT_SEQUENCES_MAX / 4 * 3;
	gt_map_release(&q->map);
	for (size_t i = 0; i < kept; i++)
		if (gt_map_add(&q->map, hash_of(&q->list[i]), (uint32_t)i))
			return -ENOMEM;
	return 0;
}

static int add_sequence(struct gt_sequences *q, const struct gt_sequence *one, uint64_t hash)
{
	if (q->n == GT_SEQUENCES_MAX && !q->crowded && make_room(q))
		return -ENOMEM;
	if (q->n == GT_SEQUENCES_MAX) {
		q->missed++;
		return 0;
	}
	if (gt_grow(&q->list, &q->cap, q->n + 1, sizeof(*q->list)) || gt_map_add(&q->map, hash, (uint32_t)q->n))
		return -ENOMEM;
	q->list[q->n++] = *one;
	return 0;
}

/* The launch that came last ends a sequence of each length. */
int gt_sequences_add(struct gt_sequences *q, struct gt_sequence_tail *stream, uint32_t number, const struct gt_sequence_launch *launch,
		     struct gt_err *err)
{
	struct gt_sequence one = { .stream = number, .count = 1, .end = stream->n + 1 };
	uint64_t hash = number;
	bool alike = true;
	int rc = 0;

	stream->last[stream->n++ % LONGEST] = *launch;
	for (one.n = 1; !rc && one.n <= LONGEST && stream->n - stream->since >= one.n; one.n++) {
		const struct gt_sequence_launch *l = &stream->last[(stream->n - one.n) % LONGEST];
		struct gt_sequence *have;
		uint32_t i;

		one.names[LONGEST - one.n] = l->name;
		one.call_ns = gt_sat_add(one.call_ns, l->call_ns);
		one.first = stream->n - one.n;
		one.first_at = l->at;
		hash = hash_on(hash, l->name);
		alike &= l->name == launch->name;
		if (one.n < SHORTEST || alike)
			continue;
		i = gt_map_get(&q->map, hash, same_sequence, q, &one, sizeof(one));
		have = i == UINT32_MAX ? NULL : &q->list[i];
		if (!have) {
			rc = add_sequence(q, &one, hash);
		} else if (one.first >= have->end) {
			have->count++;
			have->end = stream->n;
			have->call_ns = gt_sat_add(have->call_ns, one.call_ns);
		}
	}
	return rc ? gt_err_set(err, rc, "no memory for the sequences") : 0;
}

/* ---- those that say something new ---- */

static int by_covered(const void *pa, const void *pb)
{
	const struct gt_sequence *a = pa, *b = pb;

	if (a->count * a->n != b->count * b->n)
		return a->count * a->n < b->count * b->n ? 1 : -1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* Is it a shorter one repeated? Two that take turns are no sequence themselves, so they are one of four. */
static bool repeats(const struct gt_sequence *s)
{
	const uint32_t *names = s->names + LONGEST - s->n;

	for (uint32_t period = SHORTEST; period <= s->n / 2; period++)
		if (s->n % period == 0 && !memcmp(names, names + period, (s->n - period) * sizeof(*names)))
			return true;
	return false;
}

struct listed { const struct gt_sequence *list; struct gt_map map; };	/* parts of three launches of what is listed */

static uint64_t hash_part(const struct gt_sequence *part)
{
	return gt_hash(part->names, SHORTEST * sizeof(*part->names)) ^ part->stream;
}

/* The three names from the k-th on; behind the last one stands the first, as it does where the sequence comes again at once. */
static struct gt_sequence part_of(const struct gt_sequence *s, uint32_t k)
{
	struct gt_sequence part = { .stream = s->stream };

	for (uint32_t i = 0; i < SHORTEST; i++)
		part.names[i] = s->names[LONGEST - s->n + (k + i) % s->n];
	return part;
}

static bool same_part(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_sequence have = part_of(&((const struct listed *)arg)->list[value / LONGEST], value % LONGEST), *want = key;

	return have.stream == want->stream && !memcmp(have.names, want->names, SHORTEST * sizeof(*want->names));
}

/* Sequence i is new if no part of it is listed; then its parts are. 1, 0 or -ENOMEM. */
static int is_new(struct listed *l, uint32_t i)
{
	const struct gt_sequence *s = &l->list[i];

	for (uint32_t k = 0; k + SHORTEST <= s->n; k++) {
		struct gt_sequence part = part_of(s, k);

		if (gt_map_get(&l->map, hash_part(&part), same_part, l, &part, sizeof(part)) != UINT32_MAX)
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
	struct listed listed = { .list = q->list };
	size_t n = q->n;
	int rc = 0;

	if (n)
		qsort(q->list, n, sizeof(*q->list), by_covered);
	q->n = 0;
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		if (q->list[i].count < 2 || repeats(&q->list[i]))
			continue;
		q->list[q->n] = q->list[i];
		rc = is_new(&listed, (uint32_t)q->n);
		q->n += rc > 0;
	}
	gt_map_release(&listed.map);
	return rc < 0 ? gt_err_set(err, rc, "no memory for the sequences") : 0;
}

void gt_sequences_release(struct gt_sequences *q)
{
	free(q->list);
	gt_map_release(&q->map);
}
