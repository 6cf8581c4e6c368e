/* Which GPUs are one. Processes number their GPUs as they like (CUDA_VISIBLE_DEVICES), so a device
 * of one process and a device of another are the same GPU where their UUIDs are, which the recorder
 * asks the driver for (metadata: gpu_uuids.PID.DEVICE), and are two wherever that was not recorded.
 *
 * What several processes of one recording did with a GPU is put together, on the first one's
 * device. Rows of two recordings are in no common order, so these stay apart, and a note says so.
 */
#ifndef GT_SHARED_GPUS_H
#define GT_SHARED_GPUS_H
#include "analyze/order/time_ordered.h"
#include "analyze/core/report.h"

/* devices: by the number of a track that of its device, likewise of the first of those that are one
 * GPU from now on. 0 or -ENOMEM. */
int gt_shared_gpus_join(
	uint32_t *devices, const struct gt_time_ordered *order, struct gt_reader *r);
/* Under a table that tells of GPUs: which of them are one. */
void gt_shared_gpus_note(struct gt_table *t, const struct gt_report_state *a);
#endif
