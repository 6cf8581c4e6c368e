/* Converts CUPTI's activity records to events on a ring. */
#ifndef GT_GUEST_CUPTI_RECORDS_H
#define GT_GUEST_CUPTI_RECORDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_GPU_NAMES 4096u /* kernels whose names were written; others may be written again */

/* Names that one process has written; all zeros at its start. */
struct gt_gpu_names {
	uint32_t locked;
	struct gt_gpu_sent_name {
		const char *at;
		uint64_t sum, hash;
	} sent[GT_GPU_NAMES];
};

struct gt_gpu_buffer { /* a buffer that CUPTI has delivered */
	uint8_t *buffer;
	size_t valid; /* bytes */
	/* cuptiActivityGetNextRecord */
	int (*next)(uint8_t *buffer, size_t valid, uint8_t **record);
	/* its times are of another user's clock: its records count as lost */
	bool foreign_clock;
};

struct gt_tcb;
/* Writes a buffer's records to t's ring; t NULL: counts them as untraced. The recorder, which has
 * the calls, drops records of work that is not to be recorded. */
void gt_gpu_put_records(
	struct gt_gpu_names *names, struct gt_tcb *t, const struct gt_gpu_buffer *b);
#endif
