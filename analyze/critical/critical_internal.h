/* Shared by critical_input.c (rows into lists) and critical_graph.c (dependencies). */
#ifndef GT_CRITICAL_INTERNAL_H
#define GT_CRITICAL_INTERNAL_H
#include "analyze/critical/critical_graph.h"

/* gt_stored_event.by of work: the track number of the launching thread, or BY_NONE; with BY_ORDER
 * if the join is inferred by order */
#define BY_ORDER (1u << 31)
#define BY_NONE (BY_ORDER - 1)

/* Roles of a type. SEEN: computed. Of calls: WAITS for the GPU; OWN: for its own work;
 * ONLY_PAGEABLE: if that copies to pageable memory; CERTAIN: waits for certain. */
enum { SEEN = 1, IS_CALL = 2, WAITS = 4, OWN = 8, ONLY_PAGEABLE = 16, CERTAIN = 32, IS_QUERY = 64 };
/* Roles of work; its kind is in two more bits. */
enum { TO_PAGEABLE = 4, OF_GRAPH = 8, KIND_SHIFT = 4 };

/* Computes the role of a type. */
uint8_t gt_critical_find_role(struct gt_critical *c, const struct gt_segment *seg, uint32_t number);
static inline unsigned role(struct gt_critical *c, const struct gt_segment *seg, uint32_t number)
{
	if (number == GT_NONE)
		return SEEN;
	return c->roles[number] ? c->roles[number] : gt_critical_find_role(c, seg, number);
}
void gt_critical_sort_losses(struct gt_critical *c); /* after the last loss */
#endif
