/* USDT probes of the guest library: guest_usdt.c lists them. */
#ifndef GT_GUEST_USDT_H
#define GT_GUEST_USDT_H
#include "collect/guest/core/guest_common.h"

bool gt_probes_need_calls(void); /* a tracer is attached to the probe of calls */
bool gt_probes_need_work(void);  /* a tracer is attached to a probe of GPU work */
/* Fires when a launch has returned; cbid: negative for the driver API, positive for the runtime's.
 */
void gt_probes_fire_call(uint32_t correlation, int32_t cbid, const char *name);
/* Fires for the records of a CUPTI buffer; next: cuptiActivityGetNextRecord. */
void gt_probes_fire_buffer(
	int (*next)(uint8_t *, size_t, uint8_t **), uint8_t *buffer, size_t valid);
#endif
