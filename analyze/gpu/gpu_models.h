/* The GPU models of a machine, from the metadata "gpus.3.model". */
#ifndef GT_GPU_MODELS_H
#define GT_GPU_MODELS_H
#include <stddef.h>

#define GT_GPU_MODELS_MOST 8u /* further models are left out */
/* Zero-initialised: none. */
struct gt_gpu_models {
	struct {
		char name[64]; /* cut to fit */
		unsigned gpus; /* of this model */
	} list[GT_GPU_MODELS_MOST];
	unsigned n;
};
/* Counts the GPU, if `key` is that of a model. */
void gt_gpu_models_add(struct gt_gpu_models *m, const char *key, const char *value);
#define GT_GPU_MODELS_TEXT (GT_GPU_MODELS_MOST * 80)
/* "2 x NVIDIA H200, NVIDIA L4" */
void gt_gpu_models_put(const struct gt_gpu_models *m, char to[GT_GPU_MODELS_TEXT]);
#endif
