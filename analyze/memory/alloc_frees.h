/* Frees by function: their time, and the number of frees that waited for the GPU (waits.h). */
#ifndef GT_ALLOC_FREES_H
#define GT_ALLOC_FREES_H
#include "analyze/columns/process_slots.h"
#include "analyze/launch/waits.h"

struct gt_alloc_frees {
	struct gt_waits waits;
	const struct gt_process_slots *where;
	struct gt_alloc_free {
		uint32_t place, name;
		uint64_t count, ns, longest, waited, wait_ns, busy;
	} * list;
	size_t n, cap;
	uint32_t last;
};
/* `where` is borrowed until release. */
int gt_alloc_frees_init(struct gt_alloc_frees *f, struct gt_reader *r,
	const struct gt_analysis_options *opt, const struct gt_process_slots *where,
	struct gt_err *err);
/* Counts a free of a process, ns long. name: string id of the function. */
int gt_alloc_frees_count(
	struct gt_alloc_frees *f, uint32_t place, uint32_t name, uint64_t ns, struct gt_err *err);
/* Call it after gt_waits_run(&f->waits) for all runs of GT_WAITS_KINDS. NULL: err. */
struct gt_table *gt_alloc_frees_table(struct gt_alloc_frees *f, struct gt_err *err);
void gt_alloc_frees_release(struct gt_alloc_frees *f);
#endif
