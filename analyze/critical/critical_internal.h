/* Between chain_rows.c (rows into lines) and chain.c (what they waited for). */
#ifndef GT_CHAIN_INSIDE_H
#define GT_CHAIN_INSIDE_H
#include "analyze/critical/critical_graph.h"

/* in gt_link.by of work, beside the track number of the launching thread */
#define BY_ORDER (1u << 31)
#define BY_NONE (BY_ORDER - 1)

/* Of types: of all, of calls, and of work, whose kind is in two bits more. */
enum { SEEN = 1, IS_CALL = 2, WAITS = 4, OWN = 8, ONLY_PAGEABLE = 16, CERTAIN = 32, ASKS = 64 };
enum { TO_PAGEABLE = 4, OF_GRAPH = 8, KIND_SHIFT = 4 };

/* a type that was not looked at yet */
uint8_t gt_chain_look_at(struct gt_chain *c, const struct gt_segment *seg, uint32_t number);
static inline unsigned role(struct gt_chain *c, const struct gt_segment *seg, uint32_t number)
{
	if (number == GT_NONE)
		return SEEN;
	return c->roles[number] ? c->roles[number] : gt_chain_look_at(c, seg, number);
}
void gt_chain_sort_lost(struct gt_chain *c); /* no more losses: they may be asked for */
#endif
