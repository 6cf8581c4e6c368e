/* The name of a GPU for tables: "NVIDIA H200". */
#ifndef GT_GPU_NAME_H
#define GT_GPU_NAME_H
#include "formats/trace/read/reader.h"

struct gt_gpu_namer {                 /* zero-initialised: empty */
	const struct gt_segment *seg; /* the segment of `model` */
	char *model;                  /* of all its GPUs; NULL: unknown, or they differ */
};
/* The name of the track, unless it is only "GPU 0". Then the model in the metadata, if all GPUs of
 * the machine have the same: metadata numbers GPUs as the machine does, and CUDA_VISIBLE_DEVICES
 * may give them other numbers in a process. NULL: unknown. Borrowed until the next call. */
const char *gt_gpu_name(
	struct gt_gpu_namer *n, const struct gt_segment *seg, const struct gt_track *device);
void gt_gpu_namer_release(struct gt_gpu_namer *n);
#endif
