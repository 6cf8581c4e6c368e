/* Groups of allocations of one size, by one function, in one process: live memory, memory at the
 * peak, and repeated allocations after a free of the same size. */
#ifndef GT_ALLOC_GROUPS_H
#define GT_ALLOC_GROUPS_H
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"
#include "formats/base/map.h"

#define GT_ALLOC_GROUPS_MAX 65536u /* 8 MiB */

struct gt_alloc_group {
	/* process (process_slots.h); string id of the function in its segment */
	uint32_t place, name;
	uint64_t bytes; /* of each allocation */
	uint32_t kind;  /* enum gt_memkind */
	uint32_t stack; /* of the call, plus 1; 0: none, or groups do not differ by stack */
	uint64_t live;  /* number of live allocations */
	/* the number at peak number `peak` of the process, the last peak before `live` changed */
	uint64_t saved, peak;
	uint64_t allocs, frees, spare; /* spare: freed and not allocated again */
	/* allocations while there were spare ones, and the time in these and in the frees before */
	uint64_t again, again_ns, free_ns;
	uint64_t spare_ns; /* the time in the frees of the spare ones */
	/* the part of `again` in the program's steps, and the number of steps; 0: unknown
	 * (step_churn.h) */
	uint64_t in_steps, steps;
};
struct gt_alloc_groups { /* zeroed: empty */
	struct gt_alloc_group *list;
	size_t n, cap;
	struct gt_map map;
	uint64_t *peaks; /* by process slot: number of its last peak */
	uint64_t beyond; /* allocations of groups beyond GT_ALLOC_GROUPS_MAX */
};

int gt_alloc_groups_init(struct gt_alloc_groups *g, size_t places, struct gt_err *err);
/* The index of a group, UINT32_MAX: too many groups. Negative: err. */
int64_t gt_alloc_group(
	struct gt_alloc_groups *g, const struct gt_alloc_group *like, struct gt_err *err);
/* An allocation of the group, by a call of `ns`; the end of one: freed by a call of `ns`, or its
 * free was missed. group may be UINT32_MAX. */
void gt_alloc_group_add(struct gt_alloc_groups *g, uint32_t group, uint64_t ns);
void gt_alloc_group_remove(struct gt_alloc_groups *g, uint32_t group, bool freed, uint64_t ns);
/* The number of its allocations that were live at the peak of the process. */
uint64_t gt_alloc_group_at_peak(const struct gt_alloc_groups *g, const struct gt_alloc_group *one);
/* The last allocation made a new peak of the process. */
static inline void gt_alloc_groups_peak(struct gt_alloc_groups *g, uint32_t place)
{
	g->peaks[place]++;
}
/* Three tables: memory at the peak, memory at the end, repeated allocations. 3 or negative. */
int gt_alloc_groups_tables(struct gt_alloc_groups *g, const struct gt_report_state *a,
	const struct gt_process_slots *where, struct gt_table **tables, struct gt_err *err);
void gt_alloc_groups_release(struct gt_alloc_groups *g);
#endif
