/* A digest of a chunk of the event store: the time of each type, and, if no row overlaps the one
 * before it, the time between rows. It replaces reading the rows where only sums are needed. */
#ifndef GT_EVENT_DIGEST_H
#define GT_EVENT_DIGEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_EVENT_DIGEST_TYPES 64u

struct gt_event_digest {
	/* end of the row before the chunk, start of the first row, end of the last row */
	int64_t before, start, end;
	int64_t cover;                 /* the latest end */
	uint64_t longest, longest_gap; /* ns: the longest row; the longest time between two */
	/* ns between rows, including the time after `before`; how many of these times are not 0 */
	uint64_t between, gaps;
	/* no row overlaps the one before it; if false, between, gaps and longest_gap are invalid */
	bool in_turn;
	/* 0: too many types, or a row or a time between two is longer than 2 s: only start, end and
	 * before are valid */
	uint32_t ntypes;
	/* n: rows that take time */
	struct gt_event_digest_type {
		uint32_t type, n;
		uint64_t ns;
	} types[GT_EVENT_DIGEST_TYPES];
};

/* State while a digest is computed. */
#define GT_EVENT_DIGEST_SUMS 4u
#define GT_EVENT_DIGEST_SLOTS 256u /* of a hash table of types; at most a quarter is used */
struct gt_digest_builder {
	/* the type of a slot: linear probing from its lowest bits */
	uint32_t owner[GT_EVENT_DIGEST_SLOTS];
	/* Several sums per type: consecutive rows often have one type, and each addition to one sum
	 * would wait for the one before it. */
	uint64_t sums[GT_EVENT_DIGEST_SLOTS][GT_EVENT_DIGEST_SUMS];
	uint8_t slots[GT_EVENT_DIGEST_TYPES]; /* used slots */
	uint32_t ntypes;
	int32_t longest;
	uint64_t gaps, longest_gap;
	int64_t before;
	bool in_turn, failed;
};

struct gt_event_columns;
/* before: end of the row before; INT64_MAX: there is none */
void gt_digest_begin(struct gt_digest_builder *a, int64_t before);
/* Adds n > 0 rows from `from` on. since: ns from each start to the next; took: duration of each.
 * All are at most INT32_MAX; since is NULL if one is larger. */
void gt_digest_add(struct gt_digest_builder *a, const struct gt_event_columns *rows, uint32_t from,
	uint32_t n, const uint32_t *since, const uint32_t *took);
void gt_digest_end(const struct gt_digest_builder *a, const struct gt_event_columns *rows,
	uint32_t n, struct gt_event_digest *g);
/* the valid bytes of a digest */
static inline size_t gt_event_digest_bytes(const struct gt_event_digest *g)
{
	return offsetof(struct gt_event_digest, types) + g->ntypes * sizeof(g->types[0]);
}
#endif
