#include "analyze/critical/event_store_digest.h"

#include <string.h>
#include "analyze/critical/event_store.h"

#define SLOTS GT_EVENT_DIGEST_SLOTS
#define SUMS GT_EVENT_DIGEST_SUMS
#define FREE (UINT32_MAX - 1) /* not a type number */
/* the bits above ONE count the rows with a duration, those below add up the durations */
#define ONE (1ull << 48)

void gt_digest_begin(struct gt_digest_builder *a, int64_t before)
{
	a->ntypes = 0;
	a->longest = 0;
	a->gaps = a->longest_gap = 0;
	a->before = before;
	a->in_turn = before < INT64_MAX;
	a->failed = false;
	for (uint32_t i = 0; i < SLOTS; i++)
		a->owner[i] = FREE;
}

/* The slot of a type that is new or not in its first slot. SLOTS: there are too many types. */
static uint32_t find_slot(struct gt_digest_builder *a, uint32_t type)
{
	uint32_t at = type % SLOTS;

	for (; a->owner[at] != FREE; at = (at + 1) % SLOTS)
		if (a->owner[at] == type)
			return at;
	if (a->ntypes == GT_EVENT_DIGEST_TYPES)
		return SLOTS;
	a->slots[a->ntypes++] = (uint8_t)at;
	a->owner[at] = type;
	memset(a->sums[at], 0, sizeof(a->sums[at]));
	return at;
}

static bool add_types(struct gt_digest_builder *restrict a, const uint32_t *restrict types,
	const uint32_t *restrict took, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t type = types[i], at = type % SLOTS;

		if (__builtin_expect(a->owner[at] != type, 0) && (at = find_slot(a, type)) == SLOTS)
			return false;
		if (took[i])
			a->sums[at][i % SUMS] += ONE + took[i];
	}
	return true;
}

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static void add_gaps(
	struct gt_digest_builder *a, const uint32_t *since, const uint32_t *took, uint32_t n)
{
	int32_t longest = 0, sign = 0;
	uint32_t gaps = 0;

	for (uint32_t i = 0; i < n; i++) {
		int32_t gap = (int32_t)(since[i] - took[i]);

		sign |= gap;
		gaps += gap != 0;
		longest = larger(longest, gap);
	}
	a->gaps += gaps;
	a->longest_gap = (uint64_t)longest > a->longest_gap ? (uint64_t)longest : a->longest_gap;
	a->in_turn &= sign >= 0;
}

void gt_digest_add(struct gt_digest_builder *a, const struct gt_event_columns *rows, uint32_t from,
	uint32_t n, const uint32_t *since, const uint32_t *took)
{
	int64_t before = from ? rows->end[from - 1] : a->before;
	uint64_t gap = (uint64_t)rows->start[from] - (uint64_t)before;
	int32_t longest = a->longest;

	a->failed |= !since || !add_types(a, rows->type + from, took, n);
	if (a->failed)
		return;
	for (uint32_t i = 0; i < n; i++)
		longest = larger(longest, (int32_t)took[i]);
	a->longest = longest;
	a->gaps += gap > 0;
	a->longest_gap = gap > a->longest_gap ? gap : a->longest_gap;
	a->in_turn &= rows->start[from] >= before;
	add_gaps(a, since, took, n - 1);
}

static int64_t latest(const int64_t *end, uint32_t n)
{
	int64_t cover = INT64_MIN;

	for (uint32_t i = 0; i < n; i++)
		cover = end[i] > cover ? end[i] : cover;
	return cover;
}

void gt_digest_end(const struct gt_digest_builder *a, const struct gt_event_columns *rows,
	uint32_t n, struct gt_event_digest *g)
{
	uint64_t ns = 0;

	memset(g, 0, offsetof(struct gt_event_digest, types));
	g->before = a->before;
	g->start = rows->start[0];
	g->end = rows->end[n - 1];
	if (a->failed)
		return;
	g->ntypes = a->ntypes;
	for (uint32_t i = 0; i < a->ntypes; i++) {
		const uint64_t *sums = a->sums[a->slots[i]];
		uint64_t sum = 0;

		for (uint32_t k = 0; k < SUMS; k++)
			sum += sums[k];
		g->types[i] = (struct gt_event_digest_type){ a->owner[a->slots[i]],
			(uint32_t)(sum / ONE), sum % ONE };
		ns += sum % ONE;
	}
	g->in_turn = a->in_turn;
	g->cover = g->in_turn ? g->end : latest(rows->end, n);
	g->between = (uint64_t)g->end - (uint64_t)g->before - ns;
	g->gaps = a->gaps;
	g->longest = (uint64_t)a->longest;
	g->longest_gap = a->longest_gap;
}
