/* The GPU's copies by call, for calls whose row has no direction or size: many files have only the
 * name of such a call, and the direction of a copy between two addresses is known only to the
 * driver. The row of the GPU's copy has thread and start of the call, direction and size. */
#ifndef GT_CALL_COPIES_H
#define GT_CALL_COPIES_H
#include "analyze/core/report.h"
#include "formats/base/map.h"

#define GT_CALL_COPIES_MOST (1u << 19) /* 24 MiB with the map */

struct gt_call_copy {
	int64_t start;           /* of the call */
	uint32_t segment, track; /* its thread */
	uint64_t bytes;
	/* enum gt_direction; unknown if it made several copies of different directions */
	uint8_t direction;
	bool by_order; /* joined by order: likely, not certain */
};
struct gt_call_copies { /* zeroed: empty */
	struct gt_call_copy *list;
	size_t n, cap;
	struct gt_map map;
	bool crowded; /* GT_CALL_COPIES_MOST was exceeded */
};

/* Reads the GPU's copies of the selected processes, of any time and name. 0 or negative. */
int gt_call_copies_read(
	struct gt_call_copies *c, const struct gt_report_state *report, struct gt_err *err);
/* NULL: there is none. Borrowed. */
const struct gt_call_copy *gt_call_copies_find(
	const struct gt_call_copies *c, uint32_t segment, uint32_t track, int64_t start);
void gt_call_copies_release(struct gt_call_copies *c);
#endif
