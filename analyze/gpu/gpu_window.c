#include "analyze/gpu/gpu_window.h"

void gt_gpu_window_open(struct gt_gpu_window *e, const struct gt_analysis_options *opt,
	const struct gt_segment *seg)
{
	struct gt_range in = gt_range_of(&opt->filter, seg);
	bool from = in.from != INT64_MIN, to = in.to != INT64_MAX;

	e->opened = from || opt->whole;
	e->closes = to || opt->whole;
	e->from = e->opened ? seg->min_start : INT64_MIN;
	e->to = e->closes ? seg->max_end : INT64_MAX;
	e->last = INT64_MIN;
	if (from && in.from > e->from)
		e->from = in.from;
	if (to && in.to < e->to)
		e->to = in.to;
}
