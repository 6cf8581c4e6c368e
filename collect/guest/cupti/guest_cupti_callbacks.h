/* CUPTI's one subscription: callbacks of driver calls. Called from one thread at a time, except
 * gt_callbacks_unsubscribe, which any thread may call. */
#ifndef GT_GUEST_CUPTI_CALLBACKS_H
#define GT_GUEST_CUPTI_CALLBACKS_H
#include "collect/guest/core/guest_common.h"

struct gt_cupti_call;
typedef void gt_driver_callback(uint32_t cbid, const struct gt_cupti_call *c);
/* Subscribes while a tracer is attached to the probe of calls, and unsubscribes when it detaches.
 * True: CUPTI has refused just now, and the probe must fire from records of calls. */
bool gt_callbacks_follow_probe(void);
/* stops the callbacks for the probe, whether a tracer is attached or not */
void gt_callbacks_stop_probe(void);
/* ns; since when CUPTI refuses the subscription; 0: it does not */
uint64_t gt_callbacks_refused_since(void);
/* another client is about to subscribe: gives the subscription up */
void gt_callbacks_unsubscribe(void);
/* From now on calls `to` for each driver call that `wanted` accepts. 0 or CUPTI's error. */
int gt_callbacks_subscribe_calls(gt_driver_callback *to, bool (*wanted)(uint32_t cbid));
/* reports no more calls; callbacks may still run */
void gt_callbacks_stop_calls(void);
/* ends CUPTI for this process; false: another client uses it */
bool gt_callbacks_finalize_cupti(void);
/* name of a driver function that launches kernels; NULL: it launches none */
const char *gt_launch_name(uint32_t cbid);
const char *gt_runtime_launch_name(uint32_t cbid); /* the same of the CUDA runtime */
#endif
