/* A place in a trace that shows what a rule is about. Numbers are over all segments, as in_time.h gives them; GT_NONE: there is
 * none. */
#ifndef GT_EXAMPLE_H
#define GT_EXAMPLE_H
#include "formats/trace/read/reader.h"

struct gt_example { const struct gt_segment *seg; int64_t from, to; uint32_t thread, type, device; };	/* device: or one of its streams.
													 * seg NULL: there is none */

static inline void gt_example_keep_longest(struct gt_example *have, const struct gt_example *one)
{
	if (!have->seg || one->to - one->from > have->to - have->from)
		*have = *one;
}
#endif
