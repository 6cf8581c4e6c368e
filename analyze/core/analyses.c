#include "analyze/core/analysis.h"

/* clang-format off */
#define ANALYSES(X) /* in the order of the default report; those that are not in it follow */ \
	X(header) X(steady) X(budget) X(parts) X(advice) X(top) X(phases) X(categories) X(ioctls) X(memory) X(threads) \
	X(pauses) X(open) X(summary) X(gpu) X(errors) X(layers) X(contexts) X(slowest) X(stacks) X(offcpu) \
	X(timeline) X(histogram) X(driver) X(gaps) X(host) X(critical) X(kernels) X(copies) X(sync) \
	X(streams) X(counters) X(unseen) X(steps) X(overlap) X(collectives) X(launches) X(queues) \
	X(patterns) X(transfers) X(query) X(metadata) X(cuda_api_sum) X(cuda_api_trace) X(cuda_api_gpu_sum) \
	X(cuda_gpu_sum) X(cuda_gpu_kern_sum) X(cuda_gpu_kern_gb_sum) X(cuda_gpu_mem_time_sum) \
	X(cuda_gpu_mem_size_sum) X(cuda_gpu_trace) X(cuda_kern_exec_sum) X(cuda_kern_exec_trace) \
	X(nvtx_sum) X(nvtx_gpu_proj_sum) X(nvtx_kern_sum)
/* clang-format on */

#define X(name) extern const struct gt_analysis gt_##name##_report;
ANALYSES(X)
#undef X

const struct gt_analysis *const gt_analyses[] = {
#define X(name) &gt_##name##_report,
	ANALYSES(X)
#undef X
		NULL
};
