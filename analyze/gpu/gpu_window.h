/* The window of a recording: the time that all reports about GPUs look at, defined here and nowhere
 * else. It is from the start of the first to the end of the last GPU operation that is looked at,
 * the same for all GPUs of the recording. --from says where it begins instead, --to where it ends,
 * each for itself and no further than the recording has rows; --whole makes it all of the
 * recording. */
#ifndef GT_EXTENT_H
#define GT_EXTENT_H
#include "analyze/core/analysis.h"

struct gt_gpu_window {
	/* ns; from: INT64_MIN before it is known; to: INT64_MAX, likewise, until gt_extent_close */
	int64_t from, to;
	int64_t last;        /* the latest end of an operation so far */
	bool opened, closes; /* it has begun; its end is known beforehand */
};

void gt_extent_open(struct gt_gpu_window *e, const struct gt_analysis_options *opt,
	const struct gt_segment *seg);
/* Operations come by their start. */
static inline void gt_extent_add(struct gt_gpu_window *e, int64_t start, int64_t end)
{
	if (!e->opened)
		e->from = start;
	e->opened = true;
	e->last = end > e->last ? end : e->last;
}
/* Where it ends, as far as operations are known. */
static inline int64_t gt_extent_end(const struct gt_gpu_window *e)
{
	return e->closes ? e->to : e->last;
}
/* no more operations */
static inline void gt_extent_close(struct gt_gpu_window *e) { e->to = gt_extent_end(e); }
/* ns; 0 also where it has not begun. */
static inline uint64_t gt_extent_ns(const struct gt_gpu_window *e)
{
	return e->opened && gt_extent_end(e) > e->from
		? (uint64_t)gt_extent_end(e) - (uint64_t)e->from
		: 0;
}
#endif
