/* A loop on the GPUs of gpus.h, for tests of steps. */
#ifndef GT_TESTS_LOOP_PROGRAM_H
#define GT_TESTS_LOOP_PROGRAM_H
#include "tests/unit/gpus.h"
#include "tests/unit/random_program.h"

/* A step on its stream: copy, add, mul, relu, add; each 10 ns long and launched 50 ns before it
 * starts; the next step `ns` later. */
struct loop {
	struct gpus g;
	int device;
	int64_t at;
	uint32_t kernels[5];
};

static inline void loop_begin(struct loop *l)
{
	gpus_begin(&l->g, "{\"events\":\"api,gpu\"}");
	for (int i = 0; i < 5; i++)
		l->kernels[i] = gt_writer_string(l->g.w, rp_kernels[i]);
	l->at = 1000;
	l->device = 0;
}

static inline void loop_op(struct loop *l, int kernel, int64_t start, int64_t ns)
{
	struct gt_gpu_work w = gpus_work(l->g.stream[l->device][0], start, start + ns);

	gpus_launched(&l->g, &w, 0, start - 50, 2, GT_JOIN_CORRELATION);
	l->g.kernel[0] = l->kernels[kernel < 0 ? 0 : kernel];
	if (kernel < 0)
		gpus_copy(&l->g, &w, GT_DIR_HTOD, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE, 4096);
	else
		gpus_kernel(&l->g, 0, &w);
}

/* mul takes `longer` than 10 ns. */
static inline void loop_step(struct loop *l, int64_t ns, int64_t longer)
{
	loop_op(l, -1, l->at, 10);
	loop_op(l, 0, l->at + 10, 10);
	loop_op(l, 1, l->at + 20, 10 + longer);
	loop_op(l, 4, l->at + 40 + longer, 10);
	loop_op(l, 0, l->at + 50 + longer, 10);
	l->at += ns;
}
#endif
