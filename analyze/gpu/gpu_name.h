/* What a GPU is called: "NVIDIA H200", as far as it is known. */
#ifndef GT_GPU_NAME_H
#define GT_GPU_NAME_H
#include "formats/trace/read/reader.h"

struct gt_gpu_namer {                 /* zero-initialised is empty */
	const struct gt_segment *seg; /* that `model` is of */
	char *model;                  /* of all its GPUs, or NULL */
};
/* A track's name where that says more than "GPU 0"; else the model of the GPUs of the recording, if
 * the metadata tells it and all are of one: their numbers there are the machine's, and in a process
 * CUDA_VISIBLE_DEVICES may have made others of them. NULL: nothing is known. Borrowed until the
 * next call, or from the segment. */
const char *gt_gpu_name(
	struct gt_gpu_namer *n, const struct gt_segment *seg, const struct gt_track *device);
void gt_gpu_namer_release(struct gt_gpu_namer *n);
#endif
