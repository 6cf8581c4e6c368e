/* A place in a trace that shows the problem a rule reports. Numbers are over all segments, as in
 * time_ordered.h; GT_NONE: none. */
#ifndef GT_EVIDENCE_H
#define GT_EVIDENCE_H
#include "formats/trace/read/reader.h"

/* device: a device or one of its streams. seg NULL: no evidence */
struct gt_evidence {
	const struct gt_segment *seg;
	int64_t from, to;
	uint32_t thread, type, device;
};

static inline void gt_evidence_keep_longest(struct gt_evidence *have, const struct gt_evidence *one)
{
	if (!have->seg || one->to - one->from > have->to - have->from)
		*have = *one;
}
#endif
