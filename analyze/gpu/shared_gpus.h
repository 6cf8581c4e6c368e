/* Finds devices that are the same GPU. CUDA_VISIBLE_DEVICES may number GPUs differently in each
 * process, so devices of two processes are the same GPU if their UUIDs are equal. The recorder asks
 * the driver for UUIDs (metadata: gpu_uuids.PID.DEVICE). Without them devices are different GPUs.
 *
 * Work of several processes of one recording on a GPU is merged, on the first process's device.
 * Rows of two recordings have no common order, so these stay separate, and a note says so.
 */
#ifndef GT_SHARED_GPUS_H
#define GT_SHARED_GPUS_H
#include "analyze/order/time_ordered.h"
#include "analyze/core/report.h"

/* devices: by track, the number of its device's track. Replaces it by that of the first device of
 * the same GPU. 0 or -ENOMEM. */
int gt_shared_gpus_join(
	uint32_t *devices, const struct gt_time_ordered *order, struct gt_reader *r);
/* Notes which devices of a table are the same GPU. */
void gt_shared_gpus_note(struct gt_table *t, const struct gt_report_state *a);
#endif
