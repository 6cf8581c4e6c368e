/* The window of a recording: the time that all reports about GPUs cover. It begins with the first
 * and ends with the last selected GPU operation, and is the same for all GPUs of the recording.
 * --from and --to replace its begin and end, but not beyond the rows of the recording. With --whole
 * it is the whole recording. */
#ifndef GT_GPU_WINDOW_H
#define GT_GPU_WINDOW_H
#include "analyze/core/analysis.h"

struct gt_gpu_window {
	/* ns; from: INT64_MIN: unknown yet. to: INT64_MAX until gt_gpu_window_close, if unknown */
	int64_t from, to;
	int64_t last;        /* latest end of an operation so far */
	bool opened, closes; /* `from` is known; `to` is known before the last operation */
};

void gt_gpu_window_open(struct gt_gpu_window *e, const struct gt_analysis_options *opt,
	const struct gt_segment *seg);
/* Adds an operation; in order of their start. */
static inline void gt_gpu_window_add(struct gt_gpu_window *e, int64_t start, int64_t end)
{
	if (!e->opened)
		e->from = start;
	e->opened = true;
	e->last = end > e->last ? end : e->last;
}
/* The end, as far as operations are known. */
static inline int64_t gt_gpu_window_end(const struct gt_gpu_window *e)
{
	return e->closes ? e->to : e->last;
}
/* after the last operation */
static inline void gt_gpu_window_close(struct gt_gpu_window *e) { e->to = gt_gpu_window_end(e); }
/* The length in ns; 0 if `from` is unknown. */
static inline uint64_t gt_gpu_window_ns(const struct gt_gpu_window *e)
{
	return e->opened && gt_gpu_window_end(e) > e->from
		? (uint64_t)gt_gpu_window_end(e) - (uint64_t)e->from
		: 0;
}
#endif
