#include "analyze/link_gist.h"

#include <string.h>
#include "analyze/link_store.h"

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
static bool add_types(const struct gt_link_cols *rows, uint32_t n, struct gt_link_gist *g)
{
	const int64_t *start = rows->start, *end = rows->end;
	struct adding a = { .g = g };
	struct gt_link_gist_type *to = NULL;
	uint64_t longest = 0, ns = 0, some = 0;
	uint32_t type = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t took = (uint64_t)end[i] - (uint64_t)start[i];

		if (!to || type != rows->type[i]) {
			if (to) {
				to->ns += ns;
				to->n += (uint32_t)some;
			}
			to = of_type(&a, type = rows->type[i]);
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

static void add_gaps(const struct gt_link_cols *rows, uint32_t n, struct gt_link_gist *g)
{
	uint64_t between = 0, gaps = 0, longest = 0;
	int64_t before = g->before, cover = INT64_MIN;
	bool in_turn = before < INT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		int64_t start = rows->start[i], end = rows->end[i];
		uint64_t gap = (uint64_t)start - (uint64_t)before;

		in_turn &= start >= before && end >= start;
		between += gap;
		gaps += gap > 0;
		longest = larger(longest, gap);
		before = end;
		cover = end > cover ? end : cover;
	}
	g->start = rows->start[0];
	g->end = before;
	g->cover = cover;
	g->between = between;
	g->gaps = gaps;
	g->longest_gap = longest;
	g->in_turn = in_turn;
}

void gt_link_gist(const struct gt_link_cols *rows, uint32_t n, int64_t before, struct gt_link_gist *g)
{
	memset(g, 0, offsetof(struct gt_link_gist, types));
	g->before = before;
	add_gaps(rows, n, g);
	if (!add_types(rows, n, g))
		g->ntypes = 0;
}
