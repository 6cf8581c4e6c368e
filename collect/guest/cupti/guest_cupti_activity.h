/* What guest_gpu.c, which has CUPTI and the thread that asks it for records, shares with guest_watch.c, which says when. */
#ifndef GT_GUEST_GPU_H
#define GT_GUEST_GPU_H
#include <stdbool.h>
#include <stdint.h>

#define GT_CUPTI_LIBRARY "libcupti.so"

/* Who has CUPTI: nobody any more, the program ends; we; another; nobody as yet, for nobody is attached to a probe. */
enum gt_cupti_use { GT_USE_OFF, GT_USE_ON, GT_USE_YIELDED, GT_USE_IDLE };

bool gt_gpu_find(void);			/* CUPTI and its functions */
bool gt_gpu_take_over(void);		/* for gt_others_if_absent: false: it was refused, and is as if we had not been there */
bool gt_gpu_change(uint32_t from, uint32_t to);	/* enum gt_cupti_use; false: it is not `from` */
void gt_gpu_at_exit(void);		/* when the program ends, so does our use of it. Once */

/* On our thread, each time it looks, where there is no trace. use: enum gt_cupti_use. */
void gt_watch(uint32_t use);
#endif
