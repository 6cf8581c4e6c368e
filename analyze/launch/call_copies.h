/* What the GPU copied for a call, where the call's own row does not tell: many files say of a copy
 * no more than its name, and of a copy between two addresses nobody knows the direction before it
 * is done. The row of the GPU's copy names its call, by thread and start, and has direction and
 * size. */
#ifndef GT_CALL_COPIES_H
#define GT_CALL_COPIES_H
#include "analyze/core/report.h"
#include "formats/base/map.h"

#define GT_CALL_COPIES_MOST (1u << 19) /* 24 MiB with the map */

struct gt_call_copy {
	int64_t start; /* of the call */
	uint64_t bytes;
	uint32_t segment, track; /* its thread */
	/* enum gt_direction; unknown where it made several that differ */
	uint8_t direction;
	bool by_order; /* that it is this call's is likely, not certain */
};
struct gt_call_copies { /* zero-initialised is empty */
	struct gt_call_copy *list;
	size_t n, cap;
	struct gt_map map;
	bool crowded; /* there were more */
};

/* Reads the GPU's copies of the processes that are asked for, whenever they ran and whatever their
 * name. 0 or negative. */
int gt_call_copies_read(
	struct gt_call_copies *c, const struct gt_report_state *asked, struct gt_err *err);
/* NULL: none is known. Borrowed. */
const struct gt_call_copy *gt_call_copies_find(
	const struct gt_call_copies *c, uint32_t segment, uint32_t track, int64_t start);
void gt_call_copies_release(struct gt_call_copies *c);
#endif
