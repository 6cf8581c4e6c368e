/* A place in a trace that shows what a rule is about. Numbers are over all segments, as time_ordered.h gives them; GT_NONE: there is
 * none. */
#ifndef GT_EVIDENCE_H
#define GT_EVIDENCE_H
#include "formats/trace/read/reader.h"

struct gt_evidence { const struct gt_segment *seg; int64_t from, to; uint32_t thread, type, device; };	/* device: or one of its streams.
													 * seg NULL: there is none */

static inline void gt_evidence_keep_longest(struct gt_evidence *have, const struct gt_evidence *one)
{
	if (!have->seg || one->to - one->from > have->to - have->from)
		*have = *one;
}
#endif
