/* Allocations of one size, by one function, in one process, as one: who holds memory, who held it
 * at the peak, and who asks again for what was given back. */
#ifndef GT_ALLOC_GROUPS_H
#define GT_ALLOC_GROUPS_H
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"
#include "formats/base/map.h"

#define GT_ALLOC_GROUPS_MAX 65536u /* in 8 MiB */

struct gt_alloc_group {
	/* of the process (process_slots.h), string id of the function in its segment */
	uint32_t place, name;
	uint8_t kind;   /* enum gt_memkind */
	uint64_t bytes; /* of each */
	uint64_t live;  /* how many are */
	/* how many were at peak number `peak` of the process, the last one there was when `live`
	 * changed */
	uint64_t saved, peak;
	uint64_t allocs, frees, spare; /* spare: freed, and not asked for again */
	/* allocations of what was spare, and the time in those and in the frees before */
	uint64_t again, again_ns, free_ns;
	uint64_t spare_ns; /* the time in the frees of what is spare */
	/* of `again`, those in the program's steps, and how many steps those are; 0: none were
	 * found (step_churn.h) */
	uint64_t in_steps, steps;
};
struct gt_alloc_groups { /* zero-initialised is empty */
	struct gt_alloc_group *list;
	size_t n, cap;
	struct gt_map map;
	uint64_t *peaks; /* per place: number of its last peak */
	uint64_t beyond; /* allocations that found no room */
};

int gt_alloc_groups_init(struct gt_alloc_groups *g, size_t places, struct gt_err *err);
/* The number of a group, UINT32_MAX: there is no room for more. Negative: err. */
int64_t gt_alloc_group(
	struct gt_alloc_groups *g, const struct gt_alloc_group *like, struct gt_err *err);
/* One of the group is allocated, by a call of so many ns; one is gone, freed by such a call or,
 * where its free was missed, not. group may be UINT32_MAX. */
void gt_alloc_group_came(struct gt_alloc_groups *g, uint32_t group, uint64_t ns);
void gt_alloc_group_went(struct gt_alloc_groups *g, uint32_t group, bool freed, uint64_t ns);
/* The process has its peak now, which the last allocation made. */
static inline void gt_alloc_groups_peak(struct gt_alloc_groups *g, uint32_t place)
{
	g->peaks[place]++;
}
/* Three tables: what made the peak, what was never freed, what was asked for again. 3 or negative.
 */
int gt_alloc_groups_tables(struct gt_alloc_groups *g, const struct gt_report_state *a,
	const struct gt_process_slots *where, struct gt_table **tables, struct gt_err *err);
void gt_alloc_groups_release(struct gt_alloc_groups *g);
#endif
