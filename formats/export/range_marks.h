/* Which ranges of a program nest with the calls of their thread?
 *
 * Ranges of a stack (NVTX push and pop, operators of PyTorch) do; a range that another call starts
 * and ends (nvtxRangeStart) may not, and the recording does not say which of them a range is. A
 * range that begins before a call and ends within it does not nest, and neither does one that
 * begins in another range and ends after it. That is known only when the range ends, but a writer
 * of begin and end events must know it before: so a pass over calls and ranges comes first. */
#ifndef GT_RANGE_MARKS_H
#define GT_RANGE_MARKS_H
#include "formats/trace/read/reader.h"

struct gt_range_marks {
	struct gt_range_open {
		struct gt_range_open_item {
			int64_t end;
			size_t number; /* of a range; SIZE_MAX: a call */
		} * items;             /* outermost first */
		size_t n, cap;
	} * *threads;   /* by segment and track */
	uint8_t *aside; /* bit by number of a range: it does not nest */
	size_t nranges, bytes;
	struct gt_reader *r;
};
/* 0 or -ENOMEM; release it in both cases. */
int gt_range_marks_init(struct gt_range_marks *m, struct gt_reader *r);
void gt_range_marks_release(struct gt_range_marks *m);
/* A call or range of a thread, in order of time. 0 or -ENOMEM. */
int gt_range_marks_add(struct gt_range_marks *m, const struct gt_event *ev, bool range);
/* The ranges have numbers from 0 in the order in which they were added. */
static inline bool gt_range_nests(const struct gt_range_marks *m, size_t number)
{
	return !(m->aside[number >> 3] >> (number & 7) & 1);
}
#endif
