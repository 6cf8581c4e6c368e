/* What a chunk of a link store says of its rows, so that who wants to know no more passes by them: how much time there is of each type,
 * and, where each row begins when the one before it is over or later, how much lies between them. */
#ifndef GT_LINK_GIST_H
#define GT_LINK_GIST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_LINK_GIST_TYPES 64u

struct gt_link_gist {
	int64_t before, start, end;	/* end of the row before, start of the first one, end of the last one */
	int64_t cover;			/* the latest end */
	uint64_t longest, longest_gap;	/* ns: of a row, and between two, as the two below */
	uint64_t between, gaps;		/* ns between rows, that before the first one included, and how often there is any */
	bool in_turn;			/* rows follow one another, the first one follows `before`; else those of gaps mean nothing */
	uint32_t ntypes;		/* 0: more than there is room for, or times that cannot be added up: nothing else is known, then */
	struct gt_link_gist_type { uint32_t type, n; uint64_t ns; } types[GT_LINK_GIST_TYPES];	/* n: rows that take time */
};

struct gt_link_cols;
/* Of n > 0 records. before: INT64_MAX: they are the first ones. */
void gt_link_gist(const struct gt_link_cols *rows, uint32_t n, int64_t before, struct gt_link_gist *g);
static inline size_t gt_link_gist_bytes(const struct gt_link_gist *g)	/* of it that mean something */
{
	return offsetof(struct gt_link_gist, types) + g->ntypes * sizeof(g->types[0]);
}
#endif
