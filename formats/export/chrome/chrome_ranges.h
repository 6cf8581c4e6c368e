/* Ranges of the program on the threads of its calls, in a Chrome trace.
 *
 * Programs that read Kineto's traces expect a range and the calls within it on one thread. Viewers
 * drop a slice that partly overlaps another of its thread. Ranges of a stack (NVTX push and pop,
 * PyTorch's operators) nest with calls; ranges that another call starts and ends (nvtxRangeStart)
 * may not. Which of them a range is, is not recorded.
 *
 * So the calls and ranges of a thread are put in order of time, and a range is written when it
 * ends. Until then it waits on a stack with the open calls. If a call begins in it and ends after
 * it, or it begins in another one and ends after that, it is written on a lane of its own. */
#ifndef GT_CHROME_RANGES_H
#define GT_CHROME_RANGES_H
#include "formats/export/chrome/chrome_slices.h"

struct gt_chrome_ranges {
	struct gt_chrome_slices *slices;
	struct gt_chrome_open {
		struct gt_chrome_open_item {
			int64_t end;
			struct gt_chrome_range *range; /* NULL: it is a call, and is written */
		} * items;                             /* outermost first */
		size_t n, cap;
	} * *threads; /* by segment and track */
	uint32_t nsegs;
};
/* Has the trace ranges of the program? Without them, all of this is unnecessary. */
bool gt_chrome_has_ranges(struct gt_reader *r);
/* 0 or -ENOMEM; release it in both cases. */
int gt_chrome_ranges_init(struct gt_chrome_ranges *x, struct gt_chrome_slices *slices);
void gt_chrome_ranges_release(struct gt_chrome_ranges *x);
/* Is it a range that belongs to a thread? */
bool gt_chrome_is_range(const struct gt_event *ev);
/* Writes a call, as s, or takes a range; both come in order of time. 0 or negative. */
int gt_chrome_ranges_call(
	struct gt_chrome_ranges *x, const struct gt_event *ev, struct gt_chrome_slice *s);
int gt_chrome_ranges_range(struct gt_chrome_ranges *x, const struct gt_event *ev);
/* Writes the ranges that wait. */
int gt_chrome_ranges_finish(struct gt_chrome_ranges *x);
#endif
