#include "analyze/gpu/work_kind.h"

#include <string.h>
#include "analyze/gpu/gpu_time.h"
#include "formats/names/kernel_names.h"

/* Prefixes of the names of functions, without namespaces, that move data between GPUs. */
static const char *const communication[] = {
	"nccl", /* NCCL and, under the same names, RCCL */
	"nvshmem",
	/* all-reduces of serving frameworks */
	"cross_device_reduce",
	"one_shot_all_reduce",
	"two_shot_all_reduce",
	"multimem_all_reduce",
	"multimem_one_shot_all_reduce",
};

bool gt_is_communication(const char *kernel)
{
	char function[GT_SHORT_MAX + 1];

	gt_kernel_function(kernel, function);
	for (size_t i = 0; i < sizeof(communication) / sizeof(*communication); i++)
		if (!strncmp(function, communication[i], strlen(communication[i])))
			return true;
	return false;
}

enum gt_work_kind gt_work_kind(const struct gt_segment *seg, const struct gt_type *type)
{
	enum gt_gpu_what what = gt_gpu_what(type);

	if (what == GT_GPU_COPY || what == GT_GPU_SET)
		return GT_WORK_COPY;
	if (what != GT_GPU_KERNEL)
		return GT_WORK_COMPUTE;
	return gt_is_communication(gt_str(seg, type->name)) ? GT_WORK_COMMUNICATION
							    : GT_WORK_COMPUTE;
}

const char *gt_work_kind_word(enum gt_work_kind kind)
{
	static const char *const words[GT_WORK_KINDS] = { "compute", "communication", "copies" };

	return kind < GT_WORK_KINDS ? words[kind] : "?";
}
