/* What a chunk of a link store says of its rows, so that who wants to know no more passes by them:
 * how much time there is of each type, and, where each row begins when the one before it is over or
 * later, how much lies between them. */
#ifndef GT_LINK_GIST_H
#define GT_LINK_GIST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_LINK_GIST_TYPES 64u

struct gt_link_gist {
	/* end of the row before, start of the first one, end of the last one */
	int64_t before, start, end;
	int64_t cover;                 /* the latest end */
	uint64_t longest, longest_gap; /* ns: of a row, and between two, as the two below */
	/* ns between rows, that before the first one included, and how often there is any */
	uint64_t between, gaps;
	/* rows follow one another, the first one follows `before`; else those of gaps mean nothing
	 */
	bool in_turn;
	/* 0: there is no room for them all, or a row lasts, or the next one waits, two seconds:
	 * only ends are known */
	uint32_t ntypes;
	/* n: rows that take time */
	struct gt_link_gist_type {
		uint32_t type, n;
		uint64_t ns;
	} types[GT_LINK_GIST_TYPES];
};

/* While one is made, some rows after the others. */
#define GT_LINK_GIST_SUMS 4u
#define GT_LINK_GIST_SLOTS 256u /* of types; a quarter of them are taken, at most */
struct gt_link_adding {
	/* a type, where its last bits lead, or behind that */
	uint32_t owner[GT_LINK_GIST_SLOTS];
	/* Rows of one type often follow one another, and each would wait for the sum that the one
	 * before it has just written: so there are some. */
	uint64_t sums[GT_LINK_GIST_SLOTS][GT_LINK_GIST_SUMS];
	uint8_t slots[GT_LINK_GIST_TYPES]; /* those that are taken */
	uint32_t ntypes;
	int32_t longest;
	uint64_t gaps, longest_gap;
	int64_t before;
	bool in_turn, failed;
};

struct gt_link_cols;
/* INT64_MAX: there is no row before */
void gt_link_gist_begin(struct gt_link_adding *a, int64_t before);
/* n > 0 rows from `from` on. since: ns from each one's start to the next one's, took: of each; none
 * is above INT32_MAX. since: NULL: some are. */
void gt_link_gist_add(struct gt_link_adding *a, const struct gt_link_cols *rows, uint32_t from,
	uint32_t n, const uint32_t *since, const uint32_t *took);
void gt_link_gist_end(const struct gt_link_adding *a, const struct gt_link_cols *rows, uint32_t n,
	struct gt_link_gist *g);
/* of it that mean something */
static inline size_t gt_link_gist_bytes(const struct gt_link_gist *g)
{
	return offsetof(struct gt_link_gist, types) + g->ntypes * sizeof(g->types[0]);
}
#endif
