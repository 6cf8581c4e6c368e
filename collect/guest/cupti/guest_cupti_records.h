/* Converts CUPTI's activity records to events on a ring. */
#ifndef GT_GUEST_CUPTI_RECORDS_H
#define GT_GUEST_CUPTI_RECORDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_GPU_NAMES 4096u		/* kernels whose name a process has told; beyond, it is told again */

/* Of one process; all zeros at its beginning. */
struct gt_gpu_names {
	uint32_t locked;
	struct gt_gpu_sent_name { const char *at; uint64_t sum, hash; } sent[GT_GPU_NAMES];
};

struct gt_gpu_buffer {		/* a buffer as CUPTI gave it back */
	uint8_t *buffer;
	size_t valid;		/* bytes */
	int (*next)(uint8_t *buffer, size_t valid, uint8_t **record);	/* cuptiActivityGetNextRecord */
	bool foreign_clock;		/* the times in it are of another clock than ours: its records count as lost */
};

struct gt_tcb;
/* Puts what the records say on t's ring; NULL counts them as not traced. Whether they are of what is to be recorded the recorder knows:
 * it has the calls. */
void gt_gpu_put_records(struct gt_gpu_names *names, struct gt_tcb *t, const struct gt_gpu_buffer *b);
#endif
