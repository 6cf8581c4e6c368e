/* Without a session: CUPTI is in use only while a tracer is attached to a USDT probe. */
#ifndef GT_GUEST_CUPTI_ON_ATTACH_H
#define GT_GUEST_CUPTI_ON_ATTACH_H
#include <stdint.h>

/* Starts or ends CUPTI as the probes need it. Called by the fetching thread in each of its rounds;
 * use: enum gt_cupti_use. */
void gt_probes_poll(uint32_t use);
#endif
