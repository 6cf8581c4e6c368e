#include "analyze/link_gist.h"

#include <string.h>
#include "analyze/link_pack.h"

#define SLOTS 256u		/* of types, by their last bits; most numbers of types are small and dense */
#define NS_MAX (1ull << 48)	/* of a row: then times of a chunk can be added up */

struct adding {
	struct gt_link_gist *g;
	uint8_t slots[SLOTS];	/* 1 + index of a type */
};

/* NULL: there are too many. */
static struct gt_link_gist_type *of_type(struct adding *a, uint32_t type)
{
	uint32_t at = type % SLOTS;

	for (; a->slots[at]; at = (at + 1) % SLOTS)
		if (a->g->types[a->slots[at] - 1].type == type)
			return &a->g->types[a->slots[at] - 1];
	if (a->g->ntypes == GT_LINK_GIST_TYPES)
		return NULL;
	a->slots[at] = (uint8_t)++a->g->ntypes;
	a->g->types[a->g->ntypes - 1] = (struct gt_link_gist_type){ .type = type };
	return &a->g->types[a->g->ntypes - 1];
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* False: too many types. */
static bool add_types(const uint8_t *records, uint32_t n, struct gt_link_gist *g)
{
	struct adding a = { .g = g };
	struct gt_link_gist_type *to = NULL;
	uint64_t longest = 0, ns = 0, some = 0;
	uint32_t type = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct gt_link one;
		uint64_t took;

		memcpy(&one, records + i * GT_LINK_BYTES, GT_LINK_BYTES);
		took = (uint64_t)one.end - (uint64_t)one.start;
		if (!to || type != one.type) {
			if (to) {
				to->ns += ns;
				to->n += (uint32_t)some;
			}
			to = of_type(&a, type = one.type);
			if (!to)
				return false;
			ns = some = 0;
		}
		ns += took;
		some += took > 0;
		longest = larger(longest, took);
	}
	to->ns += ns;
	to->n += (uint32_t)some;
	g->longest = longest;
	return longest < NS_MAX;
}

static void add_gaps(const uint8_t *records, uint32_t n, struct gt_link_gist *g)
{
	uint64_t between = 0, gaps = 0, longest = 0;
	int64_t before = g->before, cover = INT64_MIN;
	bool in_turn = before < INT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		struct gt_link one;
		uint64_t gap;

		memcpy(&one, records + i * GT_LINK_BYTES, GT_LINK_BYTES);
		gap = (uint64_t)one.start - (uint64_t)before;
		in_turn &= one.start >= before && one.end >= one.start;
		between += gap;
		gaps += gap > 0;
		longest = larger(longest, gap);
		before = one.end;
		cover = one.end > cover ? one.end : cover;
	}
	memcpy(&g->start, records, sizeof(g->start));	/* it stands first */
	g->end = before;
	g->cover = cover;
	g->between = between;
	g->gaps = gaps;
	g->longest_gap = longest;
	g->in_turn = in_turn;
}

void gt_link_gist(const uint8_t *records, uint32_t n, int64_t before, struct gt_link_gist *g)
{
	memset(g, 0, offsetof(struct gt_link_gist, types));
	g->before = before;
	add_gaps(records, n, g);
	if (!add_types(records, n, g))
		g->ntypes = 0;
}
